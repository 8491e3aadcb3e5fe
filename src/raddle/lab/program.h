// Which program made a result: its version and its sources.
#pragma once
#include <string>
#include <string_view>

namespace raddle::lab {

/// Over all sources that can change what a simulation computes: every room below lab, and the
/// workloads (generated; see cmake/generated.cmake).
std::string_view sources_hash();

/// "0.1.0+1f0c...": results of another program are never taken for this one's.
std::string program_name();

}  // namespace raddle::lab
