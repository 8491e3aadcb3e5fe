// Which phase of a barrier object (mbarrier) a warp waits for. A trace has the parity only, and not
// what other warps had done by then; so the barriers of a cluster's blocks are played through
// before they are timed, without time: each warp goes on until it must wait. Copies come when they
// are issued, as in exec.
//
// Rules of barrier objects: PTX ISA 9.0, 9.7.13.15; what the op stream then says of a wait:
// trace/stream.h, exec/slow/async.h.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace raddle::accelsim {

/// One thing that a warp does to a barrier.
struct BarrierEvent {
  enum class Kind : std::uint8_t {
    Init,    ///< an object: `count` arrivals a phase
    Arrive,  ///< `count` arrivals, `bytes` expected
    Copies,  ///< `count` arrivals more in this phase, made
    Come,    ///< `bytes` have
    Wait,    ///< for the phase of parity `count`; `bytes`: number of the wait
    Sync,    ///< named barrier `object` of `count` warps; 0: all of the block
    Join,    ///< the same without waiting
    ClusterArrive,
    ClusterWait,
  };
  Kind kind = Kind::Init;
  std::uint8_t rank = 0;     ///< of the block whose object it is
  std::uint16_t object = 0;  ///< its offset in shared memory, in units of 8 bytes
  std::uint32_t count = 0, bytes = 0;
};

/// Of a block, by warp.
struct BlockBarriers {
  std::uint32_t rank = 0;  ///< in its cluster
  std::vector<std::vector<BarrierEvent>> warps;
};

/// What a wait waits for: phases that are over, or what the block's own warps have brought to the
/// object (trace::ObjectChange::kBrought). 0 phases: nothing.
struct BarrierWait {
  std::uint32_t value = 0;
  bool brought = false;
};

class Rehearsal {
 public:
  /// Blocks of one cluster.
  explicit Rehearsal(std::vector<BlockBarriers> blocks);
  /// Sets the wait of each number: in a cluster of several blocks what the block itself had
  /// brought, else phases; nothing where it never ends, or waits for an object of another block.
  /// Returns how many never end.
  std::uint64_t run(std::vector<BarrierWait>& waits);

 private:
  struct Object {
    std::int64_t count = 0, pending = 0, bytes = 0;
    std::uint32_t phases = 0, brought = 0, brought_at_phase = 0;
    bool parity = false, broken = false;
  };
  struct Barrier {
    std::uint32_t arrived = 0, openings = 0;
  };
  struct Warp {
    std::uint32_t block = 0, warp = 0;
    std::size_t at = 0;
    bool arrived = false;       // at the barrier where it stands
    std::uint32_t opening = 0;  // of that barrier, for which it waits
    std::uint32_t cluster_opening = 0;
  };

  const std::vector<BarrierEvent>& events(const Warp& warp) const {
    return blocks_[warp.block].warps[warp.warp];
  }
  bool ended(const Warp& warp) const { return warp.at == events(warp).size(); }
  bool advance(Warp& warp, std::vector<BarrierWait>& waits);
  /// Does the event; false: the warp waits.
  bool act(Warp& warp, const BarrierEvent& event, std::vector<BarrierWait>& waits);
  bool wait(const Warp& warp, const BarrierEvent& event, std::vector<BarrierWait>& waits);
  bool meet(Warp& warp, const BarrierEvent& event);
  bool meet_cluster(Warp& warp, bool waits);
  void hear(const Warp& warp, const BarrierEvent& event, std::int64_t arrivals, std::int64_t bytes);
  std::uint32_t running(std::optional<std::uint32_t> block) const;
  /// Nobody can go on: those at objects do, and their objects hold nobody any more.
  std::uint64_t force(std::vector<BarrierWait>& waits);

  std::vector<BlockBarriers> blocks_;
  std::vector<Warp> warps_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Object> objects_;    // by rank and number
  std::map<std::pair<std::uint32_t, std::uint32_t>, Barrier> barriers_;  // by block and number
  Barrier cluster_;
};

}  // namespace raddle::accelsim
