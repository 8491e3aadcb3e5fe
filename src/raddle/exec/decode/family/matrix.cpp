// Matrix instructions (PTX ISA 9.0, 9.7.14): wmma, mma, ldmatrix, stmatrix, movmatrix.
#include <algorithm>

#include "raddle/exec/decode/address.h"
#include "raddle/exec/decode/decode_context.h"
#include "raddle/exec/decode/matrix_words.h"
#include "raddle/exec/decode/syntax.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using Kind = ptx::Operand::Kind;
using ptx::Instruction;
using trace::OpClass;

namespace {

/// What the dotted words of a matrix instruction say.
struct MatrixWords {
  MatrixShape shape;
  std::vector<Element> elements;  ///< in order
  bool a_row = true, b_row = false;
  std::string_view layout;  ///< of wmma.load and wmma.store
};

bool is_eight_bit(Element e) {
  return e == Element::S8 || e == Element::U8 || e == Element::E4M3 || e == Element::E5M2;
}
bool is_four_bit(Element e) { return e == Element::S4 || e == Element::U4; }

/// The kind of product that two operand elements make; they may differ in sign (s8 with u8).
enum class Family : std::uint8_t { None, F16, BF16, TF32, F64, Int8, Int4, Bit, Float8 };
Family family_of(Element a, Element b) {
  if (is_four_bit(a) && is_four_bit(b)) return Family::Int4;
  if (is_float8(a) && is_float8(b)) return Family::Float8;
  if (is_eight_bit(a) && is_eight_bit(b) && !is_float8(a) && !is_float8(b)) return Family::Int8;
  if (a != b) return Family::None;
  switch (a) {
    case Element::F16:
      return Family::F16;
    case Element::BF16:
      return Family::BF16;
    case Element::TF32:
      return Family::TF32;
    case Element::F64:
      return Family::F64;
    case Element::B1:
      return Family::Bit;
    default:
      return Family::None;
  }
}
/// May the product have results of this element?
bool makes(Family family, Element result) {
  switch (family) {
    case Family::F16:
    case Family::Float8:
      return result == Element::F16 || result == Element::F32;
    case Family::BF16:
    case Family::TF32:
      return result == Element::F32;
    case Family::F64:
      return result == Element::F64;
    case Family::None:
      return false;
    default:
      return result == Element::S32;
  }
}
/// The time of a product in parts of trace::kTensorParts (A100's rates, which its whitepaper gives
/// for each element type; whole products of f16 are one).
std::uint8_t tensor_work(Family family, MatrixShape s, unsigned products) {
  const unsigned adds = s.m * s.n * s.k * products;
  unsigned sixteenths = 16;  // of the time of an f16 multiply-add
  switch (family) {
    case Family::TF32:
      sixteenths = 32;
      break;
    case Family::F64:
      sixteenths = 256;
      break;
    case Family::Int8:
    case Family::Float8:
      sixteenths = 8;
      break;
    case Family::Int4:
      sixteenths = 4;
      break;
    case Family::Bit:
      sixteenths = 1;
      break;
    default:
      break;
  }
  constexpr unsigned kWhole = 4096 * 16 / trace::kTensorParts;
  return static_cast<std::uint8_t>(std::clamp(adds * sixteenths / kWhole, 1u, 255u));
}
/// The shapes that PTX has of a product. The tables are never destroyed: exit handlers of programs
/// launch kernels, too.
bool has_shape(Family family, MatrixShape s, bool wmma) {
  using Shapes = std::vector<MatrixShape>;
  using Table = std::map<Family, Shapes>;
  static const Shapes& kWide = *new Shapes{{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
  static const Table& kWmma = *new Table{
      {Family::F16, kWide},      {Family::BF16, kWide},        {Family::TF32, {{16, 16, 8}}},
      {Family::Int8, kWide},     {Family::Int4, {{8, 8, 32}}}, {Family::Bit, {{8, 8, 128}}},
      {Family::F64, {{8, 8, 4}}}};
  static const Table& kMma =
      *new Table{{Family::F16, {{8, 8, 4}, {16, 8, 8}, {16, 8, 16}}},
                 {Family::BF16, {{16, 8, 8}, {16, 8, 16}}},
                 {Family::TF32, {{16, 8, 4}, {16, 8, 8}}},
                 {Family::F64, {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}}},
                 {Family::Int8, {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}},
                 {Family::Int4, {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}},
                 {Family::Bit, {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}}},
                 {Family::Float8, {{16, 8, 16}, {16, 8, 32}}}};
  const auto& table = wmma ? kWmma : kMma;
  const auto found = table.find(family);
  if (found == table.end()) return false;
  return std::find(found->second.begin(), found->second.end(), s) != found->second.end();
}

/// One layout for all instructions that use it.
std::shared_ptr<const Fragment> fragment(DecodeContext& ctx, Role role, const MatrixWords& words,
                                         Element element, unsigned registers) {
  const bool row = role == Role::A ? words.a_row : words.b_row;
  auto known = ctx.fragments.find(role, words.shape, element, registers, row);
  if (known == nullptr) refuse("number of registers");
  return known;
}

/// What a register of a fragment is declared as.
ptx::Type register_type(Element element) {
  switch (element) {
    case Element::F16:
      return ptx::Type::F16x2;
    case Element::F32:
      return ptx::Type::F32;
    case Element::F64:
      return ptx::Type::F64;
    default:
      return ptx::Type::S32;
  }
}

FragmentRegisters fragment_registers(DecodeContext& ctx, std::shared_ptr<const Fragment> fragment,
                                     const ptx::Operand& operand, bool written) {
  const unsigned width = bits_of(fragment->element) == 64 ? 8 : 4;
  const ptx::Type type = width == 8 ? ptx::Type::F64 : ptx::Type::B32;
  const auto one = [&](const ptx::Operand& o) {
    if (o.kind == Kind::Register &&
        !register_fits(ctx.function.registers[o.reg].type, register_type(fragment->element), false))
      refuse("type of a register");
    return written ? ctx.in.destination(o, type) : ctx.in.source(o, type);
  };
  std::vector<u32> at;
  if (operand.kind != Kind::Vector) at.push_back(one(operand));
  for (const ptx::Operand& o : operand.elements) at.push_back(one(o));
  return {std::move(fragment), std::move(at)};
}

unsigned registers_in(const ptx::Operand& o) {
  return o.kind == Kind::Vector ? static_cast<unsigned>(o.elements.size()) : 1;
}

void wmma_access(DecodeContext& ctx, const Instruction& inst, const MatrixWords& words) {
  const bool store = inst.has("store");
  const Role role = inst.has("a") ? Role::A : inst.has("b") ? Role::B : Role::C;
  if (words.elements.size() != 1) refuse();
  const Element element = words.elements[0];
  // A shape is known by some product of it.
  const bool result = role == Role::C;
  bool known = false;
  for (Element operand : {Element::F16, Element::BF16, Element::TF32, Element::F64, Element::S8,
                          Element::U8, Element::S4, Element::U4, Element::B1}) {
    const Family family = family_of(operand, operand);
    if (has_shape(family, words.shape, true))
      known = known || (result ? makes(family, element) : operand == element);
  }
  if (!known) refuse();
  const ptx::Operand& data = ctx.in.operand(store ? 1 : 0);
  auto made = std::make_unique<MatrixAccess>();
  made->data = fragment_registers(ctx, fragment(ctx, role, words, element, registers_in(data)),
                                  data, !store);
  if (made->data.at.size() != made->data.fragment->registers) refuse("number of registers");
  made->address = slow_address(ctx, inst, ctx.in.operand(store ? 0 : 1));
  made->row_major = words.a_row;
  made->store = store;
  const MatrixShape& size = words.shape;
  const unsigned across =
      words.a_row ? (role == Role::A ? size.k : size.n) : (role == Role::B ? size.k : size.m);
  made->stride = inst.operands.size() > 2
                     ? ctx.in.source(2, ptx::Type::U32)
                     : ctx.frame.constant(4, across);  // the matrix stands alone
  ctx.out.current().bytes = static_cast<std::uint8_t>(
      std::min(16u, made->data.fragment->registers * (bits_of(element) == 64 ? 8 : 4)));
  const ptx::Space space = made->address.space;
  ctx.out.emit_slow_access(std::move(made), space, store);
}

void matrix_product(DecodeContext& ctx, const Instruction& inst, const MatrixWords& words,
                    bool is_wmma) {
  std::vector<Element> elements = words.elements;
  if (elements.size() == 2 && is_wmma)
    elements = {elements[0], Element::F16, Element::F16, elements[1]};
  if (elements.size() != 4) refuse();
  const Family family = family_of(elements[1], elements[2]);
  if (!makes(family, elements[0]) || !makes(family, elements[3]) ||
      !has_shape(family, words.shape, is_wmma))
    refuse();
  if (inst.has("sp") || inst.has("block_scale") || inst.has("kind::f8f6f4")) refuse();
  const bool integer = elements[0] == Element::S32;
  if (inst.has("satfinite") && !integer) refuse();
  auto made = std::make_unique<MatrixProduct>();
  made->depth = words.shape.k;
  made->satfinite = inst.has("satfinite");
  if (family == Family::Bit) {
    if (!inst.has("popc")) refuse();
    made->bits = inst.has("and") ? MatrixProduct::Bits::And : MatrixProduct::Bits::Xor;
  }
  made->rounding = inst.has("rz") ? 1 : inst.has("rm") ? 2 : inst.has("rp") ? 3 : 0;
  const auto part = [&](Role role, std::size_t at) {
    const ptx::Operand& written = ctx.in.operand(at);
    auto registers = fragment_registers(
        ctx, fragment(ctx, role, words, elements[at], registers_in(written)), written, at == 0);
    if (registers.at.size() != registers.fragment->registers) refuse("number of registers");
    return registers;
  };
  made->d = part(Role::C, 0);
  made->a = part(Role::A, 1);
  made->b = part(Role::B, 2);
  made->c = part(Role::C, 3);
  ctx.out.op_class(OpClass::Tensor);
  ctx.out.current().bytes = tensor_work(family, words.shape, made->d.fragment->products);
  ctx.out.emit_slow(std::move(made));
}

void wmma(DecodeContext& ctx, const Instruction& inst) {
  MatrixWords words;
  std::vector<bool> rows;
  for (const std::string& word : dotted_words(inst)) {
    if (const MatrixShape s = shape_named(word); s.m != 0) words.shape = s;
    if (const Element e = element_named(word); e != Element::None) words.elements.push_back(e);
    if (word == "row" || word == "col") rows.push_back(word == "row");
  }
  if (rows.empty() || words.elements.empty()) refuse();
  words.a_row = rows[0];
  words.b_row = rows.size() > 1 && rows[1];
  if (inst.has("mma")) return matrix_product(ctx, inst, words, true);
  wmma_access(ctx, inst, words);
}

void mma(DecodeContext& ctx, const Instruction& inst) {
  if (inst.has("sp") || inst.has("sp::ordered_metadata")) refuse("sparse matrices");
  MatrixWords words;
  std::vector<bool> rows;
  for (const std::string& word : dotted_words(inst)) {
    if (const MatrixShape s = shape_named(word); s.m != 0) words.shape = s;
    if (const Element e = element_named(word); e != Element::None) words.elements.push_back(e);
    if (word == "row" || word == "col") rows.push_back(word == "row");
  }
  const bool quad = words.shape == MatrixShape{8, 8, 4};
  if (rows.size() != 2) refuse();
  const bool is_f64 = !words.elements.empty() && words.elements[0] == Element::F64;
  if ((!quad || is_f64) && (!rows[0] || rows[1])) refuse("layout");
  words.a_row = rows[0];
  words.b_row = rows[1];
  matrix_product(ctx, inst, words, false);
}

void matrix_rows(DecodeContext& ctx, const Instruction& inst) {
  const bool store = inst.opcode == "stmatrix";
  if (!inst.has("m8n8") || ctx.in.type() != ptx::Type::B16) refuse();
  const ptx::Operand& data = ctx.in.operand(store ? 1 : 0);
  const std::size_t count = inst.has("x4") ? 4 : inst.has("x2") ? 2 : inst.has("x1") ? 1 : 0;
  auto made = std::make_unique<MatrixRows>();
  const auto one = [&](const ptx::Operand& o) {
    return store ? ctx.in.source(o, ptx::Type::B32) : ctx.in.destination(o, ptx::Type::B32);
  };
  if (data.kind != Kind::Vector) made->at.push_back(one(data));
  for (const ptx::Operand& o : data.elements) made->at.push_back(one(o));
  if (made->at.size() != count) refuse("number of registers");
  made->address = slow_address(ctx, inst, ctx.in.operand(store ? 0 : 1));
  if (made->address.space == ptx::Space::Global) refuse();
  made->transposed = inst.has("trans");
  made->store = store;
  ctx.out.current().bytes = static_cast<std::uint8_t>(4 * count);
  const ptx::Space space = made->address.space;
  ctx.out.emit_slow_access(std::move(made), space, store);
}

void matrix_transpose(DecodeContext& ctx, const Instruction& inst) {
  if (!inst.has("m8n8") || !inst.has("trans")) refuse();
  ctx.out.op_class(OpClass::Shuffle);
  auto made = std::make_unique<MatrixTranspose>();
  made->a = ctx.in.source(1, ptx::Type::B32);
  made->d = ctx.in.destination(0, ptx::Type::B32);
  ctx.out.emit_slow(std::move(made));
}

}  // namespace

void add_decode_matrix(Handlers& handlers) {
  handlers.add({"wmma"}, wmma);
  handlers.add({"mma"}, mma);
  handlers.add({"ldmatrix", "stmatrix"}, matrix_rows);
  handlers.add({"movmatrix"}, matrix_transpose);
}

}  // namespace raddle::exec
