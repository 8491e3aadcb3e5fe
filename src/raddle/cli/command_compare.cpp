// raddle compare: the same work under several policies. Each workload is executed once and timed
// under all of them.
#include <cstdio>
#include <deque>

#include "raddle/cli/commands.h"
#include "raddle/cli/options.h"
#include "raddle/cli/output.h"
#include "raddle/cli/reports.h"

namespace raddle::cli {

namespace {

struct Work {
  std::string name;
  std::vector<std::string> parameters;
};

/// "size=tiny bfs n=100 spmv": parameters before the first workload go to all, others to the
/// workload before them.
std::vector<Work> group(const std::vector<std::string>& words) {
  std::vector<std::string> common;
  std::vector<Work> out;
  for (const std::string& word : words) {
    if (word.find('=') == std::string::npos) out.push_back({word, common});
    else (out.empty() ? common : out.back().parameters).push_back(word);
  }
  if (out.empty()) throw InputError("compare: no workload given");
  return out;
}

struct CompareCommand {
  CommonOptions common;
  std::vector<std::string> words, arguments;
  std::string policies_text;

  std::vector<sim::Setup> setups(const std::vector<PolicySet>& sets,
                                 const policy::Registries& policies) const {
    std::vector<sim::Setup> out;
    for (const PolicySet& set : sets) {
      config::Tree tree = common.tree();
      for (const std::string& setting : set.settings)
        tree.set_policy(setting, "--policies " + setting);
      out.push_back(sim::read_setup(tree, policies));
    }
    return out;
  }

  int operator()() const {
    common.check();
    if (common.functional || common.live)
      throw InputError(
          "compare times every workload under every policy; --functional and --live are for run");
    const policy::Registries policies = policy::all_policies();
    const std::vector<PolicySet> sets = parse_policies(policies_text, policies);
    const std::vector<Work> works = group(words);
    std::vector<NamedWorkload> workloads;  // all checked before the first one runs
    for (const Work& work : works) workloads.push_back(make_workload(work.name, work.parameters));
    setups(sets, policies);

    std::deque<sim::Result> results;
    std::vector<ReportRun> runs;
    bool wrong = false;
    for (NamedWorkload& named : workloads) {
      std::vector<sim::Setup> machines = setups(sets, policies);
      sim::Options options = common.simulation(machines.front());
      options.progress = progress_line(named.info.name, common.quiet);
      std::vector<Row> rows;
      for (sim::Result& result : sim::simulate(*named.workload, named.info, machines, options)) {
        const std::string& label = sets[rows.size()].label;
        wrong |= result.verdict == sim::Result::Verdict::Wrong;
        results.push_back(std::move(result));
        rows.push_back({label, &results.back()});
        runs.push_back({named.info.name, label, &results.back()});
      }
      clear_progress(common.quiet);
      named.workload.reset();
      if (!common.quiet && common.json != "-")
        std::fputs(comparison(named.info.name, rows).c_str(), stdout);
    }
    if (!common.json.empty()) write_file(common.json, json(runs).dump(2));
    write_reports(common, runs, arguments);
    if (wrong) std::fputs("raddle: at least one result is wrong\n", stderr);
    return wrong ? 1 : 0;
  }

  nlohmann::ordered_json json(const std::vector<ReportRun>& runs) const {
    nlohmann::ordered_json out = {{"schema", 1}, {"runs", nlohmann::ordered_json::array()}};
    for (const ReportRun& run : runs)
      out["runs"].push_back({{"workload", run.workload},
                             {"policies", run.label},
                             {"result", sim::to_json(*run.result, common.single_launches())}});
    return out;
  }
};

}  // namespace

Command add_compare(CLI::App& app, std::vector<std::string> arguments) {
  auto command = std::make_shared<CompareCommand>();
  command->arguments = std::move(arguments);
  CLI::App* compare =
      app.add_subcommand("compare", "the same work under several policies: a table and a report");
  compare
      ->add_option("workloads", command->words,
                   "names from `raddle list workloads`; KEY=VALUE after a name goes to it, before "
                   "the first to all")
      ->required()
      ->type_name("WORKLOAD ...");
  compare
      ->add_option("--policies", command->policies_text,
                   "what to compare, first is the baseline: lrr,gto or gto,gto+block=chunk or "
                   "two_level:group_size=4,gto")
      ->required()
      ->type_name("A,B,...");
  command->common.add_to(*compare);
  return {compare, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
