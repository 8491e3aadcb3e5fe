// What the components of an assembled machine have counted, added up: in all, by launch slot, and
// as a hash of everything.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/timing/gpu/accounting.h"
#include "raddle/timing/gpu/assembly.h"

namespace raddle::timing {

class MachineCounters final : public CounterSource {
 public:
  /// The machine must outlive it.
  explicit MachineCounters(const Assembly& machine) : machine_(machine) {}
  stats::GpuCounters counters(Cycle at) const override;
  stats::GpuCounters counters(unsigned slot, Cycle at) const override;
  unsigned take_most_mshrs(unsigned slot) override;
  SmCounts sm_counts(Cycle at) const override;
  MeshCounts mesh_counts(Cycle at) const override;
  std::vector<Interval> empty_times(Cycle at) const override {
    return machine_.dispatcher().empty_times(at);
  }
  /// Every counter of every component.
  std::uint64_t hash(Cycle at) const;

 private:
  const Assembly& machine_;
};

}  // namespace raddle::timing
