// Conditions: what holds, and the numbers that show it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "raddle/base/error.h"
#include "raddle/lab/evaluate/evaluator.h"

namespace raddle::lab {

namespace {

constexpr std::size_t kLongestDetail = 2000;  ///< characters
constexpr std::size_t kMaxPoints = 8;         ///< of a series, told one by one

Verdict verdict_of(bool holds) { return holds ? Verdict::Pass : Verdict::Fail; }

/// Does a relation hold, with the tolerance of those that allow one?
bool related(const std::string& relation, double a, double b, double tolerance) {
  if (relation == "<") return a < b;
  if (relation == ">") return a > b;
  if (relation == "==") return a == b;
  if (relation == "<=") return a <= b + tolerance * std::abs(b);
  if (relation == ">=") return a >= b - tolerance * std::abs(b);
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

/// "<= (within 2 %)": those that know a tolerance tell it.
std::string relation_in_words(const std::string& relation, double tolerance) {
  if (relation == "~") return fmt::format("within {:.4g} % of", 100 * tolerance);
  if (tolerance == 0 || relation.size() == 1 || relation == "==") return relation;
  return fmt::format("{} (within {:.4g} %)", relation, 100 * tolerance);
}

/// Values over one axis, and the names of its points.
struct Series {
  std::vector<double> values;
  std::vector<std::string> points;

  std::string at(std::size_t i) const {
    return fmt::format("{} at {}", shown_number(values[i]), points[i]);
  }
};

/// Index of the first value that goes the wrong way by more than the tolerance; 0: none does.
std::size_t breaks(const std::vector<double>& v, bool rising, double tolerance) {
  for (std::size_t i = 1; i < v.size(); ++i) {
    const double slack = tolerance * std::max(std::abs(v[i - 1]), std::abs(v[i]));
    if (rising ? v[i] < v[i - 1] - slack : v[i] > v[i - 1] + slack) return i;
  }
  return 0;
}

bool shape_holds(const std::string& shape, const std::vector<double>& v, double tolerance) {
  const bool rises = breaks(v, true, tolerance) == 0, falls = breaks(v, false, tolerance) == 0;
  const auto [minimum, maximum] = std::ranges::minmax(v);
  if (shape == "rises") return rises;
  if (shape == "falls") return falls;
  if (shape == "monotone") return rises || falls;
  if (shape == "flat")
    return maximum - minimum <= tolerance * std::max(std::abs(maximum), std::abs(minimum));
  return shape == "peak_inside" ? maximum > v.front() && maximum > v.back()
                                : minimum < v.front() && minimum < v.back();
}

/// What decides a shape of many points: the extremes, the ends, the step that breaks it.
std::string series_in_short(const std::string& shape, const Series& s, double tolerance) {
  const auto [minimum, maximum] = std::ranges::minmax_element(s.values);
  const auto place = [&](auto it) { return static_cast<std::size_t>(it - s.values.begin()); };
  const std::string ends = fmt::format("{}, {}", s.at(0), s.at(s.values.size() - 1));
  if (shape == "peak_inside") return fmt::format("highest {}; ends {}", s.at(place(maximum)), ends);
  if (shape == "valley_inside")
    return fmt::format("lowest {}; ends {}", s.at(place(minimum)), ends);
  if (shape == "flat")
    return fmt::format("lowest {}, highest {}", s.at(place(minimum)), s.at(place(maximum)));
  std::string out = "from " + s.at(0) + " to " + s.at(s.values.size() - 1);
  for (const bool rising : {true, false}) {
    const std::size_t i = breaks(s.values, rising, tolerance);
    if (i != 0 && shape != (rising ? "falls" : "rises"))
      out += fmt::format("; {} after {}", s.at(i), s.at(i - 1));
  }
  return out;
}

/// "does not rise", "has its peak inside the range": a shape in words.
std::string shape_in_words(std::string_view shape, bool holds) {
  struct Words {
    std::string_view shape, holds, fails;
  };
  static constexpr std::array<Words, 6> kWords = {{
      {"rises", "rises", "does not rise"},
      {"falls", "falls", "does not fall"},
      {"monotone", "goes one way", "does not go one way"},
      {"flat", "is flat", "is not flat"},
      {"peak_inside", "has its peak inside the range", "has no peak inside the range"},
      {"valley_inside", "has its lowest point inside the range",
       "has no lowest point inside the range"},
  }};
  const auto* const words = std::ranges::find(kWords, shape, &Words::shape);
  RADDLE_ASSERT(words != kWords.end());
  return std::string(holds ? words->holds : words->fails);
}

/// Parts are separated by "; ": whole ones are left away.
std::string cut(const std::string& text) {
  if (text.size() <= kLongestDetail) return text;
  const std::size_t end = text.rfind("; ", kLongestDetail);
  return text.substr(0, end == std::string::npos ? kLongestDetail : end) + "; ...";
}

/// not, and, or over three values: what is known decides where it can.
Verdict conjunction(Verdict a, Verdict b) {
  if (a == Verdict::Fail || b == Verdict::Fail) return Verdict::Fail;
  return a == Verdict::NotRun || b == Verdict::NotRun ? Verdict::NotRun : Verdict::Pass;
}
Verdict negation(Verdict a) {
  return a == Verdict::NotRun ? a : a == Verdict::Pass ? Verdict::Fail : Verdict::Pass;
}
Verdict disjunction(Verdict a, Verdict b) {
  return negation(conjunction(negation(a), negation(b)));
}

}  // namespace

Judgement Evaluator::judge(const ExpectedTrend& shape) {
  of_ = shape.of ? &shape.of->expression : nullptr;
  tolerance_ = shape.tolerance;
  text_ = shape.check.text;
  Judgement out = judge(shape.check.expression, grid_.unset());
  of_ = nullptr;
  tolerance_ = 0;
  text_ = {};
  out.detail = cut(out.detail);
  return out;
}

Verdict Evaluator::holds(const Formula& condition, const Coordinates& where) {
  text_ = condition.text;
  const Verdict out = judge(condition.expression, where).verdict;
  text_ = {};
  return out;
}

Judgement Evaluator::judge(const Expression& x, const Coordinates& where) {
  switch (x.kind) {
    case Kind::Comparison:
      return compare(x, where);
    case Kind::Within:
      return within(x, where);
    case Kind::Fold:
      return judge_fold(x, where);
    case Kind::Quantified:
      return quantified(x, where);
    case Kind::Not: {
      const Judgement inner = judge(x.parts[0], where);
      return {negation(inner.verdict), "not (" + inner.detail + ")"};
    }
    default: {
      const bool all = x.kind == Kind::And;
      Judgement out = judge(x.parts[0], where);
      for (std::size_t i = 1; i < x.parts.size(); ++i) {
        const Judgement next = judge(x.parts[i], where);
        out.verdict =
            all ? conjunction(out.verdict, next.verdict) : disjunction(out.verdict, next.verdict);
        out.detail += (all ? " and " : " or ") + next.detail;
      }
      return out;
    }
  }
}

/// "ccws 1.63": a short operand is named, a number is not.
std::string Evaluator::operand(const Expression& x, const Number& value) const {
  constexpr std::size_t kLongestName = 32;
  if (x.kind == Kind::Number || text_.empty() || x.end > text_.size() ||
      x.end - x.begin > kLongestName)
    return shown_number(value);
  return fmt::format("{} {}", text_.substr(x.begin, x.end - x.begin), shown_number(value));
}

Judgement Evaluator::compare(const Expression& x, const Coordinates& where) {
  Judgement out{Verdict::Pass, ""};
  std::vector<Number> values;
  for (const Expression& part : x.parts) values.push_back(eval(part, where));
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.detail += operand(x.parts[i], values[i]);
    if (i + 1 == values.size()) break;
    const bool known = values[i] && values[i + 1];
    const Verdict step =
        !known ? Verdict::NotRun
               : verdict_of(related(x.relations[i], *values[i], *values[i + 1], tolerance_));
    out.verdict = conjunction(out.verdict, step);
    out.detail += fmt::format(" {}{} ", step == Verdict::Fail ? "is not " : "",
                              relation_in_words(x.relations[i], tolerance_));
  }
  return out;
}

Judgement Evaluator::within(const Expression& x, const Coordinates& where) {
  const Number value = eval(x.parts[0], where), low = eval(x.parts[1], where),
               high = eval(x.parts[2], where);
  const bool known = value && low && high;
  const Verdict verdict = known ? verdict_of(*value >= *low && *value <= *high) : Verdict::NotRun;
  return {verdict, fmt::format("{} {}within [{}, {}]", operand(x.parts[0], value),
                               verdict == Verdict::Fail ? "is not " : "", shown_number(low),
                               shown_number(high))};
}

Judgement Evaluator::judge_fold(const Expression& x, const Coordinates& where) {
  const bool inside = x.word == "peak_inside" || x.word == "valley_inside";
  only_axis(x, inside ? 3 : 2);
  Series series;
  std::string all;
  bool known = true;
  each(x.domains, where, [&](const Coordinates& there, const std::string& label) {
    const Number value = eval(x.parts[0], there);
    const std::string point = label.substr(label.find('=') + 1);
    known &= value.has_value();
    if (value) {
      series.values.push_back(*value);
      series.points.push_back(point);
    }
    all += fmt::format("{}{} at {}", all.empty() ? "" : ", ", shown_number(value), point);
  });
  if (!known) return {Verdict::NotRun, all};
  const bool holds = shape_holds(x.word, series.values, tolerance_);
  return {verdict_of(holds), fmt::format("{}: {}", shape_in_words(x.word, holds),
                                         series.values.size() <= kMaxPoints
                                             ? all
                                             : series_in_short(x.word, series, tolerance_))};
}

Judgement Evaluator::quantified(const Expression& x, const Coordinates& where) {
  std::size_t holds = 0, fails = 0, unknown = 0;
  std::string first_fail, all;
  each(x.domains, where, [&](const Coordinates& there, const std::string& label) {
    const Judgement inner = judge(x.parts[0], there);
    const std::string line = fmt::format("{}: {}", label, inner.detail);
    if (inner.verdict == Verdict::Pass) ++holds;
    else if (inner.verdict == Verdict::Fail) ++fails;
    else ++unknown;
    if (inner.verdict == Verdict::Fail) first_fail += (first_fail.empty() ? "" : "; ") + line;
    all += (all.empty() ? "" : "; ") + line;
  });
  const std::size_t n = holds + fails + unknown;
  // At least `least` and at most `most` must hold; unknown ones may go either way.
  const std::size_t minimum = x.word == "all"     ? n
                              : x.word == "some"  ? 1
                              : x.word == "least" ? x.count
                                                  : 0;
  const std::size_t maximum = x.word == "none" ? 0 : x.word == "most" ? x.count : n;
  if (minimum > n) throw EvaluationError(fmt::format("asks for {} of {}", minimum, n));
  Verdict verdict = Verdict::NotRun;
  if (holds + unknown < minimum || holds > maximum) verdict = Verdict::Fail;
  else if (holds >= minimum && holds + unknown <= maximum) verdict = Verdict::Pass;
  const bool show_fails = x.word == "all" && fails > 0;
  return {verdict, fmt::format("{} of {}{}; {}", holds, n,
                               unknown > 0 ? fmt::format(" ({} not run)", unknown) : "",
                               show_fails ? first_fail : all)};
}

}  // namespace raddle::lab
