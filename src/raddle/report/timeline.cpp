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
void write_kernels(Writer& out, std::size_t pid, const sim::Result& result) {
  std::vector<std::size_t> order(result.kernels.size());
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

void write_blocks(Writer& out, std::size_t pid, const sim::Result& result) {
  std::vector<std::string> names;
  for (const sim::KernelResult& k : result.kernels) names.push_back(json_text(short_name(k.name)));
  const auto unnamed = json_text("unnamed kernel");
  std::uint32_t named_track = 0;
  for (const Bar& bar : bars_in_lanes(result.blocks)) {
    const std::uint32_t track = kFirstSmTrack + bar.sm * kTracksOfSm + bar.lane;
    if (track != named_track) out.name_track(pid, track, fmt::format("SM {:03}", bar.sm));
    named_track = track;
    out.event(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"block",)"
              R"("args":{{"block":{},"launch":{}}}}})",
              pid, track, bar.start, bar.end - bar.start,
              bar.launch < names.size() ? names[bar.launch] : unnamed, bar.first_block, bar.launch);
  }
}

void write_counter(Writer& out, std::size_t pid, Cycle at, const char* name, double value) {
  out.event(R"({{"ph":"C","pid":{},"ts":{},"name":"{}","args":{{"value":{:.6g}}}}})", pid, at, name,
            value);
}

void write_samples(Writer& out, std::size_t pid, const sim::Result& result) {
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    const timing::Sample& s = result.samples[i];
    const Cycle end = i + 1 < result.samples.size() ? result.samples[i + 1].start : result.cycles;
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
    if (s.l1d_accesses != 0)
      write_counter(out, pid, s.start, "L1D hit rate",
                    static_cast<double>(s.l1d_hits) / static_cast<double>(s.l1d_accesses));
  }
}

}  // namespace

std::string timeline(std::span<const Run> runs) {
  Writer out;
  for (std::size_t pid = 0; pid < runs.size(); ++pid) {
    const sim::Result& result = *runs[pid].result;
    out.name_process(pid, runs[pid].label);
    write_kernels(out, pid, result);
    write_blocks(out, pid, result);
    write_samples(out, pid, result);
  }
  return std::move(out).take();
}

}  // namespace raddle::report
