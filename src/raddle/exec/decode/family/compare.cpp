// Comparison and selection (PTX ISA 9.7.5, 9.7.6).
#include "raddle/exec/decode/decode.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Type;
using trace::OpClass;

namespace {
/// Base comparisons of one operand kind.
struct Compares {
  Op eq, lt, le, lg, num;
};
constexpr Compares kU32{O_eq_32, O_lt_u32, O_le_u32, kOps, kOps};
constexpr Compares kS32{O_eq_32, O_lt_s32, O_le_s32, kOps, kOps};
constexpr Compares kU64{O_eq_64, O_lt_u64, O_le_u64, kOps, kOps};
constexpr Compares kS64{O_eq_64, O_lt_s64, O_le_s64, kOps, kOps};
constexpr Compares kF32{O_eq_f32, O_lt_f32, O_le_f32, O_lg_f32, O_num_f32};
constexpr Compares kF64{O_eq_f64, O_lt_f64, O_le_f64, O_lg_f64, O_num_f64};

/// A comparison as one of the base ones with operands swapped or the result negated.
struct Plan {
  Op op = kOps;
  bool swap = false, negate = false;
};
Plan plan(std::string_view name, const Compares& c, bool is_float) {
  if (name == "eq") return {c.eq, false, false};
  if (name == "ne") return is_float ? Plan{c.lg, false, false} : Plan{c.eq, false, true};
  if (name == "lt" || name == "lo") return {c.lt, false, false};
  if (name == "le" || name == "ls") return {c.le, false, false};
  if (name == "gt" || name == "hi") return {c.lt, true, false};
  if (name == "ge" || name == "hs") return {c.le, true, false};
  if (!is_float) return {};
  if (name == "equ") return {c.lg, false, true};
  if (name == "neu") return {c.eq, false, true};
  if (name == "ltu") return {c.le, true, true};
  if (name == "leu") return {c.lt, true, true};
  if (name == "gtu") return {c.le, false, true};
  if (name == "geu") return {c.lt, false, true};
  if (name == "num") return {c.num, false, false};
  if (name == "nan") return {c.num, false, true};
  return {};
}
bool is_comparison(std::string_view word) { return plan(word, kF32, true).op != kOps; }
}  // namespace

/// Compares operands `first` and the next; the result is a temporary predicate.
u32 Decoder::compare(const Inst& inst, Type type, std::size_t first) {
  const u32 a = source(operand(first), type), b = source(operand(first + 1), type);
  return compare_values(inst, type, a, b);
}

/// The same of one half of a pair.
u32 Decoder::compare_half(const Inst& inst, Type type, unsigned half) {
  const Type single = type == Type::F16x2 ? Type::F16 : Type::BF16;
  const u32 pair[2] = {source(operand(1), type), source(operand(2), type)};
  const u32 x = temporary(), y = temporary();
  alu(half == 0 ? O_trunc_32_16 : O_high_32_16, x, pair[0]);
  alu(half == 0 ? O_trunc_32_16 : O_high_32_16, y, pair[1]);
  return compare_values(inst, single, x, y);
}

u32 Decoder::compare_values(const Inst& inst, Type type, u32 a, u32 b) {
  const auto convert = [&](Op op) {
    const u32 x = temporary(), y = temporary();
    alu(op, x, a);
    alu(op, y, b);
    a = x, b = y;
  };
  const bool is_float = ptx::is_float(type), is_signed = ptx::is_signed(type);
  const Compares* set = nullptr;
  switch (ptx::size_of(type)) {
    case 8:
      set = is_float ? &kF64 : is_signed ? &kS64 : &kU64;
      break;
    case 4:
      set = is_float ? &kF32 : is_signed ? &kS32 : &kU32;
      break;
    case 2:
      set = is_float ? &kF32 : is_signed ? &kS32 : &kU32;
      break;
    default:
      refuse();
  }
  if (type == Type::F16x2 || type == Type::BF16x2) refuse();
  if (type == Type::F16 && inst.has("ftz")) convert(O_flush_f16);
  if (type == Type::F16) convert(O_f32_from_f16);
  else if (type == Type::BF16) convert(O_f32_from_bf16);
  else if (ptx::size_of(type) == 2) convert(is_signed ? O_sext_16_32 : O_zext_16_32);
  if (inst.has("ftz") && type == Type::F32) convert(O_flush_f32);
  for (std::string_view word : inst.modifiers)
    if (is_comparison(word)) {
      const Plan p = plan(word, *set, is_float);
      if (p.op == kOps) refuse();
      const u32 t = temporary_predicate();
      emit(p.op, t, p.swap ? b : a, p.swap ? a : b, 0, p.negate ? -1 : 0);
      return t;
    }
  refuse();
}

/// p = t op c, q = !t op c, where operand `at` is c if there is one. q may be absent (trash).
void Decoder::combine(const Inst& inst, u32 t, std::size_t at, u32 p, u32 q) {
  const bool has_c = at < inst.operands.size();
  const int table = !has_c            ? 0
                    : inst.has("and") ? 8
                    : inst.has("or")  ? 14
                    : inst.has("xor") ? 6
                                      : 0;
  if (has_c && table == 0) refuse();
  const u32 c = has_c ? predicate_value(operand(at)) : t;
  const u32 inverse = q != 0 ? temporary_predicate() : 0;
  const u32 second = q != 0 ? temporary_predicate() : 0;
  if (q != 0) {
    emit(O_pred_logic, inverse, t, t, 0, 1);
    if (has_c) emit(O_pred_logic, second, inverse, c, 0, table);
  }
  if (p != 0) emit(O_pred_logic, p, t, c, 0, has_c ? table : 8);
  if (q != 0) emit(O_pred_logic, q, has_c ? second : inverse, has_c ? second : inverse, 0, 8);
}

void Decoder::setp(const Inst& inst) {
  const Type t = type();
  op_class(t == Type::F64 ? OpClass::Fp64 : ptx::is_float(t) ? OpClass::Fp32 : OpClass::Int);
  const ptx::Operand& d = operand(0);
  const u32 p = d.reg == ptx::kNoIndex ? 0 : predicate_register(d.reg);
  const u32 q = d.kind == ptx::Operand::Kind::Predicates && d.reg2 != ptx::kNoIndex
                    ? predicate_register(d.reg2)
                    : 0;
  if (t == Type::F16x2 || t == Type::BF16x2) {  // p of the lower halves, q of the upper ones
    const u32 low = compare_half(inst, t, 0), high = compare_half(inst, t, 1);
    const u32 first = temporary_predicate(), second = temporary_predicate();
    combine(inst, low, 3, first, 0);
    combine(inst, high, 3, second, 0);
    if (p != 0) emit(O_pred_logic, p, first, first, 0, 8);
    if (q != 0) emit(O_pred_logic, q, second, second, 0, 8);
    return;
  }
  const u32 result = compare(inst, t, 1);
  if (q == 0 && p != 0 && inst.operands.size() == 3) {  // the plain form: straight to its place
    code_.records.back().d = p;
    return;
  }
  combine(inst, result, 3, p, q);
}

/// "True" as the destination's type says it.
std::uint64_t Decoder::true_value(Type to) const {
  switch (to) {
    case Type::F32:
      return 0x3f800000;
    case Type::F16:
    case Type::F16x2:
      return 0x3c00;
    case Type::BF16:
    case Type::BF16x2:
      return 0x3f80;
    default:
      return ~std::uint64_t{0};
  }
}

void Decoder::set(const Inst& inst) {
  op_class(OpClass::Int);
  const Type to = type(0), from = type(1);
  const auto combined = [&](u32 result) {
    if (inst.operands.size() <= 3) return result;
    const u32 t = temporary_predicate();
    combine(inst, result, 3, t, 0);
    return t;
  };
  if (from == Type::F16x2 || from == Type::BF16x2) {
    const u32 yes = constant(2, true_value(to)), no = constant(2, 0);
    u32 half[2] = {};
    for (unsigned h = 0; h < 2; ++h) {
      const u32 result = combined(compare_half(inst, from, h));
      half[h] = temporary();
      emit(O_selp_16, half[h], yes, no, result);
    }
    return alu(O_pack_32, destination(operand(0), to), half[0], half[1]);
  }
  const unsigned size = ptx::size_of(to);
  const u32 result = combined(compare(inst, from, 1));
  if (size != 2 && size != 4) refuse();
  emit(size == 2 ? O_selp_16 : O_selp_32, destination(operand(0), to),
       constant(size, true_value(to)), constant(size, 0), result);
}

void Decoder::selp(const Inst& inst) {
  (void)inst;
  op_class(OpClass::Int);
  const Type t = type();
  const Pred p = predicate(operand(3));
  u32 a = source(operand(1), t), b = source(operand(2), t);
  if (p.negated) std::swap(a, b);
  const unsigned n = ptx::size_of(t);
  emit(n == 8   ? O_selp_64
       : n == 4 ? O_selp_32
                : O_selp_16,
       destination(operand(0), t), a, b, p.offset);
}

void Decoder::slct(const Inst& inst) {
  op_class(OpClass::Int);
  const Type t = type(0), by = type(1);
  const u32 a = source(operand(1), t), b = source(operand(2), t);
  u32 c = source(operand(3), by);
  if (inst.has("ftz")) {
    const u32 x = temporary();
    alu(O_flush_f32, x, c);
    c = x;
  }
  const u32 p = temporary_predicate();
  emit(by == Type::F32 ? O_le_f32 : O_le_s32, p, constant(4, 0), c);
  const unsigned n = ptx::size_of(t);
  emit(n == 8 ? O_selp_64 : n == 4 ? O_selp_32 : O_selp_16, destination(operand(0), t), a, b, p);
}

}  // namespace raddle::exec
