// Memory pools and stream-ordered allocation. Memory is taken and given back in the order of the
// calls, which is an order of the streams too; a pool is its settings, and keeps nothing that was
// given back: what it has reserved is what is in use.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "raddle/cudart/capture.h"
#include "raddle/cudart/pools.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

constexpr int kReleaseThreshold = 4, kReservedCurrent = 5, kReservedHigh = 6, kUsedCurrent = 7,
              kUsedHigh = 8, kLast = kUsedHigh;
static_assert(std::tuple_size_v<decltype(Pool::attributes)> == kLast + 1);

Pool& default_pool(Context& c) {
  if (c.default_pool == nullptr) c.default_pool = c.pools.make();
  return *c.default_pool;
}

/// That cudaMallocAsync takes from.
Pool& current_pool(Context& c) {
  return c.current_pool != nullptr ? *c.current_pool : default_pool(c);
}

Error allocate(Context& c, void** to, std::size_t bytes, Pool& from, Stream* stream) {
  if (to == nullptr || bytes == 0) throw Failure{kInvalidValue};
  Stream& on = usable(c, stream);
  if (from.max_size != 0 && (from.used > from.max_size || bytes > from.max_size - from.used))
    throw Failure{kMemoryAllocation,
                  fmt::format("{} bytes of a pool that may have {}, {} are in use", bytes,
                              from.max_size, from.used)};
  const Address at = c.allocate(bytes, Allocation::Kind::Device);
  *to = reinterpret_cast<void*>(at);
  c.allocations.at(at).pool = &from;
  from.used += bytes;
  for (const int high : {kReservedHigh, kUsedHigh})
    from.attributes[high] = std::max(from.attributes[high], from.used);
  // In a graph the memory stays: each launch of the graph finds it at the same address.
  if (on.capture != nullptr) c.enqueue(on, NodeType::MemAlloc, [](Context&, StreamId) {});
  return kSuccess;
}

Pool& pool(Context& c, Pool* handle) {
  if (handle == nullptr) throw Failure{kInvalidValue};
  return c.pools.get(handle);
}

int get_pool(const char* name, Pool** to, int device, Pool& (*which)(Context& c)) {
  return call(name, [&](Context& c) {
    c.session();
    if (device != 0) throw Failure{kInvalidDevice};
    required(to) = &which(c);
    return kSuccess;
  });
}

}  // namespace

namespace raddle::cudart {

void check_properties(Context& c, const char* call, const PoolProperties& p) {
  constexpr int kPinned = 1, kManaged = 2, kAtDevice = 1, kLastLocation = 4;
  const bool managed = p.allocation_type == kManaged;
  if (p.allocation_type != kPinned && !managed)
    throw Failure{kInvalidValue, "a pool's allocType is cudaMemAllocationTypePinned"};
  const bool placed = p.location.type >= kAtDevice && p.location.type <= kLastLocation;
  if ((!placed && !managed) || (p.location.type == kAtDevice && p.location.id != 0))
    throw Failure{kInvalidValue, "there is one device to make a pool on, number 0"};
  if (p.handle_types != 0)
    c.refuse_unsupported(std::string(call) + ": pools shared with other processes");
  if (managed || p.location.type != kAtDevice)
    c.refuse_unsupported(std::string(call) + ": pools of managed and of host memory");
}

}  // namespace raddle::cudart

extern "C" {

int raddle_cudaMallocAsync(void** to, std::size_t bytes, Stream* stream) {
  return call("cudaMallocAsync", [&](Context& c) {
    c.session();
    return allocate(c, to, bytes, current_pool(c), stream);
  });
}

int raddle_cudaMallocFromPoolAsync(void** to, std::size_t bytes, Pool* from, Stream* stream) {
  return call("cudaMallocFromPoolAsync",
              [&](Context& c) { return allocate(c, to, bytes, pool(c, from), stream); });
}

int raddle_cudaFreeAsync(void* pointer, Stream* stream) {
  return call("cudaFreeAsync", [&](Context& c) {
    Stream& on = usable(c, stream);
    if (pointer == nullptr) return kSuccess;
    const auto found = c.allocations.find(reinterpret_cast<Address>(pointer));
    if (found == c.allocations.end()) throw Failure{kInvalidValue};
    if (on.capture != nullptr) {
      c.enqueue(on, NodeType::MemFree, [](Context&, StreamId) {});
      return kSuccess;
    }
    c.device().release(found->first);
    found->second.leave_pool();
    c.allocations.erase(found);
    return kSuccess;
  });
}

int raddle_cudaDeviceGetDefaultMemPool(Pool** to, int device) {
  return get_pool("cudaDeviceGetDefaultMemPool", to, device, default_pool);
}

int raddle_cudaDeviceGetMemPool(Pool** to, int device) {
  return get_pool("cudaDeviceGetMemPool", to, device, current_pool);
}

int raddle_cudaDeviceSetMemPool(int device, Pool* to) {
  return call("cudaDeviceSetMemPool", [&](Context& c) {
    c.session();
    if (device != 0) throw Failure{kInvalidDevice};
    c.current_pool = &pool(c, to);
    return kSuccess;
  });
}

int raddle_cudaMemPoolCreate(Pool** to, const PoolProperties* properties) {
  return call("cudaMemPoolCreate", [&](Context& c) {
    c.session();
    Pool*& made = required(to);
    check_properties(c, "cudaMemPoolCreate", required(properties));
    made = c.pools.make();
    made->max_size = properties->max_size;
    return kSuccess;
  });
}

int raddle_cudaMemPoolDestroy(Pool* handle) {
  return call("cudaMemPoolDestroy", [&](Context& c) {
    if (handle == c.default_pool) throw Failure{kInvalidValue};
    if (handle == c.current_pool) c.current_pool = nullptr;
    for (auto& [at, allocation] : c.allocations)  // they live on without it
      if (allocation.pool == handle) allocation.pool = nullptr;
    c.pools.drop(handle);
    return kSuccess;
  });
}

int raddle_cudaMemPoolTrimTo(Pool* handle, std::size_t) {
  return call("cudaMemPoolTrimTo", [&](Context& c) {
    pool(c, handle);
    return kSuccess;
  });
}

int raddle_cudaMemPoolSetAttribute(Pool* handle, int number, void* value) {
  return call("cudaMemPoolSetAttribute", [&](Context& c) {
    Pool& p = pool(c, handle);
    if (value == nullptr || number < 1 || number > kLast) throw Failure{kInvalidValue};
    std::memcpy(&p.attributes[number], value, number < kReleaseThreshold ? 4 : 8);
    return kSuccess;
  });
}

int raddle_cudaMemPoolGetAttribute(Pool* handle, int number, void* value) {
  return call("cudaMemPoolGetAttribute", [&](Context& c) {
    Pool& p = pool(c, handle);
    if (value == nullptr || number < 1 || number > kLast) throw Failure{kInvalidValue};
    if (number == kReservedCurrent || number == kUsedCurrent) p.attributes[number] = p.used;
    std::memcpy(value, &p.attributes[number], number < kReleaseThreshold ? 4 : 8);
    return kSuccess;
  });
}

int raddle_cudaMemPoolSetAccess(Pool* handle, const AccessDescription* list, std::size_t count) {
  return call("cudaMemPoolSetAccess", [&](Context& c) {
    pool(c, handle);
    constexpr int kNone = 0, kRead = 1, kReadWrite = 3, kAtDevice = 1;
    for (const AccessDescription& one : listed(list, count)) {
      if (one.location.type == kAtDevice && one.location.id != 0) throw Failure{kInvalidDevice};
      if (one.flags != kNone && one.flags != kRead && one.flags != kReadWrite)
        throw Failure{kInvalidValue};
    }
    return kSuccess;
  });
}

int raddle_cudaMemPoolGetAccess(int* flags, Pool* handle, const MemoryLocation* from) {
  return call("cudaMemPoolGetAccess", [&](Context& c) {
    pool(c, handle);
    if (flags == nullptr || from == nullptr) throw Failure{kInvalidValue};
    *flags = 3;  // read and write
    return kSuccess;
  });
}

}  // extern "C"
