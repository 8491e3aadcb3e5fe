// What a warp that is abroad and its block say to one another: the block's barriers and its shared
// memory stay at home (warp_context.h). A value; how it travels is the business of who carries it.
//
// A barrier: the warp's SM says that it has arrived, the home says when it opens. Shared memory:
// the warp's SM sends the access with its addresses, the home serves it in its own load/store unit,
// in turn with its own, and answers with the data or with nothing.
//
// Source: none. The paper of the mechanism ("LATOA") says nothing of barriers and shared memory;
// this is what hardware would have to do.
#pragma once
#include <algorithm>
#include <cstdint>

#include "raddle/timing/sm/warp_context.h"

namespace raddle::timing {

/// A warp that is abroad, where it is.
struct GuestWarp {
  std::uint32_t sm = 0;
  std::uint8_t slot = 0;
};

struct HomeCall {
  enum class Kind : std::uint8_t {
    Arrive,  ///< at a barrier; to the home
    Open,    ///< it has opened; to the guest
    Access,  ///< of shared memory; to the home
    Done,    ///< its answer; to the guest
  };
  Kind kind = Kind::Arrive;
  std::uint8_t passes = 0, lanes = 0;  ///< Access
  std::uint32_t inst = 0;              ///< Access, Done: machine instruction of the kernel
  trace::BarrierRecord barrier{};      ///< Arrive
  const Launch* launch = nullptr;
  HomeBlock home;
  std::uint32_t index = 0;  ///< of the warp in its block
  GuestWarp guest;

  bool goes_home() const { return kind == Kind::Arrive || kind == Kind::Access; }
  std::uint32_t from() const { return goes_home() ? guest.sm : home.sm; }
  std::uint32_t to() const { return goes_home() ? home.sm : guest.sm; }
  /// Behind the header. An access sends four bytes of address for each lane, and either it or its
  /// answer the data: a word a lane for each register that is read beside the address, or written.
  std::uint32_t bytes() const {
    if (kind == Kind::Arrive || kind == Kind::Open) return 0;
    const DecodedInst& in = launch->code->instructions()[inst];
    const std::uint32_t written = in.register_writes;
    if (kind == Kind::Done) return 4 * lanes * written;
    const std::uint32_t read = std::max<std::uint32_t>(in.register_reads, 1) - 1;
    return 4 * lanes * (1 + (written == 0 ? std::max(read, 1u) : 0));
  }
};

}  // namespace raddle::timing
