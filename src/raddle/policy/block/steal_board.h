// Work stealing with memory (S of IKRA; docs/mechanisms/ikra.md): which SM owns which block of a
// grid, from launch to launch, and who takes whose. Every SM owns a chunk and a queue of blocks it
// once stole; a theft changes the owner for good, so that the thief runs the block in the next
// launch too, and finds its data. Free of simulator types.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "raddle/policy/block_owners.h"

namespace raddle::policy {

class StealBoard {
 public:
  enum class WhenFull : std::uint8_t {
    Reinitialise,  ///< steal on without recording; the next launch deals anew
    Stop           ///< that SM steals no more: owners stay, balance suffers
  };
  /// Queues hold `entries` blocks; 0: nothing is recorded, every launch deals anew.
  StealBoard(unsigned sms, unsigned entries, WhenFull when_full)
      : entries_(entries), when_full_(when_full), sms_(sms) {}

  /// All blocks are there to be run again. The direction turns with every launch.
  void launch(Grid grid);
  /// A launch whose blocks have these owners, whoever had those of the launch before.
  void launch_with(const Owners& owners);
  /// A launch all of whose blocks belong to one SM (a kernel that a block there has launched). It
  /// runs forwards.
  void launch_at(Grid grid, unsigned sm);
  /// The SM's next block of its own.
  std::optional<std::uint32_t> own(unsigned sm);
  struct Theft {
    std::uint32_t block;
    unsigned victim;
    bool from_queue;
    bool filled;  ///< the thief's queue: has just become full
  };
  /// A block of another SM for one that has none of its own left. All queues are searched before
  /// any chunk, the left neighbour first, then the right one and on from there.
  std::optional<Theft> steal(unsigned thief);

  bool has_own(unsigned sm) const {
    return !sms_[sm].open.empty() || sms_[sm].first != sms_[sm].last;
  }
  /// May it steal as far as its own queue is concerned?
  bool may_steal(unsigned sm) const {
    return when_full_ != WhenFull::Stop || sms_[sm].own.queue.size() < entries_ || entries_ == 0;
  }
  std::uint32_t left() const { return left_; }  ///< blocks nobody has run
  bool descending() const { return descending_; }
  bool dealt_anew() const { return dealt_anew_; }  ///< by the last launch()
  /// Who owns what; nothing if blocks were stolen without being recorded.
  std::optional<Owners> owners() const;
  const std::vector<Chunk>& chunks(unsigned sm) const { return sms_[sm].own.chunks.parts(); }
  std::span<const std::uint32_t> queue(unsigned sm) const { return sms_[sm].own.queue; }

 private:
  struct State {
    Holding own;
    ChunkList open;                   ///< what of the chunks nobody has run
    std::size_t first = 0, last = 0;  ///< queue[first, last): what of it nobody has run
  };
  void begin(Grid grid);
  std::uint32_t take_from_queue(State& victim);
  std::uint32_t take_from_chunk(State& victim);

  unsigned entries_;
  WhenFull when_full_;
  std::vector<State> sms_;
  Grid grid_{};
  std::uint32_t left_ = 0;
  bool begun_ = false, descending_ = false, reinitialise_ = false, dealt_anew_ = false;
};

inline void StealBoard::launch(Grid grid) {
  dealt_anew_ = !begun_ || reinitialise_ || entries_ == 0 || grid != grid_;
  const auto n = static_cast<std::uint32_t>(sms_.size());
  if (dealt_anew_)
    for (std::uint32_t i = 0; i < n; ++i)
      sms_[i].own = {ChunkList(chunk_of(blocks_of(grid), n, i)), {}};
  begin(grid);
}

inline void StealBoard::launch_with(const Owners& owners) {
  for (std::size_t i = 0; i < sms_.size(); ++i) sms_[i].own = owners.sm[i];
  dealt_anew_ = false;
  begin(owners.grid);
}

inline void StealBoard::launch_at(Grid grid, unsigned sm) {
  for (State& state : sms_) state.own = {};
  sms_[sm].own.chunks = ChunkList({0, blocks_of(grid)});
  dealt_anew_ = begun_ = false;
  begin(grid);
}

inline void StealBoard::begin(Grid grid) {
  for (State& sm : sms_) {
    sm.open = sm.own.chunks;
    sm.first = 0;
    sm.last = sm.own.queue.size();
  }
  descending_ = begun_ && !descending_;
  grid_ = grid;
  left_ = blocks_of(grid);
  begun_ = true;
  reinitialise_ = false;
}

inline std::optional<Owners> StealBoard::owners() const {
  if (reinitialise_ || entries_ == 0) return std::nullopt;
  Owners out{grid_, {}};
  for (const State& sm : sms_) out.sm.push_back(sm.own);
  return out;
}

inline std::optional<std::uint32_t> StealBoard::own(unsigned i) {
  if (!has_own(i)) return std::nullopt;
  State& sm = sms_[i];
  --left_;
  if (!descending_) return sm.open.empty() ? sm.own.queue[sm.first++] : sm.open.take_first();
  return sm.first != sm.last ? sm.own.queue[--sm.last] : sm.open.take_last();
}

/// The one its owner would come to last.
inline std::uint32_t StealBoard::take_from_queue(State& victim) {
  std::vector<std::uint32_t>& queue = victim.own.queue;
  const std::size_t at = descending_ ? victim.first : victim.last - 1;
  const std::uint32_t block = queue[at];
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
  --victim.last;
  return block;
}

inline std::uint32_t StealBoard::take_from_chunk(State& victim) {
  return descending_ ? (victim.own.chunks.take_first(), victim.open.take_first())
                     : (victim.own.chunks.take_last(), victim.open.take_last());
}

inline std::optional<StealBoard::Theft> StealBoard::steal(unsigned thief) {
  const auto n = static_cast<unsigned>(sms_.size());
  if (left_ == 0 || !may_steal(thief)) return std::nullopt;
  for (const bool queues : {true, false})
    for (unsigned step = 0; step + 1 < n; ++step) {
      // X-1, X+1, X+2, ... up to X-2.
      const unsigned v = (thief + (step == 0 ? n - 1 : step)) % n;
      State& victim = sms_[v];
      if (queues ? victim.first == victim.last : victim.open.empty()) continue;
      std::vector<std::uint32_t>& queue = sms_[thief].own.queue;
      Theft theft{queues ? take_from_queue(victim) : take_from_chunk(victim), v, queues, false};
      --left_;
      if (queue.size() < entries_) {
        queue.push_back(theft.block);
        theft.filled = queue.size() == entries_;
        if (theft.filled && when_full_ == WhenFull::Reinitialise) reinitialise_ = true;
      }
      return theft;
    }
  return std::nullopt;
}

}  // namespace raddle::policy
