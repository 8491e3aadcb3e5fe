// The machines of gpus/ and the cost tables of energy/, embedded in the program.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "raddle/config/tree.h"

namespace raddle::sim {

struct EmbeddedToml {
  std::string_view name, toml;
};
/// In order of name (generated; see cmake/generated.cmake).
std::vector<EmbeddedToml> embedded_gpus();
std::vector<EmbeddedToml> embedded_energy();

/// `name_or_file` is the name of an embedded machine, or the path of a .toml or .json file (a
/// resolved configuration or a result that holds one). A machine that `extends` another, by name or
/// by a path from its own folder, has all that it does not say itself from that one; not its name
/// and source. Throws InputError naming the known machines.
config::Tree load_gpu(const std::string& name_or_file);

/// The same, with the machine's name or file and those of what it extends, in that order.
struct LoadedGpu {
  config::Tree tree;
  std::vector<std::string> names;
};
LoadedGpu load_gpu_with_bases(const std::string& name_or_file);

/// How values of an embedded machine name their file: "gpus/v100.toml".
std::string embedded_gpu_file(std::string_view name);

/// What energy/<name>.toml says, as a document with the one table [energy]. Throws InputError
/// naming the known tables.
config::Tree load_energy(const std::string& name);

}  // namespace raddle::sim
