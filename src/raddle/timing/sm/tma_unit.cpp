#include "raddle/timing/sm/tma_unit.h"

#include <utility>

#include "raddle/base/error.h"

namespace raddle::timing {

unsigned TmaUnit::begin(Cycle now, Copy copy) {
  RADDLE_ASSERT(present());
  copy.ready = now + spec_.latency_cycles;
  if (free_.empty()) {
    copies_.push_back(std::move(copy));
    return static_cast<unsigned>(copies_.size()) - 1;
  }
  const unsigned number = free_.back();
  free_.pop_back();
  copies_[number] = std::move(copy);
  return number;
}

void TmaUnit::add_lines(unsigned number, const std::uint32_t* payload, unsigned count,
                        std::uint32_t base) {
  LineMap::Accesses accesses;
  for (unsigned i = 0; i < count; ++i, payload += trace::kTransactionWords) {
    const unsigned n = lines_.convert({payload[0], payload[1], payload[2]}, base, accesses);
    copies_[number].lines.insert(copies_[number].lines.end(), accesses.begin(),
                                 accesses.begin() + n);
  }
}

void TmaUnit::add_objects(unsigned number, const std::uint32_t* changes, unsigned count) {
  copies_[number].objects.insert(copies_[number].objects.end(), changes,
                                 changes + std::size_t{count} * trace::kTransactionWords);
}

bool TmaUnit::keeps(std::uint64_t descriptor) {
  const auto found = std::ranges::find(descriptors_, descriptor);
  const bool kept = found != descriptors_.end();
  if (kept) descriptors_.erase(found);
  else if (descriptors_.size() == spec_.descriptors) descriptors_.erase(descriptors_.begin());
  descriptors_.push_back(descriptor);
  return kept;
}

/// A request of the copy leaves. A copy has a tag as long as any of its requests is under way, so
/// there are never more tags than requests.
void TmaUnit::ask(unsigned number) {
  Copy& copy = copies_[number];
  if (copy.under_way == 0) {
    if (free_tags_.empty()) {
      free_tags_.push_back(static_cast<std::uint16_t>(of_tag_.size()));
      of_tag_.push_back(0);
    }
    copy.tag = free_tags_.back();
    free_tags_.pop_back();
    of_tag_[copy.tag] = number;
    RADDLE_ASSERT(of_tag_.size() <= TmaSpec::kMaxInFlight);
  }
  ++copy.under_way;
  ++under_way_;
}

/// The oldest copy has nothing to do any more but to wait.
void TmaUnit::leave_queue() {
  constexpr std::size_t kKept = 64;  // of those before the oldest
  if (++first_ != queue_.size() && first_ < kKept) return;
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

TmaUnit::Step TmaUnit::step(Cycle now) {
  RADDLE_ASSERT(steps(now));
  Step out;
  out.copy = queue_[first_];
  Copy& copy = copies_[out.copy];
  if (copy.descriptor != kNone && !keeps(std::exchange(copy.descriptor, kNone))) {
    awaits_descriptor_ = true;
    out.what = Step::What::Descriptor;
    ask(out.copy);
    return out;
  }
  if (copy.asked == 0) next_copy_ = now + spec_.copy_cycles;
  next_line_ = now + spec_.interval_cycles;
  if (!copy.lines.empty()) {
    out.what = Step::What::Line;
    out.line = copy.lines[copy.asked++];
    ask(out.copy);
  }
  copy.all_asked = copy.asked == copy.lines.size();
  if (copy.all_asked) leave_queue();
  return out;
}

unsigned TmaUnit::answered(std::uint16_t tag) {
  RADDLE_ASSERT(tag < of_tag_.size() && under_way_ != 0);
  const unsigned number = of_tag_[tag];
  Copy& copy = copies_[number];
  RADDLE_ASSERT(copy.under_way != 0);
  if (copy.asked == 0) awaits_descriptor_ = false;
  --under_way_;
  if (--copy.under_way == 0) free_tags_.push_back(tag);
  return number;
}

void TmaUnit::forget(unsigned number) {
  RADDLE_ASSERT(copies_[number].is_over());
  copies_[number] = {};
  free_.push_back(number);
}

}  // namespace raddle::timing
