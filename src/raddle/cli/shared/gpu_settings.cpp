#include "raddle/cli/shared/gpu_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "raddle/base/files.h"
#include "raddle/base/json.h"
#include "raddle/base/stable_sort.h"
#include "raddle/config/describer.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t kMaxFileBytes = 1 << 20;

/// The lines of a machine's file, whose values know where they stand.
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& name) {
  std::string text;
  for (const sim::EmbeddedToml& gpu : sim::embedded_gpus())
    if (gpu.name == name) text = gpu.toml;
  if (text.empty()) text = read_text(name, kMaxFileBytes, "a machine");
  Lines out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string file_of(const std::string& name) {
  for (const sim::EmbeddedToml& gpu : sim::embedded_gpus())
    if (gpu.name == name) return sim::embedded_gpu_file(name);
  return name;
}

/// As a machine file has it. (Node::shown() is for messages and cuts what is long.)
std::string value_text(const config::Node& node) {
  const auto* text = std::get_if<std::string>(&node.value);
  return text != nullptr ? json_dump(Json(*text)) : node.shown();
}

/// What stands behind '#', which is none within a text.
std::string comment_in(const std::string& line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '"' && c == '\\') ++i;
    else if (quote != 0) quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'') quote = c;
    else if (c == '#') return line.substr(std::min(line.find_first_not_of("# ", i), line.size()));
  }
  return "";
}

/// The comment before the first key, lines joined as they stand.
std::string head_of(const Lines& lines) {
  std::string out;
  for (const std::string& line : lines) {
    if (!line.starts_with('#')) break;
    out += line + "\n";
  }
  return out;
}

class Collector {
 public:
  explicit Collector(const std::vector<std::string>& names) {
    for (const std::string& name : names) lines_[file_of(name)] = lines_of(name);
    const policy::Registries policies = policy::all_policies();
    sim::Setup setup(policies);
    config::Describer describer;
    setup.machine.visit(describer);
    describer.nested("device", setup.device, "");
    describer.nested("isa", setup.isa, "");
    describer.nested("energy", setup.energy, "");
    for (const config::FieldDescription& field : describer.fields()) {
      order_.emplace(field.path, order_.size());
      meanings_[field.path] = field;
    }
  }

  /// In the order in which settings are described, which is that of hand-written files; what only a
  /// policy knows stands last.
  std::vector<GpuSetting> take() {
    const auto rank = [&](const GpuSetting& one) {
      const auto at = order_.find(one.path);
      return at == order_.end() ? order_.size() : at->second;
    };
    sort_stably(settings_, rank);
    return std::move(settings_);
  }

  void add(const std::string& path, const config::Node& node, const std::string& of_table) {
    // The first line is the file's, not its first table's.
    const std::string comment = path.empty() ? "" : comment_at(node.place);
    if (const config::Node::Table* table = node.table()) {
      for (const config::Node::Entry& entry : *table)
        add(path.empty() ? entry.key : path + "." + entry.key, entry.node,
            comment.empty() ? of_table : comment);
      return;
    }
    GpuSetting out;
    out.path = path;
    out.value = value_text(node);
    out.source = comment.empty() ? of_table : comment;
    out.file = node.place.file;
    out.line = node.place.line;
    if (const auto known = meanings_.find(path); known != meanings_.end()) {
      out.unit = known->second.unit;
      out.meaning = known->second.doc;
    }
    settings_.push_back(std::move(out));
  }

  const Lines& lines(const std::string& file) const { return lines_.at(file); }

 private:
  std::string comment_at(const Place& place) const {
    const auto found = lines_.find(place.file);
    if (found == lines_.end() || place.line == 0 || place.line > found->second.size()) return "";
    return comment_in(found->second[place.line - 1]);
  }

  std::map<std::string, Lines> lines_;
  std::map<std::string, config::FieldDescription> meanings_;
  std::map<std::string, std::size_t> order_;
  std::vector<GpuSetting> settings_;
};

/// A difference: the values, where one is missing "-".
struct Difference {
  std::string path;
  const GpuSetting *a, *b;
};

std::vector<Difference> differences(const GpuDescription& a, const GpuDescription& b) {
  const auto find = [](const GpuDescription& gpu, const std::string& path) {
    const auto at = std::ranges::find(gpu.settings, path, &GpuSetting::path);
    return at == gpu.settings.end() ? nullptr : &*at;
  };
  // One file may leave out what the other says: the same where what is simulated is.
  const auto same = [&](const std::string& path) {
    const auto of_a = a.resolved.find(path), of_b = b.resolved.find(path);
    return of_a != a.resolved.end() && of_b != b.resolved.end() && of_a->second == of_b->second;
  };
  std::vector<Difference> out;
  for (const GpuSetting& one : a.settings) {
    const GpuSetting* other = find(b, one.path);
    if (one.path == "name" || one.path == "source" || same(one.path)) continue;
    if (other == nullptr || other->value != one.value) out.push_back({one.path, &one, other});
  }
  for (const GpuSetting& one : b.settings)
    if (find(a, one.path) == nullptr && !same(one.path)) out.push_back({one.path, nullptr, &one});
  return out;
}

void flatten(const nlohmann::ordered_json& value, const std::string& path,
             std::map<std::string, std::string>& out) {
  if (!value.is_object()) {
    out[path] = json_dump(value);
    return;
  }
  for (const auto& [key, inner] : value.items())
    flatten(inner, path.empty() ? key : path + "." + key, out);
}

}  // namespace

GpuDescription describe_gpu(const std::string& name_or_file) {
  const sim::LoadedGpu loaded = sim::load_gpu_with_bases(name_or_file);
  // Refuses what cannot be simulated.
  sim::Setup setup = sim::read_setup(loaded.tree, policy::all_policies());
  GpuDescription out;
  flatten(setup.config(), "", out.resolved);
  out.name = name_or_file;
  Collector collector(loaded.names);
  collector.add("", loaded.tree.root(), "");
  out.settings = collector.take();
  for (const std::string& name : loaded.names) {
    out.files.push_back(file_of(name));
    out.heads.push_back(head_of(collector.lines(out.files.back())));
  }
  return out;
}

std::string gpu_text(const GpuDescription& gpu) {
  std::string out;
  for (std::size_t i = 0; i < gpu.files.size(); ++i)
    out += fmt::format("# {}{}\n{}\n", i == 0 ? "" : "which extends ", gpu.files[i], gpu.heads[i]);
  for (const GpuSetting& one : gpu.settings) {
    std::string comment = one.meaning;
    if (!one.unit.empty()) comment += (comment.empty() ? "" : ", ") + one.unit;
    if (!one.source.empty()) comment += (comment.empty() ? "" : " | ") + one.source;
    if (one.file != gpu.files.front()) comment += " | " + one.file;
    out += fmt::format("{:<44} {}{}\n", one.path + " = " + one.value, comment.empty() ? "" : "# ",
                       comment);
  }
  return out;
}

Json gpu_json(const GpuDescription& gpu) {
  Json settings = Json::array();
  for (const GpuSetting& one : gpu.settings)
    settings.push_back({{"path", one.path},
                        {"value", one.value},
                        {"unit", one.unit},
                        {"meaning", one.meaning},
                        {"source", one.source},
                        {"file", one.file},
                        {"line", one.line}});
  return {{"name", gpu.name}, {"files", gpu.files}, {"heads", gpu.heads}, {"settings", settings}};
}

std::string gpu_difference_text(const GpuDescription& a, const GpuDescription& b) {
  const std::vector<Difference> all = differences(a, b);
  std::string out = fmt::format("{:<36} {:>16} {:>16}\n", "", a.name, b.name);
  for (const Difference& one : all) {
    const GpuSetting& known = one.a != nullptr ? *one.a : *one.b;
    out += fmt::format("{:<36} {:>16} {:>16}{}\n", one.path, one.a ? one.a->value : "-",
                       one.b ? one.b->value : "-", known.unit.empty() ? "" : "  " + known.unit);
  }
  return out + fmt::format("{} of {} settings differ\n", all.size(),
                           std::max(a.settings.size(), b.settings.size()));
}

Json gpu_difference_json(const GpuDescription& a, const GpuDescription& b) {
  Json out = Json::array();
  for (const Difference& one : differences(a, b)) {
    const GpuSetting& known = one.a != nullptr ? *one.a : *one.b;
    Json row = {{"path", one.path}, {"a", nullptr}, {"b", nullptr}, {"unit", known.unit}};
    if (one.a != nullptr) row["a"] = {{"value", one.a->value}, {"source", one.a->source}};
    if (one.b != nullptr) row["b"] = {{"value", one.b->value}, {"source", one.b->source}};
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace raddle::cli
