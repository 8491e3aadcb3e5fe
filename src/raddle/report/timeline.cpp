#include "raddle/report/timeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "raddle/base/demangle.h"
#include "raddle/report/blocks.h"
#include "raddle/report/breakdown.h"
#include "raddle/report/timeline_counters.h"
#include "raddle/report/timeline_writer.h"

namespace raddle::report {
namespace {

std::string dims(const Dim3& d) { return fmt::format("[{},{},{}]", d.x, d.y, d.z); }

/// Of a launch that a kernel made.
std::string parent_of(const sim::KernelResult& k) {
  if (!k.parent) return "";
  return fmt::format(R"(,"parent":{},"parent_block":{},"depth":{})", k.parent->kernel,
                     k.parent->origin.block, k.parent->origin.depth);
}

/// A launch of a run, by its number there, or of a tenant of a co-run.
struct ShownLaunch {
  std::string name;  ///< as JSON
  Process process;
  std::uint32_t stream = 0, warps_of_block = 0;
  Cycle start = kNever, end = kNever;  ///< kNever: not begun; not over at the end of the run
  std::string args;                    ///< of the event, as JSON
  std::uint32_t track = 0;             ///< of its bar; 0: none
};

std::vector<ShownLaunch> launches_of(const sim::Result& result, const RunProcesses& processes) {
  constexpr std::uint32_t kWarp = 32;
  const auto warps = [](const Dim3& block) {
    return static_cast<std::uint32_t>((block.count() + kWarp - 1) / kWarp);
  };
  std::vector<ShownLaunch> out;
  for (const sim::KernelResult& k : result.kernels)
    out.push_back({.name = short_name(k.name),
                   .process = processes.run,
                   .stream = k.stream,
                   .warps_of_block = warps(k.block),
                   .start = k.start,
                   .end = k.end,
                   .args = fmt::format(R"("launch":{},"grid":{},"block":{},"warp_instructions":{},)"
                                       R"("execution_cycles":{}{})",
                                       out.size(), dims(k.grid), dims(k.block),
                                       k.counters.sm.issued, k.last - k.first, parent_of(k))});
  if (!result.corun) return out;
  for (const sim::TenantLaunch& one : result.corun->launches)
    out.push_back({.name = short_name(one.name),
                   .process = processes.tenant(one.tenant),
                   .stream = one.stream,
                   .warps_of_block = warps(one.block),
                   .start = one.start,
                   .end = std::min(one.end, result.cycles),
                   .args = fmt::format(R"("launch":{},"grid":{},"block":{})", out.size(),
                                       dims(one.grid), dims(one.block))});
  return out;
}

/// The kernels of each stream, each on the first of its tracks that is free: one unless launches
/// overlap. Returns how many there are.
std::size_t write_kernels(TimelineWriter& out, std::vector<ShownLaunch>& launches,
                          std::size_t maximum) {
  std::vector<std::size_t> order;
  std::size_t begun = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].start == kNever) continue;
    if (begun++ < maximum) order.push_back(i);
  }
  const auto key = [&](std::size_t i) {
    const ShownLaunch& one = launches[i];
    return std::tuple(one.process, one.stream, one.start, i);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  struct Track {
    std::uint32_t stream;
    Cycle busy_until;
  };
  std::map<Process, std::vector<Track>> of_process;
  for (const std::size_t i : order) {
    ShownLaunch& one = launches[i];
    std::vector<Track>& tracks = of_process[one.process];
    auto free = std::find_if(tracks.begin(), tracks.end(), [&](const Track& track) {
      return track.stream == one.stream && track.busy_until <= one.start;
    });
    if (free == tracks.end()) {
      tracks.push_back({one.stream, 0});
      free = tracks.end() - 1;
      out.name_track(one.process, static_cast<std::uint32_t>(tracks.size()),
                     fmt::format("kernels, stream {}", one.stream));
    }
    free->busy_until = one.end;
    one.track = static_cast<std::uint32_t>(free - tracks.begin()) + 1;
    out.event(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"kernel",)"
              R"("args":{{{}}}}})",
              one.process, one.track, one.start, one.end - one.start, json_text(one.name),
              one.args);
  }
  return begun;
}

/// "fill, block 3", "fill, 8 blocks from 16 on"; those of another SM are said.
std::string title_of(const Bar& bar, std::span<const ShownLaunch> launches) {
  const std::string kernel =
      bar.launch < launches.size() ? launches[bar.launch].name : "unnamed kernel";
  if (bar.count == 1)
    return fmt::format("{}, block {}{}", kernel, bar.first_block,
                       bar.stolen != 0 ? " (stolen)" : "");
  return fmt::format("{}, {} blocks from {} on", kernel, bar.count, bar.first_block) +
         (bar.stolen != 0 ? fmt::format(" ({} stolen)", bar.stolen) : "");
}

void write_blocks(TimelineWriter& out, const RunProcesses& processes, const BarChart& chart,
                  std::span<const ShownLaunch> launches) {
  std::pair<Process, std::uint32_t> named;
  for (const Bar& bar : chart.bars) {
    const std::pair<Process, std::uint32_t> track{processes.sm(bar.sm), bar.lane + 1};
    if (track != named)
      out.name_track(track.first, track.second, fmt::format("blocks, place {}", bar.lane));
    named = track;
    out.event(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"block",)"
              R"("args":{{"block":{},"blocks":{},"launch":{},"stolen":{}}}}})",
              track.first, track.second, bar.start, bar.end - bar.start,
              json_text(title_of(bar, launches)), bar.first_block, bar.count, bar.launch,
              bar.stolen);
  }
}

/// From blocks to what they launched. Returns how many there are and have none.
std::size_t write_launch_arrows(TimelineWriter& out, const RunProcesses& processes,
                                const sim::Result& result, Cycle blocks_until,
                                std::span<const ShownLaunch> launches, std::size_t maximum) {
  std::map<std::pair<std::size_t, std::uint32_t>, const Bar*> parents;
  for (const sim::KernelResult& k : result.kernels)
    if (k.parent) parents[{k.parent->kernel, k.parent->origin.block}] = nullptr;
  if (parents.empty()) return 0;
  // Bars of one block each: those that were joined are in the same place and cover them.
  const std::vector<Bar> bars = bars_in_lanes(result.blocks);
  for (const Bar& bar : bars)
    if (const auto at = parents.find({bar.launch, bar.first_block}); at != parents.end())
      at->second = &bar;
  std::size_t arrows = 0, without = 0;
  for (std::size_t i = 0; i < result.kernels.size(); ++i) {
    const auto& parent = result.kernels[i].parent;
    if (!parent) continue;
    const Bar* bar = parents.at({parent->kernel, parent->origin.block});
    if (launches[i].track == 0 || bar == nullptr || bar->start >= blocks_until ||
        2 * (arrows + 1) > maximum) {
      ++without;
      continue;
    }
    ++arrows;
    const Cycle end = std::max(bar->start, bar->end == 0 ? 0 : bar->end - 1);
    out.arrow(
        "launch",
        {processes.sm(bar->sm), bar->lane + 1, std::clamp(launches[i].start, bar->start, end)},
        {launches[i].process, launches[i].track, launches[i].start});
  }
  return without;
}

/// The SMs that have run anything or of which samples tell.
std::size_t sms_of(const sim::Result& result) {
  std::size_t out =
      result.mesh && !result.mesh->counts.empty() ? result.mesh->counts.front().sms.size() : 0;
  if (!result.sms_over_time.empty()) out = std::max(out, result.sms_over_time.front().sms.size());
  for (const timing::BlockSpan& block : result.blocks)
    out = std::max<std::size_t>(out, block.sm + 1);
  return out;
}

/// In a co-run blocks are under way at its end.
BarChart chart_of(const sim::Result& result, std::size_t maximum) {
  BarChart chart;
  if (maximum == 0) {
    chart.blocks = result.blocks.size();
    chart.until = 0;
    return chart;
  }
  std::vector<timing::BlockSpan> blocks = result.blocks;
  std::erase_if(blocks, [&](const auto& block) { return block.start > result.cycles; });
  for (timing::BlockSpan& block : blocks) block.end = std::min(block.end, result.cycles);
  return bar_chart(blocks, maximum);
}

/// What is told, and what is not told one by one.
class RunTimeline {
 public:
  RunTimeline(TimelineWriter& out, std::size_t number, const Run& run, std::size_t events)
      : out_(out), run_(run), result_(*run.result), processes_(number), limits_(events) {}

  void write() {
    if (result_.launches_left_out != 0)
      note(fmt::format("{} launches that were not timed", result_.launches_left_out));
    if (result_.sampling && result_.sampling->estimated != 0)
      note(fmt::format("{} launches that were estimated, and their time",
                       result_.sampling->estimated));
    const BarChart chart = chart_of(result_, limits_.blocks);
    if (chart.merged > 1) note(fmt::format("up to {} blocks in one bar", chart.merged));
    if (chart.until != kNever && !result_.blocks.empty())
      note(chart.until == 0 ? "no blocks" : fmt::format("blocks up to cycle {}", chart.until));
    const std::size_t sms = sms_of(result_);
    std::vector<ShownLaunch> launches = launches_of(result_, processes_);
    const std::size_t begun = write_kernels(out_, launches, limits_.launches);
    if (begun > limits_.launches)
      note(fmt::format("the first {} of {} launches", limits_.launches, begun));
    write_blocks(out_, processes_, chart, launches);
    if (const std::size_t without =
            write_launch_arrows(out_, processes_, result_, chart.until, launches, limits_.arrows);
        without != 0)
      note(fmt::format("no arrow to {} launches by kernels", without));
    counters(sms, launches);
    name(sms);
  }

 private:
  void note(const std::string& what) {
    if (!what.empty()) notes_.push_back(what);
  }

  void counters(std::size_t sms, const std::vector<ShownLaunch>& launches) {
    // Of tenants there are the same kinds of counters, and so each has half.
    const std::size_t of_run = result_.corun ? limits_.samples / 2 : limits_.samples;
    std::vector<std::uint32_t> warps;
    for (const ShownLaunch& launch : launches) warps.push_back(launch.warps_of_block);
    note(write_samples(out_, processes_.run, result_, of_run));
    note(write_sm_counters(out_, processes_, result_, warps, sms, limits_.sms));
    note(write_moves(out_, processes_, result_, limits_.moves));
    if (result_.corun)
      note(write_tenant_counters(out_, processes_, *result_.corun, limits_.samples - of_run));
  }

  void name(std::size_t sms) {
    const bool both = !result_.workload.empty() && !run_.label.empty();
    const std::string label = result_.workload + (both ? " " : "") + run_.label;
    std::string full = label;
    for (const std::string& what : notes_) {
      full += " (" + what + ")";
      out_.leave_out((label.empty() ? "" : label + ": ") + what);
    }
    out_.name_process(processes_.run, full);
    for (std::size_t sm = 0; sm < sms; ++sm)
      out_.name_process(processes_.sm(sm), fmt::format("SM {:03}, {}", sm, label));
    if (!result_.corun) return;
    for (std::size_t t = 0; t < result_.corun->tenants.size(); ++t)
      out_.name_process(processes_.tenant(t),
                        fmt::format("tenant {}: {}", t, result_.corun->tenants[t].name));
  }

  TimelineWriter& out_;
  const Run& run_;
  const sim::Result& result_;
  const RunProcesses processes_;
  const TimelineLimits limits_;
  std::vector<std::string> notes_;
};

}  // namespace

Timeline timeline(std::span<const Run> runs, std::size_t maximum) {
  TimelineWriter out;
  for (std::size_t i = 0; i < runs.size(); ++i)
    RunTimeline(out, i, runs[i], maximum / runs.size()).write();
  return {out.text(), out.left_out()};
}

}  // namespace raddle::report
