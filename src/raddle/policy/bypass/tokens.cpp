// Priority-based cache allocation with a fixed number of tokens (Li, Rhu, Johnson, O'Connor, Erez,
// Burger, Fussell, Redder, "Priority-Based Cache Allocation in Throughput Processors", HPCA 2015;
// reconstructed): `tokens` warps of an SM may bring lines into the L1D. The others hit what is
// there, wait for what is under way, and go past with all else. A warp keeps its token until it
// ends; then the warp that has been there longest and has none gets it.
//
// Left out: the search for the number of tokens, and the priority of warps with tokens in issue
// (warp=gto with throttle=swl comes near).
#include <tuple>

#include "raddle/base/mask.h"
#include "raddle/policy/bypass/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Tokens final : public BypassPolicy, private L1Observer, private SmObserver {
 public:
  struct Params {
    std::uint32_t tokens = 8;
    void visit(FieldVisitor& v) {
      v.field("tokens", tokens, {0, 64}, "warps", "of an SM that may bring lines into its L1D");
    }
  };
  Tokens(const Params& params, const Context&) : params_(params) {}
  L1Observer* l1_observer() override { return this; }
  SmObserver* sm_observer() override { return this; }

 private:
  bool goes_past(const BypassView& view) override {
    return !view.pending && (holders_ >> view.warp & 1) == 0;
  }
  void attach(const SmView& sm) override { sm_ = &sm; }
  /// Another warp has the slot; the token of the last one is free.
  void warp_started(const WarpStart& start) override {
    holders_ &= ~(std::uint64_t{1} << start.warp);
    resident_ = 0;
  }
  void waits_changed(Cycle) override {
    std::uint64_t resident = 0;
    for (unsigned what = 0; what < kWarpWaits; ++what)
      if (static_cast<WarpWait>(what) != WarpWait::Ended)
        resident |= sm_->waiting(static_cast<WarpWait>(what));
    if (resident == resident_) return;
    resident_ = resident;
    holders_ &= resident;
    while (static_cast<unsigned>(std::popcount(holders_)) < params_.tokens &&
           (resident & ~holders_) != 0)
      holders_ |= std::uint64_t{1} << oldest(resident & ~holders_);
  }
  unsigned oldest(std::uint64_t warps) const {
    const auto age = [&](unsigned slot) {
      const WarpFacts f = sm_->warp(slot);
      return std::tuple(f.started, f.launch, f.block, f.index);
    };
    unsigned best = lowest(warps);
    for (; warps != 0; warps &= warps - 1)
      if (age(lowest(warps)) < age(best)) best = lowest(warps);
    return best;
  }

  Params params_;
  const SmView* sm_ = nullptr;
  std::uint64_t resident_ = 0, holders_ = 0;
};

}  // namespace

void add_bypass_tokens(Registry<BypassPolicy>& r) {
  r.add<Tokens>("tokens", "loads of all but the `tokens` oldest warps (PCAL, fixed)");
}

}  // namespace raddle::policy
