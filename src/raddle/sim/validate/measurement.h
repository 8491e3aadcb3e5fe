// What was measured of kernels on real hardware, in a file, and how well a simulation agrees.
#pragma once
#include <array>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/sim/result/result.h"
#include "raddle/sim/setup/setup.h"

namespace raddle::sim {

enum class Metric : std::uint8_t {
  Cycles,
  L1HitRate,
  L2HitRate,
  DramBytes,
  Watts,
  WarpInstructions,
  Microseconds,
  WarpIpc  ///< warp instructions per SM and cycle
};
inline constexpr std::size_t kMetrics = 8;
inline constexpr std::array<std::string_view, kMetrics> kMetricNames = {
    "cycles", "l1_hit_rate",       "l2_hit_rate",  "dram_bytes",
    "watts",  "warp_instructions", "microseconds", "warp_ipc"};
/// Files of measurements have columns of the first ones, and may be without those of the last of
/// these. The others are of profiles (profile.h).
inline constexpr std::size_t kFileMetrics = 6, kMetricsAlways = 4;

/// Launch of a row that tells all launches of its workload together, of any kernel.
inline constexpr std::uint32_t kWholeRun = ~std::uint32_t{0};

/// One launch. A value that was not measured is NaN.
struct Measurement {
  std::string workload;
  std::string parameters;    ///< "size=tiny n=4096", resolved
  std::uint32_t launch = 0;  ///< of the workload, from 0; or kWholeRun, "all" in files
  std::string kernel;
  double microseconds = 0;
  std::array<double, kMetrics> value{};  ///< by Metric; rates are 0..1
  /// Simulated: what the power is made of.
  std::array<double, energy::kComponents> watts_of{};
  Busy busy{};  ///< simulated
  /// Simulated: the hit rates without what was on its way already, of L1 and L2.
  std::array<double, 2> present_rate{};
};

struct MeasurementFile {
  /// device, driver, core_clock_mhz, memory_clock_mhz, date, tool, cache, clock, seed ...
  std::map<std::string, std::string> conventions;
  std::vector<Measurement> rows;
};

/// CSV: lines "# key: value", a line of names, then a row for each launch; the columns `watts` and
/// `warp_instructions` may be missing. Throws InputError naming file and line.
MeasurementFile read_measurements(const std::string& path);
/// The same of what is already open; `name` is for messages.
MeasurementFile read_measurements(std::istream& in, const std::string& name);
std::string to_csv(const MeasurementFile& file);

/// "size=tiny n=4096" of a workload's resolved parameters.
std::string parameter_text(const nlohmann::ordered_json& parameters);

/// What a result says of each of its launches, in the same words. A launch takes from the cycle in
/// which its first block could be handed out to the end of its last one, and `gap` more. Rates are
/// as profilers have them: what is on its way already is a hit, and so is in the L2 a write for
/// which nothing is fetched; without accesses NaN. Power is that of launches one after another,
/// each of that time.
std::vector<Measurement> measurements_of(const Result& result, const Setup& setup, Cycle gap = 0);
/// Leaves of a result of Options::passes the last pass of each launch of the host, with what that
/// launched; totals stay those of all passes.
void keep_last_pass(Result& result, unsigned passes);
/// What they all say together, as one: times and bytes in sum, rates not known.
Measurement whole_run(std::span<const Measurement> launches);

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

struct Pair {
  std::string label;  ///< workload, launch, kernel
  double measured = 0, simulated = 0;
};
/// Pairs of which both sides are known, in order of `measured`. Throws InputError when a launch was
/// measured that was not simulated, or under another kernel's name.
std::vector<Pair> pairs(std::span<const Measurement> measured,
                        std::span<const Measurement> simulated, Metric metric);

struct Agreement {
  std::size_t pairs = 0;
  std::size_t zeros = 0;  ///< pairs left out of mape and ratio: one side is 0
  /// NaN where there is nothing to compute them from (ratio, mape: no pair; pearson: fewer than two
  /// pairs or no spread).
  double mape = 0;                 ///< mean of |simulated - measured| / measured
  double mean_absolute_error = 0;  ///< in the metric's own unit
  double ratio = 0;                ///< geometric mean of simulated / measured
  double pearson = 0;
  double nrmse = 0;  ///< root of the mean squared difference over the mean measured
};
Agreement agreement(std::span<const Pair> pairs);

}  // namespace raddle::sim
