// Host memory that the device sees, what is known of any pointer, and hints that change nothing
// here: there is one memory, so nothing moves.
#include "raddle/cudart/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/cudart/capture.h"
#include "raddle/cudart/sizes.h"

using namespace raddle;
using namespace raddle::cudart;

namespace raddle::cudart {

namespace {

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }
void* pointer_to(Address address) { return reinterpret_cast<void*>(address); }

/// The registered range that holds the address; null when there is none.
Registered* registered(Context& c, Address address) {
  auto after = c.registered.upper_bound(address);
  if (after == c.registered.begin()) return nullptr;
  Registered& found = std::prev(after)->second;
  RADDLE_ASSERT(found.start == std::prev(after)->first && found.bytes != 0);
  return address - found.start < found.bytes ? &found : nullptr;
}

/// The process has all of that memory. Throws Failure.
void check_mapped(Address start, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const Address first = start / page * page;
  sum(sum(start, bytes), page);  // rounded up to whole pages it would be none
  // It writes nothing back at once, and tells of what is not mapped.
  if (msync(pointer_to(first), sum(bytes, start - first), MS_ASYNC) != 0)
    throw Failure{kInvalidValue, "the process does not have all of that memory"};
}

/// Memory that hints may name: all within one managed allocation, or a managed variable.
void check_managed(Context& c, const void* pointer, std::size_t bytes) {
  c.session();
  const Address first = address_of(pointer);
  const auto* own = c.allocation(first);
  const bool managed = own != nullptr && own->second.kind == Allocation::Kind::Managed &&
                       bytes <= own->second.bytes - (first - own->first);
  const Address last = first + bytes - 1;
  const bool variable =
      last >= first && c.is_managed_variable(first) && c.is_managed_variable(last);
  if (bytes == 0 || (!managed && !variable)) throw Failure{kInvalidValue};
}

constexpr int kAtDevice = 1, kAtHost = 2, kAtHostNumaCurrent = 4;  // cudaMemLocationType
/// As CUDA before 13 names a place: a device, or -1 for the host.
MemoryLocation location_of(int device) {
  return device == -1 ? MemoryLocation{kAtHost, 0} : MemoryLocation{kAtDevice, device};
}
void check_location(const MemoryLocation& location) {
  if (location.type < kAtDevice || location.type > kAtHostNumaCurrent) throw Failure{kInvalidValue};
  if (location.type == kAtDevice && location.id != 0) throw Failure{kInvalidDevice};
}

}  // namespace

void show_registered(Context& c) {
  for (auto& [start, range] : c.registered)
    if (range.mirror != 0) std::memcpy(pointer_to(range.mirror), pointer_to(start), range.bytes);
}

void take_registered(Context& c) {
  for (auto& [start, range] : c.registered)
    if (range.mirror != 0) std::memcpy(pointer_to(start), pointer_to(range.mirror), range.bytes);
}

}  // namespace raddle::cudart

extern "C" {

int raddle_cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return call("cudaHostRegister", [&](Context& c) {
    c.session();
    unsafe_call(c);
    constexpr unsigned kKnown = 1 | 2 | 4 | 8;  // portable, mapped, of a device, read-only
    if (pointer == nullptr || bytes == 0 || (flags & ~kKnown) != 0) throw Failure{kInvalidValue};
    check_mapped(address_of(pointer), bytes);
    if (registered(c, address_of(pointer)) != nullptr || c.allocation(address_of(pointer)))
      throw Failure{kHostMemoryAlreadyRegistered};
    c.registered[address_of(pointer)] = {
        .start = address_of(pointer), .bytes = bytes, .flags = flags, .mirror = 0};
    return kSuccess;
  });
}

int raddle_cudaHostUnregister(void* pointer) {
  return call("cudaHostUnregister", [&](Context& c) {
    unsafe_call(c);
    const auto found = c.registered.find(address_of(pointer));
    if (found == c.registered.end()) throw Failure{kHostMemoryNotRegistered};
    if (found->second.mirror != 0) c.device().free(found->second.mirror);
    c.registered.erase(found);
    return kSuccess;
  });
}

int raddle_cudaHostGetDevicePointer(void** to, void* pointer, unsigned flags) {
  return call("cudaHostGetDevicePointer", [&](Context& c) {
    if (to == nullptr || flags != 0) throw Failure{kInvalidValue};
    const auto* own = c.allocation(address_of(pointer));
    if (own != nullptr && own->second.kind != Allocation::Kind::Device) {
      *to = pointer;
      return kSuccess;
    }
    Registered* range = registered(c, address_of(pointer));
    if (range == nullptr) throw Failure{kInvalidValue};
    if (c.seen().live)
      c.refuse_unsupported("cudaHostGetDevicePointer of registered memory with --live");
    if (range->mirror == 0) {
      range->mirror = c.device().allocate(range->bytes);
      c.device().host_may_write(range->mirror, range->bytes);
    }
    *to = pointer_to(range->mirror + (address_of(pointer) - range->start));
    return kSuccess;
  });
}

int raddle_cudaHostGetFlags(unsigned* flags, void* pointer) {
  return call("cudaHostGetFlags", [&](Context& c) {
    if (flags == nullptr) throw Failure{kInvalidValue};
    const auto* own = c.allocation(address_of(pointer));
    const Registered* range = registered(c, address_of(pointer));
    if (own != nullptr && own->second.kind == Allocation::Kind::Host) *flags = own->second.flags;
    else if (range != nullptr) *flags = range->flags;
    else throw Failure{kInvalidValue};
    return kSuccess;
  });
}

int raddle_cudaPointerGetAttributes(PointerAttributes* to, const void* pointer) {
  return call("cudaPointerGetAttributes", [&](Context& c) {
    if (to == nullptr) throw Failure{kInvalidValue};
    c.session();
    void* const p = const_cast<void*>(pointer);
    *to = {MemoryType::Unregistered, -2, nullptr, p};
    if (const auto* own = c.allocation(address_of(pointer))) {
      const bool device = own->second.kind == Allocation::Kind::Device;
      const bool managed = own->second.kind == Allocation::Kind::Managed;
      *to = {device    ? MemoryType::Device
             : managed ? MemoryType::Managed
                       : MemoryType::Host,
             0, p, device ? nullptr : p};
    } else if (const Registered* range = registered(c, address_of(pointer))) {
      const Address mirror = range->mirror;
      *to = {MemoryType::Host, 0,
             mirror != 0 ? pointer_to(mirror + (address_of(pointer) - range->start)) : p, p};
    } else if (c.device().memory().valid(address_of(pointer), 1)) {  // a variable
      const bool managed = c.is_managed_variable(address_of(pointer));
      *to = {managed ? MemoryType::Managed : MemoryType::Device, 0, p, managed ? p : nullptr};
    }
    return kSuccess;
  });
}

// --- hints --------------------------------------------------------------------------------------

int raddle_cudaMemAdvise_13(const void* pointer, std::size_t bytes, int advice,
                            MemoryLocation location) {
  return call("cudaMemAdvise", [&](Context& c) {
    constexpr int kSetReadMostly = 1, kUnsetReadMostly = 2, kUnsetAccessedBy = 6;
    check_managed(c, pointer, bytes);
    if (advice < kSetReadMostly || advice > kUnsetAccessedBy) throw Failure{kInvalidValue};
    if (advice > kUnsetReadMostly) check_location(location);  // else it is not looked at
    return kSuccess;
  });
}
int raddle_cudaMemAdvise_11(const void* pointer, std::size_t bytes, int advice, int device) {
  return raddle_cudaMemAdvise_13(pointer, bytes, advice, location_of(device));
}

int raddle_cudaMemPrefetchAsync_13(const void* pointer, std::size_t bytes, MemoryLocation location,
                                   unsigned flags, Stream* stream) {
  return call("cudaMemPrefetchAsync", [&](Context& c) {
    uncaptured(c, stream);
    if (flags != 0) throw Failure{kInvalidValue};
    check_managed(c, pointer, bytes);
    check_location(location);
    return kSuccess;
  });
}
int raddle_cudaMemPrefetchAsync_11(const void* pointer, std::size_t bytes, int device,
                                   Stream* stream) {
  return raddle_cudaMemPrefetchAsync_13(pointer, bytes, location_of(device), 0, stream);
}

int raddle_cudaStreamAttachMemAsync(Stream* stream, void* pointer, std::size_t bytes,
                                    unsigned flags) {
  return call("cudaStreamAttachMemAsync", [&](Context& c) {
    constexpr unsigned kGlobal = 1, kHost = 2, kSingle = 4;
    const Stream& on = uncaptured(c, stream);
    if (flags != kGlobal && flags != kHost && flags != kSingle) throw Failure{kInvalidValue};
    if (flags == kSingle && index(on.id) == 0)
      throw Failure{kInvalidValue, "the null stream cannot have memory for itself"};
    check_managed(c, pointer, std::max<std::size_t>(bytes, 1));  // 0: all of it
    return kSuccess;
  });
}

}  // extern "C"
