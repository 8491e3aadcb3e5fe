// CUDA arrays: texels in rows, in device memory like any other.
#pragma once
#include "raddle/base/error.h"
#include "raddle/cudart/context.h"
#include "raddle/cudart/transfer.h"

namespace raddle::cudart {

inline constexpr unsigned kArrayLayered = 1, kArraySurface = 2, kArrayCubemap = 4,
                          kArrayGather = 8;  // what tex2Dgather needs

/// What a texture unit can read: one, two or four channels of 8, 16 or 32 bits, all alike. Throws
/// Failure.
void check_format(Context& c, const ChannelFormat& format);

struct Array {
  ChannelFormat format;
  Extent extent;  ///< texels; height and depth 0 where there is none
  unsigned flags;
  Address address;
  std::size_t pitch;  ///< bytes from row to row

  std::size_t texel_bytes() const {
    return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
  }
  std::size_t rows() const { return extent.height != 0 ? extent.height : 1; }
  std::size_t slices() const { return extent.depth != 0 ? extent.depth : 1; }
  /// From the texel on; x in bytes.
  Region region(std::size_t x, std::size_t y, std::size_t z) const {
    RADDLE_ASSERT(address != 0 && pitch >= extent.width * texel_bytes());
    const Address at = address + (z * rows() + y) * pitch + x;
    return {reinterpret_cast<void*>(at), pitch, rows()};
  }
  /// Throws Failure when the block (width in bytes) leaves the array.
  void check(std::size_t x, std::size_t y, std::size_t z, const Block& b) const;
};

}  // namespace raddle::cudart
