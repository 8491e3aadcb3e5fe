// Frames of warps: constants, special registers and parameters in place before the first
// instruction.
#include <algorithm>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using S = ptx::Special;

char* AlignedBytes::reserve(std::size_t bytes) {
  if (bytes > size_ || data_ == nullptr) {
    storage_ = std::make_unique_for_overwrite<char[]>(bytes + 64);
    data_ = storage_.get() + (64 - reinterpret_cast<std::uintptr_t>(storage_.get()) % 64) % 64;
    size_ = bytes;
  }
  RADDLE_ASSERT(reinterpret_cast<std::uintptr_t>(data_) % 64 == 0);
  return data_;
}

namespace {
void put(char* frame, const Fill& fill, unsigned lane, u64 value) {
  std::memcpy(frame + fill.offset + fill.width * lane, &value, fill.width);
}
template <class T>
void splat_as(char* at, u64 value) {
  std::fill_n(reinterpret_cast<T*>(at), kLanes, static_cast<T>(value));
}
void splat(char* frame, const Fill& fill, u64 value) {
  char* const at = frame + fill.offset;
  if (fill.width == 8) splat_as<u64>(at, value);
  else if (fill.width == 4) splat_as<u32>(at, value);
  else splat_as<std::uint16_t>(at, value);
}
bool varies_by_block(S s) {
  switch (s) {
    case S::CtaidX:
    case S::CtaidY:
    case S::CtaidZ:
    case S::SmId:
    case S::ClusterIdX:
    case S::ClusterIdY:
    case S::ClusterIdZ:
    case S::ClusterCtaidX:
    case S::ClusterCtaidY:
    case S::ClusterCtaidZ:
    case S::ClusterCtarank:
      return true;
    default:
      return false;
  }
}
Dim3 place_in(const Dim3& grid, u32 number) {
  return {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
}
}  // namespace

/// Registers of clusters; 0 for the others, which are clocks: those are read when they are used.
u64 Runner::cluster_special_of(S special, u32 number) const {
  const Dim3 &grid = shape_.grid, &cluster = cluster_shape_;
  const Dim3 at = place_in(grid, number);
  switch (special) {
    case S::ClusterIdX:
      return at.x / cluster.x;
    case S::ClusterIdY:
      return at.y / cluster.y;
    case S::ClusterIdZ:
      return at.z / cluster.z;
    case S::NclusterIdX:
      return grid.x / cluster.x;
    case S::NclusterIdY:
      return grid.y / cluster.y;
    case S::NclusterIdZ:
      return grid.z / cluster.z;
    case S::ClusterCtaidX:
      return at.x % cluster.x;
    case S::ClusterCtaidY:
      return at.y % cluster.y;
    case S::ClusterCtaidZ:
      return at.z % cluster.z;
    case S::ClusterCtarank:
      return at.x % cluster.x +
             cluster.x * (at.y % cluster.y + u64{cluster.y} * (at.z % cluster.z));
    case S::ClusterNctaidX:
      return cluster.x;
    case S::ClusterNctaidY:
      return cluster.y;
    case S::ClusterNctaidZ:
      return cluster.z;
    case S::ClusterNctarank:
      return cluster.count();
    case S::IsExplicitCluster:
      return explicit_cluster_ ? 1 : 0;
    default:
      return 0;
  }
}

u64 Runner::special_of(const Fill& fill, const Warp& warp, unsigned lane) const {
  const Dim3 &grid = shape_.grid, &block = shape_.block;
  const u32 thread = warp.index * kLanes + lane, number = warp.block;
  const Dim3 at = place_in(grid, number);
  switch (fill.special) {
    case S::TidX:
      return thread % block.x;
    case S::TidY:
      return thread / block.x % block.y;
    case S::TidZ:
      return thread / (block.x * block.y);
    case S::NtidX:
      return block.x;
    case S::NtidY:
      return block.y;
    case S::NtidZ:
      return block.z;
    case S::CtaidX:
      return at.x;
    case S::CtaidY:
      return at.y;
    case S::CtaidZ:
      return at.z;
    case S::NctaidX:
      return grid.x;
    case S::NctaidY:
      return grid.y;
    case S::NctaidZ:
      return grid.z;
    case S::LaneId:
      return lane;
    case S::WarpId:
      return warp.index;
    case S::NwarpId:
      return options_.warps_per_sm;
    case S::SmId:
      return number % std::max(options_.sms, 1u);
    case S::NsmId:
      return options_.sms;
    case S::GridId:
      return grid_;
    case S::Envreg:  // the driver's: where the barrier of cooperative groups' grids lies
      return fill.value == 1 ? grid_workspace_ >> 32 : fill.value == 2 ? grid_workspace_ : 0;
    case S::WarpSize:
      return kLanes;
    case S::LanemaskEq:
      return 1u << lane;
    case S::LanemaskLe:
      return (2u << lane) - 1;
    case S::LanemaskLt:
      return (1u << lane) - 1;
    case S::LanemaskGe:
      return ~((1u << lane) - 1);
    case S::LanemaskGt:
      return ~((2u << lane) - 1);
    case S::DynamicSmemSize:
      return shape_.dynamic_shared_bytes;
    case S::TotalSmemSize:
      return (shared_bytes_ + options_.shared_unit_bytes - 1) / options_.shared_unit_bytes *
             options_.shared_unit_bytes;
    case S::ReservedSmemOffset:
      return reserved_shared_at(shared_bytes_);
    default:
      return cluster_special_of(fill.special, number);
  }
}

void Runner::fill_special(const Fill& fill, char* frame, const Warp& warp) const {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    put(frame, fill, lane, special_of(fill, warp, lane));
}

void Runner::fill(const Code& code, char* frame, const Warp& warp) const {
  const u32 constants[2] = {~0u, 0};
  std::memcpy(frame, constants, sizeof constants);
  for (const Fill& f : code.fills) {
    if (f.kind == Fill::Kind::Special) {
      fill_special(f, frame, warp);
      continue;
    }
    u64 value = f.value;
    if (f.kind == Fill::Kind::Parameter) {
      value = 0;
      RADDLE_ASSERT(f.bytes <= sizeof value && f.value + f.bytes <= parameters_.size());
      std::memcpy(&value, parameters_.data() + f.value, f.bytes);
      const unsigned gap = 64 - 8u * f.bytes;
      if (f.is_signed) value = static_cast<u64>(static_cast<std::int64_t>(value << gap) >> gap);
    }
    splat(frame, f, value);
  }
}

void Runner::fill_block(const Warp& warp, char* frame) const {
  for (const Fill& f : kernel_.functions[0].fills)
    if (f.kind == Fill::Kind::Special && varies_by_block(f.special))
      splat(frame, f, special_of(f, warp, 0));
}

std::unique_ptr<Block> Runner::start(u32 number) {
  RADDLE_ASSERT(number < shape_.grid.count());
  std::unique_ptr<Block> block;
  const bool fresh = pool_.empty();
  if (fresh) {
    block = std::make_unique<Block>();
    block->warps.resize(warps_);
    char* frames = block->frames.reserve(frame_stride_ * warps_);
    std::memset(frames, 0, frame_stride_ * warps_);
    // A window of 256 bytes may reach beyond the last byte.
    char* local = block->local.reserve(std::size_t{local_bytes_} * kLanes * warps_ + 256);
    std::memset(local, 0, std::size_t{local_bytes_} * kLanes * warps_ + 256);
    for (unsigned index = 0; index < warps_; ++index) {
      WarpState& warp = block->warps[index];
      warp.entries.resize(16);
      warp.index = index;
      warp.block = number;
      warp.frame = frames + frame_stride_ * index;
      fill(kernel_.functions[0], warp.frame, warp);
    }
  } else {
    block = std::move(pool_.back());
    pool_.pop_back();
  }
  RADDLE_ASSERT(block->warps.size() == warps_);
  block->number = number;
  block->running = warps_;
  block->stream_bytes = 0;
  block->barriers.fill({});
  block->phases.clear();
  block->brought.clear();
  block->cluster = nullptr;
  const std::size_t shared = context_.shared_bytes + std::size_t{256};
  std::memset(block->shared.reserve(shared), 0, shared);
  if (watcher_ != nullptr)
    watcher_->started(*block, frame_stride_ * warps_, shared,
                      std::size_t{local_bytes_} * kLanes * warps_);
  const std::uint64_t threads = shape_.block.count();
  for (unsigned index = 0; index < warps_; ++index) {
    WarpState& warp = block->warps[index];
    RADDLE_ASSERT(threads > std::uint64_t{index} * kLanes);  // each warp has a thread
    const std::uint64_t left = threads - std::uint64_t{index} * kLanes;
    const u32 mask = left >= kLanes ? kFullMask : (1u << left) - 1;
    warp.block = number;
    warp.ip = kernel_.functions[0].records.data();
    warp.frame = block->frames.data() + frame_stride_ * index;
    warp.mask = warp.effective = mask;
    warp.exited = warp.gone = ~mask;
    warp.stack = warp.entries.data();
    warp.sp = 0;
    warp.sides.reset();
    warp.stack_capacity = static_cast<u32>(warp.entries.size());
    warp.local = block->local.data() + std::size_t{local_bytes_} * kLanes * index;
    warp.local_base = warp.activation = 0;
    warp.status = WarpState::Status::Ready;
    warp.functions.assign(1, 0);
    warp.allocated.assign(1, 0);
    for (auto& activation : warp.activations) activation->prepared = false;
    warp.room = {};
    // An op stream costs far more to time than a look; what was asked in vain would all be timed.
    warp.watch = {.interval = options_.short_turns && context_.traced == 0 ? kFirstLook : 0};
    warp.asks = {};
    warp.round = {};
    warp.executed = warp.alone = 0;
    warp.cluster_arrival = warp.product_groups = 0;
    warp.late.clear();
    fill_block(warp, warp.frame);
  }
  return block;
}

}  // namespace raddle::exec
