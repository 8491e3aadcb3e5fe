// Instructions whose first word another family owns: cp.async.bulk and cp.reduce.async.bulk,
// st.async and st.bulk, red.async.
#pragma once
#include "raddle/exec/decode/decode_context.h"
#include "raddle/exec/slow/slow_access.h"

namespace raddle::exec {

void decode_bulk_copy(DecodeContext& ctx, const ptx::Instruction& inst);
void decode_remote_store(DecodeContext& ctx, const ptx::Instruction& inst);
void decode_bulk_clear(DecodeContext& ctx, const ptx::Instruction& inst);

/// The operand's address in that space, which the instruction's copy has for it.
SlowAddress address_in(DecodeContext& ctx, std::size_t operand, ptx::Space space);
/// AtomOp and AtomType of a reduction, as in O_atom's aux. Refused where PTX has no such one.
std::uint32_t bulk_reduction(const ptx::Instruction& inst, ptx::Type type);
/// What every bulk copy is to the timing model. `tells`: barrier objects. `copy`: where global
/// memory takes part.
void emit_bulk(DecodeContext& ctx, std::unique_ptr<const SlowInstruction> made, trace::OpKind kind,
               bool tells, trace::CopyKind copy = trace::CopyKind::Bulk);
/// An instruction for groups of copies: trace::kEndsGroup and those behind it.
void copy_groups(DecodeContext& ctx, std::uint8_t what, unsigned left = 0);
/// Of a wait: how many may stay under way.
unsigned groups_left(DecodeContext& ctx);

}  // namespace raddle::exec
