#include "raddle/config/said_once.h"

namespace raddle::config {

void SaidOnce::add_path(std::string_view path, const std::string& said) {
  add_at(path, said, said);
}

void SaidOnce::add_at(std::string_view path, const std::string& said, const std::string& origin) {
  const auto refuse = [&](const std::string& other) {
    throw InputError({origin}, other + " says that already: leave one out");
  };
  for (std::size_t end = path.find('.'); end != std::string_view::npos;
       end = path.find('.', end + 1))
    if (const auto above = said_.find(path.substr(0, end)); above != said_.end())
      refuse(above->second);
  const auto same = said_.find(path);
  if (same != said_.end()) refuse(same->second);
  const auto below = said_.lower_bound(std::string(path) + ".");
  if (below != said_.end() && below->first.starts_with(std::string(path) + "."))
    refuse(below->second);
  said_.emplace(path, said);
}

void SaidOnce::add(std::string_view text, const std::string& said) {
  Tree tree;
  tree.set_option(text, said);
  add_values(tree.root(), "", said, said);
}

void SaidOnce::add_part(std::string_view text, const std::string& origin) {
  Tree tree;
  tree.set_option(text, origin);
  add_values(tree.root(), "", "'" + std::string(text) + "'", origin);
}

void SaidOnce::add_policy(std::string_view text, const std::string& said) {
  Tree tree;
  tree.set_policy(text, said);
  add_values(tree.root(), "", said, said);
}

void SaidOnce::add_values(const Node& node, const std::string& path, const std::string& said,
                          const std::string& origin) {
  const Node::Table* entries = node.table();
  if (entries == nullptr) return add_at(path, said, origin);
  for (const Node::Entry& entry : *entries)
    add_values(entry.node, path.empty() ? entry.key : path + "." + entry.key, said, origin);
}

}  // namespace raddle::config
