// Warps that wait for what another warp will do by asking for it again and again: a lock, a flag, a
// barrier of the whole grid. Blocks are run one after another, so a block that waits for a later
// one would ask until its turn is used up. A warp whose registers are the same each time it comes
// by a place cannot leave by itself, whatever its loop looks like. Loops that count how often they
// have asked, or look at the clock, are not seen so; that they access the same words with the same
// instructions round after round is enough for lanes that wait for other lanes of their warp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/exec/device/device_runtime.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {
/// Four words side by side: some kilobytes take about a microsecond.
u64 mixed(u64 hash, const char* bytes, std::size_t count) {
  constexpr u64 kFactor = 0x9e37'79b9'7f4a'7c15ull;
  u64 part[4] = {hash, hash + 1, hash + 2, hash + 3};
  for (std::size_t i = 0; i + 32 <= count; i += 32)
    for (unsigned k = 0; k < 4; ++k) {
      u64 word = 0;
      std::memcpy(&word, bytes + i + 8 * k, 8);
      part[k] = (part[k] ^ word) * kFactor;
      part[k] ^= part[k] >> 29;
    }
  for (const u64 p : part) hash = (hash ^ p) * kFactor;
  return hash;
}
u64 hash_of(u64 hash, std::span<const u32> words) {
  for (const u32 word : words) hash = (hash ^ word) * 0x9e37'79b9'7f4a'7c15ull + 1;
  return hash;
}
}  // namespace

/// Of the registers of all functions that the warp is in.
u64 Runner::fingerprint(const Block& block, const WarpState& warp) const {
  const char* const frame = block.frames.data() + frame_stride_ * warp.index;
  u64 hash = mixed(warp.effective, frame, frame_stride_);
  for (u32 depth = 0; depth < warp.activation && depth < warp.activations.size(); ++depth)
    hash = mixed(hash, warp.activations[depth]->frame.data(), warp.activations[depth]->bytes);
  return hash;
}

namespace {
/// Whether a record finds out what others may have changed.
bool is_question(const Record& r) {
  if (r.op == O_atom) return (r.aux >> 24 & 1) != 0;
  const bool shared = r.op == O_ld_shared_32 || r.op == O_ld_shared;
  const bool load = shared || r.op == O_ld_global_32 || r.op == O_ld_global_64 ||
                    r.op == O_ld_global || r.op == O_ld_generic;
  return load && (shared || (r.flags & kVisible) != 0);
}

/// What a warp writes to its stream between two visits of one place.
struct Rounds {
  u64 now = 0, last = 0;
  unsigned equal = 0;  ///< rounds, one after another, that were as the one before
  bool asks = false;   ///< in this one
  void come_round() {
    equal = asks && now == last ? equal + 1 : 0;
    *this = {0, now, equal, false};
  }
};
}  // namespace

/// Runs the warp until it stands where it stood, with registers that it had there before; false
/// when something else happens, or its registers differ each time, or it does not come back. It may
/// have left one circle and come into another: only if it comes back to where it began is it sure
/// to have done nothing.
bool Runner::goes_round(Block& block, WarpState& warp, trace::StreamWriter* streams) {
  constexpr unsigned kSteps = 512;  // accesses and branches
  constexpr std::size_t kRounds = 4;
  const Record* at = nullptr;
  u32 mask = 0, depth = 0;
  std::array<u64, kRounds> seen{};
  std::size_t rounds = 0;
  Rounds written;
  warp.watch.spins = warp.watch.asks = false;
  // Where it stands now, which is in its circle if it was in one before and has not left it.
  const Record* const first = warp.ip;
  const u32 first_mask = warp.mask, first_depth = warp.sp;
  const u64 first_print = fingerprint(block, warp);
  const u32 traced = std::exchange(context_.traced, 1);  // what is accessed is told
  Effects effects;
  const auto ends = [&](bool round) {
    context_.traced = traced;
    warp.watch.same = false;
    warp.watch.acts =
        effects.acts || std::exchange(warp.watch.written, effects.written) != effects.written;
    warp.watch.global = effects.global;
    warp.watch.asks = !round && written.equal + 2 >= kRounds;
    return warp.watch.spins = round;
  };
  for (unsigned step = 0, next = 0; step < kSteps; ++step) {
    if (step == next) {  // the circle may begin later
      at = warp.ip;
      mask = warp.mask;
      depth = warp.sp;
      seen[0] = fingerprint(block, warp);
      rounds = 1;
      written = {};
      next = 8 * next + 8;
    }
    written.asks = written.asks || is_question(*warp.ip);
    const std::span<const u32> records(scratch_.data(), advance(block, warp, streams, 1));
    note(records, effects);
    written.now = hash_of(written.now, records);
    if (warp.status != WarpState::Status::Ready || (arrived_ && !asks_)) return ends(false);
    if (warp.ip == first && warp.mask == first_mask && warp.sp == first_depth &&
        fingerprint(block, warp) == first_print) {
      ends(true);
      return warp.watch.same = true;
    }
    if (warp.ip != at || warp.mask != mask || warp.sp != depth) continue;
    written.come_round();
    const u64 now = fingerprint(block, warp);
    for (std::size_t k = 0; k < rounds; ++k)
      if (seen[k] == now) return ends(true);
    if (rounds == kRounds) return ends(false);
    seen[rounds++] = now;
  }
  return ends(false);
}

/// The warp's turn is over as it has asked in vain. It goes round if it stands as it stood after
/// one of the last turns: several, as it may ask for one thing and then for another.
void Runner::asked_in_vain(const Block& block, WarpState& warp, const Effects& effects) {
  constexpr unsigned kLooks = 16, kMaxPatience = 1024;
  AskWatch& asks = warp.asks;
  const bool looked_at = asks.looked_at();
  ++asks.turns;
  if (!looked_at) {
    if (asks.looked_at()) asks.seen = {};  // those of long ago say nothing
    return;
  }
  const u32 place[] = {warp.ip->inst, warp.mask, warp.sp};
  const AskWatch::Turn now{hash_of(fingerprint(block, warp), place) | 1, effects.written};
  const auto known = std::ranges::find(asks.seen, now.state, &AskWatch::Turn::state);
  const bool goes_round = known != asks.seen.end();
  warp.watch.spins = warp.watch.same = asks.found = goes_round;
  warp.watch.acts = effects.acts || (goes_round && known->written != effects.written);
  warp.watch.global = effects.global;
  if (goes_round) {
    asks.turns = asks.patience;
    known->written = effects.written;
    return;
  }
  std::shift_right(asks.seen.begin(), asks.seen.end(), 1);
  asks.seen[0] = now;
  if (asks.turns < asks.patience + kLooks) return;
  asks.turns = 0;  // its registers differ each time: it may count
  asks.patience = std::min(2 * asks.patience, kMaxPatience);
}

/// Brent's way to find a circle: what a warp is compared with is twice as old each time.
Runner::Round Runner::comes_round(const Block& block, WarpState& warp) {
  constexpr unsigned kLongest = 64, kMaxRest = 1023;
  RoundWatch& watch = warp.round;
  if (watch.rest != 0 && !lanes_part_) {
    --watch.rest;
    return Round::Unknown;
  }
  if (warp.ip == watch.at && warp.mask == watch.mask && warp.sp == watch.depth &&
      fingerprint(block, warp) == watch.fingerprint) {
    watch.age = 0;
    warp.watch.spins = true;
    return std::exchange(watch.found, true) ? Round::Again : Round::Yes;
  }
  if (watch.age++ < watch.limit) return Round::Unknown;
  if (watch.found) {  // it has got away
    watch = {};
    warp.watch.spins = false;
    return Round::No;
  }
  if (watch.limit < kLongest) {
    watch = {.at = warp.ip,
             .mask = warp.mask,
             .depth = warp.sp,
             .fingerprint = fingerprint(block, warp),
             .limit = 2 * watch.limit + 1,
             .interval = watch.interval};
    return Round::Unknown;
  }
  const unsigned rest = std::min(2 * watch.interval + 1, kMaxRest);
  watch = {};
  watch.rest = watch.interval = rest;
  warp.watch.spins = false;
  moved(warp);
  return Round::No;
}

/// As slice(), where lanes of one warp are known to wait for one another: a side that goes round in
/// circles gives way to another one of its warp. Looks follow closely on one another as long as
/// they find something.
void Runner::slice_of_parted(Block& block, WarpState& warp, trace::StreamWriter* streams,
                             u64 budget) {
  constexpr u64 kFirst = 64, kLongest = u64{1} << 14;
  const u64 end = context_.warp_instructions + budget;
  u64 next = kFirst;
  warp.watch.spins = false;  // it may get away this time
  const auto stops = [&] {
    return warp.status != WarpState::Status::Ready || (arrived_ && !asks_);
  };
  // One side may write what another asks for, whichever goes round in the end.
  Effects effects;
  bool acted = false;
  const u32 traced = std::exchange(context_.traced, 1);
  const auto over = [&] {
    context_.traced = traced;
    warp.watch.acts = acted;
  };
  while (context_.warp_instructions < end) {
    const u64 maximum = std::min(next, end - context_.warp_instructions);
    const unsigned words = advance(block, warp, streams, maximum);
    note({scratch_.data(), words}, effects);
    acted = acted || effects.acts || effects.written != 0;
    if (stops()) return over();
    const bool round = goes_round(block, warp, streams);
    acted = acted || warp.watch.acts;
    if (round || (warp.watch.asks && lanes_wait(warp))) {
      if (!lanes_wait(warp) || !give_way(context_, warp)) return over();
      warp.watch.spins = false;
      next = kFirst;
    } else {
      moved(warp);
      if (stops()) return over();
      next = std::min(2 * next, kLongest);
    }
  }
  over();
}

void Runner::note(std::span<const u32> stream, Effects& effects) const {
  using trace::OpKind;
  const auto& instructions = kernel_.code->instructions;
  for (std::size_t at = 0; at < stream.size();) {
    const trace::Record record{stream[at], stream[at + 1]};
    RADDLE_ASSERT(record.inst() < instructions.size());
    const OpKind kind = instructions[record.inst()].kind;
    const bool loads = kind == OpKind::LoadGlobal || kind == OpKind::LoadLocal ||
                       kind == OpKind::LoadShared || kind == OpKind::LoadConst;
    // Its records may have no pieces, but so do those of arrivals at other blocks' objects.
    const bool test =
        kind == OpKind::BarrierObject &&
        instructions[record.inst()].bytes == static_cast<std::uint16_t>(trace::ObjectAction::Wait);
    const bool nothing =
        kind == OpKind::Alu || kind == OpKind::Branch || kind == OpKind::Fence || test;
    const bool writes_global =
        kind == OpKind::StoreGlobal || kind == OpKind::AtomicGlobal || kind == OpKind::ReduceGlobal;
    if (!loads && !nothing && !writes_global) effects.acts = true;
    if (kind == OpKind::LoadGlobal || writes_global) effects.global = true;
    at += trace::kRecordWords;
    const unsigned lines = trace::carries_transactions(kind) ? record.transactions() : 0;
    for (unsigned i = 0; i < lines; ++i, at += trace::kTransactionWords) {
      if (!writes_global) continue;
      const Address begin = Address{stream[at]} * trace::kLineBytes;
      if (begin < DeviceMemory::kBase || begin - DeviceMemory::kBase >= memory_.extent()) {
        effects.acts = true;  // outside of allocations, if the run lets it
        return;
      }
      for (u32 words = stream[at + 1]; words != 0; words &= words - 1) {
        const Address address = begin + 4 * static_cast<unsigned>(__builtin_ctz(words));
        u32 word = 0;
        std::memcpy(&word, memory_.host(address), sizeof word);
        const u32 seen[] = {static_cast<u32>(address), word};
        effects.written = hash_of(effects.written, seen);
      }
    }
  }
}

/// Where nothing changes any more. Lanes part late because blocks that have not been seen yet, or
/// other warps, may do what a side waits for; programs that do not need it are left as they are.
void Runner::all_in_vain(std::span<const Block* const> blocks, u64 times, u64 idle) {
  constexpr u64 kBeforeParting = 4, kBeforeEnd = 1000, kLooks = u64{1} << 17;
  if (times < kBeforeParting) return;
  u64 warps = 0;
  const WarpState* waits = nullptr;
  const WarpState* asks = nullptr;
  for (const Block* block : blocks)
    for (const WarpState& warp : block->warps) {
      if (warp.status != WarpState::Status::Ready) continue;
      ++warps;
      if (asks == nullptr) asks = &warp;
      if (waits == nullptr && lanes_wait(warp)) waits = &warp;
    }
  RADDLE_ASSERT(asks != nullptr);  // somebody has gone round
  if (waits != nullptr) let_lanes_part();
  const u64 patience = std::clamp(kLooks / warps, 2 * kBeforeParting, kBeforeEnd);
  if (waits != nullptr && !options_.independent_lanes)
    throw RunError(fmt::format(
        "kernel {}: lanes of one warp wait for one another, which comes to no end before compute "
        "capability 7.0: of warp {} of block {} lanes {:#x} ask again and again at {}, while the "
        "others wait for them to leave their branch or loop",
        kernel_.title, waits->index, block_text(waits->block), waits->mask,
        location(waits->ip->inst)));
  if (idle < patience) return;
  const bool launches_kernels = device_ != nullptr && !device_->launches().empty();
  throw RunError(fmt::format(
      "kernel {} does not end: every warp that runs goes round in circles and nothing changes any "
      "more; warp {} of block {} asks again and again at {}. {}",
      kernel_.title, asks->index, block_text(asks->block), location(asks->ip->inst),
      launches_kernels
          ? "Kernels that it launches are executed after its end: it cannot wait for them"
          : "What the host or another stream does after the launch is not seen, but with --live "
            "what is asked for before the program waits"));
}

}  // namespace raddle::exec
