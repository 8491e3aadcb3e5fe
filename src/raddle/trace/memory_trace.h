// A recorded launch in memory: chunks of records per warp, written by exec, read by the timing
// model.
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

class MemoryTrace final : public KernelStream, public StreamWriter {
 public:
  MemoryTrace(std::shared_ptr<const KernelCode> code, LaunchShape shape,
              std::shared_ptr<SlabPool> pool = std::make_shared<SlabPool>());
  ~MemoryTrace() override;
  MemoryTrace(const MemoryTrace&) = delete;
  MemoryTrace& operator=(const MemoryTrace&) = delete;

  // --- writing -----------------------------------------------------------------------------------
  Room grow(std::uint32_t block, unsigned warp, unsigned words) override;
  void commit(std::uint32_t block, unsigned warp, std::uint32_t* at) override;
  void finish(std::uint32_t) override {}

  // --- reading -----------------------------------------------------------------------------------
  const KernelCode& code() const override { return *code_; }
  const LaunchShape& shape() const override { return shape_; }
  bool concurrent() const override { return true; }
  WarpCursor open(std::uint32_t block, unsigned warp) override;
  bool refill(WarpCursor& cursor) override;
  void close(std::uint32_t) override {}
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
  std::shared_ptr<SlabPool> pool_;
  std::vector<SlabPool::Slab> slabs_;
  std::size_t slab_left_ = 0, bytes_ = 0;
  std::uint32_t* slab_at_ = nullptr;
};

}  // namespace raddle::trace
