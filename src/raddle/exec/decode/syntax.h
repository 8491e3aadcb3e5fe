// What of an instruction may stand together: its types, its modifiers, its operands.
// Source: the "Syntax" lines of NVIDIA, "Parallel Thread Execution ISA" 9.0, section 9.7, and
// tables 26 to 28 on operand sizes; where they leave it open, what ptxas 13 takes.
//
// Decoding asks here before a family's handler sees the instruction, so handlers need not look for
// what cannot be written. Opcodes without a line in the table are their handlers' alone.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/ptx/module.h"

namespace raddle::exec {

/// One way to write an instruction.
struct Form {
  std::string_view opcodes;  ///< "add sub"
  /// Types that may stand at each place: "f32|f64 u32|s32"; "*": any types.
  std::string_view types;
  /// Groups of modifiers, of each group one: "hi|lo", or at most one: "?sat|relu". "!level|grad":
  /// a part of the instruction's name, so at its place right behind the opcode. "...": others as
  /// well, of which the handler knows.
  std::string_view modifiers;
  /// One word an operand:
  ///   d0 s0   destination or source of the first type (d1 s1: of the second, su32: of that type)
  ///   D0      destination that may be wider than the type (cvt)
  ///   w0 W0   source or destination of twice the first type's width
  ///   m0 M0   source that may be a special register; M0: and wider than the type
  ///   e0      destination or the sink _
  ///   b0      destination, which a second one may follow: d|p (B0: which one follows)
  ///   h       the cache's policy, where .L2::cache_hint stands and only there
  ///   v0 V0   registers to load, values to store: as many as .v2, .v4 and .v8 say, perhaps wider
  ///   k0      of mov: a vector of parts
  ///   g4.0    a vector of four of the first type (g4.s32: of that type), perhaps with a predicate
  ///   y o     any vector; the sink _ alone
  ///   p q     predicate to write; one to read, which may be negated or a constant
  ///   t       predicates to write: p, p|q, or _ for either
  ///   a i x   address; whole number (i128: this one); anything, of which the handler knows
  /// A leading "?": it may be absent, with all behind it. "...": any others.
  std::string_view operands;
};

/// What "$name" in a form stands for.
std::string_view named_choice(std::string_view name);

/// All forms of all opcodes that are checked.
std::span<const Form> pipeline_forms();
std::span<const Form> unit_forms();

struct FormPattern;

/// Compares a function's instructions with the forms, equal words once.
class SyntaxCheck {
 public:
  /// Refuses the instruction (refusal.h) where no form takes it.
  void check(const ptx::Function& function, const ptx::Instruction& inst);

 private:
  /// An instruction's words: the parser's views of equal opcodes are of one place (OpcodeTable).
  struct Seen {
    const char *first = nullptr, *last = nullptr;  ///< modifiers
    std::uint64_t types = 0;
    const std::vector<FormPattern>* forms = nullptr;
    std::size_t at = 0;  ///< the first form that has these types and modifiers
  };
  std::array<Seen, 64> seen_;
};

/// A modifier such as e4m3x4 that looks like a type and is none that is known; empty: none does.
std::string_view unknown_type(const ptx::Instruction& inst);

/// Whether a register of type `found` may hold a value of type `type` (PTX ISA 9.4). `wider`: also
/// one of more bits than it needs.
bool register_fits(ptx::Type found, ptx::Type type, bool wider);

}  // namespace raddle::exec
