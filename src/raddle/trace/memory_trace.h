// A recorded launch in memory: chunks of records per warp, written by exec, read by the timing
// model. Launches that come and go together, a launch of the host with all that descends from it,
// share an arena: a launch of a few warps costs what it writes, not a slab.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "raddle/trace/stream.h"

namespace raddle::trace {

/// Storage that traces leave behind for the next ones: a program with hundreds of launches would
/// otherwise spend its time on page faults.
class SlabPool {
 public:
  struct Free {
    void operator()(std::uint32_t* slab) const;
  };
  struct Slab {
    std::unique_ptr<std::uint32_t[], Free> at;
    std::size_t words = 0;
  };
  /// At least so many words.
  Slab take(std::size_t words);
  void give(Slab slab) { left_.push_back(std::move(slab)); }

 private:
  std::vector<Slab> left_;
};

/// Slabs that several traces fill one after another. They go back to the pool when the last trace
/// and whoever else holds the arena are gone.
class TraceArena {
 public:
  explicit TraceArena(std::shared_ptr<SlabPool> pool = std::make_shared<SlabPool>());
  ~TraceArena();
  TraceArena(const TraceArena&) = delete;
  TraceArena& operator=(const TraceArena&) = delete;
  /// So many words in one piece, 8-byte aligned. Precondition: words is even. The end of a slab
  /// that is too short for them stays unused.
  std::uint32_t* take(std::size_t words);
  /// The piece at `piece` needs no words from `end` on. If it was the last one taken they are taken
  /// again, else they stay unused. The number of words that came back.
  std::size_t give_rest(const std::uint32_t* transaction, const std::uint32_t* end);
  /// Heap bytes held.
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<SlabPool> pool_;
  std::vector<SlabPool::Slab> slabs_;
  std::uint32_t *last_ = nullptr, *at_ = nullptr;  // the last piece and its end
  std::size_t left_ = 0, bytes_ = 0;
};

class MemoryTrace final : public KernelStream, public StreamWriter {
 public:
  /// Chunks start small (most warps are short) and end where a cache page does.
  static constexpr unsigned kChunkWords = 240;

  /// `least_words`: the least room given at once; 0 where writers know how long a warp is.
  MemoryTrace(std::shared_ptr<const KernelCode> code, LaunchShape shape,
              std::shared_ptr<TraceArena> arena = std::make_shared<TraceArena>(),
              unsigned min_words = kChunkWords);
  MemoryTrace(const MemoryTrace&) = delete;
  MemoryTrace& operator=(const MemoryTrace&) = delete;

  // --- writing -----------------------------------------------------------------------------------
  Room grow(std::uint32_t block, unsigned warp, unsigned words) override;
  void commit(std::uint32_t block, unsigned warp, std::uint32_t* at) override;
  void finish(std::uint32_t block) override;

  // --- reading -----------------------------------------------------------------------------------
  const KernelCode& code() const override { return *code_; }
  const LaunchShape& shape() const override { return shape_; }
  bool keeps() const override { return true; }
  bool concurrent() const override { return true; }
  WarpCursor open(std::uint32_t block, unsigned warp) override;
  bool refill(WarpCursor& cursor) override;
  void close(std::uint32_t) override {}
  /// Bytes of its own, in the arena and outside.
  std::size_t bytes() const;

 private:
  struct Chunk;
  struct Warp {
    Chunk *first = nullptr, *last = nullptr;
  };
  Warp& warp(std::uint32_t block, unsigned w) {
    return warps_[std::size_t{block} * warps_per_block_ + w];
  }
  std::shared_ptr<const KernelCode> code_;
  LaunchShape shape_;
  unsigned warps_per_block_, min_words_;
  std::vector<Warp> warps_;
  std::shared_ptr<TraceArena> arena_;
  std::size_t bytes_ = 0;  // of chunks
};

}  // namespace raddle::trace
