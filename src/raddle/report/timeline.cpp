#include "raddle/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

#include "raddle/base/demangle.h"
#include "raddle/report/blocks.h"

namespace raddle::report {
namespace {

/// Track numbers: streams first, then the SMs; an SM holds far fewer blocks than this at once.
constexpr std::uint32_t kFirstSmTrack = 100'000;
constexpr std::uint32_t kTracksOfSm = 1'000;

/// Of all runs together, at most.
constexpr std::size_t kMaxEvents = 300'000;
/// What a run may have.
struct Limits {
  std::size_t blocks, launches, counters;
  explicit Limits(std::size_t runs)
      : blocks(kMaxEvents / runs / 2), launches(blocks / 3), counters(launches * 2) {}
};

/// Writes events one by one: a run can have millions, too many for a document in memory.
class Writer {
 public:
  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void name_process(std::size_t pid, const std::string& name) {
    event(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid,
          json_text(name));
  }
  void name_track(std::size_t pid, std::uint32_t track, const std::string& name) {
    event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", pid, track,
          json_text(name));
    event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
          pid, track, track);
  }
  std::string take() && {
    return R"({"displayTimeUnit":"ns","otherData":{"time":"1 us on screen = 1 core cycle"},)"
           R"("traceEvents":[)" +
           std::move(out_) + "\n]}\n";
  }

 private:
  std::string out_;
  bool first_ = true;
};

std::string dims(const Dim3& d) { return fmt::format("[{},{},{}]", d.x, d.y, d.z); }

/// Of a launch that a kernel made.
std::string parent_of(const sim::KernelResult& k) {
  if (!k.parent) return "";
  return fmt::format(R"(,"parent":{},"parent_block":{},"depth":{})", k.parent->kernel,
                     k.parent->origin.block, k.parent->origin.depth);
}

/// The kernels of a stream, each on the first of its tracks that is free: one unless launches
/// overlap.
void write_kernels(Writer& out, std::size_t pid, const sim::Result& result, std::size_t maximum) {
  std::vector<std::size_t> order(std::min(result.kernels.size(), maximum));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](std::size_t i) {
    const sim::KernelResult& k = result.kernels[i];
    return std::tuple(k.stream, k.start, i);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<std::pair<std::uint32_t, Cycle>> tracks;  // stream, busy until
  for (const std::size_t i : order) {
    const sim::KernelResult& k = result.kernels[i];
    auto free = std::find_if(tracks.begin(), tracks.end(), [&](const auto& t) {
      return t.first == k.stream && t.second <= k.start;
    });
    if (free == tracks.end()) {
      tracks.emplace_back(k.stream, 0);
      free = tracks.end() - 1;
      out.name_track(pid, static_cast<std::uint32_t>(tracks.size()),
                     fmt::format("kernels, stream {}", k.stream));
    }
    free->second = k.end;
    out.event(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"kernel",)"
              R"("args":{{"launch":{},"grid":{},"block":{},"warp_instructions":{},)"
              R"("execution_cycles":{}{}}}}})",
              pid, free - tracks.begin() + 1, k.start, k.end - k.start,
              json_text(short_name(k.name)), i, dims(k.grid), dims(k.block), k.counters.sm.issued,
              k.last - k.first, parent_of(k));
  }
}

void write_blocks(Writer& out, std::size_t pid, const sim::Result& result, const BarChart& chart) {
  std::vector<std::string> names;
  for (const sim::KernelResult& k : result.kernels) names.push_back(json_text(short_name(k.name)));
  const auto unnamed = json_text("unnamed kernel");
  std::uint32_t named_track = 0;
  for (const Bar& bar : chart.bars) {
    const std::uint32_t track = kFirstSmTrack + bar.sm * kTracksOfSm + bar.lane;
    if (track != named_track) out.name_track(pid, track, fmt::format("SM {:03}", bar.sm));
    named_track = track;
    out.event(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"block",)"
              R"("args":{{"block":{},"blocks":{},"launch":{}}}}})",
              pid, track, bar.start, bar.end - bar.start,
              bar.launch < names.size() ? names[bar.launch] : unnamed, bar.first_block, bar.count,
              bar.launch);
  }
}

void write_counter(Writer& out, std::size_t pid, Cycle at, const char* name, double value) {
  out.event(R"({{"ph":"C","pid":{},"ts":{},"name":"{}","args":{{"value":{:.6g}}}}})", pid, at, name,
            value);
}

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
    for (std::size_t sm = 0; sm < std::min(sum.allowed_by_sm.size(), s.allowed_by_sm.size()); ++sm)
      sum.allowed_by_sm[sm] += s.allowed_by_sm[sm];
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
void write_stalls(Writer& out, std::size_t pid, const timing::Sample& s, double cycles,
                  const std::vector<unsigned>& reasons) {
  if (reasons.empty()) return;
  std::string values;
  for (const unsigned why : reasons)
    values += fmt::format(R"({}"{}":{:.6g})", values.empty() ? "" : ",", stats::kStallNames[why],
                          static_cast<double>(s.stall[why]) / cycles);
  out.event(R"({{"ph":"C","pid":{},"ts":{},"name":"schedulers stalled","args":{{{}}}}})", pid,
            s.start, values);
}

/// `together`: so many neighbours are one.
void write_samples(Writer& out, std::size_t pid, const sim::Result& result, std::size_t together) {
  const auto& all = result.samples;
  const std::vector<unsigned> reasons = stalls_in(all);
  for (std::size_t i = 0; i < all.size(); i += together) {
    const timing::Sample s = sum_of(all, i, together);
    const Cycle end = i + together < all.size() ? all[i + together].start : result.cycles;
    if (end <= s.start) continue;
    const auto cycles = static_cast<double>(end - s.start);
    write_counter(out, pid, s.start, "IPC", static_cast<double>(s.thread_instructions) / cycles);
    write_counter(out, pid, s.start, "DRAM bytes per cycle",
                  static_cast<double>(s.dram_bytes) / cycles);
    write_counter(out, pid, s.start, "warps that may load",
                  static_cast<double>(s.warp_cycles - s.throttled_warp_cycles) / cycles);
    for (std::size_t sm = 0; sm < s.allowed_by_sm.size(); ++sm)
      write_counter(out, pid, s.start, fmt::format("warps that may load, SM {:03}", sm).c_str(),
                    static_cast<double>(s.allowed_by_sm[sm]) / cycles);
    write_stalls(out, pid, s, cycles, reasons);
    if (s.l1d_accesses != 0)
      write_counter(out, pid, s.start, "L1D hit rate",
                    static_cast<double>(s.l1d_hits) / static_cast<double>(s.l1d_accesses));
  }
}

void write_run(Writer& out, std::size_t pid, const Run& run, const Limits& limits) {
  const sim::Result& result = *run.result;
  const BarChart chart = bar_chart(result.blocks, limits.blocks);
  std::size_t counters = 0;
  for (const timing::Sample& s : result.samples) counters += 5 + s.allowed_by_sm.size();
  const std::size_t together = counters / limits.counters + 1;
  const bool both = !result.workload.empty() && !run.label.empty();
  std::string label = result.workload + (both ? " " : "") + run.label;
  if (chart.merged > 1) label += fmt::format(" (up to {} blocks in one bar)", chart.merged);
  if (chart.until != kNever) label += fmt::format(" (blocks up to cycle {})", chart.until);
  if (result.kernels.size() > limits.launches)
    label += fmt::format(" (the first {} of {} launches)", limits.launches, result.kernels.size());
  out.name_process(pid, label);
  write_kernels(out, pid, result, limits.launches);
  write_blocks(out, pid, result, chart);
  write_samples(out, pid, result, together);
}

}  // namespace

std::string timeline(std::span<const Run> runs) {
  Writer out;
  const Limits limits(std::max<std::size_t>(runs.size(), 1));
  // Perfetto takes process 0 for the idle one.
  for (std::size_t i = 0; i < runs.size(); ++i) write_run(out, i + 1, runs[i], limits);
  return std::move(out).take();
}

}  // namespace raddle::report
