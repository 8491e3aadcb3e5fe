// What of an SM's instructions runs beside their warps: bulk and tensor copies (tma_unit.h), and
// groups of copies and products (async_groups.h). Definitions for sm.cpp.
#pragma once
#include "raddle/timing/sm/sm_of.h"
#include "raddle/timing/spec/address_regions.h"

namespace raddle::timing {

/// The warp issues an instruction that ends a group.
template <L1Protocol L1>
void SmOf<L1>::end_group(unsigned w, Beside group) {
  AsyncGroups& groups = board_.warps().groups;
  switch (group) {
    case Beside::EndsGroup:
      return groups.end_group(AsyncGroups::Kind::Copies, w);
    case Beside::EndsBulkGroup:
      groups.end_group(AsyncGroups::Kind::BulkReads, w);
      return groups.end_group(AsyncGroups::Kind::Bulk, w);
    case Beside::EndsProducts:
      return groups.end_group(AsyncGroups::Kind::Products, w);
    default:
      return;
  }
}

/// The warp issues a copy: one instruction, whatever its records in the stream. Those that follow
/// it directly and belong to it are taken with it.
template <L1Protocol L1>
void SmOf<L1>::issue_copy(Cycle now, unsigned slot, const DecodedInst& in) {
  Warp& warp = board_[slot];
  if (warp.mask == 0) return advance(now, now + 1, slot);  // all lanes were predicated off
  const DecodedKernel& code = *warp.launch->code;
  const auto inst = static_cast<std::uint32_t>(&in - code.instructions());
  const trace::OpKind kind = code.code().instructions[inst].kind;
  TmaUnit::Copy copy;
  copy.owner = {.warp = static_cast<std::uint8_t>(slot),
                .kernel = warp.launch->slot,
                .tenant = warp.launch->tenant,
                .inst = inst,
                .code = &in};
  copy.kind = kind == trace::OpKind::LoadGlobal    ? MessageKind::Read
              : kind == trace::OpKind::StoreGlobal ? MessageKind::Write
                                                   : MessageKind::Reduce;
  copy.block = warp.block;
  AsyncGroups& groups = board_.warps().groups;
  copy.group = groups.issued(AsyncGroups::Kind::Bulk, slot);
  if (!copy.loads()) groups.issued(AsyncGroups::Kind::BulkReads, slot);
  if (in.beside == Beside::TensorCopy) copy.descriptor = warp.launch->sequence << 32 | inst;
  const unsigned number = tma_.begin(now, std::move(copy));
  const auto take = [&] {
    const std::uint32_t* const words = warp.cursor.at + trace::kRecordWords;
    if (warp.next->route == Route::Object) tma_.add_objects(number, words, warp.transactions);
    else tma_.add_lines(number, words, warp.transactions, warp.launch->first_line);
  };
  take();
  const bool more = board_.advance_past(now, now + 1, slot, take);
  tma_.enter(number);
  if (!more) block_stage_.end_of_stream(now, slot);
}

/// The unit makes a step; true if it did.
template <L1Protocol L1>
bool SmOf<L1>::make_copies(Cycle now) {
  if (!tma_.steps(now) || !lsu_.queue_takes(tma_.stepping_kernel())) return false;
  using What = TmaUnit::Step::What;
  const TmaUnit::Step step = tma_.step(now);
  const TmaUnit::Copy& copy = tma_[step.copy];
  if (step.what == What::Descriptor) {
    const auto line = static_cast<std::uint32_t>(kConstBase / line_bytes_) + copy.owner.inst;
    lsu_.send_copy(copy.owner, {line, kFullMask, lsu_.lines().sectors(kFullMask), 1},
                   MessageKind::Read, copy.tag, counters_);
  } else if (step.what == What::Line) {
    lsu_.send_copy(copy.owner, step.line, copy.kind, copy.tag, counters_);
    if (!copy.loads()) lsu_.occupy(now, tma_.shared_cycles());
  }
  progress_ = now;
  if (copy.all_asked && !copy.loads())
    over_beside(now, AsyncGroups::Kind::BulkReads, copy.owner.warp, copy.group);
  if (copy.is_over()) copy_over(now, step.copy);
  return true;
}

/// A request of the unit has been answered.
template <L1Protocol L1>
void SmOf<L1>::copy_answered(Cycle now, std::uint16_t tag) {
  const unsigned number = tma_.answered(tag);
  const TmaUnit::Copy& copy = tma_[number];
  if (copy.loads() && copy.asked != 0) lsu_.occupy(now, tma_.shared_cycles());
  if (copy.is_over()) copy_over(now, number);
}

template <L1Protocol L1>
void SmOf<L1>::copy_over(Cycle now, unsigned number) {
  const TmaUnit::Copy& copy = tma_[number];
  const unsigned w = copy.owner.warp;
  if (const auto count = copy.objects.size() / trace::kTransactionWords; count != 0)
    block_stage_.copy_came(now, copy.block, w, copy.objects.data(), static_cast<unsigned>(count));
  const std::uint8_t group = copy.group;
  tma_.forget(number);
  over_beside(now, AsyncGroups::Kind::Bulk, w, group);
}

template <L1Protocol L1>
void SmOf<L1>::over_beside(Cycle now, AsyncGroups::Kind kind, unsigned w, std::uint8_t group) {
  WarpTable& warps = board_.warps();
  warps.groups.over(kind, w, group);
  if (has(warps.ended, w)) block_stage_.end_if_drained(now, w);
  else if (has(warps.fence_wait, w)) board_.recheck_hazards(now, w);
}

}  // namespace raddle::timing
