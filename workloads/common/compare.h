// Comparing a downloaded result with its CPU reference: the first element that differs, in words.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::workloads {

/// Unit roundoff of IEEE binary32, round to nearest: one operation errs by at most this,
/// relatively.
inline constexpr double kFloatRoundoff = 0x1p-24;

/// Bound on the relative error of n chained float operations: n u / (1 - n u)
/// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., lemma 3.1).
inline double chained_error(double operations) {
  return operations * kFloatRoundoff / (1 - operations * kFloatRoundoff);
}

/// "c[17]: expected 3, got 5"
std::string difference_text(std::string_view what, std::size_t at, double expected, double got);
/// "c[17]: expected 3 +- 0.001, got 5"
std::string difference_text(std::string_view what, std::size_t at, double expected, double got,
                            double tolerance);
/// "c: expected 10 elements, got 9"
std::string length_text(std::string_view what, std::size_t expected, std::size_t got);

/// "" when all elements are equal. NaN equals nothing.
template <class T>
std::string first_difference(std::string_view what, const std::vector<T>& expected,
                             const std::vector<T>& got) {
  if (expected.size() != got.size()) return length_text(what, expected.size(), got.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!(expected[i] == got[i]))
      return difference_text(what, i, static_cast<double>(expected[i]),
                             static_cast<double>(got[i]));
  return "";
}

/// "" when |got[i] - expected[i]| <= tolerance(i) for all i. NaN never is.
template <class Tolerance>
std::string first_beyond(std::string_view what, const std::vector<double>& expected,
                         const std::vector<float>& got, Tolerance tolerance) {
  if (expected.size() != got.size()) return length_text(what, expected.size(), got.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double allowed = tolerance(i);
    if (!(std::abs(static_cast<double>(got[i]) - expected[i]) <= allowed))
      return difference_text(what, i, expected[i], static_cast<double>(got[i]), allowed);
  }
  return "";
}

}  // namespace raddle::workloads
