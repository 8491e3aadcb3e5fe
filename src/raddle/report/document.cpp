#include "raddle/report/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/base/json.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::array<std::string_view, 6> kStatuses = {
    "pass", "refuted", "fail", "incomplete", "tested_elsewhere", "no_verdict"};
constexpr std::array<std::string_view, 4> kVerdicts = {"pass", "refuted", "fail", "not_run"};
constexpr std::array<std::string_view, 5> kTypes = {"bars", "lines", "stacked", "table", "tornado"};
constexpr std::array<std::string_view, 3> kScales = {"category", "linear", "log"};

std::string shown(const Json& json) {
  std::string text = json_dump(json);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string listed(std::span<const std::string_view> words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + std::string(words[i]);
  return out;
}

bool is_name(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.front() != '.' && text.size() <= 100 &&
         std::all_of(text.begin(), text.end(), plain);
}

Cell number(const Json& json) {
  const double value = json.get<double>();
  return std::isfinite(value) ? Cell(value) : Cell();
}

/// Reads members of the document and collects what is wrong with them.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  Document document(const Json& json) {
    Document out;
    if (!is_object(json, "document")) throw InputError(std::move(faults_));
    const Json& schema = member(json, "schema");
    if (schema != 1) fault("schema", "1", schema);
    const Json& kind = member(json, "kind");
    if (kind != "reproduction") fault("kind", "\"reproduction\"", kind);
    out.raddle_version = text(json, "", "raddle_version");
    out.commit = optional_text(json, "", "commit");
    out.date = text(json, "", "date");
    out.command = text(json, "", "command");
    out.scale = text(json, "", "scale");
    const Json& paper = member(json, "paper");
    if (is_object(paper, "paper")) {
      out.paper = name(paper, "paper.", "id");
      if (out.paper == "index") fault("paper.id", "another name (that page is the index)", "index");
      out.title = text(paper, "paper.", "title");
      out.reference = text(paper, "paper.", "reference");
      optional_text(paper, "paper.", "notes");
    }
    machine(member(json, "machine"));
    std::set<std::string> ids;
    each(json, "", "experiments", [&](const Json& item, const std::string& place) {
      out.experiments.push_back(experiment(item, place, out));
      const std::string& id = out.experiments.back().id;
      if (!id.empty() && !ids.insert(id).second) fault(place + ".id", "an id of its own", Json(id));
    });
    if (!json.contains("experiments")) fault("experiments", "an array", Json());
    if (!faults_.empty()) throw InputError(std::move(faults_));
    return out;
  }

 private:
  void fault(const std::string& place, std::string_view expected, const Json& found) {
    faults_.push_back(
        {{file_}, fmt::format("{}: expected {}, found {}", place, expected, shown(found))});
  }

  bool is_object(const Json& json, const std::string& place) {
    if (json.is_object()) return true;
    fault(place, "an object", json);
    return false;
  }

  /// null when there is no such member.
  const Json& member(const Json& object, const char* key) const {
    const auto at = object.find(key);
    return at == object.end() ? null_ : *at;
  }

  std::string text(const Json& object, const std::string& place, const char* key) {
    const Json& value = member(object, key);
    if (value.is_string()) return value.get<std::string>();
    fault(place + key, "a text", value);
    return {};
  }

  std::string optional_text(const Json& object, const std::string& place, const char* key) {
    return member(object, key).is_null() ? "" : text(object, place, key);
  }

  /// A text that names files and places of the page.
  std::string name(const Json& object, const std::string& place, const char* key) {
    const Json& value = member(object, key);
    if (value.is_string() && is_name(value.get_ref<const std::string&>()))
      return value.get<std::string>();
    fault(place + key, "a name of letters, digits, '.', '_' and '-'", value);
    return {};
  }

  template <std::size_t N>
  std::size_t one_of(const Json& object, const std::string& place, const char* key,
                     const std::array<std::string_view, N>& words) {
    const Json& value = member(object, key);
    if (value.is_string()) {
      const auto at = std::find(words.begin(), words.end(), value.get_ref<const std::string&>());
      if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
    }
    fault(place + key, listed(words), value);
    return 0;
  }

  /// read(item, "key[i]") for each object of an array that may be absent.
  template <typename Read>
  void each(const Json& object, const std::string& place, const char* key, Read read) {
    const Json& items = member(object, key);
    if (items.is_null()) return;
    if (!items.is_array()) return fault(place + key, "an array", items);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string at = fmt::format("{}{}[{}]", place, key, i);
      if (is_object(items[i], at)) read(items[i], at);
    }
  }

  void number_or_null(const Json& object, const std::string& place, const char* key) {
    const Json& value = member(object, key);
    if (!value.is_null() && !value.is_number()) fault(place + key, "a number or null", value);
  }

  std::size_t count(const Json& object, const std::string& place, const char* key) {
    const Json& value = member(object, key);
    if (value.is_number_integer() && value >= 0) return value.get<std::size_t>();
    fault(place + key, "a count", value);
    return 0;
  }

  void machine(const Json& json) {
    if (json.is_null() || !is_object(json, "machine")) return;
    text(json, "machine.", "name");
    const Json& config = member(json, "config");
    if (!config.is_null()) is_object(config, "machine.config");
  }

  Experiment experiment(const Json& json, const std::string& at, Document& document) {
    const std::string place = at + ".";
    Experiment out;
    out.id = name(json, place, "id");
    out.title = text(json, place, "title");
    text(json, place, "claim");
    optional_text(json, place, "kind");
    out.study = member(json, "kind") == "study";
    optional_text(json, place, "source");
    optional_text(json, place, "explanation");
    number_or_null(json, place, "priority");
    number_or_null(json, place, "wall_seconds");
    out.status = kStatuses[one_of(json, place, "status", kStatuses)];
    each(json, place, "figures", [&](const Json& item, const std::string& here) {
      out.figures.push_back(figure(item, here + "."));
    });
    each(json, place, "shapes", [&](const Json& item, const std::string& here) {
      optional_text(item, here + ".", "statement");
      optional_text(item, here + ".", "text");
      optional_text(item, here + ".", "detail");
      ++out.shapes;
      const std::size_t verdict = one_of(item, here + ".", "verdict", kVerdicts);
      out.shapes_passed += verdict == 0;
      out.shapes_refuted += verdict == 1;
      if (const Json& bound = member(item, "bound"); !bound.is_null())
        for (const char* part : {"statement", "text", "assumes", "verdict", "detail"})
          if (is_object(bound, here + ".bound")) optional_text(bound, here + ".bound.", part);
    });
    each(json, place, "stated", [&](const Json& item, const std::string& here) {
      ++out.stated;
      if (stated(item, here + ".")) ++out.stated_within;
      else if (is_refuted(item, here + ".")) ++out.stated_refuted;
    });
    counters(member(json, "counters"), place + "counters");
    runs(member(json, "runs"), place + "runs", document);
    const Json& tests = member(json, "tested_by");
    if (!tests.is_null() && !tests.is_array()) fault(place + "tested_by", "an array", tests);
    for (std::size_t i = 0; tests.is_array() && i < tests.size(); ++i)
      if (!tests[i].is_string())
        fault(fmt::format("{}tested_by[{}]", place, i), "a text", tests[i]);
    if (const Json& outcomes = member(json, "tests"); !outcomes.is_null()) {
      is_object(outcomes, place + "tests");
      for (const auto& [name, outcome] : outcomes.items())
        if (!outcome.is_string()) fault(fmt::format("{}tests.{}", place, name), "a text", outcome);
    }
    const Json& settings = member(json, "settings");
    if (!settings.is_null()) is_object(settings, place + "settings");
    return out;
  }

  bool stated(const Json& json, const std::string& place) {
    text(json, place, "what");
    number_or_null(json, place, "paper");
    number_or_null(json, place, "ours");
    const Json& bounds = member(json, "bounds");
    const auto bound = [](const Json& b) { return b.is_number() || b.is_null(); };
    if (!bounds.is_null() &&
        !(bounds.is_array() && bounds.size() == 2 && bound(bounds[0]) && bound(bounds[1])))
      fault(place + "bounds", "[low, high], each a number or null", bounds);
    const Json& within = member(json, "within");
    if (!within.is_null() && !within.is_boolean())
      fault(place + "within", "true, false or null", within);
    return within == true;
  }

  /// The paper's number lies beyond what its bound allows.
  bool is_refuted(const Json& json, const std::string& place) {
    const Json &refuted = member(json, "refuted"), &bound = member(json, "bound");
    if (!refuted.is_null() && !refuted.is_boolean())
      fault(place + "refuted", "true, false or null", refuted);
    if (!bound.is_null() && is_object(bound, place + "bound")) {
      number_or_null(bound, place + "bound.", "value");
      for (const char* part : {"is", "text", "assumes"})
        optional_text(bound, place + "bound.", part);
    }
    return refuted == true;
  }

  void counters(const Json& json, const std::string& place) {
    if (json.is_null() || !is_object(json, place)) return;
    const Json& columns = member(json, "columns");
    const Json& rows = member(json, "rows");
    if (!columns.is_array()) return fault(place + ".columns", "an array", columns);
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (!columns[i].is_string())
        fault(fmt::format("{}.columns[{}]", place, i), "a text", columns[i]);
    if (!rows.is_array()) return fault(place + ".rows", "an array", rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!rows[i].is_array() || rows[i].size() != columns.size())
        fault(fmt::format("{}.rows[{}]", place, i),
              fmt::format("an array of {} cells", columns.size()), rows[i]);
  }

  void runs(const Json& json, const std::string& place, Document& document) {
    if (json.is_null() || !is_object(json, place)) return;
    document.runs += count(json, place + ".", "total");
    count(json, place + ".", "done");
    document.runs_failed += count(json, place + ".", "failed");
    each(json, place + ".", "failures", [&](const Json& item, const std::string& here) {
      text(item, here + ".", "cell");
      text(item, here + ".", "error");
    });
  }

  Figure figure(const Json& json, const std::string& place) {
    Figure out;
    out.title = text(json, place, "title");
    const std::size_t sound = faults_.size();
    out.type = static_cast<Figure::Type>(one_of(json, place, "type", kTypes));
    const Json& x = member(json, "x");
    if (faults_.size() == sound && is_object(x, place + "x")) x_axis(x, place + "x.", out);
    if (faults_.size() > sound) return out;  // what follows could only be judged by these
    const Json& y = member(json, "y");
    if (!y.is_null() && is_object(y, place + "y")) {
      out.y_label = optional_text(y, place + "y.", "label");
      out.y_unit = optional_text(y, place + "y.", "unit");
    }
    std::set<std::pair<std::string, std::string>> names;
    each(json, place, "series", [&](const Json& item, const std::string& here) {
      Series series;
      series.name = text(item, here + ".", "name");
      if (out.type == Figure::Type::Stacked)
        series.stack = optional_text(item, here + ".", "stack");
      const bool texts = out.type == Figure::Type::Table;
      series.values = cells(item, here + ".", "values", out.x_names.size(), texts);
      if (out.type == Figure::Type::Tornado)
        series.at = texts_of(item, here + ".", "at", out.x_names.size());
      else if (!member(item, "stated").is_null())
        series.stated = cells(item, here + ".", "stated", out.x_names.size(), texts);
      if (!names.emplace(series.stack, series.name).second)
        fault(here + ".name", "a name of its own", Json(series.name));
      out.series.push_back(std::move(series));
    });
    if (out.type == Figure::Type::Tornado && out.series.size() != 3)
      fault(place + "series", "three series, as the type is tornado: least, as declared, most",
            member(json, "series"));
    return out;
  }

  /// One per x, or none when the member is not there.
  std::vector<std::string> texts_of(const Json& object, const std::string& place, const char* key,
                                    std::size_t size) {
    const Json& values = member(object, key);
    std::vector<std::string> out;
    if (values.is_null()) return out;
    if (!values.is_array() || values.size() != size) {
      fault(place + key, fmt::format("an array of {} texts, one per x", size), values);
      return out;
    }
    for (std::size_t i = 0; i < size; ++i) {
      if (values[i].is_string()) out.push_back(values[i]);
      else fault(fmt::format("{}{}[{}]", place, key, i), "a text", values[i]);
    }
    return out;
  }

  void x_axis(const Json& json, const std::string& place, Figure& out) {
    out.x_label = optional_text(json, place, "label");
    if (!member(json, "scale").is_null())
      out.x_scale = static_cast<Figure::Scale>(one_of(json, place, "scale", kScales));
    const bool numbers = out.x_scale != Figure::Scale::Category;
    if (numbers && out.type != Figure::Type::Lines)
      return fault(place + "scale", "category (only lines have other scales)", json.at("scale"));
    const Json& values = member(json, "values");
    if (!values.is_array()) return fault(place + "values", "an array", values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string at = fmt::format("{}values[{}]", place, i);
      const Cell value = values[i].is_number() ? number(values[i]) : Cell();
      const double* n = std::get_if<double>(&value);
      if (numbers && n == nullptr) fault(at, "a number", values[i]);
      else if (out.x_scale == Figure::Scale::Log && *n <= 0)
        fault(at, "a number above 0 on a log scale", values[i]);
      else if (n == nullptr && !values[i].is_string()) fault(at, "a text or a number", values[i]);
      out.x_names.push_back(values[i].is_string() ? values[i].get<std::string>() : to_text(value));
      if (numbers) out.x_numbers.push_back(n == nullptr ? 1.0 : *n);
    }
  }

  std::vector<Cell> cells(const Json& object, const std::string& place, const char* key,
                          std::size_t size, bool texts) {
    const Json& values = member(object, key);
    std::vector<Cell> out;
    if (!values.is_array() || values.size() != size) {
      fault(place + key,
            fmt::format("an array of {} cells, one per x{}", size,
                        values.is_array() ? fmt::format(", not of {}", values.size()) : ""),
            values);
      return out;
    }
    for (std::size_t i = 0; i < size; ++i) {
      const Json& value = values[i];
      if (value.is_number()) out.push_back(number(value));
      else if (value.is_null()) out.emplace_back();
      else if (texts && value.is_string()) out.emplace_back(value.get<std::string>());
      else
        fault(fmt::format("{}{}[{}]", place, key, i),
              texts ? "a number, a text or null" : "a number or null", value);
    }
    return out;
  }

  const std::string file_;
  const Json null_;
  std::vector<Diagnostic> faults_;
};

}  // namespace

bool Series::has_stated() const {
  return std::any_of(stated.begin(), stated.end(), [](const Cell& cell) {
    return !std::holds_alternative<std::monostate>(cell);
  });
}

Document read_document(const Json& json, const std::string& file) {
  return Reader(file).document(json);
}

std::string to_text(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const auto* value = std::get_if<double>(&cell);
  return value == nullptr ? "" : fmt::format("{}", *value);
}

}  // namespace raddle::report
