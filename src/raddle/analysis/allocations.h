// Which allocations a run's accesses of memory go to, kernel by kernel, and what the caches and
// DRAM have to do for each: for people, who know their buffers and not addresses.
//
// Accesses are counted where and as the run's own counters count them, so that sums over all rows
// are the run's. What belongs to no allocation of the host and to no variable is in rows of
// regions (local memory, constants ...) and else in the rest: the heap of kernels, parameters of
// their launches, and everything of a recording that does not say what was allocated. Allocations
// of the same place and size are one: a loop that allocates and frees again and again has one row.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "raddle/policy/observer.h"
#include "raddle/trace/allocation.h"

namespace raddle::analysis {

struct AllocationCounters {
  std::uint64_t loads = 0, stores = 0, atomics = 0;  ///< of lines, by the accesses of warps
  std::uint64_t l1d_hits = 0, l1d_pending_hits = 0, l1d_misses = 0;
  std::uint64_t l2_hits = 0, l2_pending_hits = 0, l2_misses = 0;
  std::uint64_t dram_read_bytes = 0, dram_written_bytes = 0;
  AllocationCounters& operator+=(const AllocationCounters& o);
  bool operator==(const AllocationCounters&) const = default;
};

class AllocationTraffic {
 public:
  struct Kernel {
    std::string name;
    AllocationCounters counters = {};
  };
  struct Row {
    enum class Kind : std::uint8_t { Program, Variable, Region, Rest } kind = Kind::Rest;
    std::string name = {};     ///< of Variable and Region
    std::uint64_t number = 0;  ///< of Program: of the first one, as the program has asked for them
    std::uint64_t times = 0;   ///< of Program: how many of this place and size launches have found
    Address at = 0;            ///< of Program and Variable
    std::uint64_t bytes = 0;
    /// Arguments that pointed into it, counted from 0, by kernel in order of first launches.
    std::vector<std::pair<std::string, std::vector<std::uint32_t>>> arguments = {};
    AllocationCounters counters = {};
    std::vector<Kernel> kernels = {};  ///< in order of first launches
    /// Of Program and Variable: in sectors, how many it has and how many of these the L2 was asked
    /// for.
    std::uint64_t sectors = 0, touched_sectors = 0;
  };
  /// Lines of no allocation.
  struct Region {
    std::string name;
    std::uint32_t first, last;
  };
  struct Geometry {
    unsigned sms = 1, slices = 1;
    std::uint32_t line_bytes = 128, sector_bytes = 32;
  };

  /// The first region is local memory, whose lines an L1D knows wherever they are.
  AllocationTraffic(const Geometry& geometry, std::vector<Region> regions);
  ~AllocationTraffic();
  AllocationTraffic(const AllocationTraffic&) = delete;
  AllocationTraffic& operator=(const AllocationTraffic&) = delete;

  policy::L1Observer& of_sm(unsigned sm);
  policy::L2Observer& of_slice(unsigned slice);
  /// What launches from the next submitted() on find otherwise.
  void allocated(const trace::AllocationChanges& changes);
  /// In the order in which the GPU numbers launches, while it does not run.
  void submitted(const std::string& kernel, const std::vector<trace::PointerArgument>& pointers);

  /// Whether somebody has said what is allocated, or nothing was launched.
  bool known() const { return known_ || launches_.empty(); }
  /// Allocations by their numbers, touched or not; then variables, regions and the rest, without
  /// regions and a rest that nobody touches.
  std::vector<Row> rows() const;

 private:
  static constexpr std::uint32_t kRest = 0, kLocal = 1;        // rows
  static constexpr std::uint64_t kNotYet = ~std::uint64_t{0};  // freed
  /// An allocation: there for launches of versions [made, freed).
  struct Life {
    std::uint64_t made, freed;
    std::uint32_t row;
  };
  using Lives = std::vector<Life>;  // of the same lines, in order
  struct Launch {
    std::uint32_t kernel;
    std::uint64_t version;  ///< how often memory had changed when it was submitted
  };
  /// What a line was at a time.
  struct Found {
    std::uint32_t first = 1, last = 0;  ///< lines
    Life life = {0, 0, kRest};
    bool holds(std::uint32_t line, std::uint64_t version) const {
      return line >= first && line <= last && version >= life.made && version < life.freed;
    }
  };
  class Table;
  class SmTraffic;
  class SliceTraffic;
  /// By launch slot. Written when a launch's warps start, before anything of it is under way; the
  /// launch that had the slot before is over then.
  using Slots = std::array<std::atomic<const Launch*>, 256>;
  /// A bit for each of some sectors of a row that follow one another, set by any slice. They are
  /// made when the first one is touched: what a recording says of sizes costs nothing.
  static constexpr std::uint64_t kLeafSectors = 1 << 15;
  using Leaf = std::array<std::atomic<std::uint64_t>, kLeafSectors / 64>;
  using LeafKey = std::pair<std::uint32_t, std::uint64_t>;  // row, place among its leaves

  std::uint32_t row_of(const trace::Allocation& allocation);
  /// Whose line it is for launches of that version.
  Found find(std::uint32_t line, std::uint64_t version) const;
  Leaf& leaf(const LeafKey& key);
  /// Row and kernel, of what an SM or a slice counts.
  static std::uint64_t key_of(std::uint32_t kernel, std::uint32_t row) {
    return std::uint64_t{kernel} << 32 | row;
  }

  std::uint32_t line_bytes_, sectors_per_line_;
  bool known_ = false;
  std::vector<Found> regions_;
  std::vector<Row> rows_;
  std::map<std::pair<std::string, std::pair<Address, std::uint64_t>>, std::uint32_t> row_of_;
  std::map<std::string, std::uint32_t, std::less<>> kernel_of_;
  std::vector<std::string> kernels_;
  /// By first and last line; those of 2^(n - 1) to 2^n - 1 lines more than one in places_[n], so
  /// that few of them can hold a line.
  std::array<std::map<std::pair<std::uint32_t, std::uint32_t>, Lives>, 33> places_;
  std::map<Address, Lives*> alive_;  // the last one, by start
  std::uint64_t version_ = 0;
  std::deque<Launch> launches_;  // stays where it is
  Slots slots_{};
  std::mutex leaves_mutex_;  // slices are on several threads
  std::map<LeafKey, std::unique_ptr<Leaf>> leaves_;
  std::vector<std::unique_ptr<SmTraffic>> sms_;
  std::vector<std::unique_ptr<SliceTraffic>> slices_;
};

}  // namespace raddle::analysis
