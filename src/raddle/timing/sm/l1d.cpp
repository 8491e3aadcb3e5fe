#include "raddle/timing/sm/l1d.h"

#include "raddle/base/mask.h"

namespace raddle::timing {

L1d::L1d(const L1dSpec& spec)
    : sets_(spec.sets()),
      ways_(spec.ways),
      reserve_(spec.reserve_on_miss),
      evict_on_store_(spec.write_policy == WritePolicy::WriteEvict),
      line_(std::size_t{spec.sets()} * ways_),
      mshrs_(spec.mshr_entries, spec.mshr_merges),
      reserved_(spec.mshr_entries),
      since_(std::size_t{spec.mshr_entries} * 8) {}

unsigned L1d::find(std::uint32_t line) const {
  unsigned at = first_way(line);
  for (unsigned end = at + ways_; at < end; ++at)
    if (line_[at].tag == line && (line_[at].valid != 0 || line_[at].locked)) return at;
  return kAbsent;
}

// Least recently used way that may be given away (an empty one was used longest ago), or kAbsent.
unsigned L1d::victim(std::uint32_t line) const {
  unsigned best = kAbsent, at = first_way(line);
  for (unsigned end = at + ways_; at < end; ++at)
    if (!line_[at].locked && (best == kAbsent || line_[at].used < line_[best].used)) best = at;
  return best;
}

unsigned L1d::place(std::uint32_t line, stats::SmCounters& count) {
  unsigned at = victim(line);
  if (line_[at].valid != 0) ++count.l1d_evictions;
  line_[at] = {line, 0, false, 0};
  return at;
}

L1d::Load L1d::load(Cycle now, std::uint32_t line, std::uint8_t sectors, std::uint16_t waiter,
                    bool can_send, stats::SmCounters& count) {
  unsigned at = find(line);
  auto missing = static_cast<std::uint8_t>(at == kAbsent ? sectors : sectors & ~line_[at].valid);
  if (missing == 0) {
    ++count.l1d_accesses, ++count.l1d_hits;
    touch(at);
    return {Outcome::Hit, 0, 0};
  }
  unsigned m = mshrs_.find(line);
  bool fresh = m == Mshrs<std::uint16_t>::kNone;
  auto ask = static_cast<std::uint8_t>(fresh ? missing : missing & ~mshrs_.requested(m));
  bool needs_way = reserve_ && at == kAbsent;
  if ((ask != 0 && !can_send) || (fresh ? mshrs_.full() : !mshrs_.can_merge(m)) ||
      (needs_way && victim(line) == kAbsent))
    return {Outcome::Blocked, 0, 0};

  ++count.l1d_accesses, ++(ask != 0 ? count.l1d_misses : count.l1d_pending_hits);
  if (fresh) m = mshrs_.add(line);
  if (reserve_) {
    if (needs_way) at = place(line, count);
    line_[at].locked = true;
    touch(at);
    reserved_[m] = at;
  }
  mshrs_.wait(m, missing, waiter);
  if (ask != 0) {
    mshrs_.request(m, ask);
    since_[m * 8 + lowest(ask)] = now;
  }
  return {Outcome::Miss, ask, static_cast<std::uint16_t>(m)};
}

void L1d::install(Cycle now, std::uint16_t mshr, std::uint8_t sectors, stats::SmCounters& count) {
  ++count.l1d_fills;
  count.l1d_miss_cycles += now - since_[mshr * 8u + lowest(sectors)];
  std::uint32_t line = mshrs_.line(mshr);
  unsigned at = find(line);
  if (at == kAbsent) at = place(line, count);
  line_[at].valid |= sectors;
  touch(at);
}

void L1d::unlock(std::uint16_t mshr) {
  if (reserve_) line_[reserved_[mshr]].locked = false;
}

void L1d::store(std::uint32_t line) {
  unsigned at = find(line);
  if (at == kAbsent) return;
  if (evict_on_store_) line_[at].valid = 0, line_[at].used = 0;
  else touch(at);
}

void L1d::invalidate(std::uint32_t line) {
  if (unsigned at = find(line); at != kAbsent) line_[at].valid = 0, line_[at].used = 0;
}

void L1d::flush() {
  for (Line& line : line_) line.valid = 0, line.used = 0;
}

const char* L1d::obstacle(std::uint32_t line, bool can_send) const {
  unsigned m = mshrs_.find(line);
  if (m != Mshrs<std::uint16_t>::kNone && !mshrs_.can_merge(m))
    return "the line's MSHR can merge no more";
  if (m == Mshrs<std::uint16_t>::kNone && mshrs_.full()) return "no MSHR is free";
  if (!can_send) return "the miss queue is full";
  if (reserve_ && find(line) == kAbsent && victim(line) == kAbsent)
    return "every way of the set is reserved";
  return "nothing";
}

}  // namespace raddle::timing
