#include "raddle/api/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "raddle/api/recording.h"
#include "raddle/api/work.h"
#include "raddle/base/threads.h"
#include "raddle/report/report.h"
#include "raddle/report/seeds.h"
#include "raddle/report/summary.h"
#include "raddle/report/timeline.h"
#include "raddle/report/words.h"
#include "raddle/sim/profile/analysis.h"

namespace raddle::api {

// --- results ------------------------------------------------------------------------------------

Result::Result(sim::Result of, Place place)
    : of_(std::make_shared<const sim::Result>(std::move(of))), place_(std::move(place)) {}

nlohmann::ordered_json Result::value(std::size_t single_launches) const {
  return sim::to_json(*of_, single_launches);
}

double Result::metric(std::string_view name) const {
  const nlohmann::ordered_json all = value(0);
  // What a launch has stands in `totals`, what only a run has beside it.
  for (const nlohmann::ordered_json* root : {&all.at("totals"), &all}) {
    const nlohmann::ordered_json* at = root;
    for (std::size_t from = 0; from <= name.size() && at != nullptr;) {
      const std::size_t end = std::min(name.find('.', from), name.size());
      const auto found = at->find(std::string(name.substr(from, end - from)));
      at = at->is_object() && found != at->end() ? &*found : nullptr;
      from = end + 1;
    }
    if (at != nullptr && at->is_number()) return at->get<double>();
  }
  throw InputError("'" + std::string(name) + "' is no number of this result; see raddle list " +
                   "metrics");
}

std::string Result::summary() const { return report::summary(*of_); }

std::string Result::timed_launches() const {
  return report::all_timed(*of_) ? "" : report::launches(*of_);
}

std::string Result::cycles_interval() const { return report::interval(*of_); }

namespace {

std::string label_of(const Result& one) {
  return one.label().empty() ? report::policy_label(one.whole()) : one.label();
}

std::vector<report::Row> rows_of(const std::vector<Result>& results) {
  std::vector<report::Row> out;
  for (const Result& one : results) {
    const std::string label = label_of(one);
    out.push_back({label, one.label().empty() ? label : one.place().of_any_seed, &one.whole()});
  }
  return out;
}

bool several_seeds(const std::vector<report::Row>& rows) {
  return std::ranges::any_of(rows, [&](const report::Row& row) {
    return report::seed_of(row) != report::seed_of(rows.front());
  });
}

}  // namespace

std::string page(const std::vector<Result>& results, const std::string& command,
                 const std::string& date) {
  report::ReportInput input;
  input.command = command;
  input.date = date;
  const std::vector<report::Row> rows = rows_of(results);
  const bool seeds = several_seeds(rows);
  for (const report::Row& row : rows) {
    std::string label = seeds ? row.of_any_seed : row.label;
    if (label.empty()) label = report::policy_label(*row.result);
    input.runs.push_back({std::move(label), row.result});
  }
  return report::html(input);
}

std::string timeline(const std::vector<Result>& results) {
  std::vector<report::Run> runs;
  for (const Result& one : results) runs.push_back({label_of(one), &one.whole()});
  return report::timeline(runs).text;
}

std::string comparison(const std::vector<Result>& results) {
  const std::vector<report::Row> rows = rows_of(results);
  if (rows.empty()) return "";
  const std::string& work = results.front().place().work;
  return report::comparison(work.empty() ? rows.front().result->workload : work, rows);
}

double speedup(const Result& result, const Result& base) {
  return report::speedup(result.whole(), base.whole());
}

// --- runs ---------------------------------------------------------------------------------------

namespace {

void check_functional(const Settings& settings, const Watch& watch) {
  constexpr std::string_view kFunctional = "an execution without timing (--functional)";
  settings.refuse({"--first-launches", "--sampling-error", "--cold-l2", "--no-skip"}, kFunctional);
  if (!watch.for_page && watch.sample_interval == 0) return;
  throw InputError(fmt::format("{} does not hold for {}: leave it out",
                               watch.for_page ? "--report" : "sampling over time", kFunctional));
}

sim::Options options_of(const Settings& settings, const sim::Setup& setup, const Watch& watch,
                        bool corun = false) {
  if (settings.functional) check_functional(settings, watch);
  sim::Options out = settings.options(setup);
  out.threads = startable_threads(out.threads);
  out.progress = watch.progress;
  out.print = watch.print;
  out.note = watch.note;
  out.sample_interval = watch.sample_interval;
  for (const std::string& text : watch.analyses)
    out.analyses.push_back(sim::read_analysis(text, "analyses " + text));
  if (!watch.for_page) return out;
  if (out.sample_interval == 0) out.sample_interval = kSampleInterval;
  if (!settings.functional && setup.run.sampling_error == 0)
    for (sim::AnalysisRequest& one : sim::analyses_for_report(corun))
      out.analyses.push_back(std::move(one));
  return out;
}

/// Inputs of a recording have been made: its seed is the machine's, unless another was asked for.
Settings with_seed(Settings settings, const Work& work) {
  const auto seed = work.seed();
  if (seed && !settings.says_seed()) settings.set.push_back(fmt::format("run.seed={}", *seed));
  return settings;
}

Work work_of(const std::vector<std::string>& words, const Settings& settings) {
  if (words.empty()) throw InputError("no workload given");
  if (is_recording(words.front())) {
    settings.check_always_timed("replay times what was recorded");
    settings.refuse({"--check", "--max-stream"}, "a recording or trace");
  }
  return Work(words);
}

}  // namespace

Simulator::Simulator() : policies_(policy::all_policies()) {}

sim::Setup Simulator::setup(const Settings& settings) const {
  settings.check();
  return sim::read_setup(settings.tree(policies_), policies_);
}

Result Simulator::run(const std::vector<std::string>& words, const Settings& settings,
                      const Watch& watch) const {
  Work work = work_of(words, settings);
  std::vector<sim::Setup> machines;
  machines.push_back(setup(with_seed(settings, work)));
  work.check_run(machines.front());
  return Result(
      std::move(work.time(machines, options_of(settings, machines.front(), watch)).front()),
      {.label = {}, .of_any_seed = {}, .work = work.title()});
}

std::vector<Result> Simulator::compare(const std::vector<std::vector<std::string>>& works,
                                       const Comparison& comparison, const Settings& settings,
                                       const Watch& watch) const {
  settings.check();
  if (settings.functional || settings.live)
    throw InputError("a comparison is timed, after its works were executed: it can be neither " +
                     std::string("functional nor live"));
  const std::vector<Variant> variants = make_variants(settings, comparison, policies_);
  std::vector<Work> all;
  for (const std::vector<std::string>& words : works) all.push_back(work_of(words, settings));
  if (all.empty()) throw InputError("no workload given");
  settings.refuse({"--check"}, "a comparison");
  distinguish(all);
  const auto machines_of = [&](const Work& work) {
    std::vector<sim::Setup> out;
    for (const Variant& variant : variants)
      out.push_back(
          sim::read_setup(tree_of(with_seed(settings, work), variant, policies_), policies_));
    return out;
  };
  for (const Work& work : all)  // all checked before the first one runs
    for (const sim::Setup& machine : machines_of(work)) work.check_run(machine);
  std::vector<Result> out;
  for (Work& work : all) {
    std::size_t variant = 0;
    for (sim::Result& result :
         time_all(work, machines_of(work), [&](sim::Setup&first, const std::vector<std::size_t>&) {
           return options_of(settings, first, watch);
         })) {
      const Variant& of = variants[variant++];
      out.emplace_back(std::move(result), Result::Place{of.label, of.of_any_seed, work.title()});
    }
  }
  return out;
}

sim::TenantProgram tenant_of(const std::vector<std::string>& words, const sim::Setup& setup,
                             const sim::Options& options) {
  RADDLE_ASSERT(!words.empty());
  if (is_recording(words.front())) {
    if (words.size() > 1) throw InputError("'" + words[1] + "': a recording has no parameters");
    return sim::load_tenant(open_recording(words.front()));
  }
  sim::NamedWorkload named = make_workload(words.front(), {words.begin() + 1, words.end()});
  return sim::execute_tenant(*named.workload, named.info, setup, options);
}

Result Simulator::corun(const std::vector<std::vector<std::string>>& tenants,
                        const Settings& settings, const sim::CorunOptions& corun,
                        const Watch& watch) const {
  sim::Setup machine = setup(settings);
  const sim::Options options = options_of(settings, machine, watch, true);
  sim::check_corun(tenants.size(), machine, options, corun);
  std::vector<sim::TenantProgram> programs;
  for (const std::vector<std::string>& words : tenants) {
    if (words.empty()) throw InputError("no workload given");
    programs.push_back(tenant_of(words, machine, options));
  }
  return Result(sim::corun(programs, machine, options, corun));
}

Result Simulator::record(const std::vector<std::string>& words, const Settings& settings,
                         const std::string& file, const Watch& watch) const {
  if (words.empty()) throw InputError("no workload given");
  const bool of_recording = is_recording(words.front());
  settings.check_record(of_recording);
  if (of_recording && words.size() > 1)
    throw InputError("'" + words[1] + "': a trace has no parameters");
  std::vector<std::string> inputs = words;
  inputs.push_back(settings.gpu);
  inputs.insert(inputs.end(), settings.set.begin(), settings.set.end());
  keep_inputs_of(inputs, file);
  sim::Setup machine = setup(settings);
  const sim::Options options = options_of(settings, machine, watch);
  if (of_recording)
    return Result(sim::convert(*open_recording(words.front()), machine, options, file));
  sim::NamedWorkload named = make_workload(words.front(), {words.begin() + 1, words.end()});
  return Result(sim::record(*named.workload, named.info, machine, options, file));
}

std::unique_ptr<sim::Session> Simulator::session(const std::string& name,
                                                 const nlohmann::ordered_json& parameters,
                                                 const Settings& settings, const Watch& watch,
                                                 std::uint64_t input_hash) const {
  sim::Setup machine = setup(settings);
  sim::SessionOptions options;
  options.run = options_of(settings, machine, watch);
  options.input_hash = input_hash;
  return std::make_unique<sim::Session>(sim::WorkloadInfo{name, parameters}, std::move(machine),
                                        std::move(options));
}

}  // namespace raddle::api
