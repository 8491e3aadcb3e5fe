#include "raddle/lab/run/stages.h"

#include <algorithm>
#include <utility>

namespace raddle::lab {

namespace {

/// A run that an earlier stage has made is not found again, but made now.
void add(RunnerSummary& sum, const RunnerSummary& before, std::size_t runs_before) {
  sum.found -= std::min(sum.found, runs_before - before.missing);
  sum.found += before.found;
  sum.done += before.done;
  sum.failed += before.failed;
  sum.recordings += before.recordings;
}

}  // namespace

Plan make_plan(const std::vector<const Experiment*>& experiments, const Catalogue& catalogue,
               Store& store) {
  return make_plan(experiments, catalogue,
                   [&](const PlannedRun& run) -> std::optional<std::map<std::string, double>> {
                     const auto stored = store.find(run);
                     if (!stored || !stored->done) return std::nullopt;
                     return store.metrics(stored->id);
                   });
}

SweepResult run_stages(const std::vector<const Experiment*>& experiments,
                       const Catalogue& catalogue, Store& store, Executor& executor,
                       const ResultsFolder& folder, const RunnerOptions& options) {
  SweepResult out{make_plan(experiments, catalogue, store), {}};
  out.summary = run_plan(out.plan, catalogue, store, executor, folder, options);
  RunnerOptions later = options;
  later.retry_failed = false;  // what fails now has just been tried
  while (out.plan.waiting() > 0 && !out.summary.interrupted) {
    Plan next = make_plan(experiments, catalogue, store);
    if (next.waiting() == out.plan.waiting()) break;  // what they need has failed
    RunnerSummary summary = run_plan(next, catalogue, store, executor, folder, later);
    add(summary, out.summary, out.plan.runs.size());
    out = {std::move(next), std::move(summary)};
  }
  return out;
}

}  // namespace raddle::lab
