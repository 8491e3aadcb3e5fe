// One DRAM channel with its controller: a request queue (queue.h), banks with one open row each
// (banks.h), what they share (channel_timing.h), refresh (refresh.h), and the arbiter that asks the
// policy whose command goes next (arbiter.h). Commands are ACT, PRE, RD, WR and REF; one a memory
// cycle, or with two command buses (HBM) one for columns and one for rows. Constraints are named as
// in JEDEC JESD79-4 (DDR4). The channel itself moves requests between these parts, knows when there
// is something to do, and counts.
//
// Read data follow their command after tCL, write data after tCWL. A request takes one column
// command per burst of burst_bytes; all are planned when the first goes out, as close as its bank
// group allows. Where groups differ, bursts of other groups fill the gaps: if tCCD_L leaves no room
// for one and another group waits, the bursts move apart until it does.
//
// model "fixed" (fixed.h) has none of this: a line per interval, data after a constant time.
//
// Where a mesh has controllers at nodes of their own (noc.mesh.memory_nodes), a read's data are
// later by the routers and links to and from its slice, and those packets are counted. They do not
// contend, and requests take their turn in the order in which slices ask.
//
// Left out: tRCD of writes where it is shorter, postponed refreshes, tRREFD, the second half cycle
// of an HBM ACT, power-down, forwarding of queued writes to reads, ECC.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "raddle/base/ring.h"
#include "raddle/policy/dram/policy.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/dram/arbiter.h"
#include "raddle/timing/dram/banks.h"
#include "raddle/timing/dram/channel_timing.h"
#include "raddle/timing/dram/controller_hops.h"
#include "raddle/timing/dram/fixed.h"
#include "raddle/timing/dram/queue.h"
#include "raddle/timing/dram/refresh.h"
#include "raddle/timing/dram/request.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/clock.h"

namespace raddle::timing {

class DramChannel {
 public:
  static_assert(DramBanks::kBanks <= policy::kMaxBanks);

  /// `map` must outlive the channel.
  DramChannel(const ChannelSpec& spec, const AddressMap& map,
              std::unique_ptr<policy::DramPolicy> policy);

  /// The ranks of tenants hold from core cycle `at` on, also for what waits.
  void obey(Cycle at, const policy::Knobs& knobs);
  /// The policy learns what tenants have done, and decides by that from core cycle `at` on.
  void learn(Cycle at, std::span<const policy::TenantCounts, kMaxTenants> counts);
  /// That a request for these sectors moves, in whole bursts.
  std::uint32_t bytes_of(std::uint8_t sectors) const {
    return fixed_model_ ? static_cast<unsigned>(std::popcount(sectors)) * sector_bytes_
                        : bursts_[sectors] * spec_.burst_bytes;
  }
  /// Free places in the queue.
  unsigned free_slots() const { return fixed_model_ ? fixed_.free_slots() : queue_.free_slots(); }
  /// Precondition: free_slots() > 0. The request takes part from the first memory cycle not before
  /// core
  /// cycle `now` (if tick(now) has been called already: the first after it).
  void push(Cycle now, const DramRequest& request);
  /// The next core cycle in which it can act; replies apart.
  Cycle due() const { return due_; }
  /// Performs the memory cycles up to core cycle `now`. Must be called in every cycle that due()
  /// names.
  void tick(Cycle now);
  /// Data of reads, in order of completion; the owner pops those whose time has come.
  Ring<DramReply>& replies() { return replies_; }
  const Ring<DramReply>& replies() const { return replies_; }

  bool idle() const { return queue_.empty() && fixed_.size() == 0 && replies_.empty(); }
  void describe(std::string& out) const;
  /// Sum over the launch slots, and of one.
  stats::DramCounters counters() const { return counters_.total(); }
  const stats::DramCounters& counters(unsigned kernel) const { return counters_[kernel]; }
  policy::DramPolicy& policy() { return arbiter_.policy(); }
  void observe(DramObserver* observer) { observer_ = observer; }
  /// false: looks at the queue every memory cycle instead of when something can have changed.
  void set_skip(bool skip) { skip_ = skip; }

 private:
  // m: a memory cycle; e: a slot of the queue.
  std::uint64_t first_chance(unsigned e, std::uint64_t m) const;
  void plan(std::uint64_t m);
  void ask_again(Cycle at);
  void attempt(std::uint64_t m);
  void decide(std::uint64_t m, DramArbiter::Buses buses);
  void issue(std::uint64_t m, unsigned e);
  void column(std::uint64_t m, unsigned e);
  void activate(std::uint64_t m, unsigned e);
  void precharge(std::uint64_t m, unsigned e);
  std::uint64_t move_data(std::uint64_t last, unsigned bursts, unsigned e);
  void reply(Cycle at, Cycle since, const DramRequest& request);
  void report(std::uint64_t m, DramCommandKind kind, unsigned e) const;
  void push_fixed(Cycle now, const DramRequest& request);
  DramRefresh::Target refresh_target(unsigned kernel);
  stats::DramCounters& counters_of(unsigned e) { return counters_[queue_.tag(e).kernel]; }

  DramSpec spec_;
  const AddressMap& map_;
  ControllerHops ways_;
  ClockRatio clock_;
  DramObserver* observer_ = nullptr;
  bool skip_ = true, two_buses_, fixed_model_;
  std::uint32_t sector_bytes_, burst_cycles_;
  std::array<std::uint8_t, 256> bursts_{};  // by sector mask
  DramQueue queue_;
  DramBanks banks_;
  ChannelTiming timing_;
  DramArbiter arbiter_;
  DramRefresh refresh_;
  FixedDram fixed_;
  Cycle ticked_ = kNever;  // the core cycle of the last tick
  std::uint64_t next_attempt_ = kNever;
  Cycle due_ = kNever;  // core cycle of next_attempt_
  Ring<DramReply> replies_;
  stats::PerKernel<stats::DramCounters> counters_;
};

}  // namespace raddle::timing
