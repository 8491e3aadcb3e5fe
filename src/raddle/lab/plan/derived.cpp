#include "raddle/lab/plan/derived.h"

#include <fmt/format.h>

#include "raddle/lab/file/placeholders.h"

namespace raddle::lab {

std::set<std::string> derived_of(const Experiment& e, const Cell& cell) {
  std::set<std::string> out;
  const VisitText collect = [&](const std::string& text, const Place&) {
    for (std::string& name : placeholders(text)) out.insert(std::move(name));
  };
  visit_texts(e.set, collect);
  visit_texts(e, e.workloads[cell.workload], collect);
  visit_texts(e.variants[cell.variant], collect);
  for (std::size_t a = 0; a < cell.points.size(); ++a)
    if (cell.points[a] != kUnset)
      visit_texts(e.axes[a].points[static_cast<std::size_t>(cell.points[a])], collect);
  return out;
}

Coordinates coordinates_of(const Cell& cell) {
  return {static_cast<int>(cell.workload), kUnset, cell.points};
}

std::string written(double number) { return fmt::format("{}", number); }

std::optional<std::string> derived_text(const Experiment& e, const Derived& derived,
                                        Evaluator& evaluator, const Coordinates& where) {
  if (derived.over.empty()) {
    const Number value = evaluator.number(derived.value, where);
    return value ? std::optional(written(*value)) : std::nullopt;
  }
  const std::size_t axis = *e.find(derived.over, NameKind::Axis);
  RADDLE_ASSERT(axis < where.points.size());
  std::string out;
  bool known = true;
  for (std::size_t p = 0; p < e.axes[axis].points.size(); ++p) {
    Coordinates there = where;
    there.points[axis] = static_cast<int>(p);
    if (derived.where) {
      const Verdict holds = evaluator.holds(*derived.where, there);
      known &= holds != Verdict::NotRun;
      if (holds != Verdict::Pass) continue;
    }
    const Number value = evaluator.number(derived.value, there);
    known &= value.has_value();
    if (!known) continue;
    if (!out.empty()) out += derived.join;
    if (derived.keyed) out += shown(e.axes[axis].points[p].value) + ":";
    out += written(*value);
  }
  return known ? std::optional(out) : std::nullopt;
}

}  // namespace raddle::lab
