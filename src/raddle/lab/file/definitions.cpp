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

constexpr std::string_view kWorkloadPrefix = "workload.";

Place place_of(const Experiment& e, const Symbol& symbol) {
  const std::size_t at = symbol.index;
  switch (symbol.kind) {
    case NameKind::Workload:
      return e.workloads[at].place;
    case NameKind::Variant:
      return e.variants[at].place;
    case NameKind::Axis:
      return e.axes[at].place;
    case NameKind::Measure:
      return e.measures[at].value.place;
    case NameKind::Derived:
      return e.derived[at].value.place;
    default:
      return {};
  }
}

std::optional<AxisValue> axis_value(const Node& node) {
  const auto value = scalar(node);
  if (!value || value->is_boolean()) return std::nullopt;
  if (value->is_string()) return AxisValue(value->get<std::string>());
  return AxisValue(value->get<double>());
}

/// Of a swept setting: one of the workload's parameters or of the machine's.
void set_point(AxisPoint& point, const std::string& path, Json value, const Place& place) {
  const bool of_workload = path.starts_with(kWorkloadPrefix);
  Settings& settings = of_workload ? point.parameters : point.set;
  settings.push_back(
      {of_workload ? path.substr(kWorkloadPrefix.size()) : path, std::move(value), place});
}

/// Reads the tables of names.
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

  /// Adds it to the experiment's under its name, or a problem when the name cannot be given.
  template <class T>
  void define(const Node::Entry& entry, const std::string& path, NameKind kind, std::vector<T>& all,
              T definition) {
    if (!is_name(entry.key)) {
      problems_.add(entry.key_place,
                    path + (is_reserved(entry.key)
                                ? ": the name is a word of the language"
                                : ": expected a name of letters, digits and '_' that begins with "
                                  "a letter, found '" +
                                      entry.key + "'"));
      return;
    }
    const auto [at, fresh] = out_.names.emplace(entry.key, Symbol{kind, all.size()});
    if (fresh) {
      all.push_back(std::move(definition));
      return;
    }
    const Place before = place_of(out_, at->second);
    problems_.add(
        entry.key_place,
        fmt::format("{}: the name is already that of a {}{}", path, kind_name(at->second.kind),
                    before.line == 0 ? "" : fmt::format(" ({}:{})", before.file, before.line)));
  }

  std::optional<Section> table(const Node::Entry& entry, const std::string& path,
                               const char* expected = "a table") {
    if (entry.node.table() != nullptr) return Section(entry.node, path, problems_);
    problems_.add(entry.node.place,
                  fmt::format("{}: expected {}, found {}", path, expected, entry.node.shown()));
    return std::nullopt;
  }

  /// What `read` makes of a value, or at this scale of a table with a value for each.
  template <class Value>
  std::optional<Value> at_scale(const Node::Entry& entry, const std::string& path,
                                const std::string& missing,
                                std::optional<Value> (Definitions::*read)(const Node&,
                                                                          const std::string&)) {
    if (entry.node.table() == nullptr) return (this->*read)(entry.node, path);
    Section section(entry.node, path, problems_);
    std::optional<Value> out;
    for (const Scale scale : {Scale::Quick, Scale::Full}) {
      const std::string_view key = kScaleNames[static_cast<std::size_t>(scale)];
      const Node* node = section.take(key);
      if (node == nullptr) {
        section.fail(key, missing);
        continue;
      }
      auto value = (this->*read)(*node, section.key_path(key));
      if (scale == scale_) out = std::move(value);
    }
    section.finish();
    return out;
  }

  // --- workloads and groups ---

  void workload(const Node::Entry& entry, const std::string& path) {
    std::optional<Section> section = table(entry, path);
    if (!section) return;
    Workload out;
    out.name = entry.key;
    out.place = entry.key_place;
    out.title = section->text("title", entry.key);
    if (section->has("members")) read_members(*section, out);
    else if (section->has("program") || section->has("recording")) read_external(*section, out);
    else read_program(*section, out, entry);
    section->finish();
    define(entry, path, NameKind::Workload, out_.workloads, std::move(out));
  }

  void read_members(Section& section, Workload& out) {
    for (PlacedText& member : section.texts("members"))
      out.members.push_back(std::move(member.text));
    if (out.members.size() > kMaxTenants)
      section.fail("members",
                   fmt::format("expected at most {}, found {}", kMaxTenants, out.members.size()));
    section.refuse({"workload", "parameters", "set", "quick", "full"},
                   "a workload with members has none of its own: they bring theirs");
  }

  /// Texts in order, some of which may be the same.
  std::vector<std::string> words(Section& section, std::string_view key) {
    const std::string expected = "a list of texts: [\"./program\", \"argument\"]";
    std::vector<std::string> out;
    const std::span<const Node> items = section.items(key, expected);
    if (const Node* node = section.take(key); node != nullptr && node->list() && items.empty())
      section.wrong(key, *node, expected);
    for (const Node& item : items) {
      const auto* text = std::get_if<std::string>(&item.value);
      if (text == nullptr || (out.empty() && text->empty())) section.wrong(key, item, expected);
      else out.push_back(*text);
    }
    return out;
  }

  void read_external(Section& section, Workload& out) {
    ExternalProgram external;
    external.place = out.place;
    external.folder = std::filesystem::path(out.place.file).parent_path();
    external.command = words(section, "program");
    external.file = section.text("recording", "");
    external.inputs = words(section, "inputs");
    const std::string& file = external.file;
    section.check({{section.has("program") && section.has("recording"), "recording",
                    "expected a program or a recording, found both"},
                   {!file.empty() && !file.ends_with(".rdl") && !file.ends_with(".g"), "recording",
                    "expected FILE.rdl or kernelslist.g, found \"" + file + "\""},
                   {!external.inputs.empty() && external.command.empty(), "inputs",
                    "only a program has inputs"}});
    out.set = section.settings("set");
    section.refuse({"workload", "parameters", "quick", "full"},
                   "a program or a recording has none: it is what it is");
    out.external = std::move(external);
  }

  void read_program(Section& section, Workload& out, const Node::Entry& entry) {
    out.workload = section.text("workload", entry.key);
    out.parameters = section.settings("parameters");
    out.set = section.settings("set");
    const Settings quick = section.settings("quick");
    const Settings full = section.settings("full");
    for (const Setting& setting : scale_ == Scale::Quick ? quick : full) {
      std::erase_if(out.parameters, [&](const Setting& s) { return s.path == setting.path; });
      out.parameters.push_back(setting);
    }
    const bool has_sizes = !out.workload.ends_with(".ptx");
    if (has_sizes &&
        std::ranges::find(out.parameters, "size", &Setting::path) == out.parameters.end())
      out.parameters.insert(out.parameters.begin(),
                            {"size", scale_ == Scale::Quick ? "small" : "paper", entry.key_place});
  }

  using Members = std::vector<std::size_t>;

  void group(const Node::Entry& entry, const std::string& path) {
    auto found = at_scale(entry, path, "expected a list of workloads and groups, found none",
                          &Definitions::members);
    if (found) define(entry, path, NameKind::Group, out_.groups, std::move(*found));
  }

  std::optional<Members> members(const Node& list, const std::string& path) {
    if (list.list() == nullptr || list.list()->empty()) {
      problems_.add(list.place,
                    fmt::format("{}: expected a list of workloads and groups, found {}", path,
                                list.list() != nullptr ? "an empty one" : list.shown()));
      return std::nullopt;
    }
    Members out;
    for (const Node& item : *list.list()) {
      const auto* text = std::get_if<std::string>(&item.value);
      const Members found = text == nullptr ? Members() : out_.workloads_of(*text);
      if (found.empty()) {
        const std::string known =
            text == nullptr ? "" : known_names(out_, *text, {NameKind::Workload, NameKind::Group});
        problems_.add(item.place,
                      fmt::format("{}: expected a workload or a group above this one, found {}{}",
                                  path, item.shown(), known));
      }
      for (const std::size_t w : found)
        if (std::ranges::find(out, w) == out.end()) out.push_back(w);
    }
    return out;
  }

  // --- variants ---

  void variant(const Node::Entry& entry, const std::string& path) {
    std::optional<Section> section = table(entry, path);
    if (!section) return;
    Variant out;
    out.name = entry.key;
    out.place = entry.key_place;
    out.title = section->text("title", entry.key);
    if (section->has("best_of")) {
      out.selection = selection(*section);
    } else {
      out.policies = section->texts("policies");
      out.set = section->settings("set");
      out.gpu = section->placed_text("gpu");
    }
    section->finish();
    define(entry, path, NameKind::Variant, out_.variants, std::move(out));
  }

  Selection selection(Section& section) {
    Selection out;
    out.best_of = section.needed_text("best_of");
    for (PlacedText& axis : section.texts("over")) out.over.push_back(std::move(axis.text));
    const bool minimise = section.has("minimise");
    const bool maximise = section.has("maximise");
    section.check(
        {{out.over.empty(), "over", "expected a list of axes to search, found nothing"},
         {minimise && maximise, "minimise", "expected one of maximise and minimise, found both"},
         {!minimise && !maximise, "best_of",
          "expected maximise or minimise beside it, found neither"}});
    out.maximise = !minimise;
    for (const std::string_view aim : {"maximise", "minimise"})
      if (auto objective = section.formula(aim)) out.objective = std::move(*objective);
    return out;
  }

  // --- axes ---

  void axis(const Node::Entry& entry, const std::string& path) {
    std::optional<Section> section = table(entry, path);
    if (!section) return;
    Axis out;
    out.name = entry.key;
    out.place = entry.key_place;
    out.title = section->text("title", entry.key);
    out.unit = section->text("unit", "");
    const std::string_view key = section->has("points") ? "points" : "values";
    if (key == "points") read_points(*section, out);
    else read_values(*section, out);
    thin(*section, out);
    bool numbers = true, texts = true;
    std::set<AxisValue> seen;
    for (const AxisPoint& point : out.points) {
      (std::holds_alternative<double>(point.value) ? texts : numbers) = false;
      if (!seen.insert(point.value).second)
        section->fail(key, "the value " + shown(point.value) + " is there twice");
    }
    out.scale = numbers ? AxisScale::Linear : AxisScale::Category;
    if (const auto scale = section->choice("scale", kAxisScaleNames))
      out.scale = static_cast<AxisScale>(*scale);
    const bool positive = std::ranges::all_of(out.points, [](const AxisPoint& point) {
      const double* n = std::get_if<double>(&point.value);
      return n == nullptr || *n > 0;
    });
    section->check({{!numbers && !texts, key, "expected numbers or texts, found both"},
                    {out.scale == AxisScale::Log && !positive, key,
                     "expected numbers above 0, as the scale is \"log\""},
                    {!numbers && out.scale != AxisScale::Category, "scale",
                     "expected \"category\", as the values are texts"}});
    section->finish();
    define(entry, path, NameKind::Axis, out_.axes, std::move(out));
  }

  void read_values(Section& section, Axis& axis) {
    const std::string swept = section.needed_text("path");
    const std::string expected = "a list of numbers or texts";
    if (!section.needs("values", expected)) return;
    const std::span<const Node> items = section.items("values", expected);
    if (items.empty() && section.take("values")->list() != nullptr)
      section.fail("values", "expected " + expected + ", found an empty one");
    for (const Node& item : items) {
      const auto value = axis_value(item);
      if (const auto* whole = std::get_if<std::uint64_t>(&item.value);
          whole != nullptr && *whole > kLargestPoint) {
        section.wrong("values", item, fmt::format("numbers of at most {}", kLargestPoint));
        continue;
      }
      if (!value) {
        section.wrong("values", item, expected);
        continue;
      }
      AxisPoint& point = axis.points.emplace_back(AxisPoint{*value, {}, {}});
      set_point(point, swept, *scalar(item), item.place);
    }
  }

  void read_points(Section& section, Axis& axis) {
    section.refuse({"path", "values"}, "expected either points, or path and values; found both");
    std::vector<Section> points = section.sections("points");
    if (points.empty()) section.fail("points", "expected a list of tables, found an empty one");
    for (Section& point : points) {
      AxisPoint& out = axis.points.emplace_back();
      if (point.needs("value", "a number or a text")) {
        const Node& value = *point.take("value");
        if (auto read = axis_value(value)) out.value = std::move(*read);
        else point.wrong("value", value, "a number or a text");
      }
      out.set = point.settings("set");
      out.parameters = point.settings("parameters");
      point.finish();
    }
  }

  /// Keeps the points of this scale.
  void thin(Section& section, Axis& axis) {
    if (!section.has("quick")) return;
    const std::string expected = "a list of some of the values";
    const std::span<const Node> items = section.items("quick", expected);
    if (items.empty()) {
      const Node& quick = *section.take("quick");
      if (quick.list() != nullptr) section.wrong("quick", quick, expected);
      return;
    }
    std::vector<AxisPoint> kept;
    for (const Node& item : items) {
      const auto value = axis_value(item);
      const auto at = std::ranges::find_if(
          axis.points, [&](const AxisPoint& p) { return value && p.value == *value; });
      if (at == axis.points.end()) section.wrong("quick", item, "one of the axis' values");
      else kept.push_back(*at);
    }
    if (scale_ == Scale::Quick) axis.points = std::move(kept);
  }

  // --- analyses and numbers ---

  void analysis(const Node::Entry& entry, const std::string& path) {
    if (!is_name(entry.key)) {
      problems_.add(entry.key_place, path + ": expected the name of an analysis");
      return;
    }
    std::optional<Section> section = table(entry, path, "a table of options");
    if (!section) return;
    if (out_.analyses.contains(entry.key)) {
      problems_.add(entry.key_place, path + ": the analysis is already described");
      return;
    }
    std::string text = entry.key + "=" + section->text("analysis", entry.key);
    char separator = ':';
    for (const Node::Entry* option : section->entries()) {
      if (option->key == "analysis") continue;
      text += separator + option->key + "=" + option_value(*section, *option);
      separator = ',';
    }
    out_.analyses[entry.key] = {text, entry.key_place};
  }

  /// A list joins with '+', as analyses take them.
  std::string option_value(Section& section, const Node::Entry& option) {
    std::string out;
    const bool is_list = option.node.list() != nullptr;
    for (const Node& item : is_list ? std::span(*option.node.list()) : std::span(&option.node, 1)) {
      const auto value = scalar(item);
      if (!value) {
        section.wrong(option.key, item, "a number, a text, true, false or a list of them");
        continue;
      }
      if (!out.empty()) out += '+';
      out += value->is_string() ? value->get<std::string>() : value->dump();
    }
    return out;
  }

  /// An expression by itself, or a table with it under `value` and what `more` reads.
  template <class More>
  Formula formula(const Node::Entry& entry, const std::string& path, More more) {
    std::optional<Formula> value;
    if (entry.node.table() != nullptr) {
      Section section(entry.node, path, problems_);
      value = section.needed_formula("value");
      more(section);
      section.finish();
    } else {
      value = formula_of(entry.node, path, false, problems_);
    }
    if (value) return std::move(*value);
    return {parse_number("0"), "0", path, entry.key_place};
  }

  void measure(const Node::Entry& entry, const std::string& path) {
    Measure out;
    out.name = entry.key;
    out.title = entry.key;
    out.value = formula(entry, path, [&](Section& section) {
      out.title = section.text("title", entry.key);
      out.unit = section.text("unit", "");
    });
    define(entry, path, NameKind::Measure, out_.measures, std::move(out));
  }

  std::optional<double> number(const Node& node, const std::string& path) {
    const auto out = number_of(node);
    if (!out)
      problems_.add(node.place, fmt::format("{}: expected a number, found {}", path, node.shown()));
    return out;
  }

  void constant(const Node::Entry& entry, const std::string& path) {
    const auto value =
        at_scale(entry, path, "expected a number, found nothing", &Definitions::number);
    if (value) define(entry, path, NameKind::Constant, out_.constants, *value);
  }

  void derived(const Node::Entry& entry, const std::string& path) {
    Derived out;
    out.name = entry.key;
    out.value = formula(entry, path, [&](Section& section) {
      out.over = section.text("over", "");
      out.join = section.text("join", "+");
      out.keyed = section.flag("keyed");
      out.where = section.formula("where", true);
      out.example = section.number("example");
      for (const std::string_view of_lists : {"join", "keyed", "where"})
        if (section.has(of_lists) && out.over.empty())
          section.fail(of_lists, "is for lists: expected `over` beside it, found nothing");
    });
    define(entry, path, NameKind::Derived, out_.derived, std::move(out));
  }

  Section& file_;
  Scale scale_;
  Experiment& out_;
  Problems& problems_;
};

}  // namespace

void read_definitions(Section& file, Scale scale, Experiment& experiment) {
  Definitions(file, scale, experiment).read();
}

}  // namespace raddle::lab
