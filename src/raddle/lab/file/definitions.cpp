#include "raddle/lab/file/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "raddle/base/types.h"
#include "raddle/lab/file/names.h"

namespace raddle::lab {

using config::Node;

namespace {

Place place_of(const Experiment& e, const Symbol& symbol) {
  switch (symbol.kind) {
    case NameKind::Workload:
      return e.workloads[symbol.index].place;
    case NameKind::Variant:
      return e.variants[symbol.index].place;
    case NameKind::Axis:
      return e.axes[symbol.index].place;
    case NameKind::Measure:
      return e.measures[symbol.index].value.place;
    case NameKind::Derived:
      return e.derived[symbol.index].value.place;
    default:
      return {};
  }
}

/// Reads one table of names.
class Definitions {
 public:
  Definitions(Section& file, Scale scale, Experiment& out)
      : file_(file), scale_(scale), out_(out), problems_(file.problems()) {}

  void read() {
    each("workloads", &Definitions::workload);
    each("groups", &Definitions::group);
    each("variants", &Definitions::variant);
    each("axes", &Definitions::axis);
    each("analyses", &Definitions::analysis);
    each("measures", &Definitions::measure);
    each("constants", &Definitions::constant);
    each("derived", &Definitions::derived);
  }

 private:
  using Read = void (Definitions::*)(const Node::Entry&, const std::string& path);

  void each(std::string_view table, Read read) {
    std::optional<Section> section = file_.section(table);
    if (!section) return;
    for (const Node::Entry* entry : section->entries())
      (this->*read)(*entry, section->key_path(entry->key));
  }

  /// False, with a problem, when the name cannot be given.
  bool name(const Node::Entry& entry, const std::string& path, NameKind kind, std::size_t index) {
    if (!is_name(entry.key)) {
      problems_.add(entry.key_place,
                    path + (is_reserved(entry.key)
                                ? ": the name is a word of the language"
                                : ": expected a name of letters, digits and '_' that begins with "
                                  "a letter, found '" +
                                      entry.key + "'"));
      return false;
    }
    const auto [at, fresh] = out_.names.emplace(entry.key, Symbol{kind, index});
    if (fresh) return true;
    const Place before = place_of(out_, at->second);
    problems_.add(
        entry.key_place,
        fmt::format("{}: the name is already that of a {}{}", path, kind_name(at->second.kind),
                    before.line == 0 ? "" : fmt::format(" ({}:{})", before.file, before.line)));
    return false;
  }

  std::optional<Section> table(const Node::Entry& entry, const std::string& path) {
    if (entry.node.table() != nullptr) return Section(entry.node, path, problems_);
    problems_.add(entry.node.place,
                  fmt::format("{}: expected a table, found {}", path, entry.node.shown()));
    return std::nullopt;
  }

  void workload(const Node::Entry& entry, const std::string& path) {
    std::optional<Section> section = table(entry, path);
    if (!section) return;
    Workload out;
    out.name = entry.key;
    out.place = entry.key_place;
    out.title = section->text("title", entry.key);
    if (section->has("members")) read_members(*section, out);
    else if (section->has("program") || section->has("recording")) read_foreign(*section, out);
    else read_program(*section, out, entry);
    section->finish();
    if (name(entry, path, NameKind::Workload, out_.workloads.size()))
      out_.workloads.push_back(std::move(out));
  }

  void read_members(Section& section, Workload& out) {
    for (PlacedText& member : section.texts("members")) out.members.push_back(member.text);
    if (out.members.size() > kMostTenants)
      section.fail("members",
                   fmt::format("expected at most {}, found {}", kMostTenants, out.members.size()));
    for (const std::string_view own : {"workload", "parameters", "set", "quick", "full"})
      if (section.take(own) != nullptr)
        section.fail(own, "a workload with members has none of its own: they bring theirs");
  }

  /// Texts in order, some of which may be the same.
  std::vector<std::string> words(Section& section, std::string_view key) {
    std::vector<std::string> out;
    const Node* node = section.take(key);
    if (node == nullptr) return out;
    const std::string expected = "a list of texts: [\"./program\", \"argument\"]";
    if (node->list() == nullptr || node->list()->empty()) {
      section.wrong(key, *node, expected);
      return out;
    }
    for (const Node& item : *node->list()) {
      const auto* text = std::get_if<std::string>(&item.value);
      if (text == nullptr || (out.empty() && text->empty())) section.wrong(key, item, expected);
      else out.push_back(*text);
    }
    return out;
  }

  void read_foreign(Section& section, Workload& out) {
    Foreign foreign;
    foreign.place = out.place;
    foreign.folder = std::filesystem::path(out.place.file).parent_path();
    if (section.has("program") && section.has("recording"))
      section.fail("recording", "expected a program or a recording, found both");
    foreign.command = words(section, "program");
    foreign.file = section.text("recording", "");
    if (!foreign.file.empty() && !foreign.file.ends_with(".rdl") && !foreign.file.ends_with(".g"))
      section.fail("recording",
                   "expected FILE.rdl or kernelslist.g, found \"" + foreign.file + "\"");
    if (section.has("inputs")) foreign.inputs = words(section, "inputs");
    if (!foreign.inputs.empty() && foreign.command.empty())
      section.fail("inputs", "only a program has inputs");
    out.set = section.settings("set");
    for (const std::string_view other : {"workload", "parameters", "quick", "full"})
      if (section.take(other) != nullptr)
        section.fail(other, "a program or a recording has none: it is what it is");
    out.foreign = std::move(foreign);
  }

  void read_program(Section& section, Workload& out, const Node::Entry& entry) {
    out.workload = section.text("workload", entry.key);
    out.parameters = section.settings("parameters");
    out.set = section.settings("set");
    const Settings quick = section.settings("quick"), full = section.settings("full");
    const Settings& at_scale = scale_ == Scale::Quick ? quick : full;
    for (const Setting& setting : at_scale) {
      std::erase_if(out.parameters, [&](const Setting& s) { return s.path == setting.path; });
      out.parameters.push_back(setting);
    }
    const bool has_sizes = !out.workload.ends_with(".ptx");
    if (has_sizes &&
        std::ranges::find(out.parameters, "size", &Setting::path) == out.parameters.end())
      out.parameters.insert(out.parameters.begin(),
                            {"size", scale_ == Scale::Quick ? "small" : "paper", entry.key_place});
  }

  /// A list, or a table with one for each scale.
  void group(const Node::Entry& entry, const std::string& path) {
    if (entry.node.table() == nullptr) {
      if (auto found = members(entry.node, path); found && name_group(entry, path))
        out_.groups.push_back(std::move(*found));
      return;
    }
    Section section(entry.node, path, problems_);
    std::optional<std::vector<std::size_t>> of_scale;
    for (const Scale scale : {Scale::Quick, Scale::Full}) {
      const std::string_view key = kScaleNames[static_cast<std::size_t>(scale)];
      const Node* list = section.take(key);
      if (list == nullptr) section.fail(key, "expected a list of workloads and groups, found none");
      else if (auto found = members(*list, section.key_path(key)); found && scale == scale_)
        of_scale = std::move(found);
    }
    section.finish();
    if (of_scale && name_group(entry, path)) out_.groups.push_back(std::move(*of_scale));
  }
  bool name_group(const Node::Entry& entry, const std::string& path) {
    return name(entry, path, NameKind::Group, out_.groups.size());
  }

  std::optional<std::vector<std::size_t>> members(const Node& list, const std::string& path) {
    if (list.list() == nullptr || list.list()->empty()) {
      problems_.add(list.place,
                    fmt::format("{}: expected a list of workloads and groups, found {}", path,
                                list.list() != nullptr ? "an empty one" : list.shown()));
      return std::nullopt;
    }
    std::vector<std::size_t> members;
    for (const Node& item : *list.list()) {
      const auto* text = std::get_if<std::string>(&item.value);
      const std::vector<std::size_t> found =
          text == nullptr ? std::vector<std::size_t>() : out_.workloads_of(*text);
      if (found.empty())
        problems_.add(
            item.place,
            fmt::format(
                "{}: expected a workload or a group above this one, found {}{}", path, item.shown(),
                text == nullptr ? ""
                                : known_names(out_, *text, {NameKind::Workload, NameKind::Group})));
      for (const std::size_t w : found)
        if (std::ranges::find(members, w) == members.end()) members.push_back(w);
    }
    return members;
  }

  void variant(const Node::Entry& entry, const std::string& path) {
    std::optional<Section> section = table(entry, path);
    if (!section) return;
    Variant out;
    out.name = entry.key, out.place = entry.key_place;
    out.title = section->text("title", entry.key);
    if (section->has("best_of")) {
      out.selection = selection(*section);
    } else {
      out.policies = section->texts("policies");
      out.set = section->settings("set");
      out.gpu = section->placed_text("gpu");
    }
    section->finish();
    if (name(entry, path, NameKind::Variant, out_.variants.size()))
      out_.variants.push_back(std::move(out));
  }

  Selection selection(Section& section) {
    Selection out;
    out.best_of = section.needed_text("best_of");
    for (PlacedText& axis : section.texts("over")) out.over.push_back(std::move(axis.text));
    if (out.over.empty()) section.fail("over", "expected a list of axes to search, found nothing");
    const std::optional<Formula> most = section.formula("maximise"),
                                 least = section.formula("minimise");
    out.maximise = !section.has("minimise");
    if (section.has("maximise") == section.has("minimise"))
      section.fail(section.has("minimise") ? "minimise" : "best_of",
                   section.has("minimise")
                       ? "expected one of maximise and minimise, found both"
                       : "expected maximise or minimise beside it, found neither");
    if (most) out.objective = *most;
    if (least) out.objective = *least;
    return out;
  }

  void analysis(const Node::Entry& entry, const std::string& path) {
    if (!is_name(entry.key)) {
      problems_.add(entry.key_place, path + ": expected the name of an analysis");
      return;
    }
    if (entry.node.table() == nullptr) {
      problems_.add(entry.node.place, fmt::format("{}: expected a table of options, found {}", path,
                                                  entry.node.shown()));
      return;
    }
    if (out_.analyses.contains(entry.key)) {
      problems_.add(entry.key_place, path + ": the analysis is already described");
      return;
    }
    Section section(entry.node, path, problems_);
    const std::string analysis = section.text("analysis", entry.key);
    std::string options;
    for (const Node::Entry* option : section.entries())
      if (option->key != "analysis")
        options +=
            (options.empty() ? ":" : ",") + option->key + "=" + option_value(section, *option);
    out_.analyses[entry.key] = {entry.key + "=" + analysis + options, entry.key_place};
  }

  /// A list joins with '+', as analyses take them.
  std::string option_value(Section& section, const Node::Entry& option) {
    std::string out;
    auto add = [&](const Node& item) {
      const auto value = scalar(item);
      if (!value)
        section.wrong(option.key, item, "a number, a text, true, false or a list of them");
      else
        out += (out.empty() ? "" : "+") +
               (value->is_string() ? value->get<std::string>() : value->dump());
    };
    if (option.node.list() == nullptr) add(option.node);
    else
      for (const Node& item : *option.node.list()) add(item);
    return out;
  }

  void measure(const Node::Entry& entry, const std::string& path) {
    Measure out;
    out.name = out.title = entry.key;
    std::optional<Formula> value;
    if (entry.node.table() != nullptr) {
      Section section(entry.node, path, problems_);
      out.title = section.text("title", entry.key);
      out.unit = section.text("unit", "");
      if (!section.has("value")) section.fail("value", "expected an expression, found nothing");
      value = section.formula("value");
      section.finish();
    } else {
      value = formula_of(entry.node, path, false, problems_);
    }
    if (!value) value = Formula{parse_number("0"), "0", path, entry.key_place};
    out.value = *value;
    if (name(entry, path, NameKind::Measure, out_.measures.size()))
      out_.measures.push_back(std::move(out));
  }

  /// A number, or a table with one for each scale.
  void constant(const Node::Entry& entry, const std::string& path) {
    if (entry.node.table() != nullptr) return constants_by_scale(entry, path);
    const auto value = scalar(entry.node);
    if (!value || !value->is_number())
      problems_.add(entry.node.place,
                    fmt::format("{}: expected a number, found {}", path, entry.node.shown()));
    else if (name(entry, path, NameKind::Constant, out_.constants.size()))
      out_.constants.push_back(value->get<double>());
  }

  void constants_by_scale(const Node::Entry& entry, const std::string& path) {
    Section section(entry.node, path, problems_);
    std::optional<double> of_scale;
    for (const Scale scale : {Scale::Quick, Scale::Full}) {
      const std::string_view key = kScaleNames[static_cast<std::size_t>(scale)];
      const auto value = section.number(key);
      if (!value && !section.has(key)) section.fail(key, "expected a number, found nothing");
      if (scale == scale_) of_scale = value;
    }
    section.finish();
    if (of_scale && name(entry, path, NameKind::Constant, out_.constants.size()))
      out_.constants.push_back(*of_scale);
  }

  void derived(const Node::Entry& entry, const std::string& path) {
    Derived out;
    out.name = entry.key;
    std::optional<Formula> value;
    if (entry.node.table() != nullptr) {
      Section section(entry.node, path, problems_);
      if (!section.has("value")) section.fail("value", "expected an expression, found nothing");
      value = section.formula("value");
      out.over = section.text("over", "");
      out.join = section.text("join", "+");
      out.keyed = section.flag("keyed");
      out.where = section.formula("where", true);
      for (const std::string_view of_lists : {"join", "keyed", "where"})
        if (section.has(of_lists) && out.over.empty())
          section.fail(of_lists, "is for lists: expected `over` beside it, found nothing");
      out.example = section.number("example");
      section.finish();
    } else {
      value = formula_of(entry.node, path, false, problems_);
    }
    if (!value) value = Formula{parse_number("0"), "0", path, entry.key_place};
    out.value = *value;
    if (name(entry, path, NameKind::Derived, out_.derived.size()))
      out_.derived.push_back(std::move(out));
  }

  void axis(const Node::Entry& entry, const std::string& path);
  AxisPoint point(const Node& item, const std::string& swept, Section& section,
                  std::string_view key);
  void read_values(Section& section, Axis& axis);
  void read_points(Section& section, Axis& axis);
  void thin(Section& section, Axis& axis);

  Section& file_;
  Scale scale_;
  Experiment& out_;
  Problems& problems_;
};

constexpr std::string_view kWorkloadPrefix = "workload.";

std::optional<AxisValue> axis_value(const Node& node) {
  const auto value = scalar(node);
  if (!value || value->is_boolean()) return std::nullopt;
  if (value->is_string()) return AxisValue(value->get<std::string>());
  return AxisValue(value->get<double>());
}

void Definitions::axis(const Node::Entry& entry, const std::string& path) {
  std::optional<Section> section = table(entry, path);
  if (!section) return;
  Axis out;
  out.name = entry.key, out.place = entry.key_place;
  out.title = section->text("title", entry.key);
  out.unit = section->text("unit", "");
  if (section->has("points")) read_points(*section, out);
  else read_values(*section, out);
  thin(*section, out);
  bool numbers = true, texts = true;
  std::set<AxisValue> seen;
  for (const AxisPoint& p : out.points) {
    (std::holds_alternative<double>(p.value) ? texts : numbers) = false;
    if (!seen.insert(p.value).second)
      section->fail(section->has("points") ? "points" : "values",
                    "the value " + shown(p.value) + " is there twice");
  }
  if (!numbers && !texts)
    section->fail(section->has("points") ? "points" : "values",
                  "expected numbers or texts, found both");
  out.scale = numbers ? AxisScale::Linear : AxisScale::Category;
  if (const auto scale = section->choice("scale", kAxisScaleNames)) {
    out.scale = static_cast<AxisScale>(*scale);
    if (!numbers && out.scale != AxisScale::Category)
      section->fail("scale", "expected \"category\", as the values are texts");
  }
  section->finish();
  if (name(entry, path, NameKind::Axis, out_.axes.size())) out_.axes.push_back(std::move(out));
}

void Definitions::read_values(Section& section, Axis& axis) {
  const std::string swept = section.needed_text("path");
  const Node* values = section.take("values");
  if (values == nullptr || values->list() == nullptr || values->list()->empty()) {
    section.fail("values", fmt::format("expected a list of numbers or texts, found {}",
                                       values == nullptr           ? "nothing: the key is missing"
                                       : values->list() != nullptr ? "an empty one"
                                                                   : values->shown()));
    return;
  }
  for (const Node& item : *values->list()) {
    const auto value = axis_value(item);
    if (!value) {
      section.wrong("values", item, "a list of numbers or texts");
      continue;
    }
    AxisPoint point{*value, {}, {}};
    const Setting setting{
        swept.starts_with(kWorkloadPrefix) ? swept.substr(kWorkloadPrefix.size()) : swept,
        *scalar(item), item.place};
    (swept.starts_with(kWorkloadPrefix) ? point.parameters : point.set).push_back(setting);
    axis.points.push_back(std::move(point));
  }
}

void Definitions::read_points(Section& section, Axis& axis) {
  for (const std::string_view other : {"path", "values"})
    if (section.has(other)) {
      section.take(other);
      section.fail(other, "expected either points, or path and values; found both");
    }
  std::vector<Section> points = section.sections("points");
  if (points.empty()) section.fail("points", "expected a list of tables, found an empty one");
  for (Section& point : points) {
    const Node* value = point.take("value");
    AxisPoint out;
    if (value == nullptr) point.fail("value", "expected a number or a text, found nothing");
    else if (auto v = axis_value(*value)) out.value = *v;
    else point.wrong("value", *value, "a number or a text");
    out.set = point.settings("set");
    out.parameters = point.settings("parameters");
    point.finish();
    axis.points.push_back(std::move(out));
  }
}

/// Keeps the points of this scale.
void Definitions::thin(Section& section, Axis& axis) {
  const Node* quick = section.take("quick");
  if (quick == nullptr) return;
  if (quick->list() == nullptr || quick->list()->empty()) {
    section.wrong("quick", *quick, "a list of some of the values");
    return;
  }
  std::vector<AxisPoint> kept;
  for (const Node& item : *quick->list()) {
    const auto value = axis_value(item);
    const auto at = std::ranges::find_if(
        axis.points, [&](const AxisPoint& p) { return value && p.value == *value; });
    if (at == axis.points.end()) section.wrong("quick", item, "one of the axis' values");
    else kept.push_back(*at);
  }
  if (scale_ == Scale::Quick) axis.points = std::move(kept);
}

}  // namespace

void read_definitions(Section& file, Scale scale, Experiment& experiment) {
  Definitions(file, scale, experiment).read();
}

}  // namespace raddle::lab
