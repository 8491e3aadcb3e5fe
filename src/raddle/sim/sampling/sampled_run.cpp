#include "raddle/sim/sampling/sampled_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/runtime/device.h"

namespace raddle::sim {

namespace {

SampledLaunch described(std::span<const runtime::LaunchedStream> tree, std::uint32_t code) {
  const runtime::LaunchRecord& host = tree.front().record;
  SampledLaunch out{host.name, code, host.grid, host.block, tree.size(), 0};
  for (const runtime::LaunchedStream& one : tree)
    out.warp_instructions += one.record.warp_instructions;
  return out;
}

/// Member by member.
template <stats::OnlyCounters Counters>
Counters scaled(Counters counters, double factor) {
  auto* at = reinterpret_cast<std::uint64_t*>(&counters);
  for (std::size_t i = 0; i < sizeof(counters) / sizeof(std::uint64_t); ++i)
    at[i] = static_cast<std::uint64_t>(static_cast<double>(at[i]) * factor + 0.5);
  return counters;
}

}  // namespace

/// Compared as a whole: files may have kernels of one name, and the memory of a module that was
/// unloaded may be another's.
std::uint32_t SampledRun::number_of(const trace::KernelCode& code) {
  const auto known = std::ranges::find(codes_, code);
  const auto number = static_cast<std::uint32_t>(known - codes_.begin());
  if (known == codes_.end()) codes_.push_back(code);
  return number;
}

/// Launches of several streams that the host does not wait for between them: how long one takes
/// depends on what runs beside it.
bool SampledRun::may_overlap(StreamId stream) {
  const bool alone = under_way_.empty() || (under_way_.size() == 1 && under_way_.contains(stream));
  if (stream != runtime::kDefaultStream) under_way_.insert(stream);
  return !alone;
}

/// Runs what was submitted to its end. The host's clock stands still, so what it submits next comes
/// as early as it would have. What times it is all explicit (timing/gpu/kernel_manager.h): a launch
/// of the same stream begins where it would have begun behind the one before. The default stream
/// has always run to its end already.
void SampledRun::run_ahead() {
  constexpr Cycle kFar = kNever / 2;
  while (!gpu_.idle(TenantId{})) {
    gpu_.run_to(kFar);
    ahead_ = true;
  }
  measure();
}

bool SampledRun::times(std::span<const runtime::LaunchedStream> tree) {
  const StreamId stream = tree.front().record.stream;
  const bool all = all_timed_from_ != Extrapolation::kNoOverlap;
  if (!all && may_overlap(stream)) {
    all_timed_from_ = launches_;
    // What would have run beside the launch is over: it cannot come earlier than that.
    if (ahead_) gpu_.run_until_idle();
    if (note_)
      note_("launches of several streams may overlap: from launch " + std::to_string(launches_) +
            " on all are timed, whatever run.sampling_error says");
  }
  ++launches_;
  const SampledLaunch launch = described(tree, number_of(tree.front().stream->code()));
  // What is executed while it is timed has no count before.
  const bool aside = all_timed_from_ != Extrapolation::kNoOverlap || launch.warp_instructions == 0;
  if (!aside && sampler_.wants_times()) run_ahead();
  const double before = sampler_.estimated_cycles();
  if (aside) {
    sampler_.next_aside();
  } else if (!sampler_.next(launch)) {
    clock_.pass(sampler_.estimated_cycles() - before, sampler_.estimated_cycles());
    return false;
  }
  trees_.push_back((trees_.empty() ? 0 : trees_.back()) + tree.size());
  return true;
}

void SampledRun::idle() {
  under_way_.clear();
  ahead_ = false;
  measure();
}

void SampledRun::measure() {
  if (notified_ == trees_.size()) return;
  const std::vector<timing::KernelRun>& runs = gpu_.kernels();
  for (; notified_ < trees_.size(); ++notified_) {
    Cycle end = end_;
    for (std::size_t i = notified_ == 0 ? 0 : trees_[notified_ - 1]; i < trees_[notified_]; ++i)
      end = std::max(end, runs[i].end);
    sampler_.measured(static_cast<double>(end - end_));
    end_ = end;
  }
}

/// To the totals: of each class and period the counters of launches that count, times the
/// instructions that they tell of.
void SampledRun::add_estimated(Extrapolation& out) const {
  using Stratum = std::pair<std::size_t, std::uint64_t>;  // class, period
  std::map<Stratum, stats::GpuCounters> counted;
  const std::vector<timing::KernelRun>& runs = gpu_.kernels();
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    const LaunchSampler::Timed& timed = sampler_.timed()[t];
    if (!sampler_.counts(timed)) continue;
    stats::GpuCounters& sum = counted[{timed.launch_class, timed.period}];
    for (std::size_t i = t == 0 ? 0 : trees_[t - 1]; i < trees_[t]; ++i)
      stats::accumulate(sum, runs[i].counters);
  }
  for (std::size_t c = 0; c < out.classes.size(); ++c)
    for (const LaunchClass::Stratum& period : out.classes[c].strata())
      stats::accumulate(out.totals,
                        scaled(counted.at({c, period.period}), period.instructions / period.by.x));
}

Extrapolation SampledRun::result(Cycle cycles, const stats::GpuCounters& totals) {
  RADDLE_ASSERT(notified_ == trees_.size());
  Extrapolation out;
  out.classes = sampler_.classes();
  out.timed = trees_.size();
  out.estimated = sampler_.estimated();
  out.all_timed_from = all_timed_from_;
  out.cycles = cycles + static_cast<Cycle>(sampler_.estimated_cycles() + 0.5);
  out.half_width = sampler_.half_width();
  out.totals = totals;
  if (cycles != 0)  // schedulers spend cycles without a warp, too
    out.totals.scheduler =
        scaled(totals.scheduler, static_cast<double>(out.cycles) / static_cast<double>(cycles));
  add_estimated(out);
  return out;
}

}  // namespace raddle::sim
