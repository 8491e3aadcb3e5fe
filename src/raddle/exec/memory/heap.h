// The heap of malloc and free in kernels: allocations of the device memory that only kernels free.
#pragma once
#include <cstdint>
#include <map>

#include "raddle/exec/memory/memory.h"

namespace raddle::exec {

class DeviceHeap {
 public:
  /// `limit`: bytes that may be out at once, each allocation a multiple of 16.
  explicit DeviceHeap(std::uint64_t limit) : limit_(limit) {}
  void set_limit(std::uint64_t bytes) { limit_ = bytes; }
  /// 0 when the limit or the memory is spent, and for 0 bytes.
  Address allocate(DeviceMemory& memory, std::uint64_t bytes);
  /// False when `address` is not the start of a live allocation of this heap. 0 is freed without
  /// effect.
  bool free(DeviceMemory& memory, Address address);

 private:
  std::uint64_t limit_, used_ = 0;
  std::map<Address, std::uint64_t> live_;
};

}  // namespace raddle::exec
