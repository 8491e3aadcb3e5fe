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
/// Two singles to two numbers of 8, 6 or 4 bits of the format in `mode`, `a` above. Always
/// saturates to finite values; what is not a number becomes the greatest where the format has none.
std::uint64_t narrow_pair_from_f32(std::uint64_t a, std::uint64_t b, std::uint64_t,
                                   std::uint32_t mode);
/// The same from a pair of halves `a`.
std::uint64_t narrow_pair_from_f16(std::uint64_t a, std::uint64_t, std::uint64_t,
                                   std::uint32_t mode);
/// A pair of halves from a pair `a` of such numbers.
std::uint64_t f16_pair_from_narrow(std::uint64_t a, std::uint64_t, std::uint64_t,
                                   std::uint32_t mode);
/// ue8m0, powers of two of 8 bits: of magnitudes, towards zero or (kUpwards) up.
std::uint64_t scale_pair_from_f32(std::uint64_t a, std::uint64_t b, std::uint64_t,
                                  std::uint32_t mode);
std::uint64_t scale_pair_from_bf16(std::uint64_t a, std::uint64_t, std::uint64_t,
                                   std::uint32_t mode);
std::uint64_t bf16_pair_from_scale(std::uint64_t a, std::uint64_t, std::uint64_t, std::uint32_t);
/// cvt.pack: a and b as integers of 8 (`mode` & kBytes) or 16 bits, clamped; a above b, and above
/// bytes c's lower half.
std::uint64_t pack_integers(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint32_t mode);
inline constexpr std::uint32_t kTiesAway = 1, kTowardsZero = 2, kRelu = 4, kFinite = 8,
                               kUpwards = 16;
/// The format of narrow numbers, in the hexadecimal digit above those.
inline constexpr std::uint32_t kE4M3 = 0x000, kE5M2 = 0x100, kE2M1 = 0x200, kE2M3 = 0x300,
                               kE3M2 = 0x400, kNarrowFormat = 0xf00;
inline constexpr std::uint32_t kBytes = 1, kFromSigned = 2, kToSigned = 4;

}  // namespace raddle::exec
