// Blocks and their warps on an SM, from the arrival of a block until the last of its warps has
// left, and the barriers between (barriers.h). It owns the block table and lets everybody know who
// begins or ends: the schedulers' policies (issue_stage.h), the throttle and a scheme
// (issue_gate.h), observers (sm_observation.h), the load/store unit and the dispatcher.
//
// The end of a warp has two steps: its stream ends (end_of_stream(): barriers no longer wait for
// it), and later, when all its results and memory operations are over, its slot becomes free
// (end_if_drained()). A warp whose block is on another SM (warps_abroad.h) ends here, its block
// there.
//
// Lsu is what blocks and warps need of the load/store unit: start_block(), warp_started().
#pragma once
#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/timing/code/occupancy.h"
#include "raddle/timing/sm/arrival_counter.h"
#include "raddle/timing/sm/barrier_objects.h"
#include "raddle/timing/sm/barriers.h"
#include "raddle/timing/sm/dispatcher_port.h"
#include "raddle/timing/sm/issue_gate.h"
#include "raddle/timing/sm/issue_stage.h"
#include "raddle/timing/sm/scoreboard.h"
#include "raddle/timing/sm/sm_observation.h"
#include "raddle/timing/sm/warps_abroad.h"

namespace raddle::timing {

template <class Lsu>
class BlockStage {
 public:
  /// The parts of the SM that it works with; they must outlive it.
  struct Parts {
    Scoreboard& board;
    IssueStage& issue;
    IssueGate& gate;
    SmObservation& observation;
    WarpsAbroad& abroad;
    DispatcherPort& dispatcher;
    Lsu& lsu;
    SmKernelCounters& counters;
  };
  BlockStage(const SmSpec& spec, BlockTable& blocks, const Parts& parts)
      : blocks_(blocks),
        parts_(parts),
        board_(parts.board),
        objects_(blocks.slots()),
        barriers_(spec.barrier_interval_cycles),
        object_arrivals_(spec.barrier_objects.interval_cycles),
        object_latency_(spec.barrier_objects.present()
                            ? spec.barrier_objects.visible_cycles
                            : spec.cost[static_cast<unsigned>(trace::OpClass::Barrier)].latency),
        register_file_(spec.register_file()) {}
  /// Launch slots that have been here.
  const KernelSet& kernels() const { return kernels_; }
  void note_kernel(unsigned slot) { kernels_.set(slot); }
  std::uint32_t block_id(unsigned w) const {
    return parts_.abroad.block_id(w, board_.warps(), blocks_);
  }
  /// What one warp's execution context takes, rounded as a block's is.
  BlockNeeds context_needs(unsigned w) const;

  // --- begin -------------------------------------------------------------------------------------
  void start(Cycle now, const BlockStart& start);
  /// A warp of the launch takes a slot, which is returned, to go on where the caller says.
  unsigned enter_warp(Cycle now, const Launch& launch, unsigned block_slot);
  /// The first block of a launch, or its first warp, is here.
  void note_launch(Cycle now, const Launch& launch, bool flush);

  // --- on its way --------------------------------------------------------------------------------
  /// The instruction after `next` becomes the one to issue, from cycle `from` on, if there is one.
  void advance(Cycle now, Cycle from, unsigned w) {
    if (!board_.advance(now, from, w)) end_of_stream(now, w);
  }
  /// A barrier has opened or a sleep is over.
  void resume(Cycle now, unsigned w) {
    WarpTable& warps = board_.warps();
    RADDLE_ASSERT(has(warps.at_barrier | warps.sleeping, w));
    parts_.gate.barrier(now);
    warps.at_barrier &= ~bit_of(w);
    warps.sleeping &= ~bit_of(w);
    advance(now, now, w);
  }
  /// The warp issues a barrier instruction.
  void arrive_at_barrier(Cycle now, unsigned w);
  /// The warp issues an instruction of barrier objects.
  void change_objects(Cycle now, unsigned w, const DecodedInst& in);
  BarrierObjects& objects() { return objects_; }
  /// One of the warp's copies has come (barrier_objects.h).
  void copy_came(Cycle now, unsigned w) { wake(now, objects_.came(w)); }
  /// All bytes of a copy by one of the block's warps have come; `changes`: to so many objects.
  void copy_came(Cycle now, unsigned block, unsigned w, const std::uint32_t* changes,
                 unsigned count) {
    wake(now, objects_.act(block, w, trace::ObjectAction::Come, changes, count));
  }
  /// A warp of the block does that on another SM.
  void arrive_from_abroad(Cycle now, const HomeCall& call);

  // --- end ---------------------------------------------------------------------------------------
  /// The warp has no instruction left.
  void end_of_stream(Cycle now, unsigned w);
  /// One of an ended warp's results or memory operations is over.
  void end_if_drained(Cycle now, unsigned w);
  /// A warp of the block has ended on another SM, its stream and all.
  void end_abroad(Cycle now, unsigned slot);
  /// The warp goes on on another SM; its slot is free. Precondition: it is in no set.
  void leave_for_abroad(Cycle now, unsigned w);

 private:
  void start_warp(Cycle now, unsigned slot, unsigned index, unsigned lanes);
  bool passes_objects(unsigned w);
  void wake(Cycle now, WarpMask warps);
  void open_barrier(Cycle now, unsigned slot, const Opened& opened);
  void end_warp(Cycle now, unsigned w);
  void end_block(Cycle now, unsigned slot);

  BlockTable& blocks_;
  Parts parts_;
  Scoreboard& board_;
  BarrierObjects objects_;
  KernelSet kernels_;
  ArrivalCounter barriers_, object_arrivals_;
  std::uint32_t object_latency_;  // from an arrival at an object to what a warp does behind it
  RegisterFile register_file_;
};

template <class Lsu>
BlockNeeds BlockStage<Lsu>::context_needs(unsigned w) const {
  const Warp& warp = board_[w];
  BlockNeeds out;
  out.threads = warp.lanes;
  out.warps = 1;
  out.registers = register_file_.of_warp(warp.launch->code->code().registers_per_thread);
  return out;
}

// --- begin --------------------------------------------------------------------------------------

template <class Lsu>
void BlockStage<Lsu>::note_launch(Cycle now, const Launch& launch, bool flush) {
  if (parts_.lsu.start_block(now, launch, flush)) parts_.gate.kernel_started(now);
  note_kernel(launch.slot);
}

template <class Lsu>
void BlockStage<Lsu>::start(Cycle now, const BlockStart& start) {
  note_launch(now, *start.launch, start.flush);
  const trace::LaunchShape& shape = start.launch->stream->shape();
  const unsigned warps = shape.warps_per_block();
  const Block& block = blocks_.start(start.slot, *start.launch, start.block, warps);
  parts_.observation.block_started(start.slot);
  objects_.start_block(start.slot);
  const auto threads = static_cast<unsigned>(shape.block.count());
  RADDLE_ASSERT(threads > (warps - 1) * kLanes);
  for (unsigned i = 0; i < warps; ++i)
    start_warp(now, start.slot, i, std::min(kLanes, threads - i * kLanes));
  if (block.live != 0)
    parts_.gate.block_started(now, start.launch->tenant, start.slot, block.warps);
}

template <class Lsu>
void BlockStage<Lsu>::start_warp(Cycle now, unsigned slot, unsigned index, unsigned lanes) {
  const Block& block = blocks_[slot];
  const Launch& launch = *block.launch;
  const unsigned w = enter_warp(now, launch, slot);
  blocks_.add_warp(slot, w);
  Warp& warp = board_[w];
  warp.index = index;
  warp.lanes = static_cast<std::uint8_t>(lanes);
  warp.local_window = parts_.abroad.sm() * board_.warps().slots() + w;
  warp.cursor = launch.stream->open(block.id, index);
  parts_.observation.warp_started(now, w);
  parts_.issue.schedulers().warp_started(w);
  parts_.gate.warp_started(now, w);
  parts_.lsu.warp_started({.at = now,
                           .launch = launch.sequence,
                           .block = block.id,
                           .index = index,
                           .warp = static_cast<std::uint8_t>(w),
                           .kernel = launch.slot,
                           .tenant = launch.tenant});
  if (!FrontEnd::read_record(warp)) return end_of_stream(now, w);
  board_.present_first(now, w);
}

template <class Lsu>
unsigned BlockStage<Lsu>::enter_warp(Cycle now, const Launch& launch, unsigned block_slot) {
  WarpTable& warps = board_.warps();
  const unsigned w = parts_.issue.schedulers().deal(warps.resident);
  parts_.gate.count_warps(now);
  objects_.start_warp(w);
  Warp& warp = warps.enter(w, block_slot);
  warp.launch = &launch;
  warp.kernel = launch.slot;
  warps.of_tenant[raddle::index(launch.tenant)] |= bit_of(w);
  return w;
}

// --- barriers -----------------------------------------------------------------------------------

// Behind a barrier nothing is read before it opens: a live stream may not know it yet.
template <class Lsu>
void BlockStage<Lsu>::arrive_at_barrier(Cycle now, unsigned w) {
  const Warp& warp = board_[w];
  const trace::BarrierRecord barrier{warp.mask};
  if (barrier.kind() == trace::BarrierKind::Warp) return advance(now, now + 1, w);
  const bool waits = barrier.kind() == trace::BarrierKind::Sync;
  if (waits) {
    board_.warps().at_barrier |= bit_of(w);
    parts_.gate.barrier(now);
  }
  if (parts_.abroad.is_adopted(w)) {
    HomeCall call = parts_.abroad.call_home(w, warp, HomeCall::Kind::Arrive);
    call.barrier = barrier;
    parts_.abroad.send(call);
  } else {
    open_barrier(
        barriers_.counted_at(now), warp.block,
        blocks_.arrive(warp.block, barrier.id(), waits ? bit_of(w) : 0, barrier.expected_warps()));
  }
  if (!waits) advance(now, now + 1, w);
}

template <class Lsu>
void BlockStage<Lsu>::arrive_from_abroad(Cycle now, const HomeCall& call) {
  const unsigned slot = call.home.slot;
  const bool waits = call.barrier.kind() == trace::BarrierKind::Sync;
  parts_.abroad.waits_at(slot, call.index, call.guest);
  open_barrier(now, slot,
               blocks_.arrive_abroad(slot, call.barrier.id(), waits ? bit_of(call.index) : 0,
                                     call.barrier.expected_warps()));
}

// Warps go on as many cycles after the last arrival, or after they hear of it, as an instruction
// that needs the barrier's result would.
template <class Lsu>
void BlockStage<Lsu>::open_barrier(Cycle now, unsigned slot, const Opened& opened) {
  for (WarpMask m = opened.here; m != 0; m &= m - 1)
    board_.wheel().push(now + board_[lowest(m)].next->latency, Event::resume(lowest(m)));
  for (WarpMask m = opened.abroad; m != 0; m &= m - 1)
    parts_.abroad.call_guest(slot, lowest(m), blocks_[slot]);
}

// --- barrier objects ----------------------------------------------------------------------------

template <class Lsu>
bool BlockStage<Lsu>::passes_objects(unsigned w) {
  const Warp& warp = board_[w];
  return objects_.passes(warp.block, w, warp.cursor.at + trace::kRecordWords, warp.transactions);
}

template <class Lsu>
void BlockStage<Lsu>::wake(Cycle now, WarpMask warps) {
  for (; warps != 0; warps &= warps - 1) {
    const unsigned w = lowest(warps);
    if (passes_objects(w))  // of further objects, too
      board_.wheel().push(now + object_latency_, Event::resume(w));
  }
}

template <class Lsu>
void BlockStage<Lsu>::change_objects(Cycle now, unsigned w, const DecodedInst& in) {
  const Warp& warp = board_[w];
  board_.write_back(now, w, in);
  if (in.action == trace::ObjectAction::Wait) {
    if (!passes_objects(w)) {
      board_.warps().at_barrier |= bit_of(w);
      return parts_.gate.barrier(now);
    }
  } else {
    const bool arrives =
        in.action == trace::ObjectAction::Arrive || in.action == trace::ObjectAction::Drop;
    wake(arrives ? object_arrivals_.counted_at(now) : now,
         objects_.act(warp.block, w, in.action, warp.cursor.at + trace::kRecordWords,
                      warp.transactions));
  }
  advance(now, now + 1, w);
}

// --- end ----------------------------------------------------------------------------------------

template <class Lsu>
void BlockStage<Lsu>::end_of_stream(Cycle now, unsigned w) {
  parts_.gate.count_warps(now);
  board_.warps().ended |= bit_of(w);
  parts_.gate.warp_ended(now, w);
  if (const unsigned slot = board_[w].block; !parts_.abroad.is_adopted(w))
    blocks_.stream_ended(slot, [&](const Opened& o) { open_barrier(now, slot, o); });
  end_if_drained(now, w);
}

template <class Lsu>
void BlockStage<Lsu>::end_if_drained(Cycle now, unsigned w) {
  WarpTable& warps = board_.warps();
  RADDLE_ASSERT(has(warps.ended, w));
  const Warp& warp = warps[w];
  board_.look_again(bit_of(w));
  warps.memory_wait &= ~bit_of(w);
  const bool copies = warps.groups.any(AsyncGroups::Kind::Bulk, w);
  if (warp.pending_memory.any() || warp.outstanding != 0 || copies) warps.memory_wait |= bit_of(w);
  else if (!warp.pending.any()) end_warp(now, w);
}

template <class Lsu>
void BlockStage<Lsu>::end_warp(Cycle now, unsigned w) {
  const std::uint8_t slot = board_[w].block;
  board_.warps().leave(w);
  parts_.issue.schedulers().warp_left(w);
  parts_.gate.warp_left(w);
  if (parts_.abroad.is_adopted(w)) return parts_.abroad.ended(now, w, board_[w], context_needs(w));
  if (blocks_.leave(slot, w)) end_block(now, slot);
}

template <class Lsu>
void BlockStage<Lsu>::end_block(Cycle now, unsigned slot) {
  parts_.gate.block_ended(now, slot);
  const Block& block = blocks_[slot];
  ++parts_.counters[block.launch->slot].blocks;
  block.launch->stream->close(block.id);
  parts_.dispatcher.block_ended(now, slot, parts_.observation.progress(slot));
}

// Its block hears of the end of the stream and of the warp at once.
template <class Lsu>
void BlockStage<Lsu>::end_abroad(Cycle now, unsigned slot) {
  blocks_.stream_ended(slot, [&](const Opened& o) { open_barrier(now, slot, o); });
  if (blocks_.ended_abroad(slot)) end_block(now, slot);
}

template <class Lsu>
void BlockStage<Lsu>::leave_for_abroad(Cycle now, unsigned w) {
  parts_.gate.warp_ended(now, w);
  const unsigned slot = board_[w].block;
  board_.warps().leave(w);
  parts_.issue.schedulers().warp_left(w);
  if (parts_.abroad.is_adopted(w)) parts_.abroad.forget(w);
  else blocks_.leave_for_abroad(slot, w);
}

}  // namespace raddle::timing
