// Products of a warpgroup (PTX ISA 9.0, 9.7.15).
#include "raddle/exec/slow/wgmma.h"

#include <algorithm>

#include "raddle/exec/decode/decode_context.h"
#include "raddle/exec/decode/matrix_words.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using Kind = ptx::Operand::Kind;
using ptx::Instruction;
using ptx::Type;
using trace::OpClass;
using trace::OpKind;

namespace {

bool is_byte(Element e) { return e == Element::S8 || e == Element::U8; }

/// Shape and elements, checked against what PTX has: D, A, B in this order.
void read_types(const Instruction& inst, WarpgroupProduct& made) {
  MatrixShape shape;
  std::vector<Element> elements;
  for (const std::string& word : dotted_words(inst)) {
    if (const MatrixShape s = shape_named(word); s.m != 0) shape = s;
    if (const Element e = element_named(word); e != Element::None) elements.push_back(e);
  }
  if (elements.size() != 3) refuse();
  const Element d = elements[0], a = elements[1], b = elements[2];
  const bool mixed = (is_float8(a) && is_float8(b)) || (is_byte(a) && is_byte(b));
  if (a != b && !mixed) refuse("types");
  bool fits = false;
  if (a == Element::F16 || is_float8(a)) fits = d == Element::F16 || d == Element::F32;
  else if (a == Element::BF16 || a == Element::TF32) fits = d == Element::F32;
  else if (is_byte(a) || a == Element::B1) fits = d == Element::S32;
  if (!fits) refuse("types");
  const unsigned deep = 8 * WarpgroupProduct::kRowBytes / bits_of(a);
  const unsigned n = shape.n;
  const bool real = !is_integer(d);
  // Integers: n is a multiple of 16 from 32 on (and 8, 24).
  const bool has_n = n % 8 == 0 && n >= 8 && n <= 256 && (real || n <= 24 || n % 16 == 0);
  const bool sparse = inst.has("sp");
  if (sparse && a == Element::B1) refuse("sparse matrices of bits");
  if (shape.m != 64 || shape.k != (sparse ? 2 * deep : deep) || !has_n) refuse("shape");
  made.columns = n;
  made.a_element = a;
  made.b_element = b;
  made.d_element = d;
}

std::vector<u32> registers(DecodeContext& ctx, const ptx::Operand& operand, std::size_t count,
                           bool written) {
  if (operand.kind != Kind::Vector || operand.elements.size() != count)
    refuse("number of registers");
  std::vector<u32> out;
  for (const ptx::Operand& o : operand.elements)
    out.push_back(written ? ctx.in.destination(o, Type::B32) : ctx.in.source(o, Type::B32));
  return out;
}

/// 1 or -1, 0 or 1.
std::int64_t immediate(DecodeContext& ctx, std::size_t at) {
  const ptx::Operand& operand = ctx.in.operand(at);
  if (operand.kind != Kind::Integer) refuse("immediate expected");
  return static_cast<std::int64_t>(operand.bits);
}
bool negates(DecodeContext& ctx, std::size_t at) {
  const std::int64_t value = immediate(ctx, at);
  if (value != 1 && value != -1) refuse("scale");
  return value == -1;
}
bool transposes(DecodeContext& ctx, std::size_t at) {
  const std::int64_t value = immediate(ctx, at);
  if (value != 0 && value != 1) refuse("order of a matrix");
  return value == 1;
}

/// Of a sparse A: which of its elements there are, and which threads of four have that.
void metadata(DecodeContext& ctx, std::size_t& at, WarpgroupProduct& made) {
  made.metadata = ctx.in.source(at++, Type::B32);
  const std::int64_t selector = immediate(ctx, at++);
  if (selector < 0 || selector > (bits_of(made.a_element) == 8 ? 0 : 1)) refuse("selector");
  made.selector = static_cast<unsigned>(selector);
}

void product(DecodeContext& ctx, const Instruction& inst) {
  auto made = std::make_unique<WarpgroupProduct>();
  read_types(inst, *made);
  const bool real = !is_integer(made->d_element);
  made->satfinite = inst.has("satfinite");
  if (made->satfinite && !is_byte(made->a_element)) refuse();
  if (made->a_element == Element::B1) {
    if (!inst.has("and") || !inst.has("popc")) refuse();
    made->bits = MatrixProduct::Bits::And;
  }
  const unsigned per = made->d_element == Element::F16 ? 4 : 2;
  made->d = registers(ctx, ctx.in.operand(0), made->columns / per, true);
  const bool in_registers = ctx.in.operand(1).kind == Kind::Vector;
  if (in_registers) made->a = registers(ctx, ctx.in.operand(1), 4, false);
  else made->a_descriptor = ctx.in.source(1, Type::B64);
  made->b_descriptor = ctx.in.source(2, Type::B64);
  std::size_t at = 3;
  if (inst.has("sp")) metadata(ctx, at, *made);
  const Operands::Predicate scale = ctx.in.predicate(at++);
  made->scale_d = scale.offset;
  made->scale_d_negated = scale.negated;
  if (real) {
    made->a_negated = negates(ctx, at++);
    made->b_negated = negates(ctx, at++);
    if (bits_of(made->a_element) == 16) {
      if (!in_registers) made->a_along_m = transposes(ctx, at++);
      made->b_along_n = transposes(ctx, at++);
    }
  }
  if (inst.operands.size() != at) refuse("number of operands");
  ctx.out.op_class(OpClass::Tensor);
  // Of the warp's rows; all elements have 256 bits along K, and rates as their widths.
  ctx.out.current().bytes = static_cast<std::uint16_t>(
      4 * made->columns | trace::kWarpgroupProduct | (in_registers ? 0 : trace::kSharedA) |
      (made->metadata ? trace::kSparseA : 0));
  ctx.out.emit_slow(std::move(made));
}

/// Who waits for all of them waits for what they write, in groups or not.
void group(DecodeContext& ctx, const Instruction& inst, BarOp op) {
  const bool waits = op == BarOp::WarpgroupWait;
  const std::int64_t left = waits ? immediate(ctx, 0) : 0;
  if (left < 0 || inst.operands.size() != (waits ? 1 : 0)) refuse();
  Record& r = ctx.out.emit_own(O_bar, OpKind::Barrier);
  ctx.out.op_class(OpClass::Control);
  const auto maximum = std::min<std::int64_t>(left, trace::kMaxGroupsLeft);
  ctx.out.current().bytes = !waits      ? trace::kEndsProducts
                            : left == 0 ? trace::kWaitsForProducts
                                        : static_cast<std::uint16_t>(trace::kWaitsForProductGroups |
                                                                     static_cast<unsigned>(maximum)
                                                                         << trace::kGroupsLeft);
  r.imm = static_cast<std::int32_t>(op);
  r.aux = static_cast<u32>(left);
}

void wgmma(DecodeContext& ctx, const Instruction& inst) {
  if (inst.has("mma_async")) return product(ctx, inst);
  if (inst.has("fence")) return ctx.out.op_class(OpClass::Control);
  if (inst.has("commit_group")) return group(ctx, inst, BarOp::WarpgroupCommit);
  if (inst.has("wait_group")) return group(ctx, inst, BarOp::WarpgroupWait);
  refuse();
}

}  // namespace

void add_decode_wgmma(Handlers& handlers) { handlers.add({"wgmma"}, wgmma); }

}  // namespace raddle::exec
