// What becomes of each PTX instruction of a kernel: nothing (folded into the operands of others),
// part of a later one, or machine instructions of its own. All reasoning is on registers as PTX
// names them, most of which are written once, and inside basic blocks.
//
// Facts that hold whatever the branches do: a value written once, without a guard, is the same at
// every reader until its writer runs again, and whoever reads it has passed its writer. So a copy
// of such a value, of a constant or of a launch parameter can be replaced by its source everywhere.
// All else is proved between two instructions of one block.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/lowering/lowering_spec.h"
#include "raddle/trace/code.h"

namespace raddle::lowering {

/// 32 bits of a virtual register (predicates: all of it), numbered from 0. kConstant stands for
/// what needs no register: immediates, launch parameters, the zero register.
using Word = std::uint32_t;
inline constexpr Word kConstant = ~Word{0};
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Value {
  std::uint8_t bytes = 0;  ///< 0: a predicate
  Word first = 0;
  bool narrow = false;                 ///< 8 bytes of which only the low 4 matter
  std::vector<std::uint32_t> writers;  ///< instructions
  std::vector<std::uint32_t> readers;  ///< an instruction that reads it twice is here twice
  unsigned words() const { return bytes == 8 && !narrow ? 2 : bytes == 16 ? 4 : 1; }
};

class Plan {
 public:
  Plan(const trace::KernelCode& code, Generation generation,
       AddressBits address_bits = AddressBits::Bits64);

  bool is_removed(std::uint32_t i) const { return removed_[i]; }
  /// The instruction whose operation i does as well; kNone when there is none.
  std::uint32_t partner(std::uint32_t i) const { return partner_[i]; }
  std::string_view opcode(std::uint32_t i) const {
    return code_.opcode_names[code_.instructions[i].opcode];
  }
  const Value& value(std::uint32_t reg) const { return values_[reg]; }
  const trace::KernelCode& code() const { return code_; }
  /// What holds word `w` of a register.
  Word word(std::uint32_t reg, unsigned w) const;
  std::uint32_t words() const { return static_cast<std::uint32_t>(same_as_.size()); }
  bool is_predicate(Word w) const { return predicate_[w]; }
  /// Sources and destinations of i, in PTX order, its partner's first; guards apart.
  std::vector<const trace::Operand*> sources(std::uint32_t i) const;
  std::vector<const trace::Operand*> destinations(std::uint32_t i) const;
  const trace::Operand* guard(std::uint32_t i) const;
  bool is_immediate(std::uint32_t i) const;  ///< is the last source a constant?
  /// The name under which the rules know i and its partner.
  std::string rule_name(std::uint32_t i) const;

 private:
  void number_words();
  void collect();
  void find_narrow();
  bool needs_wide(std::uint32_t reader, std::uint32_t reg) const;
  void fold_copies();
  bool fold_copy(std::uint32_t i);
  bool fold_constant(std::uint32_t i);
  bool is_copy(std::uint32_t i) const;
  void fuse();
  std::string pair_name(std::uint32_t first, std::uint32_t second) const;
  bool absorb(std::uint32_t first, std::uint32_t second);
  void join_phis();
  bool join_phi(std::uint32_t i);
  bool runs_whenever(std::uint32_t other, std::uint32_t one) const;
  void drop_branches();

  const trace::Operand* only_destination(std::uint32_t i) const;
  bool writes_once(std::uint32_t reg) const { return values_[reg].writers.size() == 1; }
  bool is_written_between(std::uint32_t reg, std::uint32_t after, std::uint32_t before) const;
  bool reads(std::uint32_t i, Word w) const;
  /// Does a memory instruction take the register, directly or through copies?
  bool reaches_memory(std::uint32_t reg, unsigned depth = 0) const;

  const trace::KernelCode& code_;
  const Generation generation_;
  const AddressBits address_bits_;
  std::uint32_t size_ = 0;  ///< instructions without the aliases at the end
  std::vector<Value> values_;
  std::vector<Word> same_as_;  ///< by word: the word it is a copy of, itself, or kConstant
  std::vector<bool> predicate_;
  std::vector<std::uint32_t> owner_;  ///< by word: its register
  std::vector<std::uint32_t> block_;  ///< by instruction
  std::vector<bool> removed_;
  std::vector<std::uint32_t> partner_;
};

}  // namespace raddle::lowering
