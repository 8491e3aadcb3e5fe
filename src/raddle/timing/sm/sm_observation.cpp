#include "raddle/timing/sm/sm_observation.h"

namespace raddle::timing {

namespace {
policy::InstKind kind_of(const DecodedInst& in) {
  using Kind = policy::InstKind;
  switch (in.route) {
    case Route::Pipeline:
      return in.op_class == static_cast<unsigned>(trace::OpClass::Control) ? Kind::Control
                                                                           : Kind::Arithmetic;
    case Route::Load:
    case Route::Copy:
      return Kind::Load;
    case Route::Store:
      return Kind::Store;
    case Route::Atomic:
    case Route::Reduce:
      return Kind::Atomic;
    case Route::Shared:
      return Kind::Shared;
    case Route::Const:
      return Kind::Constant;
    case Route::Barrier:
    case Route::Object:
      return Kind::Barrier;
    case Route::Fence:
      return Kind::Fence;
    case Route::Sleep:
      return Kind::Sleep;
    case Route::LaunchStream:
    case Route::LaunchBuffer:
    case Route::Launch:
      break;
  }
  return Kind::Launch;
}

template <stats::Stall Ours, policy::StallReason Theirs>
constexpr bool kSame = static_cast<unsigned>(Ours) == static_cast<unsigned>(Theirs);
static_assert(kSame<stats::Stall::Idle, policy::StallReason::Idle> &&
              kSame<stats::Stall::Memory, policy::StallReason::Memory> &&
              kSame<stats::Stall::Lsu, policy::StallReason::Lsu> &&
              kSame<stats::Stall::Throttled, policy::StallReason::Throttled>);
// What the GPU knows and an SM does not comes last.
static_assert(static_cast<unsigned>(stats::Stall::Launch) ==
              static_cast<unsigned>(policy::StallReason::Throttled) + 1);
static_assert(stats::kStalls == static_cast<unsigned>(stats::Stall::Launch) + 1);
}  // namespace

policy::BlockProgress SmObservation::progress(unsigned slot) const {
  if (!keeps_progress_) return {};
  const BlockTable& blocks = parts_.blocks;
  policy::BlockProgress out{ledger_->block_issued(slot), 0};
  for (unsigned other = 0; other < blocks.slots(); ++other)
    if (other != slot && blocks[other].live != 0 && blocks[other].launch == blocks[slot].launch)
      out.others += ledger_->block_issued(other);
  return out;
}

policy::WarpFacts SmObservation::warp(unsigned w) const {
  RADDLE_ASSERT(ledger_ != nullptr && w < SmSpec::kMaxWarps);
  RADDLE_ASSERT(has(parts_.warps.resident, w));
  const Warp& warp = parts_.warps[w];
  const WarpLedger::Progress& progress = ledger_->progress(w);
  const DecodedKernel& code = *warp.launch->code;
  policy::WarpFacts out;
  out.launch = warp.launch->sequence;
  out.block = parts_.abroad.block_id(w, parts_.warps, parts_.blocks);
  out.index = warp.index;
  out.block_slot = warp.block;
  out.blocks_most = warp.launch->max_on_sm;
  out.started = progress.started;
  out.issued = progress.issued;
  out.last_issue = progress.last_issue;
  out.code_size = code.expansions()[code.ptx_size()].first();
  if (warp.next == nullptr) return out;  // its stream was empty
  out.next = static_cast<std::uint32_t>(warp.next - code.instructions());
  out.kind = kind_of(*warp.next);
  return out;
}

}  // namespace raddle::timing
