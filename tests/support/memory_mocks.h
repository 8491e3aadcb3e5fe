// Mocks that stand on both sides of the memory parts: a small machine, requesters and listeners
// with exact cycles, and a loop that ticks as the engine does (windows, sleeping) or every cycle
// (no-skip).
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/rng.h"
#include "raddle/policy/all.h"
#include "raddle/timing/mem/partition.h"
#include "raddle/timing/noc/network.h"
#include "raddle/timing/spec/machine.h"

namespace raddle::test {

using namespace raddle::timing;

/// 4 SMs, 2 channels with 2 slices each, 1:1 clocks; small enough to compute by hand.
inline MachineSpec small_machine() {
  MachineSpec m;
  m.sm.count = 4;
  m.noc.latency_cycles = 10;
  m.l2.slices = 4;
  m.l2.size_kib = 16;
  m.l2.ways = 4;
  m.l2.hit_latency_cycles = 30;
  m.l2.mshr_entries = 16;
  m.l2.mshr_merges = 4;
  m.dram.channels = 2;
  m.dram.clock_mhz = m.core_clock_mhz;
  return m;
}

/// One slice in front of one channel.
inline MachineSpec one_slice() {
  MachineSpec m = small_machine();
  m.l2.slices = 1;
  m.dram.channels = 1;
  return m;
}

inline std::unique_ptr<policy::DramPolicy> dram_policy(std::string_view name = "frfcfs") {
  return policy::all_policies().dram.choose(name)->make({});
}

inline Message message(MessageKind kind, std::uint32_t line, std::uint8_t sectors = 1,
                       std::uint16_t tag = 0) {
  Message m;
  m.kind = kind;
  m.line = line;
  m.sectors = sectors;
  m.tag = tag;
  m.meeting = 1;
  return m;
}

/// The core cycles between the push of an isolated read to a closed bank and its data, clocks 1:1.
inline Cycle closed_read(const DramSpec& d, unsigned bursts) {
  Cycle burst = (d.burst_bytes + d.bus_bytes_per_cycle - 1) / d.bus_bytes_per_cycle;
  return d.tRCD + (bursts - 1) * std::max<Cycle>(d.tCCDL, burst) + d.tCL + burst +
         d.extra_latency_cycles;
}

template <class Counters>
std::vector<std::uint64_t> words(const Counters& c) {
  const auto* w = reinterpret_cast<const std::uint64_t*>(&c);
  return {w, w + sizeof(Counters) / sizeof(std::uint64_t)};
}

/// Drives a component over [begin, end) as the engine does, in windows.
template <class Component>
void run_window(Component& c, Cycle& due, Cycle begin, Cycle end, bool skip) {
  c.open_window();
  Cycle t = skip ? std::max(begin, std::min(due, c.next_arrival(begin))) : begin;
  for (; t < end; t = skip ? due : t + 1) due = c.tick(t);
}

/// A partition between two mocks: requests arrive when the test says, replies are noted with the
/// cycle they were sent.
class PartitionRig {
 public:
  struct Reply {
    Cycle sent;
    Message message;
    bool operator==(const Reply& o) const {
      return sent == o.sent && message.line == o.message.line && message.tag == o.message.tag;
    }
  };
  explicit PartitionRig(const MachineSpec& machine, bool skip = true,
                        std::string_view policy = "frfcfs")
      : PartitionRig(machine, dram_policy(policy), skip) {}
  PartitionRig(const MachineSpec& machine, std::unique_ptr<policy::DramPolicy> policy,
               bool skip = true)
      : machine_(machine),
        map_(machine_),
        skip_(skip),
        partition_(make_partition({machine_, 0}, map_, std::move(policy))) {
    partition_->set_skip(skip);
    for (unsigned i = 0; i < partition_->slices(); ++i) {
      partition_->ports(i).noc_box = &box_;
      partition_->ports(i).noc_credit_box = &credit_box_;
    }
  }
  /// The request's last flit is there at `at`; not before the end of what has been run, in order.
  void arrive(Cycle at, const Message& m, unsigned place = 0) {
    partition_->ports(place).from_noc.push(at, m);
  }
  void return_credits(bool on) { return_credits_ = on; }
  void give_credits(Cycle at, std::uint8_t flits, unsigned place = 0) {
    partition_->ports(place).credit_in.push(at, flits);
  }
  void run_until(Cycle end) {
    while (now_ < end) {
      Cycle stop = std::min(end, now_ + machine_.noc.latency_cycles);
      run_window(*partition_, due_, now_, stop, skip_);
      now_ = stop;
      for (unsigned i = 0; i < partition_->slices(); ++i) collect(i);
    }
  }
  Partition& partition() { return *partition_; }
  const AddressMap& map() const { return map_; }
  const std::vector<Reply>& replies() const { return replies_; }
  unsigned credits_returned() const { return credits_returned_; }
  stats::L2Counters l2() const { return partition_->l2_counters(); }
  stats::DramCounters dram() const { return partition_->dram_counters(); }
  Cycle now() const { return now_; }

 private:
  void collect(unsigned place) {
    SlicePorts& p = partition_->ports(place);
    FlitTable flits(packet_size(machine_), Direction::Reply);
    for (; p.to_noc.next_arrival() != kNever; p.to_noc.pop()) {
      replies_.push_back({p.to_noc.next_arrival() - machine_.noc.latency_cycles, p.to_noc.front()});
      if (return_credits_)
        give_credits(std::max(now_, p.to_noc.next_arrival()) + machine_.noc.latency_cycles,
                     static_cast<std::uint8_t>(flits.flits(p.to_noc.front())), place);
    }
    for (; p.credit_out.next_arrival() != kNever; p.credit_out.pop())
      credits_returned_ += p.credit_out.front();
  }
  MachineSpec machine_;
  AddressMap map_;
  bool skip_, return_credits_ = true;
  std::unique_ptr<Partition> partition_;
  Mailbox box_{machine_.endpoints().count()}, credit_box_{machine_.endpoints().count()};
  Cycle now_ = 0, due_ = 0;
  std::vector<Reply> replies_;
  unsigned credits_returned_ = 0;
};

/// Stands for an SM: sends what `next` gives as fast as credits allow, at most `limit` under way,
/// and counts replies.
class Requester {
 public:
  using Source = std::function<bool(Message&)>;  ///< false: nothing more
  Requester(const MachineSpec& machine, unsigned id, unsigned limit, Source next)
      : map_(machine),
        flits_(packet_size(machine), Direction::Request),
        pace_(machine),
        latency_(machine.noc.latency_cycles),
        credits_(machine.noc.queue_flits),
        limit_(limit),
        id_(id),
        next_(std::move(next)),
        ports_(port_capacity(machine)) {}
  SmPorts& ports() { return ports_; }
  void open_window() {}
  Cycle next_arrival(Cycle from) const {
    return std::max(from,
                    std::min(ports_.from_noc.next_arrival(), ports_.credit_in.next_arrival()));
  }
  Cycle tick(Cycle now) {
    for (; ports_.credit_in.next_arrival() <= now; ports_.credit_in.pop())
      credits_ += ports_.credit_in.front();
    for (; ports_.from_noc.next_arrival() <= now; ports_.from_noc.pop()) {
      const Message& m = ports_.from_noc.front();
      ++received;
      --under_way_;
      hash = (hash ^ (now * 0x9e3779b97f4a7c15ull + m.tag * 31u + m.line)) * 0xff51afd7ed558ccdull;
    }
    if (!held_ && !done_ && under_way_ < limit_) {
      held_ = next_(message_);
      done_ = !held_;
      message_.sm = static_cast<std::uint16_t>(id_);
      message_.to = map_.home(message_.line);
    }
    if (held_ && free_ <= now && credits_ >= flits_.flits(message_)) send(now);
    Cycle next = next_arrival(now + 1);
    bool more = held_ ? credits_ >= flits_.flits(message_) : !done_ && under_way_ < limit_;
    return more ? std::min(next, std::max(now + 1, free_)) : next;
  }
  bool finished() const { return done_ && under_way_ == 0; }
  std::uint64_t sent = 0, received = 0, hash = 0;

 private:
  void send(Cycle now) {
    unsigned flits = flits_.flits(message_);
    ports_.to_noc.push(now + latency_, message_);
    ports_.noc_box->post(now + latency_, id_);
    credits_ -= flits;
    free_ = pace_.send(now, flits);
    held_ = false;
    ++under_way_;
    ++sent;
  }
  AddressMap map_;
  FlitTable flits_;
  PortPace pace_;
  Cycle latency_, free_ = 0;
  unsigned credits_, limit_, id_, under_way_ = 0;
  Source next_;
  SmPorts ports_;
  Message message_;
  bool held_ = false, done_ = false;
};

/// The whole memory side with Requesters instead of SMs.
class MemoryRig {
 public:
  /// `source(sm)` gives the generator of each requester.
  MemoryRig(const MachineSpec& machine, unsigned limit, bool skip,
            const std::function<Requester::Source(unsigned)>& source,
            std::string_view policy = "frfcfs")
      : machine_(machine),
        map_(machine_),
        skip_(skip),
        request_(make_network(machine_, Direction::Request)),
        reply_(make_network(machine_, Direction::Reply)) {
    for (unsigned i = 0; i < machine_.sm.count; ++i) connect_requester(i, limit, source(i));
    for (unsigned c = 0; c < machine_.dram.channels; ++c) connect_partition(c, policy);
    due_.resize(2 + requester_.size() + partition_.size(), 0);
  }
  /// Runs until everything is answered; returns the cycle, or kNever when `limit` is reached first.
  Cycle run(Cycle limit) {
    while (now_ < limit) {
      Cycle end = now_ + machine_.noc.latency_cycles;
      unsigned task = 0;
      for (auto& r : requester_) run_window(*r, due_[task++], now_, end, skip_);
      run_window(*request_, due_[task++], now_, end, skip_);
      for (auto& p : partition_) run_window(*p, due_[task++], now_, end, skip_);
      run_window(*reply_, due_[task++], now_, end, skip_);
      now_ = end;
      if (finished()) return now_;
    }
    return kNever;
  }
  bool finished() const {
    return std::all_of(requester_.begin(), requester_.end(), [](auto& r) { return r->finished(); });
  }
  std::vector<std::unique_ptr<Requester>>& requesters() { return requester_; }
  std::vector<std::unique_ptr<Partition>>& partitions() { return partition_; }
  const Network& request() const { return *request_; }
  const Network& reply() const { return *reply_; }
  /// Every counter and the times of all replies.
  std::vector<std::uint64_t> everything() const {
    std::vector<std::uint64_t> all;
    auto add = [&](const auto& c) {
      for (std::uint64_t w : words(c)) all.push_back(w);
    };
    add(request_->counters());
    add(reply_->counters());
    for (auto& p : partition_) {
      add(p->l2_counters());
      add(p->dram_counters());
    }
    for (auto& r : requester_) all.push_back(r->hash);
    return all;
  }

 private:
  void connect_requester(unsigned i, unsigned limit, Requester::Source source) {
    requester_.push_back(std::make_unique<Requester>(machine_, i, limit, std::move(source)));
    SmPorts& p = requester_.back()->ports();
    p.noc_box = &request_->box();
    request_->connect_input(Endpoints::sm(i), p.to_noc, p.credit_in);
    reply_->connect_output(Endpoints::sm(i), p.from_noc, nullptr);
  }
  void connect_partition(unsigned c, std::string_view policy) {
    partition_.push_back(make_partition({machine_, c}, map_, dram_policy(policy)));
    Partition& part = *partition_.back();
    part.set_skip(skip_);
    for (unsigned i = 0; i < part.slices(); ++i) {
      const NodeId slice = machine_.endpoints().slice(c * part.slices() + i);
      SlicePorts& p = part.ports(i);
      p.noc_box = &reply_->box();
      p.noc_credit_box = request_->credit_box();
      request_->connect_output(slice, p.from_noc, &p.credit_out);
      reply_->connect_input(slice, p.to_noc, p.credit_in);
    }
  }
  MachineSpec machine_;
  AddressMap map_;
  bool skip_;
  std::unique_ptr<Network> request_, reply_;
  std::vector<std::unique_ptr<Requester>> requester_;
  std::vector<std::unique_ptr<Partition>> partition_;
  std::vector<Cycle> due_;
  Cycle now_ = 0;
};

}  // namespace raddle::test
