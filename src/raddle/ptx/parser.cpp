#include "raddle/ptx/parser.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "raddle/ptx/constant.h"

namespace raddle::ptx {
namespace {

std::vector<Variable> variables_of(const std::vector<Declared>& all) {
  std::vector<Variable> out;
  out.reserve(all.size());
  for (const Declared& declared : all) out.push_back(declared.variable);
  return out;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

unsigned number_of(std::string_view digits) {
  unsigned number = 0;
  for (char c : digits.substr(0, 6)) number = number * 10 + static_cast<unsigned>(c - '0');
  return number;
}

// "sm_80", "sm_90a", "sm_100f"
bool is_supported_target(std::string_view name) {
  constexpr unsigned kOldest = 30, kNewest = 121;
  if (name.substr(0, 3) != "sm_") return false;
  name.remove_prefix(3);
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f')) name.remove_suffix(1);
  return is_digits(name) && number_of(name) >= kOldest && number_of(name) <= kNewest;
}

}  // namespace

void source_file(ParserState& state) {
  std::array<Token, 2> words;
  if (state.cursor.take_line(words) != 2 || words[0].kind != Token::Kind::Integer ||
      words[1].kind != Token::Kind::String || words[0].bits > ~std::uint32_t{0})
    return;
  std::string_view name = words[1].text;
  name.remove_prefix(1);
  name.remove_suffix(1);
  state.spend(name.size() + 64);
  state.module.source_files[static_cast<std::uint32_t>(words[0].bits)] = name;
}

ModuleParser::ModuleParser(Module& module)
    : module_(module),
      state_{module, Cursor(*module.text, module.file), {}, 0},
      cursor_(state_.cursor) {}

void ModuleParser::parse() {
  version();
  while (cursor_.token().kind != Token::Kind::End) directive();
  if (module_.target.empty()) cursor_.fail_at(0, 0, "no .target: PTX names the GPU it is for");
}

void ModuleParser::version() {
  if (!cursor_.token().is_directive(".version")) {
    const bool is_empty = cursor_.token().kind == Token::Kind::End;
    cursor_.fail_at(cursor_.token(), "no .version: PTX begins with it, found " +
                                         (is_empty ? "nothing" : in_quotes(cursor_.token().text)));
  }
  cursor_.advance();
  const Token number = cursor_.take();
  const std::size_t dot = number.text.find('.');
  if (dot == std::string_view::npos || !is_digits(number.text.substr(0, dot)) ||
      !is_digits(number.text.substr(dot + 1)))
    cursor_.fail_at(number, "expected a version such as 7.2, found " + in_quotes(number.text));
  module_.version_major = number_of(number.text.substr(0, dot));
  module_.version_minor = number_of(number.text.substr(dot + 1));
  const auto version = std::pair(module_.version_major, module_.version_minor);
  if (version < std::pair(6u, 0u) || version > std::pair(9u, 0u))
    cursor_.fail_at(number, "PTX version " + std::string(number.text) +
                                " is not supported: expected 6.0 to 9.0");
}

void ModuleParser::target() {
  const Token name = cursor_.expect_word("a target such as sm_70");
  if (!is_supported_target(name.text))
    cursor_.fail_at(
        name, "target " + in_quotes(name.text) + " is not supported: expected sm_30 to sm_121");
  module_.target = name.text;
  while (cursor_.accept(',')) {
    const Token option = cursor_.expect_word("a target option");
    if (option.text != "debug" && option.text != "texmode_unified" &&
        option.text != "texmode_independent")
      cursor_.fail_at(option, "target option " + in_quotes(option.text) + " is not supported");
  }
}

void ModuleParser::address_size() {
  const Token size = cursor_.take();
  if (size.kind != Token::Kind::Integer || size.bits != 64)
    cursor_.fail_at(size, "expected .address_size 64, found " + in_quotes(size.text));
}

void ModuleParser::directive() {
  const Linkage how = linkage(cursor_);
  const Token word = cursor_.token();
  const std::optional<Space> space = space_of(word);
  if (space && *space != Space::Reg && *space != Space::Local) {
    cursor_.advance();
    variables(*space, how);
  } else if (cursor_.accept_directive(".entry")) {
    function(true, how);
  } else if (cursor_.accept_directive(".func")) {
    function(false, how);
  } else if (cursor_.accept_directive(".target")) {
    target();
  } else if (cursor_.accept_directive(".address_size")) {
    address_size();
  } else if (word.is_directive(".file")) {
    source_file(state_);
  } else if (word.is_directive(".loc")) {
    cursor_.take_line({});
  } else if (word.is_directive(".section")) {
    cursor_.skip_section();
  } else if (cursor_.accept_directive(".alias")) {
    alias();
  } else if (cursor_.accept_directive(".pragma")) {
    cursor_.skip_statement();
  } else if (!cursor_.accept(';')) {
    cursor_.fail_expected("a variable, .entry, .func or another directive");
  }
}

// ".alias f, g;": f gets g's body.
void ModuleParser::alias() {
  const Token name = cursor_.expect_word("a function");
  cursor_.expect(',');
  const Token original = cursor_.expect_word("a function");
  const auto function_named = [&](const Token& token) -> Function& {
    const Named* named = state_.globals.find(token.text);
    if (named == nullptr || named->kind != Named::Kind::Function)
      cursor_.fail_at(token, "undefined function " + in_quotes(token.text));
    return module_.functions[named->index];
  };
  Function& made = function_named(name);
  const Function& from = function_named(original);
  if (!made.is_extern) cursor_.fail_at(name, in_quotes(name.text) + " is already defined");
  if (from.is_extern) cursor_.fail_at(original, in_quotes(original.text) + " has no body to share");
  check_redeclaration(name, made, from);
  state_.spend((sizeof(Instruction) + 3 * sizeof(Operand)) * from.instructions.size());
  Function copy = from;
  copy.name = made.name;
  copy.line = made.line;
  made = std::move(copy);
  cursor_.expect(';');
}

void ModuleParser::variables(Space space, const Linkage& linkage) {
  VariableParser(state_).declaration(space, linkage, [&](Declared declared) -> Variable& {
    return store(std::move(declared), linkage.is_extern);
  });
}

// An .extern declaration and the definition are one variable.
Variable& ModuleParser::store(Declared declared, bool is_extern) {
  const auto index = static_cast<std::uint32_t>(module_.variables.size());
  if (state_.globals.insert(declared.name.text, {Named::Kind::ModuleVariable, index}))
    return module_.variables.emplace_back(std::move(declared.variable));
  const Named* earlier = state_.globals.find(declared.name.text);
  const bool is_variable = earlier->kind == Named::Kind::ModuleVariable;
  Variable* known = is_variable ? &module_.variables[earlier->index] : nullptr;
  if (known == nullptr || (!known->is_extern && !is_extern))
    cursor_.fail_at(declared.name, in_quotes(declared.name.text) + " is already defined");
  if (known->is_extern) *known = std::move(declared.variable);
  return *known;
}

void ModuleParser::function(bool is_entry, const Linkage& linkage) {
  Function header;
  header.is_entry = is_entry;
  header.is_weak = linkage.is_weak;
  header.is_visible = linkage.is_visible;
  std::vector<Declared> returns, parameters;
  VariableParser parser(state_);
  if (cursor_.token().is_directive(".attribute")) {
    cursor_.advance();
    cursor_.skip_balanced('(', ')');
  }
  if (!is_entry && cursor_.token().is('(')) returns = parser.parameter_list();
  const Token name = cursor_.expect_word("a function name");
  header.name = name.text;
  header.line = name.line;
  if (cursor_.token().is('(')) parameters = parser.parameter_list();
  performance_directives(header);
  header.returns = variables_of(returns);
  header.parameters = variables_of(parameters);
  const bool has_body = cursor_.token().is('{');
  state_.spend(sizeof(Function));
  Function& made = add_function(name, std::move(header), has_body);
  if (!has_body) return cursor_.expect(';');
  BodyParser body(state_, opcodes_, made);
  body.declare_parameters(returns, parameters);
  body.parse();
}

Function& ModuleParser::add_function(const Token& name, Function header, bool has_body) {
  header.is_extern = !has_body;
  const auto index = static_cast<std::uint32_t>(module_.functions.size());
  if (state_.globals.insert(name.text, {Named::Kind::Function, index}))
    return module_.functions.emplace_back(std::move(header));
  const Named* named = state_.globals.find(name.text);
  if (named->kind != Named::Kind::Function)
    cursor_.fail_at(name, in_quotes(name.text) + " is already defined");
  Function& earlier = module_.functions[named->index];
  if (has_body && !earlier.is_extern)
    cursor_.fail_at(name, in_quotes(name.text) + " is already defined");
  check_redeclaration(name, earlier, header);
  if (earlier.is_extern) earlier = std::move(header);
  return earlier;
}

void ModuleParser::check_redeclaration(const Token& name, const Function& earlier,
                                       const Function& later) {
  const auto same = [](const std::vector<Variable>& a, const std::vector<Variable>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Variable& x, const Variable& y) { return x.size == y.size; });
  };
  if (earlier.is_entry != later.is_entry || !same(earlier.parameters, later.parameters) ||
      !same(earlier.returns, later.returns))
    cursor_.fail_at(name, in_quotes(name.text) + " was declared otherwise in line " +
                              std::to_string(earlier.line));
}

void ModuleParser::performance_directives(Function& function) {
  while (cursor_.token().kind == Token::Kind::Directive) {
    const Token word = cursor_.take();
    if (word.text == ".maxntid") {
      function.max_threads = extents();
    } else if (word.text == ".reqntid") {
      function.required_threads = extents();
    } else if (word.text == ".reqnctapercluster") {
      function.required_cluster = extents();
    } else if (word.text == ".minnctapersm") {
      function.min_blocks_per_sm = count();
    } else if (word.text == ".maxnreg") {
      function.max_registers = count();
    } else if (word.text == ".maxnctapersm" || word.text == ".maxclusterrank" ||
               word.text == ".abi_preserve" || word.text == ".abi_preserve_control") {
      count();
    } else if (word.text == ".noreturn") {
      function.is_noreturn = true;
    } else if (word.text == ".pragma") {
      cursor_.skip_statement();
    } else if (word.text != ".explicitcluster" && word.text != ".blocksareclusters") {
      cursor_.fail_at(
          word, "expected '{', ';' or a performance directive, found " + in_quotes(word.text));
    }
  }
}

std::uint32_t ModuleParser::count() {
  const Token place = cursor_.token();
  const std::int64_t number = integer_expression(cursor_, "a number");
  if (number < 0 || number > 0x7fffffff)
    cursor_.fail_at(place,
                    "expected a number from 0 to 2147483647, found " + std::to_string(number));
  return static_cast<std::uint32_t>(number);
}

Dim3 ModuleParser::extents() {
  Dim3 made;
  made.x = count();
  if (cursor_.accept(',')) made.y = count();
  if (cursor_.accept(',')) made.z = count();
  return made;
}

}  // namespace raddle::ptx
