#include "raddle/sim/setup/gpus.h"

#include <algorithm>
#include <filesystem>

namespace raddle::sim {

namespace {

namespace fs = std::filesystem;

/// Names that lead to one another by `extends`.
constexpr std::size_t kMaxExtensions = 8;

bool is_path(const std::string& name) {
  const fs::path path(name);
  return path.has_extension() || path.has_parent_path();
}

/// What one file says, without what it extends.
config::Tree load_one(const std::string& name_or_file) {
  std::string known;
  for (const EmbeddedToml& gpu : embedded_gpus()) {
    if (gpu.name == name_or_file)
      return config::Tree::from_toml(gpu.toml, embedded_gpu_file(name_or_file));
    known += " " + std::string(gpu.name);
  }
  if (is_path(name_or_file)) return config::Tree::from_file(name_or_file);
  throw InputError("no GPU is called '" + name_or_file + "'; known:" + known +
                   " (or give a .toml or .json file)");
}

/// Removes from `base` what `over` replaces as a whole, as --set and --policy do: a policy with its
/// parameters, and settings that hold for one value of another (follow_overrides in setup.cpp).
void remove_replaced(config::Tree& base, const config::Tree& over) {
  base.erase("name");
  base.erase("source");
  if (const config::Node* levels = over.find("policy"); levels != nullptr && levels->table())
    for (const config::Node::Entry& level : *levels->table())
      if (level.node.find("name") != nullptr) base.erase("policy." + level.key);
  if (over.find("sm.l1d.size_kib") != nullptr && over.find("sm.l1d.unified_kib") == nullptr) {
    base.erase("sm.l1d.unified_kib");
    base.erase("sm.l1d.shared_kib_choices");
  }
  const config::Node *old = base.find("isa.lowering"), *lowering = over.find("isa.lowering");
  if (old != nullptr && lowering != nullptr && old->shown() != lowering->shown())
    base.erase("isa.order");
}

/// The name or file that a machine extends, as load_one() takes it; "" for none.
std::string base_of(const config::Tree& tree, const std::string& file) {
  const config::Node* node = tree.find("extends");
  if (node == nullptr) return "";
  const auto* base = std::get_if<std::string>(&node->value);
  if (base == nullptr || base->empty())
    throw InputError(node->place,
                     "extends: expected the name of a machine or a file, found " + node->shown());
  if (!is_path(*base)) return *base;
  return (fs::path(file).parent_path() / *base).lexically_normal().string();
}

config::Tree extended(const std::string& name_or_file, std::vector<std::string>& chain) {
  chain.push_back(name_or_file);
  config::Tree tree = load_one(name_or_file);
  const std::string base_name = base_of(tree, name_or_file);
  if (base_name.empty()) return tree;
  const Place place = tree.find("extends")->place;
  tree.erase("extends");
  if (chain.size() == kMaxExtensions || std::ranges::count(chain, base_name) != 0)
    throw InputError(place, "extends: '" + base_name + "' extends this machine in turn, or " +
                                std::to_string(kMaxExtensions) + " machines extend each other");
  config::Tree base;
  try {
    base = extended(base_name, chain);
  } catch (const InputError& error) {
    std::vector<Diagnostic> all = error.diagnostics();
    for (Diagnostic& one : all)
      if (one.place.file.empty()) one.place = place;
    throw InputError(std::move(all));
  }
  remove_replaced(base, tree);
  base.merge(tree);
  return base;
}

}  // namespace

std::string embedded_gpu_file(std::string_view name) {
  return "gpus/" + std::string(name) + ".toml";
}

LoadedGpu load_gpu_with_bases(const std::string& name_or_file) {
  LoadedGpu out;
  out.tree = extended(name_or_file, out.names);
  return out;
}

config::Tree load_gpu(const std::string& name_or_file) {
  return load_gpu_with_bases(name_or_file).tree;
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
