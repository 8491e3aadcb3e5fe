// Hints to the hardware, which change no result (PTX ISA 9.7.9.15 to 18, 9.7.19).
#include <bit>

#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Instruction;
using ptx::Type;
using trace::OpClass;
using trace::OpKind;

namespace {

/// Nothing that the machine models; grids of a stream do not overlap.
void without_effect(DecodeContext& ctx, const Instruction& /*inst*/) {
  ctx.out.op_class(OpClass::Move);
}

void set_registers(DecodeContext& ctx, const Instruction& inst) {
  const std::uint64_t count = ctx.in.operand(0).bits;
  if (count < 24 || count > 256 || count % 8 != 0)
    refuse("expected a multiple of 8 registers from 24 to 256, found " +
           std::to_string(static_cast<std::int64_t>(count)));
  without_effect(ctx, inst);
}

/// The part of accesses that a policy is for, where it is a constant.
void check_fraction(const ptx::Operand& operand) {
  using Kind = ptx::Operand::Kind;
  if (operand.kind != Kind::Float32 && operand.kind != Kind::Float64) return;
  const double fraction = operand.kind == Kind::Float64
                              ? std::bit_cast<double>(operand.bits)
                              : std::bit_cast<float>(static_cast<u32>(operand.bits));
  if (!(fraction > 0 && fraction <= 1)) refuse("expected a fraction above 0, of 1 at most");
}

/// Cache policies are values that nothing reads.
void create_policy(DecodeContext& ctx, const Instruction& inst) {
  if (inst.has("fractional") && inst.operands.size() == 2) check_fraction(ctx.in.operand(1));
  ctx.out.op_class(OpClass::Move);
  ctx.out.alu(O_mov_64, ctx.in.destination(0, Type::B64), ctx.frame.constant(8, 0));
}

}  // namespace

void add_decode_hint(Handlers& handlers) {
  handlers.add({"prefetch", "prefetchu", "discard", "applypriority", "pmevent", "griddepcontrol"},
               without_effect);
  handlers.add({"setmaxnreg"}, set_registers);
  handlers.add({"createpolicy"}, create_policy);
}

}  // namespace raddle::exec
