// Comparison and selection (PTX ISA 9.7.5, 9.7.6).
#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Instruction;
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

u32 compare_values(DecodeContext& ctx, const Instruction& inst, Type type, u32 left, u32 right) {
  const auto convert = [&](Op op) {
    const u32 x = ctx.frame.temporary(), y = ctx.frame.temporary();
    ctx.out.alu(op, x, left);
    ctx.out.alu(op, y, right);
    left = x;
    right = y;
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
      const Plan chosen = plan(word, *set, is_float);
      if (chosen.op == kOps) refuse();
      const u32 result = ctx.frame.temporary_predicate();
      ctx.out.emit(chosen.op, result, chosen.swap ? right : left, chosen.swap ? left : right, 0,
                   chosen.negate ? -1 : 0);
      return result;
    }
  refuse();
}

/// Compares operands `first` and the next; the result is a temporary predicate.
u32 compare(DecodeContext& ctx, const Instruction& inst, Type type, std::size_t first) {
  const u32 a = ctx.in.source(first, type), b = ctx.in.source(first + 1, type);
  return compare_values(ctx, inst, type, a, b);
}

/// The same of one half of a pair.
u32 compare_half(DecodeContext& ctx, const Instruction& inst, Type type, unsigned half) {
  const Type single = type == Type::F16x2 ? Type::F16 : Type::BF16;
  const u32 pair[2] = {ctx.in.source(1, type), ctx.in.source(2, type)};
  const u32 x = ctx.frame.temporary(), y = ctx.frame.temporary();
  ctx.out.alu(half == 0 ? O_trunc_32_16 : O_high_32_16, x, pair[0]);
  ctx.out.alu(half == 0 ? O_trunc_32_16 : O_high_32_16, y, pair[1]);
  return compare_values(ctx, inst, single, x, y);
}

/// p = t op c, q = !t op c, where operand `at` is c if there is one. q may be absent (trash).
void combine(DecodeContext& ctx, const Instruction& inst, u32 t, std::size_t at, u32 p, u32 q) {
  const bool has_c = at < inst.operands.size();
  const int table = !has_c            ? 0
                    : inst.has("and") ? 8
                    : inst.has("or")  ? 14
                    : inst.has("xor") ? 6
                                      : 0;
  if (has_c && table == 0) refuse();
  const u32 c = has_c ? ctx.in.predicate_value(at) : t;
  const u32 inverse = q != 0 ? ctx.frame.temporary_predicate() : 0;
  const u32 second = q != 0 ? ctx.frame.temporary_predicate() : 0;
  if (q != 0) {
    ctx.out.emit(O_pred_logic, inverse, t, t, 0, 1);
    if (has_c) ctx.out.emit(O_pred_logic, second, inverse, c, 0, table);
  }
  if (p != 0) ctx.out.emit(O_pred_logic, p, t, c, 0, has_c ? table : 8);
  if (q != 0)
    ctx.out.emit(O_pred_logic, q, has_c ? second : inverse, has_c ? second : inverse, 0, 8);
}

void setp(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  ctx.out.op_class(t == Type::F64     ? OpClass::Fp64
                   : ptx::is_float(t) ? OpClass::Fp32
                                      : OpClass::Int);
  const ptx::Operand& d = ctx.in.operand(0);
  const u32 p = d.reg == ptx::kNoIndex ? 0 : ctx.frame.register_at(d.reg);
  const u32 q = ctx.in.second_predicate(d);
  if (t == Type::F16x2 || t == Type::BF16x2) {  // p of the lower halves, q of the upper ones
    const u32 low = compare_half(ctx, inst, t, 0), high = compare_half(ctx, inst, t, 1);
    const u32 first = ctx.frame.temporary_predicate(), second = ctx.frame.temporary_predicate();
    combine(ctx, inst, low, 3, first, 0);
    combine(ctx, inst, high, 3, second, 0);
    if (p != 0) ctx.out.emit(O_pred_logic, p, first, first, 0, 8);
    if (q != 0) ctx.out.emit(O_pred_logic, q, second, second, 0, 8);
    return;
  }
  const u32 result = compare(ctx, inst, t, 1);
  if (q == 0 && p != 0 && inst.operands.size() == 3) {  // the plain form: straight to its place
    ctx.out.last().d = p;
    return;
  }
  combine(ctx, inst, result, 3, p, q);
}

/// "True" as the destination's type says it.
std::uint64_t true_value(Type to) {
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

void set(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type to = ctx.in.type(0), from = ctx.in.type(1);
  const auto combined = [&](u32 result) {
    if (inst.operands.size() <= 3) return result;
    const u32 t = ctx.frame.temporary_predicate();
    combine(ctx, inst, result, 3, t, 0);
    return t;
  };
  if (from == Type::F16x2 || from == Type::BF16x2) {
    const u32 yes = ctx.frame.constant(2, true_value(to)), no = ctx.frame.constant(2, 0);
    u32 half[2] = {};
    for (unsigned h = 0; h < 2; ++h) {
      const u32 result = combined(compare_half(ctx, inst, from, h));
      half[h] = ctx.frame.temporary();
      ctx.out.emit(O_selp_16, half[h], yes, no, result);
    }
    return ctx.out.alu(O_pack_32, ctx.in.destination(0, to), half[0], half[1]);
  }
  const unsigned size = ptx::size_of(to);
  const u32 result = combined(compare(ctx, inst, from, 1));
  if (size != 2 && size != 4) refuse();
  ctx.out.emit(size == 2 ? O_selp_16 : O_selp_32, ctx.in.destination(0, to),
               ctx.frame.constant(size, true_value(to)), ctx.frame.constant(size, 0), result);
}

void selp(DecodeContext& ctx, const Instruction& /*inst*/) {
  ctx.out.op_class(OpClass::Int);
  const Type t = ctx.in.type();
  const Operands::Predicate p = ctx.in.predicate(3);
  u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t);
  if (p.negated) std::swap(a, b);
  const unsigned n = ptx::size_of(t);
  ctx.out.emit(n == 8   ? O_selp_64
               : n == 4 ? O_selp_32
                        : O_selp_16,
               ctx.in.destination(0, t), a, b, p.offset);
}

void slct(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(OpClass::Int);
  const Type t = ctx.in.type(0), by = ctx.in.type(1);
  const u32 a = ctx.in.source(1, t), b = ctx.in.source(2, t);
  u32 c = ctx.in.source(3, by);
  if (inst.has("ftz")) {
    const u32 x = ctx.frame.temporary();
    ctx.out.alu(O_flush_f32, x, c);
    c = x;
  }
  const u32 p = ctx.frame.temporary_predicate();
  ctx.out.emit(by == Type::F32 ? O_le_f32 : O_le_s32, p, ctx.frame.constant(4, 0), c);
  const unsigned n = ptx::size_of(t);
  ctx.out.emit(n == 8   ? O_selp_64
               : n == 4 ? O_selp_32
                        : O_selp_16,
               ctx.in.destination(0, t), a, b, p);
}

}  // namespace

void add_decode_compare(Handlers& handlers) {
  handlers.add({"setp"}, setp);
  handlers.add({"set"}, set);
  handlers.add({"selp"}, selp);
  handlers.add({"slct"}, slct);
}

}  // namespace raddle::exec
