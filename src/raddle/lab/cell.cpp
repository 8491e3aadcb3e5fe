#include "raddle/lab/cell.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/lab/program.h"
#include "raddle/sim/analysis.h"
#include "raddle/sim/gpus.h"
#include "raddle/trace/file.h"

namespace raddle::lab {

namespace {

constexpr unsigned kSchema = 1;

/// "fig07.toml:12", as the file of places inside a configuration.
std::string origin(const Place& place) {
  if (place.line == 0) return place.file;
  return fmt::format("{}:{}", place.file, place.line);
}

config::Tree tree_of(const Settings& settings) {
  config::Tree out;
  for (const Setting& s : settings) out.set(s.path, s.value.dump(), origin(s.place));
  return out;
}

/// Adds where a message without a place belongs.
template <class F>
auto placed(const Place& place, F f) {
  try {
    return f();
  } catch (const InputError& error) {
    std::vector<Diagnostic> all = error.diagnostics();
    for (Diagnostic& d : all)
      if (d.place.file.empty()) d.place = place;
    throw InputError(std::move(all));
  }
}

config::Tree machine_of(const CellSpec& spec) {
  config::Tree tree = placed(spec.gpu.place, [&] { return sim::load_gpu(spec.gpu.text); });
  for (const PlacedText& policy : spec.policies) tree.set_policy(policy.text, origin(policy.place));
  tree.merge(tree_of(spec.set));
  tree.set("run.seed", std::to_string(spec.seed), origin(spec.gpu.place));
  return tree;
}

std::string ptx_hash(const std::string& workload, const Catalogue& catalogue) {
  return hash_text(catalogue.ptx(workload));
}

std::string configuration_hash(const std::string& workload, const Json& parameters,
                               const std::string& ptx, const Json& config,
                               std::uint64_t max_cycles) {
  return hash_text(Json{
      {"workload", workload},
      {"parameters", parameters},
      {"ptx", ptx},
      {"config", config},
      {"max_cycles",
       max_cycles}}.dump());
}

Json settings_json(const Settings& settings) {
  Json out = Json::object();
  for (const Setting& s : settings) out[s.path] = s.value;
  return out;
}

/// Reads a spec and finds everything that is wrong with it.
class SpecReader {
 public:
  SpecReader(const Json& json, const std::string& file) : json_(json), file_(file) {}

  CellFile read() {
    CellFile out;
    if (!json_.is_object()) throw InputError({file_}, "expected the description of a cell");
    if (json_.value("schema", Json()) != kSchema) fail("schema", fmt::format("{}", kSchema));
    out.kind = text("kind");
    if (out.kind != "cell" && out.kind != "recording") fail("kind", "\"cell\" or \"recording\"");
    CellSpec& spec = out.spec;
    spec.workload = text("workload");
    spec.parameters = settings("parameters");
    spec.gpu = {text("gpu"), {file_}};
    for (const Json& policy : list("policies")) spec.policies.push_back({item(policy), {file_}});
    spec.set = settings("set");
    spec.seed = whole("seed");
    spec.max_cycles = whole("max_cycles");
    for (const Setting& s : settings("analyses"))
      if (s.value.is_string()) spec.analyses[s.path] = {s.value, {file_}};
      else fail("analyses", "texts");
    spec.recording = text("recording");
    spec.configuration = text("configuration");
    spec.program = text("program");
    if (out.kind == "recording" && spec.recording.empty()) fail("recording", "a file to make");
    if (!errors_.empty()) throw InputError(std::move(errors_));
    return out;
  }

 private:
  void fail(const std::string& key, const std::string& expected) {
    const Json found = json_.value(key, Json());
    errors_.push_back(
        {{file_}, fmt::format("{}: expected {}, found {}", key, expected, found.dump())});
  }
  std::string text(const std::string& key) {
    const Json value = json_.value(key, Json());
    if (value.is_string()) return value;
    fail(key, "a text");
    return "";
  }
  std::uint64_t whole(const std::string& key) {
    const Json value = json_.value(key, Json());
    if (value.is_number_integer() && (value.is_number_unsigned() || value.get<std::int64_t>() >= 0))
      return value;
    fail(key, "a whole number");
    return 0;
  }
  std::vector<Json> list(const std::string& key) {
    const Json value = json_.value(key, Json());
    if (value.is_array()) return {value.begin(), value.end()};
    fail(key, "a list");
    return {};
  }
  std::string item(const Json& value) {
    if (value.is_string()) return value;
    errors_.push_back({{file_}, "policies: expected texts, found " + value.dump()});
    return "";
  }
  Settings settings(const std::string& key) {
    Settings out;
    const Json value = json_.value(key, Json());
    if (!value.is_object()) {
      fail(key, "a table");
      return out;
    }
    for (const auto& [path, v] : value.items()) {
      if (v.is_primitive() && !v.is_null()) out.push_back({path, v, {file_}});
      else fail(key, "a table of numbers, texts, true and false");
    }
    return out;
  }

  const Json& json_;
  const std::string& file_;
  std::vector<Diagnostic> errors_;
};

}  // namespace

std::string hash_text(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Json to_json(const CellSpec& spec, std::string_view kind) {
  Json policies = Json::array(), analyses = Json::object();
  for (const PlacedText& policy : spec.policies) policies.push_back(policy.text);
  for (const auto& [label, text] : spec.analyses) analyses[label] = text.text;
  return {{"schema", kSchema},
          {"kind", kind},
          {"workload", spec.workload},
          {"parameters", settings_json(spec.parameters)},
          {"gpu", spec.gpu.text},
          {"policies", policies},
          {"set", settings_json(spec.set)},
          {"seed", spec.seed},
          {"max_cycles", spec.max_cycles},
          {"analyses", analyses},
          {"recording", spec.recording},
          {"configuration", spec.configuration},
          {"program", spec.program}};
}

CellFile read_cell(const Json& json, const std::string& file) {
  return SpecReader(json, file).read();
}

ResolvedCell resolve(const CellSpec& spec, const Catalogue& catalogue) {
  // Both halves are looked at before either is refused.
  std::vector<Diagnostic> errors;
  auto attempt = [&](const Place& place, auto f) {
    using Value = decltype(f());
    try {
      return std::optional<Value>(placed(place, f));
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
      return std::optional<Value>();
    }
  };
  auto setup = attempt(spec.gpu.place,
                       [&] { return sim::read_setup(machine_of(spec), catalogue.policies); });
  const Place workload_place =
      spec.parameters.empty() ? spec.gpu.place : spec.parameters.front().place;
  auto named = attempt(workload_place, [&] {
    return sim::make_workload(catalogue.workloads, spec.workload, tree_of(spec.parameters));
  });
  if (!errors.empty()) throw InputError(std::move(errors));

  const std::string ptx = ptx_hash(spec.workload, catalogue);
  const Json& parameters = named->info.parameters;
  std::string configuration =
      configuration_hash(spec.workload, parameters, ptx, setup->config(), spec.max_cycles);
  std::string recording;
  const timing::SmSpec& sm = setup->machine.sm;
  if (!setup->run.live)
    recording = hash_text(Json{
        {"workload", spec.workload},
        {"parameters", parameters},
        {"ptx", ptx},
        {"seed", setup->run.seed},
        {"file_version", trace::kFileVersion},
        // What a program can see of its device.
        {"sms", sm.count},
        {"warps", sm.warps},
        {"max_threads_per_block", sm.max_threads_per_block},
        {"program",
         program_name()}}.dump());
  return {std::move(*setup), std::move(*named), std::move(configuration), std::move(recording)};
}

Json resolved_machine(const CellSpec& spec, const Catalogue& catalogue) {
  sim::Setup setup =
      placed(spec.gpu.place, [&] { return sim::read_setup(machine_of(spec), catalogue.policies); });
  return {{"name", setup.machine.name}, {"config", setup.config()}};
}

std::string configuration_of(const Json& result, std::uint64_t max_cycles,
                             const Catalogue& catalogue) {
  const Json& workload = result.at("workload");
  const std::string name = workload.at("name");
  return configuration_hash(name, workload.at("parameters"), ptx_hash(name, catalogue),
                            result.at("config"), max_cycles);
}

Json run_cell(const CellFile& cell, const Catalogue& catalogue) {
  const CellSpec& spec = cell.spec;
  ResolvedCell resolved = resolve(spec, catalogue);
  if (!spec.configuration.empty() && spec.configuration != resolved.configuration)
    throw InputError(
        "this program makes another simulation of the specification than the one that "
        "wrote it: both must be the same build");
  sim::Options options;
  if (spec.max_cycles != 0) options.max_cycles = spec.max_cycles;
  for (const auto& [label, text] : spec.analyses)
    options.analyses.push_back(sim::read_analysis(text.text, text.place.file));
  if (cell.kind == "recording")
    return sim::to_json(sim::record(*resolved.named.workload, resolved.named.info, resolved.setup,
                                    options, spec.recording));
  const std::span<sim::Setup> one(&resolved.setup, 1);
  if (spec.recording.empty())
    return sim::to_json(
        sim::simulate(*resolved.named.workload, resolved.named.info, one, options).front());
  const trace::FileReader file(spec.recording);
  return sim::to_json(sim::replay(file, one, options).front());
}

Json error_result(const std::string& kind, const std::string& message) {
  return {{"error", {{"kind", kind}, {"message", message}}}};
}

}  // namespace raddle::lab
