// How busy the parts of the machine were in a launch, and so what limits it.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/stats/counters.h"
#include "raddle/timing/spec/machine.h"

namespace raddle::sim {

/// DRAM: the data buses of its channels. L2: look-ups of its slices, the network from there to the
/// SMs (crossbar) and the fabric between its halves, whichever is busiest. L1: lines and banks of
/// shared memory that an SM's load/store unit takes. SM: its schedulers, and each kind of execution
/// unit.
enum class Resource : std::uint8_t { Dram, L2, L1, Sm };
inline constexpr std::size_t kResources = 4;
inline constexpr std::array<std::string_view, kResources> kResourceNames = {"DRAM", "L2", "L1",
                                                                            "SM"};
/// Shares of what each could do at most, by Resource, 0 to 1; NaN is not known.
using Busy = std::array<double, kResources>;

/// In so many core cycles.
Busy busy_of(const stats::GpuCounters& counters, Cycle cycles, const timing::MachineSpec& machine);

/// From this share on the busiest limits a launch, below it latency does: where Nsight Compute
/// draws the line, too ("Achieved compute throughput and/or memory bandwidth below 60.0% of peak").
inline constexpr double kLimits = 0.6;
inline constexpr std::string_view kLatency = "latency";
/// "DRAM", "L2", "L1", "SM" or kLatency; "" where nothing that is known limits and not all is
/// known.
std::string_view limited_by(const Busy& busy);

}  // namespace raddle::sim
