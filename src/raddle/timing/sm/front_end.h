// Front end of an SM: from a warp's op stream to the machine instruction it issues next, and when
// that is there.
//
// Decoding. A record of the stream is a run of PTX instructions under one lane mask, each of which
// stands for some machine instructions (DecodedKernel); a warp's `next` goes through them one by
// one.
//
// Fetch. A warp's buffer holds `buffer` instructions. Behind a jump (any two instructions of the
// stream that do not follow each other in the program: a taken branch, another path after
// reconvergence) and at the start of a warp it is empty, and the first instruction can issue
// `cycles` later than it otherwise could. On straight code fetch keeps ahead: an entry is filled
// again `cycles` after its instruction left, so that a warp issues at most `buffer` instructions in
// `cycles` cycles, which binds only when buffer < cycles. Lines of instructions come from
// instruction_cache.h.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/prefetch.h"
#include "raddle/timing/sm/instruction_cache.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

class FrontEnd {
 public:
  FrontEnd(const SmSpec& spec, const SchedulerSlots& slots)
      : spec_(spec.fetch), slots_(slots), caches_(spec) {
    short_buffer_ = spec_.buffer < spec_.cycles;
    if (short_buffer_) {
      left_.resize(std::size_t{spec.warps} * spec_.buffer);
      entry_.resize(spec.warps);
    }
    limits_straight_code_ = short_buffer_ || caches_.present();
    present_ = spec_.cycles != 0 || limits_straight_code_;
  }
  /// false: every instruction is there when it is wanted.
  bool present() const { return present_; }
  /// Straight code may have to wait too, not only what is behind a jump.
  bool limits_straight_code() const { return limits_straight_code_; }

  /// Goes to the next record that stands for any machine instruction; false at the end of the
  /// warp's stream.
  static bool read_record(Warp& warp);
  /// Goes to the machine instruction after `next`; false at the end of the warp's stream.
  [[gnu::always_inline]] static bool decode_next(Warp& warp) {
    RADDLE_ASSERT(warp.remaining != 0);
    if (--warp.remaining != 0) {
      ++warp.next;
      return true;
    }
    warp.cursor.at += warp.record_words;
    return read_record(warp);
  }

  /// When a warp whose buffer is empty, and which could issue at `from`, has its next instruction.
  Cycle refilled(Cycle from, unsigned w, const Warp& warp) {
    Cycle there = from;
    if (caches_.present())
      there = caches_.ready(from, slots_.scheduler_of(w), *warp.launch, index_of(warp));
    return there + spec_.cycles;
  }
  /// A warp has issued an instruction at `now`; returns when the buffer has the one that takes the
  /// entry after it, if the code is straight.
  Cycle buffered(Cycle now, Cycle from, unsigned w) {
    if (!short_buffer_) return from;
    Cycle* left = &left_[std::size_t{w} * spec_.buffer];
    left[entry_[w]] = now;
    entry_[w] = static_cast<std::uint8_t>(entry_[w] + 1u == spec_.buffer ? 0 : entry_[w] + 1);
    return std::max(from, left[entry_[w]] + spec_.cycles);
  }
  /// When the line of the warp's next instruction is there, which follows the last one in the code.
  Cycle line_ready(Cycle from, unsigned w, const Warp& warp) {
    if (!caches_.present()) return from;
    const std::uint32_t index = index_of(warp);
    if (caches_.same_line(index - 1, index)) return from;
    return caches_.ready(from, slots_.scheduler_of(w), *warp.launch, index);
  }
  /// The instruction caches are emptied.
  void forget() { caches_.forget(); }

 private:
  static std::uint32_t index_of(const Warp& warp) {
    return static_cast<std::uint32_t>(warp.next - warp.launch->code->instructions());
  }

  FetchSpec spec_;
  SchedulerSlots slots_;
  InstructionCaches caches_;
  std::vector<Cycle> left_;          // by slot and buffer entry: when its instruction issued
  std::vector<std::uint8_t> entry_;  // by slot: buffer entry of the next instruction
  bool present_ = false, short_buffer_ = false, limits_straight_code_ = false;
};

namespace front_end_detail {

/// Most records are for all lanes, and counting bits is slow where there is no instruction for it.
inline std::uint8_t lanes_in(LaneMask mask) {
  return static_cast<std::uint8_t>(mask == kFullMask ? kLanes
                                                     : static_cast<unsigned>(std::popcount(mask)));
}

/// Hints that a record's pieces and what follows will be read: a warp comes back to its stream
/// after all other warps of the machine.
inline void prefetch_record(const std::uint32_t* at, unsigned words) {
  constexpr unsigned kLine = 64 / sizeof *at;
  for (unsigned i = kLine; i < words + kLine; i += kLine) prefetch(at + i);
}

}  // namespace front_end_detail

inline bool FrontEnd::read_record(Warp& warp) {
  const DecodedKernel& code = *warp.launch->code;
  while (true) {
    if (warp.cursor.at == warp.cursor.end && !warp.launch->stream->refill(warp.cursor))
      return false;
    const std::uint32_t* at = warp.cursor.at;
    const trace::Record record{at[0], at[1]};
    RADDLE_ASSERT(record.inst() + record.count() <= code.ptx_size());
    const Expansion& e = code.expansions()[record.inst()];
    const std::uint32_t first = e.first();
    const std::uint32_t end = code.expansions()[record.inst() + record.count()].first();
    const unsigned words =
        trace::kRecordWords + (e.payload() ? trace::kTransactionWords * record.transactions() : 0);
    if (first == end) {
      warp.cursor.at += words;
      continue;
    }
    warp.next = code.instructions() + first;
    warp.remaining = static_cast<std::uint16_t>(end - first);
    warp.mask = record.mask;
    warp.active = e.barrier() ? warp.lanes : front_end_detail::lanes_in(record.mask);
    warp.transactions = static_cast<std::uint8_t>(record.transactions());
    warp.record_words = static_cast<std::uint8_t>(words);
    front_end_detail::prefetch_record(at, words);
    return true;
  }
}

}  // namespace raddle::timing
