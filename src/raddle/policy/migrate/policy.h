// Level "migrate": which warps leave an SM while they wait, and for which SM. One instance for the
// GPU.
//
// Who calls, and when. The migration unit (timing/gpu/migration_unit.h), between two windows of the
// clock, in which signals between SMs take Passage::signal_cycles: what the policy sees of an SM in
// cycle t is what was so at the end of cycle t - 1. It is asked in every such cycle in which
// something may have become another, and when it wanted to be. Cycles in which nothing changes may
// be skipped, so the same view must give the same answer, and what is counted by cycle must be
// counted by the time that has passed since the last look.
//
// What a policy orders, the unit checks and carries out at once: the warp leaves in that cycle, its
// context travels as packets, and the SM that takes it has room reserved for it from then on. A
// warp that is resident abroad may be moved again, but not to the SM where its block is.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "raddle/base/fields.h"
#include "raddle/base/types.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {

/// What it costs that warps move.
struct Passage {
  enum class Transfer : std::uint8_t {
    Packets,  ///< contexts and messages go through the network
    Free,     ///< they are there in the next cycle: an upper bound
  };
  static constexpr std::array<std::string_view, 2> kTransferNames = {"packets", "free"};
  /// Barriers and shared memory of a block some of whose warps are on another SM.
  enum class Shared : std::uint8_t {
    Remote,  ///< they stay at home, and are reached over the network
    Forbid,  ///< warps of kernels that have them do not move
    Free,    ///< as if they were where the warp is: an upper bound
  };
  static constexpr std::array<std::string_view, 3> kSharedNames = {"remote", "forbid", "free"};
  /// Which registers of a thread are part of a context.
  enum class Registers : std::uint8_t {
    Live,  ///< those that hold what it reads later
    All,   ///< all that it has
  };
  static constexpr std::array<std::string_view, 2> kRegistersNames = {"live", "all"};
  /// MSHRs of an L1D that nobody waits for any more, because their loads have left, while their
  /// requests are on the way.
  enum class Unclaimed : std::uint8_t {
    Hold,     ///< they are taken until the data have come
    Release,  ///< they count as free at once: as if there were as many again for what still comes
  };
  static constexpr std::array<std::string_view, 2> kUnclaimedNames = {"hold", "release"};

  std::uint32_t signal_cycles = 1;  ///< until an SM knows of another's state
  Transfer transfer = Transfer::Packets;
  Shared shared = Shared::Remote;
  Unclaimed unclaimed = Unclaimed::Hold;
  Registers registers = Registers::Live;

  void visit(FieldVisitor& v) {
    v.field("signal_cycles", signal_cycles, {1, 32}, "cycles",
            "until an SM knows of its neighbours' state, and between two looks");
    v.choice("transfer", transfer, kTransferNames,
             "how contexts travel: packets of the network, or there at once (a bound)");
    v.choice("shared", shared, kSharedNames,
             "barriers and shared memory of warps abroad: at home over the network, no such warp "
             "moves, or where the warp is (a bound)");
    v.choice("orphans", unclaimed, kUnclaimedNames,
             "MSHRs whose loads have left while the request is on its way: taken until the data "
             "come, or free at once");
    v.choice("registers", registers, kRegistersNames,
             "which registers travel: those that hold what is read later, or all");
  }
};

/// SMs at the neighbouring nodes of a mesh, in the order east, north, west, south; kNoSm where
/// there is none: the edge of the mesh, or a node of a memory controller.
inline constexpr std::uint32_t kNoSm = ~std::uint32_t{0};
using Neighbours = std::array<std::uint32_t, 4>;

/// Which MSHRs of an L1D a policy looks at, in order of age.
enum class Misses : std::uint8_t {
  Unsent,       ///< whose request has not left the SM
  Outstanding,  ///< for which somebody waits, sent or not
};
inline constexpr std::array<std::string_view, 2> kMissesNames = {"unsent", "outstanding"};
enum class MissesFrom : std::uint8_t { Oldest, Newest };
inline constexpr std::array<std::string_view, 2> kMissesFromNames = {"oldest", "newest"};
/// One of them: position 0 is the oldest, or the newest.
struct MissPlace {
  Misses among = Misses::Unsent;
  MissesFrom from = MissesFrom::Oldest;
  unsigned position = 0;
};

/// What is there.
struct PendingMiss {
  unsigned waiting = 0;         ///< accesses that wait for it: its filled slots
  std::vector<unsigned> warps;  ///< whose accesses these are, each once
  bool only_loads = true;       ///< no store waits with them
};

/// What holds of a resident warp.
struct WarpState {
  bool converged = false;  ///< all its threads take part in its next instruction
  /// Registers that its next instruction needs and loads have not brought.
  unsigned awaited = 0;
  bool adopted = false;  ///< its block is on another SM ...
  Cycle arrived = 0;     ///< ... and it came from there, or from a third one, in that cycle
};

struct Migration {
  std::uint32_t sm = 0, slot = 0, to = 0;
};

/// How long an SM has been relaxed, neutral and critical.
using StateCycles = std::array<Cycle, 3>;

/// All a policy may see, and what it may do. Valid during the call only.
class MigrateView {
 public:
  virtual ~MigrateView() = default;
  virtual Cycle now() const = 0;
  /// By SM: MSHRs of the L1D that are taken.
  virtual std::span<const std::uint16_t> mshrs() const = 0;
  /// false: there are fewer.
  virtual bool miss(unsigned sm, const MissPlace& place, PendingMiss& out) const = 0;
  virtual WarpMask resident(unsigned sm) const = 0;
  virtual WarpState warp(unsigned sm, unsigned slot) const = 0;
  /// The machine can move it now. This takes a closer look than warp().
  virtual bool may_leave(unsigned sm, unsigned slot) const = 0;
  /// Whether `to` has room for the contexts of these warps, and none is at home there.
  virtual bool fits(unsigned sm, std::span<const unsigned> slots, unsigned to) const = 0;
  /// Contexts and messages of the SM that have not wholly left.
  virtual unsigned outgoing(unsigned sm) const = 0;
  /// SMs, in order. Of all others nothing but what they send (leaving) is other than in the last
  /// look.
  virtual std::span<const std::uint32_t> changed() const = 0;
  /// The warp leaves; what the view shows is then so. Precondition: it may leave and fits.
  virtual void move(const Migration& migration) = 0;
};

class MigratePolicy {
 public:
  static constexpr std::string_view kLevel = "migrate";
  struct Context {
    unsigned warps = 64;                      ///< slots of an SM
    unsigned mshrs = 64, merges = 16;         ///< of an L1D
    std::vector<Neighbours> neighbours = {};  ///< by SM
    std::uint64_t seed = 0;
  };
  virtual ~MigratePolicy() = default;
  /// false: warps stay; nobody is asked, and SMs send one another nothing.
  virtual bool migrates() const { return true; }
  virtual Passage passage() const { return {}; }

  /// Moves warps. Returns when to look again even if nothing changes; after view.now().
  virtual Cycle look(MigrateView& view) = 0;
  /// Cycles before `at` by SM and state, for reports. Empty: the policy knows no states.
  virtual std::vector<StateCycles> state_cycles(Cycle /*at*/) const { return {}; }
  /// Cycles before `at` are over: what is counted by the cycle is counted up to there.
  virtual void settle(Cycle /*at*/) {}
  virtual void visit_statistics(FieldVisitor&) {}
};

}  // namespace raddle::policy
