// What a recording must say beside its streams so that it can be replayed.
#pragma once
#include "raddle/trace/file.h"

namespace raddle::sim {

/// Of header, operations of the host and trailer: as `raddle record` writes them, which is what
/// replay() and load_tenant() rely on. For one FileReader.
trace::FileChecks recording_checks();

}  // namespace raddle::sim
