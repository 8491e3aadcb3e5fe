// A memory instruction inside the load/store unit, and whose it is.
#pragma once
#include <cstdint>

#include "raddle/base/types.h"
#include "raddle/timing/code/launch.h"

namespace raddle::timing {

/// Whose instruction, for completion.
struct InstructionOwner {
  /// `warp` of an access to shared memory by a warp that is on another SM.
  static constexpr std::uint8_t kForeign = 0xff;

  std::uint8_t warp = 0;
  std::uint8_t kernel = 0;
  TenantId tenant{};
  std::uint8_t group = 0;  ///< of a copy: the warp's group that it belongs to
  std::uint32_t inst = 0;
  const DecodedInst* code = nullptr;
};
static_assert(sizeof(InstructionOwner) == 16, "it stands in every load under way");

struct MemoryInstruction {
  /// Load or atomic: a slot of the load table is its.
  bool returns_data() const { return route == Route::Load || route == Route::Atomic; }
  /// Served in passes and not line by line.
  bool in_passes() const { return route == Route::Shared || route == Route::Const; }

  InstructionOwner owner;
  Route route = Route::Load;
  bool bypass = false;
  std::uint8_t passes = 0;  ///< or pieces not yet begun
  std::uint16_t load = 0;
  std::uint32_t base = 0;
};

}  // namespace raddle::timing
