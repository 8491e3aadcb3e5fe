// Tags of some 4-byte words of this process's memory: the registers, shared and local memory of the
// blocks that run. Words without one have tag 0.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>

namespace raddle::exec {

class WordTags {
 public:
  using Tag = std::uint64_t;
  Tag get(const char* at) {
    const Row* r = find(at);
    return r != nullptr && (r->there >> slot(at) & 1) != 0 ? r->tag[slot(at)] : 0;
  }
  void set(const char* at, Tag tag) {
    if (tag == 0 && find(at) == nullptr) return;
    Row& r = row(at);
    const std::uint32_t bit = 1u << slot(at);
    r.there = tag != 0 ? r.there | bit : r.there & ~bit;
    r.tag[slot(at)] = tag;
  }
  /// Words of [from, from + bytes) lose their tags; perhaps some beyond it, up to 128 bytes away.
  void forget(const char* from, std::size_t bytes) {
    if (rows_.empty() || bytes == 0) return;
    last_known_ = false;
    for (std::uintptr_t k = key(from); k <= key(from + bytes - 1); ++k) rows_.erase(k);
  }

 private:
  struct Row {
    std::uint32_t there = 0;
    std::array<Tag, 32> tag;
  };
  static std::uintptr_t key(const char* at) { return reinterpret_cast<std::uintptr_t>(at) >> 7; }
  static unsigned slot(const char* at) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(at) >> 2 & 31);
  }
  /// Neighbouring lanes ask for the same row one after another.
  Row* find(const char* at) {
    if (key(at) == last_key_ && last_known_) return last_;
    const auto found = rows_.find(key(at));
    last_key_ = key(at);
    last_known_ = true;
    return last_ = found != rows_.end() ? &found->second : nullptr;
  }
  Row& row(const char* at) {
    if (Row* r = find(at)) return *r;
    return *(last_ = &rows_[key(at)]);
  }
  std::unordered_map<std::uintptr_t, Row> rows_;  // never iterated over
  std::uintptr_t last_key_ = 0;
  bool last_known_ = false;
  Row* last_ = nullptr;
};

}  // namespace raddle::exec
