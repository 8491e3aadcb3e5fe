#include "raddle/lab/evaluate/grid.h"

#include <fmt/format.h>

#include <algorithm>

namespace raddle::lab {

Grid::Grid(const Experiment& e) : e_(e) {
  for (const RunBlock& block : e.runs) {
    Axes axes = block.axes;
    std::ranges::sort(axes);
    for (const std::size_t a : axes) RADDLE_ASSERT(!e.axes[a].points.empty());
    for (const std::size_t w : block.workloads)
      for (const std::size_t v : block.variants) {
        auto& known = index_[{w, v}][axes];
        // Counts through the points, the last axis fastest.
        std::vector<int> at(axes.size(), 0);
        for (bool more = true; more;) {
          const auto [cell, fresh] = known.emplace(at, cells_.size());
          if (fresh) {
            Cell made{w, v, std::vector<int>(e.axes.size(), kUnset), {}, {}};
            for (std::size_t i = 0; i < axes.size(); ++i) made.points[axes[i]] = at[i];
            cells_.push_back(std::move(made));
          }
          std::vector<const Formula*>& where = cells_[cell->second].where;
          if (!block.where) where.clear();
          else if (fresh || !where.empty()) where.push_back(&*block.where);
          cells_[cell->second].analyses.insert(block.analyses.begin(), block.analyses.end());
          more = false;
          for (std::size_t i = axes.size(); i-- > 0 && !more;) {
            more = ++at[i] < static_cast<int>(e.axes[axes[i]].points.size());
            if (!more) at[i] = 0;
          }
        }
      }
  }
}

Coordinates Grid::unset() const {
  return {kUnset, kUnset, std::vector<int>(e_.axes.size(), kUnset)};
}

std::string Grid::missing(const Coordinates& where) const {
  const std::string &workload = e_.workloads[static_cast<std::size_t>(where.workload)].name,
                    &variant = e_.variants[static_cast<std::size_t>(where.variant)].name;
  const auto known = index_.find(
      {static_cast<std::size_t>(where.workload), static_cast<std::size_t>(where.variant)});
  if (known == index_.end())
    return fmt::format("no [[runs]] has workload '{}' under variant '{}'", workload, variant);
  std::string axes;
  for (const auto& [needed, cells] : known->second) {
    std::string names;
    for (const std::size_t a : needed)
      if (where.points[a] == kUnset) names += (names.empty() ? "" : ", ") + e_.axes[a].name;
    axes += (axes.empty() ? "" : " or of ") + names;
  }
  return fmt::format("runs of '{}' under '{}' need a point of {}", workload, variant, axes);
}

std::size_t Grid::find(const Coordinates& where) const {
  RADDLE_ASSERT(where.points.size() == e_.axes.size());
  if (where.workload == kUnset) throw EvaluationError("no workload is given for a metric");
  if (where.variant == kUnset) throw EvaluationError("no variant is given for a metric");
  const auto known = index_.find(
      {static_cast<std::size_t>(where.workload), static_cast<std::size_t>(where.variant)});
  const std::map<std::vector<int>, std::size_t>* best = nullptr;
  Axes best_axes;
  bool tie = false;
  if (known != index_.end())
    for (const auto& [axes, cells] : known->second) {
      if (std::ranges::any_of(axes, [&](std::size_t a) { return where.points[a] == kUnset; }))
        continue;
      tie = best != nullptr && axes.size() == best_axes.size();
      if (best == nullptr || axes.size() > best_axes.size()) {
        best = &cells;
        best_axes = axes;
      }
    }
  if (best == nullptr) throw EvaluationError(missing(where));
  if (tie)
    throw EvaluationError(fmt::format(
        "two [[runs]] of '{}' under '{}' with different axes fit here; give the variant two names",
        e_.workloads[static_cast<std::size_t>(where.workload)].name,
        e_.variants[static_cast<std::size_t>(where.variant)].name));
  std::vector<int> at;
  for (const std::size_t a : best_axes) at.push_back(where.points[a]);
  RADDLE_ASSERT(best->contains(at));
  return best->at(at);
}

}  // namespace raddle::lab
