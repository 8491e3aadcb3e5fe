// Tags of a sectored set-associative cache with LRU replacement; any number of sets, up to 256 ways
// and up to 8 sectors a line. Shared by L1 and L2. A line has a way from fill() or place() on; a
// locked way waits for its data and is neither found empty nor given away.
//
// Where a line is and when a way was used is known by rows of bytes (set_rows.h), for sets of more
// than 64 ways by chains and lists (set_lists.h). Replacement is this file's touch() and victim(),
// unless the cache has a policy for it (replacement.h).
#pragma once
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/base/prefetch.h"
#include "raddle/base/zeroed_array.h"
#include "raddle/timing/cache/set_lists.h"
#include "raddle/timing/cache/set_rows.h"

namespace raddle::timing {

class Tags {
 public:
  /// A line pushed out by fill(); `sectors` were valid, `dirty` of them must be written back.
  struct Victim {
    std::uint32_t line;
    std::uint8_t sectors, dirty;  ///< sectors == 0: nothing was pushed out
  };
  static constexpr unsigned kAbsent = ~0u;
  static constexpr unsigned kMaxWays = 256;
  /// Ways that a miss may fill, where a scheme says so, a bit for each.
  using WayMask = std::uint64_t;
  static constexpr WayMask kAnyWay = ~WayMask{0};
  static constexpr unsigned kMaskedWays = 64;
  static_assert(kMaskedWays <= SetRows::kMaxWays);

  Tags(unsigned sets, unsigned ways)
      : ways_(ways),
        shift_(static_cast<unsigned>(std::countr_zero(std::bit_ceil(ways)))),
        way_(std::size_t{sets} << shift_) {
    RADDLE_ASSERT(ways >= 1 && ways <= kMaxWays);
    if (ways <= SetRows::kMaxWays) rows_.emplace(sets, ways);
    else lists_.emplace(sets, ways, shift_);
  }

  /// Handle of a present line (some sector valid, or locked), or kAbsent. Handles hold until the
  /// line is pushed out.
  unsigned find(unsigned set, std::uint32_t line) const {
    if (!rows_) return find_in_list(set, line);
    for (std::uint64_t match = rows_->matching(set, line); match != 0; match &= match - 1)
      if (const unsigned at = handle(set, lowest(match)); is_at(at, line)) return at;
    return kAbsent;
  }
  std::uint32_t line(unsigned at) const { return way_[at].line; }
  std::uint8_t valid(unsigned at) const { return way_[at].valid; }
  std::uint8_t dirty(unsigned at) const { return way_[at].dirty; }
  /// Hints that the set will soon be looked up.
  void prefetch(unsigned set) const {
    if (rows_) rows_->prefetch(set);
  }
  /// The same for the look-up of a line where sets are large; small ones are mostly at hand.
  void prefetch_find(std::uint32_t line) const {
    if (!rows_) lists_->prefetch_line(line);
  }
  /// The same for what a look-up of the line finds, or for the way that is given away next.
  void prefetch_line(unsigned set, std::uint32_t line) const {
    if (!rows_) return prefetch_find(line);
    if (const std::uint64_t match = rows_->matching(set, line); match != 0)
      raddle::prefetch(&way_[handle(set, lowest(match))]);
  }
  void prefetch_victim(unsigned set) const { raddle::prefetch(&way_[handle(set, oldest(set))]); }
  unsigned ways() const { return ways_; }
  /// Handles are below this.
  std::size_t handles() const { return way_.size(); }
  /// visit(handle) for every line with a valid sector.
  template <class F>
  void each(F visit) const {
    for (unsigned at = 0; at < way_.size(); ++at)
      if (way_[at].valid != 0) visit(at);
  }
  void add_valid(unsigned at, std::uint8_t sectors) { way_[at].valid |= sectors; }
  void mark_dirty(unsigned at, std::uint8_t sectors) { way_[at].dirty |= sectors; }
  void clean(unsigned at) { way_[at].dirty = 0; }
  /// Of a set: lines with a dirty sector, and that of them which was used longest ago.
  struct DirtyLines {
    unsigned count = 0, oldest = kAbsent;
  };
  DirtyLines dirty_lines(unsigned set) const {
    const Way* const ways = &way_[set << shift_];
    DirtyLines out;
    out.oldest = oldest(set, [&](unsigned w) { return ways[w].dirty != 0; });
    for (unsigned w = 0; w < ways_; ++w) out.count += ways[w].dirty != 0 ? 1 : 0;
    return out;
  }
  /// Most recently used from now on.
  void touch(unsigned at) {
    if (rows_) rows_->touch(set_of(at), way_in_set(at));
    else touch_in_list(at);
  }
  /// Adds sectors to a line, making room for it in its set if it is absent, and touches it.
  /// Precondition: a way of the set is not locked.
  Victim fill(unsigned set, std::uint32_t line, std::uint8_t sectors, std::uint8_t dirty) {
    unsigned at = find(set, line);
    return fill(set, line, sectors, dirty, at);
  }
  /// The same when find() has been asked already; `at` becomes the line's handle.
  Victim fill(unsigned set, std::uint32_t line, std::uint8_t sectors, std::uint8_t dirty,
              unsigned& at, WayMask among = kAnyWay) {
    Victim out{0, 0, 0};
    if (at == kAbsent) {
      at = among == kAnyWay ? victim(set) : victim(set, among);
      out = place(at, line);
    }
    way_[at].valid |= sectors;
    way_[at].dirty |= dirty;
    touch(at);
    return out;
  }
  /// Least recently used way that is not locked, or kAbsent.
  unsigned victim(unsigned set) const {
    const unsigned at = handle(set, oldest(set));
    if (way_[at].locked == 0) return at;
    const Way* const ways = &way_[set << shift_];
    return oldest(set, [ways](unsigned w) { return ways[w].locked == 0; });
  }
  /// The same of some ways. Precondition: the mask names one of the cache's.
  unsigned victim(unsigned set, WayMask among) const {
    RADDLE_ASSERT(ways_ <= kMaskedWays && (among & low_bits(ways_)) != 0);
    const Way* const ways = &way_[set << shift_];
    return oldest(
        set, [ways, among](unsigned w) { return (among >> w & 1) != 0 && ways[w].locked == 0; });
  }
  /// Of a set: ways that hold nothing and wait for nothing, those that are not locked, and how many
  /// of the set's ways were used later than each. For who decides about replacement himself.
  struct Set {
    WayMask empty = 0, unlocked = 0;
    std::span<const std::uint8_t> order;
  };
  Set look(unsigned set) const {
    RADDLE_ASSERT(ways_ <= kMaskedWays);
    Set out{0, 0, rows_->order(set)};
    for (unsigned w = 0; w < ways_; ++w) {
      const Way& way = way_[(set << shift_) + w];
      out.unlocked |= WayMask{way.locked == 0} << w;
      out.empty |= WayMask{(way.valid | way.locked) == 0} << w;
    }
    return out;
  }
  unsigned handle(unsigned set, unsigned way) const { return (set << shift_) + way; }
  unsigned set_of(unsigned at) const { return at >> shift_; }
  unsigned way_in_set(unsigned at) const { return at & ((1u << shift_) - 1); }
  /// Gives the way to `line`, no sector valid yet. What was there is returned.
  Victim place(unsigned at, std::uint32_t line) {
    Way& way = way_[at];
    const Victim out{way.line, way.valid, way.dirty};
    const unsigned set = set_of(at);
    if (rows_) rows_->place(set, way_in_set(at), line);
    else lists_->place(set, way_in_set(at), way.placed != 0, way.line, line);
    way = {.line = line, .valid = 0, .dirty = 0, .locked = way.locked, .placed = 1};
    return out;
  }
  void lock(unsigned at) {
    locks_ += way_[at].locked == 0;
    way_[at].locked = 1;
  }
  void unlock(unsigned at) {
    locks_ -= way_[at].locked;
    way_[at].locked = 0;
  }
  /// Forgets the sectors of a line; an unlocked way becomes the first to be given away.
  void invalidate(unsigned at) {
    way_[at].valid = way_[at].dirty = 0;
    if (way_[at].locked != 0) return;
    if (rows_) rows_->make_oldest(set_of(at), way_in_set(at));
    else lists_->make_oldest(set_of(at), way_in_set(at));
  }
  /// Invalidates every way, from the first to the last.
  void invalidate_all() {
    for (unsigned set = 0; set < way_.size() >> shift_; ++set) {
      const unsigned begin = set << shift_;
      if (locks_ != 0) {
        for (unsigned w = 0; w < ways_; ++w) invalidate(begin + w);
        continue;
      }
      for (unsigned w = 0; w < ways_; ++w) way_[begin + w].valid = way_[begin + w].dirty = 0;
      if (rows_) rows_->order_by_number(set);
      else lists_->order_by_number(set);
    }
  }

 private:
  struct Way {
    std::uint32_t line;
    std::uint8_t valid, dirty;  // sectors
    std::uint8_t locked;
    std::uint8_t placed;  // has ever held a line
  };

  bool is_at(unsigned at, std::uint32_t line) const {
    return way_[at].line == line && (way_[at].valid | way_[at].locked) != 0;
  }
  /// Out of line: sets of rows do not pay for what it needs.
  [[gnu::noinline]] unsigned find_in_list(unsigned set, std::uint32_t line) const {
    const auto is = [this, set, line](unsigned w) { return is_at(handle(set, w), line); };
    return handle_of(set, lists_->find(set, line, kAbsent, is));
  }
  [[gnu::noinline]] void touch_in_list(unsigned at) { lists_->touch(set_of(at), way_in_set(at)); }
  unsigned handle_of(unsigned set, unsigned way) const {
    return way == kAbsent ? kAbsent : handle(set, way);
  }
  unsigned oldest(unsigned set) const { return rows_ ? rows_->oldest(set) : lists_->oldest(set); }
  /// Handle of the way that was used longest ago of those of which is(way) holds, or kAbsent.
  template <class Is>
  unsigned oldest(unsigned set, Is is) const {
    return handle_of(set,
                     rows_ ? rows_->oldest(set, kAbsent, is) : lists_->oldest(set, kAbsent, is));
  }

  unsigned ways_, shift_;        // sets are 1 << shift_ ways apart
  unsigned locks_ = 0;           // locked ways of all sets
  std::optional<SetRows> rows_;  // one of the two, by the number of ways
  std::optional<SetLists> lists_;
  ZeroedArray<Way> way_;
};

}  // namespace raddle::timing
