#include "raddle/stats/metrics.h"

#include <algorithm>
#include <cctype>
#include <type_traits>

namespace raddle::stats {

namespace {

// The counters of an owner that metrics.def names, in what was counted.
const SmCounters& of_sm(const Counted& of, unsigned) { return of.counters.sm; }
const SharingCounters& of_sharing(const Counted& of, unsigned) { return of.counters.sharing; }
const SchedulerCounters& of_scheduler(const Counted& of, unsigned) { return of.counters.scheduler; }
const L2Counters& of_l2(const Counted& of, unsigned) { return of.counters.l2; }
const DramCounters& of_dram(const Counted& of, unsigned) { return of.counters.dram; }
const NocPort& of_port(const Counted& of, unsigned direction) { return of.network[direction].all; }
const NocTraffic& of_traffic(const Counted& of, unsigned index) {
  if (index == kMemoryTraffic) return of.counters.dram.legs;
  const NocCounters& network = index < kNocKinds ? of.counters.request : of.counters.reply;
  return network.kind[index % kNocKinds];
}

template <class Number>
constexpr Value as_value(Number number) {
  if constexpr (std::is_floating_point_v<Number>) return Value(static_cast<double>(number));
  else return Value(static_cast<std::uint64_t>(number));
}

// clang-format off
#define RADDLE_COUNTER(owner, member, part_, name_, unit_, shown_, ncu_, meaning_) \
  Metric{.part = Part::part_, .name = name_, .unit = unit_, .shown = shown_, .ncu = ncu_, \
         .source = #owner "." #member, .meaning = meaning_, .terms = {}, \
         .value = [](const Counted& of, unsigned index) { \
           return as_value(of_##owner(of, index).member); \
         }},
#define RADDLE_COUNTERS(owner, member, terms_, part_, name_, unit_, shown_, meaning_) \
  Metric{.part = Part::part_, .name = name_, .unit = unit_, .shown = shown_, .ncu = "", \
         .source = #owner "." #member, .meaning = meaning_, .terms = terms_, \
         .value = [](const Counted& of, unsigned index) { \
           return as_value(of_##owner(of, index).member[index]); \
         }},
#define RADDLE_METRIC(part_, name_, unit_, shown_, ncu_, formula, meaning_) \
  Metric{.part = Part::part_, .name = name_, .unit = unit_, .shown = shown_, .ncu = ncu_, \
         .source = #formula, .meaning = meaning_, .terms = {}, \
         .value = [](const Counted& of, unsigned index) { \
           [[maybe_unused]] const auto& [sm, sharing, scheduler, request, reply, l2, dram] = \
               of.counters; \
           [[maybe_unused]] const auto& [counters, cycles, execution_cycles, busy_cycles, \
                                         tail_cycles, l1d_most_mshrs, network, peaks] = of; \
           [[maybe_unused]] const std::uint64_t worked = of.worked(); \
           [[maybe_unused]] const PortSums& ports = network[index]; \
           return as_value(formula); \
         }},
constexpr auto kMetrics = std::to_array<Metric>({
#include "raddle/stats/metrics.def"
});

#define RADDLE_INTERNAL(owner, member, unit_, meaning_) \
  InternalCounter{.source = #owner "." #member, .unit = unit_, .meaning = meaning_},
#define RADDLE_INTERNALS(owner, member, count, unit_, meaning_) \
  RADDLE_INTERNAL(owner, member, unit_, meaning_)
constexpr auto kInternals = std::to_array<InternalCounter>({
#include "raddle/stats/metrics.def"
});
// clang-format on

constexpr auto kHasUnit = [](const auto& line) { return is_unit(line.unit); };
static_assert(std::ranges::all_of(kMetrics, kHasUnit));
static_assert(std::ranges::all_of(kInternals, kHasUnit));

/// Words that are written in another way than in lower case.
constexpr auto kSpelled = std::to_array<std::array<std::string_view, 2>>({
    {"antt", "ANTT"},
    {"const", "constant"},
    {"dram", "DRAM"},
    {"ipc", "IPC"},
    {"l1", "L1"},
    {"l1d", "L1D"},
    {"l2", "L2"},
    {"lsu", "LSU"},
    {"mpki", "MPKI"},
    {"mshr", "MSHR"},
    {"mshrs", "MSHRs"},
    {"noc", "NoC"},
    {"rss", "RSS"},
});

std::string spelled(std::string_view word) {
  for (const auto& [plain, written] : kSpelled)
    if (word == plain) return std::string(written);
  return std::string(word);
}

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }
std::span<const InternalCounter> internal_counters() { return kInternals; }

PortSums port_sums(std::span<const NocPort> ports) {
  PortSums out;
  out.count = ports.size();
  for (const NocPort& port : ports) {
    accumulate(out.all, port);
    out.busiest_flits = std::max(out.busiest_flits, port.flits);
  }
  return out;
}

std::string shown_text(Shown shown) {
  std::string out;
  for (std::size_t bit = 0; bit < kShownNames.size(); ++bit)
    if ((shown >> bit & 1) != 0) out.append(out.empty() ? "" : ", ").append(kShownNames[bit]);
  return out;
}

std::string title_of(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("._"), name.size());
    out += (out.empty() ? "" : " ") + spelled(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

}  // namespace raddle::stats
