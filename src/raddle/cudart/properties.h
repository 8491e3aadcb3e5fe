// The simulated machine as a CUDA device describes itself: attributes, and the structure
// cudaDeviceProp, whose layout has changed with CUDA 12 and 13.
#pragma once
#include <cstddef>
#include <optional>

#include "raddle/sim/setup/seen.h"

namespace raddle::cudart {

/// cudaDeviceGetAttribute; nullopt for a number that is no attribute. What a real device has and
/// the simulated one has not is 0.
std::optional<int> attribute(const sim::SeenByProgram& seen, int number);

/// Writes cudaDeviceProp as the headers of CUDA `version` (11, 12 or 13) lay it out.
void write_properties(const sim::SeenByProgram& seen, int version, void* to);
std::size_t properties_bytes(int version);

}  // namespace raddle::cudart
