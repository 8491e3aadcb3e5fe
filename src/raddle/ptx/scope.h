// Names and what they stand for: one flat hash table per scope, keyed by views into the text.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "raddle/ptx/module.h"

namespace raddle::ptx {

/// What a name stands for. `index` depends on the kind.
struct Named {
  enum class Kind : std::uint8_t {
    Register,          ///< into Function::registers
    DeclaredRegister,  ///< declared, not used yet: index is its Type
    Variable,          ///< into Function::variables
    Parameter,
    ReturnParameter,
    Label,           ///< instruction index
    BranchTargets,   ///< a .branchtargets list
    CallTargets,     ///< a .calltargets list
    Prototype,       ///< into Function::prototypes
    ModuleVariable,  ///< into Module::variables
    Function,        ///< into Module::functions
    Range,           ///< into ScopeStack::Scope::ranges
    Opcode,          ///< into the parser's table of decoded opcodes
  };
  Kind kind;
  std::uint32_t index;
};

/// Open addressing, linear probing, no removal. The names' characters must outlive the table.
class NameTable {
 public:
  /// nullptr when absent. Valid until the next insert.
  Named* find(std::string_view name);
  /// False, and nothing changed, when the name is there already.
  bool insert(std::string_view name, Named named);
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    const char* name = nullptr;
    std::uint32_t length = 0, hash = 0;
    Named named{};
  };
  Slot& slot_for(std::string_view name, std::uint32_t hash);
  void grow();

  std::vector<Slot> slots_;  // size zero or a power of two
  std::size_t size_ = 0;
};

/// A label or list named before or after its place, to be filled in when its scope closes.
struct PendingName {
  enum class What : std::uint8_t { Operand, TableEntry, BranchTable, CallTable };
  What what;
  std::string_view name;
  unsigned line, column;
  std::uint32_t owner;  ///< instruction, branch table or call that waits
  std::uint32_t slot;   ///< operand of the instruction, or entry of the table
};

/// ".reg .b32 %r<12>": %r0 to %r11, made into registers when first used.
struct RegisterRange {
  std::string_view prefix;
  std::uint32_t count;
  Type type;
};

/// The nested scopes of one function body, innermost last.
class ScopeStack {
 public:
  struct Scope {
    NameTable names;
    NameTable prefixes;  // of the ranges; the index is into `ranges`
    std::vector<RegisterRange> ranges;
    std::vector<PendingName> pending;
  };
  explicit ScopeStack(Function& function) : function_(&function) {}

  void push() { scopes_.emplace_back(); }
  void pop() { scopes_.pop_back(); }
  std::size_t depth() const { return scopes_.size(); }
  Scope& inner() { return scopes_.back(); }

  /// False when the innermost scope knows the name already.
  bool declare(std::string_view name, Named named);
  bool declare_range(const RegisterRange& range);
  /// Looks from the innermost scope outwards; a declared register comes back as Kind::Register.
  std::optional<Named> find(std::string_view name);

 private:
  Named make_register(std::string_view name, Type type);
  static const RegisterRange* range_of(Scope& scope, std::string_view name);

  Function* function_;
  std::vector<Scope> scopes_;
};

}  // namespace raddle::ptx
