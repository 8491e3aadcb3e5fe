// Youngest first: of the ready warps the one that came last to the SM, so that old warps wait
// while their lines are used up by new ones. The opposite of `oldest`; an example, no paper.
// What to see: how much it costs to leave the oldest warps behind, as gto does not.
//
//   raddle plugin examples/own_policy.cpp -o youngest.so
//   raddle compare bfs spmv --gpu gtx480 --policies gto,youngest --plugin youngest.so
//
// As src/raddle/policy/warp/youngest.cpp the same file is a policy of the program.
#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {
namespace {

class Youngest final : public WarpPolicy {
 public:
  struct Params {
    bool stay = true;
    void visit(FieldVisitor& v) {
      v.field("stay", stay, "go on with the warp issued last as long as it is ready");
    }
  };
  Youngest(const Params& params, const Context&) : params_(params) {}

  unsigned pick(const WarpView& view) override {
    ++stats_.picks;
    if (params_.stay && (view.ready & last_) != 0) {
      ++stats_.stayed;
      return lowest(last_);
    }
    WarpMask left = view.ready;
    unsigned youngest = view.age.oldest(left);
    while ((left &= ~(WarpMask{1} << youngest)) != 0) youngest = view.age.oldest(left);
    last_ = WarpMask{1} << youngest;
    return youngest;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t picks = 0, stayed = 0;
    void visit(FieldVisitor& v) {
      v.field("picks", picks, {}, "decisions", "asked which warp issues");
      v.field("stayed", stayed, {}, "decisions", "went on with the warp issued last");
    }
  };
  Params params_;
  Stats stats_;
  WarpMask last_ = 0;  ///< the warp issued last, as a set; empty at first
};

}  // namespace

void add_warp_youngest(Registry<WarpPolicy>& r) {
  r.add<Youngest>("youngest", "the warp that came last, an example of a plug-in");
}

}  // namespace raddle::policy
