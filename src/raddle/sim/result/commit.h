// Where in the history the program's sources stand. For people only: what tells two programs apart
// is sources_hash() (version.h), which knows of changes that nobody has committed.
#pragma once
#include <string_view>

namespace raddle::sim {

/// "5b8a6fde0123", "5b8a6fde0123+changes", or "" of what was not built in a checkout (written while
/// building: cmake/commit.cmake).
std::string_view commit();

}  // namespace raddle::sim
