// Integer arithmetic, logic, shifts and bit operations (PTX ISA 9.7.1, 9.7.2, 9.7.7).
#include "raddle/exec/decode/decode.h"

namespace raddle::exec {

using u32 = std::uint32_t;
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

Type wide_of(Type t) {
  switch (t) {
    case Type::U16:
      return Type::U32;
    case Type::S16:
      return Type::S32;
    case Type::U32:
      return Type::U64;
    case Type::S32:
      return Type::S64;
    default:
      return Type::None;
  }
}
}  // namespace

void Decoder::add_sub(const Inst& inst) {
  const Type t = type();
  if (ptx::is_float(t)) return float_instruction(inst);
  if (inst.has("cc")) return carry_add(inst);
  op_class(OpClass::Int);
  const bool add = inst.opcode == "add";
  if (t == Type::U16x2 || t == Type::S16x2) {
    if (!add || inst.has("sat")) refuse();
    return alu(O_add_16x2, destination(operand(0), t), source(operand(1), t),
               source(operand(2), t));
  }
  Op op = (add ? kAdd : kSub).of(t);
  if (inst.has("sat")) {
    if (t != Type::S32) refuse();
    op = add ? O_add_sat_s32 : O_sub_sat_s32;
  }
  const u32 a = source(operand(1), t), b = source(operand(2), t);
  alu(op, destination(operand(0), t), a, b);
}

void Decoder::mul(const Inst& inst) {
  const Type t = type();
  if (ptx::is_float(t)) return float_instruction(inst);
  op_class(OpClass::IntMul);
  const u32 a = source(operand(1), t), b = source(operand(2), t);
  if (inst.has("wide")) {
    const Type w = wide_of(t);
    if (w == Type::None) refuse();
    const Op op = t == Type::U16   ? O_mul_wide_u16
                  : t == Type::S16 ? O_mul_wide_s16
                  : t == Type::U32 ? O_mul_wide_u32
                                   : O_mul_wide_s32;
    return alu(op, destination(operand(0), w), a, b);
  }
  alu(inst.has("hi") ? kMulHi.of(t) : kMul.of(t), destination(operand(0), t), a, b);
}

void Decoder::mad(const Inst& inst) {
  const Type t = type();
  if (ptx::is_float(t)) return fma(inst);
  if (inst.has("cc")) return carry_mad(inst);
  op_class(OpClass::IntMul);
  const u32 a = source(operand(1), t), b = source(operand(2), t);
  if (inst.has("wide")) {
    const Type w = wide_of(t);
    if (w == Type::None) refuse();
    const u32 c = source(operand(3), w), d = destination(operand(0), w);
    if (ptx::size_of(t) == 4)
      return alu(t == Type::U32 ? O_mad_wide_u32 : O_mad_wide_s32, d, a, b, c);
    const u32 product = temporary();
    alu(t == Type::U16 ? O_mul_wide_u16 : O_mul_wide_s16, product, a, b);
    return alu(O_add_32, d, product, c);
  }
  const u32 c = source(operand(3), t), d = destination(operand(0), t);
  if (!inst.has("hi")) return alu(kMad.of(t), d, a, b, c);
  const u32 high = temporary();
  alu(kMulHi.of(t), high, a, b);
  if (inst.has("sat") && t != Type::S32) refuse();
  alu(inst.has("sat") ? O_add_sat_s32 : kAdd.of(t), d, high, c);
}

void Decoder::mul24(const Inst& inst) {
  op_class(OpClass::IntMul);
  const Type t = type();
  const bool high = inst.has("hi"), is_signed = ptx::is_signed(t);
  const Op op = high ? (is_signed ? O_mul24_hi_s32 : O_mul24_hi_u32)
                     : (is_signed ? O_mul24_lo_s32 : O_mul24_lo_u32);
  const u32 a = source(operand(1), t), b = source(operand(2), t);
  if (inst.opcode == "mul24") return alu(op, destination(operand(0), t), a, b);
  const u32 c = source(operand(3), t), product = temporary();
  alu(op, product, a, b);
  if (inst.has("sat") && (!high || !is_signed)) refuse();
  alu(inst.has("sat") ? O_add_sat_s32 : O_add_32, destination(operand(0), t), product, c);
}

void Decoder::div_rem(const Inst& inst) {
  const Type t = type();
  if (ptx::is_float(t)) return float_instruction(inst);
  op_class(OpClass::IntDiv);
  const u32 a = source(operand(1), t), b = source(operand(2), t);
  alu((inst.opcode == "div" ? kDiv : kRem).of(t), destination(operand(0), t), a, b);
}

void Decoder::unary(const Inst& inst) {
  const Type t = type();
  if (ptx::is_float(t)) return float_unary(inst);
  op_class(OpClass::Int);
  if (t == Type::Pred) {
    if (inst.opcode != "not") refuse();
    const u32 a = predicate_value(operand(1));
    emit(O_pred_logic, predicate(operand(0)).offset, a, a, 0, 1);
    return;
  }
  const BySize& ops = inst.opcode == "neg"   ? kNeg
                      : inst.opcode == "abs" ? kAbs
                      : inst.opcode == "not" ? kNot
                                             : kCnot;
  alu(ops.of(t), destination(operand(0), t), source(operand(1), t));
}

void Decoder::min_max(const Inst& inst) {
  const Type t = type();
  if (ptx::is_float(t)) return float_min_max(inst);
  op_class(OpClass::Int);
  const bool min = inst.opcode == "min";
  const u32 a = source(operand(1), t), b = source(operand(2), t);
  const u32 d = destination(operand(0), t);
  Op op = (min ? kMin : kMax).of(t);
  if (t == Type::U16x2) op = min ? O_min_u16x2 : O_max_u16x2;
  if (t == Type::S16x2) op = min ? O_min_s16x2 : O_max_s16x2;
  if (!inst.has("relu")) return alu(op, d, a, b);
  if (t != Type::S32 && t != Type::S16x2) refuse();
  const u32 r = temporary();
  alu(op, r, a, b);
  alu(t == Type::S32 ? O_max_s32 : O_max_s16x2, d, r, constant(4, 0));
}

void Decoder::logic(const Inst& inst) {
  op_class(OpClass::Int);
  const Type t = type();
  if (t == Type::Pred) {
    const u32 a = predicate_value(operand(1)), b = predicate_value(operand(2));
    const int table = inst.opcode == "and" ? 8 : inst.opcode == "or" ? 14 : 6;
    emit(O_pred_logic, predicate(operand(0)).offset, a, b, 0, table);
    return;
  }
  const BySize& ops = inst.opcode == "and" ? kAnd : inst.opcode == "or" ? kOr : kXor;
  const u32 a = source(operand(1), t), b = source(operand(2), t);
  alu(ops.of(t), destination(operand(0), t), a, b);
}

void Decoder::shift(const Inst& inst) {
  op_class(OpClass::Int);
  const Type t = type();
  if (inst.opcode == "shf") {
    const bool left = inst.has("l"), wrap = inst.has("wrap");
    const Op op =
        left ? (wrap ? O_shf_l_wrap : O_shf_l_clamp) : (wrap ? O_shf_r_wrap : O_shf_r_clamp);
    const u32 a = source(operand(1), t), b = source(operand(2), t), c = source(operand(3), t);
    return alu(op, destination(operand(0), t), a, b, c);
  }
  const u32 a = source(operand(1), t), b = source(operand(2), Type::U32);
  alu(inst.opcode == "shl" ? kShl.of(t) : kShr.of(t), destination(operand(0), t), a, b);
}

void Decoder::bits(const Inst& inst) {
  op_class(OpClass::Int);
  const Type t = type();
  const bool wide = ptx::size_of(t) == 8;
  const u32 a = source(operand(1), t);
  if (inst.opcode == "brev")
    return alu(wide ? O_brev_64 : O_brev_32, destination(operand(0), t), a);
  const u32 d = destination(operand(0), Type::U32);
  if (inst.opcode == "popc") return alu(wide ? O_popc_64 : O_popc_32, d, a);
  if (inst.opcode == "clz") return alu(wide ? O_clz_64 : O_clz_32, d, a);
  u32 x = a;  // bfind
  if (ptx::is_signed(t)) {
    x = temporary();
    alu(wide ? O_flip_negative_64 : O_flip_negative_32, x, a);
  }
  const u32 flip = inst.has("shiftamt") ? (wide ? 63 : 31) : 0;
  alu(wide ? O_bfind_u64 : O_bfind_u32, d, x, 0, 0, flip);
}

void Decoder::bit_field(const Inst& inst) {
  op_class(OpClass::Int);
  const Type t = type();
  const bool wide = ptx::size_of(t) == 8;
  if (inst.opcode == "bfe") {
    const Op op =
        ptx::is_signed(t) ? (wide ? O_bfe_s64 : O_bfe_s32) : (wide ? O_bfe_u64 : O_bfe_u32);
    const u32 a = source(operand(1), t), b = source(operand(2), Type::U32),
              c = source(operand(3), Type::U32);
    return alu(op, destination(operand(0), t), a, b, c);
  }
  if (inst.opcode == "bfi") {  // insert a into b
    const u32 a = source(operand(1), t), b = source(operand(2), t);
    const u32 at = temporary(), mask = temporary(), moved = temporary();
    alu(O_and_32, at, source(operand(3), Type::U32), constant(4, 255));
    alu(wide ? O_mask_64 : O_mask_32, mask, at, source(operand(4), Type::U32));
    alu(wide ? O_shl_64 : O_shl_32, moved, a, at);
    return alu(wide ? O_pick_64 : O_pick_32, destination(operand(0), t), moved, b, mask);
  }
  const u32 a = source(operand(1), Type::U32), d = destination(operand(0), Type::U32);
  if (inst.opcode == "fns")
    return alu(O_fns, d, a, source(operand(2), Type::U32), source(operand(3), Type::S32));
  u32 b = source(operand(2), Type::U32);
  if (inst.opcode == "bmsk") return alu(inst.has("wrap") ? O_bmsk_wrap : O_bmsk_clamp, d, a, b);
  if (inst.has("wrap")) {  // szext
    const u32 low = temporary();
    alu(O_low5, low, b);
    b = low;
  }
  alu(ptx::is_signed(t) ? O_szext_s32 : O_szext_u32, d, a, b);
}

void Decoder::bytes(const Inst& inst) {
  op_class(OpClass::Int);
  const Type t = type();
  if (inst.opcode == "sad") {
    const u32 a = source(operand(1), t), b = source(operand(2), t), c = source(operand(3), t);
    return alu(kSad.of(t), destination(operand(0), t), a, b, c);
  }
  const u32 a = source(operand(1), Type::U32), b = source(operand(2), Type::U32),
            c = source(operand(3), Type::U32), d = destination(operand(0), Type::U32);
  if (inst.opcode == "lop3") {
    if (operand(4).kind != ptx::Operand::Kind::Integer) refuse("immediate expected");
    alu(O_lop3, d, a, b, c, static_cast<u32>(operand(4).bits & 255));
    if (inst.modifiers.empty()) return;
    // .and, .or: a predicate from "not zero" and another predicate.
    if (operand(0).reg2 == ptx::kNoIndex) return;
    const u32 q = predicate_value(operand(5)), some = temporary_predicate();
    emit(O_pred_from_32, some, d);
    emit(O_pred_logic, predicate_register(operand(0).reg2), some, q, 0, inst.has("and") ? 8 : 14);
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
    return alu(op, d, a, b, c);
  }
  op_class(OpClass::IntMul);
  const u32 k = (ptx::is_signed(type(0)) ? 1u : 0u) | (ptx::is_signed(type(1)) ? 2u : 0u) |
                (inst.has("hi") ? 4u : 0u);
  alu(inst.opcode == "dp4a" ? O_dp4a : O_dp2a, d, a, b, c, k);
}

// The carry flag is a register of ones and zeros; it is written last, since the sum may still need
// it.
void Decoder::carry(Op sum, Op out, u32 d, u32 a, u32 b, bool in, bool set) {
  const u32 flag = in ? carry_at_ : constant(4, 0);
  const u32 next = temporary(), result = temporary();
  if (set) alu(out, next, a, b, flag);
  alu(sum, result, a, b, flag);
  const bool wide = sum == O_addc_64 || sum == O_subc_64;
  alu(wide ? O_mov_64 : O_mov_32, d, result);
  if (set) alu(O_mov_32, carry_at_, next);
}
void Decoder::carry_add(const Inst& inst) {
  op_class(OpClass::Int);
  const Type t = type();
  const bool wide = ptx::size_of(t) == 8, sub = inst.opcode.substr(0, 3) == "sub";
  const bool in = inst.opcode.back() == 'c' && inst.opcode.size() == 4;
  const u32 a = source(operand(1), t), b = source(operand(2), t);
  carry(sub ? (wide ? O_subc_64 : O_subc_32) : (wide ? O_addc_64 : O_addc_32),
        sub ? (wide ? O_borrow_64 : O_borrow_32) : (wide ? O_carry_64 : O_carry_32),
        destination(operand(0), t), a, b, in, inst.has("cc"));
}
void Decoder::carry_mad(const Inst& inst) {
  op_class(OpClass::IntMul);
  const Type t = type();
  const bool wide = ptx::size_of(t) == 8;
  const u32 a = source(operand(1), t), b = source(operand(2), t), c = source(operand(3), t);
  const u32 product = temporary();
  alu(inst.has("hi") ? kMulHi.of(t) : kMul.of(t), product, a, b);
  carry(wide ? O_addc_64 : O_addc_32, wide ? O_carry_64 : O_carry_32, destination(operand(0), t),
        product, c, inst.opcode == "madc", inst.has("cc"));
}

}  // namespace raddle::exec
