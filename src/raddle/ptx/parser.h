// The module level of PTX: directives, variables, function headers.
// Source: PTX ISA 9.0, section 11 (directives).
#pragma once
#include <string_view>

#include "raddle/ptx/body.h"
#include "raddle/ptx/state.h"

namespace raddle::ptx {

class ModuleParser {
 public:
  /// Fills `module`, whose text and file are set.
  explicit ModuleParser(Module& module);
  void parse();

 private:
  void version();
  void target();
  void address_size();
  void directive();
  void alias();
  void variables(Space space, const Linkage& linkage);
  Variable& store(Declared declared, bool is_extern);
  void function(bool is_entry, const Linkage& linkage);
  void performance_directives(Function& function);
  std::uint32_t count();
  Dim3 extents();
  Function& add_function(const Token& name, Function header, bool has_body);
  void check_redeclaration(const Token& name, const Function& earlier, const Function& later);

  Module& module_;
  ParserState state_;
  Cursor& cursor_;
  OpcodeTable opcodes_;
};

}  // namespace raddle::ptx
