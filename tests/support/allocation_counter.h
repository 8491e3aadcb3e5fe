// Counts the allocations of a test program; linking timing/gpu_allocation_counter.cpp replaces
// operator new.
#pragma once
#include <cstdint>

namespace raddle::support {

std::uint64_t allocations_so_far();

}  // namespace raddle::support
