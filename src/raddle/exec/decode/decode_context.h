// What the functions that decode instructions work on, and how they are found.
//
// A family of instructions is one file of its own, family/NAME.cpp, that defines
// add_decode_NAME(Handlers&); the build finds it by its name (cmake/families.cmake). A handler
// turns one PTX instruction into one or more records (intermediate results in temporary registers)
// and says what it is to the timing model; it refuses what cannot be executed.
#pragma once
#include <initializer_list>
#include <map>
#include <string_view>
#include <vector>

#include "raddle/exec/decode/emitter.h"
#include "raddle/exec/decode/fragment_cache.h"
#include "raddle/exec/decode/frame_layout.h"
#include "raddle/exec/decode/operands.h"
#include "raddle/exec/decode/refusal.h"
#include "raddle/exec/decode/syntax.h"

namespace raddle::exec {

/// One function on its way to records.
struct DecodeContext {
  const DecodeScope& scope;
  const ptx::Module& module;
  const ptx::Function& function;
  DecodedFunction& result;
  FrameLayout& frame;
  Operands& in;  ///< the instruction's operands
  Emitter& out;  ///< its records
  FragmentCache& fragments;
  SyntaxCheck& syntax;
  const std::vector<std::uint32_t>& joins;  ///< reconvergence point by instruction

  Code& code() const { return result.code; }
  /// The index that the next entry of a table of the code gets, as records hold it.
  template <class T>
  static std::int32_t next_index(const std::vector<T>& table) {
    return static_cast<std::int32_t>(table.size());
  }
};

using Handler = void (*)(DecodeContext&, const ptx::Instruction&);

/// Who decodes an opcode.
class Handlers {
 public:
  /// Each opcode once. The names must outlive the table.
  void add(std::initializer_list<std::string_view> opcodes, Handler handler);
  /// Of these opcodes the instructions whose first type is a floating-point one; whom add() names
  /// decodes the others.
  void add_float(std::initializer_list<std::string_view> opcodes, Handler handler);
  /// nullptr: nobody.
  Handler find(const ptx::Instruction& inst) const;

 private:
  struct Entry {
    Handler all = nullptr, of_float = nullptr;
  };
  std::map<std::string_view, Entry> by_opcode_;
};

/// Those of all families.
const Handlers& all_handlers();

}  // namespace raddle::exec
