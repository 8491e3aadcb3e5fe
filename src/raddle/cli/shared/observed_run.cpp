#include "raddle/cli/shared/observed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "raddle/api/recording.h"
#include "raddle/base/json.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/work.h"
#include "raddle/sim/profile/analysis.h"

namespace raddle::cli {

namespace {

/// A line for those of --first-launches; "" when all was looked at.
std::string left_out(const sim::Result& r) {
  if (r.launches_left_out == 0) return "";
  return fmt::format("  {} more launches are not in it (--first-launches)\n", r.launches_left_out);
}

}  // namespace

CLI::App* ObservedRun::add_to(CLI::App& analyze, const char* name, const char* doc) {
  CLI::App* app = analyze.add_subcommand(name, doc);
  app->add_option("workload", words,
                  "a name from `raddle list workloads` or a PTX file, then its parameters as "
                  "KEY=VALUE; or a recording (FILE.rdl), an Accel-Sim trace (kernelslist.g), or "
                  "after -- a CUDA program, which is recorded first")
      ->required()
      ->type_name("WORKLOAD [KEY=VALUE ...] | FILE.rdl | -- ./PROGRAM [ARGUMENT ...]");
  modes = OptionModes(std::string("analyze ") + name,
                      {Mode::Workload, Mode::Functional, Mode::Program, Mode::Trace});
  common.add_timing_to(*app, modes);
  common.add_launches_to(*app, modes);
  modes.change(*app, "--first-launches", kAll);  // of op streams, too
  return app;
}

sim::Result ObservedRun::run(std::vector<sim::AnalysisRequest> analyses) const {
  RADDLE_ASSERT(!analyses.empty());
  common.check();
  const std::vector<std::string> program = words_of_program(arguments);
  if (program.empty() && std::ranges::count(words, "+") != 0)
    throw InputError("'+': an analysis looks at one workload, not at a co-run");
  if (!program.empty() && words.front() != program.front())
    throw InputError("'" + words.front() + "': expected nothing before the program behind --");
  const bool timed = std::ranges::any_of(analyses, [](const sim::AnalysisRequest& one) {
    return sim::is_timed(one.choice->observes());
  });
  modes.check(!timed                             ? Mode::Functional
              : !program.empty()                 ? Mode::Program
              : api::is_recording(words.front()) ? Mode::Trace
                                                 : Mode::Workload);
  Work work = program.empty() ? make_work(words, common.out_of_bounds)
                              : program_work(program, common.out_of_bounds);
  if (common.live && !program.empty())
    throw InputError("a program is recorded and timed then; --live is for exec");
  config::Tree tree = common.tree();
  if (const auto seed = work.seed(); seed && !common.says_seed())
    tree.set("run.seed", std::to_string(*seed), work.name());
  std::vector<sim::Setup> setups;
  setups.push_back(sim::read_setup(tree, policy::all_policies()));
  work.check_run(setups.front());
  sim::Options options = common.simulation(setups.front());
  work.prepare(setups.front(), options);
  options.progress = progress_line(work.name(), common.quiet);
  options.functional = !timed;
  options.analyses = std::move(analyses);
  try {
    auto results = work.time(setups, options);
    clear_progress(common.quiet);
    warn_of_refusals(results.front());
    return std::move(results.front());
  } catch (...) {
    clear_progress(common.quiet);
    throw;
  }
}

int ObservedRun::finish(const sim::Result& result, const std::string& table) const {
  if (!common.json.empty())
    write_file(common.json, json_dump(sim::to_json(result, common.single_launches()), 2));
  if (!common.quiet && common.json != "-")
    std::fputs((headline(result) + left_out(result) + table).c_str(), stdout);
  if (result.verdict != sim::Result::Verdict::Wrong) return 0;
  std::fprintf(stderr, "raddle: %s: the result is wrong: %s\n", words.front().c_str(),
               result.difference.c_str());
  return 1;
}

}  // namespace raddle::cli
