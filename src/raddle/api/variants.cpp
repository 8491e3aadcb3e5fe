#include "raddle/api/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "raddle/lab/file/sweep_text.h"
#include "raddle/sim/setup/apply_settings.h"
#include "raddle/sim/setup/ownership.h"
#include "raddle/sim/setup/what_if.h"

namespace raddle::api {

namespace {

constexpr std::string_view kPolicyPrefix = "policy.", kSeed = "run.seed";

/// Level and key of "policy.throttle.limit".
struct PolicyPath {
  std::string level, key;
};
std::optional<PolicyPath> policy_path(const std::string& path) {
  if (!path.starts_with(kPolicyPrefix)) return std::nullopt;
  const std::size_t dot = path.find('.', kPolicyPrefix.size());
  if (dot == std::string::npos) return std::nullopt;
  return PolicyPath{path.substr(kPolicyPrefix.size(), dot - kPolicyPrefix.size()),
                    path.substr(dot + 1)};
}

/// Whether the variant's policy has the parameter; other settings are every machine's.
bool applies(const lab::SweepText& sweep, const nlohmann::ordered_json& config) {
  const auto at = policy_path(sweep.path);
  if (!at) return true;
  const auto level = config.at("policy").find(at->level);
  return level != config.at("policy").end() && level->contains(at->key);
}

std::string label_of(const lab::SweepText& sweep, const std::string& value) {
  const auto at = policy_path(sweep.path);
  return (at ? at->key : sweep.path) + "=" + value;
}

void add_to(std::string& label, const std::string& part) {
  label += (label.empty() ? "" : " ") + part;
}

/// The last setting of a variant as results will have it: what a factor comes to.
std::string shown_value(const Variant& variant, const std::string& path, const std::string& value,
                        const Settings& common, const policy::Registries& registries) {
  if (!sim::is_factor(value)) return value;
  const std::string number = sim::number_text(tree_of(common, variant, registries), path);
  return number.empty() ? value : number;
}

/// Each of `variants` once for each value of the sweep, those apart that know no such parameter.
std::vector<Variant> swept(const std::vector<Variant>& variants, const lab::SweepText& sweep,
                           const Settings& common, const policy::Registries& registries) {
  std::vector<Variant> out;
  bool any = false;
  for (const Variant& variant : variants) {
    if (!applies(sweep,
                 sim::read_setup(tree_of(common, variant, registries), registries).config())) {
      out.push_back(variant);
      continue;
    }
    any = true;
    std::set<std::string> shown;
    for (const std::string& value : sweep.values) {
      Variant& one = out.emplace_back(variant);
      one.settings.push_back(sweep.path + "=" + value);
      one.origin = sweep.origin;
      const std::string label =
          label_of(sweep, shown_value(one, sweep.path, value, common, registries));
      if (!shown.insert(label).second)
        throw InputError({sweep.origin}, fmt::format("{} is there twice", label));
      add_to(one.label, label);
      if (sweep.path == kSeed) one.seed = value;
      else add_to(one.of_any_seed, label);
    }
    if (out.size() > lab::kMaxSwept)
      throw InputError({sweep.origin},
                       fmt::format("expected at most {} ways to run, found more", lab::kMaxSwept));
  }
  if (!any)
    throw InputError({sweep.origin},
                     "no policy that is compared has such a parameter; name one in --policies");
  return out;
}

/// Each as it is, with each ideal part that its machine can have, and with all of these.
std::vector<Variant> with_bounds(const std::vector<Variant>& variants, const Settings& common,
                                 const policy::Registries& registries) {
  std::vector<Variant> out;
  for (const Variant& variant : variants) {
    Variant as_it_is = variant;
    if (as_it_is.label.empty()) as_it_is.label = as_it_is.of_any_seed = "as it is";
    out.push_back(std::move(as_it_is));
    const sim::Setup setup = sim::read_setup(tree_of(common, variant, registries), registries);
    Variant all = variant;
    all.origin = "analyze bounds";
    for (const std::string& part :
         timing::ideal_parts(setup.machine, sim::caches_own_lines(setup))) {
      const std::string setting = std::string(sim::find_part(part)->ideal) + "=true";
      if (std::ranges::find(common.set, setting) != common.set.end()) continue;  // as it is
      Variant one = variant;
      one.origin = all.origin;
      one.settings.push_back(setting);
      add_to(one.label, "ideal " + part);
      add_to(one.of_any_seed, "ideal " + part);
      all.settings.push_back(one.settings.back());
      out.push_back(std::move(one));
    }
    add_to(all.label, "all ideal");
    add_to(all.of_any_seed, "all ideal");
    out.push_back(std::move(all));
  }
  return out;
}

/// The configuration of a changed machine. What the change breaks elsewhere in the machine's file
/// is said of the change, too.
nlohmann::ordered_json changed_config(const Variant& changed, const Settings& common,
                                      const policy::Registries& registries) {
  const std::string& origin = changed.changes.front().origin;
  try {
    return sim::read_setup(tree_of(common, changed, registries), registries).config();
  } catch (const InputError& error) {
    std::vector<Diagnostic> all = error.diagnostics();
    for (Diagnostic& one : all)
      if (one.place.file != origin) one.message = origin + ": " + one.message;
    throw InputError(std::move(all));
  }
}

/// Each as it is, and with each of what may be asked of its machine.
std::vector<Variant> with_what_ifs(const std::vector<Variant>& variants,
                                   const std::vector<std::string>& lists, const Settings& common,
                                   const policy::Registries& registries) {
  const std::vector<sim::WhatIf> all = sim::read_what_ifs(lists);
  std::vector<Variant> out;
  for (const Variant& variant : variants) {
    Variant as_it_is = variant;
    if (as_it_is.label.empty()) as_it_is.label = as_it_is.of_any_seed = "as it is";
    const config::Tree tree = tree_of(common, variant, registries);
    const auto config = sim::read_setup(tree, registries).config();
    out.push_back(as_it_is);
    for (const sim::WhatIf& what_if : all) {
      Variant& one = out.emplace_back(as_it_is);
      one.label += " " + what_if.text;
      one.what_if = what_if.text;
      one.changes = sim::settings_of(what_if, tree);
      if (changed_config(one, common, registries) == config)
        throw InputError(
            {one.changes.front().origin},
            fmt::format("changes nothing: {} has that value already", one.changes.front().path));
    }
  }
  if (out.size() > lab::kMaxSwept)
    throw InputError({"--what-if"}, fmt::format("expected at most {} ways to run, found {}",
                                                lab::kMaxSwept, out.size()));
  return out;
}

}  // namespace

bool is_list(const std::string& setting) {
  const std::size_t value = setting.find('=') + 1;  // 0 where there is none
  return value != 0 && value < setting.size() &&
         std::string_view("\"'[{").find(setting[value]) == std::string_view::npos &&
         setting.find(',', value) != std::string::npos;
}

std::vector<report::Stream> streams_of(const Work& work, const std::vector<Variant>& variants,
                                       const std::vector<sim::Setup>& machines) {
  RADDLE_ASSERT(variants.size() == machines.size());
  std::vector<report::Stream> out;
  std::size_t as_it_is = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (variants[i].what_if.empty()) as_it_is = i;
    out.push_back(work.stream_of(machines[as_it_is], machines[i]));
  }
  return out;
}

bool several_seeds(const std::vector<Variant>& variants) {
  return std::ranges::any_of(variants,
                             [&](const Variant& one) { return one.seed != variants.front().seed; });
}

config::Tree tree_of(const Settings& common, const Variant& variant,
                     const policy::Registries& registries) {
  Settings single = common;
  std::erase_if(single.set, is_list);
  config::SaidOnce said;
  for (const std::string& setting : single.set) said.add(setting, "--set " + setting);
  for (const std::string& setting : variant.policies)
    said.add_policy(setting, "--policies " + setting);
  for (const std::string& setting : variant.settings) said.add(setting, variant.origin);
  config::Tree tree = single.tree(registries, variant.policies);
  std::vector<sim::GivenSetting> given;
  for (const std::string& setting : variant.settings)
    given.push_back(sim::given_setting(setting, variant.origin));
  sim::apply_settings(tree, given, registries);
  sim::apply_settings(tree, variant.changes, registries);
  return tree;
}

std::vector<Variant> make_variants(const Settings& common, const Comparison& comparison,
                                   const policy::Registries& registries) {
  config::SaidOnce said = common.said(registries);
  for (const std::string& text : comparison.sweeps)
    said.add_path(std::string_view(text).substr(0, text.find('=')), "--sweep " + text);
  const std::string seeds = fmt::format("--seeds {}", comparison.seeds);
  if (comparison.seeds != 0) said.add_path(kSeed, seeds);
  std::vector<Variant> out;
  if (comparison.policies.empty()) out.push_back({});
  else
    for (PolicySet& set : parse_policies(comparison.policies, registries))
      out.push_back({set.label, set.label, std::move(set.settings), {}, {}});
  for (const std::string& setting : common.set)
    if (is_list(setting))
      out = swept(out, lab::read_sweep(setting, "--set " + setting), common, registries);
  for (const std::string& text : comparison.sweeps)
    out = swept(out, lab::read_sweep(text, "--sweep " + text), common, registries);
  if (comparison.seeds != 0)
    out = swept(out, lab::read_sweep(fmt::format("{}=1..{}", kSeed, comparison.seeds), seeds),
                common, registries);
  if (comparison.bounds) return with_bounds(out, common, registries);
  if (!comparison.what_if.empty())
    return with_what_ifs(out, comparison.what_if, common, registries);
  if (comparison.policies.empty() && out.size() == 1 && out.front().label.empty())
    throw InputError(
        "compare: expected what to compare: --policies A,B, --set PATH=A,B, --sweep PATH=A..B, "
        "--seeds N or --what-if NAME=x2");
  return out;
}

}  // namespace raddle::api
