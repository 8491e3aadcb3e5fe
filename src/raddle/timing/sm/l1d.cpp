#include "raddle/timing/sm/l1d.h"

#include "raddle/base/mask.h"

namespace raddle::timing {

L1d::L1d(const L1dSpec& spec)
    : sets_(spec.sets()),
      reserve_(spec.reserve_on_miss),
      evict_on_store_(spec.write_policy == WritePolicy::WriteEvict),
      tags_(spec.sets(), spec.ways),
      mshrs_(spec.mshr_entries, spec.mshr_merges),
      reserved_(spec.mshr_entries),
      since_(std::size_t{spec.mshr_entries} * 8) {}

unsigned L1d::place(std::uint32_t line, stats::SmCounters& count) {
  const unsigned at = tags_.victim(set_of(line));
  if (tags_.place(at, line).sectors != 0) ++count.l1d_evictions;
  return at;
}

L1d::Load L1d::load(Cycle now, std::uint32_t line, std::uint8_t sectors, std::uint16_t waiter,
                    bool can_send, stats::SmCounters& count) {
  unsigned at = find(line);
  auto missing =
      static_cast<std::uint8_t>(at == Tags::kAbsent ? sectors : sectors & ~tags_.valid(at));
  if (missing == 0) {
    ++count.l1d_accesses, ++count.l1d_hits;
    tags_.touch(at);
    return {Outcome::Hit, 0, 0};
  }
  unsigned m = mshrs_.find(line);
  bool fresh = m == Mshrs<std::uint16_t>::kNone;
  auto ask = static_cast<std::uint8_t>(fresh ? missing : missing & ~mshrs_.requested(m));
  bool needs_way = reserve_ && at == Tags::kAbsent;
  if ((ask != 0 && !can_send) || (fresh ? mshrs_.full() : !mshrs_.can_merge(m)) ||
      (needs_way && tags_.victim(set_of(line)) == Tags::kAbsent))
    return {Outcome::Blocked, 0, 0};

  ++count.l1d_accesses, ++(ask != 0 ? count.l1d_misses : count.l1d_pending_hits);
  if (fresh) m = mshrs_.add(line);
  if (reserve_) {
    if (needs_way) at = place(line, count);
    tags_.lock(at);
    tags_.touch(at);
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
  if (at == Tags::kAbsent) at = place(line, count);
  tags_.add_valid(at, sectors);
  tags_.touch(at);
}

void L1d::unlock(std::uint16_t mshr) {
  if (reserve_) tags_.unlock(reserved_[mshr]);
}

void L1d::store(std::uint32_t line) {
  unsigned at = find(line);
  if (at == Tags::kAbsent) return;
  if (evict_on_store_) tags_.invalidate(at);
  else tags_.touch(at);
}

void L1d::invalidate(std::uint32_t line) {
  if (unsigned at = find(line); at != Tags::kAbsent) tags_.invalidate(at);
}

void L1d::flush() { tags_.invalidate_all(); }

const char* L1d::obstacle(std::uint32_t line, bool can_send) const {
  unsigned m = mshrs_.find(line);
  if (m != Mshrs<std::uint16_t>::kNone && !mshrs_.can_merge(m))
    return "the line's MSHR can merge no more";
  if (m == Mshrs<std::uint16_t>::kNone && mshrs_.full()) return "no MSHR is free";
  if (!can_send) return "the miss queue is full";
  if (reserve_ && find(line) == Tags::kAbsent && tags_.victim(set_of(line)) == Tags::kAbsent)
    return "every way of the set is reserved";
  return "nothing";
}

}  // namespace raddle::timing
