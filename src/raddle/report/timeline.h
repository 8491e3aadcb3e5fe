// Timeline in the Chrome trace-event format, which https://ui.perfetto.dev and chrome://tracing
// open (format: "Trace Event Format", Google, 2016). One process per run, named by its label; in it
// a track per stream with its kernels, tracks for every SM with its thread blocks (one per block
// resident at a time), and counters: IPC, DRAM bytes per cycle, L1D hit rate, warps that may load,
// and for each stall reason how many schedulers of all SMs it kept from issuing. One microsecond on
// the screen is one core cycle. Left out: warps and requests, of which there are too many. A trace
// has 300,000 events at most (some 50 MB) apart from the names of tracks, which its runs share: of
// more blocks, neighbours become one bar that says how many; of more samples, neighbours one; of
// more launches the first are shown. The run's name says so.
#pragma once
#include <span>
#include <string>

#include "raddle/report/report.h"

namespace raddle::report {

/// The trace as JSON text. Events of one track never overlap.
std::string timeline(std::span<const Run> runs);

}  // namespace raddle::report
