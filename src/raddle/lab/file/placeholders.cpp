#include "raddle/lab/file/placeholders.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/lab/file/names.h"

namespace raddle::lab {

void visit_texts(const Settings& settings, const VisitText& f) {
  for (const Setting& s : settings)
    if (s.value.is_string()) f(s.value.get_ref<const std::string&>(), s.place);
}

void visit_texts(const Variant& variant, const VisitText& f) {
  for (const PlacedText& policy : variant.policies) f(policy.text, policy.place);
  visit_texts(variant.set, f);
}

void visit_texts(const AxisPoint& point, const VisitText& f) {
  visit_texts(point.set, f);
  visit_texts(point.parameters, f);
}

void visit_texts(const Experiment& e, const Workload& workload, const VisitText& f) {
  visit_texts(workload.parameters, f);
  visit_texts(workload.set, f);
  for (const std::string& member : workload.members)
    visit_texts(e.workloads[*e.find(member, NameKind::Workload)].parameters, f);
}

void visit_texts(const Experiment& e, const VisitText& f) {
  visit_texts(e.set, f);
  for (const Workload& workload : e.workloads) {
    visit_texts(workload.parameters, f);
    visit_texts(workload.set, f);
  }
  for (const Variant& variant : e.variants) visit_texts(variant, f);
  for (const Axis& axis : e.axes)
    for (const AxisPoint& point : axis.points) visit_texts(point, f);
}

namespace {

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

void check_derived(const Experiment& e, Problems& problems) {
  for (const Derived& derived : e.derived) {
    check_names(e, derived.value, false, problems);
    if (derived.where) check_names(e, *derived.where, false, problems);
    if (!derived.over.empty() && !e.find(derived.over, NameKind::Axis))
      problems.add(derived.value.place,
                   fmt::format("derived.{}.over: expected an axis, found '{}'{}", derived.name,
                               derived.over, known_names(e, derived.over, {NameKind::Axis})));
  }
  visit_texts(e, [&](const std::string& text, const Place& place) {
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
