#include "raddle/policy/all.h"

namespace raddle::policy {

std::string level_names() {
  std::string names;
  for (const Level& level : kLevels) {
    if (!names.empty()) names += " ";
    names += level.name;
  }
  return names;
}

const Level* find_level(std::string_view name) {
  for (const Level& level : kLevels)
    if (level.name == name) return &level;
  return nullptr;
}

}  // namespace raddle::policy
