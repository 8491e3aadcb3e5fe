// Clusters: their barrier, their start, and shared memory of other blocks.
#include <algorithm>
#include <bit>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

void Runner::start_cluster(u32 number) {
  const Dim3 &shape = cluster_shape_, &grid = shape_.grid;
  if (shape.count() == 1) return active_.push_back(start(number));
  const u32 wide = grid.x / shape.x, high = grid.y / shape.y;
  const Dim3 first{number % wide * shape.x, number / wide % high * shape.y,
                   number / wide / high * shape.z};
  const auto cluster = std::make_shared<Cluster>();
  for (u32 rank = 0; rank < shape.count(); ++rank) {
    const u32 x = first.x + rank % shape.x, y = first.y + rank / shape.x % shape.y;
    const u32 z = first.z + rank / shape.x / shape.y;
    active_.push_back(start(x + grid.x * (y + grid.y * z)));
    active_.back()->cluster = cluster;
    cluster->blocks.push_back(active_.back().get());
  }
}

void Runner::release(std::unique_ptr<Block> block) {
  RADDLE_ASSERT(block != nullptr && block->warps.size() == warps_);
  if (block->cluster != nullptr)
    for (Block*& other : block->cluster->blocks)
      if (other == block.get()) other = nullptr;
  block->cluster = nullptr;
  if (watcher_ != nullptr) watcher_->ended(block->number);
  pool_.push_back(std::move(block));
}

/// To the timing model arriving costs nothing, and waiting is a barrier of the block: it does not
/// hold the blocks of a cluster together.
void Runner::arrive_at_cluster(Block& block, WarpState& warp) {
  constexpr u32 kTimingBarrier = 15;
  const Record& r = *warp.ip;
  if (block.cluster == nullptr) {
    block.cluster = std::make_shared<Cluster>();
    block.cluster->blocks = {&block};
  }
  Cluster& cluster = *block.cluster;
  const bool arrives = static_cast<BarOp>(r.imm) == BarOp::ClusterArrive;
  const auto kind = arrives ? trace::BarrierKind::Warp : trace::BarrierKind::Sync;
  context_.out[0] = trace::Record::make(r.inst, 1, 0, 0).head;
  context_.out[1] = kTimingBarrier | static_cast<u32>(kind) << 4;
  context_.out += trace::kRecordWords;
  if (arrives) {
    if (warp.cluster_arrival != cluster.openings + 1) ++cluster.arrived;
    warp.cluster_arrival = cluster.openings + 1;
    ++warp.ip;
    open_cluster_if_complete(cluster);
  } else if (cluster.openings >= warp.cluster_arrival) {
    ++warp.ip;
  } else {
    warp.status = WarpState::Status::Waiting;
    warp.barrier = kClusterBarrier;
  }
}

void Runner::open_cluster_if_complete(Cluster& cluster) {
  unsigned expected = 0;
  for (const Block* block : cluster.blocks) expected += block != nullptr ? block->running : 0;
  RADDLE_ASSERT(cluster.arrived <= expected);  // each warp that runs, once
  if (cluster.arrived == 0 || cluster.arrived < expected) return;
  cluster.arrived = 0;
  ++cluster.openings;
  for (Block* block : cluster.blocks) {
    if (block == nullptr) continue;
    for (WarpState& warp : block->warps)
      if (warp.status == WarpState::Status::Waiting && warp.barrier == kClusterBarrier) {
        warp.status = WarpState::Status::Ready;
        ++warp.ip;
      }
  }
}

// --- shared memory of other blocks ---------------------------------------------------------------
char* shared_place(const Context* c, u64 offset, unsigned bytes) {
  const u64 rank = offset >> kRankShift, x = offset & ((u64{1} << kRankShift) - 1);
  if (x > c->shared_bytes || c->shared_bytes - x < bytes) return nullptr;
  if (rank == 0) return c->shared + x;
  const Block* block = static_cast<const Runner*>(c->owner)->running_block();
  RADDLE_ASSERT(block != nullptr);
  if (block->cluster == nullptr && rank == 1) return c->shared + x;  // a block alone is a cluster
  if (block->cluster == nullptr || rank > block->cluster->blocks.size()) return nullptr;
  const Block* other = block->cluster->blocks[rank - 1];
  return other != nullptr ? other->shared.data() + x : nullptr;
}

namespace {

/// Rows of shared memory that lanes touch, and whether any of it is another block's.
class Rows {
 public:
  explicit Rows(const Context* context)
      : own_(static_cast<const Runner*>(context->owner)->running_block()) {}
  void touch(u64 offset) {
    const u64 rank = offset >> kRankShift;
    distant_ = distant_ ||
               (rank != 0 && own_->cluster != nullptr && own_->cluster->blocks[rank - 1] != own_);
    const u64 row = offset / trace::kLineBytes;
    if (std::find(row_, row_ + count_, row) == row_ + count_) row_[count_++] = row;
  }
  /// What the op stream has of them; `lanes` took part.
  unsigned pieces(unsigned lanes) const {
    constexpr unsigned kMaxRows = trace::kMaxTransactions - trace::kDistant;
    return distant_ ? trace::kDistant + std::min(count_, kMaxRows) : lanes;
  }

 private:
  const Block* own_;
  bool distant_ = false;
  unsigned count_ = 0;
  u64 row_[kLanes];
};

}  // namespace

/// Lane by lane; of what is its own block's the op stream has one pass for each lane.
void distant_shared(Context* context, const Record* ip, char* frame, u32 mask, u64 origin, u32 inst,
                    u32 store) {
  RADDLE_ASSERT(mask != 0);
  const unsigned size = 1u << (ip->flags & kElementMask);
  const unsigned width = 1u << (ip->flags >> kRegisterShift & 3);
  const unsigned elements = (ip->flags >> kVectorShift & 3u) + 1;
  const u32 data[4] = {ip->d, ip->b, ip->c, ip->aux};
  const auto lanes = static_cast<unsigned>(std::popcount(mask));
  Rows rows(context);
  u32* const record = context->out;
  record[0] = trace::Record::make(inst, 1, lanes, mask).head;
  record[1] = mask;
  context->out += trace::kRecordWords;
  ++context->warp_instructions;
  context->thread_instructions += static_cast<u32>(std::popcount(mask));
  for (u32 left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    u64 address = 0;
    const unsigned bytes = (ip->flags & kNarrowAddress) != 0 ? 4 : 8;
    std::memcpy(&address, frame + ip->a + bytes * lane, bytes);
    const u64 sum = address + static_cast<u64>(std::int64_t{ip->imm});
    const u64 offset = bytes == 4 ? static_cast<u32>(sum) : sum - origin;
    char* const place =
        offset % (size * elements) == 0 ? shared_place(context, offset, size * elements) : nullptr;
    if (place == nullptr) memory_fault(context, ip, frame, mask);
    rows.touch(offset);
    for (unsigned j = 0; j < elements; ++j) {
      char* const reg = frame + data[j] + width * lane;
      if (store != 0) {
        std::memcpy(place + j * size, reg, size);
        continue;
      }
      u64 value = 0;
      std::memcpy(&value, place + j * size, size);
      const unsigned gap = 64 - 8 * size;
      if ((ip->flags & kSigned) != 0)
        value = static_cast<u64>(static_cast<std::int64_t>(value << gap) >> gap);
      std::memcpy(reg, &value, width);
    }
  }
  record[0] = trace::Record::make(inst, 1, rows.pieces(lanes), mask).head;
}

}  // namespace raddle::exec
