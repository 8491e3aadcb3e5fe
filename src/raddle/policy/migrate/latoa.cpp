// LATOA: an SM whose L1D is short of MSHRs sends warps with irregular loads to a neighbour whose
// L1D has many. Bitalebi, Geraeinejad, Safaei, Ebrahimi, GPGPU 2023, section 4;
// docs/mechanisms/latoa.md has the rules and what the paper leaves open.
//
// In each cycle a critical SM looks at one MSHR, the seventh of those whose request has not left.
// If few accesses wait for it, a neighbour is relaxed, and all their warps may go, they go
// together.
#include <algorithm>
#include <utility>

#include "raddle/base/mask.h"
#include "raddle/policy/migrate/latoa_rules.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

/// What became of a critical SM's look in a cycle; the first thing that stood in the way.
enum class Outcome : std::uint8_t {
  Left,
  Off,              ///< moves = false
  OutgoingRequest,  ///< an earlier context has not wholly left
  NoEntry,          ///< there are fewer MSHRs to look at
  Regular,          ///< many wait for the line
  NoNeighbour,
  Diverged,
  NotWaiting,   ///< for one or two registers that loads bring
  Cooling,      ///< it has moved a short time ago
  StoreWaits,   ///< a store waits for the line, and stores do not move
  CannotLeave,  ///< the machine cannot move one of the warps now
  NoContext,
};
constexpr unsigned kOutcomes = static_cast<unsigned>(Outcome::NoContext) + 1;

class Latoa final : public MigratePolicy {
 public:
  struct Params {
    bool moves = true;
    std::uint32_t relaxed = 4, critical = 8;
    std::uint32_t entry = 7;
    Misses among = Misses::Outstanding;
    MissesFrom entry_from = MissesFrom::Oldest;
    std::uint32_t slots_percent = 25;
    bool converged = true;
    std::uint32_t cooldown = 1000;
    std::uint32_t outbox = 1;
    NeighbourOrder order = NeighbourOrder::Enws;
    Passage passage;
    void visit(FieldVisitor& v) {
      v.field("moves", moves, "false: states are counted and no warp moves, as a baseline");
      v.field("relaxed", relaxed, {0, 12}, "twelfths",
              "of the MSHRs: with so many or fewer taken an SM is relaxed");
      v.field("critical", critical, {0, 12}, "twelfths",
              "of the MSHRs: with more than so many taken an SM is critical");
      v.field("entry", entry, {1, 64}, "", "which MSHR is looked at");
      v.choice("among", among, kMissesNames,
               "those whose request has not left, or all for which somebody waits");
      v.choice("entry_from", entry_from, kMissesFromNames, "counted from the oldest or the newest");
      v.field("slots_percent", slots_percent, {0, 100}, "%",
              "of an MSHR's slots: with so many or fewer filled a miss is irregular");
      v.field("converged", converged, "warps move only while all their threads take part");
      v.field("cooldown", cooldown, {0, 1'000'000}, "cycles",
              "in which a warp that has moved stays where it is");
      v.field("outbox", outbox, {1, 64}, "warps",
              "no warp leaves an SM while so many contexts have not wholly left it");
      v.choice("order", order, kNeighbourOrderNames, "in which neighbours are looked at");
      passage.visit(v);
    }
    std::vector<std::string> violations(const MachineFacts& machine) const {
      std::vector<std::string> out;
      if (!machine.mesh)
        out.emplace_back(
            "policy.migrate.name = \"latoa\" sends warps to neighbours in a mesh: noc.topology "
            "must be \"mesh\"");
      if (!machine.l1d)
        out.emplace_back(
            "policy.migrate.name = \"latoa\" goes by the MSHRs of the L1D: sm.l1d.size_kib must "
            "not be 0");
      if (relaxed >= critical)
        out.push_back(
            "policy.migrate.relaxed must be less than policy.migrate.critical (relaxed is " +
            std::to_string(relaxed) + ", critical is " + std::to_string(critical) + ")");
      return out;
    }
  };

  Latoa(const Params& params, const Context& context)
      : params_(params),
        mshrs_(context.mshrs),
        slots_(context.merges),
        neighbours_(context.neighbours),
        cores_(context.neighbours.size()),
        states_(context.neighbours.size(), index(CoreState::Relaxed)),
        state_cycles_(context.neighbours.size()),
        unsettled_(static_cast<unsigned>(context.neighbours.size())),
        looking_(static_cast<unsigned>(context.neighbours.size())) {}

  Passage passage() const override { return params_.passage; }

  Cycle look(MigrateView& view) override {
    const Cycle now = view.now();
    const std::span<const std::uint16_t> taken = view.mshrs();
    RADDLE_ASSERT(taken.size() == cores_.size());
    wake_ = kNever;
    for (const std::uint32_t sm : view.changed()) {
      update_state(sm, taken[sm], now);
      cores_[sm].changed = true;
      unsettled_.set(sm);
    }
    swap(unsettled_, looking_);
    looking_.take_each([&](unsigned sm) {
      Core& core = cores_[sm];
      if (!std::exchange(core.changed, false) && still_holds(core)) return unsettled_.set(sm);
      count_outcome(core, now);
      core.samplings = states_[sm] == index(CoreState::Critical);
      if (!core.samplings) return;
      core.outcome = attempt(view, sm);
      if (!only_it_can_change(core.outcome)) unsettled_.set(sm);
    });
    return wake_;
  }
  std::vector<StateCycles> state_cycles(Cycle at) const override {
    std::vector<StateCycles> out = state_cycles_;
    for (unsigned sm = 0; sm < cores_.size(); ++sm)
      out[sm][states_[sm]] += at - cores_[sm].state_since;
    return out;
  }

  void settle(Cycle at) override {
    for (unsigned sm = 0; sm < cores_.size(); ++sm) {
      Core& core = cores_[sm];
      count_state(sm, at);
      count_outcome(core, at);
    }
  }

  void visit_statistics(FieldVisitor& v) override {
    stats_.state_cycles = {};
    for (const StateCycles& sm : state_cycles_)
      for (unsigned s = 0; s < kCoreStates; ++s) stats_.state_cycles[s] += sm[s];
    stats_.visit(v);
  }

 private:
  struct Core {
    Cycle state_since = 0;
    bool changed = false;
    bool samplings = false;  // is critical, with this outcome
    Outcome outcome = Outcome::Left;
    Cycle outcome_since = 0;
    std::uint64_t states_seen = 0;  // state_changes_ when it looked for a neighbour
    StickyNeighbour neighbour;
  };
  struct Stats {
    StateCycles state_cycles{};  // of all SMs
    std::array<std::uint64_t, kOutcomes> cycles{};
    std::uint64_t warps = 0, again = 0;

    void visit(FieldVisitor& visitor) {
      visitor.field("relaxed_cycles", state_cycles[0], {}, "SM-cycles", "in the relaxed state");
      visitor.field("neutral_cycles", state_cycles[1], {}, "SM-cycles", "in the neutral state");
      visitor.field("critical_cycles", state_cycles[2], {}, "SM-cycles", "in the critical state");
      std::uint64_t attempts = 0;
      for (std::uint64_t n : cycles) attempts += n;
      visitor.field("attempts", attempts, {}, "SM-cycles",
                    "in which a critical SM looked for a warp");
      visitor.field("offloads", at(Outcome::Left), {}, "SM-cycles",
                    "in which one or more warps left");
      visitor.field("refused_leaving", at(Outcome::OutgoingRequest), {}, "SM-cycles",
                    "an earlier context had not wholly left");
      visitor.field("refused_no_entry", at(Outcome::NoEntry), {}, "SM-cycles",
                    "there were too few MSHRs to look at");
      visitor.field("refused_regular", at(Outcome::Regular), {}, "SM-cycles",
                    "too many accesses waited for the line");
      visitor.field("refused_no_neighbour", at(Outcome::NoNeighbour), {}, "SM-cycles",
                    "no neighbour was relaxed");
      visitor.field("refused_diverged", at(Outcome::Diverged), {}, "SM-cycles",
                    "not all threads of one of the warps took part");
      visitor.field("refused_not_waiting", at(Outcome::NotWaiting), {}, "SM-cycles",
                    "one of the warps did not wait for one or two loaded registers");
      visitor.field("refused_cooling", at(Outcome::Cooling), {}, "SM-cycles",
                    "one of the warps had moved a short time ago");
      visitor.field("refused_store", at(Outcome::StoreWaits), {}, "SM-cycles",
                    "a store waited for the line");
      visitor.field("refused_cannot_leave", at(Outcome::CannotLeave), {}, "SM-cycles",
                    "the machine could not move one of the warps");
      visitor.field("refused_no_context", at(Outcome::NoContext), {}, "SM-cycles",
                    "the relaxed neighbour had no room for the warps");
      visitor.field("warps", warps, {}, "warps", "that left an SM");
      visitor.field("warps_again", again, {}, "warps",
                    "of these: from an SM that had adopted them");
    }
    std::uint64_t& at(Outcome o) { return cycles[static_cast<unsigned>(o)]; }
  };
  static std::uint8_t index(CoreState state) { return static_cast<std::uint8_t>(state); }
  /// A look comes out the same until the SM itself changes.
  static bool only_it_can_change(Outcome why) {
    return why == Outcome::NoEntry || why == Outcome::Regular || why == Outcome::Off;
  }
  /// The last look of an SM that has not changed comes out the same: what stood in its way is its
  /// own, or the state of its neighbours, and that is looked at before its warps are.
  bool still_holds(const Core& core) const {
    const bool of_both = core.outcome == Outcome::NoNeighbour ||
                         core.outcome == Outcome::StoreWaits ||
                         core.outcome == Outcome::CannotLeave ||
                         core.outcome == Outcome::Diverged || core.outcome == Outcome::NotWaiting;
    return of_both && core.states_seen == state_changes_;
  }

  void update_state(unsigned sm, unsigned taken, Cycle now) {
    const std::uint8_t state =
        index(StateBounds{params_.relaxed, params_.critical}.of(taken, mshrs_));
    if (state == states_[sm]) return;
    count_state(sm, now);
    states_[sm] = state;
    ++state_changes_;
  }

  /// The state holds until now.
  void count_state(unsigned sm, Cycle now) {
    state_cycles_[sm][states_[sm]] += now - cores_[sm].state_since;
    cores_[sm].state_since = now;
  }

  /// What it came to holds until now.
  void count_outcome(Core& core, Cycle now) {
    if (core.samplings) stats_.at(core.outcome) += now - core.outcome_since;
    core.outcome_since = now;
  }

  Outcome attempt(MigrateView& view, unsigned sm) {
    if (!params_.moves) return Outcome::Off;
    if (view.outgoing(sm) >= params_.outbox) return Outcome::OutgoingRequest;
    const MissPlace place{params_.among, params_.entry_from, params_.entry - 1};
    if (!view.miss(sm, place, miss_)) return Outcome::NoEntry;
    if (!is_irregular(miss_.waiting, slots_, params_.slots_percent)) return Outcome::Regular;
    const unsigned neighbour = cores_[sm].neighbour.choose(relaxed_neighbours(sm), params_.order);
    cores_[sm].states_seen = state_changes_;
    if (neighbour == StickyNeighbour::kInvalidId) return Outcome::NoNeighbour;
    if (!miss_.only_loads) return Outcome::StoreWaits;
    if (miss_.warps.empty()) return Outcome::CannotLeave;
    for (const unsigned slot : miss_.warps)
      if (const Outcome why = eligible(view, sm, slot); why != Outcome::Left) return why;
    const std::uint32_t to = neighbours_[sm][neighbour];
    if (!view.fits(sm, miss_.warps, to)) return Outcome::NoContext;
    for (const unsigned slot : miss_.warps) {
      stats_.again += view.warp(sm, slot).adopted ? 1 : 0;
      view.move({sm, slot, to});
    }
    stats_.warps += miss_.warps.size();
    cores_[sm].neighbour.sent_to(neighbour);
    return Outcome::Left;
  }

  /// Left: it may go.
  Outcome eligible(const MigrateView& view, unsigned sm, unsigned slot) {
    const WarpState warp = view.warp(sm, slot);
    if (params_.converged && !warp.converged) return Outcome::Diverged;
    if (warp.awaited == 0 || warp.awaited > 2) return Outcome::NotWaiting;
    if (warp.adopted && view.now() - warp.arrived < params_.cooldown) {
      wake_ = std::min(wake_, warp.arrived + params_.cooldown);
      return Outcome::Cooling;
    }
    return view.may_leave(sm, slot) ? Outcome::Left : Outcome::CannotLeave;
  }

  /// By place in Neighbours.
  std::array<bool, 4> relaxed_neighbours(unsigned sm) const {
    std::array<bool, 4> relaxed{};
    for (unsigned place = 0; place < 4; ++place) {
      const std::uint32_t there = neighbours_[sm][place];
      relaxed[place] = there != kNoSm && states_[there] == index(CoreState::Relaxed);
    }
    return relaxed;
  }

  Params params_;
  unsigned mshrs_, slots_;
  std::vector<Neighbours> neighbours_;
  std::vector<Core> cores_;                // by SM ...
  std::vector<std::uint8_t> states_;       // ... CoreState
  std::vector<StateCycles> state_cycles_;  // ... up to state_since
  std::uint64_t state_changes_ = 0;        // of all SMs
  SizedSet unsettled_, looking_;           // SMs of the next look, besides those that change
  Cycle wake_ = kNever;                    // when a look comes out otherwise with time alone
  PendingMiss miss_;
  Stats stats_;
};

}  // namespace

void add_migrate_latoa(Registry<MigratePolicy>& r) {
  r.add<Latoa>("latoa", "irregular warps of SMs short of MSHRs go to relaxed neighbours (LATOA)");
}

}  // namespace raddle::policy
