// Warps that wait for what another warp will do by asking for it again and again: a lock, a flag, a
// barrier of the whole grid. Blocks are run one after another, so a block that waits for a later
// one would ask until its turn is used up. A warp whose registers are the same each time it comes
// by a place cannot leave by itself, whatever its loop looks like; loops that count how often they
// have asked, or look at the clock, are not seen.
#include <array>
#include <cstring>

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
}  // namespace

/// Of the registers of all functions that the warp is in.
u64 Runner::fingerprint(const Block& block, const WarpState& warp) const {
  const char* const frame = block.frames.data() + frame_stride_ * warp.index;
  u64 hash = mixed(warp.effective, frame, frame_stride_);
  for (u32 depth = 0; depth < warp.activation && depth < warp.activations.size(); ++depth)
    hash = mixed(hash, warp.activations[depth]->frame.data(), warp.activations[depth]->bytes);
  return hash;
}

/// Runs the warp until it stands where it stood, with registers that it had there before; false
/// when something else happens, or its registers differ each time, or it does not come back.
bool Runner::goes_round(Block& block, WarpState& warp, trace::StreamWriter* streams) {
  constexpr unsigned kSteps = 512;  // accesses and branches
  constexpr std::size_t kRounds = 4;
  const Record* at = nullptr;
  u32 mask = 0, depth = 0;
  std::array<u64, kRounds> seen{};
  std::size_t rounds = 0;
  warp.watch.spins = false;
  for (unsigned step = 0, next = 0; step < kSteps; ++step) {
    if (step == next) {  // the circle may begin later
      at = warp.ip;
      mask = warp.mask;
      depth = warp.sp;
      seen[0] = fingerprint(block, warp);
      rounds = 1;
      next = 8 * next + 8;
    }
    advance(block, warp, streams, 1);
    if (warp.status != WarpState::Status::Ready || arrived_) return false;
    if (warp.ip != at || warp.mask != mask || warp.sp != depth) continue;
    const u64 now = fingerprint(block, warp);
    for (std::size_t k = 0; k < rounds; ++k)
      if (seen[k] == now) return warp.watch.spins = true;
    if (rounds == kRounds) return false;
    seen[rounds++] = now;
  }
  return false;
}

}  // namespace raddle::exec
