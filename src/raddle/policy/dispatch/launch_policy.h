// What the dispatch policies for launches by kernels have in common (rr, tb_pri, smx_bind,
// adaptive_bind; docs/mechanisms/laperm.md): a group of blocks joins the oldest kernel that it may
// join, blocks of a grid leave in order, and the account of where children ran.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "raddle/base/age.h"
#include "raddle/base/error.h"
#include "raddle/base/limits.h"
#include "raddle/policy/dispatch/policy.h"

namespace raddle::policy {

class LaunchPolicy : public DispatchPolicy {
 public:
  std::optional<unsigned> join(const GridInfo&, const KernelSet& entries) override {
    return age_.oldest(entries);
  }
  void on_enter(const GridInfo& grid) override {
    const unsigned entry = grid.entry.value();
    RADDLE_ASSERT(entry < kKernelSlots);
    const bool group = grids_in_[entry]++ != 0;
    if (group) ++stats_.groups;
    else age_.insert(entry);
    if (grid.id >= grids_.size()) grids_.resize(grid.id + 1);
    grids_[grid.id] = {grid.parent, entry, group, 0, grid.blocks, 0};
  }
  void on_grid_end(GridId grid) override {
    RADDLE_ASSERT(grids_[grid].next == grids_[grid].blocks);
    --grids_in_[grids_[grid].entry];
  }
  std::optional<QueueAccess> access() override {
    if (accesses_.empty()) return std::nullopt;
    const QueueAccess next = accesses_.front();
    accesses_.pop_front();
    return next;
  }

 protected:
  struct Known {
    DeviceParent parent;
    unsigned entry = 0;  // of the kernel distributor
    bool group = false;  // has joined a kernel
    std::uint32_t next = 0, blocks = 0;
    std::uint32_t place = 0;  // in memory
    bool all_out() const { return next == blocks; }
  };
  const Known& known(GridId grid) const { return grids_.at(grid); }
  /// Counts kernels in the order in which they have taken entries.
  std::uint64_t since(unsigned entry) const { return age_.number(entry); }

  /// The next block of the grid.
  BlockDispatch next_block(GridId grid, unsigned sm, bool adopted = false) {
    Known& of = grids_[grid];
    RADDLE_ASSERT(!of.all_out());
    if (of.parent.depth != 0) {
      ++stats_.child_blocks;
      if (of.parent.sm == sm) ++stats_.with_parent;
    }
    if (adopted) ++stats_.adopted;
    return {grid, of.next++, sm, adopted};
  }
  /// An entry of a queue goes to memory or is fetched from there.
  void to_memory(GridId grid) {
    grids_[grid].place = static_cast<std::uint32_t>(stats_.overflows++ % kPlaces);
    queue_access(grid, false);
  }
  void from_memory(GridId grid) { queue_access(grid, true); }
  /// Entries of all queues of launches, and of the longest one, are these from now on.
  void count_entries(Cycle now, std::size_t entries, std::size_t longest) {
    stats_.entry_cycles += (now - counted_) * entries_queued_;
    counted_ = now;
    entries_queued_ = entries;
    stats_.longest = std::max<std::uint64_t>(stats_.longest, longest);
  }
  std::size_t entries_queued() const { return entries_queued_; }
  void held() { ++stats_.held; }

  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  void queue_access(GridId grid, bool fetch) {
    accesses_.push_back({grid, grids_[grid].parent.sm, grids_[grid].place, fetch});
  }
  // A ring in memory, larger than an L2. Nothing is kept there but addresses that requests have, so
  // that entries beyond so many at once may share them.
  static constexpr std::uint32_t kPlaces = 1u << 16;
  struct Stats {
    std::uint64_t groups = 0, child_blocks = 0, with_parent = 0, adopted = 0, overflows = 0;
    std::uint64_t longest = 0, entry_cycles = 0, held = 0;
    void visit(FieldVisitor& v) {
      v.field("groups", groups, {}, "groups", "launches that joined a kernel under way");
      v.field("child_blocks", child_blocks, {}, "blocks",
              "of kernels and groups that kernels launched");
      v.field("with_parent", with_parent, {}, "blocks",
              "of these, on the SM of the block that launched them");
      v.field("adopted", adopted, {}, "blocks",
              "given to another SM than the one they were bound to");
      v.field("overflows", overflows, {}, "entries", "that found no place on the chip");
      v.field("longest", longest, {}, "entries",
              "in the distributor's longest queue at most; of rr and tb_pri, whose kernels have "
              "none, groups; what pends for an entry of the distributor is in none");
      v.field("entry_cycles", entry_cycles, {}, "entries * cycles",
              "in all these queues, summed over time");
      v.field("held", held, {}, "cycles", "the block whose turn it was did not fit");
    }
  };
  KernelAge age_;
  std::array<std::uint32_t, kKernelSlots> grids_in_{};  // by entry: grids that have not ended
  std::vector<Known> grids_;                            // by GridId
  std::deque<QueueAccess> accesses_;
  Cycle counted_ = 0;
  std::size_t entries_queued_ = 0;
  Stats stats_;
};

}  // namespace raddle::policy
