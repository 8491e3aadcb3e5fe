// Launches on their way through the machine, and the clock that they make run.
#include <algorithm>
#include <utility>

#include "raddle/base/demangle.h"
#include "raddle/timing/gpu/gpu_impl.h"
#include "raddle/timing/gpu/residency.h"
#include "raddle/timing/mem/l2_slice.h"
#include "raddle/timing/spec/address_regions.h"

namespace raddle::timing {

// --- launches -----------------------------------------------------------------------------------

void Gpu::Impl::check(const trace::KernelCode& code, const trace::LaunchShape& shape) const {
  if (Residency fit = residency(machine_.sm, code, shape); fit.blocks == 0)
    throw InputError(fit.reason);
  if (shape.grid.count() == 0 || shape.block.count() == 0 ||
      shape.grid.count() >= ~std::uint32_t{0})
    throw InputError("kernel '" + short_name(code.name) + "' is launched with " +
                     std::to_string(shape.grid.count()) + " blocks of " +
                     std::to_string(shape.block.count()) + " threads");
}

std::shared_ptr<const Decoded> Gpu::Impl::decoded(std::shared_ptr<const trace::LoweredCode> code) {
  for (const auto& d : decoded_)
    if (d->lowered == code) return d;
  // Code that nobody else knows any more cannot come again; a profile is of it still.
  if (!looks_)
    std::erase_if(decoded_,
                  [](const auto& d) { return d.use_count() == 1 && d->lowered.use_count() == 1; });
  return decoded_.emplace_back(
      std::make_shared<const Decoded>(std::move(code), machine_.sm, decoded_before_++));
}

std::uint64_t Gpu::Impl::warp_instructions_of(const std::vector<Submission>& tree) {
  std::uint64_t sum = 0;
  for (const Submission& launch : tree) sum += launch.info.warp_instructions;
  return sum;
}

bool Gpu::Impl::has_room(std::uint64_t warp_instructions) const {
  return pending_ == 0 || (pending_ < machine_.kernels.pending &&
                           pending_instructions_ + warp_instructions <= kMostPendingInstructions);
}

void Gpu::Impl::wait_for_room(std::uint64_t warp_instructions) {
  if (has_room(warp_instructions)) return;
  advance_until([&] { return has_room(warp_instructions); });
  host_ = std::max(host_, now_);
}

void Gpu::Impl::submit_tree(std::vector<Submission> tree) {
  const StreamId in = tree.front().info.stream;
  const TenantId tenant = tree.front().info.tenant;
  if (!host_accesses_.empty()) take_host_accesses();
  wait_for_room(warp_instructions_of(tree));
  enqueue({tenant, host_}, std::move(tree));
  if (index(in) == 0) advance_until([&] { return manager_.idle(); });
}

/// Line by line, in the order in which the host does it.
void Gpu::Impl::take_host_accesses() {
  HostEffects effects{host_count_, [this](unsigned sm, std::uint32_t line, WordMask words) {
                        sms_[sm]->lose(line, words);
                      }};
  const Address line_bytes = machine_.l2.line_bytes;
  for (const HostAccess& a : host_accesses_) {
    const Address end = a.at + a.bytes;
    for (Address line = a.at / line_bytes; line * line_bytes < end; ++line) {
      const Address begin = line * line_bytes;
      WordMask words = 0;
      for (unsigned w = 0; w < line_bytes / 4 && w < 16; ++w)
        if (begin + 4 * w + 4 > a.at && begin + 4 * w < end)
          words |= static_cast<WordMask>(1u << w);
      const auto number = static_cast<std::uint32_t>(line);
      const unsigned slice = map_.slice(number), of_channel = map_.slices_per_channel();
      partitions_[slice / of_channel]->host(slice % of_channel, {number, words, a.write}, effects);
    }
  }
  host_accesses_.clear();
}

void Gpu::Impl::enqueue(Host host, std::vector<Submission> tree) {
  RADDLE_ASSERT(!tree.empty() && index(host.tenant) < kMostTenants);
  for (Submission& launch : tree) {
    check(launch.code->code, launch.stream->shape());
    launch.info.tenant = host.tenant;
    RADDLE_ASSERT(launch.info.base % trace::kLineBytes == 0 && launch.info.base < kLocalBase);
  }
  const std::uint64_t warp_instructions = warp_instructions_of(tree);
  const auto job = static_cast<std::uint32_t>(runs_.size());
  const StreamId in = tree.front().info.stream;
  ++pending_;
  pending_instructions_ += warp_instructions;
  if (tree.size() > 1) {
    std::vector<trace::DeviceOrigin> origins;
    for (Submission& launch : tree) origins.push_back(std::move(launch.origin));
    trees_.add(job, origins);
    roots_[job] = {tree.front().info, warp_instructions};
  }
  for (Submission& launch : tree) {
    runs_.emplace_back();
    if (!launch.stream->concurrent()) ++serial_;
    ++launches_[index(launch.info.tenant)];
    jobs_.push_back(
        {std::move(launch.stream), decoded(std::move(launch.code)), std::move(launch.info)});
  }
  manager_.launch(in, job, host.now, host.tenant);
  submitted_ = true;
}

Mark Gpu::Impl::record(StreamId stream) { return record({{}, host_}, stream); }
Mark Gpu::Impl::record(Host host, StreamId stream) {
  submitted_ = true;
  return manager_.record(stream, host.now, host.tenant);
}

void Gpu::Impl::wait(StreamId stream, Mark mark) { wait({{}, host_}, stream, mark); }
void Gpu::Impl::wait(Host host, StreamId stream, Mark mark) {
  submitted_ = true;
  manager_.wait(stream, mark, host.now, host.tenant);
}

Cycle Gpu::Impl::run_until(Mark mark) {
  advance_until([&] { return manager_.reached(mark) != kNever; });
  host_ = std::max(host_, manager_.reached(mark));
  return manager_.reached(mark);
}

void Gpu::Impl::run_until_idle() {
  advance_until([&] { return manager_.idle(); });
  host_ = std::max(host_, now_);
}

// --- the clock ----------------------------------------------------------------------------------

template <class Done>
void Gpu::Impl::advance_until(Done done) {
  if (failed_) throw RunError("this GPU has failed before");
  settle();
  if (done()) return;
  watch_next_ = 0;
  failed_ = true;
  const bool ended = engine_.run(
      serial_ == 0 ? options_.threads : 1,
      [&] {
        settle();
        return done();
      },
      [&](Cycle begin) { before_window(begin); });
  if (!ended) give_up(engine_.end(), "nothing can move any more");
  failed_ = false;
  if (manager_.idle()) update_samples();
}

// Shortly before the horizon nothing is handed over ahead of time any more, so that what lies
// behind the horizon is not counted.
bool Gpu::Impl::run_to(Cycle horizon) {
  if (failed_) throw RunError("this GPU has failed before");
  RADDLE_ASSERT(horizon >= engine_.end());
  const Cycle near = std::max(engine_.end(), horizon - std::min(horizon, L2Slice::kMostAhead));
  if (settle() || advance_to(near)) return true;
  hand_over_ahead(false);
  const bool moved = advance_to(horizon);
  hand_over_ahead(true);
  if (moved) return true;
  now_ = host_ = horizon;
  close_samples(now_);
  update_samples();
  return false;
}

/// Never where somebody looks at counts on the way: those ahead of time would be among them.
void Gpu::Impl::hand_over_ahead(bool ahead) {
  const bool looked_at = scheme_ != nullptr || reports_ != nullptr;
  for (const auto& p : partitions_) p->set_ahead(ahead && !looked_at);
}

/// Those whose interval is over.
void Gpu::Impl::close_samples(Cycle now) {
  if (!sampler_.due(now)) return;
  sampler_.advance(now, [this](Cycle at) { return activity(at); });
  if (mesh_) mesh_->advance(now, [this](Cycle at) { return mesh_counts(at); });
}

void Gpu::Impl::update_samples() {
  sampler_.update(activity(now_));
  if (mesh_) mesh_->update(mesh_counts(now_));
}

/// True: something has ended before.
bool Gpu::Impl::advance_to(Cycle limit) {
  watch_next_ = 0;
  failed_ = true;
  bool moved = false;
  const bool stopped = engine_.run(
      serial_ == 0 ? options_.threads : 1,
      [&] {
        moved = settle();
        return moved;
      },
      [&](Cycle begin) { before_window(begin); }, limit);
  if (!stopped && !manager_.idle()) give_up(engine_.end(), "nothing can move any more");
  failed_ = false;
  if (!moved) engine_.skip_to(limit);
  return moved;
}

/// Between windows: kernels that have ended let others go, and so do those that launch some. True:
/// some have ended, or there was something new.
bool Gpu::Impl::settle() {
  if (!engine_.between_windows()) return false;
  for (const Dispatcher::Entered& e : dispatcher_.entered()) open_account(e);
  dispatcher_.entered().clear();
  if (!trees_.empty()) take_device_launches();
  if (dispatcher_.ended().empty() && !submitted_) return false;
  for (const Dispatcher::Ended& e : dispatcher_.ended()) end_job(e);
  dispatcher_.ended().clear();
  for (const LaunchTrees::Ready& ready : trees_.ready()) send(ready.job, ready.at, ready.at);
  trees_.ready().clear();
  for (const LaunchTrees::Complete& whole : trees_.complete()) {
    const auto root = roots_.find(whole.job);
    complete(root->second.info, root->second.warp_instructions, whole.at);
    roots_.erase(root);
  }
  trees_.complete().clear();
  submitted_ = false;
  manager_.advance();
  for (; !manager_.pending().empty(); manager_.take()) {
    const KernelManager::Pending& next = manager_.pending().front();
    send(next.job, next.left, next.arrival);
  }
  return true;
}

/// The launch is with the kernel management unit in cycle `arrival`.
void Gpu::Impl::send(std::uint32_t job, Cycle left, Cycle arrival) {
  runs_[job].start = left;
  const GridLaunch launch = launch_of(job);
  if (scheme_ != nullptr) {
    const BlockNeeds& needs = launch.needs;
    const std::uint64_t sms = machine_.sm.count;
    scheme_->launched(launch.tenant,
                      {needs.threads, needs.warps, needs.registers, needs.shared_bytes},
                      (launch.grid.count() + sms - 1) / sms);
  }
  dispatcher_.launch(launch, arrival);
}

/// A kernel has an entry and with it a launch slot. None of its blocks is on an SM yet, so what has
/// been counted for the slot is the former kernel's.
void Gpu::Impl::open_account(const Dispatcher::Entered& entered) {
  runs_[entered.job].begin = entered.begin;
  if (entered.joined) return;
  close_account(entered.entry, engine_.end());
  accounts_.open(entered.entry, entered.job, jobs_[entered.job - first_job_].info.tenant);
}

void Gpu::Impl::end_job(const Dispatcher::Ended& e) {
  Job& job = jobs_[e.job - first_job_];
  runs_[e.job].first = e.first, runs_[e.job].last = e.last, runs_[e.job].end = e.at;
  now_ = std::max(now_, e.at);  // a horizon may lie behind it
  if (!job.stream->concurrent()) --serial_;
  --launches_[index(job.info.tenant)];
  if (trees_.has(e.job)) trees_.ended(e.job, e.at);
  else complete(job.info, job.info.warp_instructions, e.at);
  job.stream = nullptr;
  job.code = nullptr;
  for (; !jobs_.empty() && jobs_.front().stream == nullptr; ++first_job_) jobs_.pop_front();
}

/// A launch of the host is, with all that descends from it.
void Gpu::Impl::complete(const LaunchInfo& launch, std::uint64_t warp_instructions, Cycle at) {
  --pending_;
  pending_instructions_ -= warp_instructions;
  manager_.ended(launch.stream, at, launch.tenant);
  completions_.push_back({launch.tenant, launch.stream, launch.sequence, at});
}

void Gpu::Impl::forget_caches() {
  RADDLE_ASSERT(manager_.idle());
  for (const auto& p : partitions_) p->forget();
  for (const auto& sm : sms_) sm->forget_instructions();
}

/// SM by SM; the trees and the manager order by time.
void Gpu::Impl::take_device_launches() {
  for (const auto& sm : sms_) {
    for (const DeviceLaunches& launches : sm->device_launches()) trees_.launched(launches);
    sm->device_launches().clear();
  }
  submitted_ = submitted_ || !trees_.ready().empty();
}

GridLaunch Gpu::Impl::launch_of(std::uint32_t number) const {
  const Job& job = jobs_[number - first_job_];
  const trace::LaunchShape& shape = job.stream->shape();
  GridLaunch launch;
  launch.job = number;
  launch.sequence = job.info.sequence;
  launch.name = job.info.name;
  launch.stream = job.info.stream;
  launch.grid = shape.grid;
  launch.needs = block_needs(machine_.sm, job.code->lowered->code, shape);
  if (resizes_l1d_) {
    const Residency fit = residency(machine_.sm, job.code->lowered->code, shape);
    const std::uint64_t shared = std::uint64_t{fit.blocks} * launch.needs.shared_bytes;
    launch.l1d_ways = static_cast<std::uint16_t>(machine_.sm.l1d.ways_beside(shared));
  }
  launch.ops = job.stream.get();
  launch.code = &job.code->kernel;
  launch.tenant = job.info.tenant;
  launch.first_line = static_cast<std::uint32_t>(job.info.base / machine_.l2.line_bytes);
  if (!trees_.has(number) || roots_.contains(number)) return launch;
  const LaunchTrees::Parent parent = trees_.parent(number);
  // Sequence numbers of a tree are as consecutive as its jobs.
  launch.parent = {job.info.sequence - (number - parent.job), parent.block, parent.sm,
                   parent.depth};
  return launch;
}

void Gpu::Impl::before_window(Cycle begin) {
  if (machine_.coherence.ro_regions)
    for (const auto& sm : sms_) writes_.gather(sm->region_writes(), window());
  if (scheme_ != nullptr) look_at_tenants(begin);
  if (reports_ != nullptr && reports_->due(begin)) report_tenants(begin);
  close_samples(begin);  // what happens from here on is in the next ones
  if (migration_ != nullptr) migration_->act(begin);
  if (begin >= tell_next_) {
    constexpr Cycle kBetween = 20'000;
    options_.progress(begin);
    tell_next_ = begin + kBetween;
  }
  if (begin >= options_.max_cycles) {
    const std::string names = dispatcher_.names();
    give_up(begin, (names.empty() ? "a launch on its way" : "kernel " + names) +
                       " has not ended after the " + std::to_string(options_.max_cycles) +
                       " cycles allowed");
  }
  if (begin < watch_next_ || manager_.idle()) return;
  Cycle progress = last_progress(begin);
  if (begin - progress >= options_.watchdog_cycles)
    give_up(begin, "nothing has moved for " + std::to_string(begin - progress) + " cycles");
  watch_next_ = progress + std::min(options_.watchdog_cycles, kNever - progress);
}

/// The scheme looks, if it is time, and what it sets holds from this window's first cycle on.
void Gpu::Impl::look_at_tenants(Cycle begin) {
  unsigned present = 0;
  for (unsigned t = 0; t < kMostTenants; ++t)
    if (launches_[t] != 0) present |= 1u << t;
  const auto mask = static_cast<std::uint8_t>(present);
  if (!scheme_->due(begin, mask)) return;
  close_accounts(begin);
  std::array<SchemeUnit::Tenant, kMostTenants> tenants;
  std::array<std::vector<std::uint32_t>, kMostTenants> warps;
  for (unsigned t = 0; t < kMostTenants; ++t) {
    const TenantId id{static_cast<std::uint8_t>(t)};
    for (const auto& sm : sms_) warps[t].push_back(sm->resident_warps(id));
    tenants[t] = {accounts_.of(id), dispatcher_.caps().resident(id), warps[t]};
  }
  const bool changed = scheme_->look(begin, mask, tenants);
  if (changed || !obeyed_) obey(begin);
}

void Gpu::Impl::obey(Cycle begin) {
  obeyed_ = true;
  dispatcher_.obey(begin, scheme_->knobs());
  for (const auto& sm : sms_) sm->obey(begin, scheme_->knobs());
  for (const auto& p : partitions_) p->obey(begin, scheme_->knobs());
}

/// The policies of all DRAM channels learn what tenants have done.
void Gpu::Impl::report_tenants(Cycle begin) {
  close_accounts(begin);
  std::array<stats::GpuCounters, kMostTenants> totals;
  for (unsigned t = 0; t < kMostTenants; ++t)
    totals[t] = accounts_.of(TenantId{static_cast<std::uint8_t>(t)});
  const auto counts = reports_->take(begin, totals);
  for (const auto& p : partitions_) p->learn(begin, counts);
}

Cycle Gpu::Impl::last_progress(Cycle now) const {
  if (dispatcher_.next_launch() != kNever) return now;  // it comes at its time, whatever happens
  Cycle progress = std::min(now, dispatcher_.last_begin());
  for (const auto& sm : sms_) progress = std::max(progress, sm->last_progress(now));
  return progress;
}

void Gpu::Impl::give_up(Cycle now, const std::string& what) const {
  constexpr unsigned kSmsTold = 4, kWarpsTold = 8;
  std::string out = what + " (cycle " + std::to_string(now) + ")\n";
  unsigned told = 0, busy = 0;
  for (const auto& sm : sms_) {
    if (sm->idle()) continue;
    if (++busy; told < kSmsTold) {
      sm->describe(out, kWarpsTold);
      ++told;
    }
  }
  if (busy > told) out += "... and " + std::to_string(busy - told) + " more SMs\n";
  dispatcher_.describe(out);
  if (migration_ != nullptr) migration_->describe(out);
  manager_.describe(out);
  request_->describe(out);
  reply_->describe(out);
  for (const auto& p : partitions_)
    if (!p->idle()) p->describe(out);
  while (out.back() == '\n') out.pop_back();
  throw RunError(out);
}

}  // namespace raddle::timing
