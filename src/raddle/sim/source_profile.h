// The analysis "source": what each line of the kernels has done and what warps waited for there.
#pragma once
#include <nlohmann/json.hpp>
#include <span>

#include "raddle/timing/gpu/gpu.h"

namespace raddle::sim {

/// By kernel and PTX line, machine instructions of one line together; lines that have done nothing
/// are left out. Within a kernel in order of the code.
nlohmann::ordered_json source_profile(std::span<const timing::CodeProfile> profile,
                                      std::uint64_t looks);

}  // namespace raddle::sim
