#include "raddle/sim/result/version.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <fstream>
#include <iterator>

#include "raddle/policy/plugins.h"
#include "raddle_paths.h"

namespace raddle::sim {

std::string plugins_hash() {
  std::string text;
  for (const std::string& file : policy::plugin_files()) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    text += fmt::format(".{:016x}", XXH64(bytes.data(), bytes.size(), 0));
  }
  return text;
}

std::string version() { return RADDLE_VERSION "+" + std::string(sources_hash()) + plugins_hash(); }

}  // namespace raddle::sim
