#include "raddle/sim/setup/gpus.h"

#include <filesystem>

namespace raddle::sim {

config::Tree load_gpu(const std::string& name_or_file) {
  std::string known;
  for (const EmbeddedToml& gpu : embedded_gpus()) {
    if (gpu.name == name_or_file)
      return config::Tree::from_toml(gpu.toml, "gpus/" + name_or_file + ".toml");
    known += " " + std::string(gpu.name);
  }
  const std::filesystem::path path(name_or_file);
  if (path.has_extension() || path.has_parent_path()) return config::Tree::from_file(name_or_file);
  throw InputError("no GPU is called '" + name_or_file + "'; known:" + known +
                   " (or give a .toml or .json file)");
}

config::Tree load_energy(const std::string& name) {
  std::string known;
  for (const EmbeddedToml& table : embedded_energy()) {
    if (table.name == name) return config::Tree::from_toml(table.toml, "energy/" + name + ".toml");
    known += " " + std::string(table.name);
  }
  throw InputError("no energy table is called '" + name + "'; known:" + known);
}

}  // namespace raddle::sim
