#include "raddle/report/timeline_counters.h"

#include <algorithm>
#include <map>
#include <utility>

namespace raddle::report {
namespace {

/// `count` samples from the i-th on, as one.
timing::Sample sum_of(const std::vector<timing::Sample>& all, std::size_t i, std::size_t count) {
  timing::Sample sum = all[i];
  for (std::size_t n = i + 1; n < std::min(i + count, all.size()); ++n) {
    const timing::Sample& s = all[n];
    sum.thread_instructions += s.thread_instructions;
    sum.dram_bytes += s.dram_bytes;
    sum.warp_cycles += s.warp_cycles;
    sum.throttled_warp_cycles += s.throttled_warp_cycles;
    sum.l1d_hits += s.l1d_hits;
    sum.l1d_accesses += s.l1d_accesses;
    for (unsigned why = 0; why < stats::kStalls; ++why) sum.stall[why] += s.stall[why];
  }
  return sum;
}

/// Reasons for which a scheduler issued nothing at any time.
std::vector<unsigned> stalls_in(const std::vector<timing::Sample>& samples) {
  std::vector<unsigned> out;
  for (unsigned why = 0; why < stats::kStalls; ++why)
    if (std::ranges::any_of(samples, [&](const auto& s) { return s.stall[why] != 0; }))
      out.push_back(why);
  return out;
}

/// One event that viewers show as a track for each of `reasons` (chrome://tracing: stacked).
void write_stalls(TimelineWriter& out, Process process, const timing::Sample& s, double cycles,
                  const std::vector<unsigned>& reasons) {
  if (reasons.empty()) return;
  std::string values;
  for (const unsigned why : reasons)
    values += fmt::format(R"({}"{}":{:.6g})", values.empty() ? "" : ",", stats::kStallNames[why],
                          static_cast<double>(s.stall[why]) / cycles);
  out.event(R"({{"ph":"C","pid":{},"ts":{},"name":"schedulers stalled","args":{{{}}}}})", process,
            s.start, values);
}

/// "8 samples are one", or what there is none of.
std::string summed(std::size_t neighbours, const std::string& what) {
  if (neighbours == 0) return "no " + what;
  return neighbours == 1 ? "" : fmt::format("{} in means of {} samples", what, neighbours);
}

/// From `start` to the next sample, or to the end.
double length(const sim::Result& result, std::size_t next, Cycle start) {
  const Cycle end = next < result.samples.size() ? result.samples[next].start : result.cycles;
  return end <= start ? 0 : static_cast<double>(end - start);
}

/// Warps of the blocks on each SM over time, as means of equal intervals.
class Residents {
 public:
  Residents(Cycle cycles, Cycle interval, std::size_t sms)
      : cycles_(cycles),
        interval_(interval),
        columns_(static_cast<std::size_t>((cycles + interval - 1) / interval)),
        warp_cycles_(sms * columns_, 0.0),
        steps_(sms * (columns_ + 1), 0.0) {}
  std::size_t columns() const { return columns_; }

  void add(std::size_t sm, Cycle start, Cycle end, double warps) {
    end = std::min(end, cycles_);
    if (start >= end) return;
    const auto first = static_cast<std::size_t>(start / interval_),
               last = static_cast<std::size_t>((end - 1) / interval_);
    double* const of_sm = &warp_cycles_[sm * columns_];
    const auto until = [&](std::size_t column) {
      return static_cast<double>(std::min<Cycle>(end, (column + 1) * interval_));
    };
    of_sm[first] += warps * (until(first) - static_cast<double>(start));
    if (first == last) return;
    of_sm[last] += warps * (until(last) - static_cast<double>(last * interval_));
    steps_[sm * (columns_ + 1) + first + 1] += warps;  // all of the intervals between them
    steps_[sm * (columns_ + 1) + last] -= warps;
  }

  void write(TimelineWriter& out, const RunProcesses& processes, std::size_t sm) const {
    double all = 0, before = 0;
    for (std::size_t column = 0; column < columns_; ++column) {
      const Cycle start = column * interval_;
      all += steps_[sm * (columns_ + 1) + column];
      const double mean = all + warp_cycles_[sm * columns_ + column] /
                                    static_cast<double>(std::min(interval_, cycles_ - start));
      if (column == 0 || mean != before)  // a counter holds until the next event
        out.counter(processes.sm(sm), start, "warps of resident blocks", mean);
      before = mean;
    }
  }

 private:
  Cycle cycles_, interval_;
  std::size_t columns_;
  std::vector<double> warp_cycles_;  ///< by SM and interval: of those that a block fills in part
  std::vector<double> steps_;        ///< by SM and interval: warps more than in the one before
};

/// Of SMs of a mesh: schedulers that issued and that waited for memory, as means.
void write_mesh_counts(TimelineWriter& out, const RunProcesses& processes,
                       const std::vector<timing::MeshCounts>& counts, std::size_t neighbours) {
  timing::MeshCounts before;
  for (std::size_t i = neighbours - 1;; i += neighbours) {
    const timing::MeshCounts& now = counts[std::min(i, counts.size() - 1)];
    const auto cycles = static_cast<double>(now.at - before.at);
    for (std::size_t sm = 0; sm < now.sms.size() && cycles > 0; ++sm) {
      const timing::MeshCounts::Sm was =
          before.sms.empty() ? timing::MeshCounts::Sm{} : before.sms[sm];
      out.counter(processes.sm(sm), before.at, "schedulers that issue",
                  static_cast<double>(now.sms[sm].issued - was.issued) / cycles);
      out.counter(processes.sm(sm), before.at, "schedulers that wait for memory",
                  static_cast<double>(now.sms[sm].memory - was.memory) / cycles);
    }
    before = now;
    if (i >= counts.size() - 1) return;
  }
}

using MovesByPair = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;

MovesByPair moves_of(const timing::MeshCounts& counts) {
  MovesByPair out;
  for (const timing::WarpMoves& moves : counts.moves) out[{moves.from, moves.to}] = moves.warps;
  return out;
}

/// Warps that moved in an interval.
struct MovedWarps {
  Cycle start, end;
  MovesByPair pairs;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> sms;  ///< went, came

  std::size_t events() const { return 2 * pairs.size() + sms.size(); }
};

std::vector<MovedWarps> moved_warps(const std::vector<timing::MeshCounts>& counts,
                                    std::size_t neighbours) {
  std::vector<MovedWarps> out;
  Cycle start = 0;
  MovesByPair before;
  for (std::size_t i = neighbours - 1; !counts.empty(); i += neighbours) {
    const timing::MeshCounts& now = counts[std::min(i, counts.size() - 1)];
    MovedWarps moved{start, now.at, {}, {}};
    MovesByPair sum = moves_of(now);
    for (const auto& [pair, warps] : sum) {
      const std::uint64_t of_interval = warps - before[pair];
      if (of_interval == 0) continue;
      moved.pairs[pair] = of_interval;
      moved.sms[pair.first].first += of_interval;
      moved.sms[pair.second].second += of_interval;
    }
    if (!moved.pairs.empty() && moved.end > moved.start) out.push_back(std::move(moved));
    before = std::move(sum);
    start = now.at;
    if (i >= counts.size() - 1) break;
  }
  return out;
}

}  // namespace

std::string write_samples(TimelineWriter& out, Process process, const sim::Result& result,
                          std::size_t maximum) {
  constexpr std::size_t kOfSample = 5;
  const auto& all = result.samples;
  if (all.empty()) return "";
  const std::size_t neighbours = together(all.size(), kOfSample, maximum);
  const std::vector<unsigned> reasons = stalls_in(all);
  for (std::size_t i = 0; neighbours != 0 && i < all.size(); i += neighbours) {
    const timing::Sample s = sum_of(all, i, neighbours);
    const double cycles = length(result, i + neighbours, s.start);
    if (cycles == 0) continue;
    out.counter(process, s.start, "IPC", static_cast<double>(s.thread_instructions) / cycles);
    out.counter(process, s.start, "DRAM bytes per cycle",
                static_cast<double>(s.dram_bytes) / cycles);
    out.counter(process, s.start, "warps that may load",
                static_cast<double>(s.warp_cycles - s.throttled_warp_cycles) / cycles);
    write_stalls(out, process, s, cycles, reasons);
    if (s.l1d_accesses != 0)
      out.counter(process, s.start, "L1D hit rate",
                  static_cast<double>(s.l1d_hits) / static_cast<double>(s.l1d_accesses));
  }
  return summed(neighbours, "counters");
}

namespace {
/// Means of so many intervals.
void write_allowed(TimelineWriter& out, const RunProcesses& processes,
                   const std::vector<timing::SmCounts>& counts, std::size_t step) {
  timing::each_stretch(
      counts, step, [&](const timing::SmCounts& before, const timing::SmCounts& now) {
        const auto cycles = static_cast<double>(now.at - before.at);
        for (std::size_t i = 0; i < now.sms.size() && cycles > 0; ++i) {
          const auto &to = now.sms[i], &from = before.sms[i];
          const std::uint64_t allowed = to.warp_cycles - from.warp_cycles -
                                        (to.throttled_warp_cycles - from.throttled_warp_cycles);
          out.counter(processes.sm(i), before.at, "warps that may load",
                      static_cast<double>(allowed) / cycles);
        }
      });
}
}  // namespace

std::string write_sm_counters(TimelineWriter& out, const RunProcesses& processes,
                              const sim::Result& result,
                              std::span<const std::uint32_t> warps_of_block, std::size_t sms,
                              std::size_t maximum) {
  if (sms == 0 || result.cycles == 0) return "";
  const std::size_t third = maximum / 3;  // blocks, throttle, mesh
  constexpr Cycle kFinest = 256;          // as samples are taken
  const std::size_t finest = static_cast<std::size_t>((result.cycles + kFinest - 1) / kFinest);
  const std::size_t columns = together(finest, sms, third);
  if (columns == 0) return "no counters of SMs";
  Residents residents(result.cycles, kFinest * columns, sms);
  for (const timing::BlockSpan& block : result.blocks)
    residents.add(block.sm, block.start, block.end,
                  block.launch < warps_of_block.size() ? warps_of_block[block.launch] : 0);
  for (std::size_t sm = 0; sm < sms; ++sm) residents.write(out, processes, sm);
  std::string left_out;
  const auto& counts_of_sms = result.sms_over_time;
  if (!counts_of_sms.empty() && timing::has_throttled(counts_of_sms.back())) {
    const std::size_t step = together(counts_of_sms.size(), sms, third);
    if (step != 0) write_allowed(out, processes, counts_of_sms, step);
    else left_out += "no counters of warps that may load; ";
  }
  if (result.mesh && !result.mesh->counts.empty()) {
    const auto& counts = result.mesh->counts;
    if (const std::size_t step = together(counts.size(), 2 * sms, third); step != 0)
      write_mesh_counts(out, processes, counts, step);
    else left_out += "no counters of the mesh; ";
  }
  if (columns != 1)
    left_out += fmt::format("counters of SMs in means of {} cycles; ", kFinest * columns);
  return left_out.substr(0, left_out.empty() ? 0 : left_out.size() - 2);
}

std::string write_moves(TimelineWriter& out, const RunProcesses& processes,
                        const sim::Result& result, std::size_t maximum) {
  if (!result.mesh || result.mesh->counts.empty()) return "";
  const auto& counts = result.mesh->counts;
  std::vector<MovedWarps> all;
  std::size_t neighbours = 1;
  for (std::size_t events = maximum + 1; events > maximum; neighbours *= 2) {
    all = moved_warps(counts, neighbours);
    events = 0;
    for (const MovedWarps& moved : all) events += moved.events();
    if (events > maximum && neighbours >= counts.size()) return "no warps that move";
    if (events <= maximum) break;
  }
  std::map<std::uint32_t, bool> named;
  for (const MovedWarps& moved : all) {
    for (const auto& [sm, warps] : moved.sms) {
      if (!std::exchange(named[sm], true))
        out.name_track(processes.sm(sm), kMovesTrack, "warps that move");
      out.event(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":"{} out, {} in",)"
                R"("cat":"moves","args":{{"out":{},"in":{}}}}})",
                processes.sm(sm), kMovesTrack, moved.start, moved.end - moved.start, warps.first,
                warps.second, warps.first, warps.second);
    }
    for (const auto& [pair, warps] : moved.pairs)
      out.arrow(warps == 1 ? "warp" : "warps", {processes.sm(pair.first), kMovesTrack, moved.start},
                {processes.sm(pair.second), kMovesTrack, moved.end - 1});
  }
  return neighbours == 1 ? "" : fmt::format("moves of warps in sums of {} intervals", neighbours);
}

std::string write_tenant_counters(TimelineWriter& out, const RunProcesses& processes,
                                  const sim::CorunResult& run, std::size_t maximum) {
  if (!run.use || run.use->samples().empty()) return "";
  const auto& samples = run.use->samples();
  const std::size_t each = 4 * run.tenants.size();
  const std::size_t step = together(samples.size(), each, maximum);
  if (step == 0) return "no counters of tenants";
  for (std::size_t i = 0; i < samples.size(); i += step) {
    const std::size_t end = std::min(i + step, samples.size());
    const auto cycles = static_cast<double>(samples[end - 1].end - samples[i].start);
    if (cycles <= 0) continue;
    for (std::size_t t = 0; t < run.tenants.size(); ++t) {
      std::uint64_t instructions = 0, bytes = 0, flits = 0;
      for (std::size_t n = i; n < end; ++n) {
        instructions += samples[n].tenant[t].thread_instructions;
        bytes += samples[n].tenant[t].dram_bytes;
        flits += samples[n].tenant[t].reply_flits;
      }
      const Process process = processes.tenant(t);
      const Cycle at = samples[i].start;
      out.counter(process, at, "IPC", static_cast<double>(instructions) / cycles);
      out.counter(process, at, "DRAM bytes per cycle", static_cast<double>(bytes) / cycles);
      out.counter(process, at, "reply bytes per cycle",
                  static_cast<double>(flits) * run.use->flit_bytes() / cycles);
      out.counter(process, at, "resident blocks", samples[end - 1].tenant[t].blocks);
    }
  }
  return summed(step, "counters of tenants");
}

}  // namespace raddle::report
