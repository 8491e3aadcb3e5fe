// Ranks of tenants before the order of a DRAM policy (knob dram_rank of policy/scheme/knobs.h). A
// bank is the best rank's that has a request for it: others wait there, also those that would hit
// its open row. Among banks the policy is shown the requests of the best rank that has one which
// can issue, as if there were no others, and chooses in its own order; only if it wants none of
// these is it shown those of the next rank. Strict priority of tenants, as application-aware
// schedulers have it (Kim et al., "Thread Cluster Memory Scheduling", MICRO 2010): rank, then what
// the policy says. Left out: anything that keeps the last rank from starving; who sets the ranks
// has to.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "raddle/policy/dram/policy.h"
#include "raddle/timing/dram/bank_timers.h"

namespace raddle::timing {

namespace rank_first_detail {
/// Of the candidates those whose bank no better rank waits for.
inline Mask128 best_of_banks(const policy::DramView& view) {
  std::array<std::uint8_t, BankTimers::kBanks> best;
  best.fill(0xff);
  view.candidates.each([&](unsigned e) {
    std::uint8_t& rank = best[view.tags[e].bank];
    rank = std::min(rank, view.tags[e].rank);
  });
  Mask128 out;
  view.candidates.each([&](unsigned e) {
    if (view.tags[e].rank == best[view.tags[e].bank]) out.set(e);
  });
  return out;
}

inline Mask128 of_rank(const policy::DramView& view, const Mask128& of, unsigned rank) {
  Mask128 out;
  of.each([&](unsigned e) {
    if (view.tags[e].rank == rank) out.set(e);
  });
  return out;
}

/// Of requests that hit no row those whose next command would close a row that one of `hits` hits.
inline Mask128 closing(const policy::DramView& view, const Mask128& of, const Mask128& hits) {
  std::uint64_t banks = 0;
  hits.each([&](unsigned e) { banks |= std::uint64_t{1} << view.tags[e].bank; });
  Mask128 out;
  of.each([&](unsigned e) {
    if ((banks >> view.tags[e].bank & 1) != 0) out.set(e);
  });
  return out;
}
}  // namespace rank_first_detail

inline std::optional<unsigned> pick_by_rank(policy::DramPolicy& policy,
                                            const policy::DramView& view) {
  namespace detail = rank_first_detail;
  const Mask128 eligible = detail::best_of_banks(view);
  for (Mask128 left = view.issuable & eligible; left.any();) {
    unsigned rank = ~0u;
    left.each([&](unsigned e) { rank = std::min<unsigned>(rank, view.tags[e].rank); });
    const Mask128 own = detail::of_rank(view, eligible, rank);
    const Mask128 hits = view.row_hits & own, issuable = view.issuable & own;
    const Mask128 closes = detail::closing(view, issuable - hits, hits);
    const policy::DramView part{own, hits, issuable, closes, view.age, view.tags, view.now};
    if (const std::optional<unsigned> chosen = policy.pick(part)) return chosen;
    left -= own;
  }
  return std::nullopt;
}

}  // namespace raddle::timing
