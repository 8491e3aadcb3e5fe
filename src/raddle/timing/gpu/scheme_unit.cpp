#include "raddle/timing/gpu/scheme_unit.h"

#include <algorithm>
#include <cmath>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/policy/fault.h"
#include "raddle/timing/cache/tags.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/flits.h"

namespace raddle::timing {

static_assert(policy::kStallReasons == stats::kStalls);
static_assert(stats::kNocKindNames[0] == "read");

policy::TenantCounts counts_of(const stats::GpuCounters& c) {
  policy::TenantCounts out;
  out.instructions = c.sm.issued;
  out.thread_instructions = c.sm.thread_instructions;
  out.stall = c.sm.stall;
  out.memory_instructions = c.sm.loads;
  out.l1d_accesses = c.sm.l1d_accesses;
  out.l1d_hits = c.sm.l1d_hits;
  out.l1d_reservation_fails = c.sm.l1d_reservation_fails;
  out.requests = c.sm.requests;
  out.token_wait_cycles = c.sharing.token_wait_cycles;
  out.starved_intervals = c.sharing.starved_intervals;
  out.request_packets = c.request.packets;
  out.request_flits = c.request.flits;
  out.request_bytes = c.request.bytes;
  out.read_packets = c.request.kind[0].packets;
  out.reply_packets = c.reply.packets;
  out.reply_flits = c.reply.flits;
  out.reply_bytes = c.reply.bytes;
  out.dram_accesses = c.l2.replies[1] + 2 * c.l2.replies[2];
  out.dram_reads = c.dram.reads;
  out.dram_writes = c.dram.writes;
  out.dram_bytes = c.dram.bytes;
  out.dram_busy_cycles = c.dram.bus_busy_cycles;
  out.blocks_ended = c.sm.blocks;
  return out;
}

policy::BandwidthFacts bandwidth_of(const MachineSpec& machine) {
  const PortSpec port(machine);
  const double core = port.core_mhz, noc = port.network_mhz;
  const std::uint32_t per_port =
      machine.noc.topology == Topology::Crossbar ? machine.noc.sms_per_port : 1;
  const std::uint32_t ports = std::min(machine.sm.count / per_port, machine.l2.slices);
  const DramSpec& dram = machine.dram;
  const double dram_by_second =
      dram.model == DramModel::Fixed
          ? core * machine.l2.line_bytes / dram.fixed_interval_cycles
          : static_cast<double>(dram.clock_mhz) * dram.bus_bytes_per_cycle;
  policy::BandwidthFacts out;
  out.cycles = noc / core;
  out.reply_bytes = static_cast<double>(ports) * machine.noc.flit_bytes;
  out.dram_bytes = dram.channels * dram_by_second / noc;
  out.read_reply_bytes =
      static_cast<double>(port.packet.flits(machine.sm.l1d.line_bytes)) * machine.noc.flit_bytes;
  out.dram_access_bytes = machine.l2.line_bytes;
  return out;
}

namespace {

policy::SchemePolicy::Context context_of(const MachineSpec& machine, std::uint64_t seed,
                                         const std::array<double, kMaxTenants>& ipc_alone) {
  const SmSpec& sm = machine.sm;
  policy::SchemePolicy::Context out;
  out.sms = sm.count;
  out.l1d_ways = sm.l1d.ways;
  out.l2_ways = machine.l2.ways;
  out.seed = seed;
  out.sm = {{sm.threads, sm.warps, sm.registers, sm.shared_kib * 1024}, sm.blocks};
  out.miss_queue = sm.l1d.miss_queue;
  out.lsu_queue = sm.lsu_queue;
  out.bandwidth = bandwidth_of(machine);
  out.ipc_alone = ipc_alone;
  return out;
}

}  // namespace

SchemeUnit::SchemeUnit(const MachineSpec& machine,
                       const policy::Choice<policy::SchemePolicy>& scheme, Cycle window,
                       std::uint64_t seed, const std::array<double, kMaxTenants>& ipc_alone)
    : name_(scheme.name()),
      scheme_(scheme.make(context_of(machine, seed, ipc_alone))),
      window_(window),
      sms_(machine.sm.count),
      sm_(context_of(machine, seed, ipc_alone).sm),
      l1d_ways_(machine.sm.l1d.present() ? machine.sm.l1d.ways : 0),
      l2_ways_(machine.l2.ways),
      divides_l1d_(l1d_ways_ != 0 && l1d_ways_ <= Tags::kMaskedWays && !machine.resizes_l1d()),
      dram_queue_(machine.dram.model != DramModel::Fixed) {
  RADDLE_ASSERT(window_ != 0 && sms_ != 0);
}

void SchemeUnit::launched(TenantId tenant, const policy::BlockResources& block,
                          std::uint64_t blocks_of_sm) {
  Blocks& known = blocks_[index(tenant)];
  const policy::BlockResources largest = policy::largest_of(known.largest, block);
  const std::uint64_t fit = policy::blocks_that_fit(sm_, block);
  const auto maximum =
      std::max(known.maximum, static_cast<std::uint32_t>(std::min(fit, blocks_of_sm)));
  grown_ = grown_ || largest != known.largest || maximum != known.maximum;
  known = {largest, maximum};
}

bool SchemeUnit::look(Cycle begin, std::uint8_t present,
                      const std::array<Tenant, kMaxTenants>& tenants) {
  RADDLE_ASSERT(due(begin, present) && begin >= since_);
  std::array<policy::TenantView, kMaxTenants> views;
  for (unsigned t = 0; t < kMaxTenants; ++t) {
    stats::GpuCounters since = tenants[t].total;
    stats::accumulate(since, before_[t], -1);
    views[t] = {counts_of(since), tenants[t].resident_blocks, tenants[t].resident_warps,
                blocks_[t].largest, blocks_[t].maximum};
    before_[t] = tenants[t].total;
  }
  const policy::Knobs old = knobs_;
  const Cycle next = scheme_->look({begin, since_, present, views}, knobs_);
  check();
  if (next <= begin) policy::wrong_answer("scheme=" + name_, "looks again after now");
  due_ = next > kNever - window_ ? kNever : (next + window_ - 1) / window_ * window_;
  since_ = begin;
  present_ = present;
  grown_ = false;
  return knobs_ != old;
}

void SchemeUnit::check() const {
  auto fail = [&](const std::string& what) { policy::wrong_answer("scheme=" + name_, what); };
  for (const policy::TenantKnobs& t : knobs_.tenant) {
    if (!t.block_cap.empty() && t.block_cap.size() != sms_) fail("caps blocks of every SM or none");
    if (t.active_blocks == 0) fail("lets at least one block issue");
    if (t.issue_quota == 0) fail("lets every tenant issue an instruction in an epoch");
    if (!(t.request_tokens > 0)) fail("grants every tenant a part of a request token");
    if (std::isfinite(t.request_tokens) && t.request_tokens > policy::TenantKnobs::kMaxTokens)
      fail("grants a tenant at most 10^6 request tokens, or infinitely many");
    if (t.miss_queue == 0) fail("gives every tenant a place in the miss queues");
    if (t.lsu_queue == 0) fail("gives every tenant a place in the load/store units");
    if (l1d_ways_ != 0 && (t.l1d_ways & low_bits(l1d_ways_)) == 0)
      fail("gives every tenant a way of the L1D");
    if ((t.l2_ways & low_bits(l2_ways_)) == 0) fail("gives every tenant a way of the L2");
  }
  if (knobs_.token_interval == 0) fail("gives tokens in intervals of a cycle or more");
  if (knobs_.issue_epoch == 0) fail("has epochs of a cycle or more");
  if (knobs_.arbiter_cycles > policy::Knobs::kMaxArbiterCycles) fail("has a quick arbiter");
  if (const std::string_view knob = unheard(); !knob.empty())
    fail("sets no knob that nobody obeys on this machine, such as " + std::string(knob));
}

/// Name of a knob that is set and that this machine has nobody to obey; empty if there is none.
std::string_view SchemeUnit::unheard() const {
  const policy::TenantKnobs open;
  for (const policy::TenantKnobs& t : knobs_.tenant) {
    if (t.l1d_ways != open.l1d_ways && !divides_l1d_) return "l1d_ways";
    if (t.l2_ways != open.l2_ways && l2_ways_ > Tags::kMaskedWays) return "l2_ways";
    if (t.dram_rank != open.dram_rank && !dram_queue_) return "dram_rank";
  }
  return {};
}

}  // namespace raddle::timing
