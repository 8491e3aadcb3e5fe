// Contiguous pieces of a grid, each run by one SM: what C, R, F and S of IKRA have in common
// (docs/mechanisms/ikra.md). Free of simulator types.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace raddle::policy {

/// Blocks [begin, end) in linear order.
struct Chunk {
  std::uint32_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

/// Chunk i of n over `blocks`: the first (blocks mod n) are one block longer than the others.
constexpr Chunk chunk_of(std::uint32_t blocks, std::uint32_t n, std::uint32_t i) {
  const std::uint32_t size = blocks / n, longer = blocks % n;
  const std::uint32_t begin = i * size + std::min(i, longer);
  return {begin, begin + size + (i < longer ? 1 : 0)};
}

/// One launch dealt out in chunks: one to each SM at the start; where there are several per SM, an
/// SM that is through with its own takes the next that nobody has (docs/mechanisms/ikra.md), and a
/// launch that repeats an earlier one deals the same chunks to the same SMs.
class ChunkDeal {
 public:
  /// The chunks of each SM, in the order in which it took them.
  using Record = std::vector<std::vector<Chunk>>;

  /// Chunk i goes to SM (first_sm + i) mod sms.
  void deal(std::uint32_t blocks, unsigned sms, unsigned per_sm, unsigned first_sm,
            bool descending) {
    blocks_ = blocks;
    chunks_ = sms * per_sm;
    next_chunk_ = sms;
    descending_ = descending;
    sms_.assign(sms, {});
    record_.assign(sms, {});
    for (unsigned i = 0; i < sms; ++i) give((first_sm + i) % sms, chunk_of(blocks, chunks_, i));
  }
  /// Every SM gets what it had; where blocks are run in descending order, its last chunk first.
  void repeat(const Record& record, bool descending) {
    descending_ = descending;
    next_chunk_ = chunks_ = 0;
    sms_.assign(record.size(), {});
    record_ = record;
    for (std::size_t sm = 0; sm < record.size(); ++sm) {
      sms_[sm].waiting = record[sm];
      // Taken from the back.
      if (!descending) std::ranges::reverse(sms_[sm].waiting);
    }
  }
  /// The SM's next block, if it has one.
  std::optional<std::uint32_t> next(unsigned sm) {
    State& own = sms_[sm];
    while (own.now.empty()) {
      if (!own.waiting.empty()) {
        own.now = own.waiting.back();
        own.waiting.pop_back();
      } else if (next_chunk_ < chunks_) {
        give(sm, chunk_of(blocks_, chunks_, next_chunk_++));
      } else {
        return std::nullopt;
      }
    }
    return descending_ ? --own.now.end : own.now.begin++;
  }
  const Record& record() const { return record_; }
  bool descending() const { return descending_; }

 private:
  struct State {
    Chunk now;  ///< what is left of it
    std::vector<Chunk> waiting;
  };
  void give(unsigned sm, Chunk chunk) {
    sms_[sm].now = chunk;
    record_[sm].push_back(chunk);
  }

  std::uint32_t blocks_ = 0;
  unsigned chunks_ = 0, next_chunk_ = 0;
  bool descending_ = false;
  std::vector<State> sms_;
  Record record_;
};

}  // namespace raddle::policy
