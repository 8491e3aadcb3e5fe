// Video instructions (PTX ISA 9.0, 9.7.16): integer operations on bytes and halves of registers.
#pragma once
#include <array>
#include <optional>

#include "raddle/exec/isa/slow.h"

namespace raddle::exec {

/// A part of a register, or of two registers side by side in the SIMD forms.
struct VideoPart {
  unsigned bits = 32, at = 0;  ///< width; distance from the lowest bit
};

class VideoInstruction final : public SlowInstruction {
 public:
  enum class What : std::uint8_t {
    Add,
    Sub,
    AbsDiff,
    Min,
    Max,
    Average,
    ShiftLeft,
    ShiftRight,
    Mad,
    Set
  };
  enum class Second : std::uint8_t { None, Add, Min, Max, Merge };
  enum class Compare : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

  What what = What::Add;
  Second second = Second::None;
  Compare compare = Compare::Eq;
  unsigned parts = 1;  ///< 2 and 4: SIMD
  bool d_signed = false, a_signed = false, b_signed = false;
  bool saturate = false, wrap = false;
  // Of vmad:
  unsigned scale = 0;                                             ///< shift of the sum
  bool minus_product = false, minus_c = false, plus_one = false;  ///< at most one of them
  std::array<VideoPart, 4> a_part, b_part;
  unsigned written = 15;            ///< SIMD: parts of d that are results; others are c's
  std::optional<VideoPart> d_part;  ///< scalar: the result goes there, the rest is c's
  std::uint32_t d = 0, a = 0, b = 0, c = 0;

  void run(const SlowRun& run) const override;

 private:
  std::int64_t result(std::int64_t x, std::int64_t y) const;
  std::uint32_t multiply_add(std::int64_t x, std::int64_t y, std::uint32_t z) const;
  std::uint32_t scalar(std::uint32_t x, std::uint32_t y, std::uint32_t z) const;
  std::uint32_t simd(std::uint32_t x, std::uint32_t y, std::uint32_t z) const;
};

}  // namespace raddle::exec
