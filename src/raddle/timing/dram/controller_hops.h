// The way between L2 slices and a memory controller at another node of a mesh
// (noc.mesh.memory_nodes): latency by hops, and the packets as traffic. A read sends an address
// there and its data back, a write its data there. Contention is left out: the controllers' packets
// meet no others.
#pragma once
#include <vector>

#include "raddle/stats/counters.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/flits.h"

namespace raddle::timing {

class ControllerHops {
 public:
  /// Of one channel to its slices; all of length 0 where the machine has no memory_nodes.
  explicit ControllerHops(const ChannelSpec& channel);

  /// Core cycles there and back, `slice` counting through the partition.
  Cycle round_trip(unsigned slice) const { return way_.empty() ? 0 : way_[slice].round_trip; }
  Cycle longest() const;
  unsigned hops(unsigned slice) const { return way_.empty() ? 0 : way_[slice].hops; }
  void count(unsigned slice, std::uint8_t sectors, bool write, stats::NocTraffic& traffic) const;

 private:
  std::vector<ControllerWay> way_;  // by slice of the partition
  FlitTable request_, reply_;
};

}  // namespace raddle::timing
