// Loose round robin: warps take turns in slot order, one that is not ready loses its turn.
// Rule: docs/mechanisms/ccws.md, "Orders". "Loose" as in Narasiman et al., "Improving GPU
// Performance via Large Warps and Two-Level Warp Scheduling", MICRO 2011, section 2.
#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {
namespace {

class Lrr final : public WarpPolicy {
 public:
  using Params = NoParams;
  Lrr(const Params&, const Context&) {}

  unsigned pick(const WarpView& view) override {
    ++stats_.picks;
    const WarpMask after = view.ready & ~low_bits(next_);
    if (after == 0 && next_ != 0) ++stats_.rounds;
    const unsigned warp = lowest(after != 0 ? after : view.ready);
    next_ = warp + 1;
    return warp;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t picks = 0, rounds = 0;
    void visit(FieldVisitor& v) {
      v.field("picks", picks, {}, "decisions", "asked which warp issues");
      v.field("rounds", rounds, {}, "decisions", "the turn came round to the first slots again");
    }
  };
  unsigned next_ = 0;  ///< the slot whose turn it is; may be one past the last
  Stats stats_;
};

}  // namespace

void add_warp_lrr(Registry<WarpPolicy>& r) {
  r.add<Lrr>("lrr", "loose round robin: the next ready warp in slot order");
}

}  // namespace raddle::policy
