// The analysis "source": what each line of the kernels has done and what warps waited for there.
#pragma once
#include <nlohmann/json.hpp>

#include "raddle/timing/gpu/gpu.h"

namespace raddle::sim {

/// By kernel and PTX line, machine instructions of one line together; lines that have done nothing
/// are left out. Within a kernel in order of the code. Where several files have kernels of one
/// name, all but the first are called "name (file)".
nlohmann::ordered_json source_profile(const timing::Profile& profile);

}  // namespace raddle::sim
