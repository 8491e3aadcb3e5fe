#include "raddle/lab/file/experiment_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "raddle/base/types.h"
#include "raddle/lab/file/names.h"
#include "raddle/lab/file/placeholders.h"
#include "raddle/lab/file/short_form.h"

namespace raddle::lab {

namespace {

constexpr double kMaxCells = 100'000;
constexpr std::array<std::string_view, 2> kBoundNames = {"at_most", "at_least"};
constexpr std::array<std::string_view, 3> kMeans = {"hmean", "gmean", "amean"};
constexpr std::array<std::string_view, 3> kMeanLabels = {"HMEAN", "GMEAN", "MEAN"};

/// Bounds where the file gives none (targets: averages within 0.5 to 1.6 of the improvement).
void default_bounds(ReportedValue& value, std::uint64_t digits) {
  constexpr double kLowShare = 0.5, kHighShare = 1.6;
  if (value.comparison == ComparisonMode::Exact) {
    const double half = 0.5 * std::pow(10.0, -static_cast<double>(digits));
    value.low = value.paper - half;
    value.high = value.paper + half;
    return;
  }
  const double from = value.comparison == ComparisonMode::Ratio ? 1 : 0;
  const double change = value.paper - from;
  std::tie(value.low, value.high) =
      std::minmax({from + kLowShare * change, from + kHighShare * change});
  // 1.6 times a slow-down by more than 62.5 % would be a speed-up below zero, which there is not.
  if (value.comparison == ComparisonMode::Ratio && value.paper > 0)
    value.low = std::max(value.low, 0.0);
}

/// The parts of an experiment's own file that use names.
class Body {
 public:
  /// `alone`: without a paper.toml; then what it does not define, names define (short_form.h).
  Body(Section& file, Experiment& e, Scale scale, bool alone)
      : file_(file),
        e_(e),
        problems_(file.problems()),
        scale_(scale),
        alone_(alone),
        free_workloads_(alone && e.workloads.empty()),
        free_variants_(alone && e.variants.empty()) {}

  void read() {
    read_all(file_, "runs", e_.runs, &Body::run_block);
    read_all(file_, "figures", e_.figures, &Body::figure);
    if (alone_ && e_.figures.empty() && problems_.empty()) figures_by_default();
    read_all(file_, "stated", e_.reported, &Body::stated);
    read_all(file_, "shapes", e_.trends, &Body::shape);
    if (auto section = file_.section("counters")) e_.counters = counters(*section);
    tested_by();
    if (!alone_ && e_.trends.empty() && e_.reported.empty() && e_.tested_by.empty())
      problems_.add(file_.place(),
                    "expected at least one of [[shapes]], [[stated]] and tested_by, found none: "
                    "the row would have no verdict");
    // Where a name in braces leads nowhere, a member to no workload, the grid would be lost.
    check_derived(e_, problems_);
    file_.check({{!e_.runs.empty() && e_.gpu.text.empty(), "gpu",
                  "expected a machine from `raddle list gpus`, found nothing"}});
  }

 private:
  template <class T>
  void read_all(Section& file, std::string_view key, std::vector<T>& out,
                T (Body::*read)(Section&)) {
    for (Section& section : file.sections(key)) {
      out.push_back((this->*read)(section));
      section.finish();
    }
  }

  void figures_by_default() {
    const std::string text = default_figures(e_);
    if (text.empty()) return;
    const config::Tree tree = config::Tree::from_toml(text, e_.place.file);
    Section own(tree.root(), "", problems_);
    read_all(own, "figures", e_.figures, &Body::figure);
  }

  void tested_by() {
    for (PlacedText& test : file_.texts("tested_by")) {
      const std::size_t colon = test.text.find(": ");
      if (colon == std::string::npos || test.text.find('.', colon) == std::string::npos)
        problems_.add(
            test.place,
            fmt::format("tested_by: expected \"FILE: Suite.Test\", found \"{}\"", test.text));
      e_.tested_by.push_back(std::move(test.text));
    }
  }

  std::optional<Formula> checked(std::optional<Formula> formula, bool of = false) {
    if (formula) check_names(e_, *formula, of, problems_);
    return formula;
  }

  // --- names ---

  /// Names of one kind as positions.
  std::vector<std::size_t> names(Section& section, std::string_view key, NameKind kind) {
    std::vector<std::size_t> out;
    for (const PlacedText& text : section.texts(key)) {
      const auto found = find_or_define(text, kind);
      if (!found) continue;
      if (found->empty())
        check_named(
            e_, text, section.key_path(key),
            fmt::format("a {}{}", kind_name(kind), kind == NameKind::Workload ? " or group" : ""),
            {kind, NameKind::Group}, problems_);
      for (const std::size_t i : *found)
        if (std::ranges::find(out, i) == out.end()) out.push_back(i);
    }
    return out;
  }
  std::vector<std::size_t> needed_names(Section& section, std::string_view key, NameKind kind) {
    if (section.texts(key).empty())
      section.fail(key, fmt::format("expected a list of {}s, found nothing", kind_name(kind)));
    return names(section, key, kind);
  }

  /// Also what the file leaves out, because the name says it. Nothing when that was wrong and has
  /// been reported.
  std::optional<std::vector<std::size_t>> find_or_define(const PlacedText& text, NameKind kind) {
    const auto of = std::pair(kind, text.text);
    if (const auto at = defined_.find(of); at != defined_.end()) return std::vector{at->second};
    std::vector<std::size_t> found = find(text.text, kind);
    if (!found.empty()) return found;
    try {
      if (kind == NameKind::Workload && free_workloads_)
        found = {define_workload(e_, text, scale_)};
      else if (kind == NameKind::Variant && free_variants_) found = {define_variant(e_, text)};
      else if (kind == NameKind::Axis && alone_ && text.text.find('=') != std::string::npos)
        found = {define_axis(e_, text)};
    } catch (const InputError& error) {
      problems_.add(text.place, error.diagnostics().front().message);
      return std::nullopt;
    }
    if (!found.empty()) defined_[of] = found.front();
    return found;
  }
  std::vector<std::size_t> find(const std::string& name, NameKind kind) const {
    if (kind == NameKind::Workload) return e_.workloads_of(name);
    const auto one = e_.find(name, kind);
    return one ? std::vector{*one} : std::vector<std::size_t>();
  }

  // --- runs ---

  RunBlock run_block(Section& section) {
    RunBlock out;
    out.place = section.place();
    out.workloads = needed_names(section, "workloads", NameKind::Workload);
    out.variants = needed_names(section, "variants", NameKind::Variant);
    for (const std::size_t v : out.variants)
      if (const Variant& variant = e_.variants[v]; variant.selection)
        section.fail("variants", fmt::format("'{}' is a selection and has no runs of its own; name "
                                             "'{}' with the axes that are searched",
                                             variant.name, variant.selection->best_of));
    out.axes = names(section, "axes", NameKind::Axis);
    for (const PlacedText& analysis : section.texts("analyses")) {
      if (!e_.analyses.contains(analysis.text))
        problems_.add(analysis.place,
                      fmt::format("{}: expected an analysis of [analyses], found \"{}\"",
                                  section.key_path("analyses"), analysis.text));
      else out.analyses.push_back(analysis.text);
    }
    check_corun(section, out);
    out.where = checked(section.formula("where", true));
    double cells = static_cast<double>(out.workloads.size() * out.variants.size());
    for (const std::size_t a : out.axes) cells *= static_cast<double>(e_.axes[a].points.size());
    if (cells > kMaxCells) {
      section.fail("axes",
                   fmt::format("expected at most {:.0f} cells, found {:.0f}", kMaxCells, cells));
      out.axes.clear();
    }
    return out;
  }

  void check_corun(Section& section, const RunBlock& block) {
    section.check({{e_.corun && !block.analyses.empty(), "analyses",
                    "expected none with [corun]: they look at a program that runs once"}});
    for (const std::size_t w : block.workloads) {
      const Workload& workload = e_.workloads[w];
      if (workload.members.empty()) continue;
      if (!e_.corun)
        section.fail("workloads", fmt::format("'{}' has members, which share the GPU up to a "
                                              "horizon: expected [corun], found none",
                                              workload.name));
      for (const std::string& member : workload.members)
        if (const auto found = e_.find(member, NameKind::Workload);
            found && !e_.workloads[*found].set.empty())
          section.fail("workloads",
                       fmt::format("'{}' sets the machine for its program, and in '{}' "
                                   "others share that machine",
                                   member, workload.name));
      for (const std::size_t a : block.axes)
        if (std::ranges::any_of(e_.axes[a].points,
                                [](const AxisPoint& p) { return !p.parameters.empty(); }))
          section.fail("axes", fmt::format("'{}' sweeps a parameter of the workload, and '{}' has "
                                           "several",
                                           e_.axes[a].name, workload.name));
    }
  }

  // --- figures ---

  Figure figure(Section& section) {
    Figure out;
    out.place = section.place();
    out.title = section.needed_text("title");
    if (section.needs("type", "bars, lines, stacked, table or tornado"))
      out.type = static_cast<FigureType>(section.choice("type", kFigureTypeNames).value_or(0));
    read_x(section, out);
    if (auto y = section.section("y")) {
      out.y_label = y->text("label", "");
      out.y_unit = y->text("unit", "");
      y->finish();
    }
    out.value = checked(section.formula("value"));
    out.series = series(section, "series", true);
    out.transactions = series(section, "pieces", false);
    check_parts(section, out);
    return out;
  }

  /// A list whose items are texts or tables with `name` and `value`.
  std::vector<Figure::Series> series(Section& section, std::string_view key, bool names_too) {
    std::vector<Figure::Series> out;
    std::size_t at = 0;
    for (const config::Node& item : section.items(key)) {
      const auto* text = std::get_if<std::string>(&item.value);
      if (item.table() != nullptr) {
        Section own = section.item(key, at, item);
        Figure::Series one{own.needed_text("name"), std::nullopt, item.place};
        one.value = checked(own.needed_formula("value"));
        own.finish();
        out.push_back(std::move(one));
      } else if (text == nullptr || !names_too) {
        section.wrong(
            key, item,
            names_too ? "a name, or a table with name and value" : "a table with name and value");
      } else if (check_named(
                     e_, {*text, item.place}, section.key_path(key),
                     "a variant, workload, group or axis",
                     {NameKind::Variant, NameKind::Workload, NameKind::Group, NameKind::Axis},
                     problems_)) {
        out.push_back({*text, std::nullopt, item.place});
      }
      ++at;
    }
    std::set<std::string> seen;
    for (const Figure::Series& one : out)
      if (!seen.insert(one.name).second)
        problems_.add(one.place,
                      fmt::format("{}: \"{}\" is there twice", section.key_path(key), one.name));
    return out;
  }

  std::string label_of_axis(const std::string& name) const {
    const Axis& axis = e_.axes[*e_.find(name, NameKind::Axis)];
    return axis.unit.empty() ? axis.title : axis.title + " (" + axis.unit + ")";
  }

  void read_x(Section& section, Figure& figure) {
    bool workloads = true;
    std::size_t axes = 0;
    for (const PlacedText& text : section.texts("x")) {
      check_named(e_, text, section.key_path("x"), "a group, workload, axis or variant",
                  {NameKind::Workload, NameKind::Group, NameKind::Axis, NameKind::Variant},
                  problems_);
      workloads &= !e_.workloads_of(text.text).empty();
      axes += e_.find(text.text, NameKind::Axis) ? 1 : 0;
      figure.x.push_back(text.text);
    }
    const bool tornado = figure.type == FigureType::Tornado;
    figure.x_label =
        section.text("x_label", axes == 1 && !tornado ? label_of_axis(figure.x[0]) : "");
    read_means(section, figure);
    const bool over_x =
        std::ranges::any_of(figure.means, [](const auto& mean) { return mean.over.empty(); });
    section.check(
        {{tornado && (axes == 0 || axes < figure.x.size()), "x",
          "expected axes, one for each bar of the tornado"},
         {!tornado && axes > 0 && figure.x.size() > 1, "x",
          "expected one axis alone, or workloads and variants"},
         {figure.x.empty() && figure.means.empty(), "x", "expected what is along x, found nothing"},
         {over_x && (!workloads || figure.x.empty()), "means",
          "expected workloads along x, to take the mean over them"},
         {axes > 0 && !figure.means.empty(), "means",
          "expected workloads or variants along x, found an axis"}});
  }

  void read_means(Section& section, Figure& figure) {
    std::size_t at = 0;
    for (const config::Node& item : section.items("means")) {
      const auto* text = std::get_if<std::string>(&item.value);
      const auto known = text == nullptr ? kMeans.end() : std::ranges::find(kMeans, *text);
      if (item.table() != nullptr) {
        Section own = section.item("means", at, item);
        figure.means.push_back(mean(own));
        own.finish();
      } else if (known != kMeans.end()) {
        figure.means.push_back(
            {std::string(kMeanLabels[static_cast<std::size_t>(known - kMeans.begin())]), *text,
             ""});
      } else {
        section.wrong("means", item, "hmean, gmean, amean or a table with mean and over");
      }
      ++at;
    }
  }

  Figure::Mean mean(Section& section) {
    Figure::Mean out;
    if (section.needs("mean", "hmean, gmean or amean"))
      out.mean = kMeans[section.choice("mean", kMeans).value_or(0)];
    out.over = section.needed_text("over");
    out.name = section.text("name", out.over);
    if (!out.over.empty() && e_.workloads_of(out.over).empty())
      section.fail("over", fmt::format("expected a group, found \"{}\"{}", out.over,
                                       known_names(e_, out.over, {NameKind::Group})));
    return out;
  }

  void check_parts(Section& section, const Figure& figure) {
    const bool stacked = figure.type == FigureType::Stacked;
    const bool own_values =
        !figure.series.empty() &&
        std::ranges::all_of(figure.series, [](const auto& one) { return one.value.has_value(); });
    section.check(
        {{figure.type == FigureType::Tornado && !figure.series.empty(), "series",
          "a tornado has a bar for each axis along x, and no series"},
         {stacked && figure.transactions.empty(), "pieces",
          "expected the parts of each bar, as the type is stacked"},
         {!stacked && !figure.transactions.empty(), "pieces", "only a stacked figure has pieces"},
         {stacked && figure.value.has_value(), "value",
          "a stacked figure has a value in each of its pieces instead"},
         {!stacked && !own_values && !section.has("value"), "value",
          "expected an expression, as not every series has its own"}});
    if (!stacked) return;
    for (const Figure::Series& one : figure.series)
      if (one.value)
        problems_.add(one.place, section.key_path("series") +
                                     ": series of a stacked figure are names; expressions are its "
                                     "pieces");
  }

  // --- statements ---

  ReportedValue stated(Section& section) {
    ReportedValue out;
    out.place = section.place();
    out.what = section.needed_text("what");
    if (auto value = checked(section.needed_formula("value"))) out.value = std::move(*value);
    std::optional<double> paper;
    if (section.needs("paper", "the paper's number")) paper = section.number("paper");
    out.paper = paper.value_or(1);
    if (const auto reading = section.choice("reading", kComparisonModeNames))
      out.comparison = static_cast<ComparisonMode>(*reading);
    const bool exact = out.comparison == ComparisonMode::Exact;
    const auto digits = section.whole("digits", {0, 12});
    section.check(
        {{digits && !exact, "digits", "only reading = \"exact\" has digits"},
         {out.comparison == ComparisonMode::Ratio && out.paper <= 0, "paper",
          "expected a ratio above 0; a number that is none has reading = \"value\""},
         {section.has("bounds") && exact, "bounds", "reading = \"exact\" has digits instead"}});
    default_bounds(out, digits.value_or(0));
    bounds(section, out, paper && (out.comparison != ComparisonMode::Ratio || *paper > 0));
    if (auto mark = section.section("mark")) out.mark = read_mark(*mark);
    if (auto bound = section.section("bound")) out.bound = number_bound(*bound);
    return out;
  }

  NumberBound number_bound(Section& section) {
    NumberBound out;
    if (auto value = checked(section.needed_formula("value"))) out.value = std::move(*value);
    const auto is = section.choice("is", kBoundNames);
    section.check({{!is, "is", "expected at_most or at_least, found nothing"}});
    out.is_upper = is.value_or(0) == 0;
    out.text = section.needed_text("text");
    out.assumptions = section.text("assumes", "");
    section.finish();
    return out;
  }

  TrendBound trend_bound(Section& section, bool has_of) {
    TrendBound out;
    if (auto check = checked(section.needed_formula("check", true), has_of))
      out.check = std::move(*check);
    out.text = section.needed_text("text");
    out.assumptions = section.text("assumes", "");
    section.finish();
    return out;
  }

  /// `known`: it has the paper's number, and that is one of its reading.
  void bounds(Section& section, ReportedValue& out, bool known) {
    const config::Node* node = section.take("bounds");
    if (node == nullptr) {
      const bool ratio = out.comparison == ComparisonMode::Ratio;
      section.check({{known && out.low == out.high, "bounds",
                      ratio ? "expected [low, high]: a ratio of 1 has no improvement to bound"
                            : "expected [low, high]: of a value of 0 a share says nothing"}});
      return;
    }
    std::vector<std::optional<double>> ends;
    if (node->list() != nullptr)
      std::ranges::transform(*node->list(), std::back_inserter(ends), number_of);
    if (ends.size() != 2 || !ends[0] || !ends[1] || !(*ends[0] <= *ends[1])) {
      section.wrong("bounds", *node, "[low, high] with low <= high");
      return;
    }
    out.low = *ends[0];
    out.high = *ends[1];
  }

  ReportedValue::Milestone read_mark(Section& section) {
    ReportedValue::Milestone out;
    out.figure = section.whole("figure", {1, 99}).value_or(1) - 1;
    if (out.figure >= e_.figures.size())
      section.fail("figure",
                   fmt::format("expected one of the file's {} figures", e_.figures.size()));
    else if (e_.figures[out.figure].type == FigureType::Tornado)
      section.fail("figure", "a tornado takes no marks");
    out.series = section.needed_text("series");
    out.x = section.needed_text("x");
    section.finish();
    return out;
  }

  ExpectedTrend shape(Section& section) {
    ExpectedTrend out;
    out.of = checked(section.formula("of"));
    if (auto check = checked(section.needed_formula("check", true), out.of.has_value()))
      out.check = std::move(*check);
    out.text = section.text("text", out.check.text);
    out.tolerance = section.number("tolerance", {0, 1}).value_or(0);
    if (auto bound = section.section("bound")) out.bound = trend_bound(*bound, out.of.has_value());
    return out;
  }

  CounterTable counters(Section& section) {
    CounterTable out;
    out.place = section.place();
    for (const PlacedText& column : section.texts("columns")) {
      check_named(e_, column, "counters.columns", "a measure", {NameKind::Measure}, problems_);
      out.columns.push_back(column.text);
    }
    section.check({{out.columns.empty(), "columns", "expected a list of measures, found nothing"}});
    out.workloads = needed_names(section, "workloads", NameKind::Workload);
    out.variants = needed_names(section, "variants", NameKind::Variant);
    section.finish();
    return out;
  }

  Section& file_;
  Experiment& e_;
  Problems& problems_;
  Scale scale_;
  bool alone_, free_workloads_, free_variants_;
  std::map<std::pair<NameKind, std::string>, std::size_t> defined_;  ///< from texts
};

}  // namespace

void read_body(Section& file, Scale scale, bool alone, Experiment& e) {
  Body(file, e, scale, alone).read();
}

}  // namespace raddle::lab
