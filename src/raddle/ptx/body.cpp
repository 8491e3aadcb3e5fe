#include "raddle/ptx/body.h"

#include <algorithm>
#include <array>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/ptx/constant.h"
#include "raddle/ptx/names.h"

namespace raddle::ptx {

using What = PendingName::What;

BodyParser::BodyParser(ParserState& state, OpcodeTable& opcodes, Function& function)
    : state_(state),
      cursor_(state.cursor),
      opcodes_(opcodes),
      function_(function),
      scopes_(function) {
  scopes_.push();
}

void BodyParser::declare_parameters(const std::vector<Declared>& returns,
                                    const std::vector<Declared>& parameters) {
  RADDLE_ASSERT(function_.registers.empty());  // those of parameters come first
  const auto declare_all = [&](const std::vector<Declared>& all, Named::Kind kind) {
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const Variable& variable = all[i].variable;
      if (variable.space != Space::Reg) {
        declare(all[i].name, {kind, i});
        continue;
      }
      const auto index = static_cast<std::uint32_t>(function_.registers.size());
      function_.registers.push_back({variable.name, variable.type});
      declare(all[i].name, {Named::Kind::Register, index});
    }
  };
  declare_all(returns, Named::Kind::ReturnParameter);
  declare_all(parameters, Named::Kind::Parameter);
}

void BodyParser::parse() {
  cursor_.expect('{');
  for (std::size_t depth = 1; depth != 0;) {
    const Token& token = cursor_.token();
    if (token.kind == Token::Kind::Word) {
      const Token word = cursor_.take();
      if (cursor_.accept(':')) {
        label(word);
      } else {
        instruction(word, {});
      }
    } else if (token.kind == Token::Kind::Directive) {
      directive();
    } else if (token.is('@')) {
      guarded_instruction();
    } else if (token.is('{')) {
      open_scope();
      ++depth;
    } else if (token.is('}')) {
      close_scope();
      --depth;
    } else if (!cursor_.accept(';')) {
      cursor_.fail_expected("an instruction or '}'");
    }
  }
  finish_branch_tables();
}

void BodyParser::open_scope() {
  if (scopes_.depth() == kMaxScopes)
    cursor_.fail_at(cursor_.token(), "blocks nested deeper than 64");
  cursor_.advance();
  scopes_.push();
}

// Names that this scope knows are filled in; the others may yet appear in an outer one.
void BodyParser::close_scope() {
  RADDLE_ASSERT(scopes_.depth() != 0 && cursor_.token().is('}'));
  ScopeStack::Scope scope = std::move(scopes_.inner());
  scopes_.pop();
  for (const PendingName& pending : scope.pending) {
    if (const Named* named = scope.names.find(pending.name)) {
      resolve(pending, *named);
    } else if (scopes_.depth() != 0) {
      scopes_.inner().pending.push_back(pending);
    } else {
      cursor_.fail_at(pending.line, pending.column, "undefined label " + in_quotes(pending.name));
    }
  }
  cursor_.advance();
}

void BodyParser::declare(const Token& name, Named named) {
  if (!scopes_.declare(name.text, named))
    cursor_.fail_at(name, in_quotes(name.text) + " is already declared in this block");
}

void BodyParser::directive() {
  const Token word = cursor_.token();
  if (const std::optional<Space> space = space_of(word)) {
    cursor_.advance();
    if (*space == Space::Reg) {
      registers();
    } else {
      variables(*space);
    }
  } else if (word.text == ".loc") {
    location();
  } else if (word.text == ".file") {
    source_file(state_);
  } else if (word.text == ".pragma") {
    cursor_.skip_statement();
  } else if (word.text == ".section") {
    cursor_.skip_section();
  } else if (word.text == ".branchtargets" || word.text == ".calltargets" ||
             word.text == ".callprototype") {
    cursor_.fail_at(word, in_quotes(word.text) + " needs a label before it");
  } else {
    cursor_.fail_at(word,
                    "expected an instruction or a declaration, found " + in_quotes(word.text));
  }
}

namespace {
/// The numbers FILE LINE COLUMN that begin there, as far as there are any.
std::optional<std::array<std::uint32_t, 3>> place_in(std::span<const Token> words) {
  std::array<std::uint32_t, 3> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool number = i < words.size() && words[i].kind == Token::Kind::Integer;
    if (!number && i < 2) return std::nullopt;
    if (number)
      out[i] =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(words[i].bits, ~std::uint32_t{0}));
  }
  return out;
}
}  // namespace

/// ".loc FILE LINE COLUMN [, function_name LABEL [+ OFFSET], inlined_at FILE LINE COLUMN]": the
/// instructions that follow come from there. The second place is that of an earlier .loc, which may
/// lie in inlined code itself.
void BodyParser::location() {
  std::array<Token, 16> line;
  const std::span<const Token> words(line.data(), cursor_.take_line(line));
  source_ = inlined_at_ = {};
  const auto place = place_in(words);
  if (!place) return;
  source_ = {(*place)[0], (*place)[1]};
  const auto inlined = std::ranges::find(words, "inlined_at", &Token::text);
  if (inlined == words.end()) return;
  const auto call = place_in({inlined + 1, words.end()});
  if (!call) return;
  const auto outer = inlined_.find(*call);
  inlined_at_ = outer != inlined_.end() ? outer->second : SourceLine{(*call)[0], (*call)[1]};
  if (inlined_.insert_or_assign(*place, inlined_at_).second) state_.spend(96);
}

void BodyParser::registers() {
  Type type = Type::None;
  while (cursor_.token().kind == Token::Kind::Directive) {
    const Token word = cursor_.take();
    if (word.text == ".v2" || word.text == ".v4")
      cursor_.fail_at(word, "vector registers are not supported: declare one register per element");
    type = type_named(word.text.substr(1));
    if (type == Type::None)
      cursor_.fail_at(word, "expected a type such as .b32, found " + in_quotes(word.text));
  }
  if (type == Type::None) cursor_.fail_expected("a type such as .b32");
  do {
    const Token name = cursor_.expect_word("a register name");
    if (cursor_.token().is('<')) {
      register_range(name, type);
    } else {
      declare(name, {Named::Kind::DeclaredRegister, static_cast<std::uint32_t>(type)});
    }
  } while (cursor_.accept(','));
  cursor_.expect(';');
}

void BodyParser::register_range(const Token& name, Type type) {
  cursor_.expect('<');
  const Token count = cursor_.token();
  constexpr std::uint64_t kMaxCount = 0x7fffffff;
  if (count.kind != Token::Kind::Integer || count.bits > kMaxCount)
    cursor_.fail_expected("a number of registers");
  cursor_.advance();
  cursor_.expect('>');
  if (!scopes_.declare_range({name.text, static_cast<std::uint32_t>(count.bits), type}))
    cursor_.fail_at(name, in_quotes(name.text) + " is already declared in this block");
}

void BodyParser::variables(Space space) {
  VariableParser(state_).declaration(space, {}, [&](Declared declared) -> Variable& {
    const auto index = static_cast<std::uint32_t>(function_.variables.size());
    declare(declared.name, {Named::Kind::Variable, index});
    return function_.variables.emplace_back(std::move(declared.variable));
  });
}

void BodyParser::label(const Token& name) {
  if (cursor_.accept_directive(".branchtargets")) return branch_targets(name);
  if (cursor_.accept_directive(".calltargets")) return call_targets(name);
  if (cursor_.accept_directive(".callprototype")) return prototype(name);
  const auto here = static_cast<std::uint32_t>(function_.instructions.size());
  state_.spend(2 * sizeof(Token));
  declare(name, {Named::Kind::Label, here});
}

void BodyParser::branch_targets(const Token& name) {
  const auto table = static_cast<std::uint32_t>(branch_tables_.size());
  declare(name, {Named::Kind::BranchTargets, table});
  std::vector<std::uint32_t>& entries = branch_tables_.emplace_back();
  do {
    const Token target = cursor_.expect_word("a label");
    wait_for(What::TableEntry, target, table, static_cast<std::uint32_t>(entries.size()));
    entries.push_back(kNoIndex);
  } while (cursor_.accept(','));
  cursor_.expect(';');
}

void BodyParser::call_targets(const Token& name) {
  declare(name, {Named::Kind::CallTargets, static_cast<std::uint32_t>(call_tables_.size())});
  std::vector<std::uint32_t>& entries = call_tables_.emplace_back();
  do {
    const Token target = cursor_.expect_word("a function");
    const Named* named = state_.globals.find(target.text);
    if (named == nullptr || named->kind != Named::Kind::Function)
      cursor_.fail_at(target, "undefined function " + in_quotes(target.text));
    entries.push_back(named->index);
  } while (cursor_.accept(','));
  cursor_.expect(';');
}

// ".callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;"
void BodyParser::prototype(const Token& name) {
  declare(name, {Named::Kind::Prototype, static_cast<std::uint32_t>(function_.prototypes.size())});
  Function::Prototype made;
  VariableParser parser(state_);
  const auto list = [&](std::vector<Variable>& into) {
    if (!cursor_.token().is('(')) return;
    for (Declared& declared : parser.parameter_list()) into.push_back(std::move(declared.variable));
  };
  list(made.returns);
  const Token placeholder = cursor_.expect_word("'_'");
  if (placeholder.text != "_")
    cursor_.fail_at(placeholder, "expected '_', found " + in_quotes(placeholder.text));
  list(made.parameters);
  while (cursor_.token().kind == Token::Kind::Directive) {
    if (!cursor_.accept_directive(".noreturn") && !cursor_.accept_directive(".abi_preserve") &&
        !cursor_.accept_directive(".abi_preserve_control"))
      cursor_.fail_expected("';'");
    if (cursor_.token().kind == Token::Kind::Integer) cursor_.advance();
  }
  cursor_.expect(';');
  function_.prototypes.push_back(std::move(made));
}

void BodyParser::wait_for(What what, const Token& name, std::uint32_t owner, std::uint32_t slot) {
  RADDLE_ASSERT(scopes_.depth() != 0);
  state_.spend(sizeof(PendingName));
  scopes_.inner().pending.push_back({what, name.text, name.line, name.column, owner, slot});
}

void BodyParser::resolve(const PendingName& pending, const Named& named) {
  const auto require = [&](bool fits, const char* what) {
    if (!fits)
      cursor_.fail_at(pending.line, pending.column,
                      "expected " + std::string(what) + ", found " + in_quotes(pending.name) +
                          ", which is something else");
  };
  using Kind = Named::Kind;
  switch (pending.what) {
    case What::Operand:
      require(named.kind == Kind::Label, "a label");
      RADDLE_ASSERT(pending.owner < function_.instructions.size());
      RADDLE_ASSERT(pending.slot < function_.instructions[pending.owner].operands.size());
      function_.instructions[pending.owner].operands[pending.slot].target = named.index;
      break;
    case What::TableEntry:
      require(named.kind == Kind::Label, "a label");
      RADDLE_ASSERT(pending.owner < branch_tables_.size());
      RADDLE_ASSERT(pending.slot < branch_tables_[pending.owner].size());
      branch_tables_[pending.owner][pending.slot] = named.index;
      break;
    case What::BranchTable:
      require(named.kind == Kind::BranchTargets, "a .branchtargets list");
      table_uses_.push_back({pending.owner, named.index});
      break;
    case What::CallTable: {
      require(named.kind == Kind::Prototype || named.kind == Kind::CallTargets,
              "a .callprototype or .calltargets");
      RADDLE_ASSERT(pending.owner < function_.calls.size());
      Call& call = function_.calls[pending.owner];
      if (named.kind == Kind::Prototype) {
        call.prototype = named.index;
      } else {
        state_.spend(sizeof(std::uint32_t) * call_tables_[named.index].size());
        call.targets = call_tables_[named.index];
      }
    }
  }
}

// Lists are complete only now: their labels may stand in an outer block than the branch.
void BodyParser::finish_branch_tables() {
  for (const TableUse& use : table_uses_) {
    RADDLE_ASSERT(use.table < branch_tables_.size());
    RADDLE_ASSERT(use.instruction < function_.instructions.size());
    const std::vector<std::uint32_t>& targets = branch_tables_[use.table];
    state_.spend(sizeof(std::uint32_t) * targets.size());
    function_.instructions[use.instruction].branch_targets = targets;
  }
}

}  // namespace raddle::ptx
