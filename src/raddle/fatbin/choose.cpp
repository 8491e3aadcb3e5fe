#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "raddle/fatbin/fatbin.h"

namespace raddle::fatbin {

namespace {

/// Smaller is better.
auto rank(const Entry& entry, unsigned sm) {
  const bool above = entry.sm > sm;
  const std::uint32_t distance = above ? entry.sm - sm : sm - entry.sm;
  const int variant = (entry.flags & kFlagArchitectureVariant) != 0 ? 2
                      : (entry.flags & kFlagFamilyVariant) != 0     ? 1
                                                                    : 0;
  return std::tuple(above, distance, variant);
}

std::string why_none(const std::vector<Entry>& entries, unsigned sm) {
  std::set<std::string> targets;
  for (const Entry& entry : entries) targets.insert(entry.target());
  if (targets.empty()) return "the fat binary is empty";
  return fmt::format(
      "the program holds no PTX, only {}: rebuild it with -gencode arch=compute_{},code=compute_{}",
      fmt::join(targets, ", "), std::max(sm, 75U), std::max(sm, 75U));
}

}  // namespace

Choice choose(const std::vector<Entry>& entries, unsigned sm) {
  Choice choice;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind != Kind::Ptx) continue;
    if (!choice.entry || rank(entries[i], sm) < rank(entries[*choice.entry], sm)) choice.entry = i;
  }
  if (!choice.entry) {
    choice.note = why_none(entries, sm);
  } else if (const Entry& best = entries[*choice.entry]; best.sm > sm) {
    choice.note = fmt::format("PTX for {} on a machine of sm_{}: the real one would refuse it",
                              best.target(), sm);
  }
  return choice;
}

}  // namespace raddle::fatbin
