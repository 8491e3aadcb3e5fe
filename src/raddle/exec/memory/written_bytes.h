// Which bytes of the program's allocations of global memory anybody has written since they were
// allocated. Memory of which nobody was told (variables, heap, our own) counts as written.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "raddle/base/types.h"

namespace raddle::exec {

class WrittenBytes {
 public:
  void allocated(Address at, std::uint64_t bytes);
  void freed(Address at);
  void write(Address at, std::uint64_t bytes);
  /// The bytes at `to` are now as much written as those at `from`.
  void copy(Address to, Address from, std::uint64_t bytes);

  struct Unwritten {
    Address allocation;
    std::uint64_t offset, size;  ///< of the first such byte, and of the allocation
  };
  /// Of [at, at + bytes).
  std::optional<Unwritten> first_unwritten(Address at, std::uint64_t bytes);

 private:
  struct Range {
    std::uint64_t size = 0, left = 0;  // bytes; not yet written
    std::vector<std::uint64_t> bits;   // 1: written; empty when all are
    bool written(std::uint64_t byte) const {
      return left == 0 || (bits[byte / 64] >> byte % 64 & 1) != 0;
    }
  };
  using Ranges = std::map<Address, Range>;
  /// The allocation of the byte, if anybody told of it.
  Ranges::value_type* find(Address at);

  Ranges ranges_;
  Ranges::value_type* last_ = nullptr;  // found
};

}  // namespace raddle::exec
