// The way between L2 slices and a memory controller at another node of a mesh
// (noc.mesh.memory_nodes): latency by hops, and the packets as traffic. A read sends an address
// there and its data back, a write its data there. Contention is left out: the controllers' packets
// meet no others.
#pragma once
#include <vector>

#include "raddle/stats/counters.h"
#include "raddle/timing/spec/machine.h"
#include "raddle/timing/wire/flits.h"

namespace raddle::timing {

class Legs {
 public:
  /// Of one channel to its slices; all of length 0 where the machine has no memory_nodes.
  Legs(const MachineSpec& machine, unsigned channel);

  /// Core cycles there and back, `slice` counting through the partition. Routers and flits of an
  /// own node are part of the latencies of DRAM.
  Cycle round_trip(unsigned slice) const { return there_ ? legs_[slice].round_trip : 0; }
  Cycle longest() const;
  unsigned hops(unsigned slice) const { return there_ ? legs_[slice].hops : 0; }
  void count(unsigned slice, std::uint8_t sectors, bool write, stats::NocTraffic& traffic) const;

 private:
  struct Leg {
    unsigned hops;
    Cycle round_trip;
  };
  std::vector<Leg> legs_;  ///< by slice of the partition
  bool there_;
  FlitTable request_, reply_;
};

}  // namespace raddle::timing
