// Hints to the hardware, which change no result (PTX ISA 9.7.9.15 to 18, 9.7.19).
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

/// Cache policies are values that nothing reads.
void create_policy(DecodeContext& ctx, const Instruction& /*inst*/) {
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
