#include "raddle/lab/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "raddle/base/json.h"
#include "raddle/lab/file/placeholders.h"
#include "raddle/lab/file/section.h"
#include "raddle/lab/plan/checks.h"
#include "raddle/lab/plan/derived.h"
#include "raddle/lab/plan/said_once.h"

namespace raddle::lab {

namespace {

/// The text of a derived value in a cell.
using Values = std::map<std::string, std::string>;

Settings with_values(const Settings& settings, const Values& values) {
  Settings out;
  for (const Setting& s : settings)
    out.push_back(filled(s, [&](const std::string& name) { return values.at(name); }));
  return out;
}

void append(Settings& to, const Settings& more) { to.insert(to.end(), more.begin(), more.end()); }

/// Parameters of a workload at a cell's points.
Settings parameters_of(const Experiment& e, const Workload& workload, const Cell& cell) {
  Settings out = workload.parameters;
  for (std::size_t a = 0; a < cell.points.size(); ++a)
    if (cell.points[a] != kUnset)
      append(out, e.axes[a].points[static_cast<std::size_t>(cell.points[a])].parameters);
  return out;
}

Program program_of(const Workload& workload, Settings parameters) {
  return {found_file({workload.workload, workload.place}, {".ptx"}).text, std::move(parameters), "",
          workload.external};
}

std::vector<Program> programs_of(const Experiment& e, const Cell& cell, const Values& values) {
  const Workload& workload = e.workloads[cell.workload];
  if (workload.members.empty())
    return {program_of(workload, with_values(parameters_of(e, workload, cell), values))};
  std::vector<Program> out;
  for (const std::string& name : workload.members) {
    const Workload& member = e.workloads[*e.find(name, NameKind::Workload)];
    out.push_back(program_of(member, with_values(member.parameters, values)));
  }
  return out;
}

std::uint64_t whole(const Setting& s) {
  if (!s.value.is_number_unsigned())
    throw InputError(
        s.place, fmt::format("{}: expected a whole number, found {}", s.path, json_dump(s.value)));
  return s.value;
}

/// Settings that are the co-run's and not the machine's.
void set_corun(CellSpec& spec) {
  const std::map<std::string, Cycle*> cycles = {{"corun.horizon", &spec.corun->horizon},
                                                {"corun.warmup", &spec.corun->warmup},
                                                {"corun.sample", &spec.corun->sample}};
  std::erase_if(spec.set, [&](const Setting& s) {
    const auto of = cycles.find(s.path);
    if (of != cycles.end()) *of->second = whole(s);
    return of != cycles.end();
  });
}

/// Everything of a cell that is known without the machine.
CellSpec spec_of(const Experiment& e, const Cell& cell, const Values& values,
                 const std::vector<double>& ipc_alone) {
  const Variant& variant = e.variants[cell.variant];
  CellSpec out;
  out.programs = programs_of(e, cell, values);
  if (e.corun) out.corun = {e.corun->horizon, e.corun->warmup, false, ipc_alone, 0};
  out.gpu = found_gpu(variant.gpu.value_or(e.gpu));
  for (PlacedText policy : variant.policies) {
    policy.text = filled(policy.text, [&](const std::string& name) { return values.at(name); });
    out.policies.push_back(std::move(policy));
  }
  Settings set;
  lay_over(set, e.set);
  lay_over(set, e.workloads[cell.workload].set);
  lay_over(set, variant.set);
  for (std::size_t a = 0; a < cell.points.size(); ++a)
    if (cell.points[a] != kUnset)
      lay_over(set, e.axes[a].points[static_cast<std::size_t>(cell.points[a])].set);
  out.set = with_values(set, values);
  out.seed = e.seed;
  out.max_cycles = e.max_cycles;
  // A seed that is swept stands in `set`, where the one of the file would undo it.
  std::erase_if(out.set, [&](const Setting& s) {
    if (s.path == "run.seed") out.seed = whole(s);
    return s.path == "run.seed";
  });
  if (out.corun) set_corun(out);
  for (const std::string& name : cell.analyses) out.analyses[name] = e.analyses.at(name);
  return out;
}

std::string label_of(const Experiment& e, const Cell& cell) {
  std::string out =
      fmt::format("{} {} {}", e.id, e.workloads[cell.workload].name, e.variants[cell.variant].name);
  for (std::size_t a = 0; a < cell.points.size(); ++a)
    if (cell.points[a] != kUnset)
      out += fmt::format(" {}={}", e.axes[a].name,
                         shown(e.axes[a].points[static_cast<std::size_t>(cell.points[a])].value));
  return out;
}

/// Can one run serve both? Analyses of one name must be the same.
bool compatible(const std::map<std::string, PlacedText>& a,
                const std::map<std::string, PlacedText>& b) {
  return std::ranges::all_of(a, [&](const auto& entry) {
    const auto other = b.find(entry.first);
    return other == b.end() || other->second.text == entry.second.text;
  });
}

/// The runs of all experiments, each once.
class RunTable {
 public:
  RunTable(Plan& plan, const KnownMetrics* known) : plan_(plan), known_(known) {}
  /// Every metric is 1: it is only looked at what would be run.
  bool pretends() const { return known_ == nullptr; }

  std::size_t add(const Experiment& e, std::string label, CellSpec spec, ResolvedCell& resolved) {
    RADDLE_ASSERT(!spec.configuration.empty());
    std::vector<std::size_t>& same = by_configuration_[spec.configuration];
    for (const std::size_t r : same) {
      PlannedRun& run = plan_.runs[r];
      if (!compatible(run.spec.analyses, spec.analyses)) continue;
      run.spec.analyses.insert(spec.analyses.begin(), spec.analyses.end());
      run.timeout_seconds = std::max(run.timeout_seconds, e.timeout_minutes * 60);
      return r;
    }
    same.push_back(plan_.runs.size());
    PlannedRun run;
    run.spec = std::move(spec);
    run.program = resolved.program;
    run.recordings = resolved.recordings;
    RADDLE_ASSERT(run.recordings.empty() || run.recordings.size() == run.spec.programs.size());
    run.timeout_seconds = e.timeout_minutes * 60;
    run.label = std::move(label);
    run.workload = resolved.info.name;
    run.parameters = resolved.info.parameters;
    run.gpu = resolved.setup.machine.name;
    plan_.runs.push_back(std::move(run));
    return same.back();
  }
  Number metric(std::size_t run, const std::string& path) {
    RADDLE_ASSERT(run < plan_.runs.size());
    const auto [at, first] = metrics_.try_emplace(run);
    if (first && *known_) at->second = (*known_)(plan_.runs[run]);
    if (!at->second) return std::nullopt;
    const auto value = at->second->find(path);
    return value == at->second->end() ? std::nullopt : Number(value->second);
  }

 private:
  Plan& plan_;
  const KnownMetrics* known_;
  std::map<std::string, std::vector<std::size_t>> by_configuration_;
  std::map<std::size_t, std::optional<std::map<std::string, double>>> metrics_;
};

/// Plans the cells of one experiment, those first whose runs others need.
class CellPlanner {
 public:
  CellPlanner(const Experiment& e, PlannedExperiment& planned, RunTable& table,
              const Catalogue& catalogue, Problems& problems)
      : e_(e),
        planned_(planned),
        table_(table),
        catalogue_(catalogue),
        problems_(problems),
        states_(planned.grid.cells().size()),
        source_(*this),
        evaluator_(e, planned.grid, source_) {
    planned_.runs.assign(states_.size(), kNoRun);
  }
  void all() {
    for (std::size_t cell = 0; cell < states_.size(); ++cell) plan(cell);
    for (const State state : states_) RADDLE_ASSERT(state == State::Done);
    std::ranges::sort(planned_.unplanned, {}, &UnplannedCell::cell);
  }

 private:
  enum class State : std::uint8_t { New, Open, Done };

  /// Plans the cells that it is asked about.
  class Source final : public MetricSource {
   public:
    explicit Source(CellPlanner& planner) : planner_(planner) {}
    Number metric(std::size_t cell, const std::string& path) const override {
      return planner_.metric(cell, path);
    }
    bool left_out(std::size_t cell) const override { return planner_.left_out(cell); }

   private:
    CellPlanner& planner_;
  };

  Number metric(std::size_t cell, const std::string& path) {
    if (states_[cell] == State::Open)
      throw EvaluationError(
          fmt::format("a derived value goes round in a circle: '{}' needs its own result",
                      label_of(e_, planned_.grid.cells()[cell])));
    plan(cell);
    if (table_.pretends()) return 1;
    const std::size_t run = planned_.runs[cell];
    return run == kNoRun ? std::nullopt : table_.metric(run, path);
  }

  bool left_out(std::size_t cell) {
    plan(cell);
    return planned_.left_out.contains(cell);
  }

  void plan(std::size_t number) {
    if (states_[number] != State::New) return;
    states_[number] = State::Open;
    const Cell& cell = planned_.grid.cells()[number];
    const Verdict there = exists(cell);
    if (there != Verdict::Pass) {
      states_[number] = State::Done;
      if (there == Verdict::Fail) planned_.left_out.insert(number);
      else planned_.unplanned.push_back({number, label_of(e_, cell), ""});
      return;
    }
    const std::optional<Values> values = values_of(cell);
    const std::optional<std::vector<double>> alone = ipc_alone_of(cell);
    states_[number] = State::Done;
    if (values && alone) run(number, *values, *alone);
    else planned_.unplanned.push_back({number, label_of(e_, cell), ""});
  }

  void run(std::size_t number, const Values& values, const std::vector<double>& alone) {
    const Cell& cell = planned_.grid.cells()[number];
    const bool derived = !values.empty();
    std::string label = label_of(e_, cell);
    try {
      CellSpec spec = spec_of(e_, cell, values, alone);
      check_said_once(e_, cell, spec.policies, catalogue_.policies);
      ResolvedCell resolved = resolve(spec, catalogue_);
      spec.configuration = resolved.configuration;
      planned_.runs[number] = table_.add(e_, std::move(label), std::move(spec), resolved);
    } catch (const InputError& error) {
      // Values that only runs could give are a fault of this cell, not of the file.
      if (derived && !table_.pretends()) {
        planned_.unplanned.push_back({number, std::move(label), error.what()});
        return;
      }
      for (Diagnostic d : error.diagnostics()) {
        if (d.place.file.empty()) d.place = e_.variants[cell.variant].place;
        if (derived) d.message += " (with derived values of metrics that are all 1; see `example`)";
        problems_.add(d.place, d.message);
      }
    }
  }

  /// Whether the cell is not left out. When every metric is 1, it is looked at in any case.
  Verdict exists(const Cell& cell) {
    if (cell.where.empty()) return Verdict::Pass;
    Verdict out = Verdict::Fail;
    for (const Formula* where : cell.where) {
      const std::optional<Verdict> holds = evaluated(
          *where, [&] { return std::optional(evaluator_.holds(*where, coordinates_of(cell))); });
      if (holds == Verdict::Pass || out == Verdict::Pass) out = Verdict::Pass;
      else if (holds != Verdict::Fail) out = Verdict::NotRun;
    }
    return table_.pretends() ? Verdict::Pass : out;
  }

  /// Nothing when one of them is not known.
  std::optional<Values> values_of(const Cell& cell) {
    Values out;
    bool known = true;
    for (const std::string& name : derived_of(e_, cell)) {
      const Derived& derived = e_.derived[*e_.find(name, NameKind::Derived)];
      std::optional<std::string> text = evaluated(derived.value, [&] {
        return derived_text(e_, derived, evaluator_, coordinates_of(cell));
      });
      if (table_.pretends() && derived.example) text = written(*derived.example);
      known &= text.has_value();
      if (known) out[name] = *text;
    }
    return known ? std::optional(out) : std::nullopt;
  }

  /// By member; none for a workload without.
  std::optional<std::vector<double>> ipc_alone_of(const Cell& cell) {
    std::vector<double> out;
    if (!e_.corun || !e_.corun->alone) return out;
    for (const std::string& member : e_.workloads[cell.workload].members) {
      Coordinates where = coordinates_of(cell);
      where.workload = static_cast<int>(*e_.find(member, NameKind::Workload));
      const Number ipc =
          evaluated(*e_.corun->alone, [&] { return evaluator_.number(*e_.corun->alone, where); });
      if (!ipc) return std::nullopt;
      out.push_back(*ipc);
    }
    return out;
  }

  template <class F>
  auto evaluated(const Formula& formula, F f) -> decltype(f()) {
    try {
      return f();
    } catch (const EvaluationError& error) {
      problems_.add(formula.place,
                    fmt::format("{}: {} (in \"{}\")", formula.key, error.what(), formula.text));
      return std::nullopt;
    }
  }

  const Experiment& e_;
  PlannedExperiment& planned_;
  RunTable& table_;
  const Catalogue& catalogue_;
  Problems& problems_;
  std::vector<State> states_;
  Source source_;
  Evaluator evaluator_;
};

/// `known` null: as if every metric was 1.
Plan planned(const std::vector<const Experiment*>& experiments, const Catalogue& catalogue,
             const KnownMetrics* known, Problems& problems) {
  Plan plan;
  RunTable table(plan, known);
  for (const Experiment* e : experiments) {
    PlannedExperiment& one = plan.experiments.emplace_back(e, Grid(*e));
    CellPlanner(*e, one, table, catalogue, problems).all();
  }
  problems.finish();
  for (PlannedRun& run : plan.runs) {
    if (needs_workload(run.spec.analyses)) run.recordings.clear();
    run.key = run_key(run.spec.configuration, run.spec.analyses, run.program);
  }
  return plan;
}

/// Are there cells that need what others give?
bool has_stages(const Experiment& e) {
  return !e.derived.empty() || (e.corun && e.corun->alone) ||
         std::ranges::any_of(e.runs, [](const RunBlock& block) { return block.where.has_value(); });
}

}  // namespace

PlacedText found_file(PlacedText name, std::initializer_list<std::string_view> ends) {
  namespace fs = std::filesystem;
  if (std::ranges::any_of(ends, [&](std::string_view end) { return name.text.ends_with(end); }))
    name.text =
        fs::absolute(fs::path(name.place.file).parent_path() / name.text).lexically_normal();
  return name;
}

PlacedText found_gpu(PlacedText gpu) { return found_file(std::move(gpu), {".toml", ".json"}); }

std::string run_key(const std::string& configuration,
                    const std::map<std::string, PlacedText>& analyses, const std::string& program) {
  Json texts = Json::object();
  for (const auto& [label, text] : analyses) texts[label] = text.text;
  return hash_text(configuration + json_dump(texts) + program);
}

Json point_json(const Experiment& e, const Cell& cell) {
  std::map<std::string, Json> sorted;
  for (std::size_t a = 0; a < cell.points.size(); ++a) {
    if (cell.points[a] == kUnset) continue;
    const AxisValue& value = e.axes[a].points[static_cast<std::size_t>(cell.points[a])].value;
    std::visit([&](const auto& v) { sorted[e.axes[a].name] = v; }, value);
  }
  Json out = Json::object();
  for (const auto& [axis, value] : sorted) out[axis] = value;
  return out;
}

std::size_t Plan::waiting() const {
  std::size_t out = 0;
  for (const PlannedExperiment& planned : experiments)
    out += static_cast<std::size_t>(std::ranges::count(planned.unplanned, "", &UnplannedCell::why));
  return out;
}

Plan make_plan(const std::vector<const Experiment*>& experiments, const Catalogue& catalogue) {
  Problems problems;
  Plan plan = planned(experiments, catalogue, nullptr, problems);
  check_expressions(plan, catalogue, problems);
  problems.finish();
  const bool stages = std::ranges::any_of(experiments, [](auto* e) { return has_stages(*e); });
  return stages ? make_plan(experiments, catalogue, KnownMetrics()) : plan;
}

Plan make_plan(const std::vector<const Experiment*>& experiments, const Catalogue& catalogue,
               const KnownMetrics& known) {
  Problems problems;
  return planned(experiments, catalogue, &known, problems);
}

}  // namespace raddle::lab
