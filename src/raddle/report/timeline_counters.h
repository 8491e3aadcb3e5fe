// The counters of a timeline, and the warps that move between SMs, which only samples tell.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "raddle/report/timeline_writer.h"
#include "raddle/sim/result/result.h"

namespace raddle::report {

/// Of the whole machine, from its samples. Each returns what it has summed or left out, in words,
/// or "".
std::string write_samples(TimelineWriter& out, Process process, const sim::Result& result,
                          std::size_t maximum);

/// Of each SM: warps of its resident blocks, those that may load, and where samples have it, the
/// schedulers that issue and those that wait for memory. `warps_of_block`: by launch.
std::string write_sm_counters(TimelineWriter& out, const RunProcesses& processes,
                              const sim::Result& result,
                              std::span<const std::uint32_t> warps_of_block, std::size_t sms,
                              std::size_t maximum);

/// The track of an SM with the warps that have left it and come to it, with arrows between SMs.
inline constexpr std::uint32_t kMovesTrack = 1'000'000;
std::string write_moves(TimelineWriter& out, const RunProcesses& processes,
                        const sim::Result& result, std::size_t maximum);

/// Of each tenant of a co-run, where it was recorded: its use of network and DRAM, and its blocks.
std::string write_tenant_counters(TimelineWriter& out, const RunProcesses& processes,
                                  const sim::CorunResult& run, std::size_t maximum);

}  // namespace raddle::report
