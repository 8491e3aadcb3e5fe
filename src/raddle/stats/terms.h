// The kinds that counters are kept apart by: their names in results, their titles in tables and on
// pages, and what each means in a sentence (metrics.def has the counters).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace raddle::stats {

struct Term {
  std::string_view name, title, meaning;
};

template <std::size_t N>
consteval std::array<std::string_view, N> names_of(const std::array<Term, N>& terms) {
  std::array<std::string_view, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = terms[i].name;
  return out;
}

/// Why a scheduler issued nothing in a cycle. Every scheduler-cycle is issued or has exactly one
/// reason; when several hold, the first in this order that applies to the nearest-to-ready warp is
/// taken (docs/reasons.md).
enum class Stall : std::uint8_t {
  Idle,        ///< no warp resident, for another reason than Launch
  Barrier,     ///< every resident warp waits at a barrier
  Memory,      ///< an operand is still on its way from memory
  Dependence,  ///< an operand is still being computed
  Unit,        ///< operands are there, the execution unit is busy
  Lsu,         ///< operands are there, the load/store unit accepts nothing
  Fence,       ///< waits for earlier memory operations to be visible
  Sleep,       ///< nanosleep
  Fetch,       ///< the next instruction is not in the buffer
  Throttled,   ///< operands and unit are there, the throttle policy does not let the warp issue
  Launch,      ///< no block is on any SM, and a launch is on its way to one
  Count
};
inline constexpr unsigned kStalls = static_cast<unsigned>(Stall::Count);
inline constexpr auto kStallTerms = std::to_array<Term>({
    {"idle", "no warp",
     "the scheduler holds no warp, and not because a launch is on its way: other SMs still work on "
     "a launch, or the host has launched nothing"},
    {"barrier", "barrier", "all resident warps wait for others of their block at a barrier"},
    {"memory", "memory",
     "every warp that could be next waits for data on its way from memory (caches or DRAM)"},
    {"dependence", "dependence",
     "the next instruction needs the result of an arithmetic instruction that is still being "
     "computed"},
    {"unit", "unit busy",
     "operands are there, but the execution unit or the operand collectors are still taken by "
     "earlier instructions"},
    {"lsu", "load/store unit",
     "operands are there, but the load/store unit takes nothing more (its queue, miss registers or "
     "ports are full)"},
    {"fence", "fence", "waits until earlier memory operations are visible to others"},
    {"sleep", "sleep", "the warps sleep of their own will (nanosleep)"},
    {"fetch", "fetch",
     "the next instruction is not there yet: a jump has emptied the warp's buffer, or the "
     "instruction cache missed"},
    {"throttled", "throttled",
     "operands and unit are there, but the throttle policy does not let the warp issue"},
    {"launch", "launch",
     "no block is on any SM and a launch is on its way to one: the machine's launch latency, not "
     "the program's work"},
});
static_assert(kStallTerms.size() == kStalls);
inline constexpr auto kStallNames = names_of(kStallTerms);
/// What stands beside the stalls: together they are all scheduler-cycles.
inline constexpr Term kIssuedTerm = {"issued", "issued", "the scheduler issued a warp instruction"};

/// Why the oldest instruction of a load/store unit could not go on.
enum class Refusal : std::uint8_t {
  Mshr,         ///< no MSHR is free
  Merge,        ///< the line's MSHR holds as many accesses as it can
  Way,          ///< every way of the set waits for its data
  MissQueue,    ///< no room towards the interconnect
  StoreBuffer,  ///< no entry is free
  WriteBack,    ///< DeNovo: the line is on its way to the L2
  Count
};
inline constexpr unsigned kRefusals = static_cast<unsigned>(Refusal::Count);
inline constexpr auto kRefusalTerms = std::to_array<Term>({
    {"mshr", "MSHR", "no MSHR was free"},
    {"merge", "merge", "an MSHR held as many accesses as it can"},
    {"way", "way", "every way of the set waited for its data"},
    {"miss_queue", "miss queue", "the queue to the network was full"},
    {"store_buffer", "store buffer", "the store buffer was full"},
    {"write_back", "write-back", "the line was on its way to the L2"},
});
static_assert(kRefusalTerms.size() == kRefusals);
inline constexpr auto kRefusalNames = names_of(kRefusalTerms);

/// Where the last data of a load's line access came from. What waited for another's miss is counted
/// as that came.
enum class ServedFrom : std::uint8_t {
  L1,
  RemoteL1,  ///< DeNovo: the L1 where the words are registered
  L2,
  Memory,
  Count
};
inline constexpr unsigned kServedFrom = static_cast<unsigned>(ServedFrom::Count);
inline constexpr auto kServedFromTerms = std::to_array<Term>({
    {"l1", "L1", "the L1"},
    {"remote_l1", "remote L1", "another L1"},
    {"l2", "L2", "the L2"},
    {"memory", "memory", "DRAM"},
});
static_assert(kServedFromTerms.size() == kServedFrom);
inline constexpr auto kServedFromNames = names_of(kServedFromTerms);

/// What packets a network delivers are about; the reply of a kind is counted under it.
inline constexpr auto kNocKindTerms = std::to_array<Term>({
    {"read", "read", "reads"},
    {"write", "write", "writes"},
    {"atomic", "atomic", "atomics"},
    {"reduce", "reduce", "reductions"},
    {"write_back", "write back", "write-backs"},
});
inline constexpr unsigned kNocKinds = kNocKindTerms.size();
inline constexpr auto kNocKindNames = names_of(kNocKindTerms);

/// Replies of the L2, by the accesses to DRAM that their requests caused.
inline constexpr auto kReplyTerms = std::to_array<Term>({
    {"0", "none", "no access to DRAM"},
    {"1", "one", "one access to DRAM"},
    {"2", "two", "two accesses to DRAM"},
});

/// Classes of operation an instruction is counted under: trace::OpClass, which this room does not
/// know.
inline constexpr unsigned kOpClasses = 17;

}  // namespace raddle::stats
