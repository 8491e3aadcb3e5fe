// Level "dispatch": which pending grid takes a free entry of the kernel distributor, and which
// thread block of which grid goes to which SM. One decision, one instance per GPU.
//
// Words. A grid is whatever has blocks: a kernel of the host, a kernel that a kernel has launched
// (CUDA dynamic parallelism), or a group of blocks that joins a kernel under way (thread-block
// groups, DTBL: Wang, Rubin, Sidelnik, Yalamanchili, ISCA 2015). An entry is a place in the kernel
// distributor (KDU): it holds one kernel with the groups that have joined it, and is free again
// when the last block of all of them has ended. There are few entries and any number of grids.
//
// Who calls, and when. The dispatcher alone, within its own cycle, in order of time. In one cycle:
// ends first (on_block_end, on_grid_end) and what memory has sent (on_fetched), then launches that
// have come to the kernel management unit (on_grid, then join where there is something to join),
// then admit for as long as an entry is free and a grid pends, then on_begin, then pick for as long
// as a block fits and blocks_per_cycle() allows; access after each of these. A grid lives on_grid
// -> on_enter -> on_begin -> its blocks -> on_grid_end.
//
// What may depend on what. admit is asked in every cycle in which there are an entry and a grid,
// pick in every cycle in which a block fits an SM, whether cycles without events are skipped or
// not; the same history must give the same answers. The dispatcher checks an answer and carries it
// out; how many blocks fit an SM is its business alone.
//
// A policy may give nothing. If no block is on an SM then and nothing is on its way, it must say
// in waits_until() when it will have more to say; otherwise the run ends with an error that names
// it, for nothing would ever change.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "raddle/base/fields.h"
#include "raddle/base/mask.h"
#include "raddle/base/types.h"
#include "raddle/policy/device_parent.h"

namespace raddle::policy {

class BlockPolicy;
class KernelPolicy;
struct BlockProgress;
template <class Interface>
class Choice;

/// Names a grid from on_grid to on_grid_end; another may have it later. Small numbers, so that
/// policies can keep what they know in a vector.
using GridId = std::uint32_t;
inline constexpr GridId kNoGrid = ~GridId{0};

/// Linear block id = x + X * (y + Y * z).
struct GridInfo {
  GridId id = kNoGrid;
  std::uint64_t sequence = 0;  ///< counts launches since the start of the run
  std::string_view kernel;     ///< valid until on_grid_end
  StreamId stream{};
  Dim3 grid;
  std::uint32_t blocks = 0;
  std::uint32_t priority = 0;  ///< as launched; a higher number is more urgent
  DeviceParent parent = {};
  TenantId tenant{};
  std::optional<unsigned> entry;  ///< none: it pends
  std::uint32_t max_on_sm = 0;    ///< blocks of it that an SM holds if it has nothing else
};

/// What changes of a grid.
struct GridState {
  std::uint32_t left = 0;      ///< blocks that have not gone out; 0 before it may begin
  std::uint32_t free_set = 0;  ///< which of DispatchView::free_sets is for its blocks
  GridId next = kNoGrid;       ///< in the list it is in: pending, or with blocks left
  GridId previous = kNoGrid;
};

struct PendingView {
  std::span<const GridState> grids;  ///< by GridId
  GridId oldest;                     ///< that came first of those that pend; never kNoGrid
  std::size_t count;                 ///< that pend
  unsigned free_entries;             ///< at least 1
  Cycle now;
  /// The one that came next; kNoGrid after the last.
  GridId after(GridId grid) const { return grids[grid].next; }
};

struct DispatchView {
  std::span<const GridState> grids;  ///< by GridId
  std::span<const SmSet> free_sets;  ///< SMs that can hold one more block, by GridState::free_set
  const SmSet& served;               ///< SMs that have been given a block in this cycle
  GridId oldest;                     ///< that began first of those with blocks left
  bool shared;                       ///< by a scheme: no grid waits for one that fits nowhere
  Cycle now;
  GridId after(GridId grid) const { return grids[grid].next; }
  bool has_blocks(GridId grid) const { return grids[grid].left != 0; }
  /// SMs to which a block of the grid may go. Precondition: has_blocks(grid).
  SmSet free_sms(GridId grid) const { return free_sets[grids[grid].free_set] - served; }
};

struct BlockDispatch {
  GridId grid = kNoGrid;
  std::uint32_t block = 0, sm = 0;
  bool stolen = false;  ///< the policy had given it to another SM; for reports
};

/// An entry of a policy's queue is in global memory: it is written there, or fetched.
struct QueueAccess {
  GridId grid = kNoGrid;
  std::uint32_t sm = 0;     ///< through whose L2 port
  std::uint32_t place = 0;  ///< in memory; places may be used again
  bool fetch = false;
};

class DispatchPolicy {
 public:
  static constexpr std::string_view kLevel = "dispatch";
  struct Context {
    /// Entries have numbers below kernel_slots(entries).
    unsigned sms = 1, entries = 32;
    std::uint64_t seed = 0;
    /// The parts of two_step; a policy that decides all by itself leaves them alone.
    const Choice<KernelPolicy>* kernel = nullptr;
    const Choice<BlockPolicy>* block = nullptr;
  };
  virtual ~DispatchPolicy() = default;

  // --- launches ----------------------------------------------------------------------------------
  /// With the management unit from now on.
  virtual void on_grid(const GridInfo&) {}
  /// May a grid that a kernel has launched join a kernel under way as a group of blocks? `entries`:
  /// those whose kernel has the same code and needs as much of an SM; never empty. One of them, or
  /// nothing: then the grid pends, for an entry of its own.
  virtual std::optional<unsigned> join(const GridInfo&, const KernelSet& /*entries*/) {
    return std::nullopt;
  }
  /// The grid that takes a free entry, or nothing now. By default the one that came first.
  virtual std::optional<GridId> admit(const PendingView& view) { return view.oldest; }
  /// What it takes to find the grid that admit has named, or to find a group's place in the queue
  /// it will be in. For a group that is hidden behind the set-up of its parameter buffer.
  virtual Cycle search_cycles(const GridInfo&) const { return 0; }
  /// It has an entry, alone or with the kernel it has joined.
  virtual void on_enter(const GridInfo&) {}
  /// From now on its blocks may go out (DispatchView::has_blocks).
  virtual void on_begin(GridId, Cycle /*now*/) {}

  // --- queues in memory --------------------------------------------------------------------------
  /// What a queue of the policy wants of global memory, one after another until nothing is left.
  /// What is fetched comes back as on_fetched, some time later.
  virtual std::optional<QueueAccess> access() { return std::nullopt; }
  virtual void on_fetched(GridId, Cycle /*now*/) {}

  // --- blocks ------------------------------------------------------------------------------------
  /// Blocks that may leave in one cycle, each to another SM.
  virtual unsigned blocks_per_cycle() const { return 1; }
  /// A block that has not gone out of a grid with blocks left, and an SM in view.free_sms(grid); or
  /// nothing more in this cycle.
  virtual std::optional<BlockDispatch> pick(const DispatchView& view) = 0;
  virtual void on_block_end(GridId, std::uint32_t /*block*/, std::uint32_t /*sm*/) {}
  /// If true, on_block_progress() comes just before each on_block_end(); see policy/block/policy.h.
  virtual bool wants_progress() const { return false; }
  virtual void on_block_progress(GridId, std::uint32_t /*sm*/, const BlockProgress&) {}
  virtual void on_grid_end(GridId) {}

  // --- words -------------------------------------------------------------------------------------
  /// Asked when nothing was given: the first cycle in which it may give something although no grid
  /// or block comes or ends until then; kNever: not before something does.
  virtual Cycle waits_until(Cycle /*now*/) const { return kNever; }
  /// Who declined what when it was asked last, for error messages.
  virtual std::string refusals() const { return {}; }
  virtual void visit_statistics(FieldVisitor&) {}
  /// Parts that are policies of other levels, for their statistics; null: none.
  virtual KernelPolicy* kernel_policy() { return nullptr; }
  virtual BlockPolicy* block_policy() { return nullptr; }
};

}  // namespace raddle::policy
