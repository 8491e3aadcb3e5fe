#include "raddle/lab/derived.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/lab/names.h"
#include "raddle/lab/section.h"

namespace raddle::lab {

namespace {

/// Texts of a cell or of a whole file in which a placeholder may stand.
using Visit = std::function<void(const std::string& text, const Place& place)>;

void visit(const Settings& settings, const Visit& f) {
  for (const Setting& s : settings)
    if (s.value.is_string()) f(s.value.get_ref<const std::string&>(), s.place);
}

void visit(const Variant& variant, const Visit& f) {
  for (const PlacedText& policy : variant.policies) f(policy.text, policy.place);
  visit(variant.set, f);
}

void visit(const AxisPoint& point, const Visit& f) {
  visit(point.set, f);
  visit(point.parameters, f);
}

/// Parameters of the workload and of those that are its members.
void visit(const Experiment& e, const Workload& workload, const Visit& f) {
  visit(workload.parameters, f);
  visit(workload.set, f);
  for (const std::string& member : workload.members)
    visit(e.workloads[*e.find(member, NameKind::Workload)].parameters, f);
}

void visit(const Experiment& e, const Visit& f) {
  visit(e.set, f);
  for (const Workload& workload : e.workloads) {
    visit(workload.parameters, f);
    visit(workload.set, f);
  }
  for (const Variant& variant : e.variants) visit(variant, f);
  for (const Axis& axis : e.axes)
    for (const AxisPoint& point : axis.points) visit(point, f);
}

/// Calls `text` with what stands between placeholders, and `name` with what is in braces.
template <class Text, class Name>
void split(std::string_view all, Text text, Name name) {
  std::size_t at = 0;
  while (at < all.size()) {
    const std::size_t brace = std::min(all.find_first_of("{}", at), all.size());
    text(all.substr(at, brace - at));
    if (brace == all.size()) return;
    const std::size_t end = all.find('}', brace);
    if (all[brace] == '}' || end == std::string_view::npos)
      throw InputError(fmt::format("'{}' at character {} has no partner", all[brace], brace + 1));
    name(all.substr(brace + 1, end - brace - 1));
    at = end + 1;
  }
}

}  // namespace

std::vector<std::string> placeholders(std::string_view text) {
  std::vector<std::string> out;
  split(
      text, [](std::string_view) {},
      [&](std::string_view name) {
        if (!is_name(name))
          throw InputError(
              fmt::format("expected the name of a derived value in braces, found '{{{}}}'", name));
        out.emplace_back(name);
      });
  return out;
}

std::string filled(std::string_view text, const DerivedText& derived) {
  std::string out;
  split(
      text, [&](std::string_view part) { out += part; },
      [&](std::string_view name) { out += derived(std::string(name)); });
  return out;
}

Setting filled(Setting setting, const DerivedText& derived) {
  if (!setting.value.is_string()) return setting;
  const std::string text = setting.value;
  if (text.find('{') == std::string::npos) return setting;
  const std::string value = filled(text, derived);
  const Json number = Json::parse(value, nullptr, false);
  const bool whole = text.front() == '{' && text.find('}') == text.size() - 1;
  setting.value = whole && number.is_number() ? number : Json(value);
  return setting;
}

std::set<std::string> derived_of(const Experiment& e, const Cell& cell) {
  std::set<std::string> out;
  const Visit collect = [&](const std::string& text, const Place&) {
    for (std::string& name : placeholders(text)) out.insert(std::move(name));
  };
  visit(e.set, collect);
  visit(e, e.workloads[cell.workload], collect);
  visit(e.variants[cell.variant], collect);
  for (std::size_t a = 0; a < cell.points.size(); ++a)
    if (cell.points[a] != kNowhere)
      visit(e.axes[a].points[static_cast<std::size_t>(cell.points[a])], collect);
  return out;
}

Where coordinates_of(const Cell& cell) {
  return {static_cast<int>(cell.workload), kNowhere, cell.points};
}

std::string written(double number) { return fmt::format("{}", number); }

std::optional<std::string> derived_text(const Experiment& e, const Derived& derived,
                                        Evaluator& evaluator, const Where& where) {
  if (derived.over.empty()) {
    const Number value = evaluator.number(derived.value, where);
    return value ? std::optional(written(*value)) : std::nullopt;
  }
  const std::size_t axis = *e.find(derived.over, NameKind::Axis);
  std::string out;
  bool known = true;
  for (std::size_t p = 0; p < e.axes[axis].points.size(); ++p) {
    Where there = where;
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

void check_derived(const Experiment& e, Problems& problems) {
  for (const Derived& derived : e.derived) {
    check_names(e, derived.value, false, problems);
    if (derived.where) check_names(e, *derived.where, false, problems);
    if (!derived.over.empty() && !e.find(derived.over, NameKind::Axis))
      problems.add(derived.value.place,
                   fmt::format("derived.{}.over: expected an axis, found '{}'{}", derived.name,
                               derived.over, known_names(e, derived.over, {NameKind::Axis})));
  }
  visit(e, [&](const std::string& text, const Place& place) {
    try {
      for (const std::string& name : placeholders(text))
        if (!e.find(name, NameKind::Derived))
          problems.add(place, fmt::format("expected a name of [derived] in braces, found '{}'{}",
                                          name, known_names(e, name, {NameKind::Derived})));
    } catch (const InputError& error) {
      problems.add(place, fmt::format("{} (in \"{}\")", error.diagnostics().front().message, text));
    }
  });
}

}  // namespace raddle::lab
