#include "raddle/lab/file/experiment_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "raddle/base/types.h"
#include "raddle/lab/file/names.h"
#include "raddle/lab/file/placeholders.h"
#include "raddle/lab/file/short_form.h"

namespace raddle::lab {

namespace {

/// Bounds where the file gives none (targets: averages within 0.5 to 1.6 of the improvement).
void default_bounds(Stated& stated, std::uint64_t digits) {
  constexpr double kLeast = 0.5, kMost = 1.6;
  if (stated.reading == Reading::Exact) {
    const double half = 0.5 * std::pow(10.0, -static_cast<double>(digits));
    stated.low = stated.paper - half, stated.high = stated.paper + half;
    return;
  }
  const double from = stated.reading == Reading::Ratio ? 1 : 0, change = stated.paper - from;
  stated.low = from + kLeast * change, stated.high = from + kMost * change;
  if (stated.low > stated.high) std::swap(stated.low, stated.high);
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
    for (Section& block : file_.sections("runs")) e_.runs.push_back(run_block(block));
    for (Section& section : file_.sections("figures")) e_.figures.push_back(figure(section));
    if (alone_ && e_.figures.empty() && problems_.empty()) figures_by_default();
    for (Section& section : file_.sections("stated")) e_.stated.push_back(stated(section));
    for (Section& section : file_.sections("shapes")) e_.shapes.push_back(shape(section));
    if (auto section = file_.section("counters")) counters(*section);
    for (PlacedText& test : file_.texts("tested_by")) {
      const std::size_t colon = test.text.find(": ");
      if (colon == std::string::npos || test.text.find('.', colon) == std::string::npos)
        problems_.add(test.place, fmt::format("tested_by: expected \"FILE: Suite.Test\", found "
                                              "\"{}\"",
                                              test.text));
      e_.tested_by.push_back(std::move(test.text));
    }
    if (!alone_ && e_.shapes.empty() && e_.stated.empty() && e_.tested_by.empty())
      problems_.add(file_.place(),
                    "expected at least one of [[shapes]], [[stated]] and tested_by, found none: "
                    "the row would have no verdict");
    // Where a name in braces leads nowhere, a member to no workload, the grid would be lost.
    check_derived(e_, problems_);
    if (!e_.runs.empty() && e_.gpu.text.empty())
      file_.fail("gpu", "expected a machine from `raddle list gpus`, found nothing");
  }

 private:
  void figures_by_default() {
    const std::string text = default_figures(e_);
    if (text.empty()) return;
    const config::Tree tree = config::Tree::from_toml(text, e_.place.file);
    Section own(tree.root(), "", problems_);
    for (Section& section : own.sections("figures")) e_.figures.push_back(figure(section));
  }

  /// Names of one kind as positions.
  std::vector<std::size_t> names(Section& section, std::string_view key, NameKind kind,
                                 bool needed) {
    std::vector<std::size_t> out;
    const std::vector<PlacedText> texts = section.texts(key);
    for (const PlacedText& text : texts) {
      const auto found = find_or_define(text, kind);
      if (!found) continue;
      if (found->empty())
        problems_.add(text.place,
                      fmt::format("{}: expected a {}{}, found \"{}\"{}", section.key_path(key),
                                  kind_name(kind), kind == NameKind::Workload ? " or group" : "",
                                  text.text, known_names(e_, text.text, {kind, NameKind::Group})));
      for (const std::size_t i : *found)
        if (std::ranges::find(out, i) == out.end()) out.push_back(i);
    }
    if (needed && texts.empty())
      section.fail(key, fmt::format("expected a list of {}s, found nothing", kind_name(kind)));
    return out;
  }
  /// Also what the file leaves out, because the name says it. Nothing when that was wrong and has
  /// been told.
  std::optional<std::vector<std::size_t>> find_or_define(const PlacedText& text, NameKind kind) {
    const std::string of = fmt::format("{}:{}", static_cast<int>(kind), text.text);
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

  RunBlock run_block(Section& section) {
    RunBlock out;
    out.place = section.place();
    out.workloads = names(section, "workloads", NameKind::Workload, true);
    out.variants = names(section, "variants", NameKind::Variant, true);
    for (const std::size_t v : out.variants)
      if (e_.variants[v].selection)
        section.fail("variants",
                     fmt::format("'{}' is a selection and has no runs of its own; name "
                                 "'{}' with the axes that are searched",
                                 e_.variants[v].name, e_.variants[v].selection->best_of));
    out.axes = names(section, "axes", NameKind::Axis, false);
    for (const PlacedText& analysis : section.texts("analyses")) {
      if (!e_.analyses.contains(analysis.text))
        problems_.add(analysis.place, fmt::format("{}: expected an analysis of [analyses], found "
                                                  "\"{}\"",
                                                  section.key_path("analyses"), analysis.text));
      else out.analyses.push_back(analysis.text);
    }
    check_corun(section, out);
    out.where = section.formula("where", true);
    if (out.where) check_names(e_, *out.where, false, problems_);
    constexpr double kMostCells = 100'000;
    double cells = static_cast<double>(out.workloads.size() * out.variants.size());
    for (const std::size_t a : out.axes) cells *= static_cast<double>(e_.axes[a].points.size());
    if (cells > kMostCells) {
      section.fail("axes",
                   fmt::format("expected at most {:.0f} cells, found {:.0f}", kMostCells, cells));
      out.axes.clear();
    }
    section.finish();
    return out;
  }

  void check_corun(Section& section, const RunBlock& block) {
    if (e_.corun && !block.analyses.empty())
      section.fail("analyses", "expected none with [corun]: they look at a program that runs once");
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

  /// A list whose items are texts or tables with `name` and `value`.
  std::vector<Figure::Series> series(Section& section, std::string_view key, bool names_too) {
    std::vector<Figure::Series> out;
    const config::Node* node = section.take(key);
    if (node == nullptr) return out;
    if (node->list() == nullptr) {
      section.wrong(key, *node, "a list");
      return out;
    }
    for (std::size_t i = 0; i < node->list()->size(); ++i) {
      const config::Node& item = (*node->list())[i];
      if (item.table() != nullptr) {
        Section own(item, section.key_path(fmt::format("{}[{}]", key, i)), problems_);
        Figure::Series one{own.needed_text("name"), std::nullopt, item.place};
        if (!own.has("value")) own.fail("value", "expected an expression, found nothing");
        one.value = own.formula("value");
        own.finish();
        if (one.value) check_names(e_, *one.value, false, problems_);
        out.push_back(std::move(one));
      } else if (const auto* text = std::get_if<std::string>(&item.value); text && names_too) {
        if (e_.workloads_of(*text).empty() && !e_.find(*text, NameKind::Variant) &&
            !e_.find(*text, NameKind::Axis))
          section.wrong(key, item,
                        "a variant, workload, group or axis" +
                            known_names(e_, *text,
                                        {NameKind::Variant, NameKind::Workload, NameKind::Group,
                                         NameKind::Axis}) +
                            " -");
        else out.push_back({*text, std::nullopt, item.place});
      } else {
        section.wrong(
            key, item,
            names_too ? "a name, or a table with name and value" : "a table with name and value");
      }
    }
    for (std::size_t i = 0; i < out.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (out[i].name == out[j].name)
          problems_.add(out[i].place, fmt::format("{}: \"{}\" is there twice",
                                                  section.key_path(key), out[i].name));
    return out;
  }

  Figure figure(Section& section) {
    Figure out;
    out.place = section.place();
    out.title = section.needed_text("title");
    if (const auto type = section.choice("type", kFigureTypeNames))
      out.type = static_cast<FigureType>(*type);
    else if (!section.has("type"))
      section.fail("type", "expected bars, lines, stacked, table or tornado");
    read_x(section, out);
    if (auto y = section.section("y")) {
      out.y_label = y->text("label", ""), out.y_unit = y->text("unit", "");
      y->finish();
    }
    out.value = section.formula("value");
    if (out.value) check_names(e_, *out.value, false, problems_);
    out.series = series(section, "series", true);
    out.pieces = series(section, "pieces", false);
    check_parts(section, out);
    section.finish();
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
      const Symbol* symbol = e_.find(text.text);
      const bool is_workload = !e_.workloads_of(text.text).empty();
      const bool is_axis = symbol != nullptr && symbol->kind == NameKind::Axis;
      if (!is_workload && !is_axis && !e_.find(text.text, NameKind::Variant))
        problems_.add(text.place,
                      fmt::format("{}: expected a group, workload, axis or variant, found \"{}\"{}",
                                  section.key_path("x"), text.text,
                                  known_names(e_, text.text,
                                              {NameKind::Workload, NameKind::Group, NameKind::Axis,
                                               NameKind::Variant})));
      workloads &= is_workload;
      axes += is_axis;
      figure.x.push_back(text.text);
    }
    const bool tornado = figure.type == FigureType::Tornado;
    if (tornado && (axes == 0 || axes < figure.x.size()))
      section.fail("x", "expected axes, one for each bar of the tornado");
    if (!tornado && axes > 0 && figure.x.size() > 1)
      section.fail("x", "expected one axis alone, or workloads and variants");
    figure.x_label =
        section.text("x_label", axes == 1 && !tornado ? label_of_axis(figure.x[0]) : "");
    read_means(section, figure);
    if (figure.x.empty() && figure.means.empty())
      section.fail("x", "expected what is along x, found nothing");
    const bool over_x =
        std::ranges::any_of(figure.means, [](const auto& m) { return m.over.empty(); });
    if (over_x && (!workloads || figure.x.empty()))
      section.fail("means", "expected workloads along x, to take the mean over them");
    if (axes > 0 && !figure.means.empty())
      section.fail("means", "expected workloads or variants along x, found an axis");
  }

  void read_means(Section& section, Figure& figure) {
    constexpr std::array<std::string_view, 3> kMeans = {"hmean", "gmean", "amean"};
    const config::Node* node = section.take("means");
    if (node == nullptr) return;
    if (node->list() == nullptr) {
      section.wrong("means", *node, "a list");
      return;
    }
    for (std::size_t i = 0; i < node->list()->size(); ++i) {
      const config::Node& item = (*node->list())[i];
      if (item.table() != nullptr) {
        Section own(item, section.key_path(fmt::format("means[{}]", i)), problems_);
        Figure::Mean mean;
        if (const auto m = own.choice("mean", kMeans)) mean.mean = kMeans[*m];
        else if (!own.has("mean"))
          own.fail("mean", "expected hmean, gmean or amean, found nothing");
        mean.over = own.needed_text("over");
        mean.name = own.text("name", mean.over);
        if (!mean.over.empty() && e_.workloads_of(mean.over).empty())
          own.fail("over", fmt::format("expected a group, found \"{}\"{}", mean.over,
                                       known_names(e_, mean.over, {NameKind::Group})));
        own.finish();
        figure.means.push_back(std::move(mean));
      } else if (const auto* text = std::get_if<std::string>(&item.value);
                 text != nullptr && std::ranges::find(kMeans, *text) != kMeans.end()) {
        const std::string label = *text == "amean" ? "MEAN" : *text == "hmean" ? "HMEAN" : "GMEAN";
        figure.means.push_back({label, *text, ""});
      } else {
        section.wrong("means", item, "hmean, gmean, amean or a table with mean and over");
      }
    }
  }

  void check_parts(Section& section, const Figure& figure) {
    const bool stacked = figure.type == FigureType::Stacked;
    if (figure.type == FigureType::Tornado && !figure.series.empty())
      section.fail("series", "a tornado has a bar for each axis along x, and no series");
    if (stacked && figure.pieces.empty())
      section.fail("pieces", "expected the parts of each bar, as the type is stacked");
    if (!stacked && !figure.pieces.empty())
      section.fail("pieces", "only a stacked figure has pieces");
    if (stacked && figure.value)
      section.fail("value", "a stacked figure has a value in each of its pieces instead");
    const bool needs_value =
        !stacked && (figure.series.empty() ||
                     std::ranges::any_of(figure.series, [](const auto& s) { return !s.value; }));
    if (needs_value && !section.has("value"))
      section.fail("value", "expected an expression, as not every series has its own");
    if (stacked)
      for (const Figure::Series& s : figure.series)
        if (s.value)
          problems_.add(s.place, section.key_path("series") +
                                     ": series of a stacked figure are names; expressions are its "
                                     "pieces");
  }

  Stated stated(Section& section) {
    Stated out;
    out.place = section.place();
    out.what = section.needed_text("what");
    if (!section.has("value")) section.fail("value", "expected an expression, found nothing");
    if (auto value = section.formula("value")) {
      out.value = *value;
      check_names(e_, out.value, false, problems_);
    }
    if (!section.has("paper")) section.fail("paper", "expected the paper's number, found nothing");
    out.paper = section.number("paper").value_or(1);
    if (const auto reading = section.choice("reading", kReadingNames))
      out.reading = static_cast<Reading>(*reading);
    const auto digits = section.whole("digits", {0, 12});
    if (digits && out.reading != Reading::Exact)
      section.fail("digits", "only reading = \"exact\" has digits");
    if (out.reading == Reading::Ratio && out.paper <= 0 && section.has("paper"))
      section.fail("paper",
                   "expected a ratio above 0; a number that is none has reading = \"value\"");
    default_bounds(out, digits.value_or(0));
    bounds(section, out);
    if (auto mark = section.section("mark")) out.mark = read_mark(*mark);
    section.finish();
    return out;
  }

  void bounds(Section& section, Stated& out) {
    const config::Node* node = section.take("bounds");
    if (node == nullptr) {
      if (out.low == out.high)
        section.fail("bounds", "expected [low, high]: a ratio of 1 has no improvement to bound");
      return;
    }
    std::vector<double> ends;
    if (node->list() != nullptr)
      for (const config::Node& item : *node->list())
        if (const auto v = scalar(item); v && v->is_number()) ends.push_back(v->get<double>());
    if (node->list() == nullptr || ends.size() != 2 || node->list()->size() != 2 ||
        !(ends[0] <= ends[1]))
      section.wrong("bounds", *node, "[low, high] with low <= high");
    else if (out.reading == Reading::Exact)
      section.fail("bounds", "reading = \"exact\" has digits instead");
    else out.low = ends[0], out.high = ends[1];
  }

  Stated::Mark read_mark(Section& section) {
    Stated::Mark out;
    const auto figure = section.whole("figure", {1, 99});
    out.figure = figure.value_or(1) - 1;
    if (out.figure >= e_.figures.size())
      section.fail("figure",
                   fmt::format("expected one of the file's {} figures", e_.figures.size()));
    else if (e_.figures[out.figure].type == FigureType::Tornado)
      section.fail("figure", "a tornado takes no marks");
    out.series = section.needed_text("series"), out.x = section.needed_text("x");
    section.finish();
    return out;
  }

  Shape shape(Section& section) {
    Shape out;
    if (!section.has("check")) section.fail("check", "expected a condition, found nothing");
    out.of = section.formula("of");
    if (out.of) check_names(e_, *out.of, false, problems_);
    if (auto check = section.formula("check", true)) {
      out.check = *check;
      check_names(e_, out.check, out.of.has_value(), problems_);
    }
    out.text = section.text("text", out.check.text);
    out.tolerance = section.number("tolerance", {0, 1}).value_or(0);
    section.finish();
    return out;
  }

  void counters(Section& section) {
    Counters out;
    out.place = section.place();
    for (const PlacedText& column : section.texts("columns")) {
      if (!e_.find(column.text, NameKind::Measure))
        problems_.add(column.place,
                      fmt::format("counters.columns: expected a measure, found \"{}\"{}",
                                  column.text, known_names(e_, column.text, {NameKind::Measure})));
      out.columns.push_back(column.text);
    }
    if (out.columns.empty()) section.fail("columns", "expected a list of measures, found nothing");
    out.workloads = names(section, "workloads", NameKind::Workload, true);
    out.variants = names(section, "variants", NameKind::Variant, true);
    section.finish();
    e_.counters = std::move(out);
  }

  Section& file_;
  Experiment& e_;
  Problems& problems_;
  Scale scale_;
  bool alone_, free_workloads_, free_variants_;
  std::map<std::string, std::size_t> defined_;  ///< by kind and text
};

}  // namespace

void read_body(Section& file, Scale scale, bool alone, Experiment& e) {
  Body(file, e, scale, alone).read();
}

}  // namespace raddle::lab
