// One memory partition: a DRAM channel and the L2 slices in front of it. Each part sleeps on its
// own; a tick of the partition runs only the parts that are due.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/ring.h"
#include "raddle/policy/dram/policy.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/dram/channel.h"
#include "raddle/timing/gpu/machine.h"
#include "raddle/timing/mem/address_map.h"
#include "raddle/timing/mem/l2_slice.h"
#include "raddle/timing/memory_ports.h"

namespace raddle::timing {

class Partition {
 public:
  /// `map` must outlive the partition.
  Partition(const MachineSpec& machine, const AddressMap& map, unsigned channel,
            std::unique_ptr<policy::DramPolicy> policy);

  unsigned slices() const { return static_cast<unsigned>(slice_.size()); }
  /// Slice `place` of this partition is slice channel * slices() + place of the machine.
  SlicePorts& ports(unsigned place) { return slice_[place]->ports(); }
  const L2Slice& slice(unsigned place) const { return *slice_[place]; }
  DramChannel& dram() { return dram_; }
  const DramChannel& dram() const { return dram_; }

  /// false: every part acts every cycle; results must be the same.
  void set_skip(bool skip);
  Cycle next_arrival(Cycle from) const;
  void open_window();
  Cycle tick(Cycle now);

  bool idle() const;
  void describe(std::string& out) const;
  /// Sums over the slices, in all and by launch slot.
  stats::L2Counters l2_counters() const;
  stats::L2Counters l2_counters(unsigned kernel) const;
  stats::DramCounters dram_counters() const { return dram_.counters(); }
  /// Conservation of requests, waits and DRAM accesses; one sentence per law that is broken.
  std::vector<std::string> audit() const;

 private:
  void take_replies(Cycle now);
  void tick_slices(Cycle now);
  void wake_blocked(Cycle from);
  void wake(unsigned place, Cycle at) {
    slice_due_[place] = std::min(slice_due_[place], at);
    slices_due_ = std::min(slices_due_, at);
  }
  bool send_write_backs(Cycle now);

  unsigned channel_, kept_for_reads_;
  bool skip_ = true;
  DramChannel dram_;
  Ring<WriteBack> write_backs_;
  std::vector<std::unique_ptr<L2Slice>> slice_;
  std::vector<Cycle> slice_due_;
  Cycle slices_due_ = 0;  // the earliest of them
};

}  // namespace raddle::timing
