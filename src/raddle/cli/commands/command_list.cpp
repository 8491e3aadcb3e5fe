// raddle list: what there is, one line each.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/gpu_settings.h"
#include "raddle/config/describer.h"
#include "raddle/lab/file/library.h"
#include "raddle/policy/all.h"
#include "raddle/runtime/workload.h"
#include "raddle/sim/profile/analysis.h"
#include "raddle/sim/result/catalogue.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/what_if.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;

Json gpus() {
  Json out = Json::array();
  for (const sim::EmbeddedToml& gpu : sim::embedded_gpus()) {
    const config::Tree tree = sim::load_gpu(std::string(gpu.name));
    const config::Node* source = tree.find("source");
    const auto* text = source == nullptr ? nullptr : std::get_if<std::string>(&source->value);
    out.push_back({{"name", gpu.name}, {"doc", text == nullptr ? "" : *text}});
  }
  return out;
}

Json workloads() {
  Json out = Json::array();
  const runtime::Workloads all = runtime::all_workloads();
  for (const std::string& name : all.names()) {
    config::Describer parameters;
    auto workload = all.make(name);
    workload->set_size(runtime::Size::Small);
    workload->visit(parameters);
    out.push_back({{"name", name}, {"doc", all.doc(name)}, {"parameters", parameters.json()}});
    if (const std::uint32_t minimum = workload->min_capability(); minimum != 0)
      out.back()["min_capability"] = fmt::format("{}.{}", minimum / 10, minimum % 10);
  }
  return out;
}

Json policies() {
  Json out = Json::array();
  auto add = [&](const policy::Level& level, const auto& registry) {
    for (const std::string& policy : registry.names()) {
      auto choice = registry.choose(policy);
      config::Describer parameters;
      choice->visit(parameters);
      out.push_back({{"name", fmt::format("{}={}", level.name, policy)},
                     {"doc", choice->doc()},
                     {"parameters", parameters.json()}});
    }
  };
  const policy::Registries all = policy::all_policies();
  policy::each_level(add, all);
  return out;
}

Json experiments() {
  Json out = Json::array();
  const lab::Library library("");
  for (const std::string& name : library.papers()) {
    const lab::Paper paper = library.paper(name, lab::Scale::Quick);
    for (const lab::Experiment& e : paper.experiments)
      out.push_back({{"name", e.full_id()},
                     {"doc", e.title},
                     {"kind", e.kind},
                     {"priority", e.priority},
                     {"source", e.source}});
  }
  return out;
}

Json analyses() {
  Json out = Json::array();
  const sim::AnalysisRegistry all = sim::all_analyses();
  for (const std::string& name : all.names()) {
    const auto choice = all.choose(name);
    config::Describer parameters, figures;
    choice->visit(parameters);
    choice->describe(figures);
    out.push_back({{"name", name},
                   {"doc", choice->doc()},
                   {"observes", sim::kObservedNames[static_cast<unsigned>(choice->observes())]},
                   {"parameters", parameters.json()},
                   {"figures", Json::array()}});
    for (const config::FieldDescription& figure : figures.fields())
      out.back()["figures"].push_back(
          {{"name", figure.path}, {"unit", figure.unit}, {"doc", figure.doc}});
  }
  return out;
}

Json what_ifs() {
  Json out = Json::array();
  for (const sim::MachinePart& part : sim::machine_parts()) {
    const std::string along = part.along.empty() ? "" : " and " + std::string(part.along);
    const std::string ideal = part.ideal.empty() ? "" : "; ideal: " + std::string(part.ideal);
    out.push_back({{"name", part.name},
                   {"doc", fmt::format("{} ({}{}{})", part.doc, part.path, along, ideal)},
                   {"setting", part.path},
                   {"along", part.along},
                   {"ideal", part.ideal}});
  }
  return out;
}

std::string metrics(const std::string& name, bool json) {
  const policy::Registries policies = policy::all_policies();
  std::vector<sim::CatalogueEntry> entries = sim::catalogue(policies);
  if (!name.empty()) entries = sim::find_metrics(entries, name);
  if (json) {
    Json out = Json::array();
    for (const sim::CatalogueEntry& entry : entries) out.push_back(sim::to_json(entry));
    return json_dump(out, 2) + "\n";
  }
  std::string out;
  for (const sim::CatalogueEntry& entry : entries) {
    const std::string unit = entry.unit.empty() ? "" : " [" + entry.unit + "]";
    const std::string ncu = entry.ncu.empty() || !name.empty() ? "" : " (ncu: " + entry.ncu + ")";
    out += fmt::format("{:<26}{} {}{}\n", entry.name, unit, entry.meaning, ncu);
    if (name.empty()) continue;
    out += fmt::format("  counted as {}; shown of: {}\n", entry.source,
                       stats::shown_text(entry.shown));
    if (!entry.ncu.empty()) out += fmt::format("  Nsight Compute: {}\n", entry.ncu);
  }
  return out;
}

/// What can be listed with one description an item; metrics have a form of their own.
struct Listing {
  const char* name;
  Json (*items)();
};
constexpr std::array<Listing, 6> kListings = {{{"gpus", gpus},
                                               {"workloads", workloads},
                                               {"policies", policies},
                                               {"experiments", experiments},
                                               {"analyses", analyses},
                                               {"what-if", what_ifs}}};

/// "gpus, workloads ... or metrics".
std::string names_of_listings() {
  std::string out;
  for (const Listing& one : kListings) out += std::string(one.name) + ", ";
  return out.substr(0, out.size() - 2) + " or metrics";
}

/// "period, streak": for policies, whose parameters one must know to use them.
std::string parameter_names(const Json& item) {
  std::string out;
  for (const Json& parameter : item.value("parameters", Json::array()))
    out += (out.empty() ? "" : ", ") + parameter.at("path").get<std::string>();
  return out;
}

/// The machine in a few words, before where it is from.
std::string size_of(const config::Tree& tree) {
  const auto number = [&](std::string_view path) {
    const config::Node* node = tree.find(path);
    if (node == nullptr) return 0.0;
    if (const auto* whole = std::get_if<std::uint64_t>(&node->value))
      return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&node->value);
    return real == nullptr ? 0.0 : *real;
  };
  // l2.size_kib is of a slice: what is set, and of how many.
  return fmt::format("{} SMs, {} MHz, L2 {} x {} KiB; ", number("sm.count"),
                     number("core_clock_mhz"), number("l2.slices"), number("l2.size_kib"));
}

struct ListCommand {
  std::string what, name;
  bool json = false;

  int operator()() const {
    if (what == "metrics") {
      std::fputs(metrics(name, json).c_str(), stdout);
      return 0;
    }
    if (what == "gpus" && !name.empty()) {
      const GpuDescription gpu = describe_gpu(name);
      std::fputs((json ? json_dump(gpu_json(gpu), 2) + "\n" : gpu_text(gpu)).c_str(), stdout);
      return 0;
    }
    if (!name.empty())
      throw InputError("'" + name +
                       "': a name goes with `raddle list gpus` and `raddle list metrics` only");
    const auto* listing = std::ranges::find(
        kListings, what, [](const Listing& one) { return std::string_view(one.name); });
    RADDLE_ASSERT(listing != kListings.end());  // the option's check
    const Json items = listing->items();
    if (json) {
      std::fputs((json_dump(items, 2) + "\n").c_str(), stdout);
      return 0;
    }
    for (const Json& item : items) {
      const std::string name = item["name"];
      std::string doc = item["doc"];
      if (what == "gpus") doc = size_of(sim::load_gpu(name)) + doc;
      if (const std::string names = parameter_names(item);
          !names.empty() && (what == "policies" || what == "analyses"))
        doc += " [" + names + "]";
      std::fputs(fmt::format("{:<16} {}\n", name, doc).c_str(), stdout);
    }
    return 0;
  }
};

}  // namespace

Command add_list(CLI::App& app) {
  auto command = std::make_shared<ListCommand>();
  CLI::App* list =
      app.add_subcommand("list", "what there is: " + names_of_listings() + ", one line each");
  std::vector<std::string> names;
  for (const Listing& one : kListings) names.emplace_back(one.name);
  names.emplace_back("metrics");
  list->add_option("what", command->what, names_of_listings())
      ->required()
      ->check(CLI::IsMember(names));
  list->add_option("name", command->name,
                   "of metrics: these alone, and all that is known of each; of gpus, or a "
                   "machine file: all settings, with their sources")
      ->type_name("NAME");
  list->add_flag("--json", command->json, "with all that is known, as JSON");
  return {list, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
