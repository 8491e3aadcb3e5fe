// SRRIP with hit priority: Jaleel, Theobald, Steely, Emer, "High Performance Cache Replacement
// Using Re-Reference Interval Prediction", ISCA 2010, section 4.1. A line has a prediction when it
// is used next, from 0 (soon) to 2^bits - 1 (in the distant future). A line that comes is predicted
// one below the most, one that hits soon; the first way of the most is given away, after all have
// been raised until there is one. So lines that are used once do not push out those used again.
// For every level that replaces lines: Level is its interface.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "raddle/policy/registry.h"
#include "raddle/policy/replacement/policy.h"

namespace raddle::policy {

template <class Level>
class SrripOf final : public Level {
 public:
  struct Params {
    std::uint32_t bits = 2;
    void visit(FieldVisitor& v) { v.field("bits", bits, {1, 7}, "bits", "of a line's prediction"); }
  };
  SrripOf(const Params& params, const typename Level::Context& context)
      : ways_(context.ways),
        distant_(static_cast<std::uint8_t>(low_bits(params.bits))),
        prediction_(std::size_t{context.sets} * context.ways, distant_) {}

  unsigned victim(const SetView& view) const override {
    const std::uint8_t* of = &prediction_[std::size_t{view.set} * ways_];
    unsigned best = lowest(view.candidates);
    for (std::uint64_t left = view.candidates; left != 0; left &= left - 1)
      if (const unsigned way = lowest(left); of[way] > of[best]) best = way;
    return best;
  }
  void accessed(const CacheAccess& a) override {
    if (a.way == CacheAccess::kNoWay) return;
    prediction_[std::size_t{a.set} * ways_ + a.way] = 0;
    ++stats_.hits;
  }
  /// To give the way away, all were raised until its line was distant.
  void placed(const CachePlace& p) override {
    std::uint8_t* of = &prediction_[std::size_t{p.set} * ways_];
    const unsigned raised = p.replaces ? distant_ - of[p.way] : 0;
    for (unsigned way = 0; way < ways_; ++way)
      of[way] = static_cast<std::uint8_t>(std::min<unsigned>(of[way] + raised, distant_));
    of[p.way] = static_cast<std::uint8_t>(distant_ - 1);
    stats_.raised += raised;
  }
  void flushed() override { std::ranges::fill(prediction_, distant_); }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t hits = 0, raised = 0;
    void visit(FieldVisitor& v) {
      v.field("hits", hits, {}, "accesses",
              "of lines that had a way: predicted to come again soon");
      v.field("raised", raised, {}, "", "times a set's predictions were raised by one");
    }
  };
  unsigned ways_;
  std::uint8_t distant_;
  std::vector<std::uint8_t> prediction_;  // by set and way
  Stats stats_;
};

}  // namespace raddle::policy
