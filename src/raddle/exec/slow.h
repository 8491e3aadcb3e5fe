// Instructions too rare, or with too many operands, for records and handlers of their own: an
// object each, made by the decoder, called by the record O_slow (registers only) or O_slow_access
// (writes its own entry of the op stream).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/exec/record.h"
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

// --- memory --------------------------------------------------------------------------------------
/// The address operand of a slow instruction.
struct SlowAddress {
  ptx::Space space = ptx::Space::Generic;
  std::uint32_t at = 0;  ///< frame offset of the register
  bool narrow = false;   ///< of 32 bits
  std::int64_t offset = 0;
  std::uint64_t of(const char* frame, unsigned lane) const {
    const std::uint64_t base = narrow ? lane_value<std::uint32_t>(frame, at, lane)
                                      : lane_value<std::uint64_t>(frame, at, lane);
    return base + static_cast<std::uint64_t>(offset);
  }
};

/// The bytes of one instruction's accesses, checked one by one, and what the op stream says of
/// them. All of them are in one memory: the one of the first access.
class SlowAccess {
 public:
  SlowAccess(const SlowRun& run, ptx::Space space, bool store)
      : run_(run), space_(space), store_(store) {}
  /// Where `bytes` (a power of two up to 16) at `address` lie. Throws RunError when they are
  /// outside or misaligned, or a generic address means another memory than those before.
  char* at(unsigned lane, std::uint64_t address, unsigned bytes);
  /// Writes the entry of the op stream: lines of global memory, bank passes of shared memory, at
  /// least as many as given.
  void write(std::uint32_t mask, unsigned passes = 1);
  bool is_shared() const { return space_ == ptx::Space::Shared; }

 private:
  char* global(unsigned lane, std::uint64_t address, unsigned bytes);
  char* shared(unsigned lane, std::uint64_t address, unsigned bytes);
  void resolve(unsigned lane, std::uint64_t address);
  [[noreturn]] void fail(unsigned lane, std::uint64_t address, unsigned bytes,
                         std::string_view why) const;

  const SlowRun& run_;
  ptx::Space space_;
  const bool store_;
  std::uint64_t window_ = 0;  ///< taken off addresses; a generic one's
  bool aliased_ = false;      ///< generic, and means shared memory
  unsigned pieces_ = 0;
  struct Piece {
    std::uint32_t line, words, lanes;
  };
  std::array<Piece, 63> piece_;
  std::array<std::uint8_t, 32> load_{};    ///< different words by bank of shared memory
  std::array<std::uint64_t, 128> seen_{};  ///< words of shared memory already counted, +1, hashed
};

}  // namespace raddle::exec
