// Device memory that belongs together: what a program has asked for at once, or a variable of it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "raddle/base/types.h"

namespace raddle::trace {

struct Allocation {
  Address at = 0;
  std::uint64_t bytes = 0;
  std::string variable = {};  ///< its name for people; "": none, the program has asked for it
  std::uint64_t number = 0;   ///< of what it has asked for: 1, 2 ...; of a variable 0
  bool operator==(const Allocation&) const = default;
};
/// What has become of device memory between two launches: freed first, then made. What was made and
/// freed in between is in neither.
struct AllocationChanges {
  std::vector<Address> freed = {};  ///< starts
  std::vector<Allocation> made = {};
  bool empty() const { return freed.empty() && made.empty(); }
  bool operator==(const AllocationChanges&) const = default;
};

/// An argument of a launch that points into device memory: its place among the arguments, from 0.
struct PointerArgument {
  std::uint32_t argument = 0;
  Address at = 0;
};

}  // namespace raddle::trace
