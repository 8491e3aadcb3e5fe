#include "raddle/sim/setup/gpus.h"

#include <algorithm>
#include <filesystem>

#include "raddle/policy/all.h"
#include "raddle/sim/setup/setup.h"

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

/// visit(path) for every value below a table.
template <class Visit>
void each_value(const config::Node& node, const std::string& path, Visit visit) {
  if (node.table() == nullptr) return visit(path);
  for (const config::Node::Entry& entry : *node.table())
    each_value(entry.node, path.empty() ? entry.key : path + "." + entry.key, visit);
}

/// Policies are no part of a machine, and others have other parameters.
bool is_of_machine(const std::string& path) { return !path.starts_with("policy."); }

/// What a machine lacks of the settings that all of the program's have that stand on their own. One
/// that has all of the first one's is compared with no other.
std::vector<std::string> missing_settings(const config::Tree& tree) {
  std::vector<std::string> missing;
  bool first = true;
  for (const EmbeddedToml& gpu : embedded_gpus()) {
    const config::Tree known = config::Tree::from_toml(gpu.toml, embedded_gpu_file(gpu.name));
    if (known.find("extends") != nullptr) continue;
    if (first)
      each_value(known.root(), "", [&](const std::string& path) {
        if (is_of_machine(path) && tree.find(path) == nullptr) missing.push_back(path);
      });
    std::erase_if(missing, [&](const std::string& path) { return known.find(path) == nullptr; });
    first = false;
    if (missing.empty()) break;
  }
  std::ranges::sort(missing);
  return missing;
}

bool can_be_read(const config::Tree& tree) {
  try {
    read_setup(tree, policy::all_policies());
    return true;
  } catch (const InputError&) {
    return false;  // whoever reads it next says so
  }
}

/// A machine of one's own that extends none must not run on defaults that nobody has seen.
void require_whole(const config::Tree& tree, const std::string& file) {
  const std::vector<std::string> missing = missing_settings(tree);
  if (missing.empty() || !can_be_read(tree)) return;
  constexpr std::size_t kNamed = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(missing.size(), kNamed); ++i)
    names += (i == 0 ? "" : ", ") + missing[i];
  if (missing.size() > kNamed) names += " and " + std::to_string(missing.size() - kNamed) + " more";
  throw InputError({.file = file},
                   "expected `extends` with the name of a machine, or all settings "
                   "that every machine of the program has; missing: " +
                       names);
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
  if (is_path(out.names.back())) require_whole(out.tree, name_or_file);
  if (is_path(name_or_file) && out.tree.find("name") == nullptr)
    out.tree.set("name", fs::path(name_or_file).stem().string(), name_or_file);
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
