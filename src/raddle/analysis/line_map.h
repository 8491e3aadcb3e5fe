// Something about each of some lines (or other things with a number): a hash table in one piece of
// memory, because every access of a run asks one or more. Linear probing, erased without
// tombstones; emptied in no time.
#pragma once
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace raddle::analysis {

/// T: small and copyable. Addresses of values hold until something is added or erased.
template <class T, class Key = std::uint32_t>
class LineMap {
 public:
  std::uint32_t size() const { return used_; }
  T* find(Key line) {
    if (used_ == 0) return nullptr;
    Entry& e = entry_[place(line)];
    return e.round == round_ ? &e.value : nullptr;
  }
  /// The line's value, and whether it is `value` because there was none.
  std::pair<T*, bool> try_emplace(Key line, const T& value = {}) {
    if (2 * (used_ + 1) > entry_.size()) grow();
    Entry& e = entry_[place(line)];
    if (e.round == round_) return {&e.value, false};
    e = {line, round_, value};
    ++used_;
    return {&e.value, true};
  }
  void erase(Key line) {
    if (used_ == 0) return;
    std::uint32_t hole = place(line);
    if (entry_[hole].round != round_) return;
    --used_;
    // Those after the hole that would be looked for at or before it move up.
    for (std::uint32_t at = next(hole); entry_[at].round == round_; at = next(at)) {
      const std::uint32_t home = this->home(entry_[at].line);
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      entry_[hole] = entry_[at];
      hole = at;
    }
    entry_[hole].round = 0;
  }
  void clear() {
    used_ = 0;
    if (++round_ != 0) return;
    for (Entry& e : entry_) e.round = 0;
    round_ = 1;
  }

 private:
  struct Entry {
    Key line = 0;
    std::uint32_t round = 0;  // there if it is the map's
    T value{};
  };
  std::uint32_t mask() const { return static_cast<std::uint32_t>(entry_.size()) - 1; }
  std::uint32_t next(std::uint32_t at) const { return (at + 1) & mask(); }
  std::uint32_t home(Key line) const {
    if constexpr (sizeof(Key) == 8)
      return static_cast<std::uint32_t>(line * 0x9e3779b97f4a7c15u >> 32) >> shift_;
    else return line * 0x9e3779b1u >> shift_;
  }
  /// Where the line is, or the free entry where it would be.
  std::uint32_t place(Key line) const {
    std::uint32_t at = home(line);
    while (entry_[at].round == round_ && entry_[at].line != line) at = next(at);
    return at;
  }
  void grow() {
    std::vector<Entry> old(entry_.empty() ? 16 : 2 * entry_.size());
    old.swap(entry_);
    shift_ = 32 - static_cast<unsigned>(std::countr_zero(entry_.size()));
    for (const Entry& e : old)
      if (e.round == round_) entry_[place(e.line)] = e;
  }
  std::vector<Entry> entry_;
  std::uint32_t used_ = 0, round_ = 1;
  unsigned shift_ = 32;
};

}  // namespace raddle::analysis
