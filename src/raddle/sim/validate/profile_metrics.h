// What the profilers' metrics are to us: names, labels, units.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "raddle/sim/validate/profile.h"

namespace raddle::sim {

/// What a metric of Nsight Compute says, in base units: microseconds, bytes, bytes per second,
/// shares of 0 to 1, else counts.
enum class Said : std::uint8_t {
  Cycles,
  Time,
  L1LoadSectors,
  L1LoadHits,
  L1Sectors,
  L1Hits,
  L1Rate,
  L2Sectors,
  L2Hits,
  L2Rate,
  DramBytes,
  DramRead,
  DramWritten,
  DramRate,
  Instructions,
  Ipc,
  BusyDram,
  BusyL2,
  BusyL1,
  BusySm,
  Count
};
inline constexpr std::size_t kSaid = static_cast<std::size_t>(Said::Count);

/// What was said of one launch. Where several metrics say the same, the one that stands first in
/// the table of names counts.
class Sayings {
 public:
  Sayings() { value_.fill(std::numeric_limits<double>::quiet_NaN()); }
  /// Throws InputError when the value is no number, or its unit none of what the metric counts.
  /// Names that say nothing to us, and values that the tool does not know (n/a), are passed over.
  void add(const std::string& name, const std::string& unit, const std::string& value);
  /// NaN: not said.
  double operator[](Said what) const { return value_[static_cast<std::size_t>(what)]; }
  /// Cycles, time, rates and the like of the launch; `by` is told what the rate of the L1 counts.
  void fill(ProfiledLaunch& launch, std::string& l1_rate_of) const;

 private:
  std::array<double, kSaid> value_;
  std::array<unsigned, kSaid> rank_{};  ///< of the name that said it, from 1
};

/// The names that say how long a launch took, for messages.
inline constexpr std::string_view kNamesOfTime =
    "sm__cycles_elapsed.max, gpc__cycles_elapsed.max or gpu__time_duration.sum";

/// "1,234.5"; NaN of "", "n/a" and "nan". Throws InputError.
double profiled_number(std::string_view text);
/// "us", "usecond", "(ns)": microseconds in one of it. Throws InputError naming the unit.
double microseconds_in(std::string_view unit);

}  // namespace raddle::sim
