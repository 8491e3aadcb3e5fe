// A family that PTX does not have: triple.u32 d, a.
#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

namespace {

void triple(DecodeContext& ctx, const ptx::Instruction& /*inst*/) {
  const ptx::Type t = ctx.in.type();
  if (t != ptx::Type::U32) refuse("type");
  ctx.out.op_class(trace::OpClass::IntMul);
  ctx.out.alu(O_mul_32, ctx.in.destination(0, t), ctx.in.source(1, t), ctx.frame.constant(4, 3));
}

}  // namespace

void add_decode_tripling(Handlers& handlers) { handlers.add({"triple"}, triple); }

}  // namespace raddle::exec
