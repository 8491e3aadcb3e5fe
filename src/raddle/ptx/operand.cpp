// Operands of PTX instructions (PTX ISA 9.0, section 6).
#include "raddle/base/error.h"
#include "raddle/ptx/body.h"
#include "raddle/ptx/constant.h"
#include "raddle/ptx/names.h"

namespace raddle::ptx {
namespace {

using Kind = Operand::Kind;

Operand constant_as_operand(const Constant& constant) {
  Operand made;
  made.bits = constant.bits;
  made.is_unsigned = constant.is_unsigned;
  switch (constant.kind) {
    case Constant::Kind::Integer:
      made.kind = Kind::Integer;
      break;
    case Constant::Kind::Float32:
      made.kind = Kind::Float32;
      break;
    case Constant::Kind::Float64:
      made.kind = Kind::Float64;
      break;
  }
  return made;
}

// The selector of a video instruction's operand: ".b0", ".h1", ".b7654".
bool is_selector(std::string_view word) {
  if (word.size() < 2 || word.size() > 5 || (word[0] != 'b' && word[0] != 'h')) return false;
  return word.find_first_not_of("01234567", 1) == std::string_view::npos;
}

}  // namespace

Operand BodyParser::operand() {
  const Token& token = cursor_.token();
  if (token.kind == Token::Kind::Word) return word_operand();
  if (token.is('[')) return address_operand();
  if (token.is('{')) return vector_operand();
  if (token.is('!')) {
    Cursor ahead = cursor_;
    ahead.advance();
    if (ahead.token().kind == Token::Kind::Word) {
      cursor_.advance();
      Operand made;
      made.kind = Kind::Register;
      made.negated = true;
      made.reg = predicate_named(cursor_.take());
      return made;
    }
  }
  if (!begins_constant(token)) cursor_.fail_expected("an operand");
  return constant_as_operand(constant_expression(cursor_));
}

Operand BodyParser::word_operand() {
  const Token name = cursor_.take();
  if (name.text == "_") {
    Operand made;
    if (cursor_.token().is('|')) second_predicate(made);
    return made;
  }
  Operand made = name_operand(name);
  if (made.kind == Kind::Register && cursor_.token().is('|')) second_predicate(made);
  if (made.kind == Kind::Symbol) offsets(made);
  return made;
}

// "p|q", "%r1|%p1", "_|%p1", "{a,b}|%p1", where q may be the sink.
void BodyParser::second_predicate(Operand& made) {
  cursor_.expect('|');
  if (made.kind != Kind::Vector) made.kind = Kind::Predicates;
  const Token name = cursor_.expect_word("a predicate register or '_'");
  if (name.text != "_") made.reg2 = predicate_named(name);
}

std::optional<Named> BodyParser::find(std::string_view name) {
  if (const std::optional<Named> local = scopes_.find(name)) return local;
  const Named* global = state_.globals.find(name);
  return global != nullptr ? std::optional<Named>(*global) : std::nullopt;
}

void BodyParser::fail_undefined(const Token& name) const {
  const char* what = name.text[0] == '%' ? "undefined register " : "undefined symbol ";
  cursor_.fail_at(name, what + in_quotes(name.text));
}

Operand BodyParser::name_operand(const Token& name) {
  const std::optional<Named> named = find(name.text);
  if (!named) return special_operand(name);
  Operand made;
  made.kind = Kind::Symbol;
  using Scope = SymbolRef::Scope;
  switch (named->kind) {
    case Named::Kind::Register:
      made.kind = Kind::Register;
      made.reg = named->index;
      break;
    case Named::Kind::Variable:
      made.symbol = {Scope::Function, named->index};
      break;
    case Named::Kind::Parameter:
      made.symbol = {Scope::Parameter, named->index};
      break;
    case Named::Kind::ReturnParameter:
      made.symbol = {Scope::ReturnParameter, named->index};
      break;
    case Named::Kind::ModuleVariable:
      made.symbol = {Scope::Module, named->index};
      break;
    case Named::Kind::Function:
      made.symbol = {Scope::Code, named->index};
      break;
    default:
      cursor_.fail_at(name, "expected an operand, found label " + in_quotes(name.text));
  }
  return made;
}

Operand BodyParser::special_operand(const Token& name) {
  constexpr std::string_view kEnvreg = "%envreg";
  Operand made;
  made.kind = Kind::Special;
  if (const std::optional<Special> special = special_named(name.text)) {
    made.special = *special;
    return made;
  }
  if (name.text.substr(0, kEnvreg.size()) == kEnvreg) {
    const std::string_view digits = name.text.substr(kEnvreg.size());
    unsigned number = 0;
    for (char digit : digits)
      number = digit >= '0' && digit <= '9' && number < 32
                   ? number * 10 + static_cast<unsigned>(digit - '0')
                   : 32;
    if (!digits.empty() && number < 32) {
      made.special = Special::Envreg;
      made.special_index = static_cast<std::uint8_t>(number);
      return made;
    }
  }
  const std::size_t dot = name.text.rfind('.');
  if (dot != std::string_view::npos && is_selector(name.text.substr(dot + 1))) {
    Token base = name;
    base.text = name.text.substr(0, dot);
    made.kind = Kind::Register;
    made.has_selector = true;
    made.selector = name.text.substr(dot + 1);
    made.reg = register_named(base, "a register");
    return made;
  }
  if (is_unsupported_special(name.text))
    cursor_.fail_at(name, "special register " + in_quotes(name.text) + " is not supported");
  fail_undefined(name);
}

std::uint32_t BodyParser::register_named(const Token& name, const char* what) {
  const std::optional<Named> named = find(name.text);
  if (!named) fail_undefined(name);
  if (named->kind != Named::Kind::Register)
    cursor_.fail_at(name, "expected " + std::string(what) + ", found " + in_quotes(name.text));
  return named->index;
}

std::uint32_t BodyParser::predicate_named(const Token& name) {
  const std::uint32_t index = register_named(name, "a predicate register");
  RADDLE_ASSERT(index < function_.registers.size());
  const Type type = function_.registers[index].type;
  if (type != Type::Pred)
    cursor_.fail_at(name, "expected a predicate register, found " + in_quotes(name.text) +
                              " of type ." + std::string(name_of(type)));
  return index;
}

Operand BodyParser::vector_operand() {
  constexpr std::size_t kMaxElements = 256;
  const Token open = cursor_.take();
  Operand made;
  made.kind = Kind::Vector;
  do {
    if (made.elements.size() == kMaxElements)
      cursor_.fail_at(open, "vector of more than 256 elements");
    const Token& token = cursor_.token();
    if (token.is('{') || token.is('[')) cursor_.fail_expected("a register or constant");
    made.elements.push_back(operand());
  } while (cursor_.accept(','));
  cursor_.expect('}');
  state_.spend(sizeof(Operand) * made.elements.size());
  if (cursor_.token().is('|')) second_predicate(made);
  return made;
}

// "[%rd1+16]", "[symbol-4]", "[16]"; for textures and tensors "[t, {x, y}]", "[t, s, {x, y}]".
Operand BodyParser::address_operand() {
  const Token open = cursor_.take();
  Operand made;
  if (cursor_.token().kind == Token::Kind::Word) {
    const Token base = cursor_.take();
    made = name_operand(base);
    if (made.kind != Kind::Register && made.kind != Kind::Symbol)
      cursor_.fail_at(base, "expected a register or symbol, found " + in_quotes(base.text));
    made.kind = Kind::Address;
    offsets(made);
  } else {
    made.kind = Kind::Address;
    made.offset = integer_expression(cursor_, "an address");
  }
  while (cursor_.accept(',')) {
    if (cursor_.token().is('[')) cursor_.fail_expected("coordinates");
    if (made.elements.size() == 8) cursor_.fail_at(open, "address of more than 8 parts");
    made.elements.push_back(operand());
    state_.spend(sizeof(Operand));
  }
  cursor_.expect(']');
  return made;
}

void BodyParser::offsets(Operand& made) {
  while (cursor_.token().is('+') || cursor_.token().is('-')) {
    const bool minus = cursor_.take().is('-');
    const Token place = cursor_.token();
    if (!begins_constant(place)) cursor_.fail_expected("an offset");
    const Constant by = constant_operand(cursor_);
    if (by.kind != Constant::Kind::Integer)
      cursor_.fail_at(place, "expected an offset, found a floating-point number");
    const auto bits = static_cast<std::uint64_t>(made.offset);
    made.offset = static_cast<std::int64_t>(minus ? bits - by.bits : bits + by.bits);
  }
}

}  // namespace raddle::ptx
