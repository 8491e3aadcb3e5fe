#include "raddle/ptx/variable.h"

#include <algorithm>
#include <bit>

#include "raddle/ptx/constant.h"
#include "raddle/ptx/half.h"
#include "raddle/ptx/names.h"

namespace raddle::ptx {
namespace {

constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 40;
constexpr std::size_t kMaxExtents = 16;

bool is_opaque(Type type) {
  return type == Type::TexRef || type == Type::SampRef || type == Type::SurfRef;
}

// The bits of a constant stored into an element of `type`.
std::uint64_t stored_bits(const Constant& constant, Type type) {
  const bool is_integer = constant.kind == Constant::Kind::Integer;
  switch (type) {
    case Type::F64:
      return std::bit_cast<std::uint64_t>(as_double(constant));
    case Type::F32:
      if (constant.kind == Constant::Kind::Float32) return constant.bits;
      return std::bit_cast<std::uint32_t>(static_cast<float>(as_double(constant)));
    case Type::F16:
      return is_integer ? constant.bits : half_bits(as_double(constant));
    default:
      return constant.bits;
  }
}

}  // namespace

std::optional<Space> space_of(const Token& token) {
  if (token.kind != Token::Kind::Directive) return std::nullopt;
  if (token.text == ".reg") return Space::Reg;
  if (token.text == ".param") return Space::Param;
  if (token.text == ".global") return Space::Global;
  if (token.text == ".shared") return Space::Shared;
  if (token.text == ".local") return Space::Local;
  if (token.text == ".const") return Space::Const;
  return std::nullopt;
}

Linkage linkage(Cursor& cursor) {
  Linkage found;
  for (;;) {
    if (cursor.accept_directive(".extern")) {
      found.is_extern = true;
    } else if (cursor.accept_directive(".visible")) {
      found.is_visible = true;
    } else if (cursor.accept_directive(".weak") || cursor.accept_directive(".common")) {
      found.is_weak = true;
    } else {
      return found;
    }
  }
}

// Where the initialiser at hand writes.
struct VariableParser::Target {
  Variable& variable;
  unsigned element;                    // bytes
  std::vector<std::uint64_t> extents;  // those of .v2 and .v4 last
  std::vector<std::uint64_t> strides;  // bytes
};

std::vector<Declared> VariableParser::parameter_list() {
  Cursor& cursor = state_->cursor;
  std::vector<Declared> all;
  cursor.expect('(');
  if (cursor.accept(')')) return all;
  do {
    const std::optional<Space> space = space_of(cursor.token());
    if (space != Space::Param && space != Space::Reg) cursor.fail_expected(".param or .reg");
    cursor.advance();
    const Shape of = shape();
    all.push_back(named(of, *space, {}));
  } while (cursor.accept(','));
  cursor.expect(')');
  return all;
}

VariableParser::Shape VariableParser::shape() {
  Cursor& cursor = state_->cursor;
  Shape found;
  bool is_pointer = false;  // after .ptr follow the space and alignment of what it points to
  while (cursor.token().kind == Token::Kind::Directive) {
    const Token word = cursor.token();
    if (word.text == ".attribute") {
      attribute(found);
      continue;
    }
    cursor.advance();
    if (word.text == ".align") {
      const std::uint32_t align = alignment();
      if (!is_pointer) found.align = align;
    } else if (word.text == ".v2" || word.text == ".v4") {
      found.components = static_cast<unsigned>(word.text[2] - '0');
    } else if (word.text == ".ptr") {
      is_pointer = true;
    } else if (const Type type = type_named(word.text.substr(1)); type != Type::None) {
      found.type = type;
    } else if (!is_pointer || !space_of(word)) {
      cursor.fail_at(word, "expected a type such as .b32, found " + in_quotes(word.text));
    }
  }
  if (found.type == Type::None) cursor.fail_expected("a type such as .b32");
  return found;
}

// ".attribute(.managed)", ".attribute(.unified(1, 2))".
void VariableParser::attribute(Shape& shape) {
  Cursor& cursor = state_->cursor;
  cursor.advance();
  Cursor inside = cursor;
  inside.advance();
  shape.is_managed |= inside.token().is_directive(".managed");
  cursor.skip_balanced('(', ')');
}

std::uint32_t VariableParser::alignment() {
  constexpr std::int64_t kMaxAlign = std::int64_t{1} << 30;
  const Token place = state_->cursor.token();
  const std::int64_t align = integer_expression(state_->cursor, "an alignment");
  if (align <= 0 || align > kMaxAlign || !std::has_single_bit(static_cast<std::uint64_t>(align)))
    state_->cursor.fail_at(
        place, "expected an alignment that is a power of two, found " + std::to_string(align));
  return static_cast<std::uint32_t>(align);
}

Declared VariableParser::named(const Shape& shape, Space space, const Linkage& linkage) {
  state_->spend(sizeof(Variable));
  Declared made;
  made.name = state_->cursor.expect_word("a name");
  Variable& variable = made.variable;
  variable.name = made.name.text;
  variable.space = space;
  variable.type = shape.type;
  variable.is_extern = linkage.is_extern;
  variable.is_visible = linkage.is_visible;
  variable.is_weak = linkage.is_weak;
  variable.is_managed = shape.is_managed;
  variable.line = made.name.line;
  const unsigned natural = size_of(shape.type) * shape.components;
  variable.align = shape.align != 0 ? shape.align : natural;
  extents_.clear();
  while (state_->cursor.accept('[')) extents_.push_back(extent());
  variable.is_array = !extents_.empty();
  variable.size = size_in_bytes(shape, made.name);
  return made;
}

std::uint64_t VariableParser::extent() {
  Cursor& cursor = state_->cursor;
  if (extents_.size() == kMaxExtents) cursor.fail_at(cursor.token(), "more than 16 array extents");
  if (extents_.empty() && cursor.accept(']')) return 0;
  const Token place = cursor.token();
  const std::int64_t count = integer_expression(cursor, "an array extent");
  if (count < 0)
    cursor.fail_at(place,
                   "expected an array extent that is not negative, found " + std::to_string(count));
  cursor.expect(']');
  return static_cast<std::uint64_t>(count);
}

std::uint64_t VariableParser::size_in_bytes(const Shape& shape, const Token& name) {
  std::uint64_t bytes = size_of(shape.type) * shape.components;
  for (std::uint64_t count : extents_) {
    if (count > kMaxVariableBytes / std::max<std::uint64_t>(bytes, 1))
      state_->cursor.fail_at(name, in_quotes(name.text) + " is larger than 2^40 bytes");
    bytes *= count;
  }
  return bytes;
}

void VariableParser::initialiser(const Shape& shape, const Linkage& linkage, Variable& variable) {
  Cursor& cursor = state_->cursor;
  if (linkage.is_extern) cursor.fail_expected("',' or ';' after an .extern variable");
  if (variable.space != Space::Global && variable.space != Space::Const)
    cursor.fail_at(cursor.token(), "only .global and .const variables have an initial value, " +
                                       in_quotes(variable.name) + " is another");
  cursor.expect('=');
  if (is_opaque(shape.type)) {
    // Sampler states: the machine takes them from the texture object instead.
    cursor.skip_balanced('{', '}');
    return;
  }
  Target target{variable, size_of(shape.type), extents_, {}};
  if (shape.components > 1) target.extents.push_back(shape.components);
  target.strides.resize(target.extents.size());
  std::uint64_t stride = target.element;
  for (std::size_t i = target.extents.size(); i-- > 0;) {
    target.strides[i] = stride;
    stride *= target.extents[i];
  }
  if (target.extents.empty()) {
    value(target, 0);
  } else {
    elements(target, 0, 0);
  }
}

void VariableParser::elements(Target& target, std::size_t level, std::uint64_t at) {
  Cursor& cursor = state_->cursor;
  cursor.expect('{');
  const bool is_open = level == 0 && target.extents[0] == 0;
  const bool is_last = level + 1 == target.extents.size();
  std::uint64_t count = 0;
  if (!cursor.token().is('}')) {
    do {
      if (!is_open && count == target.extents[level])
        cursor.fail_at(cursor.token(), "expected at most " + std::to_string(count) +
                                           " initialisers here, found more");
      const std::uint64_t offset = at + count * target.strides[level];
      if (is_last) {
        value(target, offset);
      } else {
        elements(target, level + 1, offset);
      }
      ++count;
    } while (cursor.accept(','));
  }
  cursor.expect('}');
  if (is_open) target.variable.size = count * target.strides[0];
}

void VariableParser::value(Target& target, std::uint64_t at) {
  Cursor& cursor = state_->cursor;
  const Token& token = cursor.token();
  if (token.kind == Token::Kind::Word && token.text != "WARP_SZ") {
    symbol_value(target, at, target.element, 0);
  } else if (token.kind == Token::Kind::Integer && cursor.character_after() == '(') {
    masked_symbol(target, at);
  } else {
    store(target, at, stored_bits(constant_expression(cursor), target.variable.type));
  }
}

// "symbol", "symbol+8", "generic(symbol)+8".
void VariableParser::symbol_value(Target& target, std::uint64_t at, unsigned size, unsigned shift) {
  Cursor& cursor = state_->cursor;
  Relocation relocation;
  relocation.offset = at;
  relocation.size = static_cast<std::uint8_t>(size);
  relocation.shift = static_cast<std::uint8_t>(shift);
  relocation.generic = cursor.token().text == "generic" && cursor.character_after() == '(';
  if (relocation.generic) {
    cursor.advance();
    cursor.advance();
  }
  const Token name = cursor.expect_word("a variable or function");
  const Named* named = state_->globals.find(name.text);
  if (named == nullptr) cursor.fail_at(name, "undefined symbol " + in_quotes(name.text));
  const bool is_code = named->kind == Named::Kind::Function;
  relocation.symbol = {is_code ? SymbolRef::Scope::Code : SymbolRef::Scope::Module, named->index};
  const auto addends = [&] {
    while (cursor.token().is('+') || cursor.token().is('-')) {
      const bool minus = cursor.take().is('-');
      const Token place = cursor.token();
      const Constant addend = constant_operand(cursor);
      if (addend.kind != Constant::Kind::Integer) cursor.fail_at(place, "expected a whole number");
      const auto bits = static_cast<std::uint64_t>(relocation.addend);
      relocation.addend =
          static_cast<std::int64_t>(minus ? bits - addend.bits : bits + addend.bits);
    }
  };
  addends();
  if (relocation.generic) {
    cursor.expect(')');
    addends();
  }
  state_->spend(sizeof(Relocation));
  target.variable.relocations.push_back(relocation);
}

// "0xFF00(generic(symbol)+8)": one byte of an address.
void VariableParser::masked_symbol(Target& target, std::uint64_t at) {
  Cursor& cursor = state_->cursor;
  const Token mask = cursor.take();
  const unsigned shift = mask.bits == 0 ? 0 : static_cast<unsigned>(std::countr_zero(mask.bits));
  if (shift % 8 != 0 || mask.bits >> shift != 0xff)
    cursor.fail_at(mask,
                   "expected a mask of one byte such as 0xFF00, found " + in_quotes(mask.text));
  if (target.element != 1)
    cursor.fail_at(mask, "a byte of an address can initialise a .b8, not a ." +
                             std::string(name_of(target.variable.type)));
  cursor.expect('(');
  symbol_value(target, at, 1, shift);
  cursor.expect(')');
}

void VariableParser::store(Target& target, std::uint64_t at, std::uint64_t bits) {
  if (bits == 0) return;  // what is not written is zero
  std::vector<std::uint8_t>& bytes = target.variable.initial;
  const std::uint64_t end = at + target.element;
  if (bytes.size() < end) {
    state_->spend(end - bytes.size());
    bytes.resize(end);
  }
  for (unsigned i = 0; i < target.element && i < 8; ++i)
    bytes[at + i] = static_cast<std::uint8_t>(bits >> (8 * i));
}

}  // namespace raddle::ptx
