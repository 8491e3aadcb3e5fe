// The simulated side of a comparison with measurements.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "raddle/cli/shared/options.h"
#include "raddle/sim/validate/measurement.h"

namespace raddle::cli {

/// Each workload of the measurements once, with the parameters it was measured with, cold or warm
/// as they say; as far as its last launch that was measured. `wrong` becomes true when a result is
/// wrong; `source` is for messages. `passes`: launches find the L2 as so many passes of their own
/// left it, where it was not emptied (sim::Options::passes).
std::vector<sim::Measurement> simulate_measured(const sim::MeasurementFile& file,
                                                const CommonOptions& common,
                                                const std::string& source, bool& wrong,
                                                unsigned passes = 1);

/// How a simulation counts what was measured; beside the measurement's own conventions.
std::map<std::string, std::string> simulated_conventions(const sim::MeasurementFile& file,
                                                         const CommonOptions& common,
                                                         unsigned passes = 1);

/// Throws InputError where launches of the set-up cannot be timed several times.
void check_passes(const sim::Setup& setup, unsigned passes);
/// For conventions: what the L2 holds before a launch of several passes.
inline constexpr const char* kPassesText =
    "L2 as a first pass of the same launch left it, as passes of ncu do (--replay-as ncu-warm); ";

}  // namespace raddle::cli
