// An experiment file in memory: what to run, compute, draw and check at one scale. Read by
// experiment_reader.h, expanded by plan/plan.h. The file format is experiments/README.md, which
// says what each member means.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/lab/file/runs.h"
#include "raddle/lab/file/statements.h"

namespace raddle::lab {

/// A number that runs give and other runs need: "{NAME}" in their policies and settings.
struct Derived {
  std::string name;
  Formula value;
  std::string over;               ///< an axis: the values at its points, joined; or ""
  std::string join = "+";         ///< what stands between the values of a list
  bool keyed = false;             ///< "POINT:VALUE" instead of the values of a list alone
  std::optional<Formula> where;   ///< a condition: points of the list where it fails are left out
  std::optional<double> example;  ///< for the check before anything runs
};

enum class NameKind : std::uint8_t { Workload, Group, Variant, Axis, Measure, Constant, Derived };
std::string_view kind_name(NameKind kind);
struct Symbol {
  NameKind kind;
  std::size_t index;
};

/// A study is a row of ours that the paper does not have: it is shown and counts for nothing.
inline constexpr std::string_view kStudy = "study";
inline constexpr std::array<std::string_view, 7> kExperimentKinds = {
    "performance", "characterisation", "sensitivity", "case_study", "cost", "definition", kStudy};

struct Experiment {
  std::string paper, id;  ///< "ccws", "fig7"
  std::string title, kind, source, claim, explanation;
  std::uint32_t priority = 2;
  Place place;

  PlacedText gpu;
  Settings set;
  std::uint64_t seed = 1;
  double timeout_minutes = 60;
  std::uint64_t max_cycles = 0;  ///< 0 = no limit
  std::optional<Corun> corun;

  std::map<std::string, Symbol, std::less<>> names;
  std::vector<Workload> workloads;
  std::vector<std::vector<std::size_t>> groups;  ///< members, each once, in order
  std::vector<Variant> variants;
  std::vector<Axis> axes;
  std::vector<Measure> measures;
  std::vector<double> constants;
  std::vector<Derived> derived;
  std::map<std::string, PlacedText> analyses;  ///< by name, as --analysis takes them

  std::vector<RunBlock> runs;
  std::vector<Figure> figures;
  std::vector<ReportedValue> reported;  ///< [[stated]]
  std::vector<ExpectedTrend> trends;    ///< [[shapes]]
  std::optional<CounterTable> counters;
  std::vector<std::string> tested_by;
  /// Workloads in whose place others were put (external_program.h): the row is no longer the
  /// paper's.
  std::vector<std::string> replaced;

  std::string full_id() const { return paper + "." + id; }
  const Symbol* find(std::string_view name) const;
  /// Its position when `name` is of that kind.
  std::optional<std::size_t> find(std::string_view name, NameKind kind) const;
  /// Does any [[runs]] have it, or a co-run in which it is?
  bool runs_workload(std::size_t workload) const;
  /// Workloads of a group, or the one workload of that name; empty when it is neither.
  std::vector<std::size_t> workloads_of(std::string_view name) const;
};

struct Paper {
  std::string id, title, reference, notes;
  PlacedText gpu;
  Settings set;
  std::vector<Experiment> experiments;  ///< in order of reports
};

}  // namespace raddle::lab
