// Which build of the lane engine runs.
#include <cstdlib>
#include <string>

#include "raddle/base/error.h"
#include "raddle/exec/runner.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {

namespace portable {
extern const LaneEngine kEngine;
}
namespace observed {
extern const LaneEngine kEngine;
}
namespace avx2 {
extern const LaneEngine kEngine;
}
namespace avx512 {
extern const LaneEngine kEngine;
}

// What lanes/stream.h writes without seeing these declarations.
static_assert(trace::Record::make(5, 3, 2, 9).head == (5u | 3u << 20 | 2u << 26));
static_assert(trace::kRecordWords == 2 && trace::kPieceWords == 3 && trace::kMaxPieces == 63);
static_assert(DeviceMemory::kBase == 0x10'0000'0000ull);

const LaneEngine& observed_lane_engine() { return observed::kEngine; }

const LaneEngine& lane_engine() {
  const char* wish = std::getenv("RADDLE_LANES");
  const std::string name = wish != nullptr ? wish : "";
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi2");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (name.empty())
    return has_avx512 ? avx512::kEngine : has_avx2 ? avx2::kEngine : portable::kEngine;
  if (name == "portable") return portable::kEngine;
  if (name == "avx2" && has_avx2) return avx2::kEngine;
  if (name == "avx512" && has_avx512) return avx512::kEngine;
  throw InputError("RADDLE_LANES=" + name +
                   ": expected portable, avx2 or avx512, and one that this processor has");
}

}  // namespace raddle::exec
