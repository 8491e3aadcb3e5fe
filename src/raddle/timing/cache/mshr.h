// Miss status holding registers: one entry per line on its way, with the requests that wait for it.
// Sectors asked for later join the entry. An entry is found through a small chained hash, never by
// a scan; its first waiter, mostly the only one, lies in it. What was freed last is used first:
// little memory is touched. Of a machine's many entries most are far from the processor when they
// are wanted, so chains are kept short and free entries are known without a look at them.
#pragma once
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/prefetch.h"
#include "raddle/base/zeroed_array.h"

namespace raddle::timing {

/// Waiter: what a waiting request needs to be finished; small and copyable.
template <class Waiter>
class Mshrs {
 public:
  static constexpr unsigned kNone = 0xffff;

  /// `merges`: requests that may wait for one entry, the first included. `orphans`: entries beside,
  /// for those that nobody waits for any more (orphan()).
  Mshrs(unsigned entries, unsigned merges, unsigned unclaimed = 0)
      : merges_(merges),
        limit_(entries),
        bucket_mask_(4 * std::bit_ceil(entries) - 1),
        bucket_(bucket_mask_ + 1, kNone),
        free_(entries + unclaimed),
        entry_(entries + unclaimed),
        waiter_(entries * (merges - 1)),
        is_unclaimed_(unclaimed != 0 ? entries + unclaimed : 0) {
    RADDLE_ASSERT(entries >= 1 && entries + unclaimed < kNone && merges >= 1 &&
                  waiter_.size() <= kMaxWaiters);
    std::iota(free_.begin(), free_.end(), std::uint16_t{0});
  }
  bool full() const { return used_ == limit_; }
  unsigned used() const { return used_; }
  /// Those that are not orphans.
  unsigned taken() const { return used_ - unclaimed_; }
  /// Requests that wait, over all entries.
  unsigned waiting() const { return waiting_; }
  /// Entry of a line, or kNone.
  unsigned find(std::uint32_t line) const {
    unsigned e = bucket_[hash(line)];
    while (e != kNone && entry_[e].line != line) e = entry_[e].next;
    return e;
  }
  /// An entry for the line, whose sectors in `need` are requested for its first waiter.
  /// Precondition: !full() and the line has none.
  unsigned add(std::uint32_t line, std::uint8_t need, const Waiter& first) {
    const std::uint16_t e = free_[used_++];
    std::uint16_t& bucket = bucket_[hash(line)];
    entry_[e] = {line, Entry::packed(0, need), bucket, 1, need, 0, first};
    bucket = e;
    ++waiting_;
    return e;
  }
  bool can_merge(unsigned e) const {
    return entry_[e].waiting < merges_ && !(full() && !is_unclaimed_.empty() && is_unclaimed_[e]);
  }
  std::uint8_t requested(unsigned e) const { return entry_[e].requested; }
  std::uint32_t line(unsigned e) const { return entry_[e].line; }
  /// Hints that find(line) is near; that arrive(e) of the line's entry is.
  void prefetch_find(std::uint32_t line) const { raddle::prefetch(&bucket_[hash(line)]); }
  void prefetch_arrive(unsigned e, std::uint32_t line) const {
    raddle::prefetch(&entry_[e]);
    prefetch_find(line);
  }
  /// Of those that wait. Precondition: one does.
  const Waiter& first(unsigned e) const { return entry_[e].first; }
  /// The waiter is done when the sectors in `need` are there; those not yet requested are from now
  /// on. Precondition: can_merge(e).
  void wait(unsigned e, std::uint8_t need, const Waiter& w) {
    Entry& entry = entry_[e];
    ++waiting_;
    entry.requested |= need;
    if (entry.waiting++ == 0) {
      forget_unclaimed(e);
      entry.first = w;
      entry.set_need(need);
      return;
    }
    const std::uint32_t n = take_waiter();
    std::uint32_t next = n;
    if (entry.waiting > 2) {
      next = waiter_[entry.last()].next;
      waiter_[entry.last()].next = n;
    }
    waiter_[n] = {w, next, need};
    entry.set_last(n);
  }
  /// Requests that wait for the entry.
  unsigned waiting_for(unsigned e) const { return entry_[e].waiting; }
  /// Sectors that have been requested and have not come.
  std::uint8_t missing(unsigned e) const {
    return static_cast<std::uint8_t>(entry_[e].requested & ~entry_[e].arrived);
  }
  /// visit(waiter) for each request that waits for the entry.
  template <class F>
  void each_waiter(unsigned e, F visit) const {
    const Entry& entry = entry_[e];
    if (entry.waiting == 0) return;
    visit(entry.first);
    std::uint32_t n = entry.last();
    for (unsigned left = entry.waiting - 1u; left != 0; --left) {
      n = waiter_[n].next;
      visit(waiter_[n].value);
    }
  }
  /// Waits `w` for any of these sectors?
  bool waits(unsigned e, std::uint8_t sectors, const Waiter& w) const {
    const Entry& entry = entry_[e];
    if (entry.waiting == 0) return false;
    if (entry.first == w && (entry.need() & sectors) != 0) return true;
    std::uint32_t n = entry.last();
    for (unsigned left = entry.waiting - 1u; left != 0; --left) {
      n = waiter_[n].next;
      if (waiter_[n].value == w && (waiter_[n].need & sectors) != 0) return true;
    }
    return false;
  }
  /// `w` waits for nothing of the entry any more. The entry stays, even without a waiter: its
  /// sectors are on their way.
  void cancel(unsigned e, const Waiter& w) {
    Entry& entry = entry_[e];
    std::uint32_t previous = entry.last();
    for (unsigned left = entry.waiting > 1 ? entry.waiting - 1u : 0; left != 0; --left) {
      const std::uint32_t n = waiter_[previous].next;
      if (!(waiter_[n].value == w)) {
        previous = n;
        continue;
      }
      take_out(entry, previous, n);
      --waiting_;
    }
    if (entry.waiting == 0 || !(entry.first == w)) return;
    --waiting_;
    take_out_first(entry);
  }
  /// The entry is free although sectors are missing. Preconditions: nobody waits, and what is
  /// missing will never come.
  void abandon(unsigned e) {
    RADDLE_ASSERT(entry_[e].waiting == 0);
    release(e);
  }
  /// The entry does not count any more until somebody waits for it again, if there is room for one
  /// more of this kind. Preconditions: nobody waits, and something is missing.
  void unclaimed(unsigned e) {
    RADDLE_ASSERT(entry_[e].waiting == 0 && missing(e) != 0);
    if (limit_ == free_.size() || is_unclaimed_[e]) return;
    is_unclaimed_[e] = true;
    ++unclaimed_;
    ++limit_;
  }
  /// The waiter for whom these sectors were requested: the first that needs any of them, since a
  /// later one found them requested.
  Waiter& asker(unsigned e, std::uint8_t sectors) {
    Entry& entry = entry_[e];
    if ((entry.need() & sectors) != 0) return entry.first;
    std::uint32_t n = waiter_[entry.last()].next;
    while ((waiter_[n].need & sectors) == 0) n = waiter_[n].next;
    return waiter_[n].value;
  }
  /// Sectors came in: done(waiter) for those now satisfied, in order of arrival. The entry is free
  /// again, and true returned, when all that was requested has come.
  template <class F>
  bool arrive(unsigned e, std::uint8_t sectors, F done) {
    Entry& entry = entry_[e];
    entry.arrived |= sectors;
    if (entry.waiting != 0) {
      const bool first = (entry.need() & ~entry.arrived) == 0;
      if (first) done(entry.first);
      if (entry.waiting > 1) arrive_later(entry, done);
      if (first) {
        --waiting_;
        take_out_first(entry);
      }
    }
    if (entry.arrived != entry.requested) return false;
    RADDLE_ASSERT(entry.waiting == 0);
    release(e);
    return true;
  }

 private:
  static constexpr std::uint32_t kMaxWaiters = 0xffffff;
  // Small ones lie in one cache line each.
  struct alignas(8) alignas(sizeof(Waiter) <= 2 ? 16 : sizeof(Waiter) <= 16 ? 32 : 8) Entry {
    std::uint32_t line = 0;
    std::uint32_t last_need = 0;
    std::uint16_t next = kNone, waiting = 0;
    std::uint8_t requested = 0, arrived = 0;
    Waiter first{};

    // No bit fields: to write one, the other would be read, and add() must not wait for that.
    static std::uint32_t packed(std::uint32_t last, std::uint8_t need) { return last << 8 | need; }
    std::uint32_t last() const { return last_need >> 8; }  // of the waiters behind the first
    std::uint8_t need() const { return static_cast<std::uint8_t>(last_need); }  // of the first
    void set_last(std::uint32_t last) { last_need = packed(last, need()); }
    void set_need(std::uint8_t need) { last_need = packed(last(), need); }
  };
  /// The waiters behind the first form a ring: the last one's `next` is the first of them.
  struct Waiting {
    Waiter value;
    std::uint32_t next = 0;
    std::uint8_t need = 0;
  };
  unsigned hash(std::uint32_t line) const { return (line ^ line >> 6 ^ line >> 13) & bucket_mask_; }
  template <class F>
  void arrive_later(Entry& entry, F& done) {
    std::uint32_t previous = entry.last();
    for (unsigned left = entry.waiting - 1u; left != 0; --left) {
      const std::uint32_t n = waiter_[previous].next;
      if ((waiter_[n].need & ~entry.arrived) != 0) {
        previous = n;
        continue;
      }
      done(waiter_[n].value);
      take_out(entry, previous, n);
      --waiting_;
    }
  }
  /// What was freed last, else the first that was never taken.
  std::uint32_t take_waiter() {
    const std::uint32_t n = waiter_free_;
    if (n == waiters_touched_) waiter_free_ = ++waiters_touched_;
    else waiter_free_ = waiter_[n].next;
    return n;
  }
  /// Who waits longest of the others is the first then.
  void take_out_first(Entry& entry) {
    entry.set_need(0);
    if (entry.waiting == 1) {
      entry.waiting = 0;
      return;
    }
    const std::uint32_t n = waiter_[entry.last()].next;
    entry.first = waiter_[n].value;
    entry.set_need(waiter_[n].need);
    take_out(entry, entry.last(), n);
  }
  void take_out(Entry& entry, std::uint32_t previous, std::uint32_t n) {
    waiter_[previous].next = waiter_[n].next;
    if (n == entry.last()) entry.set_last(previous);
    waiter_[n].next = waiter_free_;
    waiter_free_ = n;
    --entry.waiting;
  }
  void forget_unclaimed(unsigned e) {
    if (unclaimed_ == 0 || !is_unclaimed_[e]) return;
    is_unclaimed_[e] = false;
    --unclaimed_;
    --limit_;
  }
  void release(unsigned e) {
    forget_unclaimed(e);
    std::uint16_t* link = &bucket_[hash(entry_[e].line)];
    while (*link != e) link = &entry_[*link].next;
    *link = entry_[e].next;
    free_[--used_] = static_cast<std::uint16_t>(e);
  }
  unsigned merges_, limit_, bucket_mask_, used_ = 0, waiting_ = 0, unclaimed_ = 0;
  std::uint32_t waiter_free_ = 0, waiters_touched_ = 0;
  std::vector<std::uint16_t> bucket_, free_;  // free_: from used_ on, the next first
  std::vector<Entry> entry_;
  ZeroedArray<Waiting> waiter_;
  std::vector<bool> is_unclaimed_;  // by entry, if there may be any
};

}  // namespace raddle::timing
