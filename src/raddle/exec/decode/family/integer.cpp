// Integer arithmetic, logic, shifts and bit operations (PTX ISA 9.7.1, 9.7.2, 9.7.7).
#include "raddle/exec/decode/decode_context.h"
#include "raddle/ptx/names.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Instruction;
using ptx::Type;
using trace::OpClass;

namespace {

struct BySize {
  Op op[3];  // 16, 32, 64 bits
  Op of(Type t) const {
    const unsigned n = ptx::size_of(t);
    return op[n <= 2 ? 0 : n == 4 ? 1 : 2];
  }
};
/// Signed and unsigned forms by size.
struct BySign {
  BySize is_unsigned, is_signed;
  Op of(Type t) const { return (ptx::is_signed(t) ? is_signed : is_unsigned).of(t); }
};
constexpr BySize kAdd{{O_add_16, O_add_32, O_add_64}}, kSub{{O_sub_16, O_sub_32, O_sub_64}},
    kMul{{O_mul_16, O_mul_32, O_mul_64}}, kMad{{O_mad_16, O_mad_32, O_mad_64}},
    kNeg{{O_neg_16, O_neg_32, O_neg_64}}, kAbs{{O_abs_16, O_abs_32, O_abs_64}},
    kAnd{{O_and_16, O_and_32, O_and_64}}, kOr{{O_or_16, O_or_32, O_or_64}},
    kXor{{O_xor_16, O_xor_32, O_xor_64}}, kNot{{O_not_16, O_not_32, O_not_64}},
    kCnot{{O_cnot_16, O_cnot_32, O_cnot_64}}, kShl{{O_shl_16, O_shl_32, O_shl_64}};
constexpr BySign kMulHi{{{O_mul_hi_u16, O_mul_hi_u32, O_mul_hi_u64}},
                        {{O_mul_hi_s16, O_mul_hi_s32, O_mul_hi_s64}}},
    kDiv{{{O_div_u16, O_div_u32, O_div_u64}}, {{O_div_s16, O_div_s32, O_div_s64}}},
    kRem{{{O_rem_u16, O_rem_u32, O_rem_u64}}, {{O_rem_s16, O_rem_s32, O_rem_s64}}},
    kMin{{{O_min_u16, O_min_u32, O_min_u64}}, {{O_min_s16, O_min_s32, O_min_s64}}},
    kMax{{{O_max_u16, O_max_u32, O_max_u64}}, {{O_max_s16, O_max_s32, O_max_s64}}},
    kShr{{{O_shr_u16, O_shr_u32, O_shr_u64}}, {{O_shr_s16, O_shr_s32, O_shr_s64}}},
    kSad{{{O_sad_u16, O_sad_u32, O_sad_u64}}, {{O_sad_s16, O_sad_s32, O_sad_s64}}};

/// d = a + b + the flag, which is `fresh` where the instruction takes none.
struct CarriedSum {
  bool wide;
  u32 d, a, b;
  bool takes_flag, sets_flag;
  u32 fresh = 0;
};
// The carry flag is a register of ones and zeros; it is written last, since the sum may still need
// it.
void carry(DecodeContext& ctx, const CarriedSum& s) {
  const u32 flag = s.takes_flag ? ctx.frame.carry() : ctx.frame.constant(4, s.fresh);
  const u32 next = ctx.frame.temporary(), result = ctx.frame.temporary();
  if (s.sets_flag) ctx.out.alu(s.wide ? O_carry_64 : O_carry_32, next, s.a, s.b, flag);
  ctx.out.alu(s.wide ? O_addc_64 : O_addc_32, result, s.a, s.b, flag);
  ctx.out.alu(s.wide ? O_mov_64 : O_mov_32, s.d, result);
  if (s.sets_flag) ctx.out.alu(O_mov_32, ctx.frame.carry(), next);
}
// A difference is a + ~b + 1, and the flag is that sum's carry: 1 where nothing is borrowed. The
// ISA calls it the borrow; what nvcc makes of 128-bit division adds it with addc and is right only
// so (docs/deviations.md).
void carry_add(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type t = ctx.in.type();
  const bool wide = ptx::size_of(t) == 8, sub = inst.opcode.substr(0, 3) == "sub";
  const bool in = inst.opcode.back() == 'c' && inst.opcode.size() == 4;
  const u32 a = ctx.in.source(1, t);
  u32 b = ctx.in.source(2, t);
  if (sub) {
    const u32 inverse = ctx.frame.temporary();
    ctx.out.alu(wide ? O_not_64 : O_not_32, inverse, b);
    b = inverse;
  }
  carry(ctx, {.wide = wide,
              .d = ctx.in.destination(0, t),
              .a = a,
              .b = b,
              .takes_flag = in,
              .sets_flag = inst.has("cc"),
              .fresh = sub ? 1u : 0u});
}
void carry_mad(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::IntMul);
  const Type t = ctx.in.type();
  const bool wide = ptx::size_of(t) == 8;
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t), c = ctx.in.source(3, t);
  const u32 product = ctx.frame.temporary();
  ctx.out.alu(inst.has("hi") ? kMulHi.of(t) : kMul.of(t), product, a, b);
  carry(ctx, {.wide = wide,
              .d = ctx.in.destination(0, t),
              .a = product,
              .b = c,
              .takes_flag = inst.opcode == "madc",
              .sets_flag = inst.has("cc")});
}

void add_sub(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  if (inst.has("cc")) return carry_add(ctx, inst);
  ctx.out.op_class(OpClass::Int);
  const bool add = inst.opcode == "add";
  if (t == Type::U16x2 || t == Type::S16x2) {
    if (!add || inst.has("sat")) refuse();
    return ctx.out.alu(O_add_16x2, ctx.in.destination(0, t), ctx.in.source(1, t),
                       ctx.in.source(2, t));
  }
  Op op = (add ? kAdd : kSub).of(t);
  if (inst.has("sat")) {
    if (t != Type::S32) refuse();
    op = add ? O_add_sat_s32 : O_sub_sat_s32;
  }
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t);
  ctx.out.alu(op, ctx.in.destination(0, t), a, b);
}

void mul(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  ctx.out.op_class(OpClass::IntMul);
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t);
  if (inst.has("wide")) {
    const Type w = ptx::wide_of(t);
    if (w == Type::None) refuse();
    const Op op = t == Type::U16   ? O_mul_wide_u16
                  : t == Type::S16 ? O_mul_wide_s16
                  : t == Type::U32 ? O_mul_wide_u32
                                   : O_mul_wide_s32;
    return ctx.out.alu(op, ctx.in.destination(0, w), a, b);
  }
  ctx.out.alu(inst.has("hi") ? kMulHi.of(t) : kMul.of(t), ctx.in.destination(0, t), a, b);
}

void mad(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  if (inst.has("cc")) return carry_mad(ctx, inst);
  ctx.out.op_class(OpClass::IntMul);
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t);
  if (inst.has("wide")) {
    const Type w = ptx::wide_of(t);
    if (w == Type::None) refuse();
    const u32 c = ctx.in.source(3, w), d = ctx.in.destination(0, w);
    if (ptx::size_of(t) == 4)
      return ctx.out.alu(t == Type::U32 ? O_mad_wide_u32 : O_mad_wide_s32, d, a, b, c);
    const u32 product = ctx.frame.temporary();
    ctx.out.alu(t == Type::U16 ? O_mul_wide_u16 : O_mul_wide_s16, product, a, b);
    return ctx.out.alu(O_add_32, d, product, c);
  }
  const u32 c = ctx.in.source(3, t), d = ctx.in.destination(0, t);
  if (!inst.has("hi")) return ctx.out.alu(kMad.of(t), d, a, b, c);
  const u32 high = ctx.frame.temporary();
  ctx.out.alu(kMulHi.of(t), high, a, b);
  if (inst.has("sat") && t != Type::S32) refuse();
  ctx.out.alu(inst.has("sat") ? O_add_sat_s32 : kAdd.of(t), d, high, c);
}

void mul24(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::IntMul);
  const Type t = ctx.in.type();
  const bool high = inst.has("hi"), is_signed = ptx::is_signed(t);
  const Op op = high ? (is_signed ? O_mul24_hi_s32 : O_mul24_hi_u32)
                     : (is_signed ? O_mul24_lo_s32 : O_mul24_lo_u32);
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t);
  if (inst.opcode == "mul24") return ctx.out.alu(op, ctx.in.destination(0, t), a, b);
  const u32 c = ctx.in.source(3, t), product = ctx.frame.temporary();
  ctx.out.alu(op, product, a, b);
  if (inst.has("sat") && (!high || !is_signed)) refuse();
  ctx.out.alu(inst.has("sat") ? O_add_sat_s32 : O_add_32, ctx.in.destination(0, t), product, c);
}

void div_rem(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  ctx.out.op_class(OpClass::IntDiv);
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t);
  ctx.out.alu((inst.opcode == "div" ? kDiv : kRem).of(t), ctx.in.destination(0, t), a, b);
}

void unary(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  ctx.out.op_class(OpClass::Int);
  if (t == Type::Pred) {
    if (inst.opcode != "not") refuse();
    const u32 a = ctx.in.predicate_value(1);
    ctx.out.emit(O_pred_logic, ctx.in.predicate(0).offset, a, a, 0, 1);
    return;
  }
  const BySize& ops = inst.opcode == "neg"   ? kNeg
                      : inst.opcode == "abs" ? kAbs
                      : inst.opcode == "not" ? kNot
                                             : kCnot;
  ctx.out.alu(ops.of(t), ctx.in.destination(0, t), ctx.in.source(1, t));
}

void min_max(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  ctx.out.op_class(OpClass::Int);
  const bool min = inst.opcode == "min";
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t);
  const u32 d = ctx.in.destination(0, t);
  Op op = (min ? kMin : kMax).of(t);
  if (t == Type::U16x2) op = min ? O_min_u16x2 : O_max_u16x2;
  if (t == Type::S16x2) op = min ? O_min_s16x2 : O_max_s16x2;
  if (!inst.has("relu")) return ctx.out.alu(op, d, a, b);
  if (t != Type::S32 && t != Type::S16x2) refuse();
  const u32 r = ctx.frame.temporary();
  ctx.out.alu(op, r, a, b);
  ctx.out.alu(t == Type::S32 ? O_max_s32 : O_max_s16x2, d, r, ctx.frame.constant(4, 0));
}

void logic(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type t = ctx.in.type();
  if (t == Type::Pred) {
    const u32 a = ctx.in.predicate_value(1), b = ctx.in.predicate_value(2);
    const int table = inst.opcode == "and" ? 8 : inst.opcode == "or" ? 14 : 6;
    ctx.out.emit(O_pred_logic, ctx.in.predicate(0).offset, a, b, 0, table);
    return;
  }
  const BySize& ops = inst.opcode == "and" ? kAnd : inst.opcode == "or" ? kOr : kXor;
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t);
  ctx.out.alu(ops.of(t), ctx.in.destination(0, t), a, b);
}

void shift(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type t = ctx.in.type();
  if (inst.opcode == "shf") {
    const bool left = inst.has("l"), wrap = inst.has("wrap");
    const Op op =
        left ? (wrap ? O_shf_l_wrap : O_shf_l_clamp) : (wrap ? O_shf_r_wrap : O_shf_r_clamp);
    const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t), c = ctx.in.source(3, t);
    return ctx.out.alu(op, ctx.in.destination(0, t), a, b, c);
  }
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, Type::U32);
  ctx.out.alu(inst.opcode == "shl" ? kShl.of(t) : kShr.of(t), ctx.in.destination(0, t), a, b);
}

void bits(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type t = ctx.in.type();
  const bool wide = ptx::size_of(t) == 8;
  const u32 a = ctx.in.source(1, t);
  if (inst.opcode == "brev")
    return ctx.out.alu(wide ? O_brev_64 : O_brev_32, ctx.in.destination(0, t), a);
  const u32 d = ctx.in.destination(0, Type::U32);
  if (inst.opcode == "popc") return ctx.out.alu(wide ? O_popc_64 : O_popc_32, d, a);
  if (inst.opcode == "clz") return ctx.out.alu(wide ? O_clz_64 : O_clz_32, d, a);
  u32 x = a;  // bfind
  if (ptx::is_signed(t)) {
    x = ctx.frame.temporary();
    ctx.out.alu(wide ? O_flip_negative_64 : O_flip_negative_32, x, a);
  }
  const u32 flip = inst.has("shiftamt") ? (wide ? 63 : 31) : 0;
  ctx.out.alu(wide ? O_bfind_u64 : O_bfind_u32, d, x, 0, 0, flip);
}

void bit_field(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type type = ctx.in.type();
  const bool wide = ptx::size_of(type) == 8;
  if (inst.opcode == "bfe") {
    const Op op =
        ptx::is_signed(type) ? (wide ? O_bfe_s64 : O_bfe_s32) : (wide ? O_bfe_u64 : O_bfe_u32);
    const u32 first = ctx.in.source(1, type), second = ctx.in.source(2, Type::U32),
              third = ctx.in.source(3, Type::U32);
    return ctx.out.alu(op, ctx.in.destination(0, type), first, second, third);
  }
  if (inst.opcode == "bfi") {  // insert a into b
    const u32 first = ctx.in.source(1, type), second = ctx.in.source(2, type);
    const u32 at = ctx.frame.temporary(), mask = ctx.frame.temporary(),
              moved = ctx.frame.temporary();
    ctx.out.alu(O_and_32, at, ctx.in.source(3, Type::U32), ctx.frame.constant(4, 255));
    ctx.out.alu(wide ? O_mask_64 : O_mask_32, mask, at, ctx.in.source(4, Type::U32));
    ctx.out.alu(wide ? O_shl_64 : O_shl_32, moved, first, at);
    return ctx.out.alu(wide ? O_pick_64 : O_pick_32, ctx.in.destination(0, type), moved, second,
                       mask);
  }
  const u32 first = ctx.in.source(1, Type::U32), destination = ctx.in.destination(0, Type::U32);
  if (inst.opcode == "fns")
    return ctx.out.alu(O_fns, destination, first, ctx.in.source(2, Type::U32),
                       ctx.in.source(3, Type::S32));
  u32 second = ctx.in.source(2, Type::U32);
  if (inst.opcode == "bmsk")
    return ctx.out.alu(inst.has("wrap") ? O_bmsk_wrap : O_bmsk_clamp, destination, first, second);
  if (inst.has("wrap")) {  // szext
    const u32 low = ctx.frame.temporary();
    ctx.out.alu(O_low5, low, second);
    second = low;
  }
  ctx.out.alu(ptx::is_signed(type) ? O_szext_s32 : O_szext_u32, destination, first, second);
}

void bytes(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type type = ctx.in.type();
  if (inst.opcode == "sad") {
    const u32 first = ctx.in.source(1, type), second = ctx.in.source(2, type),
              third = ctx.in.source(3, type);
    return ctx.out.alu(kSad.of(type), ctx.in.destination(0, type), first, second, third);
  }
  const u32 first = ctx.in.source(1, Type::U32), second = ctx.in.source(2, Type::U32),
            third = ctx.in.source(3, Type::U32), destination = ctx.in.destination(0, Type::U32);
  if (inst.opcode == "lop3") {
    if (ctx.in.operand(4).kind != ptx::Operand::Kind::Integer) refuse("immediate expected");
    ctx.out.alu(O_lop3, destination, first, second, third,
                static_cast<u32>(ctx.in.operand(4).bits & 255));
    if (inst.modifiers.empty()) return;
    // .and, .or: a predicate from "not zero" and another predicate.
    if (ctx.in.operand(0).reg2 == ptx::kNoIndex) return;
    const u32 other = ctx.in.predicate_value(5), some = ctx.frame.temporary_predicate();
    ctx.out.emit(O_pred_from_32, some, destination);
    ctx.out.emit(O_pred_logic, ctx.frame.register_at(ctx.in.operand(0).reg2), some, other, 0,
                 inst.has("and") ? 8 : 14);
    return;
  }
  if (inst.opcode == "prmt") {
    const Op op = inst.has("f4e")    ? O_prmt_f4e
                  : inst.has("b4e")  ? O_prmt_b4e
                  : inst.has("rc8")  ? O_prmt_rc8
                  : inst.has("ecl")  ? O_prmt_ecl
                  : inst.has("ecr")  ? O_prmt_ecr
                  : inst.has("rc16") ? O_prmt_rc16
                                     : O_prmt;
    return ctx.out.alu(op, destination, first, second, third);
  }
  ctx.out.op_class(OpClass::IntMul);
  const u32 k = (ptx::is_signed(ctx.in.type(0)) ? 1u : 0u) |
                (ptx::is_signed(ctx.in.type(1)) ? 2u : 0u) | (inst.has("hi") ? 4u : 0u);
  ctx.out.alu(inst.opcode == "dp4a" ? O_dp4a : O_dp2a, destination, first, second, third, k);
}

}  // namespace

void add_decode_integer(Handlers& handlers) {
  handlers.add({"add", "sub"}, add_sub);
  handlers.add({"addc", "subc"}, carry_add);
  handlers.add({"mul"}, mul);
  handlers.add({"mad"}, mad);
  handlers.add({"madc"}, carry_mad);
  handlers.add({"mul24", "mad24"}, mul24);
  handlers.add({"div", "rem"}, div_rem);
  handlers.add({"neg", "abs", "not", "cnot"}, unary);
  handlers.add({"min", "max"}, min_max);
  handlers.add({"and", "or", "xor"}, logic);
  handlers.add({"shl", "shr", "shf"}, shift);
  handlers.add({"popc", "clz", "bfind", "brev"}, bits);
  handlers.add({"bfe", "bfi", "bmsk", "szext", "fns"}, bit_field);
  handlers.add({"sad", "prmt", "lop3", "dp4a", "dp2a"}, bytes);
}

}  // namespace raddle::exec
