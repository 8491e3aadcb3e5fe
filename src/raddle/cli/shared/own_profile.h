// raddle validate --ncu, --nsys: a profile of the user's own program beside its simulation.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/cli/shared/options.h"

namespace raddle::cli {

/// What the L2 holds before each launch, --replay-as: nothing, as ncu sees to before each of its
/// passes; what an earlier pass of the same launch has left, as with ncu --cache-control none; what
/// launches before have left, as when a program runs by itself or under nsys.
inline constexpr auto kReplayNames =
    std::to_array<std::string_view>({"ncu", "ncu-warm", "nsys", "none"});
/// Passes of each launch that are simulated; the last one counts.
inline unsigned passes_of(std::string_view replay_as) { return replay_as == "ncu-warm" ? 2 : 1; }

struct OwnProfileOptions {
  std::string ncu, nsys;             ///< the table; one of both is ""
  std::vector<std::string> work;     ///< a workload or recording; empty: a program
  std::vector<std::string> program;  ///< and its arguments
  std::string replay_as;             ///< of kReplayNames; "": by the tool
  std::uint64_t launch_skip = 0;     ///< launches that the profiler has left out
  std::string page, plots;           ///< files to write; "": none
  std::string command;               ///< the command line, shown on the page
};

/// Simulates the program, prints what agrees and what does not, and writes JSON, page and plots
/// where asked for. The exit status. Throws InputError and RunError.
int validate_own_profile(const OwnProfileOptions& options, const CommonOptions& common);

}  // namespace raddle::cli
