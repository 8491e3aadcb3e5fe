#include "raddle/sim/version.h"

#include "raddle_paths.h"

namespace raddle::sim {

std::string version() { return RADDLE_VERSION "+" + std::string(sources_hash()); }

}  // namespace raddle::sim
