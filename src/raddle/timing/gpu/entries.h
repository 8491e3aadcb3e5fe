// The kernel distributor's entries (KDU). An entry is given to one kernel at a time and to the
// groups of blocks that join it; its number is the launch slot under which SMs and memory count
// what the kernel does. Numbers are given out in turn, so that what a kernel leaves behind
// (write-backs) is still counted as its own for a while; how many may be taken at once is
// kernels.entries.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "raddle/base/mask.h"
#include "raddle/timing/gpu/grids.h"

namespace raddle::timing {

class Entries {
 public:
  struct Entry {
    std::vector<GridId> grids;  // that have not ended: the kernel and those that have joined it
    BlockNeeds needs;
    const DecodedKernel* code = nullptr;
    TenantId tenant{};
    SmSet known;  // SMs that have had one of its blocks
  };
  explicit Entries(std::uint32_t entries)
      : entries_(kernel_slots(entries)), vacant_(entries), last_(kernel_slots(entries) - 1) {
    RADDLE_ASSERT(entries >= 1 && entries <= kKernelSlots);
  }

  bool full() const { return vacant_.empty(); }
  bool empty() const { return !taken_.any(); }
  unsigned free() const { return static_cast<unsigned>(vacant_.size()); }
  const KernelSet& taken() const { return taken_; }
  const Entry& operator[](unsigned entry) const { return entries_[entry]; }
  Entry& operator[](unsigned entry) { return entries_[entry]; }

  struct Vacancy {
    Cycle since = 0;
    bool used = false;  // by an earlier kernel
  };
  /// Of the entry that the next kernel will take. Precondition: !full().
  const Vacancy& vacancy() const { return vacant_.front(); }

  /// A kernel takes one. Precondition: !full().
  unsigned take(GridId grid, const GridLaunch& launch) {
    RADDLE_ASSERT(!full());
    do last_ = (last_ + 1) % static_cast<unsigned>(entries_.size());
    while (taken_.test(last_));
    vacant_.erase(vacant_.begin());
    taken_.set(last_);
    Entry& entry = entries_[last_];
    entry.grids.assign(1, grid);
    entry.needs = launch.needs;
    entry.code = launch.code;
    entry.tenant = launch.tenant;
    entry.known = {};
    return last_;
  }
  /// Entries whose kernel runs the same code with blocks of the same size, for the same tenant.
  KernelSet alike(const GridLaunch& launch) const {
    KernelSet out;
    taken_.each([&](unsigned i) {
      const Entry& entry = entries_[i];
      if (entry.code == launch.code && entry.needs == launch.needs && entry.tenant == launch.tenant)
        out.set(i);
    });
    return out;
  }
  /// A group joins the kernel there. Precondition: the entry is taken.
  void join(unsigned entry, GridId grid) {
    RADDLE_ASSERT(taken_.test(entry));
    entries_[entry].grids.push_back(grid);
  }
  /// The grid has ended; with the last one the entry is vacant.
  void end(unsigned entry, GridId grid, Cycle now) {
    RADDLE_ASSERT(taken_.test(entry));
    const std::size_t found = std::erase(entries_[entry].grids, grid);
    RADDLE_ASSERT(found == 1);
    if (!entries_[entry].grids.empty()) return;
    taken_.clear(entry);
    vacant_.push_back({now, true});
  }

 private:
  std::vector<Entry> entries_;   // by number
  std::vector<Vacancy> vacant_;  // those free longest first
  KernelSet taken_;
  unsigned last_;  // number that was given out last
};

}  // namespace raddle::timing
