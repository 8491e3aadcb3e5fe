// What the parts of the parser share: the place in the text, the module under construction, its
// names.
#pragma once
#include <cstdint>

#include "raddle/ptx/cursor.h"
#include "raddle/ptx/module.h"
#include "raddle/ptx/scope.h"

namespace raddle::ptx {

/// Memory a module may cost once parsed; a small file can ask for much (nested initialisers,
/// aliases).
inline constexpr std::uint64_t kMaxModuleBytes = std::uint64_t{3} << 30;

struct ParserState {
  Module& module;
  Cursor cursor;
  NameTable globals;  ///< module variables and functions
  std::uint64_t bytes_spent = 0;

  /// Counts memory about to be allocated; throws InputError at the current token when it is too
  /// much.
  void spend(std::uint64_t bytes) {
    bytes_spent += bytes;
    if (bytes > kMaxModuleBytes || bytes_spent > kMaxModuleBytes)
      cursor.fail_at(cursor.token(), "this module needs more than 3 GiB of memory to hold");
  }
};

/// ".file NUMBER "NAME" ...", at the current token; what is otherwise is left out.
void source_file(ParserState& state);

}  // namespace raddle::ptx
