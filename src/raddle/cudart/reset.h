// cudaDeviceReset: the device as it was before the program used it.
#pragma once
#include "raddle/cudart/context.h"

namespace raddle::cudart {

/// Of a module that has just been loaded: keeps what reset() cannot know any more.
void keep_initial(Context& c, Module& module);
/// Waits for the device; then all memory is free, no handle is good any more, and variables are as
/// their modules declare them. Throws Failure.
void reset(Context& c);

}  // namespace raddle::cudart
