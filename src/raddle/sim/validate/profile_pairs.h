// Launches of a profile beside those of a simulation of the same program.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "raddle/sim/result/result.h"
#include "raddle/sim/validate/profile.h"

namespace raddle::sim {

/// A launch of both sides, or of means by kernel those of all its launches.
struct ComparedLaunch {
  std::string kernel;    ///< KernelName::full
  std::string launch;    ///< of that kernel: "0", or "mean of 12"
  std::string measured;  ///< the name as the profile has it
  std::array<double, kMetrics> measured_value{}, simulated_value{};  ///< by Metric; NaN not known
  Busy measured_busy{}, simulated_busy{};
};

/// Launches of one kernel that one side has alone.
struct Unpaired {
  bool in_profile = false;  ///< else simulated
  std::string kernel;
  std::uint64_t launches = 0, first = 0;  ///< of that kernel, from 0
  std::string reason;
};

struct ProfileComparison {
  std::vector<ComparedLaunch> launches;  ///< in order of the profile
  std::vector<Unpaired> unpaired;
};

/// Pairs by kernel and order: the n-th launch of a kernel in the profile is the n-th simulated one
/// of the same name, once the first `skipped` launches of kernels that the profile has are left out
/// of the simulation (ncu --launch-skip). Names are the same in the sense of kernel_name(): as
/// mangled, else with template arguments, else the function alone where that is of one kernel. Grid
/// and block must agree where the profile has them. Launches by kernels are not in profiles.
/// Precondition: `simulated` are measurements_of(result, ...).
ProfileComparison compare_profile(const Profile& profile, const Result& result,
                                  std::span<const Measurement> simulated,
                                  std::uint64_t skipped = 0);

}  // namespace raddle::sim
