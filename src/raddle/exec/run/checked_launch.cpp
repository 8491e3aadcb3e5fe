#include "raddle/exec/run/checked_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "raddle/exec/run/runner.h"
#define RADDLE_ISA scalar
#include "raddle/exec/lanes/arithmetic.h"
#include "raddle/exec/lanes/memory.h"

namespace raddle::exec {

namespace {

using scalar::u32;
using scalar::u64;

/// What a finding is of, beside its check and its instructions.
enum Kind : unsigned { kReadAfterWrite, kWriteAfterRead, kWriteAfterWrite, kOneInstruction, kLoad };

/// Why what the kernel does with shared memory is beyond us; "" when it is not.
std::string_view beyond_us(const Kernel& kernel, const Runner& runner) {
  if (runner.cluster_shape().count() > 1) return "its blocks form clusters";
  for (const Code& code : kernel.functions)
    for (const ptx::Instruction& i : code.source->instructions) {
      if (i.opcode == "mbarrier") return "it synchronises with barrier objects";
      if (i.opcode == "cp" && std::ranges::count(i.modifiers, "bulk") != 0)
        return "it copies in bulk";
    }
  return "";
}

}  // namespace

CheckedLaunch::CheckedLaunch(AccessChecks& checks, const Runner& runner)
    : checks_(checks), runner_(runner), races_(checks.options().races) {
  const std::string_view why = beyond_us(runner.kernel(), runner);
  if (!why.empty()) {
    races_ = shared_ = false;
    checks_.leave_out(runner.kernel().title, why);
  }
  if (!races_) return;
  for (const Code& code : runner.kernel().functions) {
    const auto& instructions = code.source->instructions;
    orders_.resize(
        std::max<std::size_t>(orders_.size(), code.first_instruction + instructions.size()));
    std::ranges::transform(instructions, orders_.begin() + code.first_instruction, order_of);
  }
}

// --- blocks and barriers ------------------------------------------------------------------------

void CheckedLaunch::started(const Block& block, std::size_t, std::size_t, std::size_t) {
  blocks_[block.number];
}

CheckedLaunch::BlockState* CheckedLaunch::state_of(const Context& c, u64 at, unsigned bytes) {
  if (!shared_ || at >= c.shared_bytes || c.shared_bytes - at < bytes) return nullptr;
  BlockState& state = blocks_.at(c.warp->block);
  if (state.shared.empty()) state.shared.begin(c.shared_bytes);
  if (bytes < 4) state.shared.split();
  return &state;
}

void CheckedLaunch::arrived(const Block& block, const WarpState& warp, unsigned barrier) {
  blocks_.at(block.number)
      .clocks.arrives(warp.index, barrier, static_cast<BarOp>(warp.ip->imm) != BarOp::Arrive);
}

void CheckedLaunch::opens(const Block& block, unsigned barrier) {
  WarpClocks& clocks = blocks_.at(block.number).clocks;
  for (const WarpState& warp : block.warps)
    if (warp.status == WarpState::Status::Waiting && warp.barrier == barrier)
      clocks.goes_on(warp.index, barrier);
  clocks.opened(barrier);
}

// --- shared memory ------------------------------------------------------------------------------

SharedUse CheckedLaunch::use_of(const BlockState& block, const Access& a) const {
  const unsigned warp = a.context.warp->index;
  return {block.clocks.now(warp), a.inst, execution_, static_cast<std::uint8_t>(warp),
          static_cast<std::uint8_t>(a.lane)};
}

SharedUse CheckedLaunch::written_by(const BlockState& block, const Access& a, SharedUse use) {
  if (a.order.copies != Order::Copies::Start) return use;
  const unsigned warp = use.warp;
  use.warp = static_cast<std::uint8_t>(WarpClocks::copies_of(warp));
  use.clock = block.clocks.group(warp);
  return use;
}

std::string CheckedLaunch::thread(unsigned warp, unsigned lane) const {
  const Dim3& b = runner_.shape().block;
  const u32 t = warp * kLanes + lane;
  return fmt::format("thread ({},{},{})", t % b.x, t / b.x % b.y, t / (b.x * b.y));
}

void CheckedLaunch::race(const Access& a, u64 at, const SharedUse& earlier, const char* now,
                         const char* before, unsigned kind) {
  const Warp& warp = *a.context.warp;
  checks_.found(Check::Races, runner_.kernel().title, kind, a.inst, earlier.inst, [&] {
    const bool copy = earlier.warp >= WarpClocks::kMaxWarps;
    return fmt::format(
        "{} {} byte {} of shared memory at {}; {}{} of the block {} it at {}, and nothing puts {}",
        runner_.thread_text(warp, a.lane), now, at, runner_.location(a.inst),
        copy ? "a copy by " : "", thread(earlier.warp % WarpClocks::kMaxWarps, earlier.lane),
        before, runner_.location(earlier.inst),
        copy ? "the end of its group before that" : "them in order");
  });
}

bool CheckedLaunch::unwritten(const BlockState& block, const Access& a, u64 at) {
  for (u64 i = at; i < at + a.bytes; i += block.shared.place_bytes()) {
    if (block.shared.written(i)) continue;
    checks_.found(Check::Uninitialised, runner_.kernel().title, kLoad, a.inst, 0, [&] {
      return fmt::format(
          "{} loads {} bytes of shared memory at {}, and nobody in its block has written byte {}",
          runner_.thread_text(*a.context.warp, a.lane), a.bytes, runner_.location(a.inst), i);
    });
    return true;
  }
  return false;
}

bool CheckedLaunch::shared_load(const Access& a, u64 at) {
  BlockState* const block = state_of(a.context, at, a.bytes);
  if (block == nullptr) return true;
  const bool clean = !checks_.options().uninitialised || !unwritten(*block, a, at);
  if (!races_) return clean;
  block->clocks.reads(a.context.warp->index, at, a.bytes, a.order);
  const SharedUse use = use_of(*block, a);
  bool raced = false;
  for (u64 i = at; i < at + a.bytes; i += block->shared.place_bytes()) {
    const SharedUse* const write =
        raced ? nullptr : block->shared.racing_write(block->clocks, i, use, a.order.strong);
    if (write != nullptr) {
      raced = true;
      race(a, i, *write, "reads", "writes", kReadAfterWrite);
    }
    block->shared.read(block->clocks, i, use, a.order.strong);
  }
  return clean && !raced;
}

void CheckedLaunch::shared_store(const Access& a, u64 at) {
  BlockState* const block = state_of(a.context, at, a.bytes);
  if (block == nullptr) return;
  const unsigned warp = a.context.warp->index;
  if (a.order.updates) block->clocks.reads(warp, at, a.bytes, a.order);
  SharedUses& shared = block->shared;
  const SharedUse use = use_of(*block, a), written = written_by(*block, a, use);
  bool reported = !races_;
  for (u64 i = at; i < at + a.bytes; i += shared.place_bytes()) {
    const SharedUse* earlier = nullptr;
    if (!reported) earlier = shared.racing_write(block->clocks, i, use, a.order.strong);
    // Lanes of one instruction that copy to one place are taken to copy the same.
    if (earlier != nullptr && earlier->warp == written.warp &&
        earlier->execution == written.execution)
      earlier = nullptr;
    if (earlier != nullptr) {
      race(a, i, *earlier, "writes", "writes", kWriteAfterWrite);
    } else if (!reported) {
      earlier = shared.racing_read(block->clocks, i, use, a.order.strong);
      if (earlier != nullptr) race(a, i, *earlier, "writes", "reads", kWriteAfterRead);
    }
    reported = reported || earlier != nullptr;
    shared.write(i, written, a.order.strong);
  }
  if (races_) block->clocks.writes(warp, at, a.bytes, a.order);
}

/// Do two lanes of a store write different values to one place?
void CheckedLaunch::same_place(Context& context, const Record& ip, const char* frame, u32 mask,
                               const u64* at) {
  std::array<std::uint8_t, kLanes> lanes;
  unsigned n = 0;
  bool rising = true;
  each_lane(mask, [&](unsigned lane) {
    rising = rising && (n == 0 || at[lanes[n - 1]] < at[lane]);
    lanes[n++] = static_cast<std::uint8_t>(lane);
  });
  if (rising) return;
  std::ranges::sort(lanes.begin(), lanes.begin() + n, {},
                    [&](unsigned lane) { return std::pair(at[lane], lane); });
  const unsigned size = 1u << (ip.flags & kElementMask);
  const unsigned width = 1u << (ip.flags >> kRegisterShift & 3);
  const auto same_value = [&](unsigned x, unsigned y) {
    for (u32 j = 0; j < scalar::elements_of(&ip); ++j) {
      const char* data = frame + scalar::data_of(&ip, j);
      if (std::memcmp(data + width * x, data + width * y, size) != 0) return false;
    }
    return true;
  };
  for (unsigned i = 1; i < n; ++i) {
    const unsigned x = lanes[i - 1], y = lanes[i];
    if (at[x] != at[y] || at[x] >= context.shared_bytes || same_value(x, y)) continue;
    checks_.found(Check::Races, runner_.kernel().title, kOneInstruction, ip.inst, 0, [&] {
      return fmt::format("{} and {} store different values to byte {} of shared memory at {}",
                         runner_.thread_text(*context.warp, x), thread(context.warp->index, y),
                         at[x], runner_.location(ip.inst));
    });
  }
}

// --- global memory ------------------------------------------------------------------------------

void CheckedLaunch::global_load(const Access& a, Address at) {
  if (!checks_.options().uninitialised) return;
  const auto gap = checks_.memory().first_unwritten(at, a.bytes);
  if (!gap) return;
  checks_.found(Check::Uninitialised, runner_.kernel().title, kLoad, a.inst, 0, [&] {
    return fmt::format(
        "{} loads {} bytes of global memory at {}, and nobody has written byte {} of the {} "
        "allocated at {:#x}",
        runner_.thread_text(*a.context.warp, a.lane), a.bytes, runner_.location(a.inst),
        gap->offset, gap->size, gap->allocation);
  });
}

void CheckedLaunch::slow_load(const Context& c, unsigned lane, Address at, unsigned bytes) {
  global_load({c, inst_, lane, bytes, {}}, at);
}
void CheckedLaunch::slow_store(const Context&, unsigned, Address at, unsigned bytes) {
  checks_.memory().write(at, bytes);
}
void CheckedLaunch::surface_store(Address at, unsigned bytes) { checks_.memory().write(at, bytes); }
void CheckedLaunch::slow_shared_load(const Context& c, unsigned lane, u32 at, unsigned bytes) {
  shared_load({c, inst_, lane, bytes, order(inst_)}, at);
}
void CheckedLaunch::slow_shared_store(const Context& c, unsigned lane, u32 at, unsigned bytes) {
  shared_store({c, inst_, lane, bytes, order(inst_)}, at);
}

// --- records ------------------------------------------------------------------------------------

/// `window` is added to what the address registers hold.
void CheckedLaunch::access(Context& c, const Record& ip, char* frame, u32 mask, u64 window,
                           bool store) {
  alignas(64) u64 at[kLanes];
  scalar::addresses_of(&ip, frame, mask, 0, at);
  const unsigned bytes = scalar::bytes_of(&ip);
  const Order what = order(ip.inst);
  bool shared = false;
  u64 clean = ~u64{0};  // address of the lane before, when nothing was found there
  each_lane(mask, [&](unsigned lane) {
    const Access a{c, ip.inst, lane, bytes, what};
    const u64 address = at[lane] + window;
    if (address >= DeviceMemory::kBase) {
      if (store) checks_.memory().write(address, bytes);
      else global_load(a, address);
    } else if (address - kSharedWindow < kWindowBytes) {
      shared = true;
      at[lane] = address - kSharedWindow;
      if (store) shared_store(a, at[lane]);
      else if (at[lane] != clean) clean = shared_load(a, at[lane]) ? at[lane] : ~u64{0};
    }
  });
  if (store && shared && races_ && !what.strong) same_place(c, ip, frame, mask, at);
}

void CheckedLaunch::atomic(Context& c, const Record& ip, char* frame, u32 mask) {
  alignas(64) u64 at[kLanes];
  scalar::addresses_of(&ip, frame, mask, 0, at);
  const bool shared = static_cast<ptx::Space>(ip.aux >> 16 & 255) == ptx::Space::Shared;
  const unsigned bytes = 1u << (ip.flags & kElementMask);
  each_lane(mask, [&](unsigned lane) {
    const Access a{c, ip.inst, lane, bytes, order(ip.inst)};
    const u64 address = at[lane] + (shared ? kSharedWindow : 0);
    if (address >= DeviceMemory::kBase) {
      global_load(a, address);
      checks_.memory().write(address, bytes);
    } else if (address - kSharedWindow < kWindowBytes) {
      const u64 place = address - kSharedWindow;
      const BlockState* const block = state_of(c, place, bytes);
      if (block != nullptr && checks_.options().uninitialised) unwritten(*block, a, place);
      shared_store(a, place);
    }
  });
}

/// What accesses nothing, and may put accesses in order.
void CheckedLaunch::pass(const Context& c, Order what) {
  WarpClocks& clocks = blocks_.at(c.warp->block).clocks;
  if (what.fence) clocks.fence(c.warp->index);
  else if (what.copies != Order::Copies::None) clocks.copies(c.warp->index, what);
}

void CheckedLaunch::about_to_run(Context& c, const Record& ip, char* frame, u32 mask) {
  if (mask == 0) return;
  inst_ = ip.inst;
  ++execution_;
  switch (ip.op) {
    case O_ld_global_32:
    case O_ld_global_64:
    case O_ld_global:
    case O_ld_generic:
      return access(c, ip, frame, mask, 0, false);
    case O_st_global_32:
    case O_st_global_64:
    case O_st_global:
    case O_st_generic:
      return access(c, ip, frame, mask, 0, true);
    case O_ld_shared_32:
    case O_ld_shared:
      return access(c, ip, frame, mask, kSharedWindow, false);
    case O_st_shared_32:
    case O_st_shared:
      return access(c, ip, frame, mask, kSharedWindow, true);
    case O_atom:
      return atomic(c, ip, frame, mask);
    case O_simple:
      return pass(c, order(ip.inst));
    default:
      return;
  }
}

}  // namespace raddle::exec
