// Counters of the machine: plain integers, incremented where things happen. Each is a line of
// metrics.def, which says its unit and meaning, and where it is shown; the structs here have the
// lines of one owner each. Intervals and kernels are differences of snapshots.
#pragma once
#include <array>
#include <cstdint>

#include "raddle/base/limits.h"
#include "raddle/base/zeroed_array.h"
#include "raddle/stats/accumulate.h"
#include "raddle/stats/terms.h"

namespace raddle::stats {

using raddle::kKernelSlots;

/// A component's counters, kept apart by the launch slot they were counted for.
template <class Counters>
class PerKernel {
 public:
  /// For so many slots: kernel_slots() of the machine.
  explicit PerKernel(unsigned slots) : slot_(slots) {}
  unsigned slots() const { return static_cast<unsigned>(slot_.size()); }
  Counters& operator[](unsigned slot) { return slot_[slot]; }
  const Counters& operator[](unsigned slot) const { return slot_[slot]; }
  Counters total() const {
    Counters sum;
    for (const Counters& c : slot_) accumulate(sum, c);
    return sum;
  }

 private:
  ZeroedArray<Counters> slot_;
};

/// What an SM's warps do; kept by kernel.
struct SmCounters {
#define RADDLE_MEMBERS_OF_sm(...) __VA_ARGS__
#include "raddle/stats/counter_members.inc"
};

/// What sharing the GPU costs; kept by kernel, all 0 without a scheme (policy/scheme). The port to
/// the interconnect looks for a token whenever it is free.
struct SharingCounters {
#define RADDLE_MEMBERS_OF_sharing(...) __VA_ARGS__
#include "raddle/stats/counter_members.inc"
};

/// What an SM's schedulers do, whomever they serve.
struct SchedulerCounters {
#define RADDLE_MEMBERS_OF_scheduler(...) __VA_ARGS__
#include "raddle/stats/counter_members.inc"
};

/// Packets that were delivered.
struct NocTraffic {
#define RADDLE_MEMBERS_OF_traffic(...) __VA_ARGS__
#include "raddle/stats/counter_members.inc"
};
/// All packets, and those of each kind.
struct NocCounters : NocTraffic {
  std::array<NocTraffic, kNocKinds> kind{};
};

/// One port of a network. Cycles are the network's.
struct NocPort {
#define RADDLE_MEMBERS_OF_port(...) __VA_ARGS__
#include "raddle/stats/counter_members.inc"
};

/// How each is counted: timing/mem/l2_slice.h.
struct L2Counters {
#define RADDLE_MEMBERS_OF_l2(...) __VA_ARGS__
#include "raddle/stats/counter_members.inc"
};

/// Cycles are memory cycles (dram.clock_mhz); core cycles with dram.model = "fixed".
struct DramCounters {
#define RADDLE_MEMBERS_OF_dram(...) __VA_ARGS__
#include "raddle/stats/counter_members.inc"
  NocTraffic legs;  ///< packets between L2 slices and controllers, where a mesh carries them
};

/// The whole machine.
struct GpuCounters {
  SmCounters sm;
  SharingCounters sharing;
  SchedulerCounters scheduler;
  NocCounters request, reply;
  L2Counters l2;
  DramCounters dram;
};
static_assert(OnlyCounters<GpuCounters> && OnlyCounters<NocPort>);

}  // namespace raddle::stats
