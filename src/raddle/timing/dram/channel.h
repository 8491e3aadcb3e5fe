// One DRAM channel with its controller: request queue, banks with one open row each, and the
// commands ACT, PRE, RD, WR and REF; one a memory cycle, or with two command buses (HBM) one for
// columns and one for rows. Constraints, named as in JEDEC JESD79-4 (DDR4), S between bank groups
// and L inside one:
// - same bank: ACT-ACT tRC, ACT-RD/WR tRCD, ACT-PRE tRAS, PRE-ACT tRP, RD-PRE tRTP,
//   end of write data-PRE tWR;
// - channel: ACT-ACT tRRD_S/L, five ACT in more than tFAW, RD-RD and WR-WR max(tCCD_S/L, burst),
//   end of write data-RD tWTR_S/L, RD-WR so that the data bus is idle for `turnaround` cycles;
// - refresh (refresh.cpp): all banks once in tREFI, or one bank after the other.
//
// Read data follow their command after tCL, write data after tCWL. A request takes one column
// command per burst of burst_bytes; all are planned when the first goes out, as close as its bank
// group allows. Where groups differ, bursts of other groups fill the gaps: if tCCD_L leaves no room
// for one and another group waits, the bursts move apart until it does.
//
// Reads come before writes until drain_high writes wait; then writes are served down to drain_low.
// Writes are also served while there is no read. Which request goes next is the policy's choice.
//
// model "fixed" (fixed.cpp) has none of this: a line per interval, data after a constant time.
//
// Where a mesh has controllers at nodes of their own (noc.mesh.memory_nodes), a read's data are
// later by the routers and links to and from its slice, and those packets are counted. They do not
// contend, and requests take their turn in the order in which slices ask.
//
// Left out: tRCD of writes where it is shorter, postponed refreshes, tRREFD, the second half cycle
// of an HBM ACT, power-down, forwarding of queued writes to reads, ECC.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "raddle/base/age.h"
#include "raddle/base/mask.h"
#include "raddle/base/ring.h"
#include "raddle/policy/dram/policy.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/dram/bank_timers.h"
#include "raddle/timing/dram/column_slots.h"
#include "raddle/timing/dram/controller_hops.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/clock.h"

namespace raddle::timing {

struct DramRequest {
  std::uint32_t line = 0;
  std::uint16_t tag = 0;  ///< the sender's handle; comes back with the data
  std::uint16_t sm = 0;
  std::uint8_t sectors = 0, slice = 0;  ///< slice inside the partition
  std::uint8_t kernel = 0;
  // One byte for all three: the queue's slots are as large as they may be.
  bool write : 1 = false;
  std::uint8_t tenant : 4 = 0;
  std::uint8_t core_rank : 3 = policy::kLastCoreRank;
  /// `rank`: of the core that asks, if one does.
  DramRequest& of(TenantId whose, std::uint8_t rank = policy::kLastCoreRank) {
    tenant = index(whose) & 0xf;
    core_rank = rank & policy::kLastCoreRank;
    return *this;
  }
};
static_assert(sizeof(DramRequest) == 12 && kMostTenants <= 16 && policy::kCoreRanks == 8);

/// Data of a read, complete at core cycle `at`.
struct DramReply {
  Cycle at = 0, since = 0;  ///< since: when the request was pushed
  std::uint32_t line = 0;
  std::uint16_t tag = 0;
  std::uint8_t sectors = 0, slice = 0;
};

/// RefreshAll: every bank, `bank` is 0.
enum class DramCommandKind : std::uint8_t {
  Activate,
  Precharge,
  PrechargeAll,
  Read,
  Write,
  Refresh,
  RefreshAll
};

struct DramCommand {
  std::uint64_t at = 0;  ///< memory cycle
  DramCommandKind kind = DramCommandKind::Activate;
  std::uint32_t bank = 0, row = 0, column = 0;
  std::uint32_t line = 0;  ///< of the request it serves; of none: 0
};

/// Sees every command, for tests and traces. The bursts of a request are told together, ahead of
/// time.
class DramObserver {
 public:
  virtual ~DramObserver() = default;
  virtual void on_command(const DramCommand& command) = 0;
};

class DramChannel {
 public:
  static constexpr unsigned kSlots = 128, kBanks = BankTimers::kBanks, kGroups = 16;
  static_assert(kBanks <= policy::kMostBanks);

  /// `map` must outlive the channel.
  DramChannel(const ChannelSpec& spec, const AddressMap& map,
              std::unique_ptr<policy::DramPolicy> policy);

  /// The ranks of tenants hold from core cycle `at` on, also for what waits.
  void obey(Cycle at, const policy::Knobs& knobs);
  /// The policy learns what tenants have done, and decides by that from core cycle `at` on.
  void learn(Cycle at, std::span<const policy::TenantCounts, kMostTenants> counts);
  /// That a request for these sectors moves, in whole bursts.
  std::uint32_t bytes_of(std::uint8_t sectors) const {
    return spec_.model == DramModel::Fixed
               ? static_cast<unsigned>(std::popcount(sectors)) * sector_bytes_
               : bursts_[sectors] * spec_.burst_bytes;
  }
  /// Free places in the queue.
  unsigned room() const { return capacity_ - size_; }
  /// Precondition: room() > 0. The request takes part from the first memory cycle not before core
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

  bool idle() const { return size_ == 0 && replies_.empty(); }
  void describe(std::string& out) const;
  /// Sum over the launch slots, and of one.
  stats::DramCounters counters() const { return counters_.total(); }
  const stats::DramCounters& counters(unsigned kernel) const { return counters_[kernel]; }
  policy::DramPolicy& policy() { return *policy_; }
  void observe(DramObserver* observer) { observer_ = observer; }
  /// false: looks at the queue every memory cycle instead of when something can have changed.
  void set_skip(bool skip) { skip_ = skip; }

 private:
  struct alignas(32) Slot {  // two to a line of the host
    Cycle since = 0;
    std::uint64_t queued = 0;  // memory cycle of arrival
    std::uint32_t column = 0;
    DramRequest request;
  };
  struct alignas(64) Bank {  // a line of the host
    Mask128 slots;           // requests of this bank
    std::uint64_t column_at = 0, precharge_at = 0, activate_at = 0;
    std::uint64_t opened_at = 0;
    std::uint32_t row = 0;
    std::uint8_t group = 0;
    bool open = false, refreshing = false;  // refreshing: takes no requests until REF
  };
  /// Commands whose distance depends on the bank group.
  enum Kind : std::uint8_t { kRead, kWrite, kActivate };
  /// Requests whose bank allows their next command, by kind of command.
  struct Options {
    Mask128 candidates, columns, activates, precharges;
  };
  /// What may still go out in this memory cycle.
  struct Free {
    bool row, column;
  };
  std::uint64_t arrive(unsigned e, std::uint64_t m);
  void plan(std::uint64_t m);
  void ask_again(Cycle at);
  void attempt(std::uint64_t m);
  void decide(std::uint64_t m, Free free);
  void refresh_options();
  Mask128 issuable(std::uint64_t m, Free free);
  void issue(std::uint64_t m, unsigned e);
  std::uint64_t next_change(std::uint64_t m) const;
  std::uint64_t next_chance(std::uint64_t m) const;
  std::uint64_t next_column(std::uint64_t m) const;
  std::uint64_t next_row(std::uint64_t m) const;
  Mask128 late_slots(Kind kind, std::uint64_t m) const;
  std::uint64_t group_time(Kind kind, const Mask128& options, std::uint64_t m) const;
  void delay_group(Kind kind, unsigned group, std::uint64_t at);
  void note_wanted_row(const Bank& bank);
  void await(unsigned e, std::uint64_t m);
  void expire_timers(std::uint64_t m);
  void wake_bank(unsigned b, std::uint64_t m);
  void hold_bank(unsigned b, std::uint64_t at);
  void column(std::uint64_t m, unsigned e);
  std::uint32_t step_of(unsigned group) const;
  void move_data(std::uint64_t last, unsigned bursts, unsigned e);
  void reply(Cycle at, Cycle since, const DramRequest& request);
  void activate(std::uint64_t m, unsigned e);
  void precharge(std::uint64_t m, unsigned e);
  void close(std::uint64_t m, Bank& bank);
  void remove(unsigned e);
  void tell(std::uint64_t m, DramCommandKind kind, unsigned e) const;
  stats::DramCounters& counters_of(unsigned e) { return counters_[tag_[e].kernel]; }

  // refresh.cpp
  bool refresh(std::uint64_t m, bool row_free, unsigned kernel);
  std::uint64_t close_for_refresh(std::uint64_t m, unsigned first, unsigned end, unsigned kernel);
  void send_refresh(std::uint64_t m, unsigned first, unsigned end, unsigned kernel);
  void catch_up(std::uint64_t m, unsigned kernel);

  // fixed.cpp
  void push_fixed(Cycle now, const DramRequest& request);
  void tick_fixed(Cycle now);

  DramSpec spec_;
  const AddressMap& map_;
  ControllerHops ways_;
  ClockRatio clock_;
  std::unique_ptr<policy::DramPolicy> policy_;
  DramObserver* observer_ = nullptr;
  bool skip_ = true, two_buses_;
  bool ranked_ = false;  // tenants have different ranks
  unsigned capacity_, size_ = 0, writes_queued_ = 0;
  std::uint32_t sector_bytes_, burst_cycles_, step_s_, step_l_, read_to_write_;
  std::array<std::uint8_t, 256> bursts_{};  // by sector mask

  std::array<Slot, kSlots> slot_;
  std::array<std::uint32_t, kSlots>
      row_;         // by slot; beside one another, since all of a bank are asked
  Mask128 opened_;  // a row was opened for them
  std::array<policy::DramTag, kSlots> tag_{};
  AgeMatrix128 age_;
  Mask128 used_, writes_, row_hit_, closed_;  // closed: the bank has no open row
  Mask128 ready_;                             // the bank allows the request's next command
  Mask128 of_wanted_row_[2];  // by direction: their bank's open row is hit by a request of it
  std::array<Mask128, kGroups> group_slots_;
  Options options_;
  bool options_stale_ = false;
  std::vector<Bank> bank_;
  BankTimers timers_;                          // when wake_bank has something to change
  std::uint64_t column_at_[2] = {};            // by direction, after one of the other direction
  std::uint64_t activate_at_ = 0;              // after tRRD_S and tFAW
  std::array<std::uint64_t, 4> window_end_{};  // of the last four ACT: when tFAW is over
  unsigned oldest_window_ = 0;
  // By Kind: whether groups wait longer than the channel, and until when each.
  std::array<bool, 3> by_group_;
  std::array<std::array<std::uint64_t, kGroups>, 3> group_at_{};
  ColumnSlots column_slots_;
  bool draining_ = false, writing_ = false;
  std::uint64_t declined_until_ = 0;  // the policy wants nothing of what it has seen
  std::uint64_t refresh_due_ = kNever, refresh_at_ = kNever;  // due; when it has something to do
  unsigned refresh_bank_ = 0;                                 // the next, where one is done alone
  bool refreshing_ = false;
  Cycle ticked_ = kNever;  // the core cycle of the last tick
  std::uint64_t next_attempt_ = kNever;
  Cycle due_ = kNever;  // core cycle of next_attempt_
  Ring<DramReply> replies_;
  Ring<Cycle> starts_;  // model fixed: of the requests that wait
  Cycle fixed_free_ = 0;
  std::array<std::uint8_t, kMostTenants> rank_{};
  stats::PerKernel<stats::DramCounters> counters_;
};

}  // namespace raddle::timing
