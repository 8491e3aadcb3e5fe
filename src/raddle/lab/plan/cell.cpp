#include "raddle/lab/plan/cell.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/lab/plan/external_programs.h"
#include "raddle/lab/plan/program.h"
#include "raddle/sim/profile/analysis.h"
#include "raddle/sim/result/identity.h"
#include "raddle/sim/run/recording_checks.h"
#include "raddle/sim/setup/apply_settings.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/policy_names.h"
#include "raddle/sim/setup/seen.h"
#include "raddle/trace/file.h"

namespace raddle::lab {

namespace {

constexpr unsigned kSchema = 3;
/// Of one launch; what all runs of a sweep may use together is the executor's to say.
constexpr std::uint64_t kMaxStreamBytes = std::uint64_t{8} << 30;

/// "fig07.toml:12", as the file of places inside a configuration.
std::string origin(const Place& place) {
  if (place.line == 0) return place.file;
  return fmt::format("{}:{}", place.file, place.line);
}

config::Tree tree_of(const Settings& settings) {
  config::Tree out;
  for (const Setting& s : settings) out.set(s.path, json_dump(s.value), origin(s.place));
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

config::Tree machine_of(const CellSpec& spec, const Catalogue& catalogue) {
  config::Tree tree = placed(spec.gpu.place, [&] { return sim::load_gpu(spec.gpu.text); });
  std::vector<std::string> policies;
  for (const PlacedText& policy : spec.policies)
    placed(policy.place, [&] {
      policies.push_back(sim::with_level(policy.text, catalogue.policies));
      sim::one_of_each_level(policies);
      tree.set_policy(policies.back(), origin(policy.place));
    });
  std::vector<sim::GivenSetting> given;
  for (const Setting& s : spec.set) given.push_back({s.path, json_dump(s.value), origin(s.place)});
  sim::apply_settings(tree, given, catalogue.policies);
  tree.set("run.seed", std::to_string(spec.seed), origin(spec.gpu.place));
  return tree;
}

bool is_ptx_file(const std::string& workload) { return workload.ends_with(".ptx"); }

/// Of a PTX file, and of the files that its kernel is given ("file:PATH" in args).
std::string hash_of_ptx_file(const Program& program) {
  std::uint64_t hash = sim::hash_of_file(program.workload);
  for (const Setting& s : program.parameters) {
    if (s.path != "args" || !s.value.is_string()) continue;
    std::istringstream items(s.value.get<std::string>());
    for (std::string item; std::getline(items, item, ',');)
      if (item.starts_with("file:")) hash = sim::hash_of_file(item.substr(5), hash);
  }
  return fmt::format("{:016x}", hash);
}

/// Hash of the code of all programs, and of what else decides what external ones do.
std::string code_hash(const Program& program, const Catalogue& catalogue) {
  if (program.external) return program.external->identity;
  if (is_ptx_file(program.workload)) return hash_of_ptx_file(program);
  return hash_text(catalogue.code(program.workload));
}
std::string code_hash(const CellSpec& spec, const Catalogue& catalogue) {
  std::string out;
  for (const Program& program : spec.programs) out += code_hash(program, catalogue);
  return out;
}

std::string configuration_hash(const std::string& workload, const Json& parameters,
                               const std::string& ptx, const Json& config,
                               std::uint64_t max_cycles) {
  return hash_text(json_dump(Json{{"workload", workload},
                                  {"parameters", parameters},
                                  {"ptx", ptx},
                                  {"config", config},
                                  {"max_cycles", max_cycles}}));
}

/// Of all that decides the op streams of a program; "" of what is recorded already.
std::string recording_hash(const Program& program, const sim::WorkloadInfo& info,
                           const sim::Setup& setup, const Catalogue& catalogue) {
  if (program.external && program.external->is_recorded()) return "";
  Json all = {{"workload", info.name},
              {"parameters", info.parameters},
              {"ptx", code_hash(program, catalogue)},
              {"file_version", trace::kFileVersion},
              {"seen", sim::seen_by_workload(setup).json()},
              {"program", program_of_recording(catalogue.sources, program.workload)}};
  if (program.external) {
    all["seen"].erase("seed");
    all["seen_by_program"] = sim::seen_by_program(setup).json();
  }
  return hash_text(json_dump(all));
}

Json settings_json(const Settings& settings) {
  Json out = Json::object();
  for (const Setting& s : settings) out[s.path] = s.value;
  return out;
}

sim::WorkloadInfo info_of(const std::vector<sim::NamedWorkload>& programs,
                          const std::optional<sim::CorunOptions>& corun) {
  if (!corun) return programs.front().info;
  std::vector<sim::WorkloadInfo> infos;
  for (const sim::NamedWorkload& program : programs) infos.push_back(program.info);
  return sim::corun_info(infos, *corun);
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
    for (const Json& program : list("programs")) spec.programs.push_back(read_program(program));
    if (spec.programs.empty()) fail("programs", "at least one");
    read_corun(spec);
    spec.gpu = {text("gpu"), {file_}};
    for (const Json& policy : list("policies")) spec.policies.push_back({item(policy), {file_}});
    spec.set = settings("set");
    spec.seed = whole("seed");
    spec.max_cycles = whole("max_cycles");
    for (const Setting& s : settings("analyses"))
      if (s.value.is_string()) spec.analyses[s.path] = {s.value, {file_}};
      else fail("analyses", "texts");
    spec.configuration = text("configuration");
    spec.program = text("program");
    if (out.kind == "recording" &&
        (spec.programs.size() != 1 || spec.programs.front().recording.empty()))
      fail("programs", "one with a recording to make");
    if (!errors_.empty()) throw InputError(std::move(errors_));
    return out;
  }

 private:
  Program read_program(const Json& json) {
    SpecReader own(json, file_);
    Program out;
    if (!json.is_object()) {
      fail("programs", "tables");
      return out;
    }
    out = {own.text("workload"), own.settings("parameters"), own.text("recording")};
    if (json.contains("foreign")) out.external = own.read_external(json.at("foreign"));
    errors_.insert(errors_.end(), own.errors_.begin(), own.errors_.end());
    return out;
  }
  ExternalProgram read_external(const Json& json) {
    ExternalProgram out;
    if (!json.is_object()) {
      fail("foreign", "a table");
      return out;
    }
    SpecReader own(json, file_);
    for (const Json& word : own.list("command")) out.command.push_back(own.item(word, "command"));
    for (const Json& input : own.list("inputs")) out.inputs.push_back(own.item(input, "inputs"));
    out.file = own.text("file");
    out.folder = own.text("folder");
    out.name = own.text("name");
    out.identity = own.text("identity");
    out.parameters = json.value("parameters", Json::object());
    out.place = {file_};
    errors_.insert(errors_.end(), own.errors_.begin(), own.errors_.end());
    return out;
  }
  void read_corun(CellSpec& spec) {
    const Json json = json_.value("corun", Json());
    if (json.is_null()) {
      if (spec.programs.size() > 1) fail("corun", "the horizon of programs that run together");
      return;
    }
    if (!json.is_object()) return fail("corun", "a table");
    SpecReader own(json, file_);
    spec.corun = {own.whole("horizon"), own.whole("warmup"), false, {}, own.whole("sample")};
    for (const Json& ipc : own.list("ipc_alone"))
      if (ipc.is_number()) spec.corun->ipc_alone.push_back(ipc);
      else own.fail("ipc_alone", "numbers");
    errors_.insert(errors_.end(), own.errors_.begin(), own.errors_.end());
  }
  void fail(const std::string& key, const std::string& expected) {
    const Json found = json_.value(key, Json());
    errors_.push_back(
        {{file_}, fmt::format("{}: expected {}, found {}", key, expected, json_dump(found))});
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
  std::string item(const Json& value, const char* key = "policies") {
    if (value.is_string()) return value;
    errors_.push_back({{file_}, key + (": expected texts, found " + json_dump(value))});
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

namespace {
Json external_json(const ExternalProgram& external) {
  return {{"command", external.command},  {"file", external.file},
          {"folder", external.folder},    {"inputs", external.inputs},
          {"name", external.name},        {"parameters", external.parameters},
          {"identity", external.identity}};
}

Json corun_json(const CellSpec& spec) {
  if (!spec.corun) return nullptr;
  return {{"horizon", spec.corun->horizon},
          {"warmup", spec.corun->warmup},
          {"ipc_alone", spec.corun->ipc_alone},
          {"sample", spec.corun->sample}};
}
}  // namespace

Json to_json(const CellSpec& spec, std::string_view kind) {
  Json programs = Json::array();
  for (const Program& program : spec.programs) {
    programs.push_back({{"workload", program.workload},
                        {"parameters", settings_json(program.parameters)},
                        {"recording", program.recording}});
    if (program.external) programs.back()["foreign"] = external_json(*program.external);
  }
  Json policies = Json::array();
  Json analyses = Json::object();
  for (const PlacedText& policy : spec.policies) policies.push_back(policy.text);
  for (const auto& [label, text] : spec.analyses) analyses[label] = text.text;
  return {{"schema", kSchema},
          {"kind", kind},
          {"programs", programs},
          {"corun", corun_json(spec)},
          {"gpu", spec.gpu.text},
          {"policies", policies},
          {"set", settings_json(spec.set)},
          {"seed", spec.seed},
          {"max_cycles", spec.max_cycles},
          {"analyses", analyses},
          {"configuration", spec.configuration},
          {"program", spec.program}};
}

CellFile read_cell(const Json& json, const std::string& file) {
  return SpecReader(json, file).read();
}

namespace {

sim::NamedWorkload named_of(const Program& program, const Catalogue& catalogue) {
  if (!program.external) {
    auto out =
        sim::make_workload(catalogue.workloads, program.workload, tree_of(program.parameters));
    if (is_ptx_file(program.workload))  // wherever it lies
      out.info.name = std::filesystem::path(program.workload).filename().string();
    return out;
  }
  RADDLE_ASSERT(!program.external->identity.empty());
  if (!program.parameters.empty())
    throw InputError(program.parameters.front().place,
                     fmt::format("{}: a program or a recording has no parameters that could be set",
                                 program.parameters.front().path));
  return {nullptr, {program.external->name, program.external->parameters}};
}

void check_capability(std::span<const sim::NamedWorkload> programs, const sim::Setup& setup) {
  for (const sim::NamedWorkload& program : programs)
    if (program.workload) sim::check_capability(*program.workload, program.info.name, setup);
}

/// They are replayed, and so is what a program has left.
void check_external(const CellSpec& spec, const sim::Setup& setup) {
  for (const Program& program : spec.programs) {
    if (!program.external) continue;
    if (setup.run.live)
      throw InputError(program.external->place,
                       "a program or a recording is timed as recorded: run.live must be false");
    if (needs_workload(spec.analyses))
      throw InputError(program.external->place,
                       "the analysis dependencies looks at an execution: expected a workload, "
                       "found a program or a recording");
  }
}

}  // namespace

ResolvedCell resolve(const CellSpec& spec, const Catalogue& catalogue) {
  // All parts are looked at before any is refused.
  std::vector<Diagnostic> errors;
  auto attempt = [&](const Place& place, auto make) {
    using Value = decltype(make());
    try {
      return std::optional<Value>(placed(place, make));
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
      return std::optional<Value>();
    }
  };
  auto setup = attempt(spec.gpu.place, [&] {
    return sim::read_setup(machine_of(spec, catalogue), catalogue.policies);
  });
  std::vector<sim::NamedWorkload> programs;
  for (const Program& program : spec.programs) {
    const Place place =
        program.parameters.empty() ? spec.gpu.place : program.parameters.front().place;
    auto named = attempt(place, [&] { return named_of(program, catalogue); });
    if (named) programs.push_back(std::move(*named));
  }
  if (setup)
    attempt(spec.gpu.place, [&] {
      check_external(spec, *setup);
      check_capability(programs, *setup);
      return true;
    });
  if (setup)
    attempt(spec.gpu.place, [&] {
      if (spec.corun) sim::check_corun(spec.programs.size(), *setup, {}, *spec.corun);
      else sim::check_tenants(*setup, 1);
      return true;
    });
  if (!errors.empty()) throw InputError(std::move(errors));

  RADDLE_ASSERT(programs.size() == spec.programs.size());
  sim::WorkloadInfo info = info_of(programs, spec.corun);
  std::string configuration = configuration_hash(
      info.name, info.parameters, code_hash(spec, catalogue), setup->config(), spec.max_cycles);
  std::vector<std::string> recordings;
  if (!setup->run.live)
    for (std::size_t i = 0; i < programs.size(); ++i)
      recordings.push_back(recording_hash(spec.programs[i], programs[i].info, *setup, catalogue));
  std::vector<std::string> names;
  for (const Program& program : spec.programs) names.push_back(program.workload);
  std::string program = program_of_run(catalogue.sources, *setup, names);
  return {std::move(*setup),        std::move(programs), std::move(info),
          std::move(configuration), std::move(program),  std::move(recordings)};
}

Json resolved_machine(const CellSpec& spec, const Catalogue& catalogue) {
  sim::Setup setup = placed(spec.gpu.place, [&] {
    return sim::read_setup(machine_of(spec, catalogue), catalogue.policies);
  });
  return {{"name", setup.machine.name}, {"config", setup.config()}};
}

std::string configuration_of(const Json& result, const CellSpec& spec, const Catalogue& catalogue) {
  const Json& workload = result.at("workload");
  return configuration_hash(workload.at("name"), workload.at("parameters"),
                            code_hash(spec, catalogue), result.at("config"), spec.max_cycles);
}

bool needs_workload(const std::map<std::string, PlacedText>& analyses) {
  return std::ranges::any_of(analyses, [](const auto& named) {
    const auto request = sim::read_analysis(named.second.text, named.second.place.file);
    return request.choice->observes() == sim::Observed::Words;
  });
}

namespace {
/// The file to time; "" to execute.
std::string recording_of(const Program& program) {
  if (!program.recording.empty() || !program.external) return program.recording;
  const ExternalProgram& external = *program.external;
  return external.is_recorded() ? std::filesystem::path(external.folder) / external.file : "";
}

sim::Result run_corun(const CellSpec& spec, ResolvedCell& resolved, const sim::Options& options) {
  std::vector<sim::TenantProgram> tenants;
  for (std::size_t p = 0; p < spec.programs.size(); ++p) {
    const sim::NamedWorkload& named = resolved.programs[p];
    const std::string recording = recording_of(spec.programs[p]);
    tenants.push_back(recording.empty() ? sim::execute_tenant(*named.workload, named.info,
                                                              resolved.setup, options)
                                        : sim::load_tenant(std::make_shared<trace::FileReader>(
                                              recording, sim::recording_checks())));
  }
  return sim::corun(tenants, resolved.setup, options, *spec.corun);
}
}  // namespace

Json run_cell(const CellFile& cell, const Catalogue& catalogue) {
  const CellSpec& spec = cell.spec;
  RADDLE_ASSERT(!spec.programs.empty());
  ResolvedCell resolved = resolve(spec, catalogue);
  if (!spec.configuration.empty() && spec.configuration != resolved.configuration)
    throw InputError(
        "this program makes another simulation of the specification than the one that "
        "wrote it: both must be the same build");
  sim::Options options;
  options.max_stream_bytes = kMaxStreamBytes;
  if (spec.max_cycles != 0) options.max_cycles = spec.max_cycles;
  for (const auto& [label, text] : spec.analyses)
    options.analyses.push_back(sim::read_analysis(text.text, text.place.file));
  if (spec.corun) return sim::to_json(run_corun(spec, resolved, options));
  const sim::NamedWorkload& named = resolved.programs.front();
  const std::string recording = recording_of(spec.programs.front());
  if (cell.kind == "recording" && spec.programs.front().external)
    return catalogue.external->record(*spec.programs.front().external, resolved.setup, options,
                                      recording);
  if (cell.kind == "recording")
    return sim::to_json(
        sim::record(*named.workload, named.info, resolved.setup, options, recording));
  const std::span<sim::Setup> one(&resolved.setup, 1);
  if (recording.empty())
    return sim::to_json(sim::simulate(*named.workload, named.info, one, options).front());
  const trace::FileReader file(recording, sim::recording_checks());
  return sim::to_json(sim::replay(file, one, options).front());
}

Json error_result(const std::string& kind, const std::string& message) {
  return {{"error", {{"kind", kind}, {"message", message}}}};
}

}  // namespace raddle::lab
