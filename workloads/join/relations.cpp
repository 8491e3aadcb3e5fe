// See relations.h.
#include "join/relations.h"

#include <algorithm>

#include "common/draw.h"

namespace raddle::workloads {

namespace {

std::uint32_t normal_key(std::uint32_t keys, Rng& rng) {
  const double middle = keys / 2.0, deviation = keys / 8.0;
  while (true) {
    const double key = middle + deviation * normal(rng);
    if (key >= 0 && key < keys) return static_cast<std::uint32_t>(key);
  }
}

void add_part(JoinPlan& plan, const std::vector<std::uint32_t>& left,
              const std::vector<std::uint32_t>& right, std::uint32_t first, std::uint32_t end) {
  const auto from = left.begin() + first, to = left.begin() + end;
  const auto row = [&](auto at) { return static_cast<std::uint32_t>(at - right.begin()); };
  const JoinPart part{first, end, row(std::ranges::lower_bound(right, *from)),
                      row(std::ranges::upper_bound(right, *(to - 1))),
                      static_cast<std::uint32_t>(plan.pairs)};
  for (std::uint32_t r = part.right_first; r < part.right_end; ++r) {
    const auto [low, high] = std::equal_range(from, to, right[r]);
    if (low == high) continue;
    const auto count = static_cast<std::uint32_t>(high - low);
    plan.matches.push_back({static_cast<std::uint32_t>(low - left.begin()), r, count});
    plan.pairs += count;
  }
  plan.parts.push_back(part);
}

}  // namespace

std::vector<std::uint32_t> sorted_keys(KeyKind kind, std::uint32_t rows, std::uint32_t keys,
                                       Rng& rng) {
  std::vector<std::uint32_t> all(rows);
  for (std::uint32_t& key : all)
    key = kind == KeyKind::Uniform ? rng.below(keys) : normal_key(keys, rng);
  std::ranges::sort(all);
  return all;
}

JoinPlan plan_join(const std::vector<std::uint32_t>& left, const std::vector<std::uint32_t>& right,
                   std::uint32_t partitions, std::uint32_t block) {
  JoinPlan plan;
  plan.first_part.push_back(0);
  for (std::uint64_t p = 0; p < partitions; ++p) {
    const auto begin = static_cast<std::uint32_t>(p * left.size() / partitions);
    const auto end = static_cast<std::uint32_t>((p + 1) * left.size() / partitions);
    for (std::uint32_t first = begin; first < end; first += block)
      add_part(plan, left, right, first, std::min(first + block, end));
    plan.first_part.push_back(static_cast<std::uint32_t>(plan.parts.size()));
  }
  return plan;
}

}  // namespace raddle::workloads
