#include "raddle/sim/version.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <fstream>
#include <iterator>

#include "raddle/policy/plugins.h"
#include "raddle_paths.h"

namespace raddle::sim {

std::string version() {
  std::string text = RADDLE_VERSION "+" + std::string(sources_hash());
  for (const std::string& file : policy::plugin_files()) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    text += fmt::format(".{:016x}", XXH64(bytes.data(), bytes.size(), 0));
  }
  return text;
}

}  // namespace raddle::sim
