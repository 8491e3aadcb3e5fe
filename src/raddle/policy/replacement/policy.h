// Level "replacement": which line of a set of an L1D gives its way to the line of a miss. One
// instance for each SM. Empty ways are given out first, by the cache; a policy is asked when there
// is none. What it wants to know besides it gathers from what it is told of accesses and places.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/base/fields.h"
#include "raddle/base/mask.h"
#include "raddle/base/types.h"

namespace raddle::policy {

/// All that a policy may see of the set when it is asked. A mask has a bit for each way.
struct SetView {
  unsigned set;
  std::uint32_t line;        ///< wants a way
  TenantId tenant;           ///< whose miss it is
  std::uint64_t candidates;  ///< never empty: hold lines that may be given away, and whose ways a
                             ///< scheme lets the tenant fill
  std::uint64_t held;        ///< the candidates, and the ways that may not be given away now
  std::span<const std::uint8_t> order;  ///< by way: so many of the set's were used later
  std::span<const TenantId> owner;      ///< by way, of `held`: whose access has brought the line

  /// The least recently used. Precondition: not empty.
  unsigned oldest(std::uint64_t ways) const {
    RADDLE_ASSERT(ways != 0);
    unsigned best = lowest(ways);
    for (; ways != 0; ways &= ways - 1)
      if (const unsigned way = lowest(ways); order[way] > order[best]) best = way;
    return best;
  }
  /// Ways that hold lines of a tenant.
  std::uint64_t owned_by(TenantId whose) const {
    std::uint64_t out = 0;
    for (std::uint64_t left = held; left != 0; left &= left - 1)
      if (const unsigned way = lowest(left); owner[way] == whose) out |= std::uint64_t{1} << way;
    return out;
  }
};

/// A load, or a store that finds its line or brings it; told once, when the cache has taken it.
struct CacheAccess {
  static constexpr unsigned kNoWay = ~0u;
  Cycle now;
  unsigned set;
  std::uint32_t line;
  TenantId tenant;
  unsigned way;  ///< that holds the line, or waits for it; kNoWay: none did
};

/// A line has taken a way: at its miss, where misses reserve ways, else when its data have come.
struct CachePlace {
  unsigned set, way;
  std::uint32_t line;
  TenantId tenant;
  bool replaces;  ///< another line had the way until now
};

/// A strategy.
class ReplacementPolicy {
 public:
  static constexpr std::string_view kLevel = "replacement";
  static constexpr unsigned kMaxWays = 64;  ///< of a cache that asks
  struct Context {
    unsigned sm = 0, sets = 1, ways = 1;  ///< sets: of the largest cache that a kernel leaves
    std::uint64_t seed = 0;
  };
  virtual ~ReplacementPolicy() = default;
  /// true: the order of use decides alone, as it does in the cache itself, which then neither asks
  /// nor tells.
  virtual bool is_lru() const { return false; }
  /// One of view.candidates. A miss that is refused for want of something else asks again, so the
  /// answer changes nothing: placed() tells what has come of it.
  virtual unsigned victim(const SetView& view) const = 0;
  virtual void accessed(const CacheAccess&) {}
  virtual void placed(const CachePlace&) {}
  /// The cache has been emptied.
  virtual void flushed() {}
  virtual void visit_statistics(FieldVisitor&) {}
};

}  // namespace raddle::policy
