#include "raddle/exec/memory/heap.h"

#include "raddle/base/error.h"

namespace raddle::exec {

Address DeviceHeap::allocate(DeviceMemory& memory, std::uint64_t bytes) {
  if (bytes == 0 || bytes > limit_ || used_ > limit_) return 0;
  const std::uint64_t rounded = (bytes + 15) / 16 * 16;
  if (rounded > limit_ - used_) return 0;
  const auto at = memory.allocate(bytes, {DeviceMemory::Owner::Kind::Heap});
  if (!at) return 0;
  live_[*at] = rounded;
  used_ += rounded;
  return *at;
}

bool DeviceHeap::free(DeviceMemory& memory, Address address) {
  if (address == 0) return true;
  const auto found = live_.find(address);
  if (found == live_.end()) return false;
  RADDLE_ASSERT(used_ >= found->second);
  used_ -= found->second;
  live_.erase(found);
  return memory.free(address);
}

}  // namespace raddle::exec
