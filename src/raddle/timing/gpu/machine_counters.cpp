#include "raddle/timing/gpu/machine_counters.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace raddle::timing {

stats::GpuCounters MachineCounters::counters(Cycle at) const {
  stats::GpuCounters sum;
  for (const auto& sm : machine_.sms()) {
    stats::accumulate(sum.sm, sm->counters(at));
    stats::accumulate(sum.sharing, sm->sharing(at));
    stats::accumulate(sum.scheduler, sm->scheduler_counters(at));
  }
  sum.request = machine_.request().counters();
  sum.reply = machine_.reply().counters();
  for (const auto& partition : machine_.partitions()) {
    stats::accumulate(sum.l2, partition->l2_counters());
    stats::accumulate(sum.dram, partition->dram_counters());
  }
  return sum;
}

stats::GpuCounters MachineCounters::counters(unsigned slot, Cycle at) const {
  stats::GpuCounters sum;
  for (const auto& sm : machine_.sms()) {
    stats::accumulate(sum.sm, sm->counters(at, slot));
    stats::accumulate(sum.sharing, sm->sharing(at, slot));
  }
  sum.request = machine_.request().counters(slot);
  sum.reply = machine_.reply().counters(slot);
  for (const auto& partition : machine_.partitions()) {
    stats::accumulate(sum.l2, partition->l2_counters(slot));
    stats::accumulate(sum.dram, partition->dram().counters(slot));
  }
  return sum;
}

unsigned MachineCounters::take_most_mshrs(unsigned slot) {
  unsigned maximum = 0;
  for (const auto& sm : machine_.sms()) maximum = std::max(maximum, sm->take_most_mshrs(slot));
  return maximum;
}

SmCounts MachineCounters::sm_counts(Cycle at) const {
  SmCounts out;
  out.at = at;
  for (const auto& sm : machine_.sms()) {
    const stats::SmCounters counters = sm->counters(at);
    const stats::SchedulerCounters schedulers = sm->scheduler_counters(at);
    out.sms.push_back({.thread_instructions = counters.thread_instructions,
                       .l1d_accesses = counters.l1d_accesses,
                       .l1d_hits = counters.l1d_hits,
                       .warp_cycles = schedulers.warp_cycles,
                       .throttled_warp_cycles = schedulers.throttled_warp_cycles});
  }
  return out;
}

/// A scheduler-cycle that was not lost was issued in.
MeshCounts MachineCounters::mesh_counts(Cycle at) const {
  MeshCounts out;
  out.at = at;
  out.requests = machine_.request().link_flits();
  out.replies = machine_.reply().link_flits();
  for (const auto& sm : machine_.sms()) {
    const auto stall = sm->scheduler_counters(at).stall;
    const auto lost = [&](stats::Stall why) { return stall[static_cast<unsigned>(why)]; };
    std::uint64_t issued = at * machine_.machine().sm.schedulers;
    for (const std::uint64_t cycles : stall) issued -= cycles;
    out.sms.push_back({.issued = issued,
                       .memory = lost(stats::Stall::Memory) + lost(stats::Stall::Lsu),
                       .idle = lost(stats::Stall::Idle)});
  }
  const MigrationUnit* migration = machine_.migration();
  if (migration == nullptr) return out;
  out.states = migration->policy().state_cycles(at);
  for (const auto& [from_to, warps] : migration->moves())
    out.moves.push_back({.from = from_to.first, .to = from_to.second, .warps = warps});
  return out;
}

std::uint64_t MachineCounters::hash(Cycle at) const {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  auto add = [&](const auto& counters) { XXH64_update(&state, &counters, sizeof counters); };
  add(at);
  for (const auto& sm : machine_.sms()) {
    add(sm->counters(at));
    add(sm->scheduler_counters(at));
    const stats::SharingCounters sharing = sm->sharing(at);
    if (sharing.token_wait_cycles != 0) add(sharing);  // else as without a scheme
  }
  for (const Network* network : {&machine_.request(), &machine_.reply()}) {
    add(network->counters());
    for (const stats::NocPort& port : network->ports()) add(port);
  }
  for (const auto& partition : machine_.partitions()) {
    for (unsigned i = 0; i < partition->slices(); ++i) add(partition->slice_counters(i));
    add(partition->dram_counters());
  }
  return XXH64_digest(&state);
}

}  // namespace raddle::timing
