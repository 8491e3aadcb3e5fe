// The machine, assembled: SMs, two networks, memory partitions and the block dispatcher, wired to
// one another, and the units that stand between policies and all of these (scheme, reports about
// tenants, migration) where the policies in force need them. What runs them is an engine, when is
// not known here.
//
// Contract: construction throws InputError with every rule that machine and policies break
// together. add_to() hands all components to one engine; the assembly must outlive it and stays
// where it is. What is said to all components of a kind is said here, between windows.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "raddle/policy/scheme/knobs.h"
#include "raddle/timing/cache/host_traffic.h"
#include "raddle/timing/cache/region_writes.h"
#include "raddle/timing/gpu/dispatcher.h"
#include "raddle/timing/gpu/gpu.h"
#include "raddle/timing/gpu/mesh_record.h"
#include "raddle/timing/gpu/migration_unit.h"
#include "raddle/timing/gpu/scheme_unit.h"
#include "raddle/timing/gpu/tenant_reports.h"
#include "raddle/timing/mem/partition.h"
#include "raddle/timing/noc/network.h"
#include "raddle/timing/sm/sm.h"
#include "raddle/timing/wire/engine.h"

namespace raddle::timing {

class Assembly {
 public:
  Assembly(const MachineSpec& machine, const PolicyChoices& policies, const GpuOptions& options);
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;
  void add_to(Engine& engine);

  // --- what it is made of ------------------------------------------------------------------------
  /// With the coherence, the ranks in requests and the migration that the policies ask for.
  const MachineSpec& machine() const { return machine_; }
  /// Cycles of the shortest wire.
  Cycle window() const {
    const Cycle wires = std::min(machine_.noc.latency_cycles, machine_.dispatch_latency_cycles);
    return machine_.migration ? std::min<Cycle>(wires, machine_.migration->signal_cycles) : wires;
  }
  std::span<const std::unique_ptr<Sm>> sms() const { return sms_; }
  std::span<const std::unique_ptr<Partition>> partitions() const { return partitions_; }
  const Network& request() const { return *request_; }
  const Network& reply() const { return *reply_; }
  Dispatcher& dispatcher() { return dispatcher_; }
  const Dispatcher& dispatcher() const { return dispatcher_; }
  SchemeUnit* scheme() { return scheme_.get(); }           ///< null: none shares the GPU
  TenantReports* reports() { return reports_.get(); }      ///< null: nobody wants them
  MigrationUnit* migration() { return migration_.get(); }  ///< null: warps stay
  const MigrationUnit* migration() const { return migration_.get(); }
  /// Precondition: the machine has a mesh.
  MeshPlaces mesh_places() const;
  /// Shows the policies that decide in components, for their statistics, as they are before `now`.
  template <class Visit>
  void each_policy(Cycle now, Visit&& visit);

  // --- between windows ---------------------------------------------------------------------------
  void observe_slice(unsigned slice, policy::L2Observer& observer);
  /// What the scheme has set holds from cycle `at` on.
  void obey(Cycle at);
  /// The policies of all DRAM channels learn what tenants have done.
  void learn(Cycle at, std::span<const policy::TenantCounts, kMaxTenants> counts);
  /// Components may do ahead of time what has no other effect, unless somebody looks at counts on
  /// the way: those ahead of time would be among them.
  void allow_ahead(bool ahead);
  /// coherence.ro_regions: what L1s, or the host at `now`, have written.
  void gather_writes();
  void host_wrote(Address at, std::uint64_t bytes, Cycle now);
  /// coherence.host: the host's access to one line, counted in `count`. Precondition: nothing is
  /// under way; the same for forget_caches().
  void host_access(const HostLine& access, HostCounters& count);
  void forget_caches();
  Cycle last_progress(Cycle now) const;
  void describe(std::string& out) const;
  /// Conservation laws of single components that do not hold. Precondition: nothing is under way.
  std::vector<std::string> audit() const;

 private:
  void wire_sm(unsigned sm);
  void wire_partition(unsigned partition);
  void add_units(const PolicyChoices& policies, const GpuOptions& options);

  MachineSpec machine_;
  bool skip_;
  AddressMap map_;
  std::unique_ptr<Network> request_, reply_;
  Dispatcher dispatcher_;
  RegionWrites writes_;  // coherence.ro_regions
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::unique_ptr<SchemeUnit> scheme_;
  std::unique_ptr<TenantReports> reports_;
  std::unique_ptr<MigrationUnit> migration_;
};

template <class Visit>
void Assembly::each_policy(Cycle now, Visit&& visit) {
  dispatcher_.each_policy(visit);
  for (const auto& sm : sms_) sm->each_policy(visit);
  for (const auto& partition : partitions_) {
    for (unsigned slice = 0; slice < partition->slices(); ++slice)
      if (partition->replacement(slice) != nullptr) visit(*partition->replacement(slice));
    visit(partition->dram().policy());
  }
  if (scheme_ != nullptr) visit(scheme_->policy());
  if (migration_ == nullptr) return;
  migration_->settle(now);
  visit(*migration_);
}

}  // namespace raddle::timing
