// Host memory that the program has registered. Its device pointers lead to a mirror in device
// memory, which is made equal before and after every kernel once a program has asked for one.
#pragma once
#include "raddle/cudart/context.h"

namespace raddle::cudart {

/// Host to mirrors: before a kernel.
void show_registered(Context& c);
/// Mirrors to host: after a kernel.
void take_registered(Context& c);

}  // namespace raddle::cudart
