// Instructions as statements: guard, opcode, operands; branches and calls, whose operands are names
// of another kind.
#include <algorithm>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/ptx/body.h"
#include "raddle/ptx/names.h"

namespace raddle::ptx {

using Kind = Operand::Kind;
using What = PendingName::What;

void OpcodeTable::Decoded::add_word(std::string_view word) {
  if (const Type type = type_named(word); type != Type::None) {
    types.push_back(type);
    return;
  }
  if (word == "v2" || word == "v4" || word == "v8") vector = static_cast<unsigned>(word[1] - '0');
  modifiers.push_back(word);
}

const OpcodeTable::Decoded& OpcodeTable::decode(std::string_view text) {
  RADDLE_ASSERT(names_.size() == decoded_.size());
  if (const Named* known = names_.find(text)) return decoded_[known->index];
  Decoded made;
  std::size_t dot = text.find('.');
  made.opcode = text.substr(0, dot);
  while (dot != std::string_view::npos) {
    const std::size_t start = dot + 1;
    dot = text.find('.', start);
    made.add_word(text.substr(start, dot == std::string_view::npos ? dot : dot - start));
  }
  names_.insert(text, {Named::Kind::Opcode, static_cast<std::uint32_t>(decoded_.size())});
  return decoded_.emplace_back(std::move(made));
}

void BodyParser::guarded_instruction() {
  cursor_.expect('@');
  Instruction made;
  made.guard_negated = cursor_.accept('!');
  made.guard = predicate_named(cursor_.expect_word("a predicate register"));
  instruction(cursor_.expect_word("an instruction"), std::move(made));
}

void BodyParser::instruction(const Token& opcode, Instruction made) {
  OpcodeTable::Decoded spaced;
  const OpcodeTable::Decoded* decoded = &opcodes_.decode(opcode.text);
  if (cursor_.token().kind == Token::Kind::Directive) {  // "ld .global .f32"
    spaced = *decoded;
    while (cursor_.token().kind == Token::Kind::Directive)
      spaced.add_word(cursor_.take().text.substr(1));
    decoded = &spaced;
  }
  // The token's own characters, not those of the first use: Instruction::text() reads on from
  // there.
  made.opcode = opcode.text.substr(0, decoded->opcode.size());
  made.modifiers = decoded->modifiers;
  made.types = decoded->types;
  made.line = opcode.line;
  made.source = source_;
  made.inlined_at = inlined_at_;
  made.column = opcode.column;
  const unsigned vector = decoded->vector;
  if (made.opcode == "call") {
    call(made);
  } else {
    operands(made);
    check_vectors(made, vector, opcode);
  }
  cursor_.expect(';');
  state_.spend(sizeof(Instruction) + sizeof(Operand) * made.operands.size() + 64);
  function_.instructions.push_back(std::move(made));
}

void BodyParser::operands(Instruction& made) {
  operands_.clear();
  if (made.opcode == "bra") {
    label_operand();
  } else if (made.opcode == "brx" && made.has("idx")) {
    branch_by_index();
  } else if (!cursor_.token().is(';')) {
    do {
      operands_.push_back(begins_negation() ? negated_operand(made) : operand());
    } while (cursor_.accept(','));
  }
  made.operands.assign(std::make_move_iterator(operands_.begin()),
                       std::make_move_iterator(operands_.end()));
}

// "-%r1", "-%r1.b0"; "-5" is a constant.
bool BodyParser::begins_negation() const {
  if (!cursor_.token().is('-')) return false;
  Cursor ahead = cursor_;
  ahead.advance();
  return ahead.token().kind == Token::Kind::Word;
}

Operand BodyParser::negated_operand(const Instruction& of) {
  if (of.opcode != "vmad")
    cursor_.fail_at(cursor_.token(), "operands of " + in_quotes(of.opcode) + " cannot be negated");
  cursor_.advance();
  const Token name = cursor_.token();
  Operand made = operand();
  if (made.kind != Kind::Register)
    cursor_.fail_at(name, "expected a register, found " + in_quotes(name.text));
  made.negated = true;
  return made;
}

void BodyParser::label_operand() {
  const Token name = cursor_.expect_word("a label");
  const auto here = static_cast<std::uint32_t>(function_.instructions.size());
  wait_for(What::Operand, name, here, 0);
  operands_.emplace_back().kind = Kind::Label;
}

// "brx.idx %r1, targets;"
void BodyParser::branch_by_index() {
  const Token index = cursor_.expect_word("a register");
  Operand& made = operands_.emplace_back();
  made.kind = Kind::Register;
  made.reg = register_named(index, "a register");
  cursor_.expect(',');
  const Token list = cursor_.expect_word("the label of a .branchtargets list");
  wait_for(What::BranchTable, list, static_cast<std::uint32_t>(function_.instructions.size()), 0);
}

// ld, st: the vector must have as many elements as .v2, .v4, .v8 says; mov packs and unpacks.
void BodyParser::check_vectors(const Instruction& made, unsigned vector, const Token& opcode) {
  if (made.opcode == "mov" && made.operands.size() == 2) return check_pack(made, opcode);
  const bool is_load = made.opcode == "ld" || made.opcode == "ldu";
  if (!is_load && made.opcode != "st") return;
  const std::size_t which = is_load ? 0 : 1;
  if (made.operands.size() <= which) return;
  const Operand& data = made.operands[which];
  const std::size_t found = data.kind == Kind::Vector ? data.elements.size() : 0;
  if (found == vector) return;
  const auto words = [](std::size_t count) {
    return count == 0 ? "a single operand" : "a vector of " + std::to_string(count);
  };
  cursor_.fail_at(opcode,
                  in_quotes(opcode.text) + " takes " + words(vector) + ", found " + words(found));
}

// "mov.b64 {%r1, %r2}, %rd1;": elements share the value evenly.
void BodyParser::check_pack(const Instruction& made, const Token& opcode) {
  for (const Operand& side : made.operands) {
    if (side.kind != Kind::Vector || made.types.size() != 1) continue;
    const auto count = static_cast<unsigned>(side.elements.size());
    const unsigned bytes = size_of(made.types[0]);
    if ((count != 2 && count != 4) || !elements_have_size(side, bytes / count))
      cursor_.fail_at(opcode, in_quotes(opcode.text) +
                                  " packs 2 or 4 elements that together have " +
                                  std::to_string(8 * bytes) + " bits, found something else");
  }
}

bool BodyParser::elements_have_size(const Operand& pack, unsigned bytes) const {
  return std::all_of(pack.elements.begin(), pack.elements.end(), [&](const Operand& element) {
    return element.kind != Kind::Register ||
           size_of(function_.registers[element.reg].type) == bytes;
  });
}

// "call (r), f, (a, b);", "call f;", "call (r), %rd1, (a), prototype;"
void BodyParser::call(Instruction& made) {
  Call call;
  if (cursor_.token().is('(')) {
    call.returns = call_list();
    cursor_.expect(',');
  }
  const Token name = cursor_.expect_word("a function");
  callee(call, name);
  const auto index = static_cast<std::uint32_t>(function_.calls.size());
  bool has_table = false;
  if (cursor_.accept(',')) {
    const bool has_list = cursor_.token().is('(');
    if (has_list) call.arguments = call_list();
    if (!has_list || cursor_.accept(',')) {
      wait_for(What::CallTable, cursor_.expect_word("a .callprototype or .calltargets"), index, 0);
      has_table = true;
    }
  }
  if (call.callee.kind == Kind::Register && !has_table)
    cursor_.fail_at(
        name, "a call through " + in_quotes(name.text) + " needs a .callprototype or .calltargets");
  check_call(call, name);
  made.call = index;
  state_.spend(sizeof(Call) + sizeof(Operand) * (call.returns.size() + call.arguments.size()));
  function_.calls.push_back(std::move(call));
}

void BodyParser::callee(Call& made, const Token& name) {
  made.callee = name_operand(name);
  const bool is_function =
      made.callee.kind == Kind::Symbol && made.callee.symbol.scope == SymbolRef::Scope::Code;
  if (!is_function && made.callee.kind != Kind::Register)
    cursor_.fail_at(name, "expected a function or a register, found " + in_quotes(name.text));
}

std::vector<Operand> BodyParser::call_list() {
  std::vector<Operand> all;
  cursor_.expect('(');
  if (cursor_.accept(')')) return all;
  do {
    all.push_back(operand());
  } while (cursor_.accept(','));
  cursor_.expect(')');
  return all;
}

void BodyParser::check_call(const Call& made, const Token& name) {
  if (made.callee.kind != Kind::Symbol) return;
  RADDLE_ASSERT(made.callee.symbol.index < state_.module.functions.size());
  const Function& function = state_.module.functions[made.callee.symbol.index];
  const auto check = [&](std::size_t expected, std::size_t found, const char* what) {
    if (expected != found)
      cursor_.fail_at(name, in_quotes(name.text) + " has " + std::to_string(expected) + " " + what +
                                ", found " + std::to_string(found));
  };
  check(function.parameters.size(), made.arguments.size(), "parameters");
  check(function.returns.size(), made.returns.size(), "return values");
}

}  // namespace raddle::ptx
