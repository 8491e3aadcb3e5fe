#include "raddle/sim/result/busy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace raddle::sim {

namespace {

using timing::MachineSpec;

double busy_share(double busy, double all) { return all > 0 ? busy / all : 0; }

double dram_busy(const stats::DramCounters& counted, double cycles, const MachineSpec& machine) {
  const bool fixed = machine.dram.model == timing::DramModel::Fixed;  // counts core cycles
  const double of_core =
      fixed ? 1.0 : static_cast<double>(machine.dram.clock_mhz) / machine.core_clock_mhz;
  return busy_share(static_cast<double>(counted.bus_busy_cycles),
                    machine.dram.channels * cycles * of_core);
}

double l2_busy(const stats::GpuCounters& counted, double cycles, const MachineSpec& machine) {
  const stats::L2Counters& c = counted.l2;
  const double slices = machine.l2.slices;
  const double look_ups =
      static_cast<double>(c.reads + c.writes + c.atomics) * machine.l2.interval_cycles;
  const double crossings = static_cast<double>(c.crossings) * machine.l2.fabric_sector_cycles;
  double out =
      std::max(busy_share(look_ups, slices * cycles), busy_share(crossings, slices * cycles));
  if (machine.noc.topology == timing::Topology::Crossbar) {
    const double of_core = machine.noc.clock_mhz == 0 ? 1.0
                                                      : static_cast<double>(machine.noc.clock_mhz) /
                                                            machine.core_clock_mhz;
    const double ports = std::min(
        slices, std::ceil(static_cast<double>(machine.sm.count) / machine.noc.sms_per_port));
    out = std::max(out,
                   busy_share(static_cast<double>(counted.reply.flits), ports * cycles * of_core));
  }
  return out;
}

double l1_busy(const stats::SmCounters& c, double cycles, const MachineSpec& machine) {
  const double sm_cycles = machine.sm.count * cycles;
  const double lines = static_cast<double>(c.l1d_accesses + c.l1d_stores + c.atomics);
  return std::max(busy_share(lines, sm_cycles * machine.sm.lsu_lines),
                  busy_share(static_cast<double>(c.shared_passes), sm_cycles));
}

double sm_busy(const stats::SmCounters& c, double cycles, const MachineSpec& machine) {
  std::array<double, timing::kUnits> units{};
  for (unsigned i = 0; i < trace::kOpClasses; ++i)
    units[static_cast<unsigned>(machine.sm.cost[i].unit)] +=
        static_cast<double>(c.class_issued[i]) * machine.sm.cost[i].interval;
  const double sm_cycles = machine.sm.count * cycles;
  double out = busy_share(static_cast<double>(c.issued), sm_cycles * machine.sm.schedulers);
  for (unsigned i = 0; i < timing::kUnits; ++i) {
    // The load/store unit is the L1's.
    if (static_cast<timing::Unit>(i) == timing::Unit::Lsu) continue;
    const double there = machine.sm.shared_unit[i] ? 1.0 : machine.sm.schedulers;
    out = std::max(out, busy_share(units[i], sm_cycles * there));
  }
  return out;
}

}  // namespace

Busy busy_of(const stats::GpuCounters& counters, Cycle cycles, const MachineSpec& machine) {
  const auto in = static_cast<double>(cycles);
  return {dram_busy(counters.dram, in, machine), l2_busy(counters, in, machine),
          l1_busy(counters.sm, in, machine), sm_busy(counters.sm, in, machine)};
}

std::string_view limited_by(const Busy& busy) {
  std::size_t busiest = kResources;
  for (std::size_t i = 0; i < kResources; ++i)
    if (!std::isnan(busy[i]) && (busiest == kResources || busy[i] > busy[busiest])) busiest = i;
  if (busiest != kResources && busy[busiest] >= kLimits) return kResourceNames[busiest];
  const bool all =
      std::ranges::none_of(busy, [](double busy_share) { return std::isnan(busy_share); });
  return all ? kLatency : "";
}

}  // namespace raddle::sim
