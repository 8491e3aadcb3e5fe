// One memory partition: a DRAM channel and the L2 slices in front of it.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "raddle/policy/dram/policy.h"
#include "raddle/policy/l2_replacement/policy.h"
#include "raddle/policy/observer.h"
#include "raddle/policy/registry.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/cache/host_traffic.h"
#include "raddle/timing/dram/channel.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/memory_ports.h"

namespace raddle::timing {

/// Each part sleeps on its own; a tick of the partition runs only the parts that are due.
class Partition {
 public:
  virtual ~Partition() = default;
  virtual unsigned slices() const = 0;
  /// Slice `place` of this partition is slice channel * slices() + place of the machine.
  virtual SlicePorts& ports(unsigned place) = 0;
  virtual DramChannel& dram() = 0;

  /// false: every part acts every cycle; results must be the same.
  virtual void set_skip(bool skip) = 0;
  /// L2Slice::set_ahead of all its slices.
  virtual void set_ahead(bool ahead) = 0;
  virtual Cycle next_arrival(Cycle from) const = 0;
  virtual void open_window() = 0;
  /// Hints what a window up to `end` will touch.
  virtual void prefetch(Cycle end) = 0;
  Cycle tick(Cycle now) { return run(now, now + 1); }
  /// tick() from cycle `from` on, in each cycle in which anything could happen, up to `end`;
  /// returns the next such cycle. Precondition: from < end.
  virtual Cycle run(Cycle from, Cycle end) = 0;
  /// The knobs hold from cycle `at` on, the first of the next window.
  virtual void obey(Cycle at, const policy::Knobs& knobs) = 0;
  /// As DramChannel::learn, in the same cycle.
  virtual void learn(Cycle at, std::span<const policy::TenantCounts, kMaxTenants> counts) = 0;

  /// Who decides whose way a line of a slice gets, instead of the order of use. Precondition: no
  /// request has come, and the coherence knows no owners.
  virtual void replace_by(const policy::Choice<policy::L2ReplacementPolicy>& choice,
                          std::uint64_t seed) = 0;
  /// Of one slice; null where the order of use decides.
  virtual policy::L2ReplacementPolicy* replacement(unsigned place) const = 0;

  /// Of one slice. It must outlive the partition.
  virtual void observe(unsigned place, policy::L2Observer& observer) = 0;

  /// Of a line that lives in this slice. Precondition: nothing is under way.
  virtual void host(unsigned place, const HostLine& access, HostEffects& effects) = 0;

  /// Empties the L2. Precondition: nothing is under way.
  virtual void forget() = 0;

  virtual bool idle() const = 0;
  virtual void describe(std::string& out) const = 0;
  /// Of one slice; sums over the slices, in all and by launch slot.
  virtual stats::L2Counters slice_counters(unsigned place) const = 0;
  virtual stats::L2Counters l2_counters() const = 0;
  virtual stats::L2Counters l2_counters(unsigned kernel) const = 0;
  stats::DramCounters dram_counters() { return dram().counters(); }
  /// Conservation of requests, waits and DRAM accesses; one sentence per law that is broken.
  virtual std::vector<std::string> audit() const = 0;
};

/// With slices as the coherence asks for. `map` must outlive the partition.
std::unique_ptr<Partition> make_partition(const PartitionSpec& spec, const AddressMap& map,
                                          std::unique_ptr<policy::DramPolicy> policy);

}  // namespace raddle::timing
