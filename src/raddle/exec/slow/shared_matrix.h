// Matrices in shared memory as descriptors name them (PTX ISA 9.0, 9.7.15.5.1): where each 16 bytes
// lie.
//
// A descriptor's 64 bits: 0-13 start address, 16-29 leading byte offset, 32-45 stride byte offset,
// all three in units of 16 bytes; 49-51 base offset; 62-63 swizzle: 0 none, 1 of 128 bytes, 2 of
// 64, 3 of 32. The rest is zero.
//
// Rows of a core matrix have 16 bytes. Swizzled, as many of them as the mode's name says stand side
// by side, and the row's number (of eight, from the pattern's start) is added without carry to the
// number of the 16 bytes within it.
#pragma once
#include <cstdint>

namespace raddle::exec {

struct SharedMatrix {
  std::uint32_t start = 0, leading = 0, stride = 0;  ///< bytes
  unsigned base = 0;                                 ///< row of the pattern at which it starts
  unsigned swizzle = 0;                              ///< binary logarithm of the 16 bytes in a row

  static SharedMatrix of(std::uint64_t descriptor) {
    constexpr unsigned kSwizzle[] = {0, 3, 2, 1};
    const auto field = [&](unsigned at) {
      return static_cast<std::uint32_t>(descriptor >> at & 0x3fff) * 16;
    };
    return {field(0), field(16), field(32), static_cast<unsigned>(descriptor >> 49 & 7),
            kSwizzle[descriptor >> 62]};
  }
  static bool well_formed(std::uint64_t descriptor) {
    return (descriptor & 0x3ff1'c000'c000'c000) == 0;
  }

  /// Where 16 bytes of a row along K are: of row (or column) `across`, which is in M or N; part 0
  /// or 1 of its 32 bytes.
  std::uint32_t along_k(unsigned across, unsigned part) const {
    const std::uint32_t in_core = (across % 8) * (16u << swizzle) + across / 8 * stride;
    return placed(in_core + part * (swizzle == 0 ? leading : 16));
  }
  /// Where 16 bytes along M or N are: number `part` of them, at depth `k`.
  std::uint32_t along_mn(unsigned part, unsigned k) const {
    const unsigned side = 1u << swizzle;
    const std::uint32_t row = (k % 8) * (16u << swizzle);
    if (swizzle == 0) return placed(row + k / 8 * leading + part * stride);
    return placed(row + k / 8 * stride + part % side * 16 + part / side * leading);
  }

 private:
  std::uint32_t placed(std::uint32_t offset) const {
    const std::uint32_t at = start + offset;
    const std::uint32_t row = ((at >> 7) - base) & ((1u << swizzle) - 1);
    return at ^ row << 4;
  }
};

}  // namespace raddle::exec
