// Operands of the instruction being decoded, as frame offsets. What an operand needs first
// (conversions, clocks, addresses of local variables) is emitted on the way.
#pragma once
#include <optional>
#include <vector>

#include "raddle/exec/decode/emitter.h"
#include "raddle/exec/decode/frame_layout.h"

namespace raddle::exec {

class Operands {
 public:
  /// All must outlive it.
  Operands(const DecodeScope& scope, FrameLayout& frame, Emitter& out);
  void begin(const ptx::Instruction& inst) { inst_ = &inst; }

  // --- as written: refused where there is none ---
  const ptx::Operand& operand(std::size_t i) const;
  ptx::Type type(std::size_t i = 0) const;

  // --- values: operand i, or one that is part of another operand ---
  /// Register holding the operand as a value of `type` (its width; other widths are converted).
  std::uint32_t source(const ptx::Operand& operand, ptx::Type type);
  std::uint32_t source(std::size_t i, ptx::Type type) { return source(operand(i), type); }
  std::uint32_t destination(const ptx::Operand& operand, ptx::Type type) const;
  /// A register of 128 bits, to read or to write: its lower halves; see FrameLayout::kUpperHalf.
  std::uint32_t wide_register(const ptx::Operand& operand) const;
  std::uint32_t destination(std::size_t i, ptx::Type type) const {
    return destination(operand(i), type);
  }
  std::uint32_t resize(std::uint32_t offset, unsigned from, unsigned to, bool is_signed);
  std::uint32_t special(const ptx::Operand& operand, unsigned width);

  // --- predicates ---
  struct Predicate {
    std::uint32_t offset;
    bool negated;
  };
  Predicate predicate(const ptx::Operand& operand) const;
  Predicate predicate(std::size_t i) const { return predicate(operand(i)); }
  std::uint32_t predicate_value(const ptx::Operand& operand);  ///< negation done
  std::uint32_t predicate_value(std::size_t i) { return predicate_value(operand(i)); }
  /// Where d|p, {a, b}|p have a second destination, a predicate; 0: none.
  std::uint32_t second_predicate(const ptx::Operand& operand) const;

  // --- addresses ---
  /// Where what a symbol names lies; Generic: it is no variable.
  ptx::Space symbol_space(const ptx::Operand& operand) const;
  /// The value of an address, if it is the same wherever the function runs.
  std::optional<std::uint64_t> symbol_value(const ptx::Operand& operand) const;
  /// The address of a local variable of a called function, in a register of `width` bytes.
  std::uint32_t local_address(const ptx::Operand& operand, unsigned width);
  /// Where the formal or actual parameters of a call lie.
  std::vector<ParameterPlace> places(const std::vector<ptx::Operand>& operands) const;

 private:
  const DecodeScope scope_;
  const ptx::Module& module_;
  const ptx::Function& function_;
  const Code& code_;
  FrameLayout& frame_;
  Emitter& out_;
  const ptx::Instruction* inst_ = nullptr;
};

}  // namespace raddle::exec
