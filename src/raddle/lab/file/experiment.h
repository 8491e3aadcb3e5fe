// An experiment file in memory: what to run, compute, draw and check at one scale. Read by
// experiment_reader.h, expanded by plan.h. The file format is experiments/README.md, which says
// what each member means.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/lab/file/expression.h"

namespace raddle::lab {

using Json = nlohmann::ordered_json;

enum class Scale : std::uint8_t { Quick, Full };
inline constexpr std::array<std::string_view, 2> kScaleNames = {"quick", "full"};

/// One value of a table such as `set` or `parameters`, in order of writing.
struct Setting {
  std::string path;
  Json value;  ///< a number, a text, true or false
  Place place;
};
using Settings = std::vector<Setting>;

struct PlacedText {
  std::string text;
  Place place;
};

/// An expression of a file. `key` says in errors which.
struct Formula {
  Expression expression;
  std::string text, key;
  Place place;
};

/// A program of the user's own, which is recorded once, or a recording.
struct Foreign {
  std::vector<std::string> command;  ///< program and arguments; none: a recording
  std::string file;                  ///< of the recording, an Accel-Sim trace among them
  std::string folder;                ///< paths start there, and the program runs there
  std::vector<std::string> inputs;   ///< files that it reads and no argument names
  // What identify() (foreign.h) finds out:
  std::string name;      ///< as results call it
  Json parameters;       ///< as results tell them
  std::string identity;  ///< hash of what decides what it does
  Place place;
  /// Is there a file that can be replayed as it is?
  bool is_recorded() const { return command.empty() && file.ends_with(".rdl"); }
};

struct Workload {
  std::string name, title, workload;
  std::optional<Foreign> foreign;  ///< instead of `workload`; then it has no parameters
  Settings parameters;             ///< at this scale, `size` among them
  Settings set;                    ///< of the machine
  /// Workloads that share the GPU; then it has neither `workload` nor parameters of its own.
  std::vector<std::string> members;
  Place place;
};

/// Runs go on to a horizon, and workloads with members are co-runs. At this scale, GPU cycles.
struct Corun {
  std::uint64_t horizon = 0, warmup = 0;
  std::optional<Formula> alone;  ///< IPC of a member when it runs alone
  Place place;
};

struct Selection {
  std::string best_of;
  std::vector<std::string> over;
  Formula objective;
  bool maximise = true;
};

struct Variant {
  std::string name, title;
  std::vector<PlacedText> policies;
  Settings set;
  std::optional<PlacedText> gpu;
  std::optional<Selection> selection;
  Place place;
};

struct AxisPoint {
  AxisValue value;
  Settings set, parameters;
};

enum class AxisScale : std::uint8_t { Category, Linear, Log };
inline constexpr std::array<std::string_view, 3> kAxisScaleNames = {"category", "linear", "log"};

struct Axis {
  std::string name, title, unit;
  AxisScale scale = AxisScale::Linear;
  std::vector<AxisPoint> points;  ///< at this scale
  Place place;
};

/// One [[runs]]. Numbers are positions in Experiment's lists.
struct RunBlock {
  std::vector<std::size_t> workloads, variants, axes;
  std::vector<std::string> analyses;
  std::optional<Formula> where;  ///< a condition: cells in which it does not hold are left out
  Place place;
};

struct Measure {
  std::string name, title, unit;
  Formula value;
};

enum class FigureType : std::uint8_t { Bars, Lines, Stacked, Table, Tornado };
inline constexpr std::array<std::string_view, 5> kFigureTypeNames = {"bars", "lines", "stacked",
                                                                     "table", "tornado"};

struct Figure {
  struct Series {
    std::string name;              ///< a variant, workload, group or axis, or any text with `value`
    std::optional<Formula> value;  ///< of its own
    Place place;
  };
  /// A column that is a mean of others, or over workloads of its own.
  struct Mean {
    std::string name, mean, over;  ///< over: "" = all of x
  };
  std::string title;
  FigureType type = FigureType::Bars;
  std::vector<std::string> x;
  std::vector<Mean> means;
  std::string x_label, y_label, y_unit;
  std::optional<Formula> value;
  std::vector<Series> series;
  std::vector<Series> pieces;
  Place place;
};

enum class Reading : std::uint8_t { Ratio, Value, Exact };
inline constexpr std::array<std::string_view, 3> kReadingNames = {"ratio", "value", "exact"};

struct Stated {
  struct Mark {
    std::size_t figure = 0;
    std::string series, x;
  };
  std::string what;
  Formula value;
  double paper = 0;
  Reading reading = Reading::Ratio;
  double low = 0, high = 0;  ///< of `exact`: what rounds to the number
  std::optional<Mark> mark;
  Place place;
};

struct Shape {
  std::string text;
  Formula check;
  std::optional<Formula> of;
  double tolerance = 0;
};

struct Counters {
  std::vector<std::string> columns;
  std::vector<std::size_t> workloads, variants;
  Place place;
};

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
  std::vector<Stated> stated;
  std::vector<Shape> shapes;
  std::optional<Counters> counters;
  std::vector<std::string> tested_by;
  /// Workloads in whose place others were put (foreign.h): the row is no longer the paper's.
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
