// One DRAM channel with its controller: request queue, banks with one open row each, and the
// commands ACT, PRE, RD, WR, one a memory cycle. Constraints, named as in JEDEC JESD79-3 (DDR3):
// - same bank: ACT-ACT tRC, ACT-RD/WR tRCD, ACT-PRE tRAS, PRE-ACT tRP, RD-PRE tRTP, end of write
//   data-PRE tWR;
// - channel: ACT-ACT tRRD, RD-RD and WR-WR max(tCCD, burst), end of write data-RD tWTR, RD-WR
//   burst + 2 (the bus turns round).
//
// Write data follow their command after tCL as read data do. A request takes one column command per
// burst of burst_bytes; its bursts go out back to back (max(tCCD, burst) apart), and commands of
// other requests may fill the gaps.
//
// Reads come before writes until drain_high writes wait; then writes are served down to drain_low.
// Writes are also served while there is no read. Which request goes next is the policy's choice.
//
// Counters: queue_cycles (arrival to first column command) and bus_busy_cycles are memory cycles;
// row_hits are requests for which no row had to be opened.
//
// Left out: refresh, tFAW, bank groups, power-down, forwarding of queued writes to reads, ECC.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/age.h"
#include "raddle/base/mask.h"
#include "raddle/base/ring.h"
#include "raddle/policy/dram/policy.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/dram/clock.h"
#include "raddle/timing/gpu/machine.h"
#include "raddle/timing/mem/address_map.h"

namespace raddle::timing {

struct DramRequest {
  std::uint32_t line = 0;
  std::uint16_t tag = 0;  ///< the sender's handle; comes back with the data
  std::uint16_t sm = 0;
  std::uint8_t sectors = 0, slice = 0;  ///< slice inside the partition
  std::uint8_t kernel = 0;
  bool write = false;
};

/// Data of a read, complete at core cycle `at`.
struct DramReply {
  Cycle at = 0, since = 0;  ///< since: when the request was pushed
  std::uint32_t line = 0;
  std::uint16_t tag = 0;
  std::uint8_t sectors = 0, slice = 0;
};

enum class DramCommandKind : std::uint8_t { Activate, Precharge, Read, Write };

struct DramCommand {
  std::uint64_t at = 0;  ///< memory cycle
  DramCommandKind kind = DramCommandKind::Activate;
  std::uint32_t bank = 0, row = 0, column = 0;
  std::uint32_t line = 0;  ///< of the request it serves
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
  static constexpr unsigned kSlots = 128, kBanks = 64;

  /// `map` must outlive the channel.
  DramChannel(const MachineSpec& machine, const AddressMap& map,
              std::unique_ptr<policy::DramPolicy> policy);

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
  const stats::DramCounters& counters() const { return counters_; }
  policy::DramPolicy& policy() { return *policy_; }
  void observe(DramObserver* observer) { observer_ = observer; }
  /// false: looks at the queue every memory cycle instead of when something can have changed.
  void set_skip(bool skip) { skip_ = skip; }

 private:
  struct Slot {
    Cycle since = 0;
    std::uint64_t queued = 0;  // memory cycle of arrival
    std::uint32_t row = 0, column = 0;
    DramRequest request;
    bool opened = false;  // a row was opened for it
  };
  struct Bank {
    Mask128 slots;  // requests of this bank
    std::uint64_t column_at = 0, precharge_at = 0, activate_at = 0;
    std::uint64_t opened_at = 0;
    std::uint64_t timer = kNever;  // when refresh_bank has something to change
    std::uint32_t row = 0;
    bool open = false;
  };
  /// Requests whose bank allows their next command, by kind of command.
  struct Options {
    Mask128 candidates, columns, activates, precharges;
  };
  void plan(std::uint64_t m);
  void attempt(std::uint64_t m);
  void refresh_options();
  Mask128 issuable(std::uint64_t m) const;
  Mask128 closing_wanted_rows() const;
  void issue(std::uint64_t m, unsigned e);
  std::uint64_t next_change(std::uint64_t m) const;
  std::uint64_t next_chance(std::uint64_t m) const;
  bool bus_taken(std::uint64_t m) const;
  void await(unsigned e, std::uint64_t m);
  void expire_timers(std::uint64_t m);
  void refresh_bank(unsigned b, std::uint64_t m);
  void set_timer(unsigned b, std::uint64_t at);
  void column(std::uint64_t m, unsigned e);
  void move_data(std::uint64_t last, unsigned bursts, unsigned e);
  void activate(std::uint64_t m, unsigned e);
  void precharge(std::uint64_t m, unsigned e);
  void remove(unsigned e);
  void tell(std::uint64_t m, DramCommandKind kind, unsigned e) const;

  DramSpec spec_;
  const AddressMap& map_;
  ClockRatio clock_;
  std::unique_ptr<policy::DramPolicy> policy_;
  DramObserver* observer_ = nullptr;
  bool skip_ = true;
  unsigned capacity_, size_ = 0, writes_queued_ = 0;
  std::uint32_t burst_cycles_, step_;       // data cycles of a burst; distance of column commands
  std::array<std::uint8_t, 256> bursts_{};  // by sector mask

  std::array<Slot, kSlots> slot_;
  std::array<policy::DramTag, kSlots> tag_{};
  AgeMatrix128 age_;
  Mask128 used_, writes_, row_hit_, closed_;  // closed: the bank has no open row
  Mask128 ready_;                             // the bank allows the request's next command
  Options options_;
  bool options_stale_ = false;
  std::vector<Bank> bank_;
  std::uint64_t timed_banks_ = 0;
  std::uint64_t next_timer_ = kNever;
  std::uint64_t column_at_[2] = {}, activate_at_ = 0;  // channel-wide; by direction (1 = write)
  std::uint64_t train_from_ = 0, train_last_ = 0;      // column commands already decided
  bool train_ = false, draining_ = false, writing_ = false;
  std::uint64_t declined_until_ = 0;  // the policy wants nothing of what it has seen
  Cycle ticked_ = kNever;             // the core cycle of the last tick
  std::uint64_t next_attempt_ = kNever;
  Cycle due_ = kNever;  // core cycle of next_attempt_
  Ring<DramReply> replies_;
  stats::DramCounters counters_;
};

}  // namespace raddle::timing
