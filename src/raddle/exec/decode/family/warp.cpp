// Operations across the warp (PTX ISA 9.7.13).
#include <optional>

#include "raddle/base/error.h"
#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Instruction;
using ptx::Type;
using trace::OpClass;
using trace::OpKind;

namespace {

void warp_op(DecodeContext& ctx, WarpOp op, u32 d, u32 a, u32 mask) {
  ctx.out.emit(O_warp, d, a, mask, 0, static_cast<std::int32_t>(op));
}

void vote(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const u32 a = ctx.in.predicate_value(1);
  const u32 mask =
      inst.operands.size() > 2 ? ctx.in.source(2, Type::U32) : ctx.frame.constant(4, ~0u);
  if (inst.has("ballot"))
    return warp_op(ctx, WarpOp::Ballot, ctx.in.destination(0, Type::B32), a, mask);
  const WarpOp op = inst.has("all")   ? WarpOp::VoteAll
                    : inst.has("any") ? WarpOp::VoteAny
                                      : WarpOp::VoteUni;
  warp_op(ctx, op, ctx.in.predicate(0).offset, a, mask);
}

void match(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type t = ctx.in.type();
  const u32 a = ctx.in.source(1, t), mask = ctx.in.source(2, Type::U32);
  const ptx::Operand& d = ctx.in.operand(0);
  warp_op(ctx, inst.has("any") ? WarpOp::MatchAny : WarpOp::MatchAll,
          ctx.in.destination(d, Type::B32), a, mask);
  Record& r = ctx.out.last();
  r.flags = ptx::size_of(t) == 8 ? 3 : 2;
  r.aux = ctx.in.second_predicate(d);
}

/// As shuffles' records have it (member_offset()). A frame too large for that has none: then its
/// shuffles wait for nobody.
std::uint16_t member_place(u32 offset) {
  RADDLE_ASSERT(offset % kMemberUnit == 0);
  const u32 place = offset / kMemberUnit;
  return static_cast<std::uint16_t>(place <= 0xffff ? place : 0);
}

void shfl(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Shuffle);
  const u32 a = ctx.in.source(1, Type::B32), b = ctx.in.source(2, Type::U32),
            c = ctx.in.source(3, Type::U32);
  std::optional<u32> mask;  // shfl.sync
  if (inst.operands.size() > 4) mask = ctx.in.source(4, Type::U32);
  const ptx::Operand& d = ctx.in.operand(0);
  Record& r = ctx.out.emit(O_shfl, ctx.in.destination(d, Type::B32), a, b, c);
  r.imm = inst.has("up") ? 0 : inst.has("down") ? 1 : inst.has("bfly") ? 2 : 3;
  r.aux = ctx.in.second_predicate(d);
  if (mask) r.flags = member_place(*mask);
}

void redux(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type t = ctx.in.type();
  const bool is_float = t == Type::F32;
  if (ptx::is_float(t) && (!is_float || (!inst.has("min") && !inst.has("max")))) refuse();
  const WarpOp op = inst.has("add")   ? WarpOp::ReduxAdd
                    : inst.has("min") ? WarpOp::ReduxMin
                    : inst.has("max") ? WarpOp::ReduxMax
                    : inst.has("and") ? WarpOp::ReduxAnd
                    : inst.has("or")  ? WarpOp::ReduxOr
                                      : WarpOp::ReduxXor;
  const u32 a = ctx.in.source(1, t), mask = ctx.in.source(2, Type::U32);
  warp_op(ctx, op, ctx.in.destination(0, t), a, mask);
  Record& record = ctx.out.last();
  record.flags = ptx::is_signed(t) ? kSigned : 0;
  if (is_float)
    record.aux =
        kReduxFloat | (inst.has("abs") ? kReduxAbs : 0) | (inst.has("NaN") ? kReduxNaN : 0);
}

void activemask(DecodeContext& ctx, const Instruction& /*inst*/) {
  ctx.out.op_class(OpClass::Int);
  warp_op(ctx, WarpOp::Activemask, ctx.in.destination(0, Type::B32), 0, 0);
}

}  // namespace

void add_decode_warp(Handlers& handlers) {
  handlers.add({"vote"}, vote);
  handlers.add({"match"}, match);
  handlers.add({"shfl"}, shfl);
  handlers.add({"redux"}, redux);
  handlers.add({"activemask"}, activemask);
}

}  // namespace raddle::exec
