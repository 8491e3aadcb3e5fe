// Where an axis has ticks and what is written there.
#pragma once
#include <string>
#include <vector>

namespace raddle::report {

/// From `low` to `high` in steps of 1, 2 or 5 times a power of ten. low and high are multiples of
/// step.
struct Ticks {
  double low = 0, high = 1, step = 0.5;
  std::vector<double> values() const;
  /// With the decimals of the step; large numbers as 20 k, 3 M.
  std::string label(double value) const;
};

/// About `count` steps that cover everything between `least` and `most` (finite numbers, not
/// equal).
Ticks ticks(double minimum, double maximum, int count);
/// About `count` steps that cover 0 and everything between `least` and `most` (finite numbers).
Ticks ticks_from_zero(double minimum, double maximum, int count);

/// "IPC (relative to GTO)"; either may be empty.
std::string axis_title(const std::string& label, const std::string& unit);

/// A number in a table: three significant digits, whole numbers as they are, grouped when large.
std::string digits(double value);
/// A number under an axis: as it is, or as 500 k, 20 M when it is large and round.
std::string short_number(double value);

}  // namespace raddle::report
