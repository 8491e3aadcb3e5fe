#include "raddle/lab/evaluate/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace raddle::lab {

namespace {

constexpr std::size_t kWorkload = 0, kVariant = 1, kFirstAxis = 2;

Number finite(double value) { return std::isfinite(value) ? Number(value) : std::nullopt; }

/// What is used of a dimension in here has been set in here: outside it counts for nothing.
class Unused {
 public:
  explicit Unused(std::uint64_t& used) : used_(used), before_(used) {}
  ~Unused() { used_ = before_; }
  Unused(const Unused&) = delete;
  Unused& operator=(const Unused&) = delete;

 private:
  std::uint64_t& used_;
  std::uint64_t before_;
};

bool all_there(const std::vector<Number>& values) {
  return std::ranges::all_of(values, [](const Number& v) { return v.has_value(); });
}

/// Of numbers that are all there; at least one.
Number folded(std::string_view name, const std::vector<Number>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, inverse = 0, logarithm = 0, minimum = *values[0], maximum = *values[0];
  bool positive = true;
  for (const Number& value : values) {
    positive &= *value > 0;
    sum += *value;
    inverse += 1 / *value;
    logarithm += std::log(*value);
    minimum = std::min(minimum, *value);
    maximum = std::max(maximum, *value);
  }
  if (name == "sum") return finite(sum);
  if (name == "amean") return finite(sum / n);
  if (name == "min") return minimum;
  if (name == "max") return maximum;
  if (!positive) return std::nullopt;
  return name == "hmean" ? finite(n / inverse) : finite(std::exp(logarithm / n));
}

}  // namespace

std::string shown_number(const Number& value) {
  if (!value) return "missing";
  const double size = std::abs(*value);
  return size >= 1e4 && size < 1e15 ? fmt::format("{:.0f}", *value) : fmt::format("{:.4g}", *value);
}

std::string_view verdict_name(Verdict verdict) {
  return verdict == Verdict::Pass ? "pass" : verdict == Verdict::Fail ? "fail" : "not_run";
}

void apply(const Step& step, Coordinates& where) {
  RADDLE_ASSERT(step.dimension != Step::Dimension::Axis || step.axis < where.points.size());
  if (step.dimension == Step::Dimension::Workload) where.workload = step.at;
  else if (step.dimension == Step::Dimension::Variant) where.variant = step.at;
  else where.points[step.axis] = step.at;
}

int point_of(const Axis& axis, const AxisValue& value) {
  for (std::size_t p = 0; p < axis.points.size(); ++p)
    if (axis.points[p].value == value) return static_cast<int>(p);
  return kUnset;
}

Evaluator::Evaluator(const Experiment& e, const Grid& grid, const MetricSource& source)
    : e_(e), grid_(grid), source_(source), used_(kFirstAxis + e.axes.size()) {}

Number Evaluator::number(const Formula& formula, const Coordinates& where) {
  return eval(formula.expression, where);
}

std::vector<Number> Evaluator::along(const Formula& formula, const std::string& axis,
                                     const Coordinates& where) {
  std::vector<Number> out;
  each({{{axis}, {}, {}, {}, {}}}, where, [&](const Coordinates& there, const std::string&) {
    out.push_back(eval(formula.expression, there));
  });
  return out;
}

Number Evaluator::mean(std::string_view name, const Formula& formula,
                       const std::vector<Coordinates>& places) {
  std::vector<Number> values;
  for (const Coordinates& where : places) values.push_back(eval(formula.expression, where));
  return all_there(values) ? folded(name, values) : std::nullopt;
}

Number Evaluator::eval(const Expression& x, const Coordinates& where) {
  switch (x.kind) {
    case Kind::Number:
      return x.number;
    case Kind::Name:
      return name(x, where);
    case Kind::Path:
      return metric(x.word, where);
    case Kind::Pinned:
      return pinned(x, where);
    case Kind::Negative: {
      const Number value = eval(x.parts[0], where);
      return value ? Number(-*value) : std::nullopt;
    }
    case Kind::Arithmetic: {
      const Number left = eval(x.parts[0], where), right = eval(x.parts[1], where);
      if (!left || !right) return std::nullopt;
      return finite(x.word == "+"   ? *left + *right
                    : x.word == "-" ? *left - *right
                    : x.word == "*" ? *left * *right
                                    : *left / *right);
    }
    case Kind::Call:
      return call(x, where);
    case Kind::Fold:
      return fold(x, where);
    default:
      break;
  }
  assertion_failed("the parser lets no condition stand for a number", __FILE__, __LINE__);
}

Number Evaluator::name(const Expression& x, const Coordinates& where) {
  const Symbol* found = e_.find(x.word);
  RADDLE_ASSERT(found != nullptr);  // check_names() has looked
  const Symbol& symbol = *found;
  switch (symbol.kind) {
    case NameKind::Measure:
      return eval(e_.measures[symbol.index].value.expression, where);
    case NameKind::Constant:
      return e_.constants[symbol.index];
    case NameKind::Axis: {
      ++used_[kFirstAxis + symbol.index];
      const Axis& axis = e_.axes[symbol.index];
      const int at = where.points[symbol.index];
      if (at == kUnset) throw EvaluationError("no point is given of axis '" + axis.name + "'");
      const auto* value = std::get_if<double>(&axis.points[static_cast<std::size_t>(at)].value);
      if (value == nullptr)
        throw EvaluationError("axis '" + axis.name + "' has texts, not numbers");
      return *value;
    }
    default: {  // a place; the check of names has seen to it that there is an `of`
      Coordinates there = where;
      const bool workload = symbol.kind == NameKind::Workload;
      (workload ? there.workload : there.variant) = static_cast<int>(symbol.index);
      RADDLE_ASSERT(of_ != nullptr);
      const Unused dimension(used_[workload ? kWorkload : kVariant]);
      return eval(*of_, there);
    }
  }
}

Number Evaluator::metric(const std::string& path, Coordinates where) {
  bool known = true;
  if (where.variant != kUnset && e_.variants[static_cast<std::size_t>(where.variant)].selection) {
    const auto best = chosen(static_cast<std::size_t>(where.variant), where);
    known = best.has_value();
    const Selection& selection = *e_.variants[static_cast<std::size_t>(where.variant)].selection;
    if (known) where = *best;
    else {  // any point: whether the metric exists must be found out all the same
      where.variant = static_cast<int>(*e_.find(selection.best_of, NameKind::Variant));
      for (const std::string& axis : selection.over)
        where.points[*e_.find(axis, NameKind::Axis)] = 0;
    }
  }
  const Number value = source_.metric(used_cell(where), path);
  return known ? value : std::nullopt;
}

/// The cell there; what is asked depends on its workload, variant and axes.
std::size_t Evaluator::used_cell(const Coordinates& where) {
  ++used_[kWorkload];
  ++used_[kVariant];
  const std::size_t cell = grid_.find(where);
  const std::vector<int>& points = grid_.cells()[cell].points;
  RADDLE_ASSERT(kFirstAxis + points.size() == used_.size());
  for (std::size_t a = 0; a < points.size(); ++a)
    if (points[a] != kUnset) ++used_[kFirstAxis + a];
  return cell;
}

std::optional<Coordinates> Evaluator::chosen(std::size_t variant, Coordinates where) {
  RADDLE_ASSERT(e_.variants[variant].selection.has_value());
  const Selection& selection = *e_.variants[variant].selection;
  where.variant = static_cast<int>(*e_.find(selection.best_of, NameKind::Variant));
  const Unused dimension(used_[kVariant]);
  std::vector<Domain> domains;
  for (const std::string& axis : selection.over) domains.push_back({{axis}, {}, {}, {}, {}});
  std::optional<Coordinates> best;
  double value = 0;
  bool known = true;
  each(domains, where, [&](const Coordinates& there, const std::string&) {
    if (source_.left_out(used_cell(there))) return;
    const Number here = eval(selection.objective.expression, there);
    known &= here.has_value();
    if (here && (!best || (selection.maximise ? *here > value : *here < value))) {
      best = there;
      value = *here;
    }
  });
  return known ? best : std::nullopt;
}

Number Evaluator::call(const Expression& x, const Coordinates& where) {
  if (x.word == "chosen") {
    const std::size_t axis = *e_.find(x.parts[1].word, NameKind::Axis);
    const auto best = chosen(*e_.find(x.parts[0].word, NameKind::Variant), where);
    if (!best) return std::nullopt;
    const AxisValue& value =
        e_.axes[axis].points[static_cast<std::size_t>(best->points[axis])].value;
    if (!std::holds_alternative<double>(value))
      throw EvaluationError("axis '" + e_.axes[axis].name + "' has texts, not numbers");
    return std::get<double>(value);
  }
  RADDLE_ASSERT(!x.parts.empty());
  std::vector<Number> v;
  for (const Expression& part : x.parts) v.push_back(eval(part, where));
  if (!all_there(v)) return std::nullopt;
  if (x.word == "min" || x.word == "max") return folded(x.word, v);
  if (x.word == "abs") return std::abs(*v[0]);
  if (x.word == "sqrt") return finite(std::sqrt(*v[0]));
  if (x.word == "log2") return finite(std::log2(*v[0]));
  if (x.word == "exp2") return finite(std::exp2(*v[0]));
  if (x.word == "floor") return std::floor(*v[0]);
  if (x.word == "ceil") return std::ceil(*v[0]);
  const double ten = v.size() > 1 ? std::pow(10.0, *v[1]) : 1.0;
  return finite(std::round(*v[0] * ten) / ten);
}

std::vector<Step> Evaluator::steps(const Domain& domain) const {
  RADDLE_ASSERT(!domain.names.empty());
  std::vector<Step> out;
  using Dimension = Step::Dimension;
  if (const auto axis = e_.find(domain.names[0], NameKind::Axis)) {
    const Axis& named = e_.axes[*axis];
    for (std::size_t point = 0; point < named.points.size(); ++point) {
      const AxisValue& value = named.points[point].value;
      const double number = std::holds_alternative<double>(value) ? std::get<double>(value) : 0;
      if (domain.from && number < std::get<double>(*domain.from)) continue;
      if (domain.to && number > std::get<double>(*domain.to)) continue;
      if (!domain.values.empty() && std::ranges::find(domain.values, value) == domain.values.end())
        continue;
      out.push_back({Dimension::Axis, *axis, static_cast<int>(point)});
    }
    for (const AxisValue& value : domain.values)
      if (point_of(named, value) == kUnset)
        throw EvaluationError(
            fmt::format("axis '{}' has no point {} at this scale", named.name, shown(value)));
    if (out.empty()) throw EvaluationError("no point of axis '" + named.name + "' is in the range");
    return out;
  }
  auto add = [&](const std::string& name, std::vector<std::pair<Dimension, std::size_t>>& to) {
    if (const auto variant = e_.find(name, NameKind::Variant)) {
      to.emplace_back(Dimension::Variant, *variant);
    } else {
      for (const std::size_t workload : e_.workloads_of(name))
        to.emplace_back(Dimension::Workload, workload);
    }
  };
  std::vector<std::pair<Dimension, std::size_t>> in, without;
  for (const std::string& name : domain.names) add(name, in);
  for (const std::string& name : domain.except) add(name, without);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (std::find(in.begin(), in.begin() + static_cast<long>(i), in[i]) ==
            in.begin() + static_cast<long>(i) &&
        std::ranges::find(without, in[i]) == without.end())
      out.push_back({in[i].first, 0, static_cast<int>(in[i].second)});
  if (out.empty()) throw EvaluationError("nothing is left to go through after `except`");
  return out;
}

void Evaluator::each(const std::vector<Domain>& domains, const Coordinates& where,
                     const std::function<void(const Coordinates&, const std::string&)>& visit) {
  std::vector<std::vector<Step>> all;
  std::vector<std::uint64_t> before;
  auto slot = [](const Step& s) {
    return s.dimension == Step::Dimension::Axis       ? kFirstAxis + s.axis
           : s.dimension == Step::Dimension::Workload ? kWorkload
                                                      : kVariant;
  };
  for (const Domain& domain : domains) {
    all.push_back(steps(domain));
    const std::size_t dimension = slot(all.back()[0]);
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      if (slot(all[i][0]) == dimension)
        throw EvaluationError(fmt::format("'{}' goes through what '{}' goes through already",
                                          domain.names[0], domains[i].names[0]));
    before.push_back(used_[dimension]);
  }
  std::vector<std::size_t> at(all.size(), 0);
  for (bool more = true; more;) {
    Coordinates there = where;
    std::string label;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Step& step = all[i][at[i]];
      apply(step, there);
      const auto number = static_cast<std::size_t>(step.at);
      label += (label.empty() ? "" : ", ") +
               (step.dimension == Step::Dimension::Axis
                    ? e_.axes[step.axis].name + "=" + shown(e_.axes[step.axis].points[number].value)
                : step.dimension == Step::Dimension::Workload ? e_.workloads[number].name
                                                              : e_.variants[number].name);
    }
    visit(there, label);
    more = false;
    for (std::size_t i = all.size(); i-- > 0 && !more;) {
      more = ++at[i] < all[i].size();
      if (!more) at[i] = 0;
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (used_[slot(all[i][0])] == before[i])
      throw EvaluationError(
          fmt::format("goes through '{}', on which nothing in it depends", domains[i].names[0]));
}

Number Evaluator::fold(const Expression& x, const Coordinates& where) {
  if (x.word == "argmax" || x.word == "argmin") {
    const std::size_t axis = only_axis(x, 1);
    Number best, at;
    bool known = true;
    each(x.domains, where, [&](const Coordinates& there, const std::string&) {
      const Number value = eval(x.parts[0], there);
      known &= value.has_value();
      const auto& point = e_.axes[axis].points[static_cast<std::size_t>(there.points[axis])].value;
      if (!std::holds_alternative<double>(point))
        throw EvaluationError("axis '" + e_.axes[axis].name + "' has texts, not numbers");
      if (value && (!best || (x.word == "argmax" ? *value > *best : *value < *best))) {
        best = value;
        at = std::get<double>(point);
      }
    });
    return known ? at : std::nullopt;
  }
  if (x.word == "count") {
    double holds = 0;
    bool known = true;
    each(x.domains, where, [&](const Coordinates& there, const std::string&) {
      const Verdict verdict = judge(x.parts[0], there).verdict;
      known &= verdict != Verdict::NotRun;
      holds += verdict == Verdict::Pass ? 1 : 0;
    });
    return known ? Number(holds) : std::nullopt;
  }
  std::vector<Number> values;
  each(x.domains, where, [&](const Coordinates& there, const std::string&) {
    values.push_back(eval(x.parts[0], there));
  });
  return all_there(values) ? folded(x.word, values) : std::nullopt;
}

Coordinates Evaluator::moved(const std::vector<Pin>& pins, Coordinates where,
                             std::vector<std::size_t>& moved_along) {
  for (const Pin& pin : pins) {
    const auto* text = std::get_if<std::string>(&pin.value);
    if (const auto axis = e_.find(pin.dimension, NameKind::Axis)) {
      const int at = point_of(e_.axes[*axis], pin.value);
      if (at == kUnset)
        throw EvaluationError(fmt::format("axis '{}' has no point {} at this scale",
                                          e_.axes[*axis].name, shown(pin.value)));
      where.points[*axis] = at;
      moved_along.push_back(kFirstAxis + *axis);
    } else if (const unsigned member = member_number(*text); member != 0) {
      if (where.workload == kUnset)
        throw EvaluationError("no workload is given whose " + *text + " could be taken");
      const Workload& whole = e_.workloads[static_cast<std::size_t>(where.workload)];
      if (member > whole.members.size())
        throw EvaluationError(fmt::format("workload '{}' has no {}", whole.name, *text));
      ++used_[kWorkload];
      where.workload = static_cast<int>(*e_.find(whole.members[member - 1], NameKind::Workload));
      moved_along.push_back(kWorkload);
    } else if (const auto variant = e_.find(*text, NameKind::Variant)) {
      where.variant = static_cast<int>(*variant);
      moved_along.push_back(kVariant);
    } else {
      where.workload = static_cast<int>(*e_.find(*text, NameKind::Workload));
      moved_along.push_back(kWorkload);
    }
  }
  return where;
}

namespace {
/// "first", "second": of the workload that is pinned before.
bool is_member(const Pin& pin) {
  const auto* text = std::get_if<std::string>(&pin.value);
  return text != nullptr && pin.dimension.empty() && member_number(*text) != 0;
}
}  // namespace

Number Evaluator::pinned(const Expression& x, const Coordinates& where) {
  std::vector<std::size_t> along;
  const Coordinates there = moved(x.pins, where, along);
  for (std::size_t i = 0; i < along.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (along[i] == along[j] && !is_member(x.pins[i]))
        throw EvaluationError(fmt::format("'{}' and '{}' are two places along one dimension",
                                          shown(x.pins[j].value), shown(x.pins[i].value)));
  const std::vector<std::uint64_t> before = used_;
  const Number value = eval(x.parts[0], there);
  for (std::size_t i = 0; i < along.size(); ++i)
    if (used_[along[i]] == before[along[i]]) {
      const Pin& pin = x.pins[i];
      throw EvaluationError(fmt::format("[{}{}] has no effect: nothing in '{}' depends on it",
                                        pin.dimension.empty() ? "" : pin.dimension + "=",
                                        shown(pin.value), x.parts[0].word));
    }
  for (const std::size_t dimension : along) used_[dimension] = before[dimension];
  return value;
}

std::size_t Evaluator::only_axis(const Expression& x, std::size_t min_points) const {
  const auto axis = e_.find(x.domains[0].names[0], NameKind::Axis);
  if (x.domains.size() != 1 || !axis)
    throw EvaluationError(x.word + " goes over one axis, and nothing else");
  if (steps(x.domains[0]).size() < min_points)
    throw EvaluationError(fmt::format("{} needs at least {} points of axis '{}' at this scale",
                                      x.word, min_points, e_.axes[*axis].name));
  return *axis;
}

}  // namespace raddle::lab
