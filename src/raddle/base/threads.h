// How many threads the system lets this process have.
#pragma once

namespace raddle {

/// Up to `wanted` threads of this process at once, the calling one among them: so many can be
/// started now. Limits on processes and on address space both count. Precondition: wanted > 0.
unsigned startable_threads(unsigned wanted);

}  // namespace raddle
