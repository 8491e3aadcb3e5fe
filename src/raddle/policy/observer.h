// What a policy may learn from an SM's first-level data cache: every access, eviction and fill, in
// the order in which they happen, and who a warp slot stands for. Enough for victim tags and
// lost-locality scores (CCWS), for replaying the accesses in a cache of another kind, and for
// classes of locality. And what an analysis may learn from a slice of the L2. An observer decides
// nothing and changes nothing; while nobody observes, a cache pays one test of a pointer.
#pragma once
#include <cstdint>

#include "raddle/base/types.h"

namespace raddle::policy {

enum class L1Kind : std::uint8_t { Load, Store, Atomic /* and reductions */ };
enum class L1Outcome : std::uint8_t {
  Hit,         ///< all sectors are there (store: of a cache that keeps written data)
  PendingHit,  ///< all that is missing is on its way
  Miss,        ///< sectors are asked for
  Refused,     ///< no MSHR, merge slot, way or queue place; told at the first refusal only
  Forwarded,   ///< goes to the L2 whatever the cache holds: bypassing load, written-through store
};

/// One line that a warp's instruction touches.
struct L1Access {
  Cycle at = 0;
  std::uint32_t line = 0;    ///< address / line size of the machine
  std::uint32_t inst = 0;    ///< index in the kernel's code: the PC
  LaneMask lanes = 0;        ///< that touch the line; where it is half of a recorded one, of both
  std::uint8_t sectors = 0;  ///< touched, widened to what the cache fetches
  std::uint8_t keeps = 0;    ///< store: of these, what is valid afterwards even if it was absent
  std::uint8_t warp = 0;     ///< slot of the SM
  std::uint8_t kernel = 0;   ///< launch slot
  L1Kind kind = L1Kind::Load;
  bool local = false;   ///< local memory
  bool bypass = false;  ///< a load or store whose instruction asks to go past the cache
  L1Outcome outcome = L1Outcome::Hit;
  TenantId tenant{};
};

/// A slot's warp from now on. Accesses of the slot's former warp are over.
struct WarpStart {
  Cycle at;
  std::uint64_t launch;        ///< number of the launch, in order of submission
  std::uint32_t block, index;  ///< of the launch; warp of the block
  std::uint8_t warp;           ///< slot of the SM
  std::uint8_t kernel;         ///< launch slot
  TenantId tenant{};
};

/// A line leaves the cache.
struct L1Eviction {
  enum class Why : std::uint8_t {
    Replaced,     ///< another line takes its way
    Written,      ///< a store of a write-evict cache
    Invalidated,  ///< an atomic, a bypassing access or an acquire
    Flushed,      ///< a kernel starts
  };
  Cycle at;
  std::uint32_t line;
  std::uint8_t sectors, dirty;  ///< valid; to be written back
  std::uint8_t brought_by;      ///< warp slot whose access brought the line
  std::uint8_t used_by;         ///< warp slot that touched it last
  Why why;
};

/// Data of a request has come.
struct L1Fill {
  Cycle at;
  std::uint32_t line;
  std::uint8_t sectors;
  std::uint8_t warp;  ///< slot whose access missed first
};

/// Implemented by policies and analyses. Called by one SM, from one thread at a time.
class L1Observer {
 public:
  virtual ~L1Observer() = default;
  virtual void access(const L1Access&) {}
  virtual void evicted(const L1Eviction&) {}
  virtual void filled(const L1Fill&) {}
  /// A kernel starts and the cache is emptied; after the evictions this causes, before the kernel's
  /// first warp starts.
  virtual void flushed(Cycle) {}
  /// After it was emptied: from now on it has so many sets and ways (L1Ds that share a memory with
  /// shared memory). The size before the first such call is that of the machine file.
  virtual void resized(Cycle, unsigned /*sets*/, unsigned /*ways*/) {}
  virtual void warp_started(const WarpStart&) {}
};

enum class L2Outcome : std::uint8_t { Hit, PendingHit, Miss };  ///< as counted for its kernel

/// What one slice of the L2 does. Called by one partition, from one thread at a time. `kernel` is
/// the launch slot of whose request it is; of a line that is pushed out, the one that pushes.
class L2Observer {
 public:
  virtual ~L2Observer() = default;
  /// A request that is served, once. `sectors`: that it asks for or writes.
  virtual void access(std::uint32_t line, std::uint8_t sectors, std::uint8_t kernel, L2Outcome) = 0;
  /// `bytes`: over DRAM's bus, in whole bursts.
  virtual void fetched(std::uint32_t line, std::uint32_t bytes, std::uint8_t kernel) = 0;
  /// Goes to DRAM: pushed out, or written through.
  virtual void written(std::uint32_t line, std::uint32_t bytes, std::uint8_t kernel) = 0;
};

}  // namespace raddle::policy
