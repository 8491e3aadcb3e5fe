// Which of a block's instructions comes next when results take time: list scheduling, as an
// assembler does it. The first in the text whose operands are there; where none has them, the one
// that has them soonest. Time is that of a warp alone, one instruction a cycle.
//
// What goes before its turn needs registers, so only so many do at once; a thread has seven
// predicates.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "raddle/trace/code.h"

namespace raddle::lowering {

/// Cycles from an instruction's issue to its result, by class.
using Delays = std::array<std::uint32_t, trace::kOpClasses>;

class LatencyOrder {
 public:
  /// Instructions that have been issued before one that stands before them.
  static constexpr std::uint32_t kMaxAhead = 64;
  static constexpr std::uint32_t kPredicates = 7;  ///< of a thread, P0 to P6

  explicit LatencyOrder(std::uint32_t size) : steps_(size) {}

  /// Before the first is issued: what `writer` writes is read by `reader`, `delay` cycles later at
  /// the earliest.
  void add_reader(std::uint32_t writer, std::uint32_t reader, std::uint32_t delay) {
    steps_[writer].readers.push_back({reader, delay});
    steps_[reader].sources.push_back(writer);
    ++steps_[writer].unread;
  }
  void sets_predicate(std::uint32_t writer) { steps_[writer].sets_predicate = true; }

  /// Of these, in their order; nothing where none may go before its turn.
  std::optional<std::uint32_t> choose(const std::vector<std::uint32_t>& ready) const {
    std::optional<std::uint32_t> soonest;
    for (const std::uint32_t i : ready) {
      const bool in_turn = i == first_;
      if (!in_turn && ahead_ >= kMaxAhead) break;
      if (!in_turn && steps_[i].sets_predicate && predicates_ >= kPredicates) continue;
      if (steps_[i].there <= now_) return i;
      if (!soonest || steps_[i].there < steps_[*soonest].there) soonest = i;
    }
    return soonest;
  }

  void issued(std::uint32_t i) {
    Step& step = steps_[i];
    const std::uint32_t at = std::max(now_, step.there);
    now_ = at + 1;
    for (const Reader& reader : step.readers) {
      std::uint32_t& there = steps_[reader.step].there;
      there = std::max(there, at + reader.delay);
    }
    if (step.sets_predicate && step.unread != 0) ++predicates_;
    for (const std::uint32_t source : step.sources)
      if (--steps_[source].unread == 0 && steps_[source].sets_predicate) --predicates_;
    step.is_issued = true;
    if (i != first_) ++ahead_;
    for (; first_ < steps_.size() && steps_[first_].is_issued; ++first_)
      if (first_ != i) --ahead_;
  }

 private:
  struct Reader {
    std::uint32_t step, delay;
  };
  struct Step {
    std::vector<Reader> readers;
    std::vector<std::uint32_t> sources;
    std::uint32_t there = 0;   // from when its operands are
    std::uint32_t unread = 0;  // readers that have not been issued
    bool sets_predicate = false, is_issued = false;
  };
  std::vector<Step> steps_;
  std::uint32_t now_ = 0;
  std::uint32_t first_ = 0;  // that has not been issued
  std::uint32_t ahead_ = 0, predicates_ = 0;
};

}  // namespace raddle::lowering
