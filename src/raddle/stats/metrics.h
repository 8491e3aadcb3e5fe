// The metrics that are counted, as a table: the lines of metrics.def.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "raddle/stats/counters.h"
#include "raddle/stats/peaks.h"

namespace raddle::stats {

/// Of what a metric is shown, as bits.
using Shown = std::uint8_t;
inline constexpr Shown kRun = 1;      ///< of the whole run of one workload
inline constexpr Shown kCorun = 2;    ///< of the whole run of tenants
inline constexpr Shown kLaunch = 4;   ///< of each launch: kernels[]
inline constexpr Shown kGroup = 8;    ///< of the launches of a kernel together: kernels_by_name[]
inline constexpr Shown kStream = 16;  ///< streams[]
inline constexpr Shown kTenant = 32;  ///< tenants[]
inline constexpr Shown kSm = 64;      ///< of each SM, on the page
inline constexpr Shown kOverTime = 128;  ///< of each sampling interval, on the page
inline constexpr Shown kKernel = kLaunch | kGroup;
inline constexpr Shown kEverywhere = kRun | kCorun | kKernel | kStream | kTenant;
inline constexpr auto kShownNames = std::to_array<std::string_view>(
    {"run", "co-run", "launch", "kernel", "stream", "tenant", "SM", "over time"});

/// "run, launch"
std::string shown_text(Shown shown);

/// Where in the result a metric stands; metrics.def says where each is.
enum class Part : std::uint8_t { Totals, Execution, Details, Stalls, Traffic, Ports, Utilisation };

inline constexpr auto kUnits = std::to_array<std::string_view>({
    "accesses",
    "bank cycles",
    "bank cycles/cycle",
    "blocks",
    "bytes",
    "bytes/cycle",
    "commands",
    "cycles",
    "flit-hops",
    "flits",
    "intervals",
    "launches",
    "line accesses",
    "line accesses/cycle",
    "lines",
    "memory cycles",
    "misses/1000 thread instructions",
    "MSHRs",
    "network cycles",
    "operands",
    "packets",
    "pJ",
    "ports",
    "ratio",
    "requests",
    "requests/cycle",
    "restarts",
    "scheduler-cycles",
    "schedulers",
    "seconds",
    "sectors",
    "SM-cycles",
    "thread instructions",
    "thread instructions/cycle",
    "threads",
    "warp-cycles",
    "warp instructions",
    "warp instructions/cycle",
});
constexpr bool is_unit(std::string_view text) {
  for (const std::string_view unit : kUnits)
    if (unit == text) return true;
  return false;
}

/// A number of a result. NaN: not known.
using Value = std::variant<std::uint64_t, double>;

constexpr double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The ports of a network together.
struct PortSums {
  std::uint64_t count = 0, busiest_flits = 0;
  NocPort all;
};
PortSums port_sums(std::span<const NocPort> ports);

/// What the metrics of a run, a launch, a stream or a tenant are computed from. What is not known
/// of
/// one is 0, and shown of others only.
struct Counted {
  const GpuCounters& counters;
  std::uint64_t cycles = 0, execution_cycles = 0, busy_cycles = 0, tail_cycles = 0;
  std::uint64_t l1d_most_mshrs = 0;
  std::array<PortSums, 2> network = {};  ///< request, reply
  Peaks peaks = {};
  /// Of a run those with a block on an SM, of launches those from first to last block.
  constexpr std::uint64_t worked() const { return busy_cycles + execution_cycles; }
};

/// A line of metrics.def that is shown: one number, or one for each term.
struct Metric {
  Part part = Part::Totals;
  std::string_view name, unit;
  Shown shown = 0;
  std::string_view ncu;
  std::string_view source;  ///< "sm.issued", or the formula
  std::string_view meaning;
  std::span<const Term> terms;
  /// The number of the term; of a part of details.noc: that of the packets or ports.
  Value (*value)(const Counted& of, unsigned index) = nullptr;
};
std::span<const Metric> metrics();

/// A counter that is not shown itself.
struct InternalCounter {
  std::string_view source, unit, meaning;
};
std::span<const InternalCounter> internal_counters();

/// Calls f(name, metric, index) for the numbers of that part that are shown of `place`, in the
/// order
/// of the result.
template <class F>
void each_number(Part part, Shown place, F f) {
  for (const Metric& metric : metrics()) {
    if (metric.part != part || (metric.shown & place) == 0) continue;
    if (metric.terms.empty()) f(std::string(metric.name), metric, 0u);
    for (unsigned i = 0; i < metric.terms.size(); ++i)
      f(std::string(metric.name).append(metric.terms[i].name), metric, i);
  }
}

inline constexpr auto kDirections = std::to_array<std::string_view>({"request", "reply"});
/// Whose packets Part::Traffic shows: by direction and kind, then those between L2 and controllers.
inline constexpr unsigned kMemoryTraffic = kDirections.size() * kNocKinds;

/// The same for the numbers of details.noc; names are "request.read.packets".
template <class F>
void each_noc_number(F f) {
  const auto each = [&](Part part, const std::string& prefix, unsigned index) {
    each_number(part, kRun, [&](const std::string& name, const Metric& metric, unsigned) {
      f(prefix + name, metric, index);
    });
  };
  for (unsigned d = 0; d < kDirections.size(); ++d) {
    const std::string direction = std::string(kDirections[d]) + ".";
    for (unsigned kind = 0; kind < kNocKinds; ++kind)
      each(Part::Traffic, direction + std::string(kNocKindNames[kind]) + ".", d * kNocKinds + kind);
    each(Part::Ports, direction, d);
  }
  each(Part::Traffic, "memory.", kMemoryTraffic);
}

/// "l1d_hit_rate" -> "L1D hit rate": how tables and pages call a metric.
std::string title_of(std::string_view name);

}  // namespace raddle::stats
