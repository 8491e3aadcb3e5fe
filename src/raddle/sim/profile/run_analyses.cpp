#include "raddle/sim/profile/run_analyses.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "raddle/base/stable_sort.h"

namespace raddle::sim {

namespace {

void check_one(const AnalysisRequest& request, const AnalysedRun& run) {
  const Observed what = request.choice->observes();
  const std::string name(request.choice->name());
  if (run.corun && what != Observed::Instructions && what != Observed::Warps)
    throw InputError("the analysis " + name + " looks at one workload, not at a co-run");
  if (is_timed(what) && !run.timed)
    throw InputError("the analysis " + name +
                     " looks at a timing run; there is none in a functional run");
  if (is_timed(what) && run.sampled)
    throw InputError("analyses look at every launch, " + name +
                     " too: leave out run.sampling_error");
  if (!is_timed(what) && run.live)
    throw InputError("the analysis " + name +
                     " looks at execution in order: leave out --live (run.live)");
  if (what == Observed::Words && run.some_launches)
    throw InputError("the analysis " + name + " looks at all launches: leave out --first-launches");
  if (what == Observed::Words && run.replayed)
    throw InputError("the analysis " + name +
                     " needs the workload itself: a recording does not say which thread touches "
                     "which word");
}

}  // namespace

void check_analyses(std::span<const AnalysisRequest> requests, const AnalysedRun& run) {
  for (const AnalysisRequest& request : requests) {
    if (std::ranges::count(requests, request.label, &AnalysisRequest::label) > 1)
      refuse_analysis(request.label, "is asked for twice; give one another label");
    check_one(request, run);
  }
}

RunAnalyses RunAnalyses::of_gpu(std::span<const AnalysisRequest> requests,
                                const timing::MachineSpec& machine) {
  return {requests, &machine};
}

RunAnalyses RunAnalyses::of_execution(std::span<const AnalysisRequest> requests) {
  return {requests, nullptr};
}

RunAnalyses::RunAnalyses(std::span<const AnalysisRequest> requests,
                         const timing::MachineSpec* machine) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const AnalysisChoice& choice = *requests[i].choice;
    if (is_timed(choice.observes()) != (machine != nullptr)) continue;
    auto kind = std::ranges::find_if(kinds_, [&](const Kind& one) {
      return one.requests.front().choice->name() == choice.name();
    });
    if (kind == kinds_.end()) kind = kinds_.insert(kind, Kind{.observes = choice.observes()});
    kind->requests.push_back(requests[i]);
    kind->positions.push_back(i);
  }
  sort_stably(kinds_, &Kind::observes);
  for (Kind& kind : kinds_)
    kind.analysis = kind.requests.front().choice->make(kind.requests, machine);
  for (const Observed what : {Observed::Instructions, Observed::Warps, Observed::Words})
    if (std::ranges::count(kinds_, what, &Kind::observes) > 1)
      throw InputError("analyses: one can look at " +
                       std::string(kObservedNames[static_cast<unsigned>(what)]) + " at a time");
}

const RunAnalyses::Kind* RunAnalyses::first_of(Observed what) const {
  const auto kind = std::ranges::find(kinds_, what, &Kind::observes);
  return kind == kinds_.end() ? nullptr : &*kind;
}

void RunAnalyses::attach(timing::Gpu& gpu, const timing::MachineSpec& machine) {
  for (Kind& kind : kinds_) {
    RADDLE_ASSERT(is_timed(kind.observes));
    Analysis& analysis = *kind.analysis;
    for (unsigned sm = 0; sm < machine.sm.count; ++sm)
      if (policy::L1Observer* observer = analysis.of_sm(sm)) gpu.observe(SmId{sm}, *observer);
    for (unsigned slice = 0; slice < machine.l2.slices; ++slice)
      if (policy::L2Observer* observer = analysis.of_slice(slice))
        gpu.observe_slice(slice, *observer);
    if (const Cycle interval = analysis.sample_interval(); interval != 0)
      gpu.keep_profile(interval);
    if (const Window window = analysis.window(); window.end != 0)
      gpu.keep_window(SmId{window.sm}, window.begin, window.end);
  }
}

void RunAnalyses::allocated(const trace::AllocationChanges& changes) {
  for (Kind& kind : kinds_) kind.analysis->allocated(changes);
}

void RunAnalyses::submitted(const runtime::LaunchRecord& record) {
  for (Kind& kind : kinds_) kind.analysis->submitted(record);
}

runtime::DeviceObserver* RunAnalyses::of_words() {
  const Kind* kind = first_of(Observed::Words);
  if (kind == nullptr) return nullptr;
  runtime::DeviceObserver* observer = kind->analysis->of_words();
  RADDLE_ASSERT(observer != nullptr);
  return observer;
}

bool RunAnalyses::of_streams() const { return first_of(Observed::Streams) != nullptr; }

void RunAnalyses::tree(const std::vector<runtime::LaunchedStream>& launches) {
  for (Kind& kind : kinds_) kind.analysis->tree(launches);
}

void RunAnalyses::fill(nlohmann::ordered_json& result, const RunTotals& totals) const {
  struct Table {
    Observed observes;
    std::size_t position;
    std::string label;
    nlohmann::ordered_json figures;
  };
  std::vector<Table> tables;
  for (const Kind& kind : kinds_) {
    std::vector<nlohmann::ordered_json> figures = kind.analysis->figures(totals);
    RADDLE_ASSERT(figures.size() == kind.requests.size());
    for (std::size_t i = 0; i < figures.size(); ++i)
      tables.push_back(
          {kind.observes, kind.positions[i], kind.requests[i].label, std::move(figures[i])});
  }
  std::ranges::sort(tables, {}, [](const Table& t) { return std::tuple(t.observes, t.position); });
  for (Table& table : tables) result[table.label] = std::move(table.figures);
}

void RunAnalyses::fill(nlohmann::ordered_json& result, timing::Gpu& gpu) const {
  if (kinds_.empty()) return;
  std::optional<timing::Profile> profile;
  if (first_of(Observed::Instructions) != nullptr) profile = gpu.profile();
  const timing::WarpWindow* window = nullptr;
  if (const Kind* kind = first_of(Observed::Warps))
    window = gpu.window(SmId{kind->analysis->window().sm});
  const auto& sm = gpu.counters().sm;
  fill(result, {.thread_instructions = sm.thread_instructions,
                .warp_instructions = sm.issued,
                .profile = profile ? &*profile : nullptr,
                .window = window});
}

}  // namespace raddle::sim
