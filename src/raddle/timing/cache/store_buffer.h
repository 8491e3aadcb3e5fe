// Store buffer of an SM: lines of stores on their way to the L2, where stores of any warp to a line
// that has not left yet combine into one write.
//
// Rule: a store to a line with a waiting entry joins it (its sectors are added); otherwise it takes
// a free entry; without one it waits at the head of the load/store unit. Entries leave oldest
// first, one a cycle, when the miss queue has room and either no entry is free or a warp of the SM
// waits for its memory operations (at a fence, or at its end). An entry is free again when its
// write is acknowledged; until then every warp with a store in it has one operation under way. So N
// entries bound the stores of an SM to N lines per round trip (Little's law).
//
// Atomics, reductions and stores that bypass the L1 do not use it, and loads do not search it: a
// load may reach the L2 before an older store to its line (time only; values are computed
// elsewhere).
//
// Parts of a line are sectors, which are acknowledged together, or under DeNovo the words of a
// registration, which may be acknowledged by several L1s.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/mask.h"
#include "raddle/base/ring.h"

namespace raddle::timing {

class StoreBuffer {
 public:
  using Parts = std::uint16_t;
  /// What leaves; the entry's number is to come back with the acknowledgement.
  struct OutgoingRequest {
    std::uint32_t line;
    Parts parts;
    std::uint16_t entry;
    std::uint8_t kernel;
  };
  /// No entries: there is no buffer.
  explicit StoreBuffer(unsigned entries) : entry_(entries), waiting_(entries != 0 ? entries : 1) {
    for (unsigned i = entries; i > 0; --i) free_.push_back(static_cast<std::uint16_t>(i - 1));
  }
  bool present() const { return !entry_.empty(); }
  bool full() const { return free_.empty(); }
  bool any_waiting() const { return !waiting_.empty(); }
  bool empty() const { return free_.size() == entry_.size(); }

  bool takes(std::uint32_t line) const { return !full() || find(line) != nullptr; }
  enum class Taken : std::uint8_t { Fresh, Combined, AlreadyWaitedFor };
  /// Precondition: takes(line). Fresh and Combined: one more acknowledgement will come for the
  /// warp. AlreadyWaitedFor: the one it waits for anyway covers this store.
  Taken put(std::uint32_t line, Parts parts, unsigned warp, unsigned kernel) {
    if (Entry* e = find(line)) {
      const bool known = (e->warps >> warp & 1) != 0;
      e->parts |= parts;
      e->warps |= 1ull << warp;
      return known ? Taken::AlreadyWaitedFor : Taken::Combined;
    }
    const std::uint16_t at = free_.back();
    free_.pop_back();
    entry_[at] = {line, parts, static_cast<std::uint8_t>(kernel), 1ull << warp};
    waiting_.push(at);
    return Taken::Fresh;
  }
  /// The oldest waiting entry leaves. Precondition: any_waiting().
  OutgoingRequest send() {
    const std::uint16_t at = waiting_.front();
    waiting_.pop();
    const Entry& e = entry_[at];
    return {e.line, e.parts, at, e.kernel};
  }
  /// acknowledged(warp) for each warp with a store in the entry, which is free now.
  template <class F>
  void acknowledge(unsigned at, F acknowledged) {
    acknowledge(at, entry_[at].parts, acknowledged);
  }
  /// The same for some of its parts; true: those were the last.
  template <class F>
  bool acknowledge(unsigned at, Parts parts, F acknowledged) {
    Entry& e = entry_[at];
    e.parts &= static_cast<Parts>(~parts);
    if (e.parts != 0) return false;
    for (std::uint64_t m = e.warps; m != 0; m &= m - 1) acknowledged(lowest(m));
    e.warps = 0;
    free_.push_back(static_cast<std::uint16_t>(at));
    return true;
  }
  /// Parts of the line that wait or have left and are not acknowledged.
  Parts under_way(std::uint32_t line) const {
    Parts all = 0;
    for (const Entry& e : entry_)
      if (e.warps != 0 && e.line == line) all |= e.parts;
    return all;
  }
  /// The warp waits for parts that an earlier store has under way. False: no entry has all of them.
  /// `known`: it waits for that entry anyway, so that no further acknowledgement will come.
  bool join(std::uint32_t line, Parts parts, unsigned warp, bool& known) {
    for (Entry& e : entry_) {
      if (e.warps == 0 || e.line != line || (parts & ~e.parts) != 0) continue;
      known = (e.warps >> warp & 1) != 0;
      e.warps |= 1ull << warp;
      return true;
    }
    return false;
  }

 private:
  struct Entry {
    std::uint32_t line = 0;
    Parts parts = 0;
    std::uint8_t kernel = 0;
    std::uint64_t warps = 0;  // 0: free
  };
  const Entry* find(std::uint32_t line) const {
    for (unsigned i = 0; i < waiting_.size(); ++i)
      if (entry_[waiting_[i]].line == line) return &entry_[waiting_[i]];
    return nullptr;
  }
  Entry* find(std::uint32_t line) {
    return const_cast<Entry*>(static_cast<const StoreBuffer*>(this)->find(line));
  }
  std::vector<Entry> entry_;
  std::vector<std::uint16_t> free_;  // stack
  Ring<std::uint16_t> waiting_;      // oldest first
};

}  // namespace raddle::timing
