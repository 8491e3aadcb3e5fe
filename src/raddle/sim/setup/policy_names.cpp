#include "raddle/sim/setup/policy_names.h"

#include <vector>

#include "raddle/base/error.h"
#include "raddle/config/spelling.h"

namespace raddle::sim {

std::string with_level(const std::string& item, const policy::Registries& policies) {
  const std::string head = item.substr(0, item.find(':'));
  if (head.find('=') != std::string::npos) return item;
  std::vector<std::string> found, all;
  std::string known;
  auto look = [&](policy::BareName when) {
    policy::each_level(
        [&](const policy::Level& level, const auto& registry) {
          if (level.bare_name != when) return;
          for (const std::string& name : registry.names()) {
            known += " " + std::string(level.name) + "=" + name;
            all.push_back(name);
            if (name == head) found.emplace_back(level.name);
          }
        },
        policies);
  };
  look(policy::BareName::First);
  if (found.empty()) look(policy::BareName::Last);
  if (found.empty()) {
    const std::string near = config::nearest(head, all);
    throw InputError("no policy is called '" + head + "'" +
                     (near.empty() ? "" : "; did you mean '" + near + "'?") + "; known:" + known);
  }
  if (found.size() > 1)
    throw InputError("'" + head + "' is a policy of levels " + found[0] + " and " + found[1] +
                     "; write " + found[0] + "=" + head);
  return found[0] + "=" + item;
}

void one_of_each_level(std::span<const std::string> items) {
  const auto level = [](const std::string& item) { return item.substr(0, item.find('=')); };
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (level(items[i]) == level(items[j]))
        throw InputError("expected one policy of a level, found '" + items[j] + "' and '" +
                         items[i] + "'");
}

}  // namespace raddle::sim
