#include "raddle/cli/shared/simulate_measured.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "raddle/cli/shared/output.h"
#include "raddle/sim/validate/suite.h"

namespace raddle::cli {

namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& text) {
  std::istringstream in(text);
  Words out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

/// Launches of the host up to the last that was measured; 0: all.
std::uint64_t launches_of(const sim::MeasurementFile& file, const sim::Measurement& of) {
  std::uint64_t last = 0;
  for (const sim::Measurement& m : file.rows) {
    if (m.workload != of.workload || m.parameters != of.parameters) continue;
    if (m.launch == sim::kWholeRun) return 0;
    last = std::max<std::uint64_t>(last, m.launch + 1);
  }
  return last;
}

}  // namespace

std::vector<sim::Measurement> simulate_measured(const sim::MeasurementFile& file,
                                                const CommonOptions& common,
                                                const std::string& source, bool& wrong,
                                                unsigned passes) {
  if (sim::cold_l2(file)) passes = 1;
  std::vector<sim::Measurement> out;
  std::set<std::pair<std::string, std::string>> done;
  config::Tree tree = common.tree();
  if (const auto seed = file.conventions.find("seed");
      !common.says_seed() && seed != file.conventions.end())
    tree.set("run.seed", seed->second, source);
  if (sim::cold_l2(file)) tree.set("run.cold_l2", "true", source);
  for (const sim::Measurement& measured : file.rows) {
    if (!done.emplace(measured.workload, measured.parameters).second) continue;
    NamedWorkload named = make_workload(measured.workload, words_of(measured.parameters));
    std::vector<sim::Setup> setups;
    setups.push_back(sim::read_setup(tree, policy::all_policies()));
    if (setups.front().run.sampling_error != 0)
      throw InputError(
          "validate times what was measured; leave out --sampling-error (run.sampling_error)");
    sim::Options options = common.simulation(setups.front());
    options.progress = progress_line(measured.workload, common.quiet);
    options.first_launches = launches_of(file, measured);
    check_passes(setups.front(), passes);
    options.passes = passes;
    const Cycle gap = sim::gap_within(file, setups.front().machine);
    sim::Result result =
        std::move(sim::simulate(*named.workload, named.info, setups, options).front());
    clear_progress(common.quiet);
    sim::keep_last_pass(result, passes);
    warn_of_refusals(result);
    wrong = wrong || result.verdict == sim::Result::Verdict::Wrong;
    std::vector<sim::Measurement> launches = sim::measurements_of(result, setups.front(), gap);
    if (options.first_launches == 0 && !launches.empty())
      launches.push_back(sim::whole_run(launches));
    for (sim::Measurement& simulated : launches) {
      simulated.parameters = measured.parameters;
      out.push_back(std::move(simulated));
    }
  }
  return out;
}

void check_passes(const sim::Setup& setup, unsigned passes) {
  if (passes > 1 && setup.run.live)
    throw InputError("--replay-as ncu-warm: a live run (run.live) executes each launch once");
}

std::map<std::string, std::string> simulated_conventions(const sim::MeasurementFile& file,
                                                         const CommonOptions& common,
                                                         unsigned passes) {
  const bool gap = sim::with_launch_gap(file),
             overhead = file.conventions.contains("launch_overhead");
  return {{"gpu", common.gpu},
          {"cycles",
           std::string("core cycles from when the first block can be handed out to the end of the "
                       "last; ") +
               (gap ? "kernels.gap_cycles more" : "no launch latency") +
               (overhead ? ", and what the tool of the measurements counts besides" : "")},
          {"cache",
           std::string(sim::cold_l2(file) || common.cold_l2 ? "L2 emptied before each launch; "
                       : passes > 1                         ? kPassesText
                                    : "L2 as the launch before left it, cold at the first; ") +
               "L1 as sm.l1d.flush_at_kernel_start says; copies by the host leave no trace in L2"},
          {"rates",
           "L1: accesses of lines, loads; L2: requests; hits are also those on what is on its way, "
           "and in the L2 writes for which nothing is fetched"},
          {"clock", "the machine file's, constant"}};
}

}  // namespace raddle::cli
