// Matrix instructions (PTX ISA 9.0, 9.7.14): wmma, mma, ldmatrix, stmatrix, movmatrix.
#include <algorithm>

#include "raddle/exec/decode/decode_slow.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using Kind = ptx::Operand::Kind;
using trace::OpClass;

/// What the dotted words of a matrix instruction say.
struct Decoder::MatrixWords {
  MatrixShape shape;
  std::vector<Element> elements;  ///< in order
  bool a_row = true, b_row = false;
  std::string_view layout;  ///< of wmma.load and wmma.store
};

namespace {

std::vector<std::string> dotted_words(const ptx::Instruction& inst) {
  std::vector<std::string> words{""};
  for (char c : inst.text()) {
    if (c == '.') words.emplace_back();
    else if (c != ' ' && c != '\t') words.back() += c;
  }
  return words;
}

bool is_eight_bit(Element e) {
  return e == Element::S8 || e == Element::U8 || e == Element::E4M3 || e == Element::E5M2;
}
bool is_float8(Element e) { return e == Element::E4M3 || e == Element::E5M2; }
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
/// The shapes that PTX has of a product.
bool has_shape(Family family, MatrixShape s, bool wmma) {
  using Shapes = std::vector<MatrixShape>;
  static const Shapes kWide = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
  static const std::map<Family, Shapes> kWmma = {
      {Family::F16, kWide},      {Family::BF16, kWide},        {Family::TF32, {{16, 16, 8}}},
      {Family::Int8, kWide},     {Family::Int4, {{8, 8, 32}}}, {Family::Bit, {{8, 8, 128}}},
      {Family::F64, {{8, 8, 4}}}};
  static const std::map<Family, Shapes> kMma = {
      {Family::F16, {{8, 8, 4}, {16, 8, 8}, {16, 8, 16}}},
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

}  // namespace

/// One layout for all instructions that use it.
std::shared_ptr<const Fragment> Decoder::fragment(Role role, const MatrixWords& words,
                                                  Element element, unsigned registers) {
  const bool quad = words.shape == MatrixShape{8, 8, 4} && element != Element::F64;
  const bool row = role == Role::A ? words.a_row : words.b_row;
  const MatrixShape& s = words.shape;
  auto& known = fragments_[{static_cast<unsigned>(role) | (quad ? 8u : 0u), s.m, s.n, s.k,
                            static_cast<unsigned>(element) | (quad && row ? 64u : 0u), registers}];
  if (known == nullptr)
    known =
        quad ? make_quad_fragment(role, element, row) : make_fragment(role, s, element, registers);
  if (known == nullptr || known->registers != registers) refuse("number of registers");
  return known;
}

FragmentRegisters Decoder::fragment_registers(std::shared_ptr<const Fragment> fragment,
                                              const ptx::Operand& operand, bool written) {
  const unsigned width = bits_of(fragment->element) == 64 ? 8 : 4;
  const ptx::Type type = width == 8 ? ptx::Type::F64 : ptx::Type::B32;
  const auto one = [&](const ptx::Operand& o) {
    return written ? destination(o, type) : source(o, type);
  };
  FragmentRegisters made{std::move(fragment), {}};
  if (operand.kind != Kind::Vector) made.at.push_back(one(operand));
  for (const ptx::Operand& o : operand.elements) made.at.push_back(one(o));
  return made;
}

namespace {
unsigned registers_in(const ptx::Operand& o) {
  return o.kind == Kind::Vector ? static_cast<unsigned>(o.elements.size()) : 1;
}
}  // namespace

void Decoder::wmma(const Inst& inst) {
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
  if (inst.has("mma")) return matrix_product(words, true);
  wmma_access(words);
}

void Decoder::wmma_access(const MatrixWords& words) {
  const Inst& inst = *inst_;
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
  const ptx::Operand& data = operand(store ? 1 : 0);
  auto made = std::make_unique<MatrixAccess>();
  made->data = fragment_registers(fragment(role, words, element, registers_in(data)), data, !store);
  if (made->data.at.size() != made->data.fragment->registers) refuse("number of registers");
  made->address = slow_address(inst, operand(store ? 0 : 1));
  made->row_major = words.a_row;
  made->store = store;
  const MatrixShape& s = words.shape;
  const unsigned across =
      words.a_row ? (role == Role::A ? s.k : s.n) : (role == Role::B ? s.k : s.m);
  made->stride = inst.operands.size() > 2 ? source(operand(2), ptx::Type::U32)
                                          : constant(4, across);  // the matrix stands alone
  current_.bytes = static_cast<std::uint8_t>(
      std::min(16u, made->data.fragment->registers * (bits_of(element) == 64 ? 8 : 4)));
  const ptx::Space space = made->address.space;
  emit_slow_access(std::move(made), space, store);
}

void Decoder::matrix_product(const MatrixWords& words, bool wmma) {
  const Inst& inst = *inst_;
  std::vector<Element> e = words.elements;
  if (e.size() == 2 && wmma) e = {e[0], Element::F16, Element::F16, e[1]};
  if (e.size() != 4) refuse();
  const Family family = family_of(e[1], e[2]);
  if (!makes(family, e[0]) || !makes(family, e[3]) || !has_shape(family, words.shape, wmma))
    refuse();
  if (inst.has("sp") || inst.has("block_scale") || inst.has("kind::f8f6f4")) refuse();
  const bool integer = e[0] == Element::S32;
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
    const ptx::Operand& o = operand(at);
    auto registers = fragment_registers(fragment(role, words, e[at], registers_in(o)), o, at == 0);
    if (registers.at.size() != registers.fragment->registers) refuse("number of registers");
    return registers;
  };
  made->d = part(Role::C, 0);
  made->a = part(Role::A, 1);
  made->b = part(Role::B, 2);
  made->c = part(Role::C, 3);
  op_class(OpClass::Tensor);
  current_.bytes = tensor_work(family, words.shape, made->d.fragment->products);
  emit_slow(std::move(made));
}

void Decoder::mma(const Inst& inst) {
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
  matrix_product(words, false);
}

void Decoder::matrix_rows(const Inst& inst) {
  const bool store = inst.opcode == "stmatrix";
  if (!inst.has("m8n8") || type() != ptx::Type::B16) refuse();
  const ptx::Operand& data = operand(store ? 1 : 0);
  const std::size_t count = inst.has("x4") ? 4 : inst.has("x2") ? 2 : inst.has("x1") ? 1 : 0;
  auto made = std::make_unique<MatrixRows>();
  const auto one = [&](const ptx::Operand& o) {
    return store ? source(o, ptx::Type::B32) : destination(o, ptx::Type::B32);
  };
  if (data.kind != Kind::Vector) made->at.push_back(one(data));
  for (const ptx::Operand& o : data.elements) made->at.push_back(one(o));
  if (made->at.size() != count) refuse("number of registers");
  made->address = slow_address(inst, operand(store ? 0 : 1));
  if (made->address.space == ptx::Space::Global) refuse();
  made->transposed = inst.has("trans");
  made->store = store;
  current_.bytes = static_cast<std::uint8_t>(4 * count);
  const ptx::Space space = made->address.space;
  emit_slow_access(std::move(made), space, store);
}

void Decoder::matrix_transpose(const Inst& inst) {
  if (!inst.has("m8n8") || !inst.has("trans")) refuse();
  op_class(OpClass::Shuffle);
  auto made = std::make_unique<MatrixTranspose>();
  made->a = source(operand(1), ptx::Type::B32);
  made->d = destination(operand(0), ptx::Type::B32);
  emit_slow(std::move(made));
}

}  // namespace raddle::exec
