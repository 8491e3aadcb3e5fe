#include "raddle/report/words.h"

#include <fmt/format.h>

#include "raddle/policy/all.h"

namespace raddle::report {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.{}f} {}", amount, amount >= 100 ? 0 : amount >= 10 ? 1 : 2, kUnits[unit]);
}

std::string policy_label(const nlohmann::ordered_json& policies, bool corun) {
  std::string out;
  for (const auto& [level, policy] : policies.items()) {
    const std::string name = policy.at("name");
    const policy::Level* known = policy::find_level(level);
    if (level == "warp" || known == nullptr || known->default_policy != name)
      out += (out.empty() ? "" : " ") + level + "=" + name;
  }
  // Which scheme shares the machine is the first question to a co-run.
  if (corun && !policies.contains("scheme")) out += " scheme=none";
  return out;
}

std::string policy_label(const sim::Result& result) {
  return policy_label(result.policies, result.corun.has_value());
}

}  // namespace raddle::report
