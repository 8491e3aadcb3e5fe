// Greedy then oldest: stay with one warp until it stalls, then take the oldest ready one.
// Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012, section 3;
// docs/mechanisms/ccws.md. Greed ends with the warp: one that takes over its slot comes by age.
#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {
namespace {

class Gto final : public WarpPolicy {
 public:
  using Params = NoParams;
  Gto(const Params&, const Context&) {}

  unsigned pick(const WarpView& view) override {
    ++stats_.picks;
    if ((view.ready & greedy_) != 0) {
      ++stats_.stayed;
      return lowest(greedy_);
    }
    const unsigned warp = view.age.oldest(view.ready);
    greedy_ = WarpMask{1} << warp;
    return warp;
  }
  void on_warp_end(unsigned slot) override { greedy_ &= ~(WarpMask{1} << slot); }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t picks = 0, stayed = 0;
    void visit(FieldVisitor& v) {
      v.field("picks", picks, {}, "decisions", "asked which warp issues");
      v.field("stayed", stayed, {}, "decisions", "stayed with the warp issued last");
    }
  };
  WarpMask greedy_ = 0;  ///< the warp issued last, as a set; empty at first
  Stats stats_;
};

}  // namespace

void add_warp_gto(Registry<WarpPolicy>& r) {
  r.add<Gto>("gto", "greedy then oldest: the same warp until it stalls, then the oldest ready one");
}

}  // namespace raddle::policy
