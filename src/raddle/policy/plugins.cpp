#include "raddle/policy/plugins.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/policy/plugin.h"
#include "raddle/policy/shared_object.h"

namespace raddle::policy {
namespace {

const PluginEntry& load(const std::string& file) {
  // With a slash, or the loader would look in the system's folders.
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  check_shared_object(path);
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) throw InputError("plug-in cannot be loaded: " + std::string(dlerror()));
  const void* entry = dlsym(object, kPluginSymbol);
  if (entry == nullptr)
    throw InputError("plug-in " + file +
                     ": not one of Raddle's (it has no raddle_plugin); make it with "
                     "`raddle plugin POLICY.cpp`");
  return *static_cast<const PluginEntry*>(entry);
}

}  // namespace

std::vector<std::string> plugin_files() {
  std::vector<std::string> files;
  const char* value = std::getenv(kPluginsVariable);
  std::string_view rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    if (end != 0) files.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return files;
}

void add_plugins(Registries& all) {
  for (const std::string& file : plugin_files()) {
    const PluginEntry& plugin = load(file);
    if (std::string_view(plugin.interface_hash) != RADDLE_POLICY_INTERFACE)
      throw InputError("plug-in " + file + ": compiled with headers " + plugin.interface_hash +
                       ", this program has " RADDLE_POLICY_INTERFACE
                       "; make it again with "
                       "`raddle plugin POLICY.cpp`");
    try {
      plugin.add(all);
    } catch (const InputError& error) {
      throw InputError("plug-in " + file + ": " + error.what());
    }
  }
}

}  // namespace raddle::policy
