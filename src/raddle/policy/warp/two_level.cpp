// Two-level scheduling: warps form fetch groups; the scheduler leaves a group only when none of it
// can issue, so that the groups reach their long stalls at different times. Narasiman et al.,
// "Improving GPU Performance via Large Warps and Two-Level Warp Scheduling", MICRO 2011, section
// 4.2; the names 2LVL-LRR (8, rr, rr) and 2LVL-GTO (2, gto, gto) of docs/mechanisms/ccws.md.
// Between groups, `gto` stays with the group (as both orders do) and else takes the one that holds
// the oldest warp: oldest of those resident, ready or not.
// Where the sources are silent: slots are counted from the scheduler's first; in a group that is
// entered again, `rr` goes on after the warp this group issued last, and `gto` starts at the oldest
// (greed holds for the warp issued last of all).
#include <array>

#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {
namespace {

enum class Order : std::uint8_t { Rr, Gto };
constexpr std::array<std::string_view, 2> kOrderNames = {"rr", "gto"};

class TwoLevel final : public WarpPolicy {
 public:
  struct Params {
    std::uint32_t group_size = 8;
    Order inner = Order::Rr, outer = Order::Rr;
    void visit(FieldVisitor& v) {
      v.field("group_size", group_size, {1, 64}, "warps", "consecutive slots that form a group");
      v.choice("inner", inner, kOrderNames, "order of the warps in a group");
      v.choice("outer", outer, kOrderNames, "order in which other groups get their chance");
    }
  };
  TwoLevel(const Params& params, const Context& context)
      : params_(params),
        first_slot_(context.first_slot),
        groups_((context.slots + params.group_size - 1) / params.group_size),
        current_(groups_) {
    for (unsigned g = 0; g < groups_; ++g) next_[g] = first_slot_ + g * params_.group_size;
  }

  unsigned pick(const WarpView& view) override {
    ++stats_.picks;
    if ((view.ready & members(current_)) == 0) {
      ++stats_.group_changes;
      current_ = params_.outer == Order::Rr ? next_group(view) : oldest_group(view);
    }
    const WarpMask ready = view.ready & members(current_);
    const unsigned warp = params_.inner == Order::Rr ? next_warp(ready) : greedy_warp(ready, view);
    next_[current_] = warp + 1;
    last_ = WarpMask{1} << warp;
    return warp;
  }
  void on_warp_end(unsigned slot) override { last_ &= ~(WarpMask{1} << slot); }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t picks = 0, group_changes = 0;
    void visit(FieldVisitor& v) {
      v.field("picks", picks, {}, "decisions", "asked which warp issues");
      v.field("group_changes", group_changes, {}, "decisions", "no warp of the group was ready");
    }
  };

  WarpMask members(unsigned group) const {
    const unsigned from = first_slot_ + group * params_.group_size;
    return low_bits(from + params_.group_size) & ~low_bits(from);
  }
  unsigned group_of(unsigned warp) const { return (warp - first_slot_) / params_.group_size; }

  /// The first group after the current one, cyclically, that can issue.
  unsigned next_group(const WarpView& view) const {
    const WarpMask after =
        view.ready & ~low_bits(first_slot_ + (current_ + 1) * params_.group_size);
    return group_of(lowest(after != 0 ? after : view.ready));
  }
  /// Of the groups that can issue, the one whose oldest resident warp is oldest.
  unsigned oldest_group(const WarpView& view) const {
    for (WarpMask left = view.resident;;) {
      const unsigned group = group_of(view.age.oldest(left));
      if ((view.ready & members(group)) != 0) return group;
      left &= ~members(group);
    }
  }
  unsigned next_warp(WarpMask ready) const {
    const WarpMask after = ready & ~low_bits(next_[current_]);
    return lowest(after != 0 ? after : ready);
  }
  unsigned greedy_warp(WarpMask ready, const WarpView& view) const {
    return (ready & last_) != 0 ? lowest(last_) : view.age.oldest(ready);
  }

  Params params_;
  unsigned first_slot_, groups_;
  unsigned current_;                 ///< none at first
  WarpMask last_ = 0;                ///< the warp issued last, as a set
  std::array<unsigned, 64> next_{};  ///< by group: the slot after the one it issued last
  Stats stats_;
};

}  // namespace

void add_warp_two_level(Registry<WarpPolicy>& r) {
  r.add<TwoLevel>("two_level", "fetch groups: leave a group only when none of its warps is ready");
}

}  // namespace raddle::policy
