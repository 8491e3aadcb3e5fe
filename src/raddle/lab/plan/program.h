// Which program made a result: results of another one are never taken for this one's.
#pragma once
#include <string>
#include <vector>

#include "raddle/sim/result/version.h"
#include "raddle/sim/setup/setup.h"

namespace raddle::lab {

/// sim::version(): a worker must be the same program as who waits for its results.
std::string program_name();

/// For the keys of kept results: the release, the hash of the core, and one over the policies and
/// workloads that a run uses. "0.1.0+8f3a....c0de..."
std::string program_of_run(const sim::SourceHashes& sources, const sim::Setup& setup,
                           const std::vector<std::string>& workloads);
/// For the keys of recordings, which policies have no part in.
std::string program_of_recording(const sim::SourceHashes& sources, const std::string& workload);

}  // namespace raddle::lab
