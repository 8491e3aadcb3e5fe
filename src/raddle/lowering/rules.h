// What one PTX operation costs in machine instructions, as a table.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "raddle/lowering/lowering_spec.h"

namespace raddle::lowering {

/// Sets of generations.
inline constexpr std::uint8_t kFermi = 1, kKepler = 2, kVolta = 4, kHopper = 8;
inline constexpr std::uint8_t kOld = kFermi | kKepler, kNew = kVolta | kHopper, kAny = kOld | kNew;
constexpr std::uint8_t set_of(Generation g) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(g));
}

/// When a row holds beyond its name.
enum class When : std::uint8_t {
  Always,
  Narrow,     ///< only the low 32 bits of the result are needed (addresses of shared memory)
  Immediate,  ///< the last operand is a constant
};

struct Rule {
  /// PTX opcode with its dotted words; '?' stands for any character, a final '*' for any rest.
  /// "A + B" is the pair that the machine does at once: A's result is needed by B alone.
  std::string_view ptx;
  std::uint8_t generations;
  When when;
  /// Machine instructions, separated by ';': class destinations=sources. d is the destination, a,
  /// b, c, e the sources in the order of PTX (of a pair: those of A, then the others of B), t to w
  /// temporary registers, p and q predicates; d0, d1 are the words of a wide value.
  std::string_view steps;
  std::string_view source;
};

/// In order of precedence; the first that fits holds. What fits none stays one instruction.
std::span<const Rule> rules();

/// Null when the operation is one instruction of its own class.
const Rule* find_rule(std::string_view ptx, Generation generation, bool narrow, bool immediate);

/// The table as docs/lowering.md shows it.
std::string rules_as_markdown();

}  // namespace raddle::lowering
