// What an experiment runs: workloads under variants at the points of axes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/lab/file/values.h"

namespace raddle::lab {

enum class Scale : std::uint8_t { Quick, Full };
inline constexpr std::array<std::string_view, 2> kScaleNames = {"quick", "full"};

/// A program of the user's own, which is recorded once, or a recording.
struct ExternalProgram {
  std::vector<std::string> command;  ///< program and arguments; none: a recording
  std::string file;                  ///< of the recording, an Accel-Sim trace among them
  std::string folder;                ///< paths start there, and the program runs there
  std::vector<std::string> inputs;   ///< files that it reads and no argument names
  // What identify() (plan/external_programs.h) finds out:
  std::string name;      ///< as results call it
  Json parameters;       ///< as results tell them
  std::string identity;  ///< hash of what decides what it does
  Place place;
  /// Is there a file that can be replayed as it is?
  bool is_recorded() const { return command.empty() && file.ends_with(".rdl"); }
};

struct Workload {
  std::string name, title, workload;
  std::optional<ExternalProgram> external;  ///< instead of `workload`; then it has no parameters
  Settings parameters;                      ///< at this scale, `size` among them
  Settings set;                             ///< of the machine
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

}  // namespace raddle::lab
