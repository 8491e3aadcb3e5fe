#include "raddle/report/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "raddle/base/demangle.h"
#include "raddle/report/words.h"

namespace raddle::report {

std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

namespace {

constexpr std::size_t kMaxRows = 20;

constexpr std::size_t kWidestName = 32;

/// Launches that are told together.
struct Group {
  std::string name;
  std::uint64_t launches = 0;
  Cycle cycles = 0, execution = 0;
  stats::GpuCounters counters;
  std::string occupancy = {};  ///< of an SM, and what limits it
};

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::uint64_t requests(const stats::L2Counters& l2) { return l2.reads + l2.writes + l2.atomics; }

constexpr auto kRow = "  {:<{}} {:>8} {:>12} {:>12} {:>13} {:>7} {:>7} {:>9}  {}\n";

std::string clipped(const std::string& name) {
  return name.size() <= kWidestName ? name : name.substr(0, kWidestName - 3) + "...";
}

std::string row(const Group& g, std::size_t width) {
  const stats::GpuCounters& c = g.counters;
  return fmt::format(fmt::runtime(kRow), clipped(g.name), width, grouped(g.launches),
                     grouped(g.cycles), grouped(g.execution), grouped(c.sm.issued),
                     percent(c.sm.l1d_hits, c.sm.l1d_accesses), percent(c.l2.hits, requests(c.l2)),
                     bytes_text(c.dram.bytes), g.occupancy);
}

/// Rows beyond kMostRows are told as one.
std::string table(const std::string& title, std::vector<Group> groups) {
  if (groups.size() > kMaxRows) {
    Group rest;
    rest.name = fmt::format("{} others", groups.size() - (kMaxRows - 1));
    for (std::size_t i = kMaxRows - 1; i < groups.size(); ++i) {
      rest.launches += groups[i].launches;
      rest.cycles += groups[i].cycles;
      rest.execution += groups[i].execution;
      stats::accumulate(rest.counters, groups[i].counters);
    }
    groups.resize(kMaxRows - 1);
    groups.push_back(std::move(rest));
  }
  std::size_t width = std::max<std::size_t>(18, title.size());
  for (const Group& g : groups) width = std::max(width, clipped(g.name).size());
  const bool occupied =
      std::ranges::any_of(groups, [](const Group& g) { return !g.occupancy.empty(); });
  std::string out = "\n" + fmt::format(fmt::runtime(kRow), title, width, "launches", "cycles",
                                       "executing", "instructions", "L1D hit", "L2 hit", "DRAM",
                                       occupied ? "warps per SM" : "");
  for (const Group& g : groups) out += row(g, width);
  return out;
}

/// "48, registers": warps that fit, and what keeps more out.
std::string occupancy(const sim::KernelResult& k) {
  return k.resident ? fmt::format("{}, {}", k.resident->warps, k.resident->limited_by) : "";
}

std::vector<Group> by_kernel(const sim::Result& r) {
  std::vector<Group> out;
  std::vector<std::string_view> names;
  for (const sim::KernelResult& k : r.kernels) {
    const auto at = static_cast<std::size_t>(std::ranges::find(names, k.name) - names.begin());
    if (at == out.size()) {
      names.push_back(k.name);
      out.push_back({short_name(k.name), 0, 0, 0, {}, occupancy(k)});
    }
    Group& group = out[at];
    if (group.occupancy != occupancy(k)) group.occupancy = "differ";
    ++group.launches;
    group.cycles += k.end - k.start;
    group.execution += k.last - k.first;
    stats::accumulate(group.counters, k.counters);
  }
  return out;
}

std::vector<Group> by_stream(const sim::Result& r) {
  std::vector<Group> out;
  for (const sim::StreamResult& s : sim::streams_of(r.kernels)) {
    out.push_back({fmt::format("stream {}", s.stream), s.launches, s.cycles, 0, s.counters});
    for (const sim::KernelResult& k : r.kernels)
      if (k.stream == s.stream) out.back().execution += k.last - k.first;
  }
  return out;
}

/// Every access is a hit, a pending hit (its line is on its way) or a miss.
std::string levels(const sim::Result& r) {
  std::string out = fmt::format("\n  {:<20} {:>14} {:>14} {:>14} {:>14}\n", "level", "accesses",
                                "hits", "pending hits", "misses");
  auto line = [&](const char* name, std::uint64_t accesses, std::uint64_t hits,
                  std::uint64_t pending, std::uint64_t misses) {
    out += fmt::format("  {:<20} {:>14} {:>14} {:>14} {:>14}\n", name, grouped(accesses),
                       grouped(hits), grouped(pending), grouped(misses));
  };
  const stats::SmCounters& sm = r.totals.sm;
  const stats::L2Counters& l2 = r.totals.l2;
  const stats::DramCounters& dram = r.totals.dram;
  line("L1D lines loaded", sm.l1d_accesses, sm.l1d_hits, sm.l1d_pending_hits, sm.l1d_misses);
  line("L2 requests", requests(l2), l2.hits, l2.pending_hits, l2.misses);
  line("DRAM row buffer", dram.reads + dram.writes, dram.row_hits, 0,
       dram.reads + dram.writes - dram.row_hits);
  return out;
}

}  // namespace

std::string breakdown(const sim::Result& r) {
  std::string out = levels(r) + table("kernel", by_kernel(r));
  if (std::vector<Group> streams = by_stream(r); streams.size() > 1)
    out += table("stream", std::move(streams));
  return out;
}

}  // namespace raddle::report
