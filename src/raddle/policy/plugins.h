// Policies from shared objects. Which ones is the environment variable RADDLE_PLUGINS (paths,
// separated by ':'), which `--plugin` sets: so workers of the laboratory and CUDA programs under
// `raddle exec` have the same policies as the process that starts them.
#pragma once
#include <string>
#include <vector>

#include "raddle/policy/all.h"

namespace raddle::policy {

inline constexpr const char* kPluginsVariable = "RADDLE_PLUGINS";

/// The files that RADDLE_PLUGINS names, in order.
std::vector<std::string> plugin_files();

/// Loads them and lets each add its policies; a file stays loaded until the process ends. Throws
/// InputError that names the file: it cannot be loaded, has no entry, was compiled with other
/// headers, or adds a policy whose name is taken.
void add_plugins(Registries& all);

}  // namespace raddle::policy
