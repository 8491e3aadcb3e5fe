// Queues of what kernels have launched (LaPerm, section IV.A and IV.E; docs/mechanisms/laperm.md):
// by level, and with a table on the chip that holds so many entries, the rest being in memory. An
// entry is a kernel or a group of blocks. Free of simulator types.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "raddle/base/error.h"

namespace raddle::policy {

/// The highest level first; within a level first come, first served.
class LevelQueues {
 public:
  using Entry = std::uint32_t;
  /// Levels 0 to `top`.
  explicit LevelQueues(unsigned top) : levels_(top + 1) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  unsigned top() const { return static_cast<unsigned>(levels_.size() - 1); }
  void push(Entry entry, unsigned level) {
    levels_.at(level).push_back(entry);
    ++size_;
  }
  /// Precondition: it is there, on that level.
  void remove(Entry entry, unsigned level) {
    std::deque<Entry>& queue = levels_.at(level);
    RADDLE_ASSERT(!queue.empty());
    if (queue.front() == entry) queue.pop_front();
    else if (queue.back() == entry) queue.pop_back();
    else {
      const auto found = std::ranges::find(queue, entry);
      RADDLE_ASSERT(found != queue.end());
      queue.erase(found);
    }
    --size_;
  }
  /// The first leaves.
  std::optional<Entry> pop() {
    for (auto queue = levels_.rbegin(); queue != levels_.rend(); ++queue) {
      if (queue->empty()) continue;
      const Entry entry = queue->front();
      queue->pop_front();
      --size_;
      return entry;
    }
    return std::nullopt;
  }
  /// The first of those for which offered(entry); nothing: there is none.
  template <class F>
  std::optional<Entry> first(F offered) const {
    if (size_ == 0) return std::nullopt;
    for (auto queue = levels_.rbegin(); queue != levels_.rend(); ++queue)
      for (const Entry entry : *queue)
        if (offered(entry)) return entry;
    return std::nullopt;
  }
  std::optional<Entry> first() const {
    return first([](Entry) { return true; });
  }
  /// How many a new entry of that level comes after.
  std::size_t ahead(unsigned level) const {
    std::size_t count = 0;
    for (std::size_t l = level; l < levels_.size(); ++l) count += levels_[l].size();
    return count;
  }

 private:
  std::vector<std::deque<Entry>> levels_;
  std::size_t size_ = 0;
};

/// Which entries have a place on the chip. Those that find none are in memory, by level; a place
/// that becomes free is given to the first of them, which has then to be fetched.
class EntryTable {
 public:
  using Entry = LevelQueues::Entry;
  EntryTable(unsigned top, std::size_t places) : places_(places), memory_(top) {
    RADDLE_ASSERT(places != 0);
  }
  std::size_t on_chip() const { return taken_; }
  std::size_t in_memory() const { return memory_.size(); }
  bool empty() const { return taken_ == 0; }

  /// False: it goes to memory.
  bool add(Entry entry, unsigned level) {
    if (taken_ < places_) {
      ++taken_;
      return true;
    }
    memory_.push(entry, level);
    return false;
  }
  /// An entry leaves the chip. The one that gets its place, if there is one in memory.
  std::optional<Entry> remove() {
    RADDLE_ASSERT(taken_ != 0);
    const std::optional<Entry> next = memory_.pop();
    if (!next) --taken_;
    return next;
  }

 private:
  std::size_t places_, taken_ = 0;
  LevelQueues memory_;
};

}  // namespace raddle::policy
