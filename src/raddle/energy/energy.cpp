#include "raddle/energy/energy.h"

#include <algorithm>
#include <numeric>

namespace raddle::energy {

namespace {

using u64 = std::uint64_t;

static_assert(stats::kOpClasses == trace::kOpClasses);

u64 times(u64 events, Cost cost) { return events * cost.femtojoule(); }

u64 sum(const std::array<u64, kComponents>& all, unsigned count) {
  return std::accumulate(all.begin(), all.begin() + count, u64{0});
}

}  // namespace

u64 Energy::total() const { return sum(femtojoule, kComponents); }
u64 Energy::dynamic_total() const { return sum(femtojoule, kDynamicComponents); }

Energy dynamic_energy(const stats::GpuCounters& n, const EnergySpec& e) {
  Energy out;
  const auto put = [&](Component c, u64 femtojoule) {
    out.femtojoule[static_cast<unsigned>(c)] = femtojoule;
  };
  put(Component::FrontEnd, times(n.sm.issued, e.instruction));
  put(Component::RegisterFile,
      times(n.sm.register_reads, e.register_read) + times(n.sm.register_writes, e.register_write));
  u64 lanes = 0;
  for (unsigned c = 0; c < trace::kOpClasses; ++c) lanes += times(n.sm.class_lanes[c], e.lane[c]);
  put(Component::Lanes, lanes);
  put(Component::Constant, times(n.sm.const_accesses, e.constant));
  put(Component::Shared, times(n.sm.shared_passes, e.shared_pass));
  put(Component::L1d, times(n.sm.l1d_accesses + n.sm.l1d_stores, e.l1d_probe) +
                          times(n.sm.l1d_hits + n.sm.l1d_pending_hits, e.l1d_read) +
                          times(n.sm.l1d_store_hits + n.sm.l1d_fills, e.l1d_write));
  put(Component::Noc,
      times(n.request.flit_hops + n.reply.flit_hops + n.dram.legs.flit_hops, e.flit_hop));
  put(Component::L2,
      times(n.l2.reads + n.l2.atomics, e.l2_read) + times(n.l2.writes + n.l2.atomics, e.l2_write));
  put(Component::Dram, times(n.dram.bytes - n.dram.written_bytes, e.dram_read_byte) +
                           times(n.dram.written_bytes, e.dram_write_byte) +
                           times(n.dram.activates, e.dram_activate) +
                           times(n.dram.refreshes, e.dram_refresh));
  return out;
}

Energy energy(const stats::GpuCounters& n, const EnergySpec& e, const Time& time) {
  Energy out = dynamic_energy(n, e);
  const auto& stall = n.scheduler.stall;
  const u64 idle = stall[static_cast<unsigned>(stats::Stall::Idle)] +
                   stall[static_cast<unsigned>(stats::Stall::Launch)];
  const u64 stalled = std::accumulate(stall.begin(), stall.end(), u64{0}) - idle;
  const u64 cores =
      times(n.sm.issued, e.core_active) + times(stalled, e.core_stalled) + times(idle, e.core_idle);
  const auto put = [&](Component c, u64 femtojoule) {
    out.femtojoule[static_cast<unsigned>(c)] = femtojoule;
  };
  put(Component::StaticCores, cores / time.schedulers_per_sm);
  put(Component::StaticL2, times(time.cycles * time.l2_slices, e.l2_slice_cycle));
  put(Component::StaticChip, times(time.cycles, e.chip_cycle));
  return out;
}

Energy energy_alone(const stats::GpuCounters& launch, const EnergySpec& spec, const Time& time,
                    u64 schedulers) {
  stats::GpuCounters all = launch;
  all.scheduler.stall = launch.sm.stall;
  const u64 own = std::accumulate(launch.sm.stall.begin(), launch.sm.stall.end(), launch.sm.issued);
  const u64 there = time.cycles * schedulers;
  all.scheduler.stall[static_cast<unsigned>(stats::Stall::Idle)] += there - std::min(there, own);
  return energy(all, spec, time);
}

}  // namespace raddle::energy
