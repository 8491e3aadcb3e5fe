#include "raddle/timing/mem/l2_slice.h"

#include <bit>
#include <cmath>

namespace raddle::timing {
namespace {

bool is_atomic(const Message& m) {
  return m.kind == MessageKind::Atomic || m.kind == MessageKind::Reduce;
}

std::uint8_t all_sectors(const L2Spec& l2) {
  return static_cast<std::uint8_t>(low_bits(l2.line_bytes / l2.sector_bytes));
}

unsigned reply_limit(const L2Spec& l2) {
  return l2.hit_latency_cycles / l2.interval_cycles + l2.out_queue;
}

/// How early a reply may be posted: the receiver's mailbox sees 64 cycles from the start of its
/// window, which may lie a window, at most a wire, behind the sender's cycle.
Cycle furthest_ahead(Cycle latency) {
  return 2 * latency < L2Slice::kMaxAhead ? L2Slice::kMaxAhead - 2 * latency : 0;
}

/// Replies that may be on the wire ahead of time: a flit each, at the network's clock.
unsigned max_outgoing(const PortSpec& port) {
  const unsigned flits_per_cycle = (port.network_mhz + port.core_mhz - 1) / port.core_mhz;
  return (static_cast<unsigned>(furthest_ahead(port.latency)) + 2) * flits_per_cycle;
}

}  // namespace

L2Slice::L2Slice(const PartitionSpec& partition, const AddressMap& map, unsigned place,
                 DramChannel& dram, Ring<WriteBack>& write_backs)
    : credits_(partition.port.queue_flits),
      reply_limit_(reply_limit(partition.l2)),
      replies_(reply_limit_ + partition.l2.mshr_entries * partition.l2.mshr_merges),
      atomics_(reply_limit_ + partition.l2.mshr_entries * partition.l2.mshr_merges),
      sets_(kHints),
      outgoing_(max_outgoing(partition.port)),
      latency_(partition.port.latency),
      ahead_(furthest_ahead(latency_)),
      id_(partition.slice(place)),
      place_(place),
      node_(static_cast<unsigned>(partition.endpoints.slice(id_))),
      dram_(dram),
      write_backs_(write_backs),
      map_(map),
      spec_(partition.l2),
      ideal_(partition.ideal_l2),
      tags_(spec_.sets(), spec_.ways),
      fabric_(partition, id_, tags_.handles()),
      mshrs_(spec_.mshr_entries, spec_.mshr_merges),
      ports_(port_capacity(partition.port)),
      request_flits_(partition.port.packet, Direction::Request),
      reply_flits_(partition.port.packet, Direction::Reply),
      pace_(partition.port),
      count_(partition.channel.kernel_slots) {
  if (spec_.dram_granularity == DramGranularity::Line) line_sectors_ = all_sectors(spec_);
}

void L2Slice::set_skip(bool skip) {
  skip_ = skip;
  set_ahead(skip);
}

void L2Slice::set_ahead(bool ahead) {
  ahead_ = ahead && skip_ ? furthest_ahead(latency_) : 0;
  RADDLE_ASSERT(ahead_ <= kMaxAhead);
}

Cycle L2Slice::tick(Cycle now) {
  if (!skip_) wait_ = Wait::Nothing;
  if (look_up_free_ <= now && ports_.from_noc.next_arrival() <= now && may_go_on(now)) {
    wait_ = look_up(now);
    if (wait_ == Wait::Nothing) accept(now);
    else if (!refused_) {
      refused_ = true;
      refused_since_ = now;
    }
  }
  if (!atomics_.empty() && atomic_free_ <= now) perform_atomic(now);
  // Who lacks credits has nothing to send before some come.
  if (send_at_ <= now + ahead_ && (!lacks_credits_ || ports_.credit_in.next_arrival() <= now))
    send_replies(now);
  return next_event(now + 1);
}

Cycle L2Slice::next_event(Cycle from) const {
  Cycle next = kNever;
  if (wait_ == Wait::Nothing) next = std::max(ports_.from_noc.next_arrival(), look_up_free_);
  else if (wait_ == Wait::Replies) next = reply_slot_at();
  else if (may_go_on(from)) next = from;
  if (!atomics_.empty()) next = std::min(next, atomic_free_);
  next = std::min(next, lacks_credits_ ? ports_.credit_in.next_arrival() : send_at_);
  return std::max(next, from);
}

/// Serves the oldest request, or says what it must wait for.
L2Slice::Wait L2Slice::look_up(Cycle now) {
  if (reply_slot_at() > now) return Wait::Replies;
  const Message& m = ports_.from_noc.front();
  if (ideal_) [[unlikely]]
    return hit_always(now, m);
  const unsigned at = tags_.find(head_set(), m.line);
  if (m.kind == MessageKind::Write && spec_.write_miss != L2WriteMiss::FetchOnWrite)
    return write(now, m, at);
  return read(now, m, at);
}

/// ideal.l2: nothing is looked up, nothing goes to DRAM.
L2Slice::Wait L2Slice::hit_always(Cycle now, const Message& m) {
  head_set();  // accept() takes it away
  stats::L2Counters& count = count_[m.kernel];
  ++count.hits;
  ++(m.kind == MessageKind::Read ? count.reads : is_atomic(m) ? count.atomics : count.writes);
  notify(m, policy::L2Outcome::Hit);
  serve(now, m, 0);
  return Wait::Nothing;
}

/// A write that needs none of the old data.
L2Slice::Wait L2Slice::write(Cycle now, const Message& m, unsigned at) {
  const bool present = at != Tags::kAbsent,
             through = spec_.write_policy != L2WritePolicy::WriteBack;
  const bool allocate = present || spec_.write_miss == L2WriteMiss::WriteValidate;
  const bool cleans = allocate && !through && in_excess(head_set(), at) != Tags::kAbsent;
  if ((!present || through || cleans) && write_backs_full()) return Wait::WriteBacks;
  stats::L2Counters& count = count_[m.kernel];
  ++count.writes;
  ++(present ? count.hits : count.misses);
  notify(m, present ? policy::L2Outcome::Hit : policy::L2Outcome::Miss);
  unsigned dram_accesses = 0;
  if (through || !allocate) {
    pass_on(m);
    ++dram_accesses;
  }
  if (allocate) {
    used(now, m, at);
    const unsigned pushed_out = install(head_set(), m, m.sectors, at);
    dram_accesses += pushed_out;
    if (cleans && pushed_out == 0) dram_accesses += clean(in_excess(head_set(), at), m);
    if (!through) tags_.mark_dirty(at, m.sectors);
  }
  cross(now, m, at);
  serve(now, m, dram_accesses);
  return Wait::Nothing;
}

/// Reads, and all that needs the old data like a read.
L2Slice::Wait L2Slice::read(Cycle now, const Message& m, unsigned at) {
  const unsigned wanted = m.sectors | line_sectors_;
  const auto missing =
      static_cast<std::uint8_t>(at == Tags::kAbsent ? wanted : wanted & ~tags_.valid(at));
  const bool changes = m.kind != MessageKind::Read;
  const bool through = changes && spec_.write_policy == L2WritePolicy::WriteThrough;
  const unsigned excess =
      changes && !through && missing == 0 ? in_excess(head_set(), at) : Tags::kAbsent;
  if ((through || excess != Tags::kAbsent) && write_backs_full()) return Wait::WriteBacks;
  stats::L2Counters& count = count_[m.kernel];
  if (missing != 0) {
    Wait wait = miss(now, m, missing, through);
    if (wait != Wait::Nothing) return wait;
  } else {
    ++count.hits;
    notify(m, policy::L2Outcome::Hit);
    tags_.touch(at);
    const unsigned cleaned = clean(excess, m);
    if (changes && !through) tags_.mark_dirty(at, m.sectors);
    cross(now, m, at);
    serve(now, m, through + cleaned);
  }
  used(now, m, at);
  if (through) pass_on(m);
  ++(!changes ? count.reads : is_atomic(m) ? count.atomics : count.writes);
  return Wait::Nothing;
}

L2Slice::Wait L2Slice::miss(Cycle now, const Message& message, std::uint8_t missing,
                            bool passed_on) {
  unsigned mshr = mshrs_.find(message.line);
  const bool fresh = mshr == mshrs_.kNone;
  if (fresh ? mshrs_.full() : !mshrs_.can_merge(mshr)) return Wait::Mshr;
  auto ask = static_cast<std::uint8_t>(fresh ? missing : missing & ~mshrs_.requested(mshr));
  if (ask != 0 && write_backs_full()) return Wait::WriteBacks;
  if (ask != 0 && dram_.free_slots() == 0) return Wait::DramSlot;
  const Waiter waiter{.sm = message.sm,
                      .tag = message.tag,
                      .sectors = message.sectors,
                      .kind = message.kind,
                      .meeting = message.meeting,
                      .kernel = message.kernel,
                      .packed = Waiter::pack(head_set(), message.tenant, (ask != 0) + passed_on),
                      .since = static_cast<std::uint32_t>(now)};
  if (fresh) mshr = mshrs_.add(message.line, missing, waiter);
  else mshrs_.wait(mshr, missing, waiter);
  stats::L2Counters& count = count_[message.kernel];
  if (ask == 0) {
    ++count.pending_hits;
    notify(message, policy::L2Outcome::PendingHit);
    return Wait::Nothing;
  }
  ++count.misses;
  ++count.fetches;
  notify(message, policy::L2Outcome::Miss);
  if (observer_ != nullptr) [[unlikely]]
    observer_->fetched(message.line, dram_.bytes_of(ask), message.kernel);
  DramRequest fetch{.line = message.line,
                    .tag = static_cast<std::uint16_t>(mshr),
                    .sm = message.sm,
                    .sectors = ask,
                    .slice = static_cast<std::uint8_t>(place_),
                    .kernel = message.kernel,
                    .write = false};
  dram_.push(now, fetch.of(message.tenant, message.core_rank));
  return Wait::Nothing;
}

/// The data are there: an atomic goes to the unit that performs it, the reply of anything else into
/// the pipeline.
void L2Slice::serve(Cycle now, const Message& m, unsigned dram_accesses) {
  if (is_atomic(m)) atomics_.push(now, m, dram_accesses);
  else reply(now, m, dram_accesses);
}

void L2Slice::reply(Cycle now, const Message& m, unsigned dram_accesses) {
  const Cycle at = now + spec_.hit_latency_cycles;
  if (replies_.empty()) send_at_ = std::max(at, inject_free_);
  replies_.push(at, m, dram_accesses);
}

/// The line gets the sectors; `at` is where it is, if it is. Returns the accesses to DRAM this
/// causes.
unsigned L2Slice::install(unsigned set, const Message& m, std::uint8_t sectors, unsigned& at) {
  const Tags::WayMask among = shares_ == nullptr ? Tags::kAnyWay : shares_->of(index(m.tenant));
  const bool absent = at == Tags::kAbsent;
  Tags::Victim out{0, 0, 0};
  if (replacement_ != nullptr && absent) [[unlikely]]
    out = place(set, m.line, index(m.tenant), among, at);
  const Tags::Victim pushed_out = tags_.fill(set, m.line, sectors, 0, at, among);
  if (absent && fabric_.present()) fabric_.replaced(at);
  if (out.sectors == 0) out = pushed_out;
  if (out.sectors == 0) return 0;
  ++count_[m.kernel].evictions;
  if (out.dirty == 0) return 0;
  write_back(out.line, out.dirty, m);
  return 1;
}

unsigned L2Slice::clean(unsigned at, const Message& m) {
  if (at == Tags::kAbsent) return 0;
  write_back(tags_.line(at), tags_.dirty(at), m);
  tags_.clean(at);
  return 1;
}

void L2Slice::write_back(std::uint32_t line, std::uint8_t sectors, const Message& m) {
  ++count_[m.kernel].write_backs;
  sectors |= line_sectors_;
  if (observer_ != nullptr) [[unlikely]]
    observer_->written(line, dram_.bytes_of(sectors), m.kernel);
  write_backs_.push({.line = line,
                     .sm = m.sm,
                     .sectors = sectors,
                     .slice = static_cast<std::uint8_t>(place_),
                     .kernel = m.kernel,
                     .tenant = m.tenant});
}

/// A line that is not there gets the way of the replacement policy's choice. Precondition: there is
/// a policy.
Tags::Victim L2Slice::place(unsigned set, std::uint32_t line, unsigned tenant, Tags::WayMask among,
                            unsigned& at) {
  at = replacement_->victim(tags_, set, line, tenant, among);
  RADDLE_ASSERT(at != Tags::kAbsent);  // the L2 locks no way
  const Tags::Victim out = tags_.place(at, line);
  replacement_->placed(tags_, at, tenant, out.sectors != 0);
  return out;
}

void L2Slice::host(const HostLine& access, HostEffects& effects) {
  ++(access.write ? effects.count.writes : effects.count.reads);
  const unsigned set = map_.set(access.line);
  const std::uint8_t whole = all_sectors(spec_);
  unsigned at = tags_.find(set, access.line);
  const bool absent = at == Tags::kAbsent || (tags_.valid(at) & whole) != whole;
  if (absent && !access.write) ++effects.count.fetches;
  if (at == Tags::kAbsent && tags_.victim(set) == Tags::kAbsent) return;
  const bool through = spec_.write_policy == L2WritePolicy::WriteThrough;
  const std::uint8_t dirty = access.write && !through ? whole : std::uint8_t{0};
  Tags::Victim out{0, 0, 0};
  if (replacement_ != nullptr && at == Tags::kAbsent)
    out = place(set, access.line, 0, Tags::kAnyWay, at);
  const Tags::Victim pushed_out = tags_.fill(set, access.line, whole, dirty, at);
  if (fabric_.present()) fabric_.replaced(at);
  if (out.sectors != 0 || pushed_out.sectors != 0) ++effects.count.evictions;
}

/// Written data go to DRAM at once.
void L2Slice::pass_on(const Message& m) {
  ++count_[m.kernel].passed_on;
  if (observer_ != nullptr) [[unlikely]]
    observer_->written(m.line, dram_.bytes_of(m.sectors), m.kernel);
  write_backs_.push({.line = m.line,
                     .sm = m.sm,
                     .sectors = m.sectors,
                     .slice = static_cast<std::uint8_t>(place_),
                     .kernel = m.kernel,
                     .tenant = m.tenant,
                     .core_rank = m.core_rank});
}

void L2Slice::accept(Cycle now) {
  MessageLink& in = ports_.from_noc;
  const Cycle arrival = in.next_arrival();
  stats::L2Counters& count = count_[in.front().kernel];
  count.queue_cycles += now - arrival;
  resident_cycles_ -= arrival;
  if (refused_) {
    count.blocked_cycles += now - refused_since_;
    refused_ = false;
  }
  unsigned flits = request_flits_.flits(in.front());
  in.pop();
  sets_.pop();
  look_up_free_ = std::max(look_up_free_, now + spec_.interval_cycles);
  ports_.credit_out.push(now + latency_, static_cast<std::uint8_t>(flits));
  if (ports_.noc_credit_box != nullptr) ports_.noc_credit_box->post(now + latency_, node_);
}

void L2Slice::fill(Cycle now, const DramReply& reply) {
  const auto stamp = static_cast<std::uint32_t>(now);
  Waiter& asker = mshrs_.asker(reply.tag, reply.sectors);
  count_[asker.kernel].miss_cycles += now - reply.since;
  asker.since = stamp;
  unsigned at = tags_.find(asker.set(), reply.line);
  const Message asked = asker.message(reply.line);
  unsigned sent = install(asker.set(), asked, reply.sectors, at);
  if (sent == 0 && asker.kind != MessageKind::Read &&
      spec_.write_policy == L2WritePolicy::WriteBack)
    sent = clean(in_excess(asker.set(), at), asked);
  if (sent != 0) asker.add_dram_access();
  std::uint8_t dirty = 0;
  bool freed = mshrs_.arrive(reply.tag, reply.sectors, [&](const Waiter& w) {
    if (w.kind != MessageKind::Read) dirty |= w.sectors;
    count_[w.kernel].pending_cycles += stamp - w.since;
    const Message m = w.message(reply.line);
    cross(now, m, at);
    serve(now, m, w.dram_accesses());
  });
  // Of sectors that came earlier some may have been evicted since.
  if (dirty != 0 && spec_.write_policy == L2WritePolicy::WriteBack)
    tags_.mark_dirty(at, dirty & tags_.valid(at));
  if (wait_ != Wait::Nothing &&
      ((freed && wait_ == Wait::Mshr) || ports_.from_noc.front().line == reply.line))
    wait_ = Wait::Nothing;
}

void L2Slice::perform_atomic(Cycle now) {
  const Message& m = atomics_.front();
  const auto sectors = static_cast<unsigned>(std::popcount(m.sectors));
  const unsigned turns = (std::max(sectors, 1u) - 1) / spec_.atomic_sectors + 1;
  const Cycle turn =
      std::max<Cycle>(spec_.atomic_interval_cycles,
                      static_cast<Cycle>(std::ceil(spec_.atomic_word_cycles * m.meeting)));
  count_[m.kernel].atomic_cycles += now - atomics_.front_at();
  reply(now, m, m.dram_accesses);
  atomics_.pop();
  atomic_free_ = now + turn * turns;
}

void L2Slice::send_replies(Cycle now) {
  while (send_at_ <= now + ahead_) {
    const Cycle ready = replies_.front_at(), leaves = std::max(send_at_, now);
    const Message& m = replies_.front();
    const unsigned flits = reply_flits_.flits(m);
    lacks_credits_ = !has_credits(now, flits);
    if (lacks_credits_) return;
    credits_ -= flits;
    inject_free_ = pace_.send(leaves, flits);
    ports_.to_noc.push(leaves + latency_, m,
                       [](Message& reply) { reply.to = Endpoints::sm(reply.sm); });
    ports_.noc_box->post(leaves + latency_, node_);
    if (outgoing_.full()) outgoing_.pop();  // one that has left
    outgoing_.push(leaves);
    stats::L2Counters& count = count_[m.kernel];
    ++count.replies[m.dram_accesses];
    count.pipeline_cycles += spec_.hit_latency_cycles;
    count.reply_cycles += leaves - ready;
    resident_cycles_ += leaves;
    replies_.pop();
    send_at_ = replies_.empty() ? kNever : std::max(replies_.front_at(), inject_free_);
  }
}

bool L2Slice::has_credits(Cycle now, unsigned flits) {
  if (credits_ < flits) credits_ += take_credits_of(ports_.credit_in, now);
  return credits_ >= flits;
}

bool L2Slice::idle() const {
  return replies_.empty() && atomics_.empty() && mshrs_.used() == 0 &&
         ports_.from_noc.next_arrival() == kNever;
}

void L2Slice::audit(std::vector<std::string>& broken) const {
  const stats::L2Counters c = counters();
  const std::uint64_t taken = c.reads + c.writes + c.atomics,
                      answered = c.replies[0] + c.replies[1] + c.replies[2],
                      inside = replies_.size() + atomics_.size() + mshrs_.waiting();
  auto require = [&](bool holds, const char* law, std::uint64_t a, std::uint64_t b) {
    if (!holds)
      broken.push_back("l2 slice " + std::to_string(id_) + ": " + law + " (" + std::to_string(a) +
                       ", " + std::to_string(b) + ")");
  };
  require(taken == answered + inside, "requests are answered or inside", taken, answered + inside);
  require(taken == c.hits + c.pending_hits + c.misses, "requests hit or miss", taken,
          c.hits + c.pending_hits + c.misses);
  if (inside != 0) return;
  const std::uint64_t caused = c.replies[1] + 2 * c.replies[2],
                      sent = c.fetches + c.write_backs + c.passed_on,
                      waits = c.queue_cycles + c.miss_cycles + c.pending_cycles + c.atomic_cycles +
                              c.pipeline_cycles + c.reply_cycles;
  require(caused == sent, "replies tell every access to DRAM", caused, sent);
  require(resident_cycles_ == waits, "waits add up to the time inside", resident_cycles_, waits);
}

void L2Slice::describe(std::string& out) const {
  static constexpr const char* kWaits[] = {"nothing", "an MSHR or a merge slot",
                                           "room for its reply", "write-backs to drain",
                                           "room in the DRAM queue"};
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
