#include "raddle/sim/policy_names.h"

#include <vector>

#include "raddle/base/error.h"

namespace raddle::sim {

std::string with_level(const std::string& item, const policy::Registries& policies) {
  const std::string head = item.substr(0, item.find(':'));
  if (head.find('=') != std::string::npos) return item;
  std::vector<std::string> found;
  std::string known;
  auto look = [&](policy::BareName when) {
    policy::each_level(
        [&](const policy::Level& level, const auto& registry) {
          if (level.bare_name != when) return;
          for (const std::string& name : registry.names()) {
            known += " " + std::string(level.name) + "=" + name;
            if (name == head) found.emplace_back(level.name);
          }
        },
        policies);
  };
  look(policy::BareName::First);
  if (found.empty()) look(policy::BareName::Last);
  if (found.empty()) throw InputError("no policy is called '" + head + "'; known:" + known);
  if (found.size() > 1)
    throw InputError("'" + head + "' is a policy of levels " + found[0] + " and " + found[1] +
                     "; write " + found[0] + "=" + head);
  return found[0] + "=" + item;
}

}  // namespace raddle::sim
