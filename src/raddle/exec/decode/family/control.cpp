// Jumps and ends (PTX ISA 9.7.12).
#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Instruction;
using ptx::Type;
using trace::OpClass;
using trace::OpKind;
using Kind = ptx::Operand::Kind;

namespace {

void bra(DecodeContext& ctx, const Instruction& inst) {
  if (ctx.in.operand(0).kind != Kind::Label) refuse("branch target");
  Record& r = ctx.out.emit(inst.guard != ptx::kNoIndex ? O_bra_if : O_bra);
  if (inst.guard != ptx::kNoIndex) {
    r.a = ctx.frame.register_at(inst.guard);
    r.d = inst.guard_negated ? ~0u : 0u;
  }
  ctx.out.current().kind = OpKind::Branch;
  ctx.out.op_class(OpClass::Control);
  ctx.out.jump(ctx.in.operand(0).target, ctx.joins[ctx.out.index()]);
}

void brx(DecodeContext& ctx, const Instruction& inst) {
  const u32 index = ctx.in.source(0, Type::U32);
  Record& r = ctx.out.emit_own(O_brx, OpKind::Branch);
  r.a = index;
  r.imm = static_cast<std::int32_t>(ctx.code().branch_tables.size());
  ctx.code().branch_tables.emplace_back(inst.branch_targets.begin(), inst.branch_targets.end());
  ctx.out.jump(0, ctx.joins[ctx.out.index()]);
}

/// Where "ret" of an entry is "exit".
void end_thread(DecodeContext& ctx, const Instruction& inst) {
  if (inst.opcode == "ret" && !ctx.function.is_entry) ctx.out.emit_own(O_ret, OpKind::Branch);
  else ctx.out.emit_own(O_exit, OpKind::Exit);
}

/// There is no debugger to stop for, so brkpt is a trap as well.
void trap_thread(DecodeContext& ctx, const Instruction& /*inst*/) {
  ctx.out.op_class(OpClass::Control);
  ctx.out.emit(O_trap);
}

}  // namespace

void add_decode_control(Handlers& handlers) {
  handlers.add({"bra"}, bra);
  handlers.add({"brx"}, brx);
  handlers.add({"ret", "exit"}, end_thread);
  handlers.add({"trap", "brkpt"}, trap_thread);
}

}  // namespace raddle::exec
