// Allocation: all kinds of memory are one arena that host and device see at the same addresses.
#include <algorithm>

#include "raddle/cudart/capture.h"
#include "raddle/cudart/sizes.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

using Kind = Allocation::Kind;
constexpr std::size_t kPitch = 512;  // what GPUs align rows to

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

Error allocate(Context& c, void** to, std::size_t bytes, Kind kind, unsigned flags = 0) {
  unsafe_call(c);
  required(to) = nullptr;
  if (bytes != 0 || kind == Kind::Array)
    *to = reinterpret_cast<void*>(c.allocate(bytes, kind, flags));
  else if (kind != Kind::Device) throw Failure{kInvalidValue};
  return kSuccess;
}

/// Frees what `kinds` allow; null is nothing to free.
Error release(Context& c, void* pointer, std::initializer_list<Kind> kinds) {
  unsafe_call(c);
  if (pointer == nullptr) return kSuccess;
  const auto found = c.allocations.find(address_of(pointer));
  if (found == c.allocations.end() || std::ranges::count(kinds, found->second.kind) == 0)
    throw Failure{kInvalidValue};
  c.device().free(found->first);
  found->second.leave_pool();
  c.allocations.erase(found);
  return kSuccess;
}

std::size_t pitch_of(std::size_t width) {
  return sum(width, kPitch - 1, kMemoryAllocation) / kPitch * kPitch;
}

/// Rows in slices.
std::size_t bytes_in_slices(std::size_t pitch, std::size_t rows, std::size_t slices) {
  return product(product(pitch, rows, kMemoryAllocation), slices, kMemoryAllocation);
}

}  // namespace

extern "C" {

int raddle_cudaMalloc(void** to, std::size_t bytes) {
  return call("cudaMalloc", [&](Context& c) { return allocate(c, to, bytes, Kind::Device); });
}

int raddle_cudaMallocHost(void** to, std::size_t bytes) {
  return call("cudaMallocHost", [&](Context& c) { return allocate(c, to, bytes, Kind::Host); });
}

int raddle_cudaHostAlloc(void** to, std::size_t bytes, unsigned flags) {
  return call("cudaHostAlloc", [&](Context& c) {
    constexpr unsigned kKnown = 1 | 2 | 4;  // portable, mapped, write-combined
    if ((flags & ~kKnown) != 0) throw Failure{kInvalidValue};
    return allocate(c, to, bytes, Kind::Host, flags);
  });
}

int raddle_cudaMallocManaged(void** to, std::size_t bytes, unsigned flags) {
  return call("cudaMallocManaged", [&](Context& c) {
    if (flags != 1 && flags != 2) throw Failure{kInvalidValue};
    return allocate(c, to, bytes, Kind::Managed, flags);
  });
}

int raddle_cudaMallocPitch(void** to, std::size_t* pitch, std::size_t width, std::size_t height) {
  return call("cudaMallocPitch", [&](Context& c) {
    const std::size_t bytes = bytes_in_slices(pitch_of(width), height, 1);
    required(pitch) = pitch_of(width);
    return allocate(c, to, bytes, Kind::Device);
  });
}

int raddle_cudaMalloc3D(PitchedPointer* to, Extent extent) {
  return call("cudaMalloc3D", [&](Context& c) {
    const std::size_t pitch = pitch_of(extent.width);
    const std::size_t bytes = bytes_in_slices(pitch, extent.height, extent.depth);
    required(to) = {nullptr, pitch, extent.width, extent.height};
    return allocate(c, &to->pointer, bytes, Kind::Device);
  });
}

int raddle_cudaFree(void* pointer) {
  return call("cudaFree", [&](Context& c) {
    c.device();  // cudaFree(0) is how programs start the device
    return release(c, pointer, {Kind::Device, Kind::Managed});
  });
}

int raddle_cudaFreeHost(void* pointer) {
  return call("cudaFreeHost", [&](Context& c) { return release(c, pointer, {Kind::Host}); });
}

int raddle_cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("cudaMemGetInfo", [&](Context& c) {
    required(total) = c.device().memory_bytes();
    required(free) = *total - c.device().memory().used();
    return kSuccess;
  });
}

}  // extern "C"
