// Instructions too rare, or with too many operands, for records and handlers of their own: an
// object each, made by the decoder, called by the record O_slow (registers only) or O_slow_access
// (writes its own entry of the op stream).
#pragma once
#include <cstdint>

#include "raddle/exec/isa/record.h"
#include "raddle/ptx/module.h"

namespace raddle::exec {

/// One execution: the warp's frame and the lanes that take part.
struct SlowRun {
  Context* context;
  const Record* record;
  char* frame;
  std::uint32_t mask;
};

class SlowInstruction {
 public:
  virtual ~SlowInstruction() = default;
  virtual void run(const SlowRun& run) const = 0;

  SlowInstruction() = default;
  SlowInstruction(const SlowInstruction&) = delete;
  SlowInstruction& operator=(const SlowInstruction&) = delete;
};

// --- registers -----------------------------------------------------------------------------------
template <class T>
T lane_value(const char* frame, std::uint32_t offset, unsigned lane) {
  T value;
  __builtin_memcpy(&value, frame + offset + sizeof(T) * lane, sizeof(T));
  return value;
}
template <class T>
void set_lane(char* frame, std::uint32_t offset, unsigned lane, T value) {
  __builtin_memcpy(frame + offset + sizeof(T) * lane, &value, sizeof(T));
}
/// f(lane) for each lane of the mask, lowest first.
template <class F>
void each_lane(std::uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(__builtin_ctz(mask)));
}

}  // namespace raddle::exec
