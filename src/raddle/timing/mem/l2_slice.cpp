#include "raddle/timing/mem/l2_slice.h"

#include "raddle/timing/noc/network.h"

namespace raddle::timing {
namespace {

constexpr unsigned kOutQueue = 8;  // replies beyond what the pipeline itself holds

bool is_atomic(const Message& m) {
  return m.kind == MessageKind::Atomic || m.kind == MessageKind::Reduce;
}

unsigned reply_limit(const L2Spec& l2) {
  return l2.hit_latency_cycles / l2.interval_cycles + kOutQueue;
}

}  // namespace

L2Slice::L2Slice(const MachineSpec& machine, const AddressMap& map, unsigned id, unsigned place,
                 DramChannel& dram, Ring<WriteBack>& write_backs)
    : spec_(machine.l2),
      map_(map),
      dram_(dram),
      write_backs_(write_backs),
      request_flits_(packet_size(machine), Direction::Request),
      reply_flits_(packet_size(machine), Direction::Reply),
      pace_(machine),
      latency_(machine.noc.latency_cycles),
      id_(id),
      place_(place),
      credits_(machine.noc.queue_flits),
      reply_limit_(reply_limit(machine.l2)),
      max_flits_(largest_packet(machine, Direction::Reply)),
      ports_(port_capacity(machine)),
      tags_(spec_.sets(), spec_.ways),
      mshrs_(spec_.mshr_entries, spec_.mshr_merges),
      set_of_entry_(spec_.mshr_entries),
      pool_(reply_limit_ + spec_.mshr_entries * spec_.mshr_merges) {}

Cycle L2Slice::tick(Cycle now) {
  for (CreditLink& in = ports_.credit_in; in.next_arrival() <= now; in.pop())
    credits_ += in.front();
  if (ports_.from_noc.next_arrival() <= now && look_up_free_ <= now && may_go_on()) {
    wait_ = look_up(now);
    if (wait_ == Wait::Nothing) accept(now);
  }
  if (!atomics_.empty() && atomic_free_ <= now) perform_atomic(now);
  inject(now);
  return next_event(now + 1);
}

Cycle L2Slice::next_event(Cycle from) const {
  Cycle next = may_go_on() ? std::max(ports_.from_noc.next_arrival(), look_up_free_) : kNever;
  if (!atomics_.empty()) next = std::min(next, atomic_free_);
  if (lacks_credits()) next = std::min(next, ports_.credit_in.next_arrival());
  else if (!replies_.empty()) next = std::min(next, std::max(inject_free_, replies_.front_at()));
  return std::max(next, from);
}

/// Serves the oldest request, or says what it must wait for.
L2Slice::Wait L2Slice::look_up(Cycle now) {
  if (replies_full()) return Wait::Replies;
  const Message& m = ports_.from_noc.front();
  return m.kind == MessageKind::Write ? write(now, m) : read(now, m);
}

L2Slice::Wait L2Slice::write(Cycle now, const Message& m) {
  bool present = tags_.find(head_set(), m.line) != Tags::kAbsent;
  if (!present && write_backs_full()) return Wait::WriteBacks;
  ++counters_.writes, ++(present ? counters_.hits : counters_.misses);
  install(head_set(), m.line, m.sectors, m.sectors);
  serve(now, m);
  return Wait::Nothing;
}

/// Reads, and atomics and reductions, which need the old data like a read.
L2Slice::Wait L2Slice::read(Cycle now, const Message& m) {
  unsigned at = tags_.find(head_set(), m.line);
  auto missing =
      static_cast<std::uint8_t>(at == Tags::kAbsent ? m.sectors : m.sectors & ~tags_.valid(at));
  if (missing != 0) {
    Wait wait = miss(now, m, missing);
    if (wait != Wait::Nothing) return wait;
  } else {
    ++counters_.hits;
    tags_.touch(at);
    if (is_atomic(m)) tags_.mark_dirty(at, m.sectors);
    serve(now, m);
  }
  ++(is_atomic(m) ? counters_.atomics : counters_.reads);
  return Wait::Nothing;
}

L2Slice::Wait L2Slice::miss(Cycle now, const Message& m, std::uint8_t missing) {
  unsigned e = mshrs_.find(m.line);
  bool fresh = e == mshrs_.kNone;
  if (fresh ? mshrs_.full() : !mshrs_.can_merge(e)) return Wait::Mshr;
  auto ask = static_cast<std::uint8_t>(fresh ? missing : missing & ~mshrs_.requested(e));
  if (ask != 0 && write_backs_full()) return Wait::WriteBacks;
  if (ask != 0 && dram_.room() == 0) return Wait::DramRoom;
  if (fresh) e = mshrs_.add(m.line), set_of_entry_[e] = head_set();
  mshrs_.wait(e, missing, m);
  ++(ask != 0 ? counters_.misses : counters_.pending_hits);
  if (ask != 0) {
    mshrs_.request(e, ask);
    dram_.push(now, {m.line, static_cast<std::uint16_t>(e), m.sm, ask,
                     static_cast<std::uint8_t>(place_), m.kernel, false});
  }
  return Wait::Nothing;
}

/// The data are there: an atomic goes to the unit that performs it, the reply of anything else into
/// the pipeline.
void L2Slice::serve(Cycle now, const Message& m) {
  if (is_atomic(m)) atomics_.push(now, m);
  else replies_.push(now + spec_.hit_latency_cycles, m);
}

/// A blocked head is looked up many times; its set is computed once.
unsigned L2Slice::head_set() {
  if (head_set_ == kUnknown) head_set_ = map_.set(ports_.from_noc.front().line);
  return head_set_;
}

void L2Slice::install(unsigned set, std::uint32_t line, std::uint8_t sectors, std::uint8_t dirty) {
  Tags::Victim out = tags_.fill(set, line, sectors, dirty);
  counters_.evictions += out.sectors != 0;
  if (out.dirty == 0) return;
  ++counters_.write_backs;
  write_backs_.push({out.line, out.dirty, static_cast<std::uint8_t>(place_)});
}

void L2Slice::accept(Cycle now) {
  unsigned flits = request_flits_.flits(ports_.from_noc.front());
  ports_.from_noc.pop();
  head_set_ = kUnknown;
  look_up_free_ = now + spec_.interval_cycles;
  ports_.credit_out.push(now + latency_, static_cast<std::uint8_t>(flits));
  ports_.noc_credit_box->post(now + latency_, id_);
}

void L2Slice::fill(Cycle now, const DramReply& reply) {
  std::uint8_t dirty = 0;
  counters_.miss_cycles += now - reply.since;
  bool freed = mshrs_.arrive(reply.tag, reply.sectors, [&](const Message& m) {
    if (is_atomic(m)) dirty |= m.sectors;
    serve(now, m);
  });
  unsigned set = set_of_entry_[reply.tag];
  install(set, reply.line, reply.sectors, 0);
  if (dirty != 0) {  // of sectors that came earlier some may have been evicted since
    unsigned at = tags_.find(set, reply.line);
    tags_.mark_dirty(at, dirty & tags_.valid(at));
  }
  if (wait_ != Wait::Nothing &&
      ((freed && wait_ == Wait::Mshr) || ports_.from_noc.front().line == reply.line))
    wait_ = Wait::Nothing;
}

void L2Slice::perform_atomic(Cycle now) {
  replies_.push(now + spec_.hit_latency_cycles, atomics_.front());
  atomics_.pop();
  atomic_free_ = now + spec_.atomic_interval_cycles;
}

void L2Slice::inject(Cycle now) {
  if (replies_.empty() || replies_.front_at() > now || inject_free_ > now) return;
  const Message m = replies_.front();
  unsigned flits = reply_flits_.flits(m);
  if (credits_ < flits) return;
  replies_.pop();
  credits_ -= flits, inject_free_ = pace_.send(now, flits);
  ports_.to_noc.push(now + latency_, m);
  ports_.noc_box->post(now + latency_, id_);
}

bool L2Slice::idle() const {
  return replies_.empty() && atomics_.empty() && mshrs_.used() == 0 &&
         ports_.from_noc.next_arrival() == kNever;
}

void L2Slice::describe(std::string& out) const {
  static constexpr const char* kWaits[] = {"nothing", "room for its reply", "write-backs to drain",
                                           "an MSHR or a merge slot", "room in the DRAM queue"};
  out += "l2 slice " + std::to_string(id_) + ": " + std::to_string(mshrs_.used()) + "/" +
         std::to_string(spec_.mshr_entries) + " MSHRs, " + std::to_string(replies_.size()) +
         " replies, " + std::to_string(atomics_.size()) + " atomics, " + std::to_string(credits_) +
         " credits";
  if (ports_.from_noc.next_arrival() != kNever)
    out += ", head (line " + std::to_string(ports_.from_noc.front().line) + ") waits for " +
           kWaits[static_cast<unsigned>(wait_)];
  out += "\n";
}

}  // namespace raddle::timing
