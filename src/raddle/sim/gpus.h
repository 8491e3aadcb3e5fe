// The machines of gpus/, embedded in the program.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "raddle/config/tree.h"

namespace raddle::sim {

struct EmbeddedGpu {
  std::string_view name, toml;
};
/// In order of name (generated; see cmake/generated.cmake).
std::vector<EmbeddedGpu> embedded_gpus();

/// `name_or_file` is the name of an embedded machine, or the path of a .toml or .json file (a
/// resolved configuration or a result that holds one). Throws InputError naming the known machines.
config::Tree load_gpu(const std::string& name_or_file);

}  // namespace raddle::sim
