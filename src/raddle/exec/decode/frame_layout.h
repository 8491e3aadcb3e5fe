// Where the values of one function lie in a warp's frame.
//
// Registers of one width that the register assignment gave the same number share their bytes, so
// frames stay as small as on the real machine and in the host's first-level cache. Registers of
// different width never do: lane L of an 8-byte register would lie over lanes 2L and 2L+1 of a
// 4-byte one, which may be live there when the warp has diverged.
//
// In order: predicates (4 bytes each; the first is always true, the second false), architectural
// registers, waste, carry, temporaries, parameters of the function and of its calls, then
// constants as they come up.
#pragma once
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "raddle/exec/decode/decode.h"
#include "raddle/exec/isa/kernel.h"

namespace raddle::exec {

class FrameLayout {
 public:
  /// Lays out the frame of the function that `scope` names; `code` must outlive it.
  FrameLayout(const DecodeScope& scope, Code& code);

  // --- registers and variables of the function ---
  std::uint32_t register_at(std::uint32_t reg) const;
  unsigned register_width(std::uint32_t reg) const;  ///< bytes; of a predicate 2
  /// Registers of 16 bytes are two of 8 behind one another: from here on all lanes' upper halves.
  static constexpr std::uint32_t kUpperHalf = 256;
  bool is_predicate(std::uint32_t reg) const;
  /// Its number, or RegisterAssignment::kNone.
  std::uint16_t architectural(std::uint32_t reg) const;
  /// Offset in the frame, in shared or in local memory.
  std::uint32_t variable_at(std::uint32_t variable) const;

  // --- for the instruction being decoded ---
  std::uint32_t temporary();
  std::uint32_t temporary_predicate();
  void release_temporaries();

  // --- filled before the warp starts ---
  std::uint32_t constant(unsigned width, std::uint64_t bits);
  std::uint32_t special(ptx::Special special, unsigned index, unsigned width);
  /// `size` bytes of the kernel's parameters from `from` on, in a register of `width` bytes.
  std::uint32_t kernel_parameter(std::uint64_t from, unsigned width, unsigned size, bool is_signed);

  // --- places with a meaning of their own ---
  static constexpr std::uint32_t kAlwaysTrue = 0, kAlwaysFalse = 4;  ///< predicates
  std::uint32_t trash() const { return trash_; }  ///< what nobody reads goes there
  std::uint32_t carry() const { return carry_; }  ///< the flag of .cc

 private:
  void assign_registers();
  void place_parameters();
  void place_variables();
  /// Bytes for a register of `width` at the end of the frame.
  std::uint32_t append(unsigned width);

  const DecodeScope scope_;
  const ptx::Function& function_;
  Code& code_;
  std::vector<std::uint32_t> register_at_;    ///< by virtual register
  std::vector<std::uint16_t> architectural_;  ///< by virtual register
  std::vector<std::uint32_t> variable_at_;    ///< by variable of the function
  std::map<std::pair<unsigned, std::uint64_t>, std::uint32_t> constants_;
  std::map<std::pair<unsigned, unsigned>, std::uint32_t> specials_;
  std::map<std::array<std::uint64_t, 3>, std::uint32_t> parameters_;
  std::uint32_t temporaries_ = 0, temporaries_used_ = 0;
  std::uint32_t predicate_temporaries_ = 0, predicates_used_ = 0;
  std::uint32_t carry_ = 0, trash_ = 0;
};

/// Bytes of the register that holds a value; 8-bit values live in 16-bit registers.
unsigned register_bytes(ptx::Type type);

}  // namespace raddle::exec
