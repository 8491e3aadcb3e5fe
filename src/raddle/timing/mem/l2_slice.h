// One slice of the L2: sectored, set-associative, LRU, write-back, write-allocate.
//
// One look-up per interval_cycles, in order. Whatever a request finds, its reply leaves
// hit_latency_cycles after its data are there: a hit's at the look-up, a miss's when DRAM has
// delivered (the miss itself goes to DRAM at the look-up). Replies leave in order of readiness, one
// flit a cycle. The pipeline holds as many replies as it has cycles, and eight more behind it; when
// it is full, or no MSHR, merge slot, DRAM queue place or write-back place is free, the head waits
// and with it, through credits, the network.
//
// Writes install their sectors without fetching: byte masks are not carried, so a sector write
// counts as whole. A write hits if its line has a way. Atomics and reductions are performed here:
// their sectors are fetched if absent, become dirty, and the slice performs one message (one line,
// however many lanes) per atomic_interval_cycles.
//
// Counters: a miss asks DRAM for sectors (or is a write that takes a way); a pending hit waits for
// sectors that are already on their way. miss_cycles sums over what was asked of DRAM.
//
// Left out: byte masks, ordering of a write-back against a later read of the same line in DRAM
// (function is decoupled, so only time is concerned).
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "raddle/base/ring.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/dram/channel.h"
#include "raddle/timing/gpu/machine.h"
#include "raddle/timing/mem/address_map.h"
#include "raddle/timing/mem/mshr.h"
#include "raddle/timing/mem/request_queue.h"
#include "raddle/timing/mem/tags.h"
#include "raddle/timing/memory_ports.h"
#include "raddle/timing/noc/flits.h"

namespace raddle::timing {

/// Dirty sectors on their way to DRAM.
struct WriteBack {
  std::uint32_t line = 0;
  std::uint8_t sectors = 0, slice = 0;
};

class L2Slice {
 public:
  /// `id` counts through the whole machine, `place` inside the partition. References must outlive
  /// the slice.
  L2Slice(const MachineSpec& machine, const AddressMap& map, unsigned id, unsigned place,
          DramChannel& dram, Ring<WriteBack>& write_backs);

  SlicePorts& ports() { return ports_; }
  /// A blocked head waits for this partition, not for the network, and credits matter only to one
  /// who lacks them.
  Cycle next_arrival() const {
    Cycle head = wait_ == Wait::Nothing ? ports_.from_noc.next_arrival() : kNever;
    return lacks_credits() ? std::min(head, ports_.credit_in.next_arrival()) : head;
  }
  /// Returns next_event(now + 1).
  Cycle tick(Cycle now);
  /// First cycle at or after `from` at which it can act, if nothing happens in the other parts of
  /// the partition.
  Cycle next_event(Cycle from) const;
  /// Data from DRAM; before tick(now).
  void fill(Cycle now, const DramReply& reply);
  /// First cycle at or after `from` at which a blocked head can go on; kNever if none is blocked or
  /// nothing has changed.
  Cycle retry_at(Cycle from) const {
    return wait_ != Wait::Nothing && may_go_on() ? std::max(from, look_up_free_) : kNever;
  }
  /// Lets a blocked head try again whatever it waits for (no-skip).
  void retry() { wait_ = Wait::Nothing; }

  bool idle() const;
  void describe(std::string& out) const;
  const stats::L2Counters& counters() const { return counters_; }

  /// Requests that could evict are held back while so many write-backs wait.
  static constexpr unsigned kWriteBackLimit = 32;

 private:
  /// What the oldest request waits for: it is looked up again only when that has changed.
  enum class Wait : std::uint8_t { Nothing, Replies, WriteBacks, Mshr, DramRoom };
  static constexpr unsigned kUnknown = ~0u;
  unsigned head_set();
  Wait look_up(Cycle now);
  Wait write(Cycle now, const Message& m);
  Wait read(Cycle now, const Message& m);
  Wait miss(Cycle now, const Message& m, std::uint8_t missing);
  void serve(Cycle now, const Message& m);
  void install(unsigned set, std::uint32_t line, std::uint8_t sectors, std::uint8_t dirty);
  void accept(Cycle now);
  void perform_atomic(Cycle now);
  void inject(Cycle now);
  bool write_backs_full() const { return write_backs_.size() >= kWriteBackLimit; }
  bool replies_full() const { return replies_.size() + atomics_.size() >= reply_limit_; }
  bool lacks_credits() const {
    return credits_ < max_flits_ && !replies_.empty() &&
           credits_ < reply_flits_.flits(replies_.front());
  }
  /// Whether the head waits for nothing, or what it waits for has come.
  bool may_go_on() const {
    switch (wait_) {
      case Wait::Nothing:
        break;
      case Wait::Mshr:
        return false;  // a fill ends the wait for an MSHR
      case Wait::Replies:
        return !replies_full();
      case Wait::WriteBacks:
        return !write_backs_full();
      case Wait::DramRoom:
        return dram_.room() != 0;
    }
    return true;
  }

  L2Spec spec_;
  const AddressMap& map_;
  DramChannel& dram_;
  Ring<WriteBack>& write_backs_;
  FlitTable request_flits_, reply_flits_;
  PortPace pace_;
  Cycle latency_;
  unsigned id_, place_, credits_, reply_limit_, max_flits_;
  SlicePorts ports_;
  Tags tags_;
  Mshrs<Message> mshrs_;
  std::vector<std::uint32_t> set_of_entry_;  // by MSHR
  RequestPool pool_;
  RequestQueue replies_{pool_};  // at: when the reply may leave
  RequestQueue atomics_{pool_};  // at: when the data were there
  Cycle look_up_free_ = 0, atomic_free_ = 0, inject_free_ = 0;
  Wait wait_ = Wait::Nothing;
  unsigned head_set_ = kUnknown;
  stats::L2Counters counters_;
};

}  // namespace raddle::timing
