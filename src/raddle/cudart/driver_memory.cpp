// Memory of the driver interface: copies, fills and what is known of a pointer. Allocation is the
// runtime's.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "raddle/base/error.h"
#include "raddle/cudart/driver.h"
#include "raddle/cudart/sizes.h"
#include "raddle/cudart/transfer.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

using enum CopyKind;

void* at(Address address) { return reinterpret_cast<void*>(address); }

Error copied(void* to, const void* from, std::size_t bytes, CopyKind kind) {
  return static_cast<Error>(raddle_cudaMemcpy(to, from, bytes, kind));
}
Error copied_async(void* to, const void* from, std::size_t bytes, CopyKind kind, Stream* stream) {
  return static_cast<Error>(raddle_cudaMemcpyAsync(to, from, bytes, kind, stream));
}

// --- rows ---------------------------------------------------------------------------------------

enum class Place : unsigned { Host = 1, Device = 2, Array = 3, Unified = 4 };  // CUmemorytype

struct RowsEnd {  // one side of CUDA_MEMCPY2D
  std::size_t x, y;
  Place place;
  void* host;
  Address device;
  void* array;
  std::size_t pitch;
};
struct CopyRows {  // CUDA_MEMCPY2D
  RowsEnd from, to;
  std::size_t width, height;
};

/// The first byte, and the pitch; without one rows lie one behind the other.
std::pair<char*, std::size_t> start_of(Context& c, const RowsEnd& end, std::size_t width) {
  if (end.place == Place::Array) {
    c.refuse_unsupported("cuMemcpy2D of arrays", kDriverNotSupported);
  }
  if (end.place < Place::Host || end.place > Place::Unified) throw Failure{kInvalidValue};
  const std::size_t pitch = end.pitch != 0 ? end.pitch : sum(end.x, width);
  const Address base = end.place == Place::Host ? reinterpret_cast<Address>(end.host) : end.device;
  if (base == 0) throw Failure{kInvalidValue};
  const std::size_t before = sum(product(end.y, pitch), end.x);
  return {static_cast<char*>(at(sum(base, before))), pitch};
}

CopyKind kind_of(const CopyRows& copy) {
  const auto known = [](Place p) { return p == Place::Host || p == Place::Device; };
  if (!known(copy.from.place) || !known(copy.to.place)) return Default;
  if (copy.from.place == Place::Host)
    return copy.to.place == Place::Host ? HostToHost : HostToDevice;
  return copy.to.place == Place::Host ? DeviceToHost : DeviceToDevice;
}

template <class F>
Error copy_2d(Context& c, const CopyRows* copy, F body) {
  const CopyRows& k = required(copy);
  const auto [from, from_pitch] = start_of(c, k.from, k.width);
  const auto [to, to_pitch] = start_of(c, k.to, k.width);
  return static_cast<Error>(body(to, to_pitch, from, from_pitch, k.width, k.height, kind_of(k)));
}

// --- fills --------------------------------------------------------------------------------------

struct Fill {
  Address start;
  std::size_t pitch;  ///< 0: there is one row
  std::uint32_t value;
  unsigned value_bytes;
  std::size_t width, height;  ///< values, rows
};

Error filled(Context& c, const Fill& f, bool wait, Stream* stream) {
  if (f.start % f.value_bytes != 0) throw Failure{kInvalidValue};
  if (f.width == 0 || f.height == 0) return kSuccess;
  const Region region{at(f.start), f.pitch, f.height};
  const Block block{product(f.width, f.value_bytes), f.height, 1};
  transfer(
      c, wait, stream,
      [=](Context& context) { fill(context, region, f.value, f.value_bytes, block); },
      NodeType::Memset);
  return kSuccess;
}

/// A row of values.
Fill row_of(Address start, std::uint32_t value, unsigned value_bytes, std::size_t count) {
  return {start, 0, value, value_bytes, count, 1};
}

int fill_now(const char* name, const Fill& f) {
  return driver(name, kCurrentContext, [&](Context& c) { return filled(c, f, true, nullptr); });
}
int fill_in(const char* name, const Fill& f, Stream* stream) {
  return driver(name, kCurrentContext, [&](Context& c) { return filled(c, f, false, stream); });
}

// --- pointers -----------------------------------------------------------------------------------

enum Asked : int {  // CUpointer_attribute
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kSynchronous = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kOrdinal = 9,
  kSharesWithProcesses = 10,
  kRangeStart = 11,
  kRangeBytes = 12,
  kMapped = 13,
  kAccess = 16,
  kLastAsked = 21,  // IS_HW_DECOMPRESS_CAPABLE
};

template <class T>
void give(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

struct MemoryRange {
  Address start;
  std::size_t bytes;
};
MemoryRange range_of(Context& c, Address address) {
  const auto* own = c.allocation(address);
  return own != nullptr ? MemoryRange{own->first, own->second.bytes} : MemoryRange{0, 0};
}

void pointer_attribute(Context& context, const PointerAttributes& known, Address address, int asked,
                       void* to) {
  const bool ours = known.type != MemoryType::Unregistered;
  const MemoryRange range = range_of(context, address);
  switch (asked) {
    case kContext:
      return give(to, ours ? current_context(context) : nullptr);
    case kMemoryType:
      // The driver says host or device; managed memory is the device's.
      return give(to, !ours ? 0u : known.type == MemoryType::Host ? 1u : 2u);
    case kDevicePointer:
      return give(to, known.device_pointer);
    case kHostPointer:
      return give(to, known.host_pointer);
    case kSynchronous:
      return give(to, 0);
    case kBufferId:
      return give(to, static_cast<unsigned long long>(range.start));
    case kIsManaged:
      return give(to, known.type == MemoryType::Managed ? 1 : 0);
    case kOrdinal:
      return give(to, ours ? 0 : -2);
    case kSharesWithProcesses:
      return give(to, 0);
    case kRangeStart:
      return give(to, range.start);
    case kRangeBytes:
      return give(to, range.bytes);
    case kMapped:
      return give(to, ours ? 1 : 0);
    case kAccess:
      return give(to, ours ? 3u : 0u);
    default:
      if (asked < kContext || asked > kLastAsked) throw Failure{kInvalidValue};
      context.refuse_unsupported(fmt::format("attribute {} of a pointer", asked),
                                 kDriverNotSupported);
  }
}

PointerAttributes known_of(Address address) {
  PointerAttributes known{};
  if (const int code = raddle_cudaPointerGetAttributes(&known, at(address)); code != kSuccess)
    throw Failure{static_cast<Error>(code)};
  return known;
}

}  // namespace

extern "C" {

int raddle_cuMemAlloc_v2(void** to, std::size_t bytes) {
  return driver("cuMemAlloc", kCurrentContext, [&](Context&) {
    if (bytes == 0) throw Failure{kInvalidValue};
    return static_cast<Error>(raddle_cudaMalloc(to, bytes));
  });
}

int raddle_cuMemAllocPitch_v2(void** to, std::size_t* pitch, std::size_t width, std::size_t height,
                              unsigned element) {
  return driver("cuMemAllocPitch", kCurrentContext, [&](Context&) {
    const bool right = element == 4 || element == 8 || element == 16;
    if (!right || width == 0 || height == 0) throw Failure{kInvalidValue};
    return static_cast<Error>(raddle_cudaMallocPitch(to, pitch, width, height));
  });
}

int raddle_cuMemGetAddressRange(Address* start, std::size_t* bytes, Address address) {
  return driver("cuMemGetAddressRange", kCurrentContext, [&](Context& c) {
    const MemoryRange range = range_of(c, address);
    if (range.start == 0) throw Failure{kNotFound};
    if (start != nullptr) *start = range.start;
    if (bytes != nullptr) *bytes = range.bytes;
    return kSuccess;
  });
}

int raddle_cuPointerGetAttribute(void* to, int asked, Address address) {
  return driver("cuPointerGetAttribute", kCurrentContext, [&](Context& c) {
    const PointerAttributes known = known_of(address);
    if (to == nullptr || known.type == MemoryType::Unregistered) throw Failure{kInvalidValue};
    pointer_attribute(c, known, address, asked, to);
    return kSuccess;
  });
}

int raddle_cuPointerGetAttributes(unsigned count, const int* asked, void** to, Address address) {
  return driver("cuPointerGetAttributes", kCurrentContext, [&](Context& c) {
    const PointerAttributes known = known_of(address);
    if (asked == nullptr || to == nullptr) throw Failure{kInvalidValue};
    for (unsigned i = 0; i < count; ++i)
      pointer_attribute(c, known, address, asked[i], &required(static_cast<char*>(to[i])));
    return kSuccess;
  });
}

// --- copies -------------------------------------------------------------------------------------

int raddle_cuMemcpy(void* to, const void* from, std::size_t bytes) {
  return driver("cuMemcpy", kCurrentContext,
                [&](Context&) { return copied(to, from, bytes, Default); });
}
int raddle_cuMemcpyHtoD(void* to, const void* from, std::size_t bytes) {
  return driver("cuMemcpyHtoD", kCurrentContext,
                [&](Context&) { return copied(to, from, bytes, HostToDevice); });
}
int raddle_cuMemcpyDtoH(void* to, const void* from, std::size_t bytes) {
  return driver("cuMemcpyDtoH", kCurrentContext,
                [&](Context&) { return copied(to, from, bytes, DeviceToHost); });
}
int raddle_cuMemcpyDtoD(void* to, const void* from, std::size_t bytes) {
  return driver("cuMemcpyDtoD", kCurrentContext,
                [&](Context&) { return copied(to, from, bytes, DeviceToDevice); });
}
int raddle_cuMemcpyPeer(void* to, const void*, const void* from, const void*, std::size_t bytes) {
  return driver("cuMemcpyPeer", kCurrentContext,
                [&](Context&) { return copied(to, from, bytes, DeviceToDevice); });
}
int raddle_cuMemcpyAsync(void* to, const void* from, std::size_t bytes, Stream* stream) {
  return driver("cuMemcpyAsync", kCurrentContext,
                [&](Context&) { return copied_async(to, from, bytes, Default, stream); });
}
int raddle_cuMemcpyHtoDAsync(void* to, const void* from, std::size_t bytes, Stream* stream) {
  return driver("cuMemcpyHtoDAsync", kCurrentContext,
                [&](Context&) { return copied_async(to, from, bytes, HostToDevice, stream); });
}
int raddle_cuMemcpyDtoHAsync(void* to, const void* from, std::size_t bytes, Stream* stream) {
  return driver("cuMemcpyDtoHAsync", kCurrentContext,
                [&](Context&) { return copied_async(to, from, bytes, DeviceToHost, stream); });
}
int raddle_cuMemcpyDtoDAsync(void* to, const void* from, std::size_t bytes, Stream* stream) {
  return driver("cuMemcpyDtoDAsync", kCurrentContext,
                [&](Context&) { return copied_async(to, from, bytes, DeviceToDevice, stream); });
}
int raddle_cuMemcpyPeerAsync(void* to, const void*, const void* from, const void*,
                             std::size_t bytes, Stream* stream) {
  return driver("cuMemcpyPeerAsync", kCurrentContext,
                [&](Context&) { return copied_async(to, from, bytes, DeviceToDevice, stream); });
}
int raddle_cuMemcpy2D(const CopyRows* copy) {
  return driver("cuMemcpy2D", kCurrentContext,
                [&](Context& c) { return copy_2d(c, copy, raddle_cudaMemcpy2D); });
}
int raddle_cuMemcpy2DAsync(const CopyRows* copy, Stream* stream) {
  return driver("cuMemcpy2DAsync", kCurrentContext, [&](Context& c) {
    return copy_2d(c, copy, [&](auto... k) { return raddle_cudaMemcpy2DAsync(k..., stream); });
  });
}

// --- fills --------------------------------------------------------------------------------------

int raddle_cuMemsetD16(Address to, std::uint16_t value, std::size_t count) {
  return fill_now("cuMemsetD16", row_of(to, value, 2, count));
}
int raddle_cuMemsetD32(Address to, std::uint32_t value, std::size_t count) {
  return fill_now("cuMemsetD32", row_of(to, value, 4, count));
}
int raddle_cuMemsetD16Async(Address to, std::uint16_t value, std::size_t count, Stream* stream) {
  return fill_in("cuMemsetD16Async", row_of(to, value, 2, count), stream);
}
int raddle_cuMemsetD32Async(Address to, std::uint32_t value, std::size_t count, Stream* stream) {
  return fill_in("cuMemsetD32Async", row_of(to, value, 4, count), stream);
}
int raddle_cuMemsetD2D8(Address to, std::size_t pitch, std::uint8_t value, std::size_t width,
                        std::size_t height) {
  return fill_now("cuMemsetD2D8", {to, pitch, value, 1, width, height});
}
int raddle_cuMemsetD2D16(Address to, std::size_t pitch, std::uint16_t value, std::size_t width,
                         std::size_t height) {
  return fill_now("cuMemsetD2D16", {to, pitch, value, 2, width, height});
}
int raddle_cuMemsetD2D32(Address to, std::size_t pitch, std::uint32_t value, std::size_t width,
                         std::size_t height) {
  return fill_now("cuMemsetD2D32", {to, pitch, value, 4, width, height});
}
int raddle_cuMemsetD2D8Async(Address to, std::size_t pitch, std::uint8_t value, std::size_t width,
                             std::size_t height, Stream* stream) {
  return fill_in("cuMemsetD2D8Async", {to, pitch, value, 1, width, height}, stream);
}
int raddle_cuMemsetD2D16Async(Address to, std::size_t pitch, std::uint16_t value, std::size_t width,
                              std::size_t height, Stream* stream) {
  return fill_in("cuMemsetD2D16Async", {to, pitch, value, 2, width, height}, stream);
}
int raddle_cuMemsetD2D32Async(Address to, std::size_t pitch, std::uint32_t value, std::size_t width,
                              std::size_t height, Stream* stream) {
  return fill_in("cuMemsetD2D32Async", {to, pitch, value, 4, width, height}, stream);
}

}  // extern "C"
