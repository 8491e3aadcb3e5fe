#include "raddle/report/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace raddle::report {

std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

namespace {

constexpr std::size_t kMostRows = 20;

/// Launches that are told together.
struct Group {
  std::string name;
  std::uint64_t launches = 0;
  Cycle cycles = 0;
  stats::GpuCounters counters;
};

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::uint64_t requests(const stats::L2Counters& l2) { return l2.reads + l2.writes + l2.atomics; }

std::string row(const Group& g, std::size_t width) {
  const stats::GpuCounters& c = g.counters;
  return fmt::format("  {:<{}} {:>8} {:>14} {:>14} {:>14} {:>8} {:>14} {:>8} {:>14}\n", g.name,
                     width, grouped(g.launches), grouped(g.cycles), grouped(c.sm.issued),
                     grouped(c.sm.l1d_accesses), percent(c.sm.l1d_hits, c.sm.l1d_accesses),
                     grouped(requests(c.l2)), percent(c.l2.hits, requests(c.l2)),
                     grouped(c.dram.bytes));
}

/// Rows beyond kMostRows are told as one.
std::string table(const std::string& title, std::vector<Group> groups) {
  if (groups.size() > kMostRows) {
    Group rest;
    rest.name = fmt::format("{} others", groups.size() - (kMostRows - 1));
    for (std::size_t i = kMostRows - 1; i < groups.size(); ++i) {
      rest.launches += groups[i].launches, rest.cycles += groups[i].cycles;
      stats::accumulate(rest.counters, groups[i].counters);
    }
    groups.resize(kMostRows - 1);
    groups.push_back(std::move(rest));
  }
  std::size_t width = std::max<std::size_t>(20, title.size());
  for (const Group& g : groups) width = std::max(width, g.name.size());
  std::string out = fmt::format("\n  {:<{}} {:>8} {:>14} {:>14} {:>14} {:>8} {:>14} {:>8} {:>14}\n",
                                title, width, "launches", "cycles", "instructions", "L1D lines",
                                "hits", "L2 requests", "hits", "DRAM bytes");
  for (const Group& g : groups) out += row(g, width);
  return out;
}

std::vector<Group> by_kernel(const sim::Result& r) {
  std::vector<Group> out;
  for (const sim::KernelResult& k : r.kernels) {
    auto at = std::ranges::find(out, k.name, &Group::name);
    if (at == out.end()) at = out.insert(out.end(), Group{k.name, 0, 0, {}});
    ++at->launches, at->cycles += k.end - k.start;
    stats::accumulate(at->counters, k.counters);
  }
  return out;
}

std::vector<Group> by_stream(const sim::Result& r) {
  std::vector<Group> out;
  for (const sim::StreamResult& s : sim::streams_of(r.kernels))
    out.push_back({fmt::format("stream {}", s.stream), s.launches, s.cycles, s.counters});
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
