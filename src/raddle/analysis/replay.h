// Replays an SM's accesses in a cache that is nothing but a cache: data is there at once, there are
// no MSHRs, queues or refusals (CCWS, section 4: SAGCS; rules in Raddle's spec, mechanisms 2.3). So
// a load that merged with a miss under way (a pending hit of the timing run) is a hit here.
//
// Rules. Only loads hit or miss. A store does to a line what the machine's write policy does:
// evicts it, leaves it, or leaves valid what was written, in a way of its own if the line is absent
// (Record::sectors). A store whose line was on its way in the timing run (Record::coming) evicts
// nothing, as there: what came is valid afterwards. Atomics are performed at the L2 and evict, as
// stores and loads do that ask to go past the cache, the latter only where the L1D may hold dirty
// data. Every load that misses takes a way; an empty one first. A flush empties the cache.
//
// Replacement. lru: the line whose last use is longest ago. belady (MIN): the line whose next load
// is furthest; a line whose next event is an eviction or a store that leaves it valid without what
// it held, or that has none, is infinitely far; ties: lowest way. No policy that must take every
// missing line has fewer misses, if sectors are lines (tested against trying everything). Where a
// line has several sectors MIN is not known to be cheap to find; the furthest line is taken all the
// same. unbounded: no line ever gives way.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "raddle/analysis/locality.h"
#include "raddle/analysis/stream.h"

namespace raddle::analysis {

/// What a replay must know of the machine's L1D.
struct L1Rules {
  std::uint32_t line_bytes = 128;
  std::uint8_t line_sectors = 1;  ///< mask of a whole line
  bool store_evicts = true;       ///< global
  bool local_store_evicts = true;
  bool bypassing_load_evicts = false;
};

struct Geometry {
  std::uint32_t sets = 32, ways = 8;
  bool follows = false;  ///< as the L1D of the run: other sets and ways when that was resized
};

enum class Replacement : std::uint8_t { Lru, Belady, Unbounded };
inline constexpr std::array<std::string_view, 3> kReplacementNames = {"lru", "belady", "unbounded"};

/// An SM's accesses ready for any number of replays: 16 bytes each in memory, 20 for belady.
class Accesses {
 public:
  Accesses(const Stream& stream, const L1Rules& rules);

  enum class Kind : std::uint8_t { Load, Store, Evict, Flush, Resize };
  struct Access {
    std::uint32_t line;  ///< number in lines(); resize: sets
    LaneMask lanes;      ///< resize: ways
    std::uint32_t warp;  ///< number of the warp on this SM: a slot's next warp has another
    std::uint8_t sectors;
    Kind kind;
  };
  const std::vector<Access>& all() const { return access_; }
  /// Address / line size of each line, in order of first use.
  const std::vector<std::uint32_t>& lines() const { return line_; }
  /// The largest of `first` and what the L1D was resized to.
  Geometry largest(const Geometry& first) const;
  /// Of each access: the access that is the line's next load, or kNoNext if something ends the
  /// line's life first. One pass from the end, at the first call.
  static constexpr std::uint32_t kNoNext = ~0u;
  const std::vector<std::uint32_t>& next_loads();

 private:
  std::uint8_t whole_;
  std::vector<std::uint32_t> next_;
  std::vector<Access> access_;
  std::vector<std::uint32_t> line_;
};

struct ReplayCounts {
  std::uint64_t accesses = 0, hits = 0, misses = 0;
  HitClasses classes;  ///< of the hits; owner = the warp whose load or store took the way
  ReplayCounts& operator+=(const ReplayCounts& o);
};

/// Sets are taken modulo their number. Precondition: sets and ways are at least 1. O(n log ways).
ReplayCounts replay(Accesses& accesses, Replacement replacement, const Geometry& geometry);

}  // namespace raddle::analysis
