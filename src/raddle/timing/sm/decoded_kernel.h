// A kernel's instructions as the pipeline wants them: hazards as bit sets, costs looked up. Made
// once per launch and machine, shared by all SMs, never changed.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/timing/gpu/machine.h"
#include "raddle/timing/sm/register_set.h"
#include "raddle/trace/code.h"

namespace raddle::timing {

/// Which part of the machine performs an instruction.
enum class Route : std::uint8_t {
  Pipeline,  ///< Alu, Branch, Exit: a unit with latency and interval
  Load,
  Store,
  Atomic,
  Reduce,  ///< global and local lines
  Shared,
  Const,
  Barrier,
  Fence,
  Sleep,
};
inline bool goes_to_lsu(Route r) { return r >= Route::Load && r <= Route::Const; }

struct DecodedInst {
  static constexpr std::uint16_t kNone = 0x100, kSeveral = 0x101;

  RegisterSet uses;  ///< sources, destinations and the PC: one AND is the whole hazard check
  std::uint32_t writes = 0;           ///< kSeveral: into DecodedKernel's sets
  std::uint16_t destination = kNone;  ///< the one register written, kNone or kSeveral
  std::uint16_t latency = 1;
  std::uint8_t interval = 1;
  Route route = Route::Pipeline;
  Unit unit = Unit::Int;
  bool payload = false;  ///< the record is followed by pieces
  bool local = false;    ///< piece lines are relative to the warp's local window
  bool bypass_l1 = false;
};

class DecodedKernel {
 public:
  DecodedKernel(const trace::KernelCode& code, const SmSpec& sm);
  const DecodedInst* instructions() const { return instructions_.data(); }
  std::size_t size() const { return instructions_.size(); }
  const RegisterSet& several(const DecodedInst& in) const { return several_[in.writes]; }

 private:
  std::vector<DecodedInst> instructions_;
  std::vector<RegisterSet> several_;
};

}  // namespace raddle::timing
