// Which allocations a run's accesses of memory go to, kernel by kernel, and what the caches and
// DRAM have to do for each: for people, who know their buffers and not addresses.
//
// Accesses are counted where and as the run's own counters count them, so that sums over all rows
// are the run's. What belongs to no allocation of the host and to no variable is in a row of its
// own: instructions, the heap of kernels, parameters of their launches, and everything of a
// recording that does not say what was allocated. So is local memory, as far as an L1D knows it: at
// the L2 it is part of the rest. Allocations of the same place and size are one: a loop that allocates and frees
// again and again has one row.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/policy/observer.h"
#include "raddle/trace/allocation.h"

namespace raddle::analysis {

/// Lines that instructions touch, one by one, are counted at the L1D; requests at the L2.
struct AllocationCounters {
  std::uint64_t loads = 0, stores = 0, atomics = 0;  ///< of lines
  std::uint64_t l1d_hits = 0, l1d_pending_hits = 0, l1d_misses = 0;
  std::uint64_t l2_hits = 0, l2_pending_hits = 0, l2_misses = 0;
  std::uint64_t dram_sectors_read = 0, dram_sectors_written = 0;
  AllocationCounters& operator+=(const AllocationCounters& o);
  bool operator==(const AllocationCounters&) const = default;
};

class AllocationTraffic {
 public:
  struct Row {
    enum class Kind : std::uint8_t { Program, Variable, Local, Rest } kind = Kind::Rest;
    std::string variable = {};  ///< its name
    unsigned number = 0;        ///< of Program: 1, 2 ... in order of first sight, then of addresses
    Address at = 0;             ///< of Program and Variable
    std::uint64_t bytes = 0;
    /// Arguments that pointed into it: of which kernel, from 0.
    std::map<std::string, std::vector<std::uint32_t>> arguments = {};
    AllocationCounters counters = {};
    std::map<std::string, AllocationCounters> kernels = {};
    std::uint64_t lines_touched = 0;  ///< different ones that requests to the L2 have been for
  };

  /// `line_bytes`: of the machine.
  AllocationTraffic(unsigned sms, unsigned slices, std::uint32_t line_bytes);
  ~AllocationTraffic();
  AllocationTraffic(const AllocationTraffic&) = delete;
  AllocationTraffic& operator=(const AllocationTraffic&) = delete;

  policy::L1Observer& of_sm(unsigned sm);
  policy::L2Observer& of_slice(unsigned slice);
  /// As launches from the next submitted() on find memory.
  void allocated(const trace::Allocations& allocations);
  /// In the order in which the GPU numbers launches, while it does not run.
  void submitted(const std::string& kernel, const std::vector<trace::PointerArgument>& pointers);

  /// Whether anybody has said what is allocated.
  bool known() const { return known_; }
  /// Those that were touched, in the order of their numbers; variables, local memory, and the rest
  /// come last.
  std::vector<Row> rows() const;

 private:
  static constexpr unsigned kRest = 0, kLocal = 1, kFirst = 2;  // rows
  struct Range {
    std::uint32_t first, last;  ///< lines
    std::uint32_t row;
  };
  using Ranges = std::vector<Range>;  // in order
  struct Launch {
    std::uint32_t kernel;
    std::shared_ptr<const Ranges> ranges;
  };
  class Table;
  class SmTraffic;
  class SliceTraffic;
  /// By launch slot. Written when a launch's warps start, before anything of it is under way; the
  /// launch that had the slot before is over then.
  using Slots = std::array<std::atomic<const Launch*>, 256>;

  std::uint32_t row_of(const trace::Allocation& allocation);
  void touch(std::uint32_t row, std::uint32_t line);

  std::uint32_t line_bytes_;
  bool known_ = false;
  std::vector<Row> rows_;
  std::map<std::pair<std::string, std::pair<Address, std::uint64_t>>, std::uint32_t> row_of_;
  std::map<std::string, std::uint32_t, std::less<>> kernel_of_;
  std::vector<std::string> kernels_;
  std::shared_ptr<const Ranges> ranges_;
  std::deque<Launch> launches_;  // stays where it is
  Slots slots_{};
  /// By row: a bit for each line, set by any slice.
  std::vector<std::vector<std::atomic<std::uint64_t>>> touched_;
  std::vector<std::unique_ptr<SmTraffic>> sms_;
  std::vector<std::unique_ptr<SliceTraffic>> slices_;
};

}  // namespace raddle::analysis
