// What has been counted: of the machine, of launches and of tenants, and the laws that hold between
// them.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "raddle/timing/gpu/gpu_impl.h"

namespace raddle::timing {

stats::GpuCounters Gpu::Impl::counters(Cycle at) const {
  stats::GpuCounters sum;
  for (const auto& sm : sms_) {
    stats::accumulate(sum.sm, sm->counters(at));
    stats::accumulate(sum.sharing, sm->sharing(at));
    stats::accumulate(sum.scheduler, sm->scheduler_counters(at));
  }
  sum.request = request_->counters();
  sum.reply = reply_->counters();
  for (const auto& p : partitions_) {
    stats::accumulate(sum.l2, p->l2_counters());
    stats::accumulate(sum.dram, p->dram_counters());
  }
  return sum;
}

namespace {
/// So many idle scheduler-cycles passed while a launch was on its way.
void charge_launch(std::array<std::uint64_t, stats::kStalls>& stall, std::uint64_t cycles) {
  std::uint64_t& idle = stall[static_cast<unsigned>(stats::Stall::Idle)];
  RADDLE_ASSERT(cycles <= idle);
  idle -= cycles;
  stall[static_cast<unsigned>(stats::Stall::Launch)] += cycles;
}
}  // namespace

/// SMs do not know of launches: to them a scheduler without a warp is idle.
stats::GpuCounters Gpu::Impl::counters() const {
  stats::GpuCounters out = counters(now_);
  Cycle cycles = 0;
  for (const Interval& one : launching(now_)) cycles += one.to - one.from;
  charge_launch(out.scheduler.stall, cycles * machine_.sm.count * machine_.sm.schedulers);
  return out;
}

void Gpu::Impl::observe_slice(unsigned slice, policy::L2Observer& observer) {
  const unsigned each = partitions_.front()->slices();
  partitions_.at(slice / each)->observe(slice % each, observer);
}

void Gpu::Impl::keep_profile(Cycle interval) {
  RADDLE_ASSERT(interval > 0 && interval <= ~std::uint32_t{0} && runs_.empty());
  looks_.emplace(static_cast<std::uint32_t>(interval), options_.seed);
  for (const auto& sm : sms_) sm->keep_profile(*looks_);
}

Profile Gpu::Impl::profile() {
  Profile out;
  if (!looks_) return out;
  out.looks = LookTimes(*looks_).before(now_);
  for (const auto& code : decoded_) {
    CodeProfile& of = out.codes.emplace_back();
    of.code = code->lowered;
    of.instructions.resize(code->kernel.size());
    for (const auto& sm : sms_) {
      const auto& tables = sm->profile(now_)->tables();
      const auto table = tables.find(&code->kernel);
      if (table == tables.end()) continue;
      for (std::size_t i = 0; i < of.instructions.size(); ++i)
        stats::accumulate(of.instructions[i], table->second[i]);
    }
  }
  return out;
}

std::vector<Sample> Gpu::Impl::samples() const {
  std::vector<Sample> out = sampler_.samples();
  if (out.empty()) return out;
  std::size_t i = 0;  // the sample that holds `from`
  for (auto [from, to] : launching(now_))
    while (from < to) {
      while (i + 1 < out.size() && out[i + 1].start <= from) ++i;
      const Cycle end = i + 1 < out.size() ? std::min(to, out[i + 1].start) : to;
      charge_launch(out[i].stall, (end - from) * machine_.sm.count * machine_.sm.schedulers);
      from = end;
    }
  return out;
}

/// Times in which no block is on an SM, and some launch has left its queue and its first block, if
/// the dispatch policy sends it at once, has not come to its SM.
std::vector<Interval> Gpu::Impl::launching(Cycle at) const {
  std::vector<Interval> on_way;
  for (const KernelRun& run : runs_)
    if (run.start < at)
      on_way.push_back(
          {run.start,
           run.begin == kNever ? at : std::min(at, run.begin + machine_.dispatch_latency_cycles)});
  return common_times(dispatcher_.empty_times(at), std::move(on_way));
}

Cycle Gpu::Impl::busy() const {
  Cycle out = now_;
  for (const Interval& empty : dispatcher_.empty_times(now_)) out -= empty.to - empty.from;
  return out;
}

Sampler::Activity Gpu::Impl::activity(Cycle at) const {
  Sampler::Activity out{counters(at), {}};
  for (const auto& sm : sms_) {
    if (sm->throttle() == nullptr) break;
    const stats::SchedulerCounters c = sm->scheduler_counters(at);
    out.allowed_by_sm.push_back(c.warp_cycles - c.throttled_warp_cycles);
  }
  return out;
}

/// A scheduler-cycle that was not lost was issued in.
MeshCounts Gpu::Impl::mesh_counts(Cycle at) const {
  MeshCounts out;
  out.at = at;
  out.requests = request_->link_flits();
  out.replies = reply_->link_flits();
  for (const auto& sm : sms_) {
    const auto stall = sm->scheduler_counters(at).stall;
    const auto lost = [&](stats::Stall why) { return stall[static_cast<unsigned>(why)]; };
    std::uint64_t issued = at * machine_.sm.schedulers;
    for (const std::uint64_t cycles : stall) issued -= cycles;
    out.sms.push_back(
        {issued, lost(stats::Stall::Memory) + lost(stats::Stall::Lsu), lost(stats::Stall::Idle)});
  }
  if (migration_ == nullptr) return out;
  out.states = std::as_const(*migration_).policy().state_cycles(at);
  for (const auto& [from_to, warps] : migration_->moves())
    out.moves.push_back({from_to.first, from_to.second, warps});
  return out;
}

/// Everything counted for that launch slot before cycle `at`.
stats::GpuCounters Gpu::Impl::counted_for(unsigned slot, Cycle at) const {
  stats::GpuCounters sum;
  for (const auto& sm : sms_) {
    stats::accumulate(sum.sm, sm->counters(at, slot));
    stats::accumulate(sum.sharing, sm->sharing(at, slot));
  }
  sum.request = request_->counters(slot);
  sum.reply = reply_->counters(slot);
  for (const auto& p : partitions_) {
    stats::accumulate(sum.l2, p->l2_counters(slot));
    stats::accumulate(sum.dram, p->dram().counters(slot));
  }
  return sum;
}

/// What has been counted for the slot belongs to the launch that has had it.
void Gpu::Impl::close_account(unsigned slot, Cycle at) {
  KernelRun* run = accounts_.run_of(slot, runs_);
  if (run == nullptr) return;
  accounts_.close(slot, runs_, [this, at](unsigned of) { return counted_for(of, at); });
  for (const auto& sm : sms_)
    run->most_mshrs = std::max(run->most_mshrs, sm->take_most_mshrs(slot));
}

void Gpu::Impl::close_accounts(Cycle at) {
  for (unsigned slot = 0; slot < accounts_.slots(); ++slot) close_account(slot, at);
}

const std::vector<KernelRun>& Gpu::Impl::kernels() {
  close_accounts(engine_.end());
  return runs_;
}

stats::GpuCounters Gpu::Impl::tenant_counters(TenantId tenant, Cycle at) {
  close_accounts(at);
  return accounts_.of(tenant);
}

/// Scheduler-cycles, sums over launches and over tenants, and each component's own laws.
std::vector<std::string> Gpu::Impl::audit() {
  std::vector<std::string> broken;
  auto equal = [&](const std::string& what, std::uint64_t a, std::uint64_t b) {
    if (a != b) broken.push_back(what + ": " + std::to_string(a) + " and " + std::to_string(b));
  };
  const stats::GpuCounters all = counters();
  std::uint64_t accounted = all.sm.issued;
  for (std::uint64_t n : all.scheduler.stall) accounted += n;
  equal("scheduler-cycles, and those issued or stalled",
        now_ * machine_.sm.count * machine_.sm.schedulers, accounted);
  // Accounts are closed when the clock has stopped, up to a window later; a line that nobody waits
  // for any more may be on its way until then.
  stats::GpuCounters sum;
  for (const KernelRun& run : kernels()) stats::accumulate(sum, run.counters);
  stats::GpuCounters of_tenants = accounts_.of_all_tenants(), stopped = counters(engine_.end());
  sum.scheduler = of_tenants.scheduler = stopped.scheduler;
  using Words = std::array<std::uint64_t, sizeof sum / sizeof(std::uint64_t)>;
  const auto total = std::bit_cast<Words>(stopped);
  const auto by_launch = std::bit_cast<Words>(sum);
  const auto by_tenant = std::bit_cast<Words>(of_tenants);
  for (std::size_t i = 0; i < total.size(); ++i) {
    const std::string counter =
        "counter " + std::to_string(i) + " of the machine, and its sum over ";
    equal(counter + "launches", total[i], by_launch[i]);
    equal(counter + "tenants", total[i], by_tenant[i]);
  }
  auto part = [&](const auto& component) {
    for (std::string& law : component.audit()) broken.push_back(std::move(law));
  };
  if (!manager_.idle()) return broken;
  for (const auto& sm : sms_) part(*sm);
  if (migration_ != nullptr && migration_->idle()) part(*migration_);
  part(*request_);
  part(*reply_);
  for (const auto& p : partitions_) part(*p);
  return broken;
}

std::uint64_t Gpu::Impl::hash() const {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  auto add = [&](const auto& counters) { XXH64_update(&state, &counters, sizeof counters); };
  add(now_);
  for (const auto& sm : sms_) {
    add(sm->counters(now_));
    add(sm->scheduler_counters(now_));
    const stats::SharingCounters sharing = sm->sharing(now_);
    if (sharing.token_wait_cycles != 0) add(sharing);  // else as without a scheme
  }
  for (const Network* network : {request_.get(), reply_.get()}) {
    add(network->counters());
    for (const stats::NocPort& port : network->ports()) add(port);
  }
  for (const auto& p : partitions_) {
    for (unsigned i = 0; i < p->slices(); ++i) add(p->slice_counters(i));
    add(p->dram_counters());
  }
  return XXH64_digest(&state);
}

}  // namespace raddle::timing
