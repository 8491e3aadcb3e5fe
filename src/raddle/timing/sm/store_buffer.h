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
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/mask.h"
#include "raddle/base/ring.h"
#include "raddle/timing/message.h"

namespace raddle::timing {

class StoreBuffer {
 public:
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
  Taken put(std::uint32_t line, std::uint8_t sectors, unsigned warp, unsigned kernel) {
    if (Entry* e = find(line)) {
      const bool known = (e->warps >> warp & 1) != 0;
      e->sectors |= sectors, e->warps |= 1ull << warp;
      return known ? Taken::AlreadyWaitedFor : Taken::Combined;
    }
    const std::uint16_t at = free_.back();
    free_.pop_back();
    entry_[at] = {line, sectors, static_cast<std::uint8_t>(kernel), 1ull << warp};
    waiting_.push(at);
    return Taken::Fresh;
  }
  /// The oldest waiting entry leaves. Precondition: any_waiting(). `first_tag`: tags of writes from
  /// here on are entries.
  Message send(unsigned sm, std::uint16_t first_tag) {
    const std::uint16_t at = waiting_.front();
    waiting_.pop();
    const Entry& e = entry_[at];
    return {e.line,
            static_cast<std::uint16_t>(sm),
            static_cast<std::uint16_t>(first_tag + at),
            e.sectors,
            MessageKind::Write,
            0,
            e.kernel};
  }
  /// acknowledged(warp) for each warp with a store in the entry, which is free now.
  template <class F>
  void acknowledge(unsigned at, F acknowledged) {
    for (std::uint64_t m = entry_[at].warps; m != 0; m &= m - 1) acknowledged(lowest(m));
    free_.push_back(static_cast<std::uint16_t>(at));
  }

 private:
  struct Entry {
    std::uint32_t line = 0;
    std::uint8_t sectors = 0, kernel = 0;
    std::uint64_t warps = 0;
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
