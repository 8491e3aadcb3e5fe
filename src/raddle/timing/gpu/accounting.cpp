#include "raddle/timing/gpu/accounting.h"

#include <algorithm>
#include <array>
#include <bit>

namespace raddle::timing {

namespace {
/// So many idle scheduler-cycles passed while a launch was on its way.
void charge_launch(std::array<std::uint64_t, stats::kStalls>& stall, std::uint64_t cycles) {
  std::uint64_t& idle = stall[static_cast<unsigned>(stats::Stall::Idle)];
  RADDLE_ASSERT(cycles <= idle);
  idle -= cycles;
  stall[static_cast<unsigned>(stats::Stall::Launch)] += cycles;
}
}  // namespace

Accounting::Accounting(Spec spec, CounterSource& source)
    : source_(source),
      schedulers_(spec.schedulers),
      dispatch_latency_(spec.dispatch_latency),
      accounts_(spec.slots),
      sampler_(spec.sample_interval, spec.window) {
  if (spec.sample_interval != 0) sms_over_time_.emplace(spec.sample_interval, spec.window);
  if (spec.mesh && spec.sample_interval != 0)
    mesh_.emplace(std::move(*spec.mesh), spec.sample_interval, spec.window);
}

/// A kernel has an entry and with it a launch slot. What has been counted for the slot is the
/// former
/// kernel's.
void Accounting::entered(const Dispatcher::Entered& entered, TenantId tenant, Cycle end) {
  run(entered.job).begin = entered.begin;
  if (entered.joined) return;
  close(entered.entry, end);
  accounts_.open(entered.entry, entered.job, tenant);
}

void Accounting::ended(const Dispatcher::Ended& ended) {
  KernelRun& of = run(ended.job);
  of.first = ended.first;
  of.last = ended.last;
  of.end = ended.at;
}

/// What has been counted for the slot belongs to the launch that has had it.
void Accounting::close(unsigned slot, Cycle end) {
  KernelRun* run = accounts_.run_of(slot, runs_);
  if (run == nullptr) return;
  accounts_.close(slot, runs_, [this, end](unsigned of) { return source_.counters(of, end); });
  run->max_mshrs = std::max(run->max_mshrs, source_.take_most_mshrs(slot));
}

void Accounting::close(Cycle end) {
  for (unsigned slot = 0; slot < accounts_.slots(); ++slot) close(slot, end);
}

std::array<stats::GpuCounters, kMaxTenants> Accounting::tenants(Cycle end) {
  close(end);
  std::array<stats::GpuCounters, kMaxTenants> out;
  for (unsigned t = 0; t < kMaxTenants; ++t)
    out[t] = accounts_.of(TenantId{static_cast<std::uint8_t>(t)});
  return out;
}

void Accounting::take_samples(Cycle begin) {
  sampler_.advance(begin, [this](Cycle at) { return source_.counters(at); });
  sms_over_time_->advance(sms_, begin, [this](Cycle at) { return source_.sm_counts(at); });
  if (mesh_) mesh_->advance(begin, [this](Cycle at) { return source_.mesh_counts(at); });
}

void Accounting::update_samples(Cycle now) {
  sampler_.update(source_.counters(now));
  if (sms_over_time_) sms_over_time_->update(sms_, source_.sm_counts(now));
  if (mesh_) mesh_->update(source_.mesh_counts(now));
}

/// Times in which no block is on an SM, and some launch has left its queue and its first block, if
/// the dispatch policy sends it at once, has not come to its SM.
std::vector<Interval> Accounting::launching(Cycle at) const {
  std::vector<Interval> on_way;
  for (const KernelRun& run : runs_)
    if (run.start < at)
      on_way.push_back(
          {.from = run.start,
           .to = run.begin == kNever ? at : std::min(at, run.begin + dispatch_latency_)});
  return common_times(source_.empty_times(at), std::move(on_way));
}

stats::GpuCounters Accounting::counters(Cycle now) const {
  stats::GpuCounters out = source_.counters(now);
  Cycle cycles = 0;
  for (const Interval& one : launching(now)) cycles += one.to - one.from;
  charge_launch(out.scheduler.stall, cycles * schedulers_);
  return out;
}

Cycle Accounting::busy(Cycle now) const {
  Cycle out = now;
  for (const Interval& empty : source_.empty_times(now)) out -= empty.to - empty.from;
  return out;
}

std::vector<Sample> Accounting::samples(Cycle now) const {
  std::vector<Sample> out = sampler_.samples();
  if (out.empty()) return out;
  std::size_t i = 0;  // the sample that holds `from`
  for (auto [from, to] : launching(now))
    while (from < to) {
      while (i + 1 < out.size() && out[i + 1].start <= from) ++i;
      const Cycle end = i + 1 < out.size() ? std::min(to, out[i + 1].start) : to;
      charge_launch(out[i].stall, (end - from) * schedulers_);
      from = end;
    }
  return out;
}

std::vector<std::string> Accounting::audit(Cycle now, Cycle end) {
  std::vector<std::string> broken;
  auto equal = [&](const std::string& what, std::uint64_t a, std::uint64_t b) {
    if (a != b) broken.push_back(what + ": " + std::to_string(a) + " and " + std::to_string(b));
  };
  const stats::GpuCounters all = counters(now);
  std::uint64_t accounted = all.sm.issued;
  for (const std::uint64_t cycles : all.scheduler.stall) accounted += cycles;
  equal("scheduler-cycles, and those issued or stalled", now * schedulers_, accounted);
  // Accounts are closed when the clock has stopped, up to a window later; a line that nobody waits
  // for any more may be on its way until then.
  stats::GpuCounters sum;
  for (const KernelRun& run : kernels(end)) stats::accumulate(sum, run.counters);
  stats::GpuCounters of_tenants = accounts_.of_all_tenants();
  const stats::GpuCounters stopped = source_.counters(end);
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
  return broken;
}

}  // namespace raddle::timing
