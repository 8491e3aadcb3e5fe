#include "raddle/base/student.h"

#include <array>

#include "raddle/base/error.h"

namespace raddle {

double student_t(std::uint64_t degrees) {
  constexpr std::array kFrom1 = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  RADDLE_ASSERT(degrees >= 1);
  // Beyond these 1.96 + 2.5 / n is within 0.1 % of it.
  return degrees <= kFrom1.size() ? kFrom1[degrees - 1] : 1.96 + 2.5 / static_cast<double>(degrees);
}

}  // namespace raddle
