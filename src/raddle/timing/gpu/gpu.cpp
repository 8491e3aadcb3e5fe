// Assembly of the machine: SMs, two networks, memory partitions and the block dispatcher around
// the window engine.
#include "raddle/timing/gpu/gpu.h"

#include <algorithm>
#include <utility>

#include "raddle/policy/dispatch/two_step.h"
#include "raddle/timing/gpu/coherence_statistics.h"
#include "raddle/timing/gpu/gpu_impl.h"
#include "raddle/timing/gpu/policy_statistics.h"
#include "raddle/timing/noc/mesh.h"

namespace raddle::timing {

namespace {
/// What moving warps does not go together with: one sentence each.
std::vector<std::string> migration_conflicts(const PolicyChoices& policies,
                                             const policy::CoherenceRules& coherence) {
  std::vector<std::string> out;
  const std::string migrates =
      "policy.migrate.name = \"" + std::string(policies.migrate->name()) + "\" moves warps: ";
  if (policies.scheme != nullptr && policies.scheme->make({})->shares())
    out.push_back(migrates + "policy.scheme.name must be \"none\", and not \"" +
                  std::string(policies.scheme->name()) +
                  "\", which limits blocks and requests of the SM where they are");
  if (policies.bypass != nullptr && policies.bypass->make({})->bypasses())
    out.push_back(migrates + "policy.bypass.name must be \"none\", and not \"" +
                  std::string(policies.bypass->name()) +
                  "\", whose loads wait in no MSHR that could be given up");
  if (coherence.ownership)
    out.push_back(migrates + "policy.coherence.name must not be \"" +
                  std::string(policies.coherence->name()) +
                  "\", whose L1D cannot give up loads under way");
  return out;
}

/// A policy that replaces lines otherwise than by the order of use.
template <class Level>
bool decides(const policy::Choice<Level>* choice) {
  return choice != nullptr && !choice->make({})->is_lru();
}

/// What a policy needs that decides about lines of an L1D: one sentence for each lack.
std::vector<std::string> l1d_conflicts(const std::string& name, const PolicyChoices& policies,
                                       const MachineSpec& machine) {
  std::vector<std::string> out;
  if (!machine.sm.l1d.present()) out.push_back(name + "needs an L1D: sm.l1d.size_kib = 0");
  if (machine.coherence.ownership)
    out.push_back(name + "needs an L1D of whole lines: policy.coherence.name must not be \"" +
                  std::string(policies.coherence->name()) + "\"");
  return out;
}

/// What a replacement policy cannot decide about: one sentence each.
std::vector<std::string> replacement_conflicts(const PolicyChoices& policies,
                                               const MachineSpec& machine) {
  if (!decides(policies.replacement)) return {};
  const std::string name =
      "policy.replacement.name = \"" + std::string(policies.replacement->name()) + "\" ";
  std::vector<std::string> out = l1d_conflicts(name, policies, machine);
  const L1dSpec& l1d = machine.sm.l1d;
  if (l1d.present() && l1d.ways > policy::ReplacementPolicy::kMostWays)
    out.push_back(name + "decides among " + std::to_string(policy::ReplacementPolicy::kMostWays) +
                  " ways at most: sm.l1d.ways = " + std::to_string(l1d.ways));
  return out;
}

/// The same of a bypass policy.
std::vector<std::string> bypass_conflicts(const PolicyChoices& policies,
                                          const MachineSpec& machine) {
  if (policies.bypass == nullptr || !policies.bypass->make({})->bypasses()) return {};
  return l1d_conflicts("policy.bypass.name = \"" + std::string(policies.bypass->name()) + "\" ",
                       policies, machine);
}

/// The same of the L2's.
std::vector<std::string> l2_replacement_conflicts(const PolicyChoices& policies,
                                                  const MachineSpec& machine) {
  if (!decides(policies.l2_replacement)) return {};
  std::vector<std::string> out;
  const std::string name =
      "policy.l2_replacement.name = \"" + std::string(policies.l2_replacement->name()) + "\" ";
  if (machine.coherence.ownership)
    out.push_back(name + "needs an L2 without owners: policy.coherence.name must not be \"" +
                  std::string(policies.coherence->name()) + "\"");
  if (machine.l2.ways > policy::ReplacementPolicy::kMostWays)
    out.push_back(name + "decides among " + std::to_string(policy::ReplacementPolicy::kMostWays) +
                  " ways at most: l2.ways = " + std::to_string(machine.l2.ways));
  return out;
}

/// The machine with the coherence, the ranks in requests and the migration that are asked for.
MachineSpec checked(MachineSpec machine, const PolicyChoices& policies) {
  if (policies.coherence != nullptr) machine.coherence = policies.coherence->make({})->rules();
  if (policies.dram->make({})->wants_core_ranks()) machine.core_rank_bytes = policy::kCoreRankBytes;
  std::vector<std::string> rules = machine.violations();
  for (std::string& rule : replacement_conflicts(policies, machine))
    rules.push_back(std::move(rule));
  for (std::string& rule : l2_replacement_conflicts(policies, machine))
    rules.push_back(std::move(rule));
  for (std::string& rule : bypass_conflicts(policies, machine)) rules.push_back(std::move(rule));
  if (policies.migrate != nullptr) {
    const auto migrate = policies.migrate->make({});
    if (migrate->migrates()) {
      machine.migration = migrate->passage();
      for (std::string& rule : migration_conflicts(policies, machine.coherence))
        rules.push_back(std::move(rule));
    }
  }
  std::vector<Diagnostic> broken;
  for (std::string& rule : rules) broken.push_back({{}, std::move(rule)});
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

/// Precondition: the machine has a mesh.
MeshPlaces places_of(const MachineSpec& machine) {
  const Endpoints nodes = machine.endpoints();
  const MeshShape mesh = mesh_shape(machine.noc.mesh, nodes);
  const auto slices = mesh.place.begin() + nodes.sms, controllers = slices + nodes.slices;
  return {mesh.columns,
          mesh.rows,
          {mesh.place.begin(), slices},
          {slices, controllers},
          {controllers, mesh.place.end()},
          mesh_links(mesh.columns, mesh.rows)};
}
}  // namespace

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
      manager_(machine_.kernels, machine_.launch_latency_cycles),
      accounts_(machine_.kernels.slots()) {
  if (!options.progress) tell_next_ = kNever;
  if (options.sample_interval != 0 && machine_.noc.topology == Topology::Mesh)
    mesh_.emplace(places_of(machine_), options.sample_interval, window());
  for (unsigned i = 0; i < machine_.sm.count; ++i) {
    sms_.push_back(make_sm(
        {machine_, i}, map_,
        {*policies.warp, policies.throttle, policies.replacement, policies.bypass}, options.seed));
    wire_sm(i);
    if (machine_.coherence.ro_regions) sms_.back()->keep_unwritten(writes_);
  }
  for (unsigned i = 0; i < machine_.dram.channels; ++i) {
    auto policy = policies.dram->make(
        {i, machine_.dram.banks, options.seed, machine_.core_clock_mhz, machine_.dram.clock_mhz});
    partitions_.push_back(make_partition({machine_, i}, map_, std::move(policy)));
    if (decides(policies.l2_replacement))
      partitions_.back()->replace_by(*policies.l2_replacement, options.seed);
    wire_partition(i);
  }
  // The networks first: they are the longest tasks of a window.
  request_->add_to(engine_);
  reply_->add_to(engine_);
  engine_.add(dispatcher_);
  for (auto& sm : sms_) engine_.add(*sm);
  for (auto& p : partitions_) engine_.add(*p);
  if (policies.scheme != nullptr)
    scheme_ = std::make_unique<SchemeUnit>(machine_, *policies.scheme, window(), options.seed,
                                           options.ipc_alone);
  if (scheme_ != nullptr && !scheme_->shares()) scheme_ = nullptr;
  if (scheme_ != nullptr) engine_.add(*scheme_);
  if (const Cycle every = partitions_.front()->dram().policy().wants_tenants_every(); every != 0) {
    reports_ = std::make_unique<TenantReports>(every, window());
    engine_.add(*reports_);
  }
  const bool lru = policies.replacement == nullptr || policies.replacement->make({})->is_lru();
  resizes_l1d_ = machine_.sm.l1d.unified_kib != 0 && scheme_ == nullptr && lru &&
                 !machine_.coherence.ownership;
  hand_over_ahead(true);
  if (machine_.migration) {
    auto policy = policies.migrate->make(MigrationUnit::context_of(machine_, options.seed));
    migration_ = std::make_unique<MigrationUnit>(machine_, std::move(policy), sms_, dispatcher_,
                                                 *request_, window());
    engine_.add(*migration_);
  }
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
  if (AnswerPorts* answers = sm.answers()) {
    answers->noc_box = &reply_->box();
    reply_->connect_input(node, answers->to_noc, answers->credit_in);
  }
  dispatcher_.connect(i, sm.block_in(), sm.block_out());
  sm.connect_dispatcher(dispatcher_.box());
  if (dispatcher_.wants_progress()) sm.tell_progress();
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

template <class Visit>
void Gpu::Impl::each_policy(Visit&& visit) {
  dispatcher_.each_policy(visit);
  for (const auto& sm : sms_) sm->each_policy(visit);
  for (const auto& p : partitions_) {
    for (unsigned place = 0; place < p->slices(); ++place)
      if (p->replacement(place) != nullptr) visit(*p->replacement(place));
    visit(p->dram().policy());
  }
  if (scheme_ != nullptr) visit(scheme_->policy());
  if (migration_ != nullptr) {
    migration_->settle(now_);
    visit(*migration_);
  }
  if (!machine_.coherence.ownership) return;
  CoherenceStatistics coherence;
  coherence.all = counters(now_);
  for (const auto& sm : sms_) coherence.kept += sm->words_kept();
  coherence.host = host_count_;
  visit(coherence);
}

Gpu::Gpu(const MachineSpec& machine, const PolicyChoices& policies, const GpuOptions& options)
    : impl_(std::make_unique<Impl>(machine, policies, options)) {}
Gpu::~Gpu() = default;
void Gpu::observe(SmId sm, policy::L1Observer& observer) { impl_->observe(sm, observer); }
void Gpu::observe_slice(unsigned slice, policy::L2Observer& observer) {
  impl_->observe_slice(slice, observer);
}
void Gpu::keep_profile(Cycle interval) { impl_->keep_profile(interval); }
bool Gpu::wants_live_registers() const { return impl_->wants_live_registers(); }
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
void Gpu::host_access(Address at, std::uint64_t bytes, bool write) {
  impl_->host_access({at, bytes, write});
}
void Gpu::run(trace::KernelStream& stream, const LaunchInfo& info) {
  submit({std::shared_ptr<void>(), &stream},
         std::make_shared<const trace::LoweredCode>(trace::as_it_is(stream.code())), info);
  run_until_idle();
}
void Gpu::forget_caches() { impl_->forget_caches(); }
Cycle Gpu::now() const { return impl_->now(); }
Cycle Gpu::busy() const { return impl_->busy(); }
stats::GpuCounters Gpu::counters() const { return impl_->counters(); }
const std::vector<KernelRun>& Gpu::kernels() { return impl_->kernels(); }
stats::GpuCounters Gpu::tenant_counters(TenantId tenant) { return impl_->tenant_counters(tenant); }
std::uint32_t Gpu::resident_blocks(TenantId tenant) const { return impl_->resident_blocks(tenant); }
std::uint64_t Gpu::hash() const { return impl_->hash(); }
std::vector<std::string> Gpu::audit() { return impl_->audit(); }
std::vector<stats::NocPort> Gpu::request_ports() const { return impl_->request().ports(); }
std::vector<stats::NocPort> Gpu::reply_ports() const { return impl_->reply().ports(); }
void Gpu::visit_policy_statistics(std::string_view level, FieldVisitor& v) {
  visit_statistics_of(level, *impl_, v);
}
const std::vector<BlockSpan>& Gpu::block_spans() const { return impl_->block_spans(); }
std::vector<Sample> Gpu::samples() const { return impl_->samples(); }
Profile Gpu::profile() { return impl_->profile(); }
const MeshRecord* Gpu::mesh() const { return impl_->mesh(); }

}  // namespace raddle::timing
