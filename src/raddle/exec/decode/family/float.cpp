// Floating-point arithmetic (PTX ISA 9.7.3, 9.7.4): single, double, half, bfloat16 and packed
// pairs.
#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Instruction;
using ptx::Type;
using trace::OpClass;

namespace {

bool is_half(Type t) {
  return t == Type::F16 || t == Type::F16x2 || t == Type::BF16 || t == Type::BF16x2;
}
bool is_brain(Type t) { return t == Type::BF16 || t == Type::BF16x2; }
bool is_pair(Type t) { return t == Type::F16x2 || t == Type::BF16x2; }
bool is_approximate(const ptx::Instruction& inst) { return inst.has("approx") || inst.has("full"); }

/// One operation in each precision; kOps where there is none.
struct FloatOps {
  std::string_view opcode;
  Op f32, f32_ftz, f64, f16, bf16;
};

/// .rz, .rm, .rp: the host's rounding mode for the records in between.
template <class Body>
void with_rounding(DecodeContext& ctx, const Instruction& inst, Body body) {
  const int mode = inst.has("rz") ? 1 : inst.has("rm") ? 2 : inst.has("rp") ? 3 : 0;
  if (mode != 0) ctx.out.emit(O_round, 0, 0, 0, 0, mode);
  body();
  if (mode != 0) ctx.out.emit(O_round);
}

/// .xorsign.abs of two values of 16 bits: they lose their signs; the result is the sign for theirs.
u32 take_signs(DecodeContext& ctx, u32 (&values)[3]) {
  const u32 sign = ctx.frame.temporary();
  ctx.out.alu(O_xor_16, sign, values[0], values[1]);
  ctx.out.alu(O_and_16, sign, sign, ctx.frame.constant(2, 0x8000));
  for (u32 i = 0; i < 2; ++i) {
    const u32 magnitude = ctx.frame.temporary();
    ctx.out.alu(O_abs_f16, magnitude, values[i]);
    values[i] = magnitude;
  }
  return sign;
}

/// `sources` operands through a 16-bit operation, once or for both halves of a pair.
void half_instruction(DecodeContext& ctx, const Instruction& inst, Op op, unsigned sources) {
  ctx.out.op_class(OpClass::Fp16);
  const Type type = ctx.in.type();
  if (inst.has("rz") || inst.has("rm") || inst.has("rp")) refuse("rounding mode");
  const bool pair = is_pair(type), ftz = inst.has("ftz");
  const u32 destination = ctx.in.destination(0, type);
  u32 in[3] = {}, result[2] = {};
  for (unsigned source = 0; source < sources; ++source)
    in[source] = ctx.in.source(source + 1, type);
  for (unsigned half = 0; half < (pair ? 2 : 1); ++half) {
    u32 x[3] = {};
    for (unsigned source = 0; source < sources; ++source) {
      x[source] = in[source];
      if (pair) {
        x[source] = ctx.frame.temporary();
        ctx.out.alu(half == 0 ? O_trunc_32_16 : O_high_32_16, x[source], in[source]);
      }
      if (ftz) {
        const u32 flushed = pair ? x[source] : ctx.frame.temporary();
        ctx.out.alu(O_flush_f16, flushed, x[source]);
        x[source] = flushed;
      }
    }
    const u32 to = result[half] = ctx.frame.temporary();
    const bool xorsign = inst.has("xorsign");
    const u32 sign = xorsign ? take_signs(ctx, x) : 0;
    ctx.out.alu(op, to, x[0], x[1], x[2]);
    if (xorsign) ctx.out.alu(O_xor_16, to, to, sign);
    if (ftz) ctx.out.alu(O_flush_f16, to, to);
    if (inst.has("sat")) ctx.out.alu(is_brain(type) ? O_saturate_bf16 : O_saturate_f16, to, to);
    if (inst.has("relu")) ctx.out.alu(O_relu_16, to, to, 0, 0, is_brain(type) ? 0x7f80 : 0x7c00);
  }
  if (pair) ctx.out.alu(O_pack_32, destination, result[0], result[1]);
  else ctx.out.alu(O_mov_16, destination, result[0]);
}

/// add.f32x2 and its kin: both halves of 64 bits through an operation on singles.
void single_pair(DecodeContext& ctx, const Instruction& inst, Op op, unsigned sources) {
  ctx.out.op_class(OpClass::Fp32);
  if (op == kOps || inst.has("sat")) refuse();
  u32 in[3] = {}, result[2] = {};
  for (unsigned source = 0; source < sources; ++source)
    in[source] = ctx.in.source(source + 1, Type::F32x2);
  const u32 destination = ctx.in.destination(0, Type::F32x2);
  with_rounding(ctx, inst, [&] {
    for (unsigned half = 0; half < 2; ++half) {
      u32 x[3] = {};
      for (unsigned source = 0; source < sources; ++source) {
        x[source] = ctx.frame.temporary();
        ctx.out.alu(half == 0 ? O_trunc_64_32 : O_high_64, x[source], in[source]);
      }
      result[half] = ctx.frame.temporary();
      ctx.out.alu(op, result[half], x[0], x[1], x[2]);
    }
  });
  ctx.out.alu(O_pack_64, destination, result[0], result[1]);
}

/// Of mixed precision (add.f32.f16, fma.rn.f32.bf16) factors and the first term are of the second
/// type; the rest is single precision.
u32 factor(DecodeContext& ctx, const Instruction& inst, std::size_t operand, Type type) {
  if (inst.types.size() < 2) return ctx.in.source(operand, type);
  const Type narrow = ctx.in.type(1);
  const bool has_form = inst.opcode == "add" || inst.opcode == "sub" || inst.opcode == "fma";
  if (!has_form || type != Type::F32 || (narrow != Type::F16 && narrow != Type::BF16)) refuse();
  const u32 widened = ctx.frame.temporary();
  ctx.out.alu(narrow == Type::F16 ? O_f32_from_f16 : O_f32_from_bf16, widened,
              ctx.in.source(operand, narrow));
  return widened;
}

/// A binary operation on singles, and whether it leaves the flushing of subnormals to others.
struct SingleForm {
  Op op;
  bool flushes;
};
SingleForm single_form(const Instruction& inst, const FloatOps& ops) {
  const bool ftz = inst.has("ftz");
  if (ops.opcode == "div" && ftz && inst.has("approx")) return {O_div_approx_ftz_f32, true};
  if (ftz && ops.f32_ftz != kOps) return {ops.f32_ftz, false};
  return {ops.f32, ftz};
}

void float_binary_form(DecodeContext& ctx, const Instruction& inst, const FloatOps& ops) {
  const Type type = ctx.in.type();
  const bool divide = ops.opcode == "div", wide = type == Type::F64;
  if (is_half(type)) {
    if (ops.f16 == kOps) refuse();
    return half_instruction(ctx, inst, is_brain(type) ? ops.bf16 : ops.f16, 2);
  }
  if (type == Type::F32x2)
    return single_pair(ctx, inst, divide ? kOps : inst.has("ftz") ? ops.f32_ftz : ops.f32, 2);
  if (type != Type::F32 && !wide) refuse();
  ctx.out.op_class(wide ? (divide ? OpClass::Fp64Div : OpClass::Fp64)
                        : (divide ? OpClass::Fp32Div : OpClass::Fp32));
  u32 left = factor(ctx, inst, 1, type), right = ctx.in.source(2, type);
  const u32 destination = ctx.in.destination(0, type);
  if (wide)
    return with_rounding(ctx, inst, [&] { ctx.out.alu(ops.f64, destination, left, right); });
  const SingleForm form = single_form(inst, ops);
  if (form.flushes)
    for (u32* operand : {&left, &right}) {
      const u32 flushed = ctx.frame.temporary();
      ctx.out.alu(O_flush_f32, flushed, *operand);
      *operand = flushed;
    }
  const bool sat = inst.has("sat"), ftz = inst.has("ftz");
  const u32 result = sat || ftz ? ctx.frame.temporary() : destination;
  with_rounding(ctx, inst, [&] { ctx.out.alu(form.op, result, left, right); });
  if (sat) ctx.out.alu(O_saturate_f32, destination, result);
  else if (ftz) ctx.out.alu(O_flush_f32, destination, result);
}

void float_binary(DecodeContext& ctx, const Instruction& inst) {
  static constexpr FloatOps kTable[] = {
      {"add", O_add_f32, O_add_ftz_f32, O_add_f64, O_add_f16, O_add_bf16},
      {"sub", O_sub_f32, O_sub_ftz_f32, O_sub_f64, O_sub_f16, O_sub_bf16},
      {"mul", O_mul_f32, O_mul_ftz_f32, O_mul_f64, O_mul_f16, O_mul_bf16},
      {"div", O_div_f32, kOps, O_div_f64, kOps, kOps},
  };
  for (const FloatOps& ops : kTable)
    if (ops.opcode == inst.opcode) return float_binary_form(ctx, inst, ops);
  refuse();
}

void fma(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  if (is_half(t)) {
    if (inst.has("oob")) refuse();
    return half_instruction(ctx, inst, is_brain(t) ? O_fma_bf16 : O_fma_f16, 3);
  }
  if (t == Type::F32x2)
    return single_pair(ctx, inst, inst.has("ftz") ? O_fma_ftz_f32 : O_fma_f32, 3);
  if (t != Type::F32 && t != Type::F64) refuse();
  const bool wide = t == Type::F64;
  ctx.out.op_class(wide ? OpClass::Fp64 : OpClass::Fp32);
  const u32 a = factor(ctx, inst, 1, t), b = factor(ctx, inst, 2, t), c = ctx.in.source(3, t);
  const u32 d = ctx.in.destination(0, t);
  const bool sat = inst.has("sat");
  const u32 r = sat ? ctx.frame.temporary() : d;
  with_rounding(ctx, inst, [&] {
    ctx.out.alu(wide ? O_fma_f64 : inst.has("ftz") ? O_fma_ftz_f32 : O_fma_f32, r, a, b, c);
  });
  if (sat) ctx.out.alu(wide ? O_saturate_f64 : O_saturate_f32, d, r);
}

void float_unary(DecodeContext& ctx, const Instruction& inst) {
  static constexpr FloatOps kTable[] = {
      {"neg", O_neg_f32, kOps, O_neg_f64, O_neg_f16, O_neg_f16},
      {"abs", O_abs_f32, kOps, O_abs_f64, O_abs_f16, O_abs_f16},
      {"rcp", O_rcp_f32, kOps, O_rcp_f64, kOps, kOps},
      {"sqrt", O_sqrt_f32, kOps, O_sqrt_f64, kOps, kOps},
      {"rsqrt", O_rsqrt_f32, kOps, O_rsqrt_f64, kOps, kOps},
      {"ex2", O_ex2_f32, kOps, kOps, O_ex2_f16, O_ex2_bf16},
      {"lg2", O_lg2_f32, kOps, kOps, kOps, kOps},
      {"sin", O_sin_f32, kOps, kOps, kOps, kOps},
      {"cos", O_cos_f32, kOps, kOps, kOps, kOps},
      {"tanh", O_tanh_f32, kOps, kOps, O_tanh_f16, O_tanh_bf16},
  };
  const Type type = ctx.in.type();
  const FloatOps* ops = nullptr;
  for (const FloatOps& form : kTable)
    if (form.opcode == inst.opcode) ops = &form;
  if (ops == nullptr) refuse();
  const bool sign_only = inst.opcode == "neg" || inst.opcode == "abs";
  if (is_half(type)) {
    if (ops->f16 == kOps) refuse();
    half_instruction(ctx, inst, is_brain(type) ? ops->bf16 : ops->f16, 1);
    if (!sign_only) ctx.out.op_class(OpClass::Sfu);
    return;
  }
  const bool wide = type == Type::F64;
  const Op op = wide ? ops->f64 : type == Type::F32 ? ops->f32 : kOps;
  if (op == kOps) refuse();
  ctx.out.op_class(sign_only              ? (wide ? OpClass::Fp64 : OpClass::Fp32)
                   : wide                 ? OpClass::Fp64Div
                   : is_approximate(inst) ? OpClass::Sfu
                                          : OpClass::Fp32Div);
  const u32 destination = ctx.in.destination(0, type);
  u32 value = ctx.in.source(1, type);
  const bool ftz = inst.has("ftz");
  const auto through = [&](Op prepare) {
    const u32 x = ctx.frame.temporary();
    ctx.out.alu(prepare, x, value);
    value = x;
  };
  // rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 take and give upper halves only (9.7.3.14).
  if (ftz && wide) through(O_high_part_f64);
  if (ftz) through(wide ? O_flush_f64 : O_flush_f32);
  const u32 result = ftz ? ctx.frame.temporary() : destination;
  with_rounding(ctx, inst, [&] { ctx.out.alu(op, result, value); });
  if (ftz) ctx.out.alu(wide ? O_high_part_f64 : O_flush_f32, destination, result);
}

void half_min_max(DecodeContext& ctx, const Instruction& inst) {
  const bool min = inst.opcode == "min", nan = inst.has("NaN"), brain = is_brain(ctx.in.type());
  if (inst.operands.size() != 3) refuse("three inputs");
  const Op op =
      brain ? (min ? (nan ? O_min_nan_bf16 : O_min_bf16) : (nan ? O_max_nan_bf16 : O_max_bf16))
            : (min ? (nan ? O_min_nan_f16 : O_min_f16) : (nan ? O_max_nan_f16 : O_max_f16));
  half_instruction(ctx, inst, op, 2);
}

/// An operand of min or max as .ftz and .abs want it.
u32 compared(DecodeContext& ctx, const Instruction& inst, std::size_t operand) {
  u32 value = ctx.in.source(operand, Type::F32);
  const auto through = [&](Op op) {
    const u32 changed = ctx.frame.temporary();
    ctx.out.alu(op, changed, value);
    value = changed;
  };
  if (inst.has("ftz")) through(O_flush_f32);
  if (inst.has("abs")) through(O_abs_f32);
  return value;
}

void float_min_max(DecodeContext& ctx, const Instruction& inst) {
  const Type type = ctx.in.type();
  if (is_half(type)) return half_min_max(ctx, inst);
  const bool three = inst.operands.size() == 4, xorsign = inst.has("xorsign");
  const bool min = inst.opcode == "min", nan = inst.has("NaN"), wide = type == Type::F64;
  if (three && (wide || xorsign)) refuse("three inputs");
  if ((type != Type::F32 && !wide) || (wide && (nan || inst.has("ftz")))) refuse();
  ctx.out.op_class(wide ? OpClass::Fp64 : OpClass::Fp32);
  const u32 destination = ctx.in.destination(0, type);
  if (wide)
    return ctx.out.alu(min ? O_min_f64 : O_max_f64, destination, ctx.in.source(1, type),
                       ctx.in.source(2, type));
  const u32 first = compared(ctx, inst, 1), second = compared(ctx, inst, 2);
  const Op op = min ? (nan ? O_min_nan_f32 : O_min_f32) : (nan ? O_max_nan_f32 : O_max_f32);
  if (!three && !xorsign) return ctx.out.alu(op, destination, first, second);
  const u32 result = ctx.frame.temporary();
  ctx.out.alu(op, result, first, second);
  if (three) return ctx.out.alu(op, destination, result, compared(ctx, inst, 3));
  ctx.out.alu(O_xorsign_f32, destination, ctx.in.source(1, type), ctx.in.source(2, type), result);
}

void copysign(DecodeContext& ctx, const Instruction& /*inst*/) {
  const Type t = ctx.in.type();
  ctx.out.op_class(t == Type::F64 ? OpClass::Fp64 : OpClass::Fp32);
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t);
  if (ptx::size_of(t) == 2) refuse();
  ctx.out.alu(t == Type::F64 ? O_copysign_f64 : O_copysign_f32, ctx.in.destination(0, t), a, b);
}

void testp(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  ctx.out.op_class(t == Type::F64 ? OpClass::Fp64 : OpClass::Fp32);
  static constexpr std::string_view kClasses[] = {"finite",     "infinite", "number",
                                                  "notanumber", "normal",   "subnormal"};
  for (u32 k = 0; k < std::size(kClasses); ++k)
    if (inst.has(kClasses[k])) {
      const u32 yes = ctx.frame.temporary();
      ctx.out.alu(t == Type::F64 ? O_class_f64 : O_class_f32, yes, ctx.in.source(1, t), 0, 0, k);
      ctx.out.emit(O_pred_from_32, ctx.in.predicate(0).offset, yes);
      return;
    }
  refuse();
}

}  // namespace

void add_decode_float(Handlers& handlers) {
  handlers.add_float({"add", "sub", "mul", "div", "rem"}, float_binary);
  handlers.add_float({"mad"}, fma);
  handlers.add_float({"neg", "abs", "not", "cnot"}, float_unary);
  handlers.add_float({"min", "max"}, float_min_max);
  handlers.add({"fma"}, fma);
  handlers.add({"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"}, float_unary);
  handlers.add({"testp"}, testp);
  handlers.add({"copysign"}, copysign);
}

}  // namespace raddle::exec
