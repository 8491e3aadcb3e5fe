#include "raddle/timing/spec/machine.h"

namespace raddle::timing {

namespace {
using R = Range<std::uint32_t>;
// Arrivals are kept in words of 64 cycles.
constexpr std::uint32_t kLongestDispatchWire = 48;
}  // namespace

void MachineSpec::visit(FieldVisitor& v) {
  v.field("name", name, "name of the machine");
  v.field("source", source, "where its numbers come from");
  v.field("core_clock_mhz", core_clock_mhz, R{100, 10000}, "MHz",
          "clock of SMs, interconnect and L2");
  v.field("launch_latency_cycles", launch_latency_cycles, R{0, 1000000}, "cycles",
          "from the host (the launch before it in its stream has ended) to the pending kernels");
  v.field("dispatch_latency_cycles", dispatch_latency_cycles, R{1, kLongestDispatchWire}, "cycles",
          "from the block dispatcher to an SM and back, each way");
  v.nested("kernels", kernels, "launches on their way to the block dispatcher");
  v.nested("device_launch", device_launch, "launches by kernels");
  v.nested("sm", sm, "streaming multiprocessors");
  v.nested("noc", noc, "interconnect between SMs and L2");
  v.nested("l2", l2, "second-level cache");
  v.nested("dram", dram, "device memory");
  v.nested("ideal", ideal, "parts without limits, for bounds");
}

std::vector<std::string> MachineSpec::violations() const {
  SpecRules rules;
  check_kernels(*this, rules);
  check_sm(*this, rules);
  check_l2(*this, rules);
  check_noc(*this, rules);
  check_dram(*this, rules);
  check_ideal(*this, rules);
  return rules.take();
}

}  // namespace raddle::timing
