// Where a kernel comes from that another kernel has launched, as policies see it.
#pragma once
#include <cstdint>

namespace raddle::policy {

struct DeviceParent {
  std::uint64_t sequence = 0;  ///< of the launch whose block made this one
  std::uint32_t block = 0;     ///< its direct parent: linear id
  std::uint32_t sm = 0;        ///< where that block runs or ran
  std::uint32_t depth = 0;     ///< launches above this one; 0: the host's, the rest says nothing
};

}  // namespace raddle::policy
