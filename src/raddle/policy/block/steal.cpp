// Steal: as flip, and an SM that is through with its own blocks takes those of others, and keeps
// them: it runs them in the next launch too, where it finds their data in its caches. Rule:
// docs/mechanisms/ikra.md (S of IKRA); steal_board.h holds it. Launches that are under way at the
// same time begin from what the one that ended last before them has left; the paper runs one at a
// time.
//
// `relations`: kernels whose blocks depend on other blocks than their own, or on an older launch
// (docs/mechanisms/ikra.md, block_owners.h). `nested`: a kernel that a block has launched belongs
// to that block's SM. An SM runs its deepest kernel first, of one depth the oldest, and takes
// blocks of the outermost that has any (docs/mechanisms/ikra.md: nested kernels). What it leaves is
// not kept.
#include <algorithm>
#include <array>

#include "raddle/policy/block/places.h"
#include "raddle/policy/block/policy.h"
#include "raddle/policy/block/steal_board.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

constexpr std::array<std::string_view, 2> kWhenFullNames = {"reinit", "stop"};

class Steal final : public BlockPolicy {
 public:
  struct Params {
    std::uint32_t queue_entries = 32;
    StealBoard::WhenFull on_full = StealBoard::WhenFull::Reinitialise;
    std::uint32_t steal_cycles = 0;
    std::string relations;
    bool nested = false;
    void visit(FieldVisitor& v) {
      v.field("queue_entries", queue_entries, {0, 4096}, "blocks",
              "stolen blocks an SM remembers; 0: none, every launch deals the grid anew");
      v.choice(
          "on_full", on_full, kWhenFullNames,
          "queue is full: the next launch deals anew (reinit), or that SM steals no more (stop)");
      v.field("steal_cycles", steal_cycles, {0, 10'000}, "cycles",
              "from the theft to the start of the block");
      v.field("relations", relations, kRelationsDoc);
      v.field("nested", nested, "kernels launched by a block belong to that block's SM");
    }
    std::vector<std::string> violations(const MachineFacts&) const {
      return relation_faults(relations);
    }
  };
  Steal(const Params& params, const Context& context)
      : sms_(context.sms),
        steal_cycles_(params.steal_cycles),
        nested_(params.nested),
        relations_(read_relations(params.relations)),
        history_(relations_),
        last_(context.sms, params.queue_entries, params.on_full),
        places_(context.sms) {}

  unsigned blocks_per_cycle() const override { return sms_; }

  void on_launch(const BlockLaunch& launch) override {
    places_.on_launch(launch);
    Launch& now = launches_[launch.slot];
    under_way_.set(launch.slot);
    now.board = last_;
    now.depth = nested_ ? launch.parent.depth : 0;
    now.sequence = launch.sequence;
    now.coming.assign(sms_, {});
    now.on_their_way = 0;
    const Grid grid{launch.grid.x, launch.grid.y, launch.grid.z};
    if (now.depth != 0) return now.board->launch_at(grid, launch.parent.sm);
    const Relation* relation = find_relation(relations_, launch.kernel);
    const auto owners = relation != nullptr ? history_.follow(*relation, grid) : std::nullopt;
    if (owners) {
      now.board->launch_with(*owners);
      ++stats_.followed;
    } else now.board->launch(grid);
    if (now.board->dealt_anew() && stats_.deals++ != 0) ++stats_.reinitialisations;
  }

  std::optional<BlockChoice> pick(const BlockView& view) override {
    Launch& now = launches_[view.slot];
    if (now.board->left() == 0 && now.on_their_way == 0) return std::nullopt;
    for (SmSet free = view.free_sms; free.any(); free.clear(free.first())) {
      const unsigned sm = free.first();
      if (nested_ && !may_serve(now, sm)) continue;
      const std::optional<BlockChoice> choice = next(now, sm, view.now);
      if (choice) places_.on_pick(view.slot, *choice);
      if (choice) return choice;
    }
    return std::nullopt;
  }

  /// The next stolen block that is there.
  Cycle waits_until(Cycle now) const override {
    Cycle next = kNever;
    under_way_.each([&](unsigned slot) {
      if (launches_[slot].on_their_way == 0) return;
      for (const Coming& coming : launches_[slot].coming)
        if (coming.at > now) next = std::min(next, coming.at);
    });
    return next;
  }

  void on_kernel_end(unsigned slot) override {
    places_.on_kernel_end(slot);
    Launch& ended = launches_[slot];
    if (ended.depth == 0) {
      last_ = *ended.board;
      history_.push(last_.owners());
    }
    ended.board.reset();
    under_way_.clear(slot);
  }
  void visit_statistics(FieldVisitor& v) override {
    places_.visit(v);
    stats_.visit(v);
  }

 private:
  struct Coming {
    std::uint32_t block = 0;
    Cycle at = kNever;  ///< kNever: nothing is on its way
  };
  struct Launch {
    std::optional<StealBoard> board;
    std::vector<Coming> coming;  ///< stolen blocks on their way, by SM
    unsigned on_their_way = 0;
    std::uint32_t depth = 0;
    std::uint64_t sequence = 0;
  };
  struct Stats {
    std::uint64_t deals = 0, reinitialisations = 0, steals = 0, from_queues = 0, overflows = 0,
                  followed = 0;
    void visit(FieldVisitor& v) {
      v.field("reinitialisations", reinitialisations, {}, "launches",
              "dealt anew: after an overflow, or another grid than before");
      v.field("steals", steals, {}, "blocks", "taken from another SM");
      v.field("steals_from_queues", from_queues, {}, "blocks", "that had been stolen before");
      v.field("overflows", overflows, {}, "queues", "have become full, summed over launches");
      v.field("followed", followed, {}, "launches", "dealt out by a relation");
    }
  };

  std::optional<BlockChoice> next(Launch& launch, unsigned sm, Cycle now) {
    Coming& coming = launch.coming[sm];
    if (coming.at == kNever) {
      if (const auto own = launch.board->own(sm)) return BlockChoice{sm, *own};
      const std::optional<StealBoard::Theft> theft = launch.board->steal(sm);
      if (!theft) return std::nullopt;
      ++stats_.steals;
      stats_.from_queues += theft->from_queue ? 1 : 0;
      stats_.overflows += theft->filled ? 1 : 0;
      if (steal_cycles_ == 0) return BlockChoice{sm, theft->block, true};
      coming = {theft->block, now + steal_cycles_};
      ++launch.on_their_way;
    }
    if (coming.at > now) return std::nullopt;
    coming.at = kNever;
    --launch.on_their_way;
    return BlockChoice{sm, coming.block, true};
  }

  /// Nested kernels: whether it is this launch's turn on the SM, be it with a block of the SM's own
  /// or with one of others.
  bool may_serve(const Launch& launch, unsigned sm) const {
    if (launch.coming[sm].at != kNever) return true;
    const bool own = launch.board->has_own(sm);
    return under_way_.all_of([&](unsigned slot) {
      const Launch& other = launches_[slot];
      if (&other == &launch) return true;
      const bool deeper = other.depth > launch.depth,
                 same = other.depth == launch.depth && other.sequence < launch.sequence;
      if ((deeper || same) && other.board->has_own(sm)) return false;
      if (own) return true;
      // Nobody steals while the SM has work, or of a kernel inside another that has some.
      if (other.board->has_own(sm)) return false;
      const bool outer = other.depth < launch.depth || same;
      return !outer || other.board->left() == 0 || !other.board->may_steal(sm);
    });
  }

  unsigned sms_;
  Cycle steal_cycles_;
  bool nested_;
  std::vector<Relation> relations_;
  OwnerHistory history_;
  StealBoard last_;                            ///< of the launch that ended last
  std::array<Launch, kKernelSlots> launches_;  ///< by slot
  KernelSet under_way_;                        ///< slots: those with a board
  BlockPlaces places_;
  Stats stats_;
};

}  // namespace

void add_block_steal(Registry<BlockPolicy>& r) {
  r.add<Steal>("steal", "chunks as in flip; an SM without work takes and keeps blocks of others");
}

}  // namespace raddle::policy
