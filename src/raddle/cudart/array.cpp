#include "raddle/cudart/array.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/cudart/capture.h"

namespace raddle::cudart {

void Array::check(std::size_t x, std::size_t y, std::size_t z, const Block& b) const {
  const auto inside = [](std::size_t at, std::size_t size, std::size_t whole) {
    return at <= whole && size <= whole - at;
  };
  if (!inside(x, b.width, extent.width * texel_bytes()) || !inside(y, b.height, rows()) ||
      !inside(z, b.depth, slices()))
    throw Failure{kInvalidValue, "the copy leaves the array"};
}

void copy_3d(Context& c, const Copy3d& p) {
  const Array* from = p.source_array != nullptr ? &c.arrays.get(p.source_array) : nullptr;
  const Array* to = p.target_array != nullptr ? &c.arrays.get(p.target_array) : nullptr;
  if ((from != nullptr) == (p.source.pointer != nullptr) ||
      (to != nullptr) == (p.target.pointer != nullptr))
    throw Failure{kInvalidValue};
  // With an array on either side, widths are in its texels.
  const std::size_t unit = from != nullptr ? from->texel_bytes() : to ? to->texel_bytes() : 1;
  const Block block{p.extent.width * unit, p.extent.height, p.extent.depth};
  const auto region = [&](const Array* array, const Position& at, const PitchedPointer& pitched) {
    if (array != nullptr) {
      array->check(at.x * array->texel_bytes(), at.y, at.z, block);
      return array->region(at.x * array->texel_bytes(), at.y, at.z);
    }
    auto* const start = static_cast<std::byte*>(pitched.pointer) +
                        (at.z * pitched.height + at.y) * pitched.pitch + at.x;
    return Region{start, pitched.pitch, pitched.height != 0 ? pitched.height : p.extent.height};
  };
  const Region source = region(from, p.source_position, p.source),
               target = region(to, p.target_position, p.target);
  check_direction(c, p.kind, target.start, source.start);
  copy(c, target, source, block);
}

}  // namespace raddle::cudart

using namespace raddle;
using namespace raddle::cudart;

namespace {

Error make(Context& c, Array** to, const ChannelFormat* format, Extent extent, unsigned flags) {
  unsafe_call(c);
  if (to == nullptr || format == nullptr) throw Failure{kInvalidValue};
  const ChannelFormat f = *format;
  const bool whole = f.x % 8 == 0 && f.y % 8 == 0 && f.z % 8 == 0 && f.w % 8 == 0;
  Array array{.format = f, .extent = extent, .flags = flags, .address = 0, .pitch = 0};
  const std::size_t texel = array.texel_bytes();
  if (!whole || f.x <= 0 || (texel != 1 && texel != 2 && texel != 4 && texel != 8 && texel != 16))
    throw Failure{kInvalidChannelDescriptor};
  constexpr unsigned kKnown = kArrayLayered | kArraySurface | kArrayCubemap | kArrayGather;
  if ((flags & ~kKnown) != 0)
    throw Failure{kInvalidValue,
                  fmt::format("arrays with flags {:#x} are not supported", flags & ~kKnown)};
  const bool is_plane = extent.height != 0 && extent.depth == 0;
  if (extent.width == 0 || ((flags & kArrayGather) != 0 && !is_plane)) throw Failure{kInvalidValue};
  array.pitch = (extent.width * texel + 31) / 32 * 32;
  array.address =
      c.allocate(array.pitch * array.rows() * array.slices(), Allocation::Kind::Array, flags);
  *to = c.arrays.make(array);
  return kSuccess;
}

/// Rows to or from a place in an array; x in bytes.
struct Part {
  Array* array;
  std::size_t x, y;
};

Error copy_rows(Context& c, const Part& part, bool to_array, const void* pointer, std::size_t pitch,
                std::size_t width, std::size_t height, CopyKind kind, bool wait, Stream* stream) {
  const Array& array = c.arrays.get(part.array);
  if (pointer == nullptr || width > pitch) throw Failure{kInvalidValue};
  const Block block{width, height, 1};
  array.check(part.x, part.y, 0, block);
  const Region inside = array.region(part.x, part.y, 0);
  const Region outside{const_cast<void*>(pointer), pitch, height};
  const Region to = to_array ? inside : outside, from = to_array ? outside : inside;
  check_direction(c, kind, to.start, from.start);
  transfer(c, wait, stream, [=](Context& context) { copy(context, to, from, block); });
  return kSuccess;
}

/// cudaMemcpyToArray and its like count bytes through the rows.
Error copy_run(Context& c, Part part, bool to_array, const void* pointer, std::size_t bytes,
               CopyKind kind, bool wait, Stream* stream) {
  const Array& array = c.arrays.get(part.array);
  const std::size_t row = array.extent.width * array.texel_bytes();
  RADDLE_ASSERT(row != 0);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t now = std::min(row - part.x, bytes - done);
    copy_rows(c, part, to_array, static_cast<const std::byte*>(pointer) + done, now, now, 1, kind,
              wait, stream);
    done += now;
    part.x = 0;
    ++part.y;
  }
  return kSuccess;
}

}  // namespace

extern "C" {

ChannelFormat raddle_cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

int raddle_cudaMallocArray(Array** array, const ChannelFormat* format, std::size_t width,
                           std::size_t height, unsigned flags) {
  return call("cudaMallocArray", [&](Context& c) {
    return make(c, array, format, {width, height, 0}, flags);
  });
}

int raddle_cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent,
                             unsigned flags) {
  return call("cudaMalloc3DArray",
              [&](Context& c) { return make(c, array, format, extent, flags); });
}

int raddle_cudaFreeArray(Array* array) {
  return call("cudaFreeArray", [&](Context& c) {
    unsafe_call(c);
    if (array == nullptr) return kSuccess;
    const Address address = c.arrays.get(array).address;
    c.device().free(address);
    c.allocations.erase(address);
    c.arrays.drop(array);
    return kSuccess;
  });
}

int raddle_cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags, Array* array) {
  return call("cudaArrayGetInfo", [&](Context& c) {
    const Array& a = c.arrays.get(array);
    if (format != nullptr) *format = a.format;
    if (extent != nullptr) *extent = a.extent;
    if (flags != nullptr) *flags = a.flags;
    return kSuccess;
  });
}

int raddle_cudaGetChannelDesc(ChannelFormat* format, Array* array) {
  return call("cudaGetChannelDesc", [&](Context& c) {
    if (format == nullptr) throw Failure{kInvalidValue};
    *format = c.arrays.get(array).format;
    return kSuccess;
  });
}

int raddle_cudaMemcpy3D(const Copy3d* p) {
  return call("cudaMemcpy3D", [&](Context& c) {
    if (p == nullptr) throw Failure{kInvalidValue};
    transfer(c, true, nullptr, [m = *p](Context& context) { copy_3d(context, m); });
    return kSuccess;
  });
}

int raddle_cudaMemcpy3DAsync(const Copy3d* p, Stream* stream) {
  return call("cudaMemcpy3DAsync", [&](Context& c) {
    if (p == nullptr) throw Failure{kInvalidValue};
    transfer(c, false, stream, [m = *p](Context& context) { copy_3d(context, m); });
    return kSuccess;
  });
}

int raddle_cudaMemcpy2DToArray(Array* to, std::size_t x, std::size_t y, const void* from,
                               std::size_t pitch, std::size_t width, std::size_t height,
                               CopyKind kind) {
  return call("cudaMemcpy2DToArray", [&](Context& c) {
    return copy_rows(c, {to, x, y}, true, from, pitch, width, height, kind, true, nullptr);
  });
}

int raddle_cudaMemcpy2DToArrayAsync(Array* to, std::size_t x, std::size_t y, const void* from,
                                    std::size_t pitch, std::size_t width, std::size_t height,
                                    CopyKind kind, Stream* stream) {
  return call("cudaMemcpy2DToArrayAsync", [&](Context& c) {
    return copy_rows(c, {to, x, y}, true, from, pitch, width, height, kind, false, stream);
  });
}

int raddle_cudaMemcpy2DFromArray(void* to, std::size_t pitch, Array* from, std::size_t x,
                                 std::size_t y, std::size_t width, std::size_t height,
                                 CopyKind kind) {
  return call("cudaMemcpy2DFromArray", [&](Context& c) {
    return copy_rows(c, {from, x, y}, false, to, pitch, width, height, kind, true, nullptr);
  });
}

int raddle_cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, Array* from, std::size_t x,
                                      std::size_t y, std::size_t width, std::size_t height,
                                      CopyKind kind, Stream* stream) {
  return call("cudaMemcpy2DFromArrayAsync", [&](Context& c) {
    return copy_rows(c, {from, x, y}, false, to, pitch, width, height, kind, false, stream);
  });
}

int raddle_cudaMemcpyToArray(Array* to, std::size_t x, std::size_t y, const void* from,
                             std::size_t bytes, CopyKind kind) {
  return call("cudaMemcpyToArray", [&](Context& c) {
    return copy_run(c, {to, x, y}, true, from, bytes, kind, true, nullptr);
  });
}

int raddle_cudaMemcpyToArrayAsync(Array* to, std::size_t x, std::size_t y, const void* from,
                                  std::size_t bytes, CopyKind kind, Stream* stream) {
  return call("cudaMemcpyToArrayAsync", [&](Context& c) {
    return copy_run(c, {to, x, y}, true, from, bytes, kind, false, stream);
  });
}

int raddle_cudaMemcpyFromArray(void* to, Array* from, std::size_t x, std::size_t y,
                               std::size_t bytes, CopyKind kind) {
  return call("cudaMemcpyFromArray", [&](Context& c) {
    return copy_run(c, {from, x, y}, false, to, bytes, kind, true, nullptr);
  });
}

int raddle_cudaMemcpyFromArrayAsync(void* to, Array* from, std::size_t x, std::size_t y,
                                    std::size_t bytes, CopyKind kind, Stream* stream) {
  return call("cudaMemcpyFromArrayAsync", [&](Context& c) {
    return copy_run(c, {from, x, y}, false, to, bytes, kind, false, stream);
  });
}

}  // extern "C"
