#include "raddle/lab/file/experiment.h"

#include <algorithm>

namespace raddle::lab {

std::string_view kind_name(NameKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {
      "workload", "group", "variant", "axis", "measure", "constant", "derived value"};
  return kNames[static_cast<std::size_t>(kind)];
}

const Symbol* Experiment::find(std::string_view name) const {
  const auto at = names.find(name);
  return at == names.end() ? nullptr : &at->second;
}

std::optional<std::size_t> Experiment::find(std::string_view name, NameKind kind) const {
  const Symbol* symbol = find(name);
  return symbol != nullptr && symbol->kind == kind ? std::optional(symbol->index) : std::nullopt;
}

bool Experiment::runs_workload(std::size_t workload) const {
  RADDLE_ASSERT(workload < workloads.size());
  const std::string& name = workloads[workload].name;
  return std::ranges::any_of(runs, [&](const RunBlock& block) {
    return std::ranges::any_of(block.workloads, [&](std::size_t w) {
      return w == workload || std::ranges::count(workloads[w].members, name) != 0;
    });
  });
}

std::vector<std::size_t> Experiment::workloads_of(std::string_view name) const {
  if (const auto group = find(name, NameKind::Group)) return groups[*group];
  if (const auto workload = find(name, NameKind::Workload)) return {*workload};
  return {};
}

}  // namespace raddle::lab
