#include "raddle/lab/evaluate/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "raddle/lab/evaluate/layout.h"

namespace raddle::lab {

namespace {

Json json_of(const Number& number) { return number ? Json(*number) : Json(); }

Json json_of(const AxisValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

class Evaluation {
 public:
  Evaluation(const Experiment& e, const Grid& grid, const MetricSource& source,
             const OnMistake& on_mistake)
      : e_(e), grid_(grid), evaluator_(e, grid, source), on_mistake_(on_mistake) {}

  Json run() {
    Json out;
    out["figures"] = Json::array();
    for (const Figure& f : e_.figures) out["figures"].push_back(figure(f));
    out["shapes"] = Json::array();
    for (const ExpectedTrend& s : e_.trends) out["shapes"].push_back(shape(s));
    out["stated"] = Json::array();
    for (const ReportedValue& s : e_.reported) {
      out["stated"].push_back(stated(s));
      if (s.mark) mark(s, out["figures"]);
    }
    if (e_.counters) out["counters"] = counters(*e_.counters);
    out["status"] = status(out);
    return out;
  }

 private:
  /// The number, or a mistake that is told once and counts as missing.
  Number number(const Formula& formula, const Coordinates& where) {
    try {
      return evaluator_.number(formula, where);
    } catch (const EvaluationError& error) {
      mistake(formula, error);
      return std::nullopt;
    }
  }
  void mistake(const Formula& formula, const EvaluationError& error) {
    on_mistake_(formula.place,
                fmt::format("{}: {} (in \"{}\")", formula.key, error.what(), formula.text));
  }

  Json figure(const Figure& f) {
    if (f.type == FigureType::Tornado) return tornado(f);
    const Layout layout = lay_out(e_, f);
    Json x = Json::array();
    for (const Column& column : layout.columns)
      x.push_back(column.value && layout.scale != AxisScale::Category ? json_of(*column.value)
                                                                      : Json(column.label));
    Json series = Json::array();
    for (const SeriesPlan& s : layout.series) series.push_back(one_series(layout, s));
    return {{"title", f.title},
            {"type", kFigureTypeNames[static_cast<std::size_t>(f.type)]},
            {"x",
             {{"label", f.x_label},
              {"scale", kAxisScaleNames[static_cast<std::size_t>(layout.scale)]},
              {"values", std::move(x)}}},
            {"y", {{"label", f.y_label}, {"unit", f.y_unit}}},
            {"series", std::move(series)}};
  }

  /// From where to where a constant moves the value, and at which of its points.
  struct Reach {
    std::string label;
    Number minimum, maximum;
    std::string at_least, at_most;
    double span() const { return minimum && maximum ? *maximum - *minimum : -1; }
  };

  Reach reach(const Figure& f, const std::string& name) {
    const Axis& axis = e_.axes[*e_.find(name, NameKind::Axis)];
    Reach out{axis.unit.empty() ? axis.title : axis.title + " (" + axis.unit + ")", {}, {}, "", ""};
    std::vector<Number> values;
    try {
      values = evaluator_.along(*f.value, name, grid_.unset());
    } catch (const EvaluationError& error) {
      mistake(*f.value, error);
    }
    for (std::size_t p = 0; p < values.size(); ++p) {
      if (!values[p]) continue;
      const std::string at = shown(axis.points[p].value);
      if (!out.minimum || *values[p] < *out.minimum) {
        out.minimum = values[p];
        out.at_least = at;
      }
      if (!out.maximum || *values[p] > *out.maximum) {
        out.maximum = values[p];
        out.at_most = at;
      }
    }
    return out;
  }

  /// The widest first.
  Json tornado(const Figure& f) {
    RADDLE_ASSERT(f.value.has_value());
    const Number base = number(*f.value, grid_.unset());
    std::vector<Reach> all;
    for (const std::string& name : f.x) all.push_back(reach(f, name));
    std::ranges::sort(all, {}, [](const Reach& one) { return std::pair(-one.span(), one.label); });
    Json x = Json::array();
    Json minimum = {{"name", "least"}, {"values", Json::array()}, {"at", Json::array()}};
    Json declared = {{"name", "as declared"}, {"values", Json::array()}};
    Json maximum = {{"name", "most"}, {"values", Json::array()}, {"at", Json::array()}};
    for (const Reach& one : all) {
      x.push_back(one.label);
      minimum["values"].push_back(json_of(one.minimum));
      minimum["at"].push_back(one.at_least);
      declared["values"].push_back(json_of(base));
      maximum["values"].push_back(json_of(one.maximum));
      maximum["at"].push_back(one.at_most);
    }
    return {{"title", f.title},
            {"type", "tornado"},
            {"x", {{"label", f.x_label}, {"scale", "category"}, {"values", std::move(x)}}},
            {"y", {{"label", f.y_label}, {"unit", f.y_unit}}},
            {"series", {std::move(minimum), std::move(declared), std::move(maximum)}}};
  }

  Json one_series(const Layout& layout, const SeriesPlan& s) {
    Json values = Json::array();
    Coordinates start = grid_.unset();
    for (const Step& step : s.steps) apply(step, start);
    std::vector<Coordinates> plain;  // the columns that are no means
    for (const Column& column : layout.columns) {
      if (!column.mean.empty()) {
        values.push_back(mean(column, *s.value, start, plain));
        continue;
      }
      Coordinates where = start;
      apply(column.step, where);
      plain.push_back(where);
      values.push_back(json_of(number(*s.value, where)));
    }
    RADDLE_ASSERT(values.size() == layout.columns.size());  // columns of a series
    Json out = {{"name", s.label}, {"values", std::move(values)}};
    if (!s.stack.empty()) out["stack"] = s.stack;
    return out;
  }

  Json mean(const Column& column, const Formula& value, const Coordinates& start,
            const std::vector<Coordinates>& plain) {
    std::vector<Coordinates> places;
    for (const Step& step : column.over) {
      places.push_back(start);
      apply(step, places.back());
    }
    try {
      return json_of(evaluator_.mean(column.mean, value, column.over.empty() ? plain : places));
    } catch (const EvaluationError& error) {
      mistake(value, error);
      return nullptr;
    }
  }

  Judgement judged(const ExpectedTrend& trend) {
    try {
      return evaluator_.judge(trend);
    } catch (const EvaluationError& error) {
      mistake(trend.check, error);
    }
    return {Verdict::NotRun, ""};
  }

  Json shape(const ExpectedTrend& s) {
    const Judgement found = judged(s);
    Json out = {{"statement", s.check.text},
                {"text", s.text},
                {"verdict", verdict_name(found.verdict)},
                {"detail", found.detail}};
    if (!s.bound) return out;
    const Judgement bound = judged({s.bound->text, s.bound->check, s.of, 0, std::nullopt});
    if (found.verdict == Verdict::Fail && bound.verdict == Verdict::Pass) out["verdict"] = kRefuted;
    out["bound"] = {{"statement", s.bound->check.text},
                    {"text", s.bound->text},
                    {"assumes", s.bound->assumptions},
                    {"verdict", verdict_name(bound.verdict)},
                    {"detail", bound.detail}};
    return out;
  }

  Json stated(const ReportedValue& s) {
    const Number ours = number(s.value, grid_.unset());
    // A sum that is exact on paper may miss it by a rounding error.
    RADDLE_ASSERT(s.low <= s.high);
    const double slack = 1e-9 * std::max(std::abs(s.low), std::abs(s.high));
    const bool within = ours && *ours >= s.low - slack && *ours <= s.high + slack;
    Json out = {{"what", s.what},
                {"paper", s.paper},
                {"ours", json_of(ours)},
                {"bounds", {s.low, s.high}},
                {"within", within}};
    if (s.bound) add_bound(*s.bound, s, ours, out);
    return out;
  }

  /// A bound that a run of ours exceeds is none; one that leaves room for the paper's number
  /// refutes nothing.
  void add_bound(const NumberBound& bound, const ReportedValue& s, const Number& ours, Json& out) {
    const Number limit = number(bound.value, grid_.unset());
    const auto beyond = [&](double value) {
      return limit && (bound.is_upper ? value > *limit : value < *limit);
    };
    const bool exceeded = ours && beyond(*ours);
    out["bound"] = {{"value", json_of(limit)},
                    {"is", bound.is_upper ? "at_most" : "at_least"},
                    {"text", bound.text},
                    {"assumes", bound.assumptions},
                    {"exceeded", exceeded}};
    out["refuted"] = ours && out["within"] == false && beyond(s.paper) && !exceeded;
  }

  /// Puts the paper's number beside ours.
  void mark(const ReportedValue& s, Json& figures) {
    RADDLE_ASSERT(s.mark->figure < e_.figures.size());
    const Layout layout = lay_out(e_, e_.figures[s.mark->figure]);
    const auto column = std::ranges::find_if(layout.columns, [&](const Column& c) {
      return c.name == s.mark->x || c.label == s.mark->x;
    });
    const auto series = std::ranges::find_if(layout.series, [&](const SeriesPlan& p) {
      return p.name == s.mark->series || p.label == s.mark->series;
    });
    if (column == layout.columns.end())
      on_mistake_(s.place, fmt::format("stated.mark.x: figure {} has no column '{}'",
                                       s.mark->figure + 1, s.mark->x));
    if (series == layout.series.end())
      on_mistake_(s.place, fmt::format("stated.mark.series: figure {} has no series '{}'",
                                       s.mark->figure + 1, s.mark->series));
    if (column == layout.columns.end() || series == layout.series.end()) return;
    Json& drawn =
        figures[s.mark->figure]["series"][static_cast<std::size_t>(series - layout.series.begin())];
    if (!drawn.contains("stated"))
      drawn["stated"] = Json(std::vector<Json>(layout.columns.size(), nullptr));
    drawn["stated"][static_cast<std::size_t>(column - layout.columns.begin())] = s.paper;
  }

  Json counters(const CounterTable& table) {
    Json columns = {"workload", "variant"}, rows = Json::array();
    std::vector<std::string> unknown(table.columns.size());
    std::vector<bool> known(table.columns.size(), false);
    for (const std::string& name : table.columns) {
      const Measure& measure = e_.measures[*e_.find(name, NameKind::Measure)];
      columns.push_back(measure.unit.empty() ? measure.title
                                             : fmt::format("{} ({})", measure.title, measure.unit));
    }
    for (const std::size_t workload : table.workloads)
      for (const std::size_t variant : table.variants) {
        Json row = {e_.workloads[workload].title, e_.variants[variant].title};
        Coordinates where = grid_.unset();
        where.workload = static_cast<int>(workload);
        where.variant = static_cast<int>(variant);
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
          const Formula& value = e_.measures[*e_.find(table.columns[i], NameKind::Measure)].value;
          Json cell;
          try {
            cell = json_of(evaluator_.number(value, where));
            known[i] = true;
          } catch (const UnknownMetric& error) {  // of another policy
            unknown[i] = error.what();
          } catch (const EvaluationError& error) {
            mistake(value, error);
            known[i] = true;
          }
          row.push_back(std::move(cell));
        }
        rows.push_back(std::move(row));
      }
    for (std::size_t i = 0; i < known.size(); ++i)
      if (!known[i])
        on_mistake_(table.place,
                    fmt::format("counters.columns: '{}': {}", table.columns[i], unknown[i]));
    return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
  }

  std::string status(const Json& out) const {
    bool fails = false, unknown = false, refuted = false;
    for (const Json& s : out["shapes"]) {
      fails |= s["verdict"] == "fail";
      refuted |= s["verdict"] == kRefuted;
      unknown |= s["verdict"] == "not_run";
    }
    for (const Json& s : out["stated"]) {
      const bool is_refuted = s.value("refuted", false);
      unknown |= s["ours"].is_null();
      refuted |= is_refuted;
      fails |= !s["ours"].is_null() && s["within"] == false && !is_refuted;
    }
    const bool none = e_.trends.empty() && e_.reported.empty() && e_.tested_by.empty();
    if (none || !e_.replaced.empty()) return kNoVerdict;
    if (fails) return "fail";
    if (unknown) return "incomplete";
    if (refuted) return kRefuted;
    return e_.trends.empty() && e_.reported.empty() ? "tested_elsewhere" : "pass";
  }

  const Experiment& e_;
  const Grid& grid_;
  Evaluator evaluator_;
  const OnMistake& on_mistake_;
};

}  // namespace

Json evaluate(const Experiment& e, const Grid& grid, const MetricSource& source,
              const OnMistake& on_mistake) {
  return Evaluation(e, grid, source, on_mistake).run();
}

}  // namespace raddle::lab
