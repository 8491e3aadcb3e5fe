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
/// wrong; `source` is for messages.
std::vector<sim::Measurement> simulate_measured(const sim::MeasurementFile& file,
                                                const CommonOptions& common,
                                                const std::string& source, bool& wrong);

/// How a simulation counts what was measured; beside the measurement's own conventions.
std::map<std::string, std::string> simulated_conventions(const sim::MeasurementFile& file,
                                                         const CommonOptions& common);

}  // namespace raddle::cli
