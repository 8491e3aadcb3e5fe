// The parts of a machine that its components take. A component knows its own part and what it must
// of its neighbours, not the whole machine; what it must know is said here, where the whole is
// known. Each part can be made from a machine wherever one is asked for. kernel_slots: launch slots
// for which a component counts.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/policy/coherence/policy.h"
#include "raddle/timing/spec/device_launch_spec.h"
#include "raddle/timing/spec/dram_spec.h"
#include "raddle/timing/spec/endpoints.h"
#include "raddle/timing/spec/l2_spec.h"
#include "raddle/timing/spec/noc_spec.h"
#include "raddle/timing/spec/packet_size.h"
#include "raddle/timing/spec/sm_spec.h"

namespace raddle::timing {

struct MachineSpec;

/// What an endpoint knows of the networks it is wired to.
struct PortSpec {
  PacketSize packet{};
  std::uint32_t senders = 0;  ///< that may reach a receiver in one cycle, if more than one may
  std::uint32_t largest_packet = 1;  ///< flits: a header, a request's, and a whole line
  std::uint32_t queue_flits = 1;     ///< behind each link, and so credits of its sender
  Cycle latency = 1;                 ///< of each link
  std::uint32_t network_mhz = 1, core_mhz = 1;
  PortSpec() = default;
  PortSpec(const MachineSpec& machine);
};

/// One of the two networks.
struct NetworkSpec {
  NocSpec noc;
  bool ideal = false;  ///< packets never wait for one another
  PortSpec port;
  Endpoints endpoints;
  bool answers = false;    ///< SMs answer one another and the slices (coherence.ownership)
  bool transfers = false;  ///< SMs send one another transfers, among the requests (migration)
  unsigned kernel_slots = 1;
  NetworkSpec(const MachineSpec& machine);
};

/// Lines and sectors as the L2 and the wires have them, and what an L1 fetches of them.
struct LineSpec {
  std::uint32_t line_bytes = 0, sector_bytes = 0;
  std::uint32_t l1_sector_bytes = 0;
  bool by_sector = false;  ///< the load/store unit takes sectors to the L1 one by one
  LineSpec(const MachineSpec& machine);
};

/// A constant cache and the lines it asks the L2 for.
struct ConstantsSpec {
  ConstCacheSpec cache;
  std::uint32_t line_bytes = 0, sector_bytes = 0;
  ConstantsSpec(const MachineSpec& machine);
};

/// The load/store unit of one SM, with its L1 of either protocol.
struct LsuSpec {
  unsigned sm = 0;  ///< among the machine's
  std::uint32_t queue = 1, lines_per_cycle = 1, loads_in_flight = 1;
  bool sector_banks = false;
  Cycle shared_latency = 1, const_latency = 1;
  ClusterSpec cluster;
  L1dSpec l1d;
  bool ideal_l1d = false;  ///< loads that may use it hit
  LineSpec lines;
  ConstantsSpec constants;
  PortSpec port;
  policy::CoherenceRules coherence;
  Endpoints endpoints;
  unsigned kernel_slots = 1;
  unsigned unclaimed = 0;  ///< MSHRs that count as free once nobody waits for them (migration)
  LsuSpec(const MachineSpec& machine, unsigned sm);
};

/// One SM.
struct OneSmSpec {
  unsigned id = 0;  ///< among the machine's
  SmSpec sm;
  LsuSpec lsu;
  std::uint32_t core_mhz = 1;
  Cycle dispatch_latency = 1;  ///< to the dispatcher and back, each way
  /// Of a kernel launch by a warp: for the instruction, and for each lane that launches.
  DeviceLaunchSpec device_launch;
  unsigned kernel_slots = 1;
  OneSmSpec(const MachineSpec& machine, unsigned id);
};

/// Where lines live.
struct AddressMapSpec {
  L2Spec l2;
  DramSpec dram;
  Endpoints endpoints;
  AddressMapSpec(const MachineSpec& machine);
};

/// The way from an L2 slice to its memory controller and back, through the mesh.
struct ControllerWay {
  unsigned hops = 0;     ///< links, one way
  Cycle round_trip = 0;  ///< core cycles
};

/// One DRAM channel with its controller.
struct ChannelSpec {
  unsigned id = 0;  ///< among the machine's channels
  DramSpec dram;
  std::uint32_t core_mhz = 1, line_bytes = 0, sector_bytes = 0;
  PacketSize packet{};
  /// By slice of the partition; empty: controllers are where their slices are.
  std::vector<ControllerWay> ways;
  unsigned kernel_slots = 1;
  ChannelSpec(const MachineSpec& machine, unsigned id);
};

/// A DRAM channel and the L2 slices in front of it.
struct PartitionSpec {
  ChannelSpec channel;
  L2Spec l2;
  bool ideal_l2 = false;  ///< every request hits
  unsigned slices = 1;    ///< of this partition
  PortSpec port;
  policy::CoherenceRules coherence;
  Endpoints endpoints;
  PartitionSpec(const MachineSpec& machine, unsigned channel);
  /// The number of one of its slices in the whole machine.
  unsigned slice(unsigned place) const { return channel.id * slices + place; }
};

}  // namespace raddle::timing
