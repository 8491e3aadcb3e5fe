#include "raddle/analysis/replay.h"

#include "raddle/analysis/line_map.h"
#include "raddle/base/error.h"

namespace raddle::analysis {

namespace {

using Kind = Accesses::Kind;
using Access = Accesses::Access;

Kind kind_of(const Record& r, const L1Rules& rules) {
  switch (r.kind()) {
    case Record::Kind::Load:
      return r.bypass ? Kind::Evict : Kind::Load;
    case Record::Kind::Store: {
      const bool evicts = r.local ? rules.local_store_evicts : rules.store_evicts;
      return r.bypass || evicts ? Kind::Evict : Kind::Store;
    }
    default:
      return Kind::Evict;
  }
}

/// The ways of one set, the one to give away first at the top: a binary heap of (largest key,
/// lowest way). The keys of a set's ways are neighbours in memory.
class Sets {
 public:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  explicit Sets(const Geometry& g) : ways_(g.ways) {
    const std::size_t slots = std::size_t{g.sets} * g.ways;
    key_.assign(slots, kEmpty);
    heap_.resize(slots);
    place_.resize(slots);
    for (std::size_t s = 0; s < slots; ++s)
      heap_[s] = place_[s] = static_cast<std::uint32_t>(s % ways_);
  }

  /// Slots are ways counted over all sets.
  std::uint32_t top(std::uint32_t set) const { return set * ways_ + heap_[set * ways_]; }
  void set_key(std::uint32_t set, std::uint32_t slot, std::uint64_t key) {
    const std::uint32_t base = set * ways_, way = slot - base;
    const bool up = key > key_[slot];
    key_[slot] = key;
    std::uint32_t at = place_[slot];
    if (up) {
      for (; at != 0; at = (at - 1) / 2) {
        const std::uint32_t parent = heap_[base + (at - 1) / 2];
        if (!before(base, way, parent)) break;
        put(base, at, parent);
      }
    } else {
      for (std::uint32_t child; (child = 2 * at + 1) < ways_; at = child) {
        if (child + 1 < ways_ && before(base, heap_[base + child + 1], heap_[base + child]))
          ++child;
        if (!before(base, heap_[base + child], way)) break;
        put(base, at, heap_[base + child]);
      }
    }
    put(base, at, way);
  }

 private:
  bool before(std::uint32_t base, std::uint32_t a, std::uint32_t b) const {
    return key_[base + a] != key_[base + b] ? key_[base + a] > key_[base + b] : a < b;
  }
  void put(std::uint32_t base, std::uint32_t at, std::uint32_t way) {
    heap_[base + at] = way;
    place_[base + way] = at;
  }
  std::uint32_t ways_;
  std::vector<std::uint64_t> key_;           // by slot
  std::vector<std::uint32_t> heap_, place_;  // way at a place of its set's heap; place of a slot
};

/// What is known of a line that is there.
struct Line {
  LineOwner owner;
  std::uint8_t valid = 0;  // sectors
};

/// A load of a line with the sectors `line.valid`; true: it hits. The owner is there already.
bool load(const Access& a, Line& line, ReplayCounts& counts) {
  ++counts.accesses;
  const bool hit = (a.sectors & ~line.valid) == 0;
  if (hit) {
    ++counts.hits;
    line.owner.count_hit(a.warp, a.lanes, counts.classes);
  } else {
    ++counts.misses;
    line.valid |= a.sectors;
  }
  line.owner.touch(a.warp, a.lanes);
  return hit;
}

ReplayCounts replay_unbounded(const Accesses& accesses) {
  ReplayCounts counts;
  std::vector<Line> line(accesses.lines().size());
  std::vector<std::uint32_t> brought;  // since the last flush
  for (const Access& a : accesses.all()) {
    if (a.kind == Kind::Resize) continue;  // after a flush
    if (a.kind == Kind::Flush) {
      for (const std::uint32_t n : brought) line[n].valid = 0;
      brought.clear();
      continue;
    }
    Line& here = line[a.line];
    if (a.kind == Kind::Evict) {
      here.valid = 0;
      continue;
    }
    if (here.valid == 0) {
      here.owner = {a.warp, 0};
      brought.push_back(a.line);
    }
    if (a.kind == Kind::Load) {
      load(a, here, counts);
    } else {
      here.valid |= a.sectors;
      here.owner.touch(a.warp, a.lanes);
    }
  }
  return counts;
}

/// A cache of sets and ways. Next: of access i, the load at which its line is needed again.
class BoundedCache {
 public:
  BoundedCache(Accesses& accesses, const Geometry& g, bool belady)
      : accesses_(accesses),
        next_(belady ? &accesses.next_loads() : nullptr),
        follows_(g.follows),
        sets_(g),
        slot_of_(accesses.lines().size(), kNowhere) {
    resize(g);
  }
  ReplayCounts run() {
    const std::vector<Access>& all = accesses_.all();
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const Access& a = all[i];
      if (a.kind == Kind::Flush) flush();
      else if (a.kind == Kind::Evict) evict(a.line);
      else if (a.kind == Kind::Resize) follow({a.line, a.lanes});
      else touch(a, i);
    }
    return counts_;
  }

 private:
  static constexpr std::uint32_t kNowhere = ~0u;
  struct Held {
    Line line;
    std::uint32_t number = kNowhere;
  };
  void touch(const Access& a, std::uint32_t i) {
    std::uint32_t slot = slot_of_[a.line];
    if (slot == kNowhere) {
      if (a.kind == Kind::Store && a.sectors == 0) return;
      slot = sets_.top(set_of_[a.line]);
      if (held_[slot].number != kNowhere) slot_of_[held_[slot].number] = kNowhere;
      else taken_.push_back(slot);
      held_[slot] = {{{a.warp, 0}, 0}, a.line};
      slot_of_[a.line] = slot;
    }
    Line& line = held_[slot].line;
    if (a.kind == Kind::Load) {
      load(a, line, counts_);
    } else {
      line.valid |= a.sectors;
      line.owner.touch(a.warp, a.lanes);
    }
    sets_.set_key(set_of_[a.line], slot, next_ == nullptr ? kOldest - i : (*next_)[i]);
  }
  void evict(std::uint32_t line) {
    const std::uint32_t slot = slot_of_[line];
    if (slot == kNowhere) return;
    held_[slot].number = slot_of_[line] = kNowhere;
    sets_.set_key(set_of_[line], slot, Sets::kEmpty);
  }
  void flush() {
    for (const std::uint32_t slot : taken_)
      if (held_[slot].number != kNowhere) evict(held_[slot].number);
    taken_.clear();
  }
  void follow(const Geometry& g) {
    if (!follows_) return;
    flush();
    resize(g);
  }
  /// Precondition: nothing is held.
  void resize(const Geometry& g) {
    sets_ = Sets(g);
    held_.assign(std::size_t{g.sets} * g.ways, {});
    set_of_.clear();
    for (const std::uint32_t line : accesses_.lines()) set_of_.push_back(line % g.sets);
  }

  static constexpr std::uint64_t kOldest = std::uint64_t{1} << 32;  // the older, the larger the key
  const Accesses& accesses_;
  const std::vector<std::uint32_t>* next_;  // by access; null: LRU
  bool follows_;
  Sets sets_;
  std::vector<Held> held_;                       // by slot
  std::vector<std::uint32_t> slot_of_, set_of_;  // by line
  std::vector<std::uint32_t> taken_;             // slots that were empty, since the last flush
  ReplayCounts counts_;
};

}  // namespace

Accesses::Accesses(const Stream& stream, const L1Rules& rules) : whole_(rules.line_sectors) {
  RADDLE_ASSERT(stream.size() < kNoNext);
  access_.reserve(stream.size());
  LineMap<std::uint32_t> number;
  std::array<std::uint32_t, 64> warp{};  // by slot
  std::uint32_t warps = 0;
  stream.each([&](const Record& record, Cycle) {
    switch (record.kind()) {
      case Record::Kind::WarpStart:
        warp[record.warp] = ++warps;
        return;
      case Record::Kind::Flush:
        access_.push_back({0, 0, 0, 0, Kind::Flush});
        return;
      case Record::Kind::Resize:
        access_.push_back({record.line, record.lanes, 0, 0, Kind::Resize});
        return;
      case Record::Kind::KernelStart:
      case Record::Kind::Gap:
        return;
      default:
        break;
    }
    if (record.kind() == Record::Kind::Load && record.bypass && !rules.bypassing_load_evicts)
      return;
    if (record.coming && kind_of(record, rules) == Kind::Evict) return;
    const auto [at, fresh] =
        number.try_emplace(record.line, static_cast<std::uint32_t>(line_.size()));
    if (fresh) line_.push_back(record.line);
    access_.push_back({*at, record.lanes, warp[record.warp],
                       static_cast<std::uint8_t>(record.sectors), kind_of(record, rules)});
  });
}

const std::vector<std::uint32_t>& Accesses::next_loads() {
  if (next_.size() == access_.size()) return next_;
  next_.resize(access_.size());
  std::vector<std::uint32_t> coming(line_.size(), kNoNext);
  std::uint32_t flush = kNoNext;  // the next one
  for (std::size_t i = access_.size(); i-- > 0;) {
    const Access& a = access_[i];
    if (a.kind == Kind::Resize) continue;
    if (a.kind == Kind::Flush) {
      flush = static_cast<std::uint32_t>(i);
      continue;
    }
    next_[i] = coming[a.line] < flush ? coming[a.line] : kNoNext;
    if (a.kind == Kind::Load) coming[a.line] = static_cast<std::uint32_t>(i);
    else if (a.kind == Kind::Evict || a.sectors == whole_) coming[a.line] = kNoNext;
  }
  return next_;
}

Geometry Accesses::largest(const Geometry& first) const {
  Geometry out = first;
  for (const Access& a : access_)
    if (a.kind == Kind::Resize && a.line * a.lanes > out.sets * out.ways) {
      out.sets = a.line;
      out.ways = a.lanes;
    }
  return out;
}

ReplayCounts& ReplayCounts::operator+=(const ReplayCounts& o) {
  accesses += o.accesses;
  hits += o.hits;
  misses += o.misses;
  classes += o.classes;
  return *this;
}

ReplayCounts replay(Accesses& accesses, Replacement replacement, const Geometry& geometry) {
  if (replacement == Replacement::Unbounded) return replay_unbounded(accesses);
  return BoundedCache(accesses, geometry, replacement == Replacement::Belady).run();
}

}  // namespace raddle::analysis
