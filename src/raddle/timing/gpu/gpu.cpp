// The parts of a GPU behind gpu.h, put together: the machine (assembly.h), launches (launches.h),
// what is counted (accounting.h) and the clock that lets them act on one another (gpu_clock.h).
#include "raddle/timing/gpu/gpu.h"

#include <optional>
#include <utility>

#include "raddle/timing/gpu/accounting.h"
#include "raddle/timing/gpu/assembly.h"
#include "raddle/timing/gpu/coherence_statistics.h"
#include "raddle/timing/gpu/gpu_clock.h"
#include "raddle/timing/gpu/host_accesses.h"
#include "raddle/timing/gpu/launches.h"
#include "raddle/timing/gpu/machine_counters.h"
#include "raddle/timing/gpu/policy_statistics.h"
#include "raddle/timing/gpu/profile.h"

namespace raddle::timing {

namespace {
Launches::Spec launches_of(const Assembly& assembly) {
  const MachineSpec& machine = assembly.machine();
  return {.sm = machine.sm,
          .kernels = machine.kernels,
          .launch_latency = machine.launch_latency_cycles,
          .line_bytes = machine.l2.line_bytes,
          .resizes_l1d = machine.resizes_l1d()};
}

Accounting::Spec accounting_of(const Assembly& assembly, Cycle sample_interval) {
  const MachineSpec& machine = assembly.machine();
  Accounting::Spec spec{.slots = machine.kernels.slots(),
                        .schedulers = machine.sm.count * machine.sm.schedulers,
                        .dispatch_latency = machine.dispatch_latency_cycles,
                        .sample_interval = sample_interval,
                        .window = assembly.window()};
  const bool has_links = machine.noc.topology == Topology::Mesh && !machine.ideal.noc;
  if (sample_interval != 0 && has_links) spec.mesh = assembly.mesh_places();
  return spec;
}
}  // namespace

class Gpu::Impl {
 public:
  Impl(const MachineSpec& spec, const PolicyChoices& policies, const GpuOptions& options)
      : machine(spec, policies, options),
        counters(machine),
        launches(launches_of(machine)),
        accounting(accounting_of(machine, options.sample_interval), counters),
        clock(machine, launches, accounting, options),
        seed(options.seed) {}
  void submit_tree(std::vector<Submission> tree) {
    const StreamId in = tree.front().info.stream;
    const TenantId tenant = tree.front().info.tenant;
    host_accesses.take(machine.machine().l2.line_bytes,
                       [this](const HostLine& line) { machine.host_access(line, host_counters); });
    clock.wait_for_slot(warp_instructions_of(tree));
    enqueue({.tenant = tenant, .now = clock.host_time()}, std::move(tree));
    if (index(in) == 0) clock.finish();
  }
  void enqueue(Host host, std::vector<Submission> tree) {
    const std::size_t count = tree.size();
    launches.enqueue(host, std::move(tree));
    accounting.submitted(count);
  }
  /// The one that waits for what it has submitted.
  Host host() const { return {.tenant = {}, .now = clock.host_time()}; }
  /// What visit_statistics_of() asks for.
  template <class Visit>
  void each_policy(Visit&& visit) {
    machine.each_policy(clock.now(), visit);
    if (!machine.machine().coherence.ownership) return;
    CoherenceStatistics coherence;
    coherence.all = counters.counters(clock.now());
    for (const auto& sm : machine.sms()) coherence.kept += sm->words_kept();
    coherence.host = host_counters;
    visit(coherence);
  }

  Assembly machine;
  MachineCounters counters;
  Launches launches;
  Accounting accounting;
  GpuClock clock;
  HostAccesses host_accesses;
  HostCounters host_counters;
  std::uint64_t seed;
  std::optional<SamplingTimes> samplings;  // of the profile, from the beginning; none: none is kept
};

Gpu::Gpu(const MachineSpec& machine, const PolicyChoices& policies, const GpuOptions& options)
    : impl_(std::make_unique<Impl>(machine, policies, options)) {}
Gpu::~Gpu() = default;

// --- observation ---------------------------------------------------------------------------------

void Gpu::observe(SmId sm, policy::L1Observer& observer) {
  impl_->machine.sms()[index(sm)]->observe(observer);
}
void Gpu::observe_slice(unsigned slice, policy::L2Observer& observer) {
  impl_->machine.observe_slice(slice, observer);
}
void Gpu::keep_profile(Cycle interval) {
  RADDLE_ASSERT(interval > 0 && interval <= ~std::uint32_t{0} &&
                !impl_->accounting.any_submitted());
  impl_->samplings.emplace(static_cast<std::uint32_t>(interval), impl_->seed);
  impl_->launches.codes().keep_all();
  for (const auto& sm : impl_->machine.sms()) sm->keep_profile(*impl_->samplings);
}
void Gpu::keep_window(SmId sm, Cycle begin, Cycle end) {
  RADDLE_ASSERT(begin < end && !impl_->accounting.any_submitted());
  impl_->launches.codes().keep_all();
  impl_->machine.sms()[index(sm)]->keep_window(begin, end);
}
bool Gpu::wants_live_registers() const {
  const auto& migration = impl_->machine.machine().migration;
  return migration && migration->registers == policy::Passage::Registers::Live;
}

// --- one host ------------------------------------------------------------------------------------

void Gpu::submit(std::shared_ptr<trace::KernelStream> stream,
                 std::shared_ptr<const trace::LoweredCode> code, LaunchInfo info) {
  std::vector<Submission> one(1);
  one.front() = {.stream = std::move(stream), .code = std::move(code), .info = std::move(info)};
  impl_->submit_tree(std::move(one));
}
void Gpu::submit_tree(std::vector<Submission> tree) { impl_->submit_tree(std::move(tree)); }
Milestone Gpu::record(StreamId stream) { return impl_->launches.record(impl_->host(), stream); }
void Gpu::wait(StreamId stream, Milestone mark) {
  impl_->launches.wait(impl_->host(), stream, mark);
}
Cycle Gpu::run_until(Milestone mark) {
  impl_->clock.run_until(mark);
  return impl_->launches.reached(mark);
}
void Gpu::run_until_idle() { impl_->clock.run_until_idle(); }
void Gpu::run(trace::KernelStream& stream, const LaunchInfo& info) {
  submit({std::shared_ptr<void>(), &stream},
         std::make_shared<const trace::LoweredCode>(trace::as_it_is(stream.code())), info);
  run_until_idle();
}

// --- several hosts -------------------------------------------------------------------------------

void Gpu::enqueue(Host host, std::vector<Submission> tree) {
  impl_->enqueue(host, std::move(tree));
}
Milestone Gpu::record(Host host, StreamId stream) { return impl_->launches.record(host, stream); }
void Gpu::wait(Host host, StreamId stream, Milestone mark) {
  impl_->launches.wait(host, stream, mark);
}
Cycle Gpu::reached(Milestone mark) const { return impl_->launches.reached(mark); }
bool Gpu::idle(TenantId tenant) const { return impl_->launches.idle(tenant); }
bool Gpu::run_to(Cycle horizon) { return impl_->clock.run_to(horizon); }
std::vector<Completion> Gpu::take_completions() { return impl_->launches.take_completions(); }

// --- the host's memory ---------------------------------------------------------------------------

void Gpu::host_wrote(Address at, std::uint64_t bytes) {
  impl_->machine.host_wrote(at, bytes, impl_->clock.now());
}
void Gpu::host_access(Address at, std::uint64_t bytes, bool write) {
  if (impl_->machine.machine().coherence.host && impl_->accounting.any_submitted())
    impl_->host_accesses.add({.at = at, .bytes = bytes, .write = write});
}
void Gpu::forget_caches() {
  RADDLE_ASSERT(impl_->launches.idle());
  impl_->machine.forget_caches();
}

// --- results -------------------------------------------------------------------------------------

Cycle Gpu::now() const { return impl_->clock.now(); }
Cycle Gpu::busy() const { return impl_->accounting.busy(now()); }
stats::GpuCounters Gpu::counters() const { return impl_->accounting.counters(now()); }
const std::vector<KernelRun>& Gpu::kernels() {
  return impl_->accounting.kernels(impl_->clock.end());
}
stats::GpuCounters Gpu::tenant_counters(TenantId tenant) {
  return impl_->accounting.tenant(tenant, impl_->clock.end());
}
std::uint32_t Gpu::resident_blocks(TenantId tenant) const {
  std::uint32_t sum = 0;
  for (const std::uint32_t blocks : impl_->machine.dispatcher().caps().resident(tenant))
    sum += blocks;
  return sum;
}
std::uint64_t Gpu::hash() const { return impl_->counters.hash(now()); }
std::vector<stats::NocPort> Gpu::request_ports() const { return impl_->machine.request().ports(); }
std::vector<stats::NocPort> Gpu::reply_ports() const { return impl_->machine.reply().ports(); }
std::vector<std::string> Gpu::audit() {
  std::vector<std::string> broken = impl_->accounting.audit(now(), impl_->clock.end());
  if (!impl_->launches.idle()) return broken;
  for (std::string& law : impl_->machine.audit()) broken.push_back(std::move(law));
  return broken;
}
void Gpu::visit_policy_statistics(std::string_view level, FieldVisitor& v) {
  visit_statistics_of(level, *impl_, v);
}
const std::vector<BlockSpan>& Gpu::block_spans() const {
  return impl_->machine.dispatcher().spans();
}
std::vector<Sample> Gpu::samples() const { return impl_->accounting.samples(now()); }
Profile Gpu::profile() {
  if (!impl_->samplings) return {};
  return profile_of(impl_->launches.codes(), impl_->machine.sms(), *impl_->samplings, now());
}
const WarpWindow* Gpu::window(SmId sm) { return impl_->machine.sms()[index(sm)]->window(now()); }
const std::vector<SmCounts>& Gpu::sms_over_time() const {
  return impl_->accounting.sms_over_time();
}
const MeshRecord* Gpu::mesh() const { return impl_->accounting.mesh(); }

}  // namespace raddle::timing
