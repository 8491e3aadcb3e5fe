#include "raddle/timing/spec/device_launch_spec.h"

namespace raddle::timing {

void DeviceLaunchSpec::visit(FieldVisitor& v) {
  using R = Range<std::uint32_t>;
  constexpr R cycles{0, 10'000'000};
  v.choice("model", model, kLaunchModelNames,
           "cdp: each launch is a kernel; dtbl: it joins a kernel under way as a group of blocks, "
           "and only buffer_* is charged");
  v.field("stream_cycles", stream_cycles, cycles, "cycles",
          "a warp's call of cudaStreamCreateWithFlags keeps it that long");
  v.field("buffer_cycles", buffer_cycles, cycles, "cycles",
          "a warp's call of cudaGetParameterBuffer keeps it that long");
  v.field("buffer_lane_cycles", buffer_lane_cycles, cycles, "cycles",
          "added to buffer_cycles for each lane that calls");
  v.field("launch_cycles", launch_cycles, cycles, "cycles",
          "a warp's call of cudaLaunchDevice keeps it that long; then the management unit has it");
  v.field("launch_lane_cycles", launch_lane_cycles, cycles, "cycles",
          "added to launch_cycles for each lane that launches a kernel");
  v.field("percent", percent, R{0, 10'000}, "%", "of the costs above that are charged");
  v.field("per_cycle", per_cycle, R{0, 1024}, "launches",
          "that come from SMs to the management unit in a cycle; 0: any number");
}

}  // namespace raddle::timing
