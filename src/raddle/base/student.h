// Student's t: how far the mean of a small sample may lie from what the mean of all would be.
#pragma once
#include <cstdint>

namespace raddle {

/// Two-sided 95 % quantile for so many degrees of freedom, a sample's size less one: the interval
/// of a mean reaches that many standard errors to each side (Student, Biometrika 6, 1908).
/// Precondition: at least one degree.
double student_t(std::uint64_t degrees);

}  // namespace raddle
