// Declarations of variables and parameters: types, attributes, array extents, initialisers.
// Source: PTX ISA 9.0, sections 5.4 (variables) and 7.1 (parameters).
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "raddle/ptx/state.h"

namespace raddle::ptx {

/// A variable and where its name stands in the text.
struct Declared {
  Variable variable;
  Token name;
};

/// ".extern", ".visible", ".weak", ".common" before a declaration.
struct Linkage {
  bool is_extern = false, is_visible = false, is_weak = false;
};
/// Takes any linkage words at the cursor.
Linkage linkage(Cursor& cursor);

/// The state space that a directive (".shared") begins a declaration of, Reg included.
std::optional<Space> space_of(const Token& token);

class VariableParser {
 public:
  explicit VariableParser(ParserState& state) : state_(&state) {}

  /// From just after the state space to the ';': one or more names. `store(Declared&&)` keeps each
  /// and returns the Variable&, which then gets its initialiser: that may hold its own address.
  template <class Store>
  void declaration(Space space, const Linkage& linkage, Store store) {
    const Shape of = shape();
    do {
      Variable& variable = store(named(of, space, linkage));
      if (state_->cursor.token().is('=')) initialiser(of, linkage, variable);
    } while (state_->cursor.accept(','));
    state_->cursor.expect(';');
  }
  /// "( .param .b32 a, .reg .u32 b )"; the cursor is at the '('.
  std::vector<Declared> parameter_list();

 private:
  struct Shape {
    Type type = Type::None;
    unsigned components = 1;  // of .v2 and .v4
    std::uint32_t align = 0;  // 0 = natural
    bool is_managed = false;
  };
  struct Target;

  Shape shape();
  void attribute(Shape& shape);
  std::uint32_t alignment();
  Declared named(const Shape& shape, Space space, const Linkage& linkage);
  std::uint64_t extent();
  std::uint64_t size_in_bytes(const Shape& shape, const Token& name);
  void initialiser(const Shape& shape, const Linkage& linkage, Variable& variable);
  void elements(Target& target, std::size_t level, std::uint64_t at);
  void value(Target& target, std::uint64_t at);
  void symbol_value(Target& target, std::uint64_t at, unsigned size, unsigned shift);
  void masked_symbol(Target& target, std::uint64_t at);
  void store(Target& target, std::uint64_t at, std::uint64_t bits);

  ParserState* state_;
  std::vector<std::uint64_t> extents_;  // of the variable at hand; 0 = []
};

}  // namespace raddle::ptx
