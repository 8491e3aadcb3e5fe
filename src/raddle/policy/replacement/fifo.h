// First in, first out: the line that has had its way for longest, however often it is used. For
// every level that replaces lines: Level is its interface.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/policy/registry.h"
#include "raddle/policy/replacement/policy.h"

namespace raddle::policy {

template <class Level>
class FifoOf final : public Level {
 public:
  using Params = NoParams;
  FifoOf(const Params&, const typename Level::Context& context)
      : ways_(context.ways), placed_(std::size_t{context.sets} * context.ways) {}

  unsigned victim(const SetView& view) const override {
    const std::uint64_t* placed = &placed_[std::size_t{view.set} * ways_];
    unsigned best = lowest(view.candidates);
    for (std::uint64_t left = view.candidates; left != 0; left &= left - 1)
      if (const unsigned way = lowest(left); placed[way] < placed[best]) best = way;
    return best;
  }
  void placed(const CachePlace& p) override {
    placed_[std::size_t{p.set} * ways_ + p.way] = ++places_;
  }

 private:
  unsigned ways_;
  std::uint64_t places_ = 0;
  std::vector<std::uint64_t> placed_;  // by set and way: as the how manieth place
};

}  // namespace raddle::policy
