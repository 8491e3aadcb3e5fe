// What an SM's instructions do when they issue, beside what the scoreboard does for all of them.
// Definitions for sm.cpp.
#pragma once
#include <algorithm>

#include "raddle/timing/sm/sm_of.h"
#include "raddle/timing/spec/address_regions.h"

namespace raddle::timing {

namespace issue_detail {
inline void count_issue(stats::SmCounters& count, const DecodedInst& in, unsigned lanes) {
  static_assert(stats::kOpClasses == trace::kOpClasses);
  ++count.class_issued[in.op_class];
  count.class_lanes[in.op_class] += lanes;
  count.register_reads += in.register_reads;
  count.register_writes += in.register_writes;
}
/// A load that no register waits for: cp.async, and bulk copies where no unit makes them.
inline bool is_copy(const DecodedInst& in) {
  return in.route == Route::Load && in.destination == DecodedInst::kNone;
}
}  // namespace issue_detail

template <L1Protocol L1>
template <bool kExtras>
[[gnu::always_inline]] inline bool SmOf<L1>::issue(Cycle now) {
  const WarpTable& warps = board_.warps();
  const WarpMask look = !kExtras || skip_ ? board_.changed() : ~WarpMask{0};
  const WarpMask kept_out = lsu_.keeps_out(board_.units().wanting(Unit::Lsu), warps.of_tenant);
  return issue_.run<kExtras>(
      now, look, kept_out, board_, gate_, counters_,
      [&](unsigned scheduler, unsigned w) { issue_warp<kExtras>(now, scheduler, w); });
}

template <L1Protocol L1>
inline void SmOf<L1>::advance(Cycle now, Cycle from, unsigned w) {
  if (!board_.advance(now, from, w)) block_stage_.end_of_stream(now, w);
}

template <L1Protocol L1>
template <bool kExtras>
[[gnu::always_inline]] inline void SmOf<L1>::issue_warp(Cycle now, unsigned scheduler, unsigned w) {
  Warp& warp = board_[w];
  const DecodedInst& in = *warp.next;
  stats::SmCounters& count = counters_[warp.kernel];
  progress_ = now;
  if (kExtras && observation_.notes_issues()) observation_.issued(now, w, in.route);
  issue_detail::count_issue(count, in, warp.active);
  const Cycle late = board_.issue(now, scheduler, w, in);
  count.operand_wait_cycles += late;
  if (in.route != Route::Pipeline) return perform(now, w, in);
  board_.write_back(now + late, w, in);
  if (!board_.advance(now, now + 1, w)) block_stage_.end_of_stream(now, w);
}

template <L1Protocol L1>
void SmOf<L1>::perform(Cycle now, unsigned w, const DecodedInst& in) {
  switch (in.route) {
    case Route::Barrier:
      if (in.beside != Beside::None) end_group(w, in.beside);
      return block_stage_.arrive_at_barrier(now, w);
    case Route::Sleep:
      return fall_asleep(now, w, in);
    case Route::LaunchStream:
    case Route::LaunchBuffer:
    case Route::Launch:
      return call_device_runtime(now, w, in);
    case Route::Object:
      return block_stage_.change_objects(now, w, in);
    case Route::Copy:
      return issue_copy(now, w, in);
    case Route::Pipeline:
      break;
    case Route::Fence:
      if (in.acquires) lsu_.acquire(now);
      if (in.beside != Beside::None) end_group(w, in.beside);
      break;
    default:
      if (board_[w].transactions != 0)
        to_lsu(now, w, in);  // otherwise all lanes were predicated off
  }
  advance(now, now + 1, w);
}

template <L1Protocol L1>
void SmOf<L1>::to_lsu(Cycle now, unsigned w, const DecodedInst& in) {
  Warp& warp = board_[w];
  const DecodedKernel& code = *warp.launch->code;
  LsuCore::Owner owner{.warp = static_cast<std::uint8_t>(w),
                       .kernel = warp.launch->slot,
                       .tenant = warp.launch->tenant,
                       .inst = static_cast<std::uint32_t>(&in - code.instructions()),
                       .code = &in};
  if (issue_detail::is_copy(in)) [[unlikely]]
    owner.group = board_.warps().groups.issued(AsyncGroups::Kind::Copies, w);
  Scoreboard::expect_load(warp, in);
  if (in.route == Route::Shared && abroad_.is_adopted(w) &&
      abroad_.shared() == policy::Passage::Shared::Remote)
    return migration_.access_at_home(w, in);
  if (in.route == Route::Shared && warp.transactions > trace::kDistant) [[unlikely]]
    return lsu_.enter_distant(owner, warp.transactions - trace::kDistant, warp.active);
  if (!in.payload) return lsu_.enter_passes(owner, warp.transactions);
  const std::uint32_t base = in.local ? local_base(w) : warp.launch->first_line;
  const unsigned operations =
      lsu_.enter_lines(now, owner, warp.cursor.at + trace::kRecordWords, warp.transactions, base);
  warp.outstanding = static_cast<std::uint16_t>(warp.outstanding + operations);
  if (issue_detail::is_copy(in)) block_stage_.objects().issued(w, operations);
  if (in.route == Route::Load || in.route == Route::Atomic) gate_.load_issued(now, owner.tenant);
}

template <L1Protocol L1>
std::uint32_t SmOf<L1>::local_base(unsigned w) const {
  const std::uint64_t bytes =
      std::uint64_t{board_[w].launch->code->code().local_bytes_per_thread} * kLanes;
  const std::uint64_t window = (bytes + line_bytes_ - 1) / line_bytes_;
  return static_cast<std::uint32_t>(kLocalBase / line_bytes_ + board_[w].local_window * window);
}

// The record's pieces give the time as a power of two of nanoseconds (stream.h).
template <L1Protocol L1>
void SmOf<L1>::fall_asleep(Cycle now, unsigned w, const DecodedInst& in) {
  const Cycle time = (std::uint64_t{1} << board_[w].transactions) * core_clock_mhz_ / 1000;
  board_.warps().sleep_until(now + std::max<Cycle>(in.latency, time), w);
}

// Calls that a launch is made of. The warp prepares its lanes' launches one after another and hands
// them over together.
template <L1Protocol L1>
void SmOf<L1>::call_device_runtime(Cycle now, unsigned w, const DecodedInst& in) {
  const Warp& warp = board_[w];
  const unsigned lanes = warp.active;
  Cycle time = 0;
  if (lanes != 0) {
    if (in.route == Route::LaunchStream) time = device_launch_.stream_time();
    else if (in.route == Route::LaunchBuffer) time = device_launch_.buffer_time(lanes);
    else time = device_launch_.launch_time(lanes);
    if (in.route == Route::Launch)
      device_launches_.push_back({.job = static_cast<std::uint32_t>(warp.launch->sequence),
                                  .block = block_stage_.block_id(w),
                                  .warp = warp.index,
                                  .count = lanes,
                                  .sm = id_,
                                  .at = now + time});
  }
  board_.write_back(now, w, in);
  if (time <= 1) return advance(now, now + 1, w);
  board_.warps().sleep_until(now + time, w);
}

}  // namespace raddle::timing
