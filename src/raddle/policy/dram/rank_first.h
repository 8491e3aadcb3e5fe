// Ranks before the order of a DRAM policy, lower first. A bank is the best rank's that has a
// request for it: others wait there, also those that would hit its open row. Among banks the policy
// is shown the requests of the best rank that has one which can issue, as if there were no others,
// and chooses in its own order; only if it wants none of these is it shown those of the next rank.
// Strict priority, as application-aware schedulers have it (Kim et al., "Thread Cluster Memory
// Scheduling", MICRO 2010): rank, then what the policy says.
//
// Ranks are of tenants (knob dram_rank of policy/scheme/knobs.h), whatever the policy; inside
// policies, of what they like (clams.cpp). Left out: anything that keeps the last rank from
// starving; who sets the ranks has to.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "raddle/policy/dram/policy.h"

namespace raddle::policy {

namespace rank_first_detail {
/// Of the candidates those whose bank no better rank waits for.
template <class RankOf>
Mask128 best_of_banks(const DramView& view, RankOf rank_of) {
  std::array<unsigned, kMaxBanks> best;
  best.fill(~0u);
  view.candidates.each([&](unsigned e) {
    unsigned& rank = best[view.tags[e].bank];
    rank = std::min<unsigned>(rank, rank_of(view.tags[e]));
  });
  Mask128 out;
  view.candidates.each([&](unsigned e) {
    if (rank_of(view.tags[e]) == best[view.tags[e].bank]) out.set(e);
  });
  return out;
}

/// Of requests that hit no row those whose next command would close a row that one of `hits` hits.
inline Mask128 closing(const DramView& view, const Mask128& of, const Mask128& hits) {
  std::uint64_t banks = 0;
  hits.each([&](unsigned e) { banks |= std::uint64_t{1} << view.tags[e].bank; });
  Mask128 out;
  of.each([&](unsigned e) {
    if ((banks >> view.tags[e].bank & 1) != 0) out.set(e);
  });
  return out;
}
}  // namespace rank_first_detail

/// What `pick(view)` says of the first part of the view of which it wants anything; parts are by
/// `rank_of(tag)`.
template <class RankOf, class Pick>
auto pick_by_rank(const DramView& view, RankOf rank_of, Pick pick) -> decltype(pick(view)) {
  namespace detail = rank_first_detail;
  const Mask128 eligible = detail::best_of_banks(view, rank_of);
  for (Mask128 left = view.issuable & eligible; left.any();) {
    unsigned rank = ~0u;
    left.each([&](unsigned e) { rank = std::min<unsigned>(rank, rank_of(view.tags[e])); });
    Mask128 own;
    eligible.each([&](unsigned e) {
      if (rank_of(view.tags[e]) == rank) own.set(e);
    });
    const Mask128 hits = view.row_hits & own, issuable = view.issuable & own;
    const Mask128 closes = detail::closing(view, issuable - hits, hits);
    const DramView part{.candidates = own,
                        .row_hits = hits,
                        .issuable = issuable,
                        .closes_wanted_row = closes,
                        .age = view.age,
                        .tags = view.tags,
                        .now = view.now};
    if (const auto chosen = pick(part)) return chosen;
    left -= own;
  }
  return std::nullopt;
}

/// Tenants' ranks first, then the policy.
inline std::optional<unsigned> pick_by_rank(DramPolicy& policy, const DramView& view) {
  return pick_by_rank(
      view, [](const DramTag& tag) { return tag.rank; },
      [&policy](const DramView& part) { return policy.pick(part); });
}

}  // namespace raddle::policy
