#include "raddle/cudart/array.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/cudart/capture.h"
#include "raddle/cudart/properties.h"
#include "raddle/cudart/sizes.h"

namespace raddle::cudart {

void check_format(Context& c, const ChannelFormat& f) {
  // NV12, normalized and block-compressed ones.
  constexpr int kFloat = 2, kFirstOther = 4, kLastOther = 31;
  if (f.kind >= kFirstOther && f.kind <= kLastOther)
    c.refuse_unsupported(fmt::format("an array of channel format {}", f.kind));
  const bool of_size = f.x == 8 || f.x == 16 || f.x == 32;
  const bool alike = (f.y == 0 || f.y == f.x) && (f.z == 0 || f.z == f.x) && f.z == f.w;
  const bool in_order = f.y != 0 || f.z == 0;
  if (!of_size || !alike || !in_order || f.kind < 0 || f.kind > kFloat ||
      (f.kind == kFloat && f.x == 8))
    throw Failure{
        kInvalidChannelDescriptor,
        fmt::format("channels of {}, {}, {} and {} bits of kind {}", f.x, f.y, f.z, f.w, f.kind)};
}

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
  const Block block{product(p.extent.width, unit), p.extent.height, p.extent.depth};
  const auto region = [&](const Array* array, const Position& at, const PitchedPointer& pitched) {
    if (array != nullptr) {
      const std::size_t x = product(at.x, array->texel_bytes());
      array->check(x, at.y, at.z, block);
      return array->region(x, at.y, at.z);
    }
    check_pitch(c, pitched.pitch);
    const std::size_t rows = sum(product(at.z, pitched.height), at.y);
    const std::size_t before = sum(product(rows, pitched.pitch, kInvalidPitchValue), at.x);
    return Region{reinterpret_cast<void*>(sum(reinterpret_cast<Address>(pitched.pointer), before)),
                  pitched.pitch, pitched.height != 0 ? pitched.height : p.extent.height};
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

/// Attributes of the device that say how large an array may be; 0: it has no such side.
struct Limits {
  int width, height, depth;
};
Limits limits_of(const Extent& extent, unsigned flags) {
  const bool surface = (flags & kArraySurface) != 0;
  const auto either = [&](Limits texture, Limits of_surface) {
    return surface ? of_surface : texture;
  };
  const bool layered = (flags & kArrayLayered) != 0;
  if ((flags & kArrayCubemap) != 0)
    return layered ? either({53, 53, 54}, {67, 67, 68}) : either({52, 52, 0}, {66, 66, 0});
  if (layered)
    return extent.height == 0 ? either({42, 0, 43}, {61, 0, 62})
                              : either({27, 28, 29}, {63, 64, 65});
  if (extent.depth != 0) return either({24, 25, 26}, {58, 59, 60});
  if ((flags & kArrayGather) != 0) return {45, 46, 0};
  return extent.height != 0 ? either({22, 23, 0}, {56, 57, 0}) : either({21, 0, 0}, {55, 0, 0});
}

/// The table of cudaMalloc3DArray. Throws Failure.
void check_extent(Context& c, const Extent& extent, unsigned flags) {
  const bool layered = (flags & kArrayLayered) != 0, cube = (flags & kArrayCubemap) != 0;
  const auto refuse = [&](const std::string& why) {
    throw Failure{kInvalidValue, fmt::format("array of {} x {} x {}: {}", extent.width,
                                             extent.height, extent.depth, why)};
  };
  if (extent.width == 0) refuse("it has no texel");
  if (cube && extent.width != extent.height) refuse("faces of a cube are square");
  if (cube && (layered ? extent.depth == 0 || extent.depth % 6 != 0 : extent.depth != 6))
    refuse("a cube has 6 faces");
  if (layered && extent.depth == 0) refuse("it has no layer");
  if (!layered && extent.height == 0 && extent.depth != 0) refuse("it has no row");
  if ((flags & kArrayGather) != 0 && (extent.height == 0 || extent.depth != 0))
    refuse("tex2Dgather needs two dimensions");
  const Limits limits = limits_of(extent, flags);
  const auto check = [&](std::size_t size, int number, const char* what) {
    if (number == 0) return;
    const auto maximum = static_cast<std::size_t>(attribute(c.seen(), number).value());
    if (size > maximum) refuse(fmt::format("{} is at most {}", what, maximum));
  };
  check(extent.width, limits.width, "the width");
  check(extent.height, limits.height, "the height");
  check(extent.depth, limits.depth, layered ? "the number of layers" : "the depth");
}

Error make(Context& c, Array** to, const ChannelFormat* format, Extent extent, unsigned flags) {
  unsafe_call(c);
  if (to == nullptr || format == nullptr) throw Failure{kInvalidValue};
  check_format(c, *format);
  Array array{.format = *format, .extent = extent, .flags = flags, .address = 0, .pitch = 0};
  constexpr unsigned kKnown = kArrayLayered | kArraySurface | kArrayCubemap | kArrayGather;
  constexpr unsigned kOther = 0x20 | 0x40 | 0x80;  // color attachment, sparse, deferred mapping
  if ((flags & ~(kKnown | kOther)) != 0)
    throw Failure{kInvalidValue, fmt::format("arrays have no flags {:#x}", flags)};
  if ((flags & kOther) != 0)
    c.refuse_unsupported(fmt::format("an array with flags {:#x}", flags & kOther));
  check_extent(c, extent, flags);
  array.pitch = (extent.width * array.texel_bytes() + 31) / 32 * 32;
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

/// Copies begin and end with whole texels; x and width in bytes. Throws Failure.
void check_texels(const Array& array, std::size_t x, std::size_t width) {
  const std::size_t texel = array.texel_bytes();
  RADDLE_ASSERT(texel != 0);
  if (x % texel != 0 || width % texel != 0)
    throw Failure{kInvalidValue,
                  fmt::format("offset {} and width {} are no multiples of the array's element, {} "
                              "bytes",
                              x, width, texel)};
}

Error copy_rows(Context& c, const Part& part, bool to_array, const void* pointer, std::size_t pitch,
                std::size_t width, std::size_t height, CopyKind kind, bool wait, Stream* stream) {
  const Array& array = c.arrays.get(part.array);
  if (pointer == nullptr || width > pitch) throw Failure{kInvalidValue};
  check_pitch(c, pitch);
  check_texels(array, part.x, width);
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
  check_texels(array, part.x, bytes);
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
