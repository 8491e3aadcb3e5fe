// Which build of the lane engine runs, of those that cmake/exec_lanes.cmake lists as
// LANES(name) LANES(name) ...: the fastest last.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {

#define LANES(build)               \
  namespace build {                \
  extern const LaneEngine kEngine; \
  }
RADDLE_LANE_BUILDS
LANES(observed)
#undef LANES

// What lanes/stream.h writes without seeing these declarations.
static_assert(trace::Record::make(5, 3, 2, 9).head == (5u | 3u << 20 | 2u << 26));
static_assert(trace::kRecordWords == 2 && trace::kTransactionWords == 3 &&
              trace::kMaxTransactions == 63);
static_assert(DeviceMemory::kBase == 0x10'0000'0000ull);

const LaneEngine& observed_lane_engine() { return observed::kEngine; }

namespace {

bool runs_here(std::string_view build) {
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi2");
  if (build == "avx2") return has_avx2;
  if (build == "avx512") {
    return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }
#endif
  return build == "portable";
}

/// The builds that this processor can run, the fastest last.
std::vector<const LaneEngine*> runnable_builds() {
  std::vector<const LaneEngine*> builds;
#define LANES(build) \
  if (runs_here(#build)) builds.push_back(&build::kEngine);
  RADDLE_LANE_BUILDS
#undef LANES
  return builds;
}

}  // namespace

const LaneEngine& lane_engine() {
  const char* wish = std::getenv("RADDLE_LANES");
  const std::vector<const LaneEngine*> builds = runnable_builds();
  if (wish == nullptr || *wish == '\0') return *builds.back();
  for (const LaneEngine* build : builds)
    if (std::string_view(wish) == build->name) return *build;
  std::string names;
  for (const LaneEngine* build : builds)
    names += (names.empty() ? "" : ", ") + std::string(build->name);
  throw InputError("RADDLE_LANES=" + std::string(wish) +
                   ": expected one that is built and that this processor has (" + names + ")");
}

}  // namespace raddle::exec
