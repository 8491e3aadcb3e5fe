// A recorded launch in memory: chunks of records per warp, written by exec, read by the timing
// model.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "raddle/trace/stream.h"

namespace raddle::trace {

/// Append-only storage. A writer owns a warp's tail: reserve room, write records, commit.
class MemoryTrace final : public KernelStream {
 public:
  MemoryTrace(std::shared_ptr<const KernelCode> code, LaunchShape shape);
  ~MemoryTrace() override;
  MemoryTrace(const MemoryTrace&) = delete;
  MemoryTrace& operator=(const MemoryTrace&) = delete;

  // --- writing -----------------------------------------------------------------------------------
  struct Room {
    std::uint32_t *at, *end;
  };
  /// A fresh range for the warp, at least `words` long, following what was committed before.
  Room grow(std::uint32_t block, unsigned warp, unsigned words);
  /// The warp's records now end at `at` inside the range last grown.
  void commit(std::uint32_t block, unsigned warp, std::uint32_t* at);

  // --- reading -----------------------------------------------------------------------------------
  const KernelCode& code() const override { return *code_; }
  const LaunchShape& shape() const override { return shape_; }
  bool concurrent() const override { return true; }
  WarpCursor open(std::uint32_t block, unsigned warp) override;
  bool refill(WarpCursor& cursor) override;
  void close(std::uint32_t) override {}
  struct FreeSlab {
    void operator()(std::uint32_t* slab) const;
  };
  /// Heap bytes held.
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
  unsigned warps_per_block_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<std::uint32_t[], FreeSlab>> slabs_;
  std::size_t slab_left_ = 0, bytes_ = 0;
  std::uint32_t* slab_at_ = nullptr;
};

}  // namespace raddle::trace
