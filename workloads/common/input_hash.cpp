#include "common/input_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace raddle::workloads {

std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

}  // namespace raddle::workloads
