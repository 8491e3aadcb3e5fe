#include "raddle/timing/mem/denovo_slice.h"

#include "raddle/timing/cache/denovo_l1.h"

namespace raddle::timing {

namespace {
DenovoBank::Shape bank_shape(const L2Spec& l2) {
  return {l2.sets(), l2.ways, l2.mshr_entries, l2.mshr_merges};
}

/// A request has an answer, or one message for each word at most.
constexpr unsigned kMessagesOfRequest = 17;

/// To the L1 where words are registered; all else is for the requester.
bool for_owner(MessageKind kind) {
  return kind >= MessageKind::Forward && kind <= MessageKind::Recall;
}

unsigned max_messages(const L2Spec& l2, unsigned limit) {
  return limit + kMessagesOfRequest * (1 + l2.mshr_entries * l2.mshr_merges) + kMessagesOfRequest;
}
}  // namespace

DenovoSlice::DenovoSlice(const PartitionSpec& partition, const AddressMap& map, unsigned place,
                         DramChannel& dram, Ring<WriteBack>& write_backs)
    : credits_(partition.port.queue_flits),
      reply_limit_(partition.l2.hit_latency_cycles / partition.l2.interval_cycles +
                   partition.l2.out_queue),
      id_(partition.slice(place)),
      place_(place),
      node_(static_cast<unsigned>(partition.endpoints.slice(id_))),
      latency_(partition.port.latency),
      directory_cycles_(partition.coherence.directory_cycles),
      spec_(partition.l2),
      dram_(dram),
      write_backs_(write_backs),
      bank_(bank_shape(partition.l2), map),
      data_(max_messages(partition.l2, reply_limit_)),
      control_(max_messages(partition.l2, reply_limit_)),
      ports_(port_capacity(partition.port), port_capacity(partition.port)),
      request_flits_(partition.port.packet, Direction::Request),
      reply_flits_(partition.port.packet, Direction::Reply),
      pace_(partition.port),
      count_(partition.channel.kernel_slots) {}

unsigned DenovoSlice::max_late_write_backs() { return DenovoL1::kRecallsOfBank; }

Cycle DenovoSlice::tick(Cycle now) {
  if (!skip_) wait_ = Wait::Nothing;
  for (MessageLink& in = ports_.answers; in.next_arrival() <= now; in.pop()) {
    bank_.recalled(in.front());
    wait_ = Wait::Nothing;
  }
  if (retry_at(now) <= now) wait_ = Wait::Nothing;
  if (wait_ == Wait::Nothing && ports_.from_noc.next_arrival() <= now && look_up_free_ <= now &&
      has_reply_slot())
    look_up(now);
  carry_out(now);
  send_replies(now);
  return next_event(now + 1);
}

void DenovoSlice::look_up(Cycle now) {
  const Message& m = ports_.from_noc.front();
  stats::L2Counters& count = count_[m.kernel];
  const std::uint64_t hits = count.hits, pending_hits = count.pending_hits;
  wait_ = bank_.take(m, {dram_.free_slots() != 0, !write_backs_full()}, count);
  if (wait_ == Wait::Nothing) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->access(m.line, 1, m.kernel,
                        count.hits != hits                   ? policy::L2Outcome::Hit
                        : count.pending_hits != pending_hits ? policy::L2Outcome::PendingHit
                                                             : policy::L2Outcome::Miss);
    return accept(now);
  }
  if (!refused_) {
    refused_ = true;
    refused_since_ = now;
  }
}

void DenovoSlice::accept(Cycle now) {
  MessageLink& in = ports_.from_noc;
  stats::L2Counters& count = count_[in.front().kernel];
  count.queue_cycles += now - in.next_arrival();
  if (refused_) {
    count.blocked_cycles += now - refused_since_;
    refused_ = false;
  }
  ports_.credit_out.push(now + latency_,
                         static_cast<std::uint8_t>(request_flits_.flits(in.front())));
  if (ports_.noc_credit_box != nullptr) ports_.noc_credit_box->post(now + latency_, node_);
  in.pop();
  look_up_free_ = now + spec_.interval_cycles;
}

/// What the bank wants to be done.
void DenovoSlice::carry_out(Cycle now) {
  for (const DenovoBank::Fetch& wanted : bank_.fetches()) {
    DramRequest fetch{.line = wanted.line,
                      .tag = wanted.tag,
                      .sm = wanted.sm,
                      .sectors = 1,
                      .slice = static_cast<std::uint8_t>(place_),
                      .kernel = wanted.kernel,
                      .write = false};
    dram_.push(now, fetch.of(wanted.tenant, wanted.core_rank));
    if (observer_ != nullptr) [[unlikely]]
      observer_->fetched(wanted.line, dram_.bytes_of(1), wanted.kernel);
  }
  bank_.fetches().clear();
  for (const DenovoBank::Dirty& dirty : bank_.dirty()) {
    ++count_[dirty.kernel].write_backs;
    if (observer_ != nullptr) [[unlikely]]
      observer_->written(dirty.line, dram_.bytes_of(1), dirty.kernel);
    write_backs_.push({.line = dirty.line,
                       .sm = dirty.sm,
                       .sectors = 1,
                       .slice = static_cast<std::uint8_t>(place_),
                       .kernel = dirty.kernel,
                       .tenant = dirty.tenant});
  }
  bank_.dirty().clear();
  for (const DenovoBank::Out& out : bank_.out()) {
    RequestQueue& queue = out.data ? data_ : control_;
    queue.push(now + (out.data ? spec_.hit_latency_cycles : directory_cycles_), out.message,
               out.message.dram_accesses);
  }
  bank_.out().clear();
}

void DenovoSlice::fill(Cycle now, const DramReply& reply) {
  bank_.filled(reply.tag, [&](unsigned kernel) -> stats::L2Counters& { return count_[kernel]; });
  carry_out(now);
  wait_ = Wait::Nothing;
}

Cycle DenovoSlice::send_at() const {
  Cycle at = kNever;
  if (!data_.empty()) at = data_.front_at();
  if (!control_.empty()) at = std::min(at, control_.front_at());
  return at == kNever ? at : std::max(at, inject_free_);
}

void DenovoSlice::send_replies(Cycle now) {
  lacks_credits_ = false;
  credits_ += take_credits_of(ports_.credit_in, now);
  while (send_at() <= now) {
    RequestQueue& queue = !control_.empty() && control_.front_at() <= now ? control_ : data_;
    const Message& m = queue.front();
    const unsigned flits = reply_flits_.flits(m);
    lacks_credits_ = credits_ < flits;
    if (lacks_credits_) return;
    credits_ -= flits;
    inject_free_ = pace_.send(now, flits);
    Message out = m;
    out.to = Endpoints::sm(for_owner(m.kind) ? m.peer : m.sm);
    ports_.to_noc.push(now + latency_, out);
    ports_.noc_box->post(now + latency_, node_);
    queue.pop();
  }
}

Cycle DenovoSlice::next_event(Cycle from) const {
  Cycle next = lacks_credits_ ? ports_.credit_in.next_arrival() : send_at();
  if (wait_ == Wait::Nothing && has_reply_slot())
    next = std::min(next, std::max(ports_.from_noc.next_arrival(), look_up_free_));
  next = std::min({next, ports_.answers.next_arrival(), retry_at(from)});
  return std::max(next, from);
}

bool DenovoSlice::idle() const {
  return data_.empty() && control_.empty() && bank_.idle() &&
         ports_.from_noc.next_arrival() == kNever && ports_.answers.next_arrival() == kNever;
}

void DenovoSlice::audit(std::vector<std::string>& broken) const {
  const stats::L2Counters c = counters();
  const std::uint64_t taken = c.reads + c.writes + c.atomics,
                      known = c.hits + c.pending_hits + c.misses;
  if (taken != known)
    broken.push_back("l2 slice " + std::to_string(id_) + ": requests hit or miss (" +
                     std::to_string(taken) + ", " + std::to_string(known) + ")");
}

void DenovoSlice::describe(std::string& out) const {
  static constexpr const char* kWaits[] = {"nothing",
                                           "an MSHR or a merge slot",
                                           "a way that is not being fetched",
                                           "the recall of a line",
                                           "room in the DRAM queue",
                                           "write-backs to drain"};
  out += "l2 slice " + std::to_string(id_) + ": " + std::to_string(bank_.fetching()) +
         " lines on their way, " + std::to_string(bank_.recalling()) + " recalled, " +
         std::to_string(data_.size()) + " answers with data, " + std::to_string(control_.size()) +
         " without, " + std::to_string(credits_) + " credits";
  if (ports_.from_noc.next_arrival() != kNever)
    out += ", head (line " + std::to_string(ports_.from_noc.front().line) + ") waits for " +
           kWaits[static_cast<unsigned>(wait_)];
  out += "\n";
}

}  // namespace raddle::timing
