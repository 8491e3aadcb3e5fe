// Miss status holding registers: one entry per line on its way, with the requests that wait for it.
// Sectors asked for later join the entry. An entry is found through a small chained hash, never by
// a scan; its first waiter, mostly the only one, lies in it. What was freed last is used first:
// little memory is touched.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/prefetch.h"

namespace raddle::timing {

/// Waiter: what a waiting request needs to be finished; small and copyable.
template <class Waiter>
class Mshrs {
 public:
  static constexpr unsigned kNone = 0xffff;

  /// `merges`: requests that may wait for one entry, the first included.
  Mshrs(unsigned entries, unsigned merges)
      : merges_(merges),
        bucket_mask_(std::bit_ceil(entries) - 1),
        bucket_(bucket_mask_ + 1, kNone),
        entry_(entries),
        waiter_(entries * (merges - 1)) {
    RADDLE_ASSERT(entries >= 1 && entries < kNone && merges >= 1 && waiter_.size() <= kMost);
    for (unsigned i = 0; i < entries; ++i)
      entry_[i].next = static_cast<std::uint16_t>(i + 1 < entries ? i + 1 : kNone);
    for (unsigned i = 0; i < waiter_.size(); ++i) waiter_[i].next = i + 1;
  }
  bool full() const { return free_ == kNone; }
  unsigned used() const { return used_; }
  /// Requests that wait, over all entries.
  unsigned waiting() const { return waiting_; }
  /// Entry of a line, or kNone.
  unsigned find(std::uint32_t line) const {
    unsigned e = bucket_[hash(line)];
    while (e != kNone && entry_[e].line != line) e = entry_[e].next;
    return e;
  }
  /// Precondition: !full() and the line has no entry.
  unsigned add(std::uint32_t line) {
    const std::uint16_t e = free_;
    Entry& entry = entry_[e];
    free_ = entry.next;
    std::uint16_t& bucket = bucket_[hash(line)];
    entry.line = line, entry.next = bucket;
    entry.waiting = 0, entry.requested = entry.arrived = 0;
    bucket = e, ++used_;
    return e;
  }
  bool can_merge(unsigned e) const { return entry_[e].waiting < merges_; }
  std::uint8_t requested(unsigned e) const { return entry_[e].requested; }
  void request(unsigned e, std::uint8_t sectors) { entry_[e].requested |= sectors; }
  std::uint32_t line(unsigned e) const { return entry_[e].line; }
  /// Hints that arrive(e) is near.
  void prefetch(unsigned e) const { raddle::prefetch(&entry_[e]); }
  /// Of those that wait. Precondition: one does.
  const Waiter& first(unsigned e) const { return entry_[e].first; }
  /// Precondition: can_merge(e). The waiter is done when the sectors in `need` are there.
  void wait(unsigned e, std::uint8_t need, const Waiter& w) {
    Entry& entry = entry_[e];
    ++waiting_;
    if (entry.waiting++ == 0) {
      entry.first = w, entry.need = need;
      return;
    }
    const std::uint32_t n = waiter_free_;
    waiter_free_ = waiter_[n].next;
    std::uint32_t next = n;
    if (entry.waiting > 2) {
      next = waiter_[entry.last].next;
      waiter_[entry.last].next = n;
    }
    waiter_[n] = {w, next, need};
    entry.last = n & kMost;
  }
  /// The waiter for whom these sectors were requested: the first that needs any of them, since a
  /// later one found them requested.
  Waiter& asker(unsigned e, std::uint8_t sectors) {
    Entry& entry = entry_[e];
    if ((entry.need & sectors) != 0) return entry.first;
    std::uint32_t n = waiter_[entry.last].next;
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
      const bool first = (entry.need & ~entry.arrived) == 0;
      if (first) done(entry.first);
      if (entry.waiting > 1) arrive_later(entry, done);
      if (first) --waiting_, take_out_first(entry);
    }
    if (entry.arrived != entry.requested) return false;
    RADDLE_ASSERT(entry.waiting == 0);
    release(e);
    return true;
  }

 private:
  static constexpr std::uint32_t kMost = 0xffffff;
  // Small ones lie in one cache line each.
  struct alignas(8) alignas(sizeof(Waiter) <= 2 ? 16 : sizeof(Waiter) <= 16 ? 32 : 8) Entry {
    std::uint32_t line = 0;
    std::uint32_t last : 24 = 0;  // of the waiters behind the first
    std::uint32_t need : 8 = 0;   // of the first
    std::uint16_t next = kNone, waiting = 0;
    std::uint8_t requested = 0, arrived = 0;
    Waiter first{};
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
    std::uint32_t previous = entry.last;
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
  /// Who waits longest of the others is the first then.
  void take_out_first(Entry& entry) {
    entry.need = 0;
    if (entry.waiting == 1) {
      entry.waiting = 0;
      return;
    }
    const std::uint32_t n = waiter_[entry.last].next;
    entry.first = waiter_[n].value, entry.need = waiter_[n].need;
    take_out(entry, entry.last, n);
  }
  void take_out(Entry& entry, std::uint32_t previous, std::uint32_t n) {
    waiter_[previous].next = waiter_[n].next;
    if (n == entry.last) entry.last = previous & kMost;
    waiter_[n].next = waiter_free_, waiter_free_ = n;
    --entry.waiting;
  }
  void release(unsigned e) {
    std::uint16_t* link = &bucket_[hash(entry_[e].line)];
    while (*link != e) link = &entry_[*link].next;
    *link = entry_[e].next;
    entry_[e].next = free_, free_ = static_cast<std::uint16_t>(e), --used_;
  }
  unsigned merges_, bucket_mask_, used_ = 0, waiting_ = 0;
  std::uint16_t free_ = 0;
  std::uint32_t waiter_free_ = 0;
  std::vector<std::uint16_t> bucket_;
  std::vector<Entry> entry_;
  std::vector<Waiting> waiter_;
};

}  // namespace raddle::timing
