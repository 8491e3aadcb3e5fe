// What memory pools can be made, by cudaMemPoolCreate and by memory nodes of graphs.
#pragma once
#include "raddle/cudart/context.h"

namespace raddle::cudart {

/// Throws Failure where there is no such pool, or none here. `call`: for messages.
void check_properties(Context& c, const char* call, const PoolProperties& p);

}  // namespace raddle::cudart
