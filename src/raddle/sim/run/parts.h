// What every way to run a simulation does alike. Of this room only.
#pragma once
#include <array>
#include <chrono>
#include <string_view>

#include "raddle/runtime/simulated_device.h"
#include "raddle/sim/run/simulation.h"
#include "raddle/sim/setup/seen.h"

namespace raddle::sim {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start);

/// As op-stream files name them; by Result::Verdict.
inline constexpr std::array<std::string_view, 3> kVerdicts = {"correct", "wrong", "unchecked"};

/// The device as host code sees it; its sink is still to be set.
runtime::SimulatedDeviceOptions device_options(const SeenByWorkload& seen, const Options& options);
/// What every result of a run has, timed or not.
Result blank(const WorkloadInfo& info, Setup& setup, const Options& options);
/// Runs the workload on the device and takes down what it says of its result.
void run_and_judge(runtime::Workload& workload, runtime::SimulatedDevice& device,
                   std::uint64_t seed, Result& verdict);
/// How many launches were left out and refused.
void fill_launches(Result& result, const runtime::SimulatedDevice& device);
/// What a recording keeps of a run. `operations`: of the host after the last launch.
nlohmann::ordered_json trailer_of(const Result& result, nlohmann::ordered_json operations);
/// The same of a recording's trailer.
void fill_verdict(Result& result, const nlohmann::ordered_json& trailer);
/// Throws InputError when an operation of the host (recorder.h) is none, or names a mark that was
/// not recorded before or bytes that no device has. `marks`: recorded so far.
void check_operations(const nlohmann::ordered_json& operations, std::uint64_t& marks);
/// One block of a launch, which is then closed there and finished here.
void copy_block(trace::KernelStream& from, trace::StreamWriter& to, std::uint32_t block);
/// Every block of a launch, in order.
void copy(trace::KernelStream& from, trace::StreamWriter& to);
/// The first launch behind the tree of the host's launch `i`.
std::size_t end_of_tree(const trace::Recording& recording, std::size_t i);
/// A launch that was not timed.
void add_functional(Result& result, const runtime::LaunchRecord& launch);
/// Launches and instruction counts of a run without timing.
void fill_functional(Result& result, std::span<const runtime::LaunchRecord> launches);
/// What the run cost the host since `start`.
void finish(Result& result, Clock::time_point start);

}  // namespace raddle::sim
