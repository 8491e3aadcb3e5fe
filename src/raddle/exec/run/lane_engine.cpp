// Which build of the lane engine runs. AVX2 and AVX-512 are for x86 hosts (cmake/exec_lanes.cmake);
// any other host has the portable one, and the one that tells an observer.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {

namespace portable {
extern const LaneEngine kEngine;
}
namespace observed {
extern const LaneEngine kEngine;
}
#if defined(__x86_64__)
namespace avx2 {
extern const LaneEngine kEngine;
}
namespace avx512 {
extern const LaneEngine kEngine;
}
#endif

// What lanes/stream.h writes without seeing these declarations.
static_assert(trace::Record::make(5, 3, 2, 9).head == (5u | 3u << 20 | 2u << 26));
static_assert(trace::kRecordWords == 2 && trace::kTransactionWords == 3 &&
              trace::kMaxTransactions == 63);
static_assert(DeviceMemory::kBase == 0x10'0000'0000ull);

const LaneEngine& observed_lane_engine() { return observed::kEngine; }

namespace {

/// The builds that this processor can run, the fastest last.
std::vector<const LaneEngine*> runnable_builds() {
  std::vector<const LaneEngine*> builds = {&portable::kEngine};
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi2");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx2) builds.push_back(&avx2::kEngine);
  if (has_avx512) builds.push_back(&avx512::kEngine);
#endif
  return builds;
}

}  // namespace

const LaneEngine& lane_engine() {
  const char* wish = std::getenv("RADDLE_LANES");
  const std::vector<const LaneEngine*> builds = runnable_builds();
  if (wish == nullptr || *wish == '\0') return *builds.back();
  for (const LaneEngine* build : builds)
    if (std::string_view(wish) == build->name) return *build;
  throw InputError("RADDLE_LANES=" + std::string(wish) +
                   ": expected portable, avx2 or avx512, and one that this processor has");
}

}  // namespace raddle::exec
