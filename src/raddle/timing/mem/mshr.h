// Miss status holding registers: one entry per line on its way, with the requests that wait for it.
// Sectors asked for later join the entry. An entry is found through a small chained hash, never by
// a scan.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"

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
        bucket_(bucket_mask_ + 1, kNil),
        entry_(entries),
        waiter_(entries * merges) {
    RADDLE_ASSERT(entries < kNone && entries * merges < kNil);
    for (unsigned i = 0; i < entries; ++i) entry_[i].next = link_or_end(i + 1, entries);
    for (unsigned i = 0; i < waiter_.size(); ++i)
      waiter_[i].next = link_or_end(i + 1, waiter_.size());
  }
  bool full() const { return free_ == kNil; }
  unsigned used() const { return used_; }
  /// Entry of a line, or kNone.
  unsigned find(std::uint32_t line) const {
    for (std::uint32_t e = bucket_[hash(line)]; e != kNil; e = entry_[e].next)
      if (entry_[e].line == line) return e;
    return kNone;
  }
  /// Precondition: !full() and the line has no entry.
  unsigned add(std::uint32_t line) {
    std::uint32_t e = free_;
    free_ = entry_[e].next;
    std::uint32_t& bucket = bucket_[hash(line)];
    entry_[e] = {line, bucket, kNil, kNil, 0, 0, 0};
    bucket = e, ++used_;
    return e;
  }
  bool can_merge(unsigned e) const { return entry_[e].waiting < merges_; }
  std::uint8_t requested(unsigned e) const { return entry_[e].requested; }
  void request(unsigned e, std::uint8_t sectors) { entry_[e].requested |= sectors; }
  std::uint32_t line(unsigned e) const { return entry_[e].line; }
  /// Precondition: can_merge(e). The waiter is done when the sectors in `need` are there.
  void wait(unsigned e, std::uint8_t need, const Waiter& w) {
    std::uint32_t n = waiter_free_;
    waiter_free_ = waiter_[n].next;
    waiter_[n] = {w, kNil, need};
    (entry_[e].first == kNil ? entry_[e].first : waiter_[entry_[e].last].next) = n;
    entry_[e].last = n, ++entry_[e].waiting;
  }
  /// Sectors came in: done(waiter) for those now satisfied, in order of arrival. The entry is free
  /// again, and true returned, when all that was requested has come.
  template <class F>
  bool arrive(unsigned e, std::uint8_t sectors, F done) {
    Entry& entry = entry_[e];
    entry.arrived |= sectors;
    std::uint32_t last = kNil;
    for (std::uint32_t n = entry.first; n != kNil;) {
      std::uint32_t next = waiter_[n].next;
      if ((waiter_[n].need & ~entry.arrived) != 0) {
        last = n;
      } else {
        done(waiter_[n].value);
        (last == kNil ? entry.first : waiter_[last].next) = next;
        waiter_[n].next = waiter_free_, waiter_free_ = n, --entry.waiting;
      }
      n = next;
    }
    entry.last = last;
    if (entry.arrived != entry.requested) return false;
    RADDLE_ASSERT(entry.waiting == 0);
    release(e);
    return true;
  }

 private:
  static constexpr std::uint32_t kNil = ~0u;
  struct Entry {
    std::uint32_t line = 0, next = kNil, first = kNil, last = kNil;
    std::uint16_t waiting = 0;
    std::uint8_t requested = 0, arrived = 0;
  };
  struct Waiting {
    Waiter value;
    std::uint32_t next = kNil;
    std::uint8_t need = 0;
  };
  static std::uint32_t link_or_end(unsigned i, std::size_t size) { return i < size ? i : kNil; }
  unsigned hash(std::uint32_t line) const { return (line ^ line >> 6 ^ line >> 13) & bucket_mask_; }
  void release(unsigned e) {
    std::uint32_t* link = &bucket_[hash(entry_[e].line)];
    while (*link != e) link = &entry_[*link].next;
    *link = entry_[e].next;
    entry_[e].next = free_, free_ = e, --used_;
  }
  unsigned merges_, bucket_mask_, used_ = 0;
  std::uint32_t free_ = 0, waiter_free_ = 0;
  std::vector<std::uint32_t> bucket_;
  std::vector<Entry> entry_;
  std::vector<Waiting> waiter_;
};

}  // namespace raddle::timing
