#include "raddle/trace/memory_trace.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "raddle/base/error.h"

namespace raddle::trace {

/// Header in front of the words of one contiguous range, inside a slab.
struct MemoryTrace::Chunk {
  Chunk* next;
  std::uint32_t* end;  // of what was committed
  std::uint32_t* begin() { return reinterpret_cast<std::uint32_t*>(this + 1); }
};

namespace {
// A slab is one huge page where the host has them: recording is bound by page faults otherwise.
constexpr std::size_t kSlabBytes = std::size_t{2} << 20;
constexpr std::size_t kSlabWords = kSlabBytes / sizeof(std::uint32_t);
}  // namespace

void SlabPool::Free::operator()(std::uint32_t* slab) const { std::free(slab); }

SlabPool::Slab SlabPool::take(std::size_t words) {
  if (!left_.empty() && left_.back().words >= words) {
    Slab slab = std::move(left_.back());
    left_.pop_back();
    return slab;
  }
  const std::size_t bytes =
      (words * sizeof(std::uint32_t) + kSlabBytes - 1) / kSlabBytes * kSlabBytes;
  void* at = std::aligned_alloc(kSlabBytes, bytes);
  if (at == nullptr) throw std::bad_alloc();
  madvise(at, bytes, MADV_HUGEPAGE);  // advice only: where it is refused, nothing is lost
  Slab slab;
  slab.at.reset(static_cast<std::uint32_t*>(at));
  slab.words = bytes / sizeof(std::uint32_t);
  return slab;
}

TraceArena::TraceArena(std::shared_ptr<SlabPool> pool) : pool_(std::move(pool)) {}

TraceArena::~TraceArena() {
  for (SlabPool::Slab& slab : slabs_) pool_->give(std::move(slab));
}

std::uint32_t* TraceArena::take(std::size_t words) {
  RADDLE_ASSERT(words % 2 == 0);
  if (words > left_) {
    slabs_.push_back(pool_->take(std::max(words, kSlabWords)));
    at_ = slabs_.back().at.get();
    left_ = slabs_.back().words;
    bytes_ += left_ * sizeof(std::uint32_t);
  }
  last_ = at_;
  at_ += words;
  left_ -= words;
  return last_;
}

std::size_t TraceArena::give_rest(const std::uint32_t* transaction, const std::uint32_t* end) {
  if (transaction != last_) return 0;
  const std::size_t used = (static_cast<std::size_t>(end - last_) + 1) / 2 * 2;
  const std::size_t rest = static_cast<std::size_t>(at_ - last_) - used;
  RADDLE_ASSERT(last_ + used <= at_);
  at_ -= rest;
  left_ += rest;
  return rest;
}

MemoryTrace::MemoryTrace(std::shared_ptr<const KernelCode> code, LaunchShape shape,
                         std::shared_ptr<TraceArena> arena, unsigned min_words)
    : code_(std::move(code)),
      shape_(shape),
      warps_per_block_(shape.warps_per_block()),
      min_words_(min_words),
      warps_(shape.grid.count() * warps_per_block_),
      arena_(std::move(arena)) {
  RADDLE_ASSERT(arena_ != nullptr);
}

StreamWriter::Room MemoryTrace::grow(std::uint32_t block, unsigned w, unsigned words) {
  constexpr std::size_t kHeaderWords = sizeof(Chunk) / sizeof(std::uint32_t);
  std::size_t need = kHeaderWords + std::max(words, min_words_);
  need += need % 2;  // chunks stay 8-byte aligned
  auto* chunk = new (arena_->take(need)) Chunk{nullptr, nullptr};
  bytes_ += need * sizeof(std::uint32_t);
  chunk->end = chunk->begin();
  Warp& owner = warp(block, w);
  (owner.first == nullptr ? owner.first : owner.last->next) = chunk;
  owner.last = chunk;
  return {chunk->begin(), reinterpret_cast<std::uint32_t*>(chunk) + need};
}

void MemoryTrace::commit(std::uint32_t block, unsigned w, std::uint32_t* at) {
  warp(block, w).last->end = at;
}

/// A launch of one short warp keeps the words it has written and no more.
void MemoryTrace::finish(std::uint32_t block) {
  for (unsigned w = 0; w < warps_per_block_; ++w) {
    const Chunk* const last = warp(block, w).last;
    if (last == nullptr) continue;
    const auto* transaction = reinterpret_cast<const std::uint32_t*>(last);
    bytes_ -= arena_->give_rest(transaction, last->end) * sizeof(std::uint32_t);
  }
}

WarpCursor MemoryTrace::open(std::uint32_t block, unsigned w) {
  WarpCursor cursor;
  Chunk* first = warp(block, w).first;
  RADDLE_ASSERT(first != nullptr);
  cursor = {first->begin(), first->end, first};
  if (cursor.at == cursor.end) RADDLE_ASSERT(refill(cursor));
  return cursor;
}

bool MemoryTrace::refill(WarpCursor& cursor) {
  for (auto* chunk = static_cast<Chunk*>(cursor.position)->next; chunk != nullptr;
       chunk = chunk->next)
    if (chunk->begin() != chunk->end) {
      cursor = {chunk->begin(), chunk->end, chunk};
      return true;
    }
  return false;
}

std::size_t MemoryTrace::bytes() const { return bytes_ + warps_.size() * sizeof(Warp); }

}  // namespace raddle::trace
