// Moves and conversions (PTX ISA 9.7.9: mov, cvt, cvta, isspacep).
#include <bit>

#include "raddle/base/error.h"
#include "raddle/exec/decode/decode_context.h"
#include "raddle/exec/slow/lane_function.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Type;
using trace::OpClass;
using Kind = ptx::Operand::Kind;
using ptx::Instruction;

namespace {

u32 direction(const ptx::Instruction& inst) {
  return inst.has("rz") ? 1u : inst.has("rm") ? 2u : inst.has("rp") ? 3u : 0u;
}
/// The integer part at single or double precision; kOps without an integer rounding.
Op integral(const ptx::Instruction& inst, bool wide) {
  if (inst.has("rni")) return wide ? O_rint_f64 : O_rint_f32;
  if (inst.has("rzi")) return wide ? O_trunc_f64 : O_trunc_f32;
  if (inst.has("rmi")) return wide ? O_floor_f64 : O_floor_f32;
  if (inst.has("rpi")) return wide ? O_ceil_f64 : O_ceil_f32;
  return kOps;
}
/// The nearest even has a form of its own.
Op half_from_single(bool brain, u32 mode) {
  if (mode == 0) return brain ? O_bf16_nearest_f32 : O_f16_nearest_f32;
  return brain ? O_bf16_from_f32 : O_f16_from_f32;
}
u32 infinity_of(Type half) { return half == Type::BF16 || half == Type::BF16x2 ? 0x7f80 : 0x7c00; }
bool is_narrow_pair(Type type) {
  return type == Type::E4M3x2 || type == Type::E5M2x2 || type == Type::E2M1x2 ||
         type == Type::E2M3x2 || type == Type::E3M2x2;
}
bool is_rare(Type type) {
  return type == Type::TF32 || type == Type::UE8M0x2 || is_narrow_pair(type);
}
u32 narrow_format(Type pair) {
  RADDLE_ASSERT(is_narrow_pair(pair));
  return pair == Type::E4M3x2   ? kE4M3
         : pair == Type::E5M2x2 ? kE5M2
         : pair == Type::E2M1x2 ? kE2M1
         : pair == Type::E2M3x2 ? kE2M3
                                : kE3M2;
}
bool is_plain_float(Type t) {
  return t == Type::F16 || t == Type::BF16 || t == Type::F32 || t == Type::F64;
}

/// The halves of a 128-bit value, or its quarters.
void unpack_wide(DecodeContext& ctx, const Instruction& inst) {
  const auto& to = inst.operands[0].elements;
  const u32 from = ctx.in.wide_register(ctx.in.operand(1));
  const bool halves = to.size() == 2;
  if (!halves && to.size() != 4) refuse("number of registers");
  for (u32 i = 0; i < to.size(); ++i) {
    const u32 half = from + FrameLayout::kUpperHalf * (halves ? i : i / 2);
    const u32 d = ctx.in.destination(to[i], halves ? Type::B64 : Type::B32);
    ctx.out.alu(halves ? O_mov_64 : i % 2 == 0 ? O_trunc_64_32 : O_high_64, d, half);
  }
}

void pack_wide(DecodeContext& ctx, const Instruction& inst) {
  const auto& from = inst.operands[1].elements;
  const u32 d = ctx.in.wide_register(ctx.in.operand(0));
  const bool halves = from.size() == 2;
  if (!halves && from.size() != 4) refuse("number of registers");
  std::vector<u32> parts;
  for (const ptx::Operand& part : from)
    parts.push_back(ctx.in.source(part, halves ? Type::B64 : Type::B32));
  for (u32 half = 0; half < 2; ++half) {
    const u32 to = d + FrameLayout::kUpperHalf * half;
    if (halves) ctx.out.alu(O_mov_64, to, parts[half]);
    else ctx.out.alu(O_pack_64, to, parts[2 * half], parts[2 * half + 1]);
  }
}

void unpack(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  const unsigned n = ptx::size_of(t);
  const auto& to = inst.operands[0].elements;
  if (t == Type::B128) return unpack_wide(ctx, inst);
  const u32 from = ctx.in.source(1, t);
  if (to.empty() || n > 8) refuse();
  const unsigned each = n / static_cast<unsigned>(to.size());
  for (u32 i = 0; i < to.size(); ++i) {
    const Type element = each == 4 ? Type::B32 : each == 2 ? Type::B16 : Type::B8;
    const u32 d = ctx.in.destination(to[i], element), shift = 8 * each * i;
    if (each == 4) ctx.out.alu(i == 0 ? O_trunc_64_32 : O_high_64, d, from);
    else if (each == 2 && n == 8) ctx.out.alu(O_field_64_16, d, from, 0, 0, shift);
    else if (each == 2) ctx.out.alu(i == 0 ? O_trunc_32_16 : O_high_32_16, d, from);
    else if (n == 4) ctx.out.alu(O_field_32_8, d, from, 0, 0, shift);
    else ctx.out.alu(O_field_32_8, d, ctx.in.resize(from, 2, 4, false), 0, 0, shift);
  }
}

void pack(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  const unsigned n = ptx::size_of(t);
  const auto& from = inst.operands[1].elements;
  if (t == Type::B128) return pack_wide(ctx, inst);
  const u32 d = ctx.in.destination(0, t);
  if (from.empty() || n > 8) refuse();
  const unsigned each = n / static_cast<unsigned>(from.size());
  const Type element = each == 4 ? Type::B32 : each == 2 ? Type::B16 : Type::B8;
  std::vector<u32> parts;
  for (const ptx::Operand& o : from) parts.push_back(ctx.in.source(o, element));
  if (each == 4) return ctx.out.alu(O_pack_64, d, parts[0], parts[1]);
  if (each == 2 && n == 4) return ctx.out.alu(O_pack_32, d, parts[0], parts[1]);
  if (each == 2) {
    const u32 low = ctx.frame.temporary(), high = ctx.frame.temporary();
    ctx.out.alu(O_pack_32, low, parts[0], parts[1]);
    ctx.out.alu(O_pack_32, high, parts[2], parts[3]);
    return ctx.out.alu(O_pack_64, d, low, high);
  }
  if (n == 8) refuse();
  const u32 r = ctx.frame.temporary();
  ctx.out.alu(O_mov_32, r, ctx.frame.constant(4, 0));
  for (u32 i = 0; i < parts.size(); ++i) ctx.out.alu(O_insert_32_8, r, r, parts[i], 0, 8 * i);
  if (n == 2) ctx.out.alu(O_trunc_32_16, d, r);
  else ctx.out.alu(O_mov_32, d, r);
}

void mov_wide(DecodeContext& ctx) {
  const u32 to = ctx.in.wide_register(ctx.in.operand(0));
  const u32 from = ctx.in.wide_register(ctx.in.operand(1));
  for (const u32 half : {0u, FrameLayout::kUpperHalf})
    ctx.out.alu(O_mov_64, to + half, from + half);
}

void mov(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Move);
  const Type t = ctx.in.type();
  if (t == Type::Pred) {
    const u32 a = ctx.in.predicate_value(1);
    ctx.out.emit(O_pred_logic, ctx.in.predicate(0).offset, a, a, 0, 8);
    return;
  }
  if (ctx.in.operand(0).kind == Kind::Vector) return unpack(ctx, inst);
  if (ctx.in.operand(1).kind == Kind::Vector) return pack(ctx, inst);
  if (t == Type::B128) return mov_wide(ctx);
  const unsigned n = ptx::size_of(t);
  ctx.out.alu(n == 8   ? O_mov_64
              : n == 4 ? O_mov_32
                       : O_mov_16,
              ctx.in.destination(0, t), ctx.in.source(1, t));
}

// --- cvt -----------------------------------------------------------------------------------------
/// The integer operand extended from its type to 4 or 8 bytes; its register may be wider than the
/// type.
u32 extended(DecodeContext& ctx, const ptx::Operand& operand, Type from, unsigned* width) {
  const unsigned size = ptx::size_of(from);
  const bool sign = ptx::is_signed(from);
  if (operand.kind != Kind::Register) {
    *width = size == 8 ? 8 : 4;
    u64 value = operand.kind == Kind::Integer ? operand.bits : 0;
    if (operand.kind != Kind::Integer)
      return ctx.in.source(operand, size == 8 ? Type::U64 : Type::U32);
    if (size < 8) {
      const unsigned gap = 64 - 8 * size;
      value = sign ? static_cast<u64>(static_cast<std::int64_t>(value << gap) >> gap)
                   : value << gap >> gap;
    }
    return ctx.frame.constant(*width, value);
  }
  const unsigned reg = ctx.frame.register_width(operand.reg);
  if (reg > 8) refuse("128-bit values");
  u32 at = ctx.frame.register_at(operand.reg);
  if (size < reg) {
    const u32 cut = ctx.frame.temporary();
    const Op op = reg == 8   ? (sign ? O_sext_low_64 : O_low_64)
                  : reg == 4 ? (sign ? O_sext_low_32 : O_low_32)
                             : (sign ? O_sext_low_16 : O_low_16);
    ctx.out.alu(op, cut, at, 0, 0, 8 * (reg - size));
    at = cut;
  } else if (size > reg) {
    refuse("source register smaller than its type");
  }
  *width = reg == 8 ? 8 : 4;
  return ctx.in.resize(at, reg, *width, sign);
}

/// d = value cut to type `to`, extended to d's register.
void narrow(DecodeContext& ctx, u32 d, unsigned d_width, u32 value, unsigned width, Type to) {
  const unsigned size = ptx::size_of(to);
  const bool sign = ptx::is_signed(to);
  if (d_width > 8) refuse("128-bit values");
  if (size < d_width && size < width) {
    const u32 t = ctx.frame.temporary();
    const Op op =
        width == 8 ? (sign ? O_sext_low_64 : O_low_64) : (sign ? O_sext_low_32 : O_low_32);
    ctx.out.alu(op, t, value, 0, 0, 8 * (width - size));
    value = t;
  }
  if (width == d_width) return ctx.out.alu(d_width == 8 ? O_mov_64 : O_mov_32, d, value);
  if (d_width == 2) return ctx.out.alu(width == 8 ? O_trunc_64_16 : O_trunc_32_16, d, value);
  if (d_width == 4) return ctx.out.alu(O_trunc_64_32, d, value);
  ctx.out.alu(sign ? O_sext_32_64 : O_zext_32_64, d, value);
}

void cvt_integer(DecodeContext& ctx, const Instruction& inst, Type to, Type from) {
  unsigned width = 0;
  u32 value = extended(ctx, ctx.in.operand(1), from, &width);
  const bool from_sign = ptx::is_signed(from), to_sign = ptx::is_signed(to);
  const unsigned size = ptx::size_of(to);
  if (inst.has("sat")) {
    value = ctx.in.resize(value, width, 8, from_sign);
    width = 8;
    const u64 maximum = ~u64{0} >> (64 - 8 * size) >> (to_sign ? 1 : 0);
    const u64 minimum = to_sign ? ~maximum : 0;
    const u32 low = ctx.frame.temporary(), high = ctx.frame.temporary();
    if (from_sign) {
      ctx.out.alu(O_max_s64, low, value, ctx.frame.constant(8, minimum));
      value = low;
    }
    if (!(from_sign && size == 8)) {
      ctx.out.alu(from_sign ? O_min_s64 : O_min_u64, high, value, ctx.frame.constant(8, maximum));
      value = high;
    }
  }
  const ptx::Operand& d = ctx.in.operand(0);
  if (d.kind != Kind::Register) refuse("destination");
  const unsigned d_width = ctx.frame.register_width(d.reg);
  if (size > width && size == d_width)  // widening goes by the source's sign
    return ctx.out.alu(from_sign ? O_sext_32_64 : O_zext_32_64, ctx.frame.register_at(d.reg),
                       value);
  if (size > d_width) refuse("destination register smaller than its type");
  narrow(ctx, ctx.frame.register_at(d.reg), d_width, value, width, to);
}

void cvt_to_float(DecodeContext& ctx, const Instruction& inst, Type to, Type from) {
  unsigned width = 0;
  u32 value = extended(ctx, ctx.in.operand(1), from, &width);
  const bool sign = ptx::is_signed(from);
  const u32 d = ctx.in.destination(0, to);
  if (to == Type::F16 || to == Type::BF16) {
    value = ctx.in.resize(value, width, 8, sign);
    const Op op = to == Type::F16 ? (sign ? O_f16_from_s64 : O_f16_from_u64)
                                  : (sign ? O_bf16_from_s64 : O_bf16_from_u64);
    const bool sat = inst.has("sat");
    const u32 r = sat ? ctx.frame.temporary() : d;
    ctx.out.alu(op, r, value, 0, 0, direction(inst));
    if (sat) ctx.out.alu(to == Type::F16 ? O_saturate_f16 : O_saturate_bf16, d, r);
    return;
  }
  const bool wide = to == Type::F64;
  const Op op = width == 8 ? (wide ? (sign ? O_f64_from_s64 : O_f64_from_u64)
                                   : (sign ? O_f32_from_s64 : O_f32_from_u64))
                           : (wide ? (sign ? O_f64_from_s32 : O_f64_from_u32)
                                   : (sign ? O_f32_from_s32 : O_f32_from_u32));
  const bool sat = inst.has("sat");
  const u32 r = sat ? ctx.frame.temporary() : d;
  const u32 mode = direction(inst);
  if (mode != 0) ctx.out.emit(O_round, 0, 0, 0, 0, static_cast<int>(mode));
  ctx.out.alu(op, r, value);
  if (mode != 0) ctx.out.emit(O_round);
  if (sat) ctx.out.alu(wide ? O_saturate_f64 : O_saturate_f32, d, r);
}

void cvt_to_integer(DecodeContext& ctx, const Instruction& inst, Type to, Type from) {
  u32 value = ctx.in.source(1, from);
  const bool wide = from == Type::F64;
  const auto through = [&](Op op, u32 k = 0) {
    const u32 cut = ctx.frame.temporary();
    ctx.out.alu(op, cut, value, 0, 0, k);
    value = cut;
  };
  if (from == Type::F16) through(O_f32_from_f16);
  if (from == Type::BF16) through(O_f32_from_bf16);
  if (inst.has("ftz") && from == Type::F32) through(O_flush_f32);
  const Op part = integral(inst, wide);
  if (part == kOps) refuse("integer rounding missing");
  if (!inst.has("rzi")) through(part);  // the conversion itself truncates
  const bool sign = ptx::is_signed(to);
  const unsigned size = ptx::size_of(to);
  if (size == 8)
    through(wide ? (sign ? O_s64_from_f64 : O_u64_from_f64)
                 : (sign ? O_s64_from_f32 : O_u64_from_f32));
  else
    through(
        wide ? (sign ? O_s32_from_f64 : O_u32_from_f64) : (sign ? O_s32_from_f32 : O_u32_from_f32),
        wide && !sign ? u32{1} << (8 * size - 1) : 0);  // what NaN gives
  if (size < 4) {
    const u64 maximum = (u64{1} << (8 * size - (sign ? 1 : 0))) - 1;
    const u32 low = ctx.frame.temporary(), high = ctx.frame.temporary();
    ctx.out.alu(sign ? O_min_s32 : O_min_u32, low, value, ctx.frame.constant(4, maximum));
    value = low;
    if (sign) {
      ctx.out.alu(O_max_s32, high, value, ctx.frame.constant(4, ~maximum));
      value = high;
    }
  }
  const ptx::Operand& written = ctx.in.operand(0);
  if (written.kind != Kind::Register) refuse("destination");
  narrow(ctx, ctx.frame.register_at(written.reg), ctx.frame.register_width(written.reg), value,
         size == 8 ? 8 : 4, to);
}

void cvt_float(DecodeContext& ctx, const Instruction& inst, Type to, Type from) {
  u32 value = ctx.in.source(1, from);
  const auto through = [&](Op op, u32 k = 0) {
    const u32 cut = ctx.frame.temporary();
    ctx.out.alu(op, cut, value, 0, 0, k);
    value = cut;
  };
  const bool ftz = inst.has("ftz"), sat = inst.has("sat");
  if (ftz && from == Type::F32) through(O_flush_f32);
  Type now = from;
  const auto widen = [&](Op op) {
    through(op);
    now = Type::F32;
  };
  if (now == Type::F16 && to != Type::F16) widen(O_f32_from_f16);
  if (now == Type::BF16) widen(O_f32_from_bf16);
  const u32 destination = ctx.in.destination(0, to);
  const Op part = integral(inst, now == Type::F64);
  if (part != kOps) {
    if (now == Type::F16) widen(O_f32_from_f16);
    through(part);
  }
  const u32 mode = direction(inst);
  if (to == Type::F64 && now == Type::F32) through(O_f64_from_f32);
  if (to == Type::F32 && now == Type::F64) {
    if (mode != 0) ctx.out.emit(O_round, 0, 0, 0, 0, static_cast<int>(mode));
    through(O_f32_from_f64);
    if (mode != 0) ctx.out.emit(O_round);
  }
  if (to == Type::F16 && now != Type::F16)
    through(now == Type::F64 ? O_f16_from_f64 : half_from_single(false, mode), mode);
  if (to == Type::BF16)
    through(now == Type::F64 ? O_bf16_from_f64 : half_from_single(true, mode), mode);
  if (sat)
    through(to == Type::F64    ? O_saturate_f64
            : to == Type::F32  ? O_saturate_f32
            : to == Type::BF16 ? O_saturate_bf16
                               : O_saturate_f16);
  if (inst.has("satfinite")) through(O_finite_16, infinity_of(to));
  if (inst.has("relu")) through(O_relu_16, infinity_of(to));
  if (ftz && to == Type::F32) through(O_flush_f32);
  const unsigned n = ptx::size_of(to);
  ctx.out.alu(n == 8 ? O_mov_64 : n == 4 ? O_mov_32 : O_mov_16, destination, value);
}

/// cvt.rn.f16x2.f32 d, a, b: a goes to the upper half.
void cvt_pack_half(DecodeContext& ctx, const Instruction& inst, Type to) {
  const bool brain = to == Type::BF16x2;
  const u32 high = ctx.in.source(1, Type::F32), low = ctx.in.source(2, Type::F32);
  u32 half[2] = {ctx.frame.temporary(), ctx.frame.temporary()};
  for (u32 i = 0; i < 2; ++i) {
    ctx.out.alu(half_from_single(brain, direction(inst)), half[i], i == 0 ? low : high, 0, 0,
                direction(inst));
    const u32 infinity = infinity_of(to);
    if (inst.has("satfinite")) ctx.out.alu(O_finite_16, half[i], half[i], 0, 0, infinity);
    if (inst.has("relu")) ctx.out.alu(O_relu_16, half[i], half[i], 0, 0, infinity);
  }
  ctx.out.alu(O_pack_32, ctx.in.destination(0, to), half[0], half[1]);
}

/// cvt.pack.sat.u8.s32.b32 d, a, b, c
void cvt_pack_integers(DecodeContext& ctx, const Instruction& inst, Type to, Type from) {
  const unsigned size = ptx::size_of(to);
  if (!inst.has("sat") || size > 2 || ptx::size_of(from) != 4) refuse();
  if (ptx::is_float(to) || ptx::is_float(from)) refuse();
  auto made = std::make_unique<LaneFunction>();
  made->function = pack_integers;
  made->mode = (size == 1 ? kBytes : 0) | (ptx::is_signed(from) ? kFromSigned : 0) |
               (ptx::is_signed(to) ? kToSigned : 0);
  made->a = ctx.in.source(1, from);
  made->b = ctx.in.source(2, from);
  made->c = inst.operands.size() > 3 ? ctx.in.source(3, Type::B32) : ctx.frame.constant(4, 0);
  made->d = ctx.in.destination(0, Type::B32);
  ctx.out.emit_slow(std::move(made));
}

/// Pairs of numbers of 8, 6 and 4 bits, from singles or from a pair of halves, and back.
void cvt_narrow(const Instruction& inst, LaneFunction& made, Type to, Type from) {
  const bool single = from == Type::F32;
  if (to == Type::UE8M0x2) {
    if (!inst.has("rz") && !inst.has("rp")) refuse();
    if (!single && from != Type::BF16x2) refuse();
    made.function = single ? scale_pair_from_f32 : scale_pair_from_bf16;
    made.mode |= inst.has("rp") ? kUpwards : 0;
    made.d_width = 2;
  } else if (from == Type::UE8M0x2) {
    if (to != Type::BF16x2) refuse();
    made.function = bf16_pair_from_scale;
    made.width = 2;
  } else if (is_narrow_pair(to)) {
    if (!inst.has("satfinite") || (!single && from != Type::F16x2)) refuse();
    made.function = single ? narrow_pair_from_f32 : narrow_pair_from_f16;
    made.mode |= narrow_format(to);
    made.d_width = 2;
  } else {
    if (to != Type::F16x2) refuse();
    made.function = f16_pair_from_narrow;
    made.mode |= narrow_format(from);
    made.width = 2;
  }
}

/// tf32 and numbers of 8 bits and fewer.
void cvt_rare(DecodeContext& ctx, const Instruction& inst, Type to, Type from) {
  if (inst.has("rs") || inst.has("scaled")) refuse();
  auto made = std::make_unique<LaneFunction>();
  made->mode = (inst.has("rna") ? kTiesAway : 0) | (inst.has("rz") ? kTowardsZero : 0) |
               (inst.has("relu") ? kRelu : 0) | (inst.has("satfinite") ? kFinite : 0);
  if (to == Type::TF32) {
    if (from != Type::F32) refuse();
    made->function = tf32_from_f32;
  } else {
    cvt_narrow(inst, *made, to, from);
  }
  made->a = ctx.in.source(1, from);
  made->b = made->a;
  made->c = made->a;
  if (inst.operands.size() > 2) made->b = ctx.in.source(2, from);
  made->d = ctx.in.destination(0, to);
  ctx.out.emit_slow(std::move(made));
}

void cvt(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Convert);
  const Type to = ctx.in.type(0), from = ctx.in.type(1);
  if (inst.has("pack")) return cvt_pack_integers(ctx, inst, to, from);
  if (is_rare(to) || is_rare(from)) return cvt_rare(ctx, inst, to, from);
  if (inst.has("rna") || inst.has("rs") || inst.has("scaled")) refuse();
  if ((to == Type::F16x2 || to == Type::BF16x2) && from == Type::F32)
    return cvt_pack_half(ctx, inst, to);
  const bool to_float = ptx::is_float(to), from_float = ptx::is_float(from);
  if ((to_float && !is_plain_float(to)) || (from_float && !is_plain_float(from))) refuse();
  if (to_float && from_float) return cvt_float(ctx, inst, to, from);
  if (to_float) return cvt_to_float(ctx, inst, to, from);
  if (from_float) return cvt_to_integer(ctx, inst, to, from);
  cvt_integer(ctx, inst, to, from);
}

// --- address spaces ------------------------------------------------------------------------------
void cvta(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type t = ctx.in.type();
  if (ptx::size_of(t) != 8) refuse();
  u64 window = 0;
  if (inst.has("shared") || inst.has("shared::cta") || inst.has("shared::cluster"))
    window = kSharedWindow;
  else if (inst.has("local")) window = kLocalWindow;
  else if (inst.has("param") || inst.has("param::entry")) window = kParamWindow;
  else if (!inst.has("global") && !inst.has("const")) refuse();
  if (window == kParamWindow) ctx.result.addresses_parameters = true;
  const u32 a = ctx.in.source(1, t), d = ctx.in.destination(0, t);
  if (window == 0) return ctx.out.alu(O_mov_64, d, a);
  ctx.out.alu(inst.has("to") ? O_sub_64 : O_add_64, d, a, ctx.frame.constant(8, window));
}

/// Constants lie in device memory among all else: the address must be that of one of the module's.
void is_constant(DecodeContext& ctx, u32 address, u32 p) {
  ctx.out.emit(O_pred_logic, p, FrameLayout::kAlwaysFalse, FrameLayout::kAlwaysFalse, 0, 8);
  const u32 offset = ctx.frame.temporary(), in_this = ctx.frame.temporary_predicate();
  for (std::size_t i = 0; i < ctx.module.variables.size(); ++i) {
    const ptx::Variable& v = ctx.module.variables[i];
    if (v.space != ptx::Space::Const || v.size == 0) continue;
    ctx.out.alu(O_sub_64, offset, address, ctx.frame.constant(8, ctx.scope.layout->variables[i]));
    ctx.out.emit(O_lt_u64, in_this, offset, ctx.frame.constant(8, v.size));
    constexpr u32 kEither = 0b1110;
    ctx.out.emit(O_pred_logic, p, p, in_this, 0, kEither);
  }
}

void isspacep(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const u32 a = ctx.in.source(1, Type::U64), p = ctx.in.predicate(0).offset;
  if (inst.has("global")) {
    is_constant(ctx, a, p);
    const u32 device = ctx.frame.temporary_predicate();
    ctx.out.emit(O_le_u64, device, ctx.frame.constant(8, DeviceMemory::kBase), a);
    constexpr u32 kSecondOnly = 0b0010;
    ctx.out.emit(O_pred_logic, p, p, device, 0, kSecondOnly);
    return;
  }
  if (inst.has("const")) return is_constant(ctx, a, p);
  u64 window = 0, bytes = kWindowBytes;
  if (inst.has("shared") || inst.has("shared::cta")) {
    window = kSharedWindow;
    bytes = u64{1} << kRankShift;  // not that of the cluster's other blocks
  } else if (inst.has("shared::cluster")) {
    window = kSharedWindow;
  } else if (inst.has("local")) {
    window = kLocalWindow;
  } else if (inst.has("param") || inst.has("param::entry")) {
    window = kParamWindow;
  } else {
    refuse();
  }
  const u32 t = ctx.frame.temporary();
  ctx.out.alu(O_sub_64, t, a, ctx.frame.constant(8, window));
  ctx.out.emit(O_lt_u64, p, t, ctx.frame.constant(8, bytes));
}

}  // namespace

void add_decode_convert(Handlers& handlers) {
  handlers.add({"mov"}, mov);
  handlers.add({"cvt"}, cvt);
  handlers.add({"cvta"}, cvta);
  handlers.add({"isspacep"}, isspacep);
}

}  // namespace raddle::exec
