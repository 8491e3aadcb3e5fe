// One slice of the L2 under DeNovo: a DenovoBank (timing/cache) with clock and wires.
//
// Time, as in l2_slice.h: one look-up per interval_cycles, in order; an answer with data leaves
// hit_latency_cycles after its data are there, a message without coherence.directory_cycles after
// the look-up; one flit a cycle, without data first when both are ready. What comes from L1s in
// answer to recalls is taken at once. The head waits, and with it the network, while
// hit_latency_cycles / interval_cycles + out_queue messages have not left, while nothing is free of
// what it needs, or while its line is being recalled.
//
// Counters: a request hits when all words it needs are here or registered, is a pending hit when it
// waits for a line on its way, and else a miss; only those that need data fetch.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "raddle/base/ring.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/cache/denovo_bank.h"
#include "raddle/timing/dram/channel.h"
#include "raddle/timing/mem/l2_slice.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/flits.h"
#include "raddle/timing/wire/memory_ports.h"
#include "raddle/timing/wire/request_queue.h"

namespace raddle::timing {

/// Interface as of L2Slice, for Partition.
class DenovoSlice {
 public:
  DenovoSlice(const PartitionSpec& partition, const AddressMap& map, unsigned place,
              DramChannel& dram, Ring<WriteBack>& write_backs);

  SlicePorts& ports() { return ports_; }
  Cycle next_arrival() const {
    Cycle next = ports_.answers.next_arrival();
    if (wait_ == Wait::Nothing) next = std::min(next, ports_.from_noc.next_arrival());
    return lacks_credits_ ? std::min(next, ports_.credit_in.next_arrival()) : next;
  }
  Cycle tick(Cycle now);
  Cycle next_event(Cycle from) const;
  void fill(Cycle now, const DramReply& reply);
  Cycle retry_at(Cycle from) const {
    const bool waits = (wait_ == Wait::Dram && dram_.free_slots() != 0) ||
                       (wait_ == Wait::WriteBack && !write_backs_full());
    return waits ? std::max(from, look_up_free_) : kNever;
  }
  void host(const HostLine& access, HostEffects& effects) { bank_.host(access, effects); }
  void forget() { RADDLE_ASSERT(false); }  // others' words are registered here
  /// As L2Slice::share_ways.
  void share_ways(const WayShares* shares) {
    bank_.share_ways(shares);
    wait_ = Wait::Nothing;  // it may have been for a way
  }
  /// Must outlive the slice. It is told of lines as one sector.
  void observe(policy::L2Observer& observer) { observer_ = &observer; }
  void set_skip(bool skip) { skip_ = skip; }
  void set_ahead(bool) {}  // nothing is handed over ahead of time

  bool idle() const;
  void describe(std::string& out) const;
  stats::L2Counters counters() const { return count_.total(); }
  const stats::L2Counters& counters(unsigned kernel) const { return count_[kernel]; }
  void audit(std::vector<std::string>& broken) const;
  /// Dirty lines, recalled ones included, that fill the write-back queue beyond its limit at most.
  static unsigned max_late_write_backs();

 private:
  using Wait = DenovoBank::Wait;
  bool write_backs_full() const { return write_backs_.size() >= spec_.write_back_queue; }
  bool has_reply_slot() const { return data_.size() + control_.size() < reply_limit_; }
  void look_up(Cycle now);
  void accept(Cycle now);
  void carry_out(Cycle now);
  void send_replies(Cycle now);
  Cycle send_at() const;

  bool skip_ = true, lacks_credits_ = false, refused_ = false;
  Wait wait_ = Wait::Nothing;
  unsigned credits_, reply_limit_, id_, place_;
  unsigned node_;  // id_ as an endpoint of the networks
  Cycle latency_, directory_cycles_, look_up_free_ = 0, inject_free_ = 0, refused_since_ = 0;
  L2Spec spec_;
  DramChannel& dram_;
  Ring<WriteBack>& write_backs_;
  DenovoBank bank_;
  RequestQueue data_, control_;  // at: when they may leave
  SlicePorts ports_;
  FlitTable request_flits_, reply_flits_;
  PortPace pace_;
  policy::L2Observer* observer_ = nullptr;  // null: nobody
  stats::PerKernel<stats::L2Counters> count_;
};

}  // namespace raddle::timing
