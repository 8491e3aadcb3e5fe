// Greedy then round robin: stay with one warp until it stalls, then take the next ready one in slot
// order. One of the variants of GTO that Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront
// Scheduling", MICRO 2012, compare; docs/mechanisms/ccws.md. Greed ends with the warp; the turn
// then goes on behind its slot.
#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {
namespace {

class GreedyRr final : public WarpPolicy {
 public:
  using Params = NoParams;
  GreedyRr(const Params&, const Context&) {}

  unsigned pick(const WarpView& view) override {
    ++stats_.picks;
    const WarpMask from_greedy = view.ready & ~low_bits(greedy_);
    const unsigned warp = lowest(from_greedy != 0 ? from_greedy : view.ready);
    if (warp == greedy_ && greedy_lives_) ++stats_.stayed;
    greedy_ = warp;
    greedy_lives_ = true;
    return warp;
  }
  void on_warp_end(unsigned slot) override {
    if (slot != greedy_ || !greedy_lives_) return;
    greedy_ = slot + 1;
    greedy_lives_ = false;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t picks = 0, stayed = 0;
    void visit(FieldVisitor& v) {
      v.field("picks", picks, {}, "decisions", "asked which warp issues");
      v.field("stayed", stayed, {}, "decisions", "stayed with the warp issued last");
    }
  };
  unsigned greedy_ = 0;        ///< slot of the warp issued last, or the slot whose turn it is
  bool greedy_lives_ = false;  ///< the warp issued last has not ended
  Stats stats_;
};

}  // namespace

void add_warp_greedy_rr(Registry<WarpPolicy>& r) {
  r.add<GreedyRr>("greedy_rr",
                  "greedy then round robin: the same warp until it stalls, then the next");
}

}  // namespace raddle::policy
