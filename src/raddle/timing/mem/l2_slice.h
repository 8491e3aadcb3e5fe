// One slice of the L2: sectored, set-associative, LRU, write-back, write-allocate.
// One look-up per interval_cycles, in order. Whatever a request finds, its reply leaves hit_latency_cycles after its
// data are there: a hit's at the look-up, a miss's when DRAM has delivered (the miss itself goes to DRAM at the
// look-up). Replies leave in order of readiness, one flit a cycle.
// Writes install their sectors without fetching: byte masks are not carried, so a sector write counts as whole.
// Atomics and reductions are performed here: their sectors are fetched if absent, become dirty, and the slice performs
// one message (one line, however many lanes) per atomic_interval_cycles.
// Left out: byte masks, ordering of a write-back against a later read of the same line in DRAM (function is decoupled).
#pragma once
#include <algorithm>
#include <string>

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
  /// `id` counts through the whole machine, `place` inside the partition. References must outlive the slice.
  L2Slice(const MachineSpec& machine, const AddressMap& map, unsigned id, unsigned place, DramChannel& dram,
          Ring<WriteBack>& write_backs);

  SlicePorts& ports() { return ports_; }
  /// A blocked head waits for this partition, not for the network, so it does not count.
  Cycle next_arrival() const {
    Cycle head = wait_ == Wait::Nothing ? ports_.from_noc.next_arrival() : kNever;
    return std::min(head, ports_.credit_in.next_arrival());
  }
  /// Returns the next cycle at which it can act by itself.
  Cycle tick(Cycle now);
  /// Data from DRAM; before tick(now).
  void fill(Cycle now, const DramReply& reply);
  /// Whether what a blocked head waits for has come, so that the slice must be ticked.
  bool can_retry() const { return wait_ != Wait::Nothing && may_go_on(); }
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
  bool may_go_on() const;
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
  Cycle next_event(Cycle now) const;
  bool write_backs_full() const { return write_backs_.size() >= kWriteBackLimit; }
  bool replies_full() const { return replies_.size() + atomics_.size() >= reply_limit_; }

  L2Spec spec_;
  const AddressMap& map_;
  DramChannel& dram_;
  Ring<WriteBack>& write_backs_;
  FlitTable request_flits_, reply_flits_;
  Cycle latency_;
  unsigned id_, place_, credits_, reply_limit_;
  SlicePorts ports_;
  Tags tags_;
  Mshrs<Message> mshrs_;
  RequestPool pool_;
  RequestQueue replies_{pool_}, atomics_{pool_};  // at: when the reply may leave; when the data were there
  Cycle look_up_free_ = 0, atomic_free_ = 0, inject_free_ = 0;
  Wait wait_ = Wait::Nothing;
  unsigned head_set_ = kUnknown;
  stats::L2Counters counters_;
};

}  // namespace raddle::timing
