#include "raddle/cli/shared/kept_compare.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "raddle/api/recording.h"
#include "raddle/base/json.h"
#include "raddle/cli/shared/exec.h"
#include "raddle/cli/shared/reports.h"
#include "raddle/cli/shared/verdict_table.h"
#include "raddle/lab/file/experiment_reader.h"
#include "raddle/lab/file/library.h"
#include "raddle/lab/file/section.h"
#include "raddle/lab/plan/external_programs.h"
#include "raddle/policy/all.h"
#include "raddle/sim/setup/policy_names.h"

namespace raddle::cli {

namespace {

using SortedJson = nlohmann::json;

/// Texts in JSON are texts in TOML, which holds UTF-8 only, and no character 127 but escaped.
std::string quoted(const std::string& text) {
  if (!is_utf8(text))
    throw InputError({valid_utf8(text)}, "expected a name in UTF-8 with --results");
  std::string out;
  for (const char c : json_dump(SortedJson(text)))
    out += c == '\x7f' ? std::string("\\u007f") : std::string(1, c);
  return out;
}

std::string list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + quoted(text);
  return "[" + out + "]";
}

/// "w2_my_rdl": a name of its own, by which progress is told.
std::string numbered(char kind, std::size_t number, const std::string& text) {
  std::string out = fmt::format("{}{}_", kind, number);
  for (const unsigned char c : text.substr(0, 40))
    out += std::isalnum(c) ? static_cast<char>(c) : '_';
  return out;
}

/// { "path" = value, ... } of "path=value" texts, numbers as numbers.
std::string table(const std::vector<std::string>& settings) {
  std::string out;
  for (const std::string& text : settings) {
    const std::size_t equals = text.find('=');
    config::Tree tree;
    tree.set("value", text.substr(equals + 1), text);
    const auto value = lab::scalar(*tree.find("value"));
    if (!value) throw InputError({text}, "expected a number or a text behind '='");
    out += fmt::format("{}{} = {}", out.empty() ? " " : ", ", quoted(text.substr(0, equals)),
                       value->dump());
  }
  return "{" + out + " }";
}

/// A recording's runs have the seed of its input.
std::string recording(const std::string& file) {
  const nlohmann::ordered_json seed = api::open_recording(file)->header().at("seed");
  return "recording = " + quoted(file) +
         (seed == 1 ? "" : "\nset = { \"run.seed\" = " + json_dump(seed) + " }");
}

std::string workload(const std::vector<std::string>& words, bool seeds) {
  const std::string& first = words.front();
  if (api::is_recording(first)) return seeds ? "recording = " + quoted(first) : recording(first);
  if (is_program(first)) return "program = " + list(words);
  return "workload = " + quoted(first) +
         "\nparameters = " + table({words.begin() + 1, words.end()});
}

/// Those that a way to run has, and of those of all ways (--policy) the ones of other levels.
std::vector<std::string> policies_of(const std::vector<std::string>& common,
                                     const std::vector<std::string>& own) {
  const policy::Registries registries = policy::all_policies();
  const auto level = [&](const std::string& item) {
    const std::string full = sim::with_level(item, registries);
    return full.substr(0, full.find('='));
  };
  std::vector<std::string> out;
  for (const std::string& item : common)
    if (std::ranges::none_of(own, [&](const auto& o) { return level(o) == level(item); }))
      out.push_back(item);
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

std::vector<std::string> without_seed(std::vector<std::string> settings) {
  std::erase_if(settings, [](const std::string& text) { return text.starts_with("run.seed="); });
  return settings;
}

/// "1, 2, 3", each once. Points of an axis are numbers as figures draw them.
std::string seeds_of(const KeptCompare& compare) {
  std::vector<std::string> seeds;
  for (const Variant& variant : compare.variants)
    if (std::strtoull(variant.seed.c_str(), nullptr, 10) > lab::kLargestPoint)
      throw InputError({"run.seed=" + variant.seed},
                       fmt::format("expected at most {} with --results", lab::kLargestPoint));
  for (const Variant& variant : compare.variants)
    if (std::ranges::find(seeds, variant.seed) == seeds.end()) seeds.push_back(variant.seed);
  std::string out;
  for (const std::string& seed : seeds) out += (out.empty() ? "" : ", ") + seed;
  return out;
}

}  // namespace

std::string experiment_of(const KeptCompare& compare) {
  const CommonOptions& common = compare.common;
  std::vector<std::string> settings;
  for (const std::string& text : common.set)
    if (!api::is_list(text)) settings.push_back(text);
  if (common.cold_l2) settings.emplace_back("run.cold_l2=true");
  if (!common.sampling_error.empty())
    settings.push_back("run.sampling_error=" + common.sampling_error);
  std::string out = fmt::format("gpu = {}\nset = {}\n", quoted(common.gpu), table(settings));
  if (common.seed != 0) out += fmt::format("seed = {}\n", common.seed);
  if (common.max_cycles != 0) out += fmt::format("max_cycles = {}\n", common.max_cycles);

  std::string definitions;
  std::vector<std::string> works, variants;
  const auto add_work = [&](const std::vector<std::string>& words, const std::string& what) {
    const std::string name = std::filesystem::path(words.front()).filename();
    works.push_back(numbered('w', works.size() + 1, name));
    definitions += fmt::format("\n[workloads.{}]\ntitle = {}\n{}\n", works.back(),
                               quoted(joined(words)), what);
  };
  const bool seeds = api::several_seeds(compare.variants);
  for (const std::vector<std::string>& words : compare.works)
    add_work(words, workload(words, seeds || common.seed != 0));
  if (!compare.program.empty()) {
    std::string program = "program = " + list(compare.program);
    if (!compare.inputs.empty()) program += "\ninputs = " + list(compare.inputs);
    add_work(compare.program, program);
  }
  std::vector<std::string> seen;
  for (const Variant& variant : compare.variants) {
    const std::string& label = seeds ? variant.of_any_seed : variant.label;
    if (std::ranges::find(seen, label) != seen.end()) continue;  // of another seed
    seen.push_back(label);
    variants.push_back(numbered('v', variants.size() + 1, label));
    const std::vector<std::string> policies = policies_of(common.policy, variant.policies);
    definitions +=
        fmt::format("\n[variants.{}]\ntitle = {}\npolicies = {}\nset = {}\n", variants.back(),
                    quoted(label.empty() ? "all" : label), list(policies),
                    table(seeds ? without_seed(variant.settings) : variant.settings));
  }
  if (seeds)
    definitions += "\n[axes.seed]\npath = \"run.seed\"\nvalues = [" + seeds_of(compare) + "]\n";
  return out +
         fmt::format("runs = [{{ workloads = {}, variants = {}{} }}]\n", list(works),
                     list(variants), seeds ? ", axes = [\"seed\"]" : "") +
         definitions;
}

namespace {
/// Somebody has put a file or a pipe there, to be read.
bool standard_input_is_given() {
  struct stat input {};
  return fstat(STDIN_FILENO, &input) == 0 &&
         (S_ISFIFO(input.st_mode) || (S_ISREG(input.st_mode) && input.st_size != 0));
}
}  // namespace

int run_kept(const KeptCompare& compare, const LabOptions& lab,
             const std::vector<std::string>& arguments) {
  if (!compare.program.empty() && !lab.quiet && standard_input_is_given())
    std::fprintf(stderr, "raddle: with --results %s gets no standard input\n",
                 valid_utf8(compare.program.front()).c_str());
  const std::string file = std::filesystem::current_path() / "compare.toml";  // is not written
  lab::Paper paper =
      lab::read_paper(std::nullopt, {{file, experiment_of(compare)}}, "compare", lab.scale_value());
  lab::identify(paper, catalogue());
  const auto out = run_experiments(paper, lab::select(paper, ""), lab, arguments);
  if (!out) return 0;
  if (!lab.quiet && lab.json != "-")
    std::fputs(figure_tables(out->document.at("experiments").front()).c_str(), stdout);
  std::fputs(failed_runs(out->document.at("experiments").front()).c_str(), stderr);
  return out->summary.any_failed() ? 1 : 0;
}

}  // namespace raddle::cli
