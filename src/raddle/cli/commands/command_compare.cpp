// raddle compare: the same work under several policies or settings. Each workload is executed, each
// recording read, once, and timed under all of them.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <optional>

#include "raddle/api/recording.h"
#include "raddle/api/variants.h"
#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/compare_progress.h"
#include "raddle/cli/shared/exec.h"
#include "raddle/cli/shared/kept_compare.h"
#include "raddle/cli/shared/options.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/reports.h"
#include "raddle/cli/shared/work.h"
#include "raddle/lab/file/sweep_text.h"
#include "raddle/report/seeds.h"
#include "raddle/report/what_if.h"

namespace raddle::cli {

namespace {

/// "size=tiny bfs n=100 spmv": parameters before the first workload go to all, others to the
/// workload before them; recordings have theirs already.
std::vector<std::vector<std::string>> groups_of(const std::vector<std::string>& words) {
  std::vector<std::string> common;
  bool taken = false;
  std::vector<std::vector<std::string>> groups;
  for (const std::string& word : words) {
    const bool name = word.find('=') == std::string::npos || access(word.c_str(), F_OK) == 0;
    if (!name) {
      (groups.empty() ? common : groups.back()).push_back(word);
      continue;
    }
    groups.push_back({word});
    if (api::is_recording(word) || is_program(word)) continue;
    groups.back().insert(groups.back().end(), common.begin(), common.end());
    taken = true;
  }
  if (!common.empty() && !groups.empty() && !taken)
    throw InputError("'" + common.front() + "': expected a workload that takes it; a recording " +
                     "has its parameters already");
  return groups;
}

/// What came of one work, a row for each variant.
struct ComparedWork {
  std::string name;
  std::vector<Row> rows;
};

struct CompareCommand {
  CommonOptions common;
  std::vector<std::string> words, arguments, sweeps, inputs;
  std::string policies_text, results;
  bool retry_failed = false;
  unsigned jobs = 0;    ///< 0 = not given
  unsigned seeds = 0;   ///< 0 = not given
  bool bounds = false;  ///< also on machines with ideal parts
  OptionModes modes{"compare", {Mode::Compared, Mode::Kept}};

  std::vector<sim::Setup> setups(const std::vector<Variant>& variants,
                                 const policy::Registries& policies,
                                 std::optional<std::uint64_t> seed) const {
    CommonOptions of = common;
    if (!of.says_seed()) of.seed = seed.value_or(0);
    std::vector<sim::Setup> out;
    for (const Variant& variant : variants)
      out.push_back(sim::read_setup(api::tree_of(of, variant, policies), policies));
    return out;
  }

  std::vector<Work> works() const {
    const std::vector<std::string> program = words_of_program(arguments);
    const std::vector<std::vector<std::string>> groups = groups_of(words);
    if (groups.empty() && program.empty()) throw InputError("compare: no workload given");
    std::vector<Work> out;
    for (const std::vector<std::string>& group : groups)
      out.push_back(make_work(group, common.out_of_bounds));
    if (!program.empty()) out.push_back(program_work(program, common.out_of_bounds));
    api::distinguish(out);
    return out;
  }

  int operator()() const {
    common.check();
    common.check_always_timed("compare times every workload under every policy");
    modes.check(results.empty() ? Mode::Compared : Mode::Kept);
    if (!inputs.empty() && words_of_program(arguments).empty())
      throw InputError("--input: expected a program behind --, found none");
    const policy::Registries policies = policy::all_policies();
    const std::vector<Variant> variants = api::make_variants(
        common, {policies_text, sweeps, seeds, bounds, common.what_if}, policies);
    std::vector<Work> all = works();  // all checked before the first one runs
    if (says_strays() && std::ranges::none_of(all, &Work::is_program))
      throw InputError("--out-of-bounds: expected a program behind --, found none");
    setups(variants, policies, {});
    for (const Work& work : all)
      for (const sim::Setup& machine : setups(variants, policies, work.seed()))
        work.check_run(machine);
    if (!results.empty()) return kept(variants);

    std::vector<std::string> labels;
    for (const Variant& variant : variants) labels.push_back(variant.label);
    CompareProgress progress(all.size(), labels, common.quiet);
    std::deque<sim::Result> results;
    std::vector<ComparedWork> compared;
    for (Work& work : all) {
      ComparedWork& one = compared.emplace_back();
      one.name = work.name();
      std::vector<sim::Setup> machines = setups(variants, policies, work.seed());
      const std::vector<report::Stream> streams = api::streams_of(work, variants, machines);
      for (sim::Result& result : timed(work, std::move(machines), progress)) {
        const std::size_t i = one.rows.size();
        results.push_back(std::move(result));
        one.rows.push_back({variants[i].label, variants[i].of_any_seed, &results.back(),
                            variants[i].what_if, streams[i]});
      }
      clear_progress(common.quiet);
      if (!common.quiet && common.json != "-")
        std::fputs(comparison(work.title(), one.rows).c_str(), stdout);
    }
    if (!common.json.empty()) write_file(common.json, json_dump(json(compared), 2));
    auto what_if = nlohmann::ordered_json::array();
    for (const ComparedWork& one : compared)
      for (auto& entry : report::what_if_json(one.rows)) what_if.push_back(std::move(entry));
    write_reports(common, runs_of(compared, api::several_seeds(variants)), arguments, what_if);
    const bool wrong = std::ranges::any_of(results, [](const sim::Result& result) {
      return result.verdict == sim::Result::Verdict::Wrong;
    });
    if (wrong) std::fputs("raddle: at least one result is wrong\n", stderr);
    return wrong ? 1 : 0;
  }

  /// One result for each of the machines, in order. Each execution serves those that may share it.
  std::vector<sim::Result> timed(Work& work, std::vector<sim::Setup> machines,
                                 CompareProgress& progress) const {
    const bool sampled = std::ranges::any_of(
        machines, [](const sim::Setup& m) { return m.run.sampling_error != 0; });
    auto out = api::time_all(work, std::move(machines),
                             [&](sim::Setup& first, const std::vector<std::size_t>& which) {
                               prepare(work, first, progress);
                               sim::Options options = common.simulation(first);
                               if (sampled) options.analyses.clear();  // they look at every launch
                               progress.watch(work.title(), which, options);
                               return options;
                             });
    warn_of_refusals(out.front());
    return out;
  }

  /// A page has the runs of each seed together, so their names do without it.
  static std::vector<ReportRun> runs_of(const std::vector<ComparedWork>& compared, bool seeds) {
    std::vector<ReportRun> out;
    for (const ComparedWork& one : compared)
      for (const Row& row : one.rows)
        if (row.what_if.empty())  // what came of those stands in a table
          out.push_back({one.name, seeds ? row.of_any_seed : row.label, row.result});
    return out;
  }

  void prepare(Work& work, sim::Setup& machine, const CompareProgress& progress) const {
    const auto start = std::chrono::steady_clock::now();
    work.prepare(machine, common.simulation(machine));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (work.is_program()) progress.recorded(work.title(), seconds.count());
  }

  int kept(const std::vector<Variant>& variants) const {
    LabOptions lab;
    lab.results = results;
    lab.jobs = jobs;
    lab.quiet = common.quiet;
    lab.json = common.json;
    lab.report = common.report;
    lab.retry_failed = retry_failed;
    return run_kept({common, variants, groups_of(words), words_of_program(arguments), inputs}, lab,
                    arguments);
  }

  /// Was --out-of-bounds given?
  bool says_strays() const {
    return std::any_of(arguments.begin(), std::ranges::find(arguments, "--"),
                       [](const std::string& word) {
                         return word.substr(0, word.find('=')) == "--out-of-bounds";
                       });
  }

  nlohmann::ordered_json json(const std::vector<ComparedWork>& compared) const {
    nlohmann::ordered_json out = {{"schema", 1}, {"runs", nlohmann::ordered_json::array()}};
    auto over_seeds = nlohmann::ordered_json::array(), what_if = over_seeds;
    for (const ComparedWork& one : compared) {
      for (const Row& row : one.rows) {
        out["runs"].push_back({{"workload", one.name},
                               {"policies", row.label},
                               {"result", sim::to_json(*row.result, common.single_launches())}});
        if (!row.what_if.empty()) out["runs"].back()["what_if"] = row.what_if;
      }
      for (nlohmann::ordered_json& entry : report::what_if_json(one.rows)) {
        entry["workload"] = one.name;
        what_if.push_back(std::move(entry));
      }
      for (const report::OverSeeds& of : report::over_seeds(one.rows)) {
        over_seeds.push_back(report::to_json(of, *one.rows.front().result));
        over_seeds.back()["workload"] = one.name;
      }
    }
    if (!over_seeds.empty()) out["over_seeds"] = std::move(over_seeds);
    if (!what_if.empty()) out["what_if"] = std::move(what_if);
    return out;
  }
};

/// What compare and analyze bounds have in common.
CLI::App* declare(CLI::App& parent, const char* name, const char* doc, CompareCommand& command) {
  CLI::App* compare = parent.add_subcommand(name, doc);
  compare
      ->add_option("workloads", command.words,
                   "names from `raddle list workloads` or PTX files; KEY=VALUE after a name goes "
                   "to it, before the first to all; recordings (FILE.rdl) and Accel-Sim traces "
                   "(kernelslist.g); after -- a CUDA program, which is recorded once")
      ->type_name("WORKLOAD|FILE.rdl|kernelslist.g|FILE.ptx ... [-- ./PROGRAM [ARGUMENT ...]]");
  OptionModes& modes = command.modes;
  modes
      .add(compare->add_option(
               "--policies", command.policies_text,
               "what to compare, first is the baseline: lrr,gto or gto,gto+block=chunk or "
               "two_level:group_size=4,gto (default with --sweep: the machine's)"),
           kAll)
      ->type_name("A,B,...");
  modes
      .add(compare->add_option(
               "--sweep", command.sweeps,
               "compare values of a setting, or of a parameter of those policies that have it: "
               "policy.throttle.limit=1..32, l2.size_kib=96,192, sm.lsu_queue=4..16:4; several "
               "give every combination. --set takes lists in the same way"),
           kAll)
      ->allow_extra_args(false)
      ->type_name("PATH=A,B|A..B[:STEP]");
  modes
      .add(compare->add_option("--seeds", command.seeds,
                               "each with seeds 1 to N, and so with N inputs: speed-ups within a "
                               "seed, their mean and its 95 % interval (Student's t)"),
           kAll)
      ->check(CLI::Range(2u, static_cast<unsigned>(lab::kMaxSwept)))
      ->type_name("N");
  command.common.add_always_timed_to(*compare, modes);
  command.common.add_out_of_bounds_to(*compare, modes);
  return compare;
}

void add_kept_options(CLI::App* compare, CompareCommand& command) {
  OptionModes& modes = command.modes;
  modes
      .add(compare->add_option(
               "--results", command.results,
               "keep each run in this folder, as `raddle sweep` does, and run only what is not "
               "there yet; then --json is the sweep's document and --report its page. A program "
               "behind -- gets no standard input, and runs again when its file, arguments or "
               "inputs are others, not when environment variables are"),
           {Mode::Kept})
      ->type_name("DIR");
  modes
      .add(compare->add_option("--jobs", command.jobs,
                               "with --results: runs at the same time (default: as many as cores)"),
           {Mode::Kept})
      ->check(CLI::Range(1, 4096));
  modes.add(compare->add_flag("--retry-failed", command.retry_failed,
                              "with --results: run again what has failed before"),
            {Mode::Kept});
  modes
      .add(compare->add_option(
               "--input", command.inputs,
               "with --results: a file that the program behind -- opens by a name of its own. "
               "When it changes, the program is recorded again; files that arguments name are "
               "looked at anyway"),
           {Mode::Kept})
      ->allow_extra_args(false)
      ->type_name("FILE");
}
}  // namespace

Command add_compare(CLI::App& app, std::vector<std::string> arguments) {
  auto command = std::make_shared<CompareCommand>();
  command->arguments = std::move(arguments);
  CLI::App* compare = declare(
      app, "compare", "the same work under several policies: a table and a report", *command);
  add_kept_options(compare, *command);
  command->common.add_what_if_to(*compare, command->modes, {Mode::Compared});
  command->common.add_window_to(*compare, command->modes, {Mode::Compared});
  compare->footer(
      "raddle compare bfs my.rdl --policies lrr,gto,gto+swl:limit=4 --report r.html\n"
      "raddle compare --policies gto,gto+swl --sweep policy.throttle.limit=1..8 -- ./kmn -i x.txt\n"
      "raddle compare spmv --set l2.size_kib=96,192,384\n"
      "raddle compare bfs --policies lrr,gto --seeds 5   # is it so with other inputs?\n"
      "raddle compare bfs --policies lrr,gto --what-if l2=x2,mshr=x2,dram=ideal\n"
      "raddle compare bfs spmv --policies lrr,gto --results kept   # and later, with one more: "
      "lrr,gto,ccws");
  return {compare, [command] { return (*command)(); }, modes_of(compare, command)};
}

Command add_bounds(CLI::App& analyze, std::vector<std::string> arguments) {
  auto command = std::make_shared<CompareCommand>();
  command->arguments = std::move(arguments);
  command->bounds = true;
  command->modes = OptionModes("analyze", {Mode::Compared});
  CLI::App* bounds = declare(analyze, "bounds",
                             "what a better part of the machine would bring, and so the most that "
                             "a policy can gain there: each part without limits, one at a time",
                             *command);
  bounds->footer(
      "The parts are settings of every machine, ideal.l1d, ideal.mshr, ideal.noc, ideal.l2 and "
      "ideal.dram:\ndocs/machines.md. Speed-ups are over the first row.");
  return {bounds, [command] { return (*command)(); }, modes_of(bounds, command)};
}

}  // namespace raddle::cli
