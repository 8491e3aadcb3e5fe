// Instruction caches of an SM: one for the SM or for each scheduler (L0), and one behind them (L1).
//
// Going over to another line, in sequence or by a jump, asks for it. What is missing comes from the
// level below, `miss_latency` later for all warps that wait for it, or earlier with a stream
// buffer: behind a miss the next lines follow by themselves, one every `stream_interval` cycles, up
// to `stream_lines` ahead of the last one that was asked for. Behind the L1 everything is there.
// A launch brings the first lines of its kernel's code into the L1 by itself; the first of them is
// there an L1 miss after the launch's first warp. A kernel that was on the SM before finds what is
// left of its lines, unless the caches were emptied in between.
//
// Sources: L0 and L1 of Volta's SMs (NVIDIA, "Tesla V100 GPU Architecture", 2017); a stream buffer
// behind misses of the L0 (Huerta et al., MICRO 2025, section 5.2); rates, and that launches fetch
// ahead, measured on an H100 (docs/machines.md). Left out: arbitration between the warps that
// fetch (a scheduler fetches as much as it issues), requests of instructions to the L2.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "raddle/base/limits.h"
#include "raddle/base/types.h"
#include "raddle/timing/cache/tags.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/spec/sm_spec.h"

namespace raddle::timing {

class InstructionCache {
 public:
  struct Shape {
    std::uint32_t sets = 1, ways = 1;
    Cycle miss_latency = 1, stream_interval = 1;
    std::uint32_t stream_lines = 0;  ///< 0: no stream buffer
  };
  explicit InstructionCache(const Shape& shape)
      : shape_(shape), tags_(shape.sets, shape.ways), there_(tags_.handles()) {}

  /// The cycle from which the line `tag`, the `place`-th of its kernel, is there, not before `now`.
  /// If it is missing it is asked for, and comes at arrival().
  template <class Arrival>
  Cycle ready(Cycle now, std::uint32_t tag, std::uint32_t place, Arrival arrival) {
    const unsigned set = place % shape_.sets;
    unsigned at = tags_.find(set, tag);
    if (at != Tags::kAbsent) {
      tags_.touch(at);
      return std::max(there_[at], now);
    }
    const Cycle there = arrival();
    tags_.fill(set, tag, 1, 0, at);
    there_[at] = there;
    return there;
  }
  /// When a line comes that is missing at `now`; the level below has it at `below`.
  Cycle arrival(Cycle now, std::uint32_t tag, Cycle below) {
    const std::uint32_t ahead = tag - last_;
    Cycle came = below + shape_.miss_latency;
    if (streaming_ && ahead >= 1 && ahead <= shape_.stream_lines) {
      // It may have come before it is asked for: then the buffer filled up and waits.
      const Cycle room = shape_.stream_lines * shape_.stream_interval;
      const Cycle streamed =
          std::max(last_came_ + ahead * shape_.stream_interval, now > room ? now - room : 0);
      came = std::min(came, below > now ? std::max(streamed, below) : streamed);
    }
    last_ = tag;
    last_came_ = came;
    streaming_ = shape_.stream_lines != 0;
    return std::max(came, now);
  }
  void forget() {
    tags_.invalidate_all();
    streaming_ = false;
  }

 private:
  Shape shape_;
  Tags tags_;
  std::vector<Cycle> there_;  // by handle of the tag
  // The stream: the line that was missed last, and when it came, or could have.
  bool streaming_ = false;
  std::uint32_t last_ = 0;
  Cycle last_came_ = 0;
};

/// All of an SM's; none if `sm.fetch.cache_kib` is 0.
class InstructionCaches {
 public:
  explicit InstructionCaches(const SmSpec& sm)
      : line_shift_(static_cast<unsigned>(
            std::countr_zero(sm.fetch.cache_line_bytes / sm.fetch.instruction_bytes))),
        launch_lines_(sm.fetch.launch_kib * 1024 / sm.fetch.cache_line_bytes),
        l1_miss_latency_(sm.fetch.l1_miss_latency_cycles) {
    const FetchSpec& f = sm.fetch;
    if (f.cache_kib == 0) return;
    const InstructionCache::Shape shape{f.cache_sets(), f.cache_ways, f.miss_latency_cycles,
                                        f.stream_interval_cycles, f.stream_lines};
    for (unsigned n = f.cache_per_scheduler ? sm.schedulers : 1; n != 0; --n)
      l0_.emplace_back(shape);
    if (f.l1_kib == 0) return;
    l1_.emplace(InstructionCache::Shape{f.l1_sets(), f.l1_ways, f.l1_miss_latency_cycles,
                                        f.l1_stream_interval_cycles, f.stream_lines});
    started_.resize(kKernelSlots);
  }
  bool present() const { return !l0_.empty(); }
  bool same_line(std::uint32_t a, std::uint32_t b) const {
    return a >> line_shift_ == b >> line_shift_;
  }
  /// The cycle from which a scheduler has the launch's machine instruction `inst`; asks for its
  /// line if that is missing.
  Cycle ready(Cycle now, unsigned scheduler, const Launch& launch, std::uint32_t inst) {
    const std::uint32_t place = inst >> line_shift_;
    const std::uint32_t tag = (launch.code->number() << kLineBits) + place;
    InstructionCache& l0 = l0_[l0_.size() == 1 ? 0 : scheduler];
    return l0.ready(now, tag, place, [&] {
      return l0.arrival(now, tag, l1_ ? in_l1(now, launch, tag, place) : now);
    });
  }
  void forget() {
    for (InstructionCache& c : l0_) c.forget();
    if (l1_) l1_->forget();
  }

 private:
  struct Started {
    std::uint64_t sequence = ~std::uint64_t{0};
    Cycle at = 0;
  };
  // Lines of a kernel are below 2^18; kernels 2^14 apart may take each other's for theirs.
  static constexpr unsigned kLineBits = 18;

  Cycle in_l1(Cycle now, const Launch& launch, std::uint32_t tag, std::uint32_t place) {
    Started& started = started_[launch.slot];
    if (started.sequence != launch.sequence) started = {launch.sequence, now};
    return l1_->ready(now, tag, place, [&] {
      if (place < launch_lines_) return std::max(now, started.at + l1_miss_latency_);
      return l1_->arrival(now, tag, now);
    });
  }
  unsigned line_shift_;
  std::uint32_t launch_lines_;
  Cycle l1_miss_latency_;
  std::vector<InstructionCache> l0_;    // one, one for each scheduler, or none
  std::optional<InstructionCache> l1_;  // none: behind the L0 everything is there
  std::vector<Started> started_;        // by launch slot: when its first warp fetched
};

}  // namespace raddle::timing
