// What every way to run a simulation does alike. Of this room only.
#pragma once
#include <array>
#include <chrono>
#include <string_view>

#include "raddle/runtime/simulated_device.h"
#include "raddle/sim/simulation.h"

namespace raddle::sim {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start);

/// As op-stream files name them; by Result::Verdict.
inline constexpr std::array<std::string_view, 3> kVerdicts = {"correct", "wrong", "unchecked"};

/// The device that the machine of a setup is to host code; its sink is still to be set.
runtime::SimulatedDeviceOptions device_options(const Setup& setup, const Options& options);
/// What every result of a run has, timed or not.
Result blank(const WorkloadInfo& info, Setup& setup, const Options& options);
/// A launch that was not timed.
void add_functional(Result& result, const runtime::LaunchRecord& launch);
/// Launches and instruction counts of a run without timing.
void fill_functional(Result& result, const runtime::SimulatedDevice& device);
/// What the run cost the host since `start`.
void finish(Result& result, Clock::time_point start);

}  // namespace raddle::sim
