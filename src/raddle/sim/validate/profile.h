// Profiles of a program's launches that NVIDIA's tools have printed as tables.
//
// Nsight Compute: `ncu --csv`, or `ncu --import FILE.ncu-rep --csv`. The page "raw" has a row for
// each launch, a column for each metric and a row of units below the names; the page "details" a
// row for each metric of a launch, under the metric's name or, of the tool's sections, its label. A
// summary (--print-summary per-kernel) has a row for each metric of a kernel. Before the table
// stand lines of the tool (==PROF==) and what the program printed.
// Nsight Systems: `nsys stats --format csv`, with the report cuda_gpu_trace (older: gputrace), a
// row for each launch, or cuda_gpu_kern_sum (gpukernsum), a row for each kernel.
//
// Source of names, units and layouts: NVIDIA's manuals (Nsight Compute, "Command Line Interface",
// pages and units; "Kernel Profiling Guide", metrics; Nsight Systems, "Post-Collection Analysis
// Guide"), and tables that those tools have printed in public repositories.
#pragma once
#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/sim/result/busy.h"
#include "raddle/sim/validate/measurement.h"

namespace raddle::sim {

struct ProfiledLaunch {
  std::string kernel;  ///< as the table writes it
  unsigned line = 0;   ///< of the file
  std::optional<Dim3> grid, block;
  std::uint64_t launches = 1;  ///< more: the values are means of so many launches
  double microseconds = 0;     ///< NaN: not known
  /// By Metric; rates are 0..1. What was not measured is NaN.
  std::array<double, kMetrics> value{};
  Busy busy{};
};

struct Profile {
  std::string file;
  bool means = false;  ///< a row is of all launches of a kernel
  /// tool, device, and what the values are of
  std::map<std::string, std::string> conventions;
  std::vector<ProfiledLaunch> launches;  ///< in order of launch
  std::vector<std::string> notes;        ///< what was left out, and of what one must know
};

/// Of --ncu. Throws InputError naming file, line, what was expected and what was found; when there
/// is no launch; and when no launch has cycles or a time.
Profile read_ncu_profile(std::istream& in, const std::string& file);
Profile read_ncu_profile(const std::string& file);
/// Of --nsys, likewise.
Profile read_nsys_profile(std::istream& in, const std::string& file);
Profile read_nsys_profile(const std::string& file);

}  // namespace raddle::sim
