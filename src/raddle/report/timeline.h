// Timeline in the Chrome trace-event format, which https://ui.perfetto.dev and chrome://tracing
// open (format: "Trace Event Format", Google, 2016). One microsecond on the screen is one core
// cycle. Each run has a process named by its work and label, with a track per stream for its
// kernels and counters of the whole machine: IPC, DRAM bytes per cycle, L1D hit rate, warps that
// may load, and for each stall reason how many schedulers it kept from issuing. Behind it stands a
// process per SM with its thread blocks (a track per block resident at a time) and its counters,
// and of a co-run one per tenant with its kernels.
//
// Arrows lead from the block that made a launch to the launch, and from SM to SM where warps have
// moved: where samples have them (timing/gpu/mesh_record.h) as sums of an interval. An arrow of a
// launch leaves the block when the launch was free to go, or at the block's end if that came first:
// when the instruction was issued is not recorded. Blocks that a policy took from another SM are
// marked; from which is not recorded. Left out: warps and requests, of which there are too many.
//
// A trace has so many events at most, apart from the names of tracks, and its runs share them: of
// more blocks, neighbours become one bar that says how many; of more samples, neighbours one; of
// more launches the first are shown. The run's name says so, `left_out` of the file and Timeline.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "raddle/report/report.h"

namespace raddle::report {

/// Some 50 MB.
inline constexpr std::size_t kMaxTimelineEvents = 300'000;

struct Timeline {
  std::string text;                   ///< JSON
  std::vector<std::string> left_out;  ///< what of which run is not told one by one, in words
};

/// Events of one track never overlap. `maximum`: events but for the names of tracks.
Timeline timeline(std::span<const Run> runs, std::size_t maximum = kMaxTimelineEvents);

}  // namespace raddle::report
