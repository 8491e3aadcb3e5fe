// Assembly of the machine: SMs, two networks, memory partitions and the block dispatcher around
// the window engine, and the launches that go through it.
#define XXH_INLINE_ALL
#include "raddle/timing/gpu/gpu.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <map>
#include <utility>

#include "raddle/policy/dispatch/two_step.h"
#include "raddle/timing/gpu/accounts.h"
#include "raddle/timing/gpu/coherence_statistics.h"
#include "raddle/timing/gpu/dispatcher.h"
#include "raddle/timing/gpu/launch_trees.h"
#include "raddle/timing/gpu/policy_statistics.h"
#include "raddle/timing/gpu/residency.h"
#include "raddle/timing/gpu/sampler.h"
#include "raddle/timing/gpu/scheme_unit.h"
#include "raddle/timing/mem/l2_slice.h"
#include "raddle/timing/mem/partition.h"
#include "raddle/timing/noc/network.h"
#include "raddle/timing/sm/sm.h"
#include "raddle/timing/wire/engine.h"

namespace raddle::timing {

namespace {
/// The machine with the coherence that is asked for.
MachineSpec checked(MachineSpec machine, const PolicyChoices& policies) {
  if (policies.coherence != nullptr) machine.coherence = policies.coherence->make({})->rules();
  std::vector<Diagnostic> broken;
  for (std::string& rule : machine.violations()) broken.push_back({{}, std::move(rule)});
  if (!broken.empty()) throw InputError(std::move(broken));
  return machine;
}

/// As results and messages call it.
std::string dispatch_name(const PolicyChoices& policies) {
  if (policies.dispatch != nullptr && policies.dispatch->name() != "two_step")
    return std::string(policies.dispatch->name());
  return "two_step (kernel=" + std::string(policies.kernel->name()) +
         ", block=" + std::string(policies.block->name()) + ")";
}

std::unique_ptr<policy::DispatchPolicy> make_dispatch(const MachineSpec& machine,
                                                      const PolicyChoices& policies,
                                                      std::uint64_t seed) {
  const policy::DispatchPolicy::Context context{machine.sm.count, machine.kernels.entries, seed,
                                                policies.kernel, policies.block};
  if (policies.dispatch != nullptr) return policies.dispatch->make(context);
  return std::make_unique<policy::TwoStep>(policy::NoParams{}, context);
}
}  // namespace

/// Code as this machine executes it.
struct Decoded {
  Decoded(std::shared_ptr<const trace::LoweredCode> from, const SmSpec& sm)
      : lowered(std::move(from)), kernel(*lowered, sm) {}
  std::shared_ptr<const trace::LoweredCode> lowered;
  DecodedKernel kernel;
};

/// A launch from its submission to its end.
struct Job {
  std::shared_ptr<trace::KernelStream> stream;
  std::shared_ptr<const Decoded> code;
  LaunchInfo info;
};

class Gpu::Impl {
 public:
  Impl(const MachineSpec& machine, const PolicyChoices& policies, const GpuOptions& options);
  void observe(SmId sm, policy::L1Observer& observer) { sms_[index(sm)]->observe(observer); }
  void submit_tree(std::vector<Submission> tree);
  Mark record(StreamId stream);
  void wait(StreamId stream, Mark mark);
  Cycle run_until(Mark mark);
  void run_until_idle();
  void enqueue(Host host, std::vector<Submission> tree);
  Mark record(Host host, StreamId stream);
  void wait(Host host, StreamId stream, Mark mark);
  Cycle reached(Mark mark) const { return manager_.reached(mark); }
  bool idle(TenantId tenant) const { return manager_.idle(tenant); }
  bool run_to(Cycle horizon);
  std::vector<Completion> take_completions() { return std::exchange(completions_, {}); }
  void host_wrote(Address at, std::uint64_t bytes) {
    if (machine_.coherence.ro_regions) writes_.wrote(at, bytes, now_);
  }
  Cycle now() const { return now_; }
  stats::GpuCounters counters() const { return counters(now_); }
  const std::vector<KernelRun>& kernels();
  stats::GpuCounters tenant_counters(TenantId tenant) {
    return tenant_counters(tenant, engine_.end());
  }
  std::uint64_t hash() const;
  std::vector<std::string> audit();
  const Network& request() const { return *request_; }
  const Network& reply() const { return *reply_; }
  template <class Visit>
  void each_policy(Visit&& visit);
  const std::vector<BlockSpan>& block_spans() const { return dispatcher_.spans(); }
  const std::vector<Sample>& samples() const { return sampler_.samples(); }

 private:
  Cycle window() const {
    return std::min(machine_.noc.latency_cycles, machine_.dispatch_latency_cycles);
  }
  void wire_sm(unsigned i);
  void wire_partition(unsigned i);
  // launches
  void check(const trace::KernelCode& code, const trace::LaunchShape& shape) const;
  std::shared_ptr<const Decoded> decoded(std::shared_ptr<const trace::LoweredCode> code);
  static std::uint64_t warp_instructions_of(const std::vector<Submission>& tree);
  bool has_room(std::uint64_t warp_instructions) const;
  void wait_for_room(std::uint64_t warp_instructions);
  // the clock
  template <class Done>
  void advance_until(Done done);
  bool advance_to(Cycle limit);
  bool settle();
  void end_job(const Dispatcher::Ended& ended);
  void complete(const LaunchInfo& launch, std::uint64_t warp_instructions, Cycle at);
  void take_device_launches();
  GridLaunch launch_of(std::uint32_t job) const;
  void send(std::uint32_t job, Cycle left, Cycle arrival);
  void open_account(const Dispatcher::Entered& entered);
  void before_window(Cycle begin);
  void look_at_tenants(Cycle begin);
  void obey(Cycle begin);
  Cycle last_progress(Cycle now) const;
  [[noreturn]] void give_up(Cycle now, const std::string& what) const;
  // counters
  stats::GpuCounters counters(Cycle at) const;
  Sampler::Activity activity(Cycle at) const;
  stats::GpuCounters counted_for(unsigned slot, Cycle at) const;
  stats::GpuCounters tenant_counters(TenantId tenant, Cycle at);
  void close_account(unsigned slot, Cycle at);
  void close_accounts(Cycle at);

  MachineSpec machine_;
  GpuOptions options_;
  AddressMap map_;
  std::unique_ptr<Network> request_, reply_;
  Dispatcher dispatcher_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  Engine engine_;
  Sampler sampler_;
  KernelManager manager_;
  LaunchTrees trees_;
  struct Root {
    LaunchInfo info;
    std::uint64_t warp_instructions;  // of the whole tree
  };
  std::map<std::uint32_t, Root> roots_;  // of the trees, by job

  std::vector<std::shared_ptr<const Decoded>> decoded_;
  std::deque<Job> jobs_;  // of launches that have not ended; the first is number first_job_
  std::uint32_t first_job_ = 0;
  std::uint32_t pending_ = 0,
                serial_ = 0;  // launches that have not ended; of these, not concurrent()
  std::uint64_t pending_instructions_ = 0;
  bool submitted_ = false;  // something, since the last settle()
  RegionWrites writes_;     // coherence.ro_regions
  bool failed_ = false;
  Cycle host_ = 0;               // time of the host: what it has waited for
  Cycle now_ = 0;                // end of the last kernel
  Cycle watch_next_ = 0;         // when the watchdog could bite at the earliest
  std::vector<KernelRun> runs_;  // by job
  std::vector<Completion> completions_;
  Accounts accounts_;
  std::unique_ptr<SchemeUnit> scheme_;                  // null: none shares the GPU
  bool obeyed_ = false;                                 // its knobs, for the first time
  std::array<std::uint32_t, kMostTenants> launches_{};  // that have not ended, by tenant
};

Gpu::Impl::Impl(const MachineSpec& machine, const PolicyChoices& policies,
                const GpuOptions& options)
    : machine_(checked(machine, policies)),
      options_(options),
      map_(machine_),
      request_(make_network(machine_, Direction::Request)),
      reply_(make_network(machine_, Direction::Reply)),
      dispatcher_(machine_, window(), make_dispatch(machine_, policies, options.seed),
                  dispatch_name(policies)),
      engine_(window(), options.skip, options.shuffle),
      sampler_(options.sample_interval, window()),
      manager_(machine_.kernels, machine_.launch_latency_cycles) {
  for (unsigned i = 0; i < machine_.sm.count; ++i) {
    sms_.push_back(
        make_sm(machine_, map_, i, *policies.warp, policies.throttle, options.seed));
    wire_sm(i);
    if (machine_.coherence.ro_regions) sms_.back()->keep_unwritten(writes_);
  }
  for (unsigned i = 0; i < machine_.dram.channels; ++i) {
    auto policy = policies.dram->make({i, machine_.dram.banks, options.seed});
    partitions_.push_back(make_partition({machine_, i}, map_, std::move(policy)));
    wire_partition(i);
  }
  // The networks first: they are the longest tasks of a window.
  request_->add_to(engine_);
  reply_->add_to(engine_);
  engine_.add(dispatcher_);
  for (auto& sm : sms_) engine_.add(*sm);
  for (auto& p : partitions_) engine_.add(*p);
  if (policies.scheme != nullptr)
    scheme_ = std::make_unique<SchemeUnit>(machine_, *policies.scheme, window(), options.seed);
  if (scheme_ != nullptr && !scheme_->shares()) scheme_ = nullptr;
  if (scheme_ != nullptr) engine_.add(*scheme_);
  for (Mailbox* box : {&request_->box(), &request_->credit_box(), &reply_->box(),
                       &reply_->credit_box(), &dispatcher_.box()})
    box->set_shared(options.threads > 1);
}

void Gpu::Impl::wire_sm(unsigned i) {
  Sm& sm = *sms_[i];
  sm.set_skip(options_.skip);
  const NodeId node = Endpoints::sm(i);
  request_->connect_input(node, sm.ports().to_noc, sm.ports().credit_in);
  sm.ports().noc_box = &request_->box();
  reply_->connect_output(node, sm.ports().from_noc, nullptr);
  if (machine_.coherence.ownership) {
    sm.ports().reply_box = &reply_->box();
    reply_->connect_input(node, sm.ports().to_replies, sm.ports().reply_credit_in);
  }
  dispatcher_.connect(i, sm.block_in(), sm.block_out());
  sm.connect_dispatcher(dispatcher_.box());
}

void Gpu::Impl::wire_partition(unsigned i) {
  Partition& p = *partitions_[i];
  p.set_skip(options_.skip);
  for (unsigned place = 0; place < p.slices(); ++place) {
    SlicePorts& ports = p.ports(place);
    const NodeId node = machine_.endpoints().slice(i * p.slices() + place);
    request_->connect_output(node, ports.from_noc, &ports.credit_out);
    ports.noc_credit_box = &request_->credit_box();
    reply_->connect_input(node, ports.to_noc, ports.credit_in);
    ports.noc_box = &reply_->box();
    if (machine_.coherence.ownership) reply_->connect_output(node, ports.answers, nullptr);
  }
}

// --- launches -----------------------------------------------------------------------------------

void Gpu::Impl::check(const trace::KernelCode& code, const trace::LaunchShape& shape) const {
  if (Residency fit = residency(machine_.sm, code, shape); fit.blocks == 0)
    throw InputError(fit.reason);
  if (shape.grid.count() == 0 || shape.block.count() == 0 ||
      shape.grid.count() >= ~std::uint32_t{0})
    throw InputError("kernel '" + code.name + "' is launched with " +
                     std::to_string(shape.grid.count()) + " blocks of " +
                     std::to_string(shape.block.count()) + " threads");
}

std::shared_ptr<const Decoded> Gpu::Impl::decoded(std::shared_ptr<const trace::LoweredCode> code) {
  for (const auto& d : decoded_)
    if (d->lowered == code) return d;
  // Code that nobody else knows any more cannot come again.
  std::erase_if(decoded_,
                [](const auto& d) { return d.use_count() == 1 && d->lowered.use_count() == 1; });
  return decoded_.emplace_back(std::make_shared<const Decoded>(std::move(code), machine_.sm));
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
  wait_for_room(warp_instructions_of(tree));
  enqueue({tenant, host_}, std::move(tree));
  if (index(in) == 0) advance_until([&] { return manager_.idle(); });
}

void Gpu::Impl::enqueue(Host host, std::vector<Submission> tree) {
  RADDLE_ASSERT(!tree.empty() && index(host.tenant) < kMostTenants);
  for (Submission& launch : tree) {
    check(launch.code->code, launch.stream->shape());
    launch.info.tenant = host.tenant;
    RADDLE_ASSERT(launch.info.base % trace::kLineBytes == 0 && launch.info.base < kGlobalEnd);
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
  watch_next_ = 0, failed_ = true;
  const bool ended = engine_.run(
      serial_ == 0 ? options_.threads : 1,
      [&] {
        settle();
        return done();
      },
      [&](Cycle begin) { before_window(begin); });
  if (!ended) give_up(engine_.end(), "nothing can move any more");
  failed_ = false;
  if (manager_.idle()) sampler_.update(activity(now_));
}

// Shortly before the horizon nothing is handed over ahead of time any more, so that what lies behind
// the horizon is not counted.
bool Gpu::Impl::run_to(Cycle horizon) {
  if (failed_) throw RunError("this GPU has failed before");
  RADDLE_ASSERT(horizon >= engine_.end());
  const Cycle near = std::max(engine_.end(), horizon - std::min(horizon, L2Slice::kMostAhead));
  if (settle() || advance_to(near)) return true;
  for (const auto& p : partitions_) p->set_ahead(false);
  const bool moved = advance_to(horizon);
  for (const auto& p : partitions_) p->set_ahead(true);
  if (moved) return true;
  now_ = host_ = horizon;
  if (sampler_.due(now_)) sampler_.advance(now_, [this](Cycle at) { return activity(at); });
  sampler_.update(activity(now_));
  return false;
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
  dispatcher_.launch(launch_of(job), arrival);
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
  runs_[e.job].end = e.at;
  now_ = std::max(now_, e.at);  // a horizon may lie behind it
  if (!job.stream->concurrent()) --serial_;
  --launches_[index(job.info.tenant)];
  if (trees_.has(e.job)) trees_.ended(e.job, e.at);
  else complete(job.info, job.info.warp_instructions, e.at);
  job.stream = nullptr, job.code = nullptr;
  for (; !jobs_.empty() && jobs_.front().stream == nullptr; ++first_job_) jobs_.pop_front();
}

/// A launch of the host is, with all that descends from it.
void Gpu::Impl::complete(const LaunchInfo& launch, std::uint64_t warp_instructions, Cycle at) {
  --pending_;
  pending_instructions_ -= warp_instructions;
  manager_.ended(launch.stream, at, launch.tenant);
  completions_.push_back({launch.tenant, launch.stream, launch.sequence, at});
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
  if (sampler_.due(begin)) sampler_.advance(begin, [this](Cycle at) { return activity(at); });
  if (begin >= options_.max_cycles) {
    const std::string names = dispatcher_.names();
    give_up(begin, "kernel " + (names.empty() ? "launches" : names) + " has not ended after the " +
                       std::to_string(options_.max_cycles) + " cycles allowed");
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
  for (unsigned t = 0; t < kMostTenants; ++t) {
    const TenantId id{static_cast<std::uint8_t>(t)};
    tenants[t] = {accounts_.of(id), dispatcher_.caps().resident(id)};
  }
  const bool changed = scheme_->look(begin, mask, tenants);
  if (changed || !obeyed_) obey(begin);
}

void Gpu::Impl::obey(Cycle begin) {
  obeyed_ = true;
  dispatcher_.obey(begin, scheme_->knobs());
  for (const auto& sm : sms_) sm->obey(begin, scheme_->knobs());
}

Cycle Gpu::Impl::last_progress(Cycle now) const {
  if (dispatcher_.next_launch() != kNever && dispatcher_.next_launch() > now) return now;
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
    if (++busy; told < kSmsTold) sm->describe(out, kWarpsTold), ++told;
  }
  if (busy > told) out += "... and " + std::to_string(busy - told) + " more SMs\n";
  dispatcher_.describe(out);
  manager_.describe(out);
  request_->describe(out);
  reply_->describe(out);
  for (const auto& p : partitions_)
    if (!p->idle()) p->describe(out);
  while (out.back() == '\n') out.pop_back();
  throw RunError(out);
}

stats::GpuCounters Gpu::Impl::counters(Cycle at) const {
  stats::GpuCounters sum;
  for (const auto& sm : sms_) {
    stats::accumulate(sum.sm, sm->counters(at));
    stats::accumulate(sum.scheduler, sm->scheduler_counters(at));
  }
  sum.request = request_->counters(), sum.reply = reply_->counters();
  for (const auto& p : partitions_) {
    stats::accumulate(sum.l2, p->l2_counters());
    stats::accumulate(sum.dram, p->dram_counters());
  }
  return sum;
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

/// Everything counted for that launch slot before cycle `at`.
stats::GpuCounters Gpu::Impl::counted_for(unsigned slot, Cycle at) const {
  stats::GpuCounters sum;
  for (const auto& sm : sms_) stats::accumulate(sum.sm, sm->counters(at, slot));
  sum.request = request_->counters(slot), sum.reply = reply_->counters(slot);
  for (const auto& p : partitions_) {
    stats::accumulate(sum.l2, p->l2_counters(slot));
    stats::accumulate(sum.dram, p->dram().counters(slot));
  }
  return sum;
}

/// What has been counted for the slot belongs to the launch that has had it.
void Gpu::Impl::close_account(unsigned slot, Cycle at) {
  accounts_.close(slot, runs_, [this, at](unsigned of) { return counted_for(of, at); });
}

void Gpu::Impl::close_accounts(Cycle at) {
  for (unsigned slot = 0; slot < stats::kKernelSlots; ++slot) close_account(slot, at);
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
  const stats::GpuCounters all = counters(now_);
  std::uint64_t accounted = all.sm.issued;
  for (std::uint64_t n : all.scheduler.stall) accounted += n;
  equal("scheduler-cycles, and those issued or stalled",
        now_ * machine_.sm.count * machine_.sm.schedulers, accounted);
  stats::GpuCounters sum;
  for (const KernelRun& run : kernels()) stats::accumulate(sum, run.counters);
  stats::GpuCounters of_tenants = accounts_.of_all_tenants();
  sum.scheduler = of_tenants.scheduler = all.scheduler;
  using Words = std::array<std::uint64_t, sizeof sum / sizeof(std::uint64_t)>;
  const auto total = std::bit_cast<Words>(all);
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
  part(*request_), part(*reply_);
  for (const auto& p : partitions_) part(*p);
  return broken;
}

std::uint64_t Gpu::Impl::hash() const {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  auto add = [&](const auto& counters) { XXH64_update(&state, &counters, sizeof counters); };
  add(now_);
  for (const auto& sm : sms_) add(sm->counters(now_)), add(sm->scheduler_counters(now_));
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

template <class Visit>
void Gpu::Impl::each_policy(Visit&& visit) {
  dispatcher_.each_policy(visit);
  for (const auto& sm : sms_) sm->each_policy(visit);
  for (const auto& p : partitions_) visit(p->dram().policy());
  if (scheme_ != nullptr) visit(scheme_->policy());
  if (!machine_.coherence.ownership) return;
  CoherenceStatistics coherence{counters(now_)};
  for (const auto& sm : sms_) coherence.kept += sm->words_kept();
  visit(coherence);
}

Gpu::Gpu(const MachineSpec& machine, const PolicyChoices& policies, const GpuOptions& options)
    : impl_(std::make_unique<Impl>(machine, policies, options)) {}
Gpu::~Gpu() = default;
void Gpu::observe(SmId sm, policy::L1Observer& observer) { impl_->observe(sm, observer); }
void Gpu::submit(std::shared_ptr<trace::KernelStream> stream,
                 std::shared_ptr<const trace::LoweredCode> code, LaunchInfo info) {
  std::vector<Submission> one(1);
  one.front() = {std::move(stream), std::move(code), std::move(info), {}};
  impl_->submit_tree(std::move(one));
}
void Gpu::submit_tree(std::vector<Submission> tree) { impl_->submit_tree(std::move(tree)); }
Mark Gpu::record(StreamId stream) { return impl_->record(stream); }
void Gpu::wait(StreamId stream, Mark mark) { impl_->wait(stream, mark); }
Cycle Gpu::run_until(Mark mark) { return impl_->run_until(mark); }
void Gpu::run_until_idle() { impl_->run_until_idle(); }
void Gpu::enqueue(Host host, std::vector<Submission> tree) {
  impl_->enqueue(host, std::move(tree));
}
Mark Gpu::record(Host host, StreamId stream) { return impl_->record(host, stream); }
void Gpu::wait(Host host, StreamId stream, Mark mark) { impl_->wait(host, stream, mark); }
Cycle Gpu::reached(Mark mark) const { return impl_->reached(mark); }
bool Gpu::idle(TenantId tenant) const { return impl_->idle(tenant); }
bool Gpu::run_to(Cycle horizon) { return impl_->run_to(horizon); }
std::vector<Completion> Gpu::take_completions() { return impl_->take_completions(); }
void Gpu::host_wrote(Address at, std::uint64_t bytes) { impl_->host_wrote(at, bytes); }
void Gpu::run(trace::KernelStream& stream, const LaunchInfo& info) {
  submit({std::shared_ptr<void>(), &stream},
         std::make_shared<const trace::LoweredCode>(trace::as_it_is(stream.code())), info);
  run_until_idle();
}
Cycle Gpu::now() const { return impl_->now(); }
stats::GpuCounters Gpu::counters() const { return impl_->counters(); }
const std::vector<KernelRun>& Gpu::kernels() { return impl_->kernels(); }
stats::GpuCounters Gpu::tenant_counters(TenantId tenant) { return impl_->tenant_counters(tenant); }
std::uint64_t Gpu::hash() const { return impl_->hash(); }
std::vector<std::string> Gpu::audit() { return impl_->audit(); }
std::vector<stats::NocPort> Gpu::request_ports() const { return impl_->request().ports(); }
std::vector<stats::NocPort> Gpu::reply_ports() const { return impl_->reply().ports(); }
void Gpu::visit_policy_statistics(std::string_view level, FieldVisitor& v) {
  visit_statistics_of(level, *impl_, v);
}
const std::vector<BlockSpan>& Gpu::block_spans() const { return impl_->block_spans(); }
const std::vector<Sample>& Gpu::samples() const { return impl_->samples(); }

}  // namespace raddle::timing
