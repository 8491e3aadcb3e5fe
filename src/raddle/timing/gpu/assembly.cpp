// Assembly of the machine: what machine and policies must agree about, the components and the wires
// between them.
#include "raddle/timing/gpu/assembly.h"

#include <algorithm>
#include <utility>

#include "raddle/policy/dispatch/two_step.h"
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
  if (l1d.present() && l1d.ways > policy::ReplacementPolicy::kMaxWays)
    out.push_back(name + "decides among " + std::to_string(policy::ReplacementPolicy::kMaxWays) +
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
  if (machine.l2.ways > policy::ReplacementPolicy::kMaxWays)
    out.push_back(name + "decides among " + std::to_string(policy::ReplacementPolicy::kMaxWays) +
                  " ways at most: l2.ways = " + std::to_string(machine.l2.ways));
  return out;
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

Assembly::Assembly(const MachineSpec& machine, const PolicyChoices& policies,
                   const GpuOptions& options)
    : machine_(checked(machine, policies)),
      skip_(options.skip),
      map_(machine_),
      request_(make_network(machine_, Direction::Request)),
      reply_(make_network(machine_, Direction::Reply)),
      dispatcher_(machine_, window(), make_dispatch(machine_, policies, options.seed),
                  dispatch_name(policies)) {
  for (unsigned i = 0; i < machine_.sm.count; ++i) {
    sms_.push_back(make_sm(
        {machine_, i}, map_,
        {*policies.warp, policies.throttle, policies.replacement, policies.bypass}, options.seed));
    wire_sm(i);
    if (machine_.coherence.ro_regions) sms_.back()->keep_unwritten(writes_);
  }
  for (unsigned i = 0; i < machine_.dram.channels; ++i) {
    auto policy = policies.dram->make({.channel = i,
                                       .banks = machine_.dram.banks,
                                       .seed = options.seed,
                                       .core_mhz = machine_.core_clock_mhz,
                                       .memory_mhz = machine_.dram.clock_mhz});
    partitions_.push_back(make_partition({machine_, i}, map_, std::move(policy)));
    if (decides(policies.l2_replacement))
      partitions_.back()->replace_by(*policies.l2_replacement, options.seed);
    wire_partition(i);
  }
  add_units(policies, options);
  allow_ahead(true);
  for (Mailbox* box : {&request_->box(), request_->credit_box(), &reply_->box(),
                       reply_->credit_box(), &dispatcher_.box()})
    if (box != nullptr) box->set_shared(options.threads > 1);
}

void Assembly::add_units(const PolicyChoices& policies, const GpuOptions& options) {
  if (policies.scheme != nullptr)
    scheme_ = std::make_unique<SchemeUnit>(machine_, *policies.scheme, window(), options.seed,
                                           options.ipc_alone);
  if (scheme_ != nullptr && !scheme_->shares()) scheme_ = nullptr;
  if (const Cycle every = partitions_.front()->dram().policy().wants_tenants_every(); every != 0)
    reports_ = std::make_unique<TenantReports>(every, window());
  if (!machine_.migration) return;
  auto policy = policies.migrate->make(MigrationUnit::context_of(machine_, options.seed));
  migration_ = std::make_unique<MigrationUnit>(machine_, std::move(policy),
                                               std::string(policies.migrate->name()), sms_,
                                               dispatcher_, *request_, window());
}

/// The networks first: they are the longest tasks of a window.
void Assembly::add_to(Engine& engine) {
  request_->add_to(engine);
  reply_->add_to(engine);
  engine.add(dispatcher_);
  for (auto& sm : sms_) engine.add(*sm);
  for (auto& partition : partitions_) engine.add(*partition);
  if (scheme_ != nullptr) engine.add(*scheme_);
  if (reports_ != nullptr) engine.add(*reports_);
  if (migration_ != nullptr) engine.add(*migration_);
}

void Assembly::wire_sm(unsigned i) {
  Sm& sm = *sms_[i];
  sm.set_skip(skip_);
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
  if (dispatcher_.wants_progress()) sm.notify_progress();
}

void Assembly::wire_partition(unsigned i) {
  Partition& partition = *partitions_[i];
  partition.set_skip(skip_);
  for (unsigned slice = 0; slice < partition.slices(); ++slice) {
    SlicePorts& ports = partition.ports(slice);
    const NodeId node = machine_.endpoints().slice(i * partition.slices() + slice);
    request_->connect_output(node, ports.from_noc, &ports.credit_out);
    ports.noc_credit_box = request_->credit_box();
    reply_->connect_input(node, ports.to_noc, ports.credit_in);
    ports.noc_box = &reply_->box();
    if (machine_.coherence.ownership) reply_->connect_output(node, ports.answers, nullptr);
  }
}

MeshPlaces Assembly::mesh_places() const {
  const Endpoints nodes = machine_.endpoints();
  const MeshShape mesh = mesh_shape(machine_.noc.mesh, nodes);
  const auto slices = mesh.place.begin() + nodes.sms, controllers = slices + nodes.slices;
  return {.columns = mesh.columns,
          .rows = mesh.rows,
          .sms = {mesh.place.begin(), slices},
          .slices = {slices, controllers},
          .controllers = {controllers, mesh.place.end()},
          .links = mesh_links(mesh.columns, mesh.rows)};
}

void Assembly::observe_slice(unsigned slice, policy::L2Observer& observer) {
  const unsigned each = partitions_.front()->slices();
  partitions_.at(slice / each)->observe(slice % each, observer);
}

void Assembly::obey(Cycle at) {
  RADDLE_ASSERT(scheme_ != nullptr);
  const policy::Knobs& knobs = scheme_->knobs();
  dispatcher_.obey(at, knobs);
  for (const auto& sm : sms_) sm->obey(at, knobs);
  for (const auto& partition : partitions_) partition->obey(at, knobs);
}

void Assembly::learn(Cycle at, std::span<const policy::TenantCounts, kMaxTenants> counts) {
  for (const auto& partition : partitions_) partition->learn(at, counts);
}

void Assembly::allow_ahead(bool ahead) {
  const bool looked_at = scheme_ != nullptr || reports_ != nullptr;
  for (const auto& partition : partitions_) partition->set_ahead(ahead && !looked_at);
}

void Assembly::gather_writes() {
  if (machine_.coherence.ro_regions)
    for (const auto& sm : sms_) writes_.gather(sm->region_writes(), window());
}

void Assembly::host_wrote(Address at, std::uint64_t bytes, Cycle now) {
  if (machine_.coherence.ro_regions) writes_.wrote(at, bytes, now);
}

void Assembly::host_access(const HostLine& access, HostCounters& count) {
  HostEffects effects{count, [this](unsigned sm, std::uint32_t line, WordMask words) {
                        sms_[sm]->lose(line, words);
                      }};
  const unsigned slice = map_.slice(access.line), of_channel = map_.slices_per_channel();
  partitions_[slice / of_channel]->host(slice % of_channel, access, effects);
}

void Assembly::forget_caches() {
  for (const auto& partition : partitions_) partition->forget();
  for (const auto& sm : sms_) sm->forget_instructions();
}

Cycle Assembly::last_progress(Cycle now) const {
  if (dispatcher_.next_launch() != kNever) return now;  // it comes at its time, whatever happens
  Cycle progress = std::min(now, dispatcher_.last_begin());
  for (const auto& sm : sms_) progress = std::max(progress, sm->last_progress(now));
  return progress;
}

void Assembly::describe(std::string& out) const {
  constexpr unsigned kSmsDescribed = 4, kWarpsOfEach = 8;
  unsigned described = 0, busy = 0;
  for (const auto& sm : sms_) {
    if (sm->idle()) continue;
    if (++busy; described < kSmsDescribed) {
      sm->describe(out, kWarpsOfEach);
      ++described;
    }
  }
  if (busy > described) out += "... and " + std::to_string(busy - described) + " more SMs\n";
  dispatcher_.describe(out);
  if (migration_ != nullptr) migration_->describe(out);
  request_->describe(out);
  reply_->describe(out);
  for (const auto& partition : partitions_)
    if (!partition->idle()) partition->describe(out);
}

std::vector<std::string> Assembly::audit() const {
  std::vector<std::string> broken;
  auto part = [&](const auto& component) {
    for (std::string& law : component.audit()) broken.push_back(std::move(law));
  };
  for (const auto& sm : sms_) part(*sm);
  if (migration_ != nullptr && migration_->idle()) part(*migration_);
  part(*request_);
  part(*reply_);
  for (const auto& partition : partitions_) part(*partition);
  return broken;
}

}  // namespace raddle::timing
