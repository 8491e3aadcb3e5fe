#include "raddle/lab/file/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "raddle/config/spelling.h"

namespace raddle::lab {

namespace {

/// Walks an expression.
class NameCheck {
 public:
  NameCheck(const Experiment& experiment, const Formula& formula, bool of, Problems& problems)
      : e_(experiment), formula_(formula), of_(of), problems_(problems) {}

  void walk(const Expression& x) {
    if (x.kind == ExpressionKind::Name) name(x);
    if (x.kind == ExpressionKind::Call && x.word == "chosen") return chosen(x);
    for (const Domain& domain : x.domains) check(domain);
    for (const Pin& pin : x.pins) check(pin);
    for (const Expression& part : x.parts) walk(part);
  }

 private:
  void fail(const std::string& message) {
    problems_.add(formula_.place,
                  fmt::format("{}: {} (in \"{}\")", formula_.key, message, formula_.text));
  }

  void name(const Expression& x) {
    const Symbol* symbol = e_.find(x.word);
    if (symbol == nullptr) {
      fail(fmt::format("expected a measure, constant or axis, found the unknown name '{}'{}",
                       x.word,
                       known_names(e_, x.word,
                                   {NameKind::Measure, NameKind::Constant, NameKind::Axis,
                                    NameKind::Variant, NameKind::Workload})));
      return;
    }
    const bool place = symbol->kind == NameKind::Variant || symbol->kind == NameKind::Workload;
    if (symbol->kind == NameKind::Derived)
      fail(
          fmt::format("expected a number, found the derived value '{}', which stands in settings "
                      "as {{{}}}; a measure is for expressions",
                      x.word, x.word));
    if (symbol->kind == NameKind::Group || (place && !of_))
      fail(fmt::format("expected a number, found {} '{}'{}", kind_name(symbol->kind), x.word,
                       place ? fmt::format("; write MEASURE[{}], or give the shape an `of`", x.word)
                             : "; write a function over it"));
  }

  void chosen(const Expression& x) {
    const auto selection = e_.find(x.parts[0].word, NameKind::Variant);
    if (!selection || !e_.variants[*selection].selection) {
      fail(fmt::format("expected a selection (a variant with best_of), found '{}'",
                       x.parts[0].word));
      return;
    }
    const std::vector<std::string>& over = e_.variants[*selection].selection->over;
    if (std::ranges::find(over, x.parts[1].word) == over.end())
      fail(fmt::format("'{}' is no axis that {} searches", x.parts[1].word, x.parts[0].word));
  }

  void check(const Domain& domain) {
    std::set<NameKind> kinds;
    for (const std::string& name : domain.names) {
      const Symbol* symbol = e_.find(name);
      if (symbol == nullptr || symbol->kind == NameKind::Measure ||
          symbol->kind == NameKind::Constant) {
        fail(fmt::format(
            "expected a group, workload, variant or axis to go through, found '{}'{}", name,
            known_names(e_, name,
                        {NameKind::Group, NameKind::Workload, NameKind::Variant, NameKind::Axis})));
        return;
      }
      kinds.insert(symbol->kind == NameKind::Group ? NameKind::Workload : symbol->kind);
    }
    const bool axis = kinds.contains(NameKind::Axis);
    if (kinds.size() > 1 || (axis && domain.names.size() > 1))
      fail("a set holds either workloads and groups, or variants");
    if (!axis && (!domain.values.empty() || domain.from))
      fail("only an axis has values to go through");
    if (axis && !domain.except.empty()) fail("`except` is for workloads and variants");
    for (const std::string& name : domain.except) {
      const Symbol* symbol = e_.find(name);
      const bool fits =
          symbol != nullptr &&
          kinds.contains(symbol->kind == NameKind::Group ? NameKind::Workload : symbol->kind);
      if (!fits) fail(fmt::format("'{}' after `except` is not of what is gone through", name));
    }
    if (axis && domain.names.size() == 1) check_values(domain);
  }

  void check_values(const Domain& domain) {
    const Axis& axis = e_.axes[*e_.find(domain.names[0], NameKind::Axis)];
    const bool numbers =
        !axis.points.empty() && std::holds_alternative<double>(axis.points[0].value);
    for (const std::optional<AxisValue>& end : {domain.from, domain.to})
      if (end && !(numbers && std::holds_alternative<double>(*end)))
        fail(fmt::format("`from` and `to` need an axis of numbers, '{}' is none", axis.name));
  }

  void check(const Pin& pin) {
    const auto* text = std::get_if<std::string>(&pin.value);
    const Symbol* value = text == nullptr ? nullptr : e_.find(*text);
    const bool member = text != nullptr && member_number(*text) != 0;
    auto is = [&](NameKind kind) { return value != nullptr && value->kind == kind; };
    if (pin.dimension.empty() || pin.dimension == "workload" || pin.dimension == "variant") {
      const bool ok = (pin.dimension != "variant" && (member || is(NameKind::Workload))) ||
                      (pin.dimension != "workload" && is(NameKind::Variant));
      if (!ok)
        fail(fmt::format(
            "expected a {} in brackets, found '{}'{}",
            pin.dimension.empty() ? "variant or workload" : pin.dimension, shown(pin.value),
            known_names(e_, shown(pin.value), {NameKind::Variant, NameKind::Workload})));
    } else if (!e_.find(pin.dimension, NameKind::Axis)) {
      fail(fmt::format("expected an axis before '=', found '{}'{}", pin.dimension,
                       known_names(e_, pin.dimension, {NameKind::Axis})));
    }
  }

  const Experiment& e_;
  const Formula& formula_;
  bool of_;
  Problems& problems_;
};

/// A measure that is made of itself.
void check_cycles(const Experiment& e, Problems& problems) {
  enum class State { New, Open, Done };
  std::vector<State> state(e.measures.size(), State::New);
  auto visit = [&](auto& self, std::size_t m) -> void {
    state[m] = State::Open;
    auto walk = [&](auto& again, const Expression& x) -> void {
      if (x.kind == ExpressionKind::Name)
        if (const auto other = e.find(x.word, NameKind::Measure)) {
          if (state[*other] == State::Open)
            problems.add(e.measures[m].value.place,
                         fmt::format("{}: is made of itself by way of '{}'",
                                     e.measures[m].value.key, x.word));
          else if (state[*other] == State::New) self(self, *other);
        }
      for (const Expression& part : x.parts) again(again, part);
    };
    walk(walk, e.measures[m].value.expression);
    state[m] = State::Done;
  };
  for (std::size_t m = 0; m < e.measures.size(); ++m)
    if (state[m] == State::New) visit(visit, m);
}

}  // namespace

std::string known_names(const Experiment& e, std::string_view wanted,
                        std::initializer_list<NameKind> kinds) {
  std::vector<std::string> known;
  for (const auto& [name, symbol] : e.names)
    if (std::ranges::find(kinds, symbol.kind) != kinds.end()) known.push_back(name);
  const std::string near = config::nearest(wanted, known);
  if (!near.empty()) return "; did you mean '" + near + "'?";
  if (known.empty()) return "; there are none";
  if (known.size() > 24) return "";
  std::string out = "; known:";
  for (const std::string& name : known) out += " " + name;
  return out;
}

bool check_named(const Experiment& e, const PlacedText& text, const std::string& key,
                 const std::string& expected, std::initializer_list<NameKind> kinds,
                 Problems& problems) {
  const Symbol* symbol = e.find(text.text);
  if (symbol != nullptr && std::ranges::find(kinds, symbol->kind) != kinds.end()) return true;
  problems.add(text.place, fmt::format("{}: expected {}, found \"{}\"{}", key, expected, text.text,
                                       known_names(e, text.text, kinds)));
  return false;
}

void check_names(const Experiment& experiment, const Formula& formula, bool of,
                 Problems& problems) {
  NameCheck(experiment, formula, of, problems).walk(formula.expression);
}

void check_definitions(const Experiment& experiment, Problems& problems) {
  for (const Measure& measure : experiment.measures)
    check_names(experiment, measure.value, false, problems);
  check_cycles(experiment, problems);
  if (experiment.corun && experiment.corun->alone)
    check_names(experiment, *experiment.corun->alone, false, problems);
  for (const Workload& workload : experiment.workloads)
    for (const std::string& member : workload.members) {
      const auto found = experiment.find(member, NameKind::Workload);
      if (!found)
        problems.add(
            workload.place,
            fmt::format("workloads.{}.members: expected a workload, found '{}'{}", workload.name,
                        member, known_names(experiment, member, {NameKind::Workload})));
      else if (!experiment.workloads[*found].members.empty())
        problems.add(workload.place,
                     fmt::format("workloads.{}.members: expected a single workload, found "
                                 "'{}', which has members itself",
                                 workload.name, member));
    }
  for (const Variant& variant : experiment.variants) {
    if (!variant.selection) continue;
    const std::string key = "variants." + variant.name;
    const auto searched = experiment.find(variant.selection->best_of, NameKind::Variant);
    if (!searched || experiment.variants[*searched].selection)
      problems.add(variant.place,
                   fmt::format("{}.best_of: expected a variant that has runs, found '{}'{}", key,
                               variant.selection->best_of,
                               searched ? ", which is a selection itself"
                                        : known_names(experiment, variant.selection->best_of,
                                                      {NameKind::Variant})));
    for (const std::string& axis : variant.selection->over)
      if (!experiment.find(axis, NameKind::Axis))
        problems.add(variant.place,
                     fmt::format("{}.over: expected an axis, found '{}'{}", key, axis,
                                 known_names(experiment, axis, {NameKind::Axis})));
    check_names(experiment, variant.selection->objective, false, problems);
  }
}

}  // namespace raddle::lab
