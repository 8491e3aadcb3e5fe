// Static warp limiting: only the `limit` oldest warps of an SM issue. Rogers, O'Connor, Aamodt,
// "Cache-Conscious Wavefront Scheduling", MICRO 2012, section 3.2 (there "wavefront" limiting);
// docs/mechanisms/ccws.md. Barriers: while a warp within the limit waits at a barrier of its block,
// the whole block is admitted, so that the barrier can open; then the limit applies again.
//
// A limit can hang a program in which a warp waits, other than at a barrier of its block, for one
// that comes after it: one that spins on a lock, say.
#include <bit>
#include <string>

#include "raddle/policy/registry.h"
#include "raddle/policy/throttle/policy.h"

namespace raddle::policy {
namespace {

class Swl final : public ThrottlePolicy {
 public:
  struct Params {
    std::uint32_t limit = 5;
    void visit(FieldVisitor& v) {
      v.field("limit", limit, {1, 64}, "warps", "of an SM, the oldest, that issue");
    }
    std::vector<std::string> violations(const MachineFacts& machine) const {
      if (limit <= machine.warps) return {};
      return {"policy.throttle.limit must not exceed sm.warps (policy.throttle.limit is " +
              std::to_string(limit) + ", sm.warps is " + std::to_string(machine.warps) + ")"};
    }
  };
  Swl(const Params& params, const Context&) : limit_(params.limit) {}

  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t barrier_admissions = 0;
    void visit(FieldVisitor& v) {
      v.field("barrier_admissions", barrier_admissions, {}, "warps",
              "beyond the limit, admitted because one of their block waited at a barrier");
    }
  };

  Admission admit(const ThrottleView& view) override {
    WarpMask within = 0;
    for (WarpMask m = view.running; m != 0 && std::popcount(within) < static_cast<int>(limit_);) {
      const WarpMask oldest = WarpMask{1} << view.age.oldest(m);
      within |= oldest;
      m &= ~oldest;
    }
    WarpMask held_up = 0;  // blocks whose barrier must open
    for (WarpMask m = within & view.at_barrier; m != 0; m &= m - 1)
      held_up |= WarpMask{1} << view.block_of[lowest(m)];
    WarpMask admitted = within;
    if (held_up != 0)
      for (WarpMask m = view.running & ~within; m != 0; m &= m - 1)
        if ((held_up >> view.block_of[lowest(m)] & 1) != 0) admitted |= m & -m;
    stats_.barrier_admissions +=
        static_cast<unsigned>(std::popcount(admitted & ~within & ~helping_));
    helping_ = admitted & ~within;
    return {admitted, admitted, kNever};
  }

  std::uint32_t limit_;
  WarpMask helping_ = 0;  ///< admitted beyond the limit
  Stats stats_;
};

}  // namespace

void add_throttle_swl(Registry<ThrottlePolicy>& r) {
  r.add<Swl>("swl", "static warp limiting: only the oldest warps of an SM issue");
}

}  // namespace raddle::policy
