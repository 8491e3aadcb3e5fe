// Copies and fills between any two places that a program may name.
#pragma once
#include "raddle/cudart/graph.h"

namespace raddle::cudart {

/// Rows of bytes, `pitch` apart, in slices `pitch * rows` apart.
struct Region {
  void* start;
  std::size_t pitch, rows;
};
struct Block {
  std::size_t width, height, depth;  ///< bytes, rows, slices
};

/// From the first byte to the last of a block in the region. Throws Failure.
std::size_t span_of(const Region& region, const Block& block);
/// Rows to be copied may be so far apart (cudaDeviceProp::memPitch). Throws Failure.
void check_pitch(Context& c, std::size_t pitch);
/// Whether the kind allows these pointers. Throws Failure.
void check_direction(Context& c, CopyKind kind, const void* to, const void* from);
/// Copies at once. Device memory on either side is checked whole first. Throws Failure and
/// RunError.
void copy(Context& c, const Region& to, const Region& from, const Block& block);
/// Fills with a value of 1, 2 or 4 bytes.
void fill(Context& c, const Region& to, std::uint32_t value, unsigned value_bytes,
          const Block& block);

/// Does `work` as an operation of the stream or, to `wait`, when the device is idle and at once.
void transfer(Context& c, bool wait, Stream* stream, const std::function<void(Context&)>& work,
              NodeType type = NodeType::Memcpy);
/// cudaMemcpy3D, arrays or pitched memory on either side.
void copy_3d(Context& c, const Copy3d& parameters);

}  // namespace raddle::cudart
