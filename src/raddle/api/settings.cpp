#include "raddle/api/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/lab/run/local_executor.h"
#include "raddle/sim/setup/apply_settings.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/policy_names.h"

namespace raddle::api {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string with_level(const std::string& policy, const policy::Registries& policies) {
  try {
    return sim::with_level(policy, policies);
  } catch (const InputError& error) {
    throw InputError({"--policy " + policy}, error.what());
  }
}

}  // namespace

void Settings::check() const {
  if (threads < 1 || threads > kMaxThreads)
    throw InputError({"--threads"}, fmt::format("expected a whole number from 1 to {}, found {}",
                                                kMaxThreads, threads));
  if (!(max_stream_gib >= kMinStreamGib && max_stream_gib <= kMaxStreamGib))  // nor NaN
    throw InputError({"--max-stream"}, fmt::format("expected a number from {} to {}, found '{}'",
                                                   kMinStreamGib, kMaxStreamGib, max_stream_gib));
  if (functional && live)
    throw InputError("--functional and --live exclude each other: --functional has no timing");
  for (const std::string& text : set)
    for (const char* path : {"run.cold_l2=", "run.sampling_error="})
      if (functional && text.starts_with(path))
        throw InputError({"--set " + text}, "is of timing, which --functional leaves out");
}

void Settings::refuse(std::initializer_list<std::string_view> options, std::string_view of) const {
  struct Option {
    std::string_view name;
    bool given;
    std::string_view path = {};  ///< of the setting that says the same
  };
  const Option all[] = {{"--policy", !policy.empty()},
                        {"--check", !checks.empty()},
                        {"--functional", functional},
                        {"--no-skip", no_skip},
                        {"--first-launches", first_launches != 0},
                        {"--max-cycles", max_cycles != 0},
                        {"--max-stream", max_stream_gib != Settings().max_stream_gib},
                        {"--threads", threads != 1},
                        {"--seed", seed != 0, "run.seed"},
                        {"--live", live, "run.live"},
                        {"--cold-l2", cold_l2, "run.cold_l2"},
                        {"--sampling-error", !sampling_error.empty(), "run.sampling_error"}};
  for (const std::string_view refused : options) {
    const auto* option = std::ranges::find(all, refused, &Option::name);
    RADDLE_ASSERT(option != std::end(all));
    const auto says_it = [&](std::string_view text) {
      return !option->path.empty() && text.starts_with(std::string(option->path) + "=");
    };
    const auto setting = std::ranges::find_if(set, says_it);
    if (!option->given && setting == set.end()) continue;
    throw InputError(fmt::format("{} does not hold for {}: leave it out",
                                 option->given ? std::string(refused) : "--set " + *setting, of));
  }
}

void Settings::check_always_timed(const std::string& why) const {
  if (functional || live) throw InputError(why + "; --functional and --live are for run");
}

void Settings::check_record(bool of_recording) const {
  refuse({"--policy", "--check", "--functional", "--live", "--cold-l2", "--sampling-error",
          "--no-skip", "--max-cycles", "--threads"},
         "record, which times nothing");
  if (of_recording) refuse({"--seed", "--first-launches", "--max-stream"}, "a recording or trace");
}

bool Settings::says_seed() const {
  return seed != 0 || std::ranges::any_of(set, [](const std::string& text) {
           return text.starts_with("run.seed=");
         });
}

std::vector<Settings::OptionSetting> Settings::option_settings() const {
  std::vector<OptionSetting> out;
  if (seed != 0) out.push_back({"run.seed", std::to_string(seed), "--seed"});
  if (live) out.push_back({"run.live", "true", "--live"});
  if (cold_l2) out.push_back({"run.cold_l2", "true", "--cold-l2"});
  if (!sampling_error.empty())
    out.push_back({"run.sampling_error", sampling_error, "--sampling-error"});
  return out;
}

config::SaidOnce Settings::said(const policy::Registries& policies) const {
  config::SaidOnce out;
  for (const OptionSetting& own : option_settings()) out.add_path(own.path, own.option);
  for (const std::string& text : policy)
    out.add_policy(with_level(text, policies), "--policy " + text);
  for (const std::string& text : set) out.add(text, "--set " + text);
  return out;
}

config::Tree Settings::tree(const policy::Registries& policies,
                            std::span<const std::string> alternative) const {
  said(policies);
  config::Tree tree = sim::load_gpu(gpu);
  for (const std::string& text : policy)
    tree.set_policy(with_level(text, policies), "--policy " + text);
  for (const std::string& text : alternative) tree.set_policy(text, "--policies " + text);
  // After the policies, whose parameters they may be.
  std::vector<sim::GivenSetting> given;
  for (const std::string& text : set) given.push_back(sim::given_setting(text, "--set " + text));
  sim::apply_settings(tree, given, policies);
  for (const OptionSetting& own : option_settings()) tree.set(own.path, own.value, own.option);
  return tree;
}

sim::Options Settings::options(const sim::Setup& setup) const {
  if (functional && !policy.empty())
    throw InputError({"--policy " + policy.front()}, "is of timing, which --functional leaves out");
  sim::Options out;
  out.functional = functional;
  out.skip = !no_skip;
  // More than there are cores would only take turns; results are the same for any number.
  out.threads = std::min(threads, std::max(2u, lab::usable_cores()));
  out.max_stream_bytes = static_cast<std::uint64_t>(max_stream_gib * (1u << 30));
  out.first_launches = first_launches;
  out.checks = exec::check_options(checks);
  if (functional && setup.run.live)
    throw InputError("--functional times nothing: leave out run.live");
  if (out.checks.any() && setup.run.live)
    throw InputError("--check looks at execution in order: leave out --live (run.live)");
  if (max_cycles != 0) {
    out.max_cycles = max_cycles;
    // A scheduler issues at most one instruction a cycle, so whoever executes more than this cannot
    // end in time.
    const std::uint64_t per_cycle =
        std::uint64_t{setup.machine.sm.count} * setup.machine.sm.schedulers;
    out.max_warp_instructions =
        max_cycles > ~0ull / per_cycle ? ~0ull : std::max<std::uint64_t>(max_cycles * per_cycle, 1);
  }
  return out;
}

sim::NamedWorkload make_workload(const std::string& name,
                                 const std::vector<std::string>& parameters) {
  config::Tree tree;
  config::SaidOnce said;
  for (const std::string& text : parameters) {
    tree.set_option(text, name + " " + text);
    said.add_part(text, name + " " + text);
  }
  return sim::make_workload(runtime::all_workloads(), name, tree);
}

// --- --policies ---------------------------------------------------------------------------------

namespace {

/// A comma separates policies, but also the parameters of one:
/// "two_level:group_size=4,inner=rr,gto" are two.
std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> out;
  for (std::string& part : split(list, ',')) {
    const std::size_t equal = part.find('=');
    const std::string key = part.substr(0, equal);
    const bool parameter = equal != std::string::npos && policy::find_level(key) == nullptr &&
                           key.find_first_of(":+") == std::string::npos;
    if (parameter && !out.empty() && out.back().find(':') != std::string::npos)
      out.back() += "," + part;
    else out.push_back(std::move(part));
  }
  return out;
}

}  // namespace

std::vector<PolicySet> parse_policies(const std::string& list, const policy::Registries& policies) {
  std::vector<PolicySet> out;
  for (const std::string& item : split_list(list)) {
    if (item.empty()) throw InputError("--policies: empty entry in '" + list + "'");
    PolicySet set{item, {}};
    for (const std::string& part : split(item, '+')) try {
        set.settings.push_back(sim::with_level(part, policies));
      } catch (const InputError& error) {
        throw InputError(std::string("--policies: ") + error.what());
      }
    try {
      sim::one_of_each_level(set.settings);
    } catch (const InputError& error) {
      throw InputError("--policies " + item + ": " + error.what());
    }
    if (std::ranges::any_of(out, [&](const PolicySet& other) { return other.label == item; }))
      throw InputError("--policies: '" + item + "' is there twice");
    out.push_back(std::move(set));
  }
  return out;
}

}  // namespace raddle::api
