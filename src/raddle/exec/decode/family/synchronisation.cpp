// Barriers, fences and sleep (PTX ISA 9.7.13).
#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Instruction;
using ptx::Type;
using trace::OpClass;
using trace::OpKind;

namespace {

void barrier_cluster(DecodeContext& ctx, const Instruction& inst) {
  const BarOp op = inst.has("arrive") ? BarOp::ClusterArrive : BarOp::ClusterWait;
  ctx.out.emit_own(O_bar, OpKind::Barrier).imm = static_cast<std::int32_t>(op);
}

/// Waits for no other warp.
void bar_warp(DecodeContext& ctx) {
  const u32 members = ctx.in.source(0, Type::U32);
  Record& r = ctx.out.emit_own(O_simple, OpKind::Barrier);
  ctx.out.op_class(OpClass::Control);
  r.a = members;
  r.b = 1;
  r.aux = static_cast<u32>(trace::BarrierKind::Warp) << 4;
}

/// Of a barrier's number and its count of threads, where these are constants.
void check_constants(const ptx::Operand& id, const ptx::Operand* count) {
  using Kind = ptx::Operand::Kind;
  if (id.kind == Kind::Integer && id.bits > 15)
    refuse("expected a barrier from 0 to 15, found " +
           std::to_string(static_cast<std::int64_t>(id.bits)));
  if (count != nullptr && count->kind == Kind::Integer && count->bits % kLanes != 0)
    refuse("expected a multiple of 32 threads, found " +
           std::to_string(static_cast<std::int64_t>(count->bits)));
}

void bar(DecodeContext& ctx, const Instruction& inst) {
  if (inst.has("cluster")) return barrier_cluster(ctx, inst);
  if (inst.has("warp")) return bar_warp(ctx);
  const bool red = inst.has("red"), arrive = inst.has("arrive");
  const std::size_t at = red ? 1 : 0, n = inst.operands.size();
  const u32 id = ctx.in.source(at, Type::U32);
  const bool counted = n > at + (red ? 2u : 1u);
  check_constants(ctx.in.operand(at), counted ? &ctx.in.operand(at + 1) : nullptr);
  const u32 count = counted ? ctx.in.source(at + 1, Type::U32) : 0;
  const u32 p = red ? ctx.in.predicate_value(n - 1) : 0;
  BarOp op = arrive ? BarOp::Arrive : BarOp::Sync;
  u32 d = 0;
  if (red) {
    op = inst.has("popc") ? BarOp::Popc : inst.has("and") ? BarOp::And : BarOp::Or;
    d = op == BarOp::Popc ? ctx.in.destination(0, Type::U32) : ctx.in.predicate(0).offset;
  }
  Record& r = ctx.out.emit_own(O_bar, OpKind::Barrier);
  r.a = id;
  r.b = count;
  r.c = p;
  r.d = d;
  r.imm = static_cast<std::int32_t>(op);
}

/// Proxies and barrier objects need no more than other accesses: all memory is one here.
void fence(DecodeContext& ctx, const Instruction& inst) {
  const bool all =
      inst.opcode == "membar" || inst.has("sc") || inst.has("acq_rel") || inst.has("acquire");
  ctx.out.current().bytes = inst.has("cta") ? trace::kBlockScope
                            : all           ? trace::kFullFence
                                            : trace::kReleaseOnly;
  ctx.out.emit_own(O_simple, OpKind::Fence).flags = kVisible;
}

void nanosleep(DecodeContext& ctx, const Instruction& /*inst*/) {
  const u32 time = ctx.in.source(0, Type::U32);
  Record& r = ctx.out.emit_own(O_simple, OpKind::Sleep);
  r.a = time;
  r.imm = 1;
}

}  // namespace

void add_decode_synchronisation(Handlers& handlers) {
  handlers.add({"bar", "barrier"}, bar);
  handlers.add({"membar", "fence"}, fence);
  handlers.add({"nanosleep"}, nanosleep);
}

}  // namespace raddle::exec
