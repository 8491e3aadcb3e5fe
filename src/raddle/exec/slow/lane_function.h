// A slow instruction that computes each lane's result from the same lane's operands.
#pragma once
#include <array>

#include "raddle/exec/isa/slow.h"

namespace raddle::exec {

class LaneFunction final : public SlowInstruction {
 public:
  /// Operands and result as bits; `mode` is the instruction's own.
  using Function = std::uint64_t (*)(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                     std::uint32_t mode);
  Function function = nullptr;
  std::uint32_t mode = 0;
  std::uint32_t d = 0, a = 0, b = 0, c = 0;
  unsigned d_width = 4, width = 4;  ///< bytes of the result's register, of the others

  void run(const SlowRun& run) const override {
    each_lane(run.mask, [&](unsigned lane) {
      std::uint64_t x = 0, y = 0, z = 0;
      __builtin_memcpy(&x, run.frame + a + width * lane, width);
      __builtin_memcpy(&y, run.frame + b + width * lane, width);
      __builtin_memcpy(&z, run.frame + c + width * lane, width);
      const std::uint64_t r = function(x, y, z, mode);
      __builtin_memcpy(run.frame + d + d_width * lane, &r, d_width);
    });
  }
};

/// Single precision `a` to tf32 (the lower 13 bits are zero). Mode bits: kTiesAway, kTowardsZero
/// (else nearest even), kRelu, kFinite.
std::uint64_t tf32_from_f32(std::uint64_t a, std::uint64_t, std::uint64_t, std::uint32_t mode);
/// Two singles to two 8-bit reals, `a` in the upper byte. Always saturates to finite values.
std::uint64_t f8_pair_from_f32(std::uint64_t a, std::uint64_t b, std::uint64_t, std::uint32_t mode);
/// The same from a pair of halves `a`.
std::uint64_t f8_pair_from_f16(std::uint64_t a, std::uint64_t, std::uint64_t, std::uint32_t mode);
/// A pair of halves from a pair `a` of 8-bit reals (kE5M2: of that type).
std::uint64_t f16_pair_from_f8(std::uint64_t a, std::uint64_t, std::uint64_t, std::uint32_t mode);
/// cvt.pack: a and b as integers of 8 (`mode` & kBytes) or 16 bits, clamped; a above b, and above
/// bytes c's lower half.
std::uint64_t pack_integers(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint32_t mode);
inline constexpr std::uint32_t kTiesAway = 1, kTowardsZero = 2, kRelu = 4, kFinite = 8, kE5M2 = 16;
inline constexpr std::uint32_t kBytes = 1, kFromSigned = 2, kToSigned = 4;

}  // namespace raddle::exec
