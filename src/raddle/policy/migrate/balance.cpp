// Warps go from SMs that have many to SMs that have few: at the tail of a grid, and where some
// blocks are longer than others. Ours, by the means of LATOA (docs/mechanisms/latoa.md), which
// goes by the MSHRs that are taken. Here both count: an SM takes warps only while it has few and
// its L1D is not short of MSHRs.
//
// Now and then every SM with few warps, the emptiest first, takes some from the SM with most, on
// the whole chip or among its neighbours, as long as that one has clearly more. Those that have
// come from elsewhere a short time ago stay.
#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "raddle/base/stable_sort.h"
#include "raddle/policy/migrate/latoa_rules.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

enum class Reach : std::uint8_t { Chip, Neighbours };
constexpr std::array<std::string_view, 2> kReachNames = {"chip", "neighbours"};

class Balance final : public MigratePolicy {
 public:
  struct Params {
    std::uint32_t interval = 100, few = 8, difference = 8, batch = 4, cooldown = 1000;
    std::uint32_t outbox = 4;
    Reach reach = Reach::Chip;
    Passage passage;
    void visit(FieldVisitor& v) {
      v.field("interval", interval, {1, 1'000'000}, "cycles", "between two rounds");
      v.field("few", few, {0, 64}, "warps", "with so many or fewer an SM takes warps");
      v.field("difference", difference, {1, 64}, "warps",
              "that the giver must have more than the taker");
      v.field("batch", batch, {1, 64}, "warps", "that an SM takes in a round at most");
      v.field("cooldown", cooldown, {0, 1'000'000}, "cycles",
              "in which a warp that has moved stays where it is");
      v.field("outbox", outbox, {1, 64}, "warps",
              "no warp leaves an SM while so many contexts have not wholly left it");
      v.choice("reach", reach, kReachNames, "whose warps an SM takes: anybody's, or neighbours'");
      passage.visit(v);
    }
    std::vector<std::string> violations(const MachineFacts& machine) const {
      std::vector<std::string> out;
      if (!machine.mesh && reach == Reach::Neighbours)
        out.emplace_back(
            "policy.migrate.reach = \"neighbours\" means those in a mesh: noc.topology must be "
            "\"mesh\"");
      if (!machine.mesh && passage.transfer != Passage::Transfer::Free)
        out.emplace_back(
            "policy.migrate.name = \"balance\" sends contexts from SM to SM, for which a crossbar "
            "has no way: noc.topology must be \"mesh\", or policy.migrate.transfer \"free\"");
      if (!machine.l1d)
        out.emplace_back(
            "policy.migrate.name = \"balance\" goes by the MSHRs of the L1D: sm.l1d.size_kib must "
            "not be 0");
      return out;
    }
  };
  Balance(const Params& params, const Context& context)
      : params_(params),
        mshrs_(context.mshrs),
        neighbours_(context.neighbours),
        next_(params.interval) {}

  Passage passage() const override { return params_.passage; }

  Cycle look(MigrateView& view) override {
    if (view.now() < next_) return next_;
    next_ = (view.now() / params_.interval + 1) * params_.interval;
    count(view);
    std::vector<unsigned> takers(warps_.size());
    std::iota(takers.begin(), takers.end(), 0u);
    std::erase_if(takers, [&](unsigned sm) { return !takes(view, sm); });
    sort_stably(takers, [&](unsigned sm) { return warps_[sm]; });
    for (const unsigned taker : takers) serve(view, taker);
    return next_;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t warps = 0, again = 0, rounds = 0, alone = 0, stuck = 0;
    void visit(FieldVisitor& v) {
      v.field("warps", warps, {}, "warps", "that left an SM");
      v.field("warps_again", again, {}, "warps", "of these: from an SM that had adopted them");
      v.field("asked", rounds, {}, "", "times that an SM with few warps looked for some");
      v.field("refused_no_giver", alone, {}, "", "of these: no SM had clearly more");
      v.field("refused_cannot_leave", stuck, {}, "", "of these: none of the giver's could go");
    }
  };
  void count(const MigrateView& view) {
    warps_.resize(view.mshrs().size());
    for (unsigned sm = 0; sm < warps_.size(); ++sm)
      warps_[sm] = static_cast<unsigned>(std::popcount(view.resident(sm)));
  }
  bool takes(const MigrateView& view, unsigned sm) const {
    return warps_[sm] <= params_.few &&
           StateBounds{}.of(view.mshrs()[sm], mshrs_) != CoreState::Critical;
  }
  bool gives(const MigrateView& view, unsigned sm, unsigned taker) const {
    return sm != taker && warps_[sm] >= warps_[taker] + params_.difference &&
           view.outgoing(sm) < params_.outbox;
  }
  /// The SM with most warps, of equals the one with the lower number; kNoSm: none.
  std::uint32_t giver_for(const MigrateView& view, unsigned taker) const {
    std::uint32_t best = kNoSm;
    const auto consider = [&](std::uint32_t sm) {
      if (sm == kNoSm || !gives(view, sm, taker)) return;
      if (best == kNoSm || warps_[sm] > warps_[best]) best = sm;
    };
    if (params_.reach == Reach::Neighbours)
      for (const std::uint32_t sm : neighbours_[taker]) consider(sm);
    else
      for (std::uint32_t sm = 0; sm < warps_.size(); ++sm) consider(sm);
    return best;
  }
  void serve(MigrateView& view, unsigned taker) {
    ++stats_.rounds;
    const std::uint32_t giver = giver_for(view, taker);
    if (giver == kNoSm) {
      ++stats_.alone;
      return;
    }
    unsigned moved = 0;
    for (WarpMask left = view.resident(giver); left != 0 && moved < params_.batch;
         left &= left - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(left));
      if (!gives(view, giver, taker)) break;
      if (!may_go(view, giver, slot, taker)) continue;
      stats_.again += view.warp(giver, slot).adopted ? 1 : 0;
      view.move({giver, slot, taker});
      --warps_[giver];
      ++warps_[taker];
      ++moved;
    }
    stats_.warps += moved;
    stats_.stuck += moved == 0 ? 1 : 0;
  }
  bool may_go(const MigrateView& view, unsigned sm, unsigned slot, unsigned to) const {
    const WarpState warp = view.warp(sm, slot);
    if (warp.adopted && view.now() - warp.arrived < params_.cooldown) return false;
    return view.fits(sm, {&slot, 1}, to) && view.may_leave(sm, slot);
  }

  Params params_;
  unsigned mshrs_;
  std::vector<Neighbours> neighbours_;
  std::vector<unsigned> warps_;  // by SM, in this round
  Cycle next_;
  Stats stats_;
};

}  // namespace

void add_migrate_balance(Registry<MigratePolicy>& r) {
  r.add<Balance>("balance", "SMs with few warps take some from the SM with most (ours)");
}

}  // namespace raddle::policy
