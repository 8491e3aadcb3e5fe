// One function body: scopes, registers, labels, instructions.
// Source: PTX ISA 9.0, sections 4.2 (statements), 6 (operands), 9.7.12 (control flow), 9.7.12.5
// (call).
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "raddle/ptx/state.h"
#include "raddle/ptx/variable.h"

namespace raddle::ptx {

/// Opcodes taken apart once for the whole module: a text has thousands of instructions but a few
/// hundred opcodes.
class OpcodeTable {
 public:
  struct Decoded {
    std::string_view opcode;
    std::vector<std::string_view> modifiers;
    std::vector<Type> types;
    unsigned vector = 0;  ///< elements: 2, 4, 8 for .v2, .v4, .v8, else 0
    void add_word(std::string_view word);
  };
  /// Valid until the next call.
  const Decoded& decode(std::string_view text);

 private:
  NameTable names_;
  std::vector<Decoded> decoded_;
};

class BodyParser {
 public:
  BodyParser(ParserState& state, OpcodeTable& opcodes, Function& function);

  /// Makes parameters known to the body. Precondition: no register was made yet.
  void declare_parameters(const std::vector<Declared>& returns,
                          const std::vector<Declared>& parameters);
  /// From '{' to its '}'.
  void parse();

 private:
  static constexpr std::size_t kMaxScopes = 64;

  // Statements (body.cpp)
  void open_scope();
  void close_scope();
  void declare(const Token& name, Named named);
  void directive();
  void location();
  void registers();
  void register_range(const Token& name, Type type);
  void variables(Space space);
  void label(const Token& name);
  void branch_targets(const Token& name);
  void call_targets(const Token& name);
  void prototype(const Token& name);
  void resolve(const PendingName& pending, const Named& named);
  void finish_branch_tables();
  void wait_for(PendingName::What what, const Token& name, std::uint32_t owner, std::uint32_t slot);

  // Instructions (instruction.cpp)
  void guarded_instruction();
  void instruction(const Token& opcode, Instruction made);
  void operands(Instruction& made);
  void label_operand();
  void branch_by_index();
  void check_vectors(const Instruction& made, unsigned vector, const Token& opcode);
  void check_pack(const Instruction& made, const Token& opcode);
  bool elements_have_size(const Operand& pack, unsigned bytes) const;
  void call(Instruction& made);
  void callee(Call& made, const Token& name);
  std::vector<Operand> call_list();
  void check_call(const Call& made, const Token& name);

  // Operands (operand.cpp)
  Operand operand();
  bool begins_negation() const;
  Operand negated_operand(const Instruction& of);
  Operand word_operand();
  Operand name_operand(const Token& name);
  Operand special_operand(const Token& name);
  Operand vector_operand();
  Operand address_operand();
  void offsets(Operand& made);
  void second_predicate(Operand& made);
  std::uint32_t register_named(const Token& name, const char* what);
  std::uint32_t predicate_named(const Token& name);
  std::optional<Named> find(std::string_view name);
  [[noreturn]] void fail_undefined(const Token& name) const;

  ParserState& state_;
  Cursor& cursor_;
  OpcodeTable& opcodes_;
  Function& function_;
  ScopeStack scopes_;
  std::vector<Operand> operands_;  // of the instruction at hand
  std::vector<std::vector<std::uint32_t>> branch_tables_, call_tables_;
  struct TableUse {
    std::uint32_t instruction, table;
  };
  std::vector<TableUse> table_uses_;
  SourceLine source_, inlined_at_;  // as the last .loc says
  // Of places in inlined code, {file, line, column}: where that is inlined.
  std::map<std::array<std::uint32_t, 3>, SourceLine> inlined_;
};

}  // namespace raddle::ptx
