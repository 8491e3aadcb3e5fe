// An SM's way out: the miss queue, in which requests wait, and the port to the interconnect, which
// takes a packet whenever it is free and has credits for its flits. Three things may decide what
// leaves next: the order of entry, the request gate of a scheme (request_gate.h), or, where other
// transfers leave by the same port (contexts of warps), turns between these and the requests.
//
// Who enqueues says whose departure is to be noted; inject() tells what has left, so that its owner
// can note it and wake who waited for the free slot.
#pragma once
#include <memory>

#include "raddle/base/error.h"
#include "raddle/base/ring.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/sm/request_gate.h"
#include "raddle/timing/sm/warps.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/flits.h"
#include "raddle/timing/wire/memory_ports.h"
#include "raddle/timing/wire/transfer.h"

namespace raddle::timing {

class RequestPort {
 public:
  static constexpr std::uint16_t kNoLoad = 0xffff;
  struct Request {
    Message message;
    std::uint16_t load = kNoLoad;  ///< whose departure is noted
  };
  /// What inject() has sent.
  struct Sent {
    bool packet = false;           ///< anything at all
    bool request = false;          ///< a request, whose slot is free
    std::uint16_t load = kNoLoad;  ///< of the request
  };

  /// `map` tells home banks and must outlive the port.
  RequestPort(const LsuSpec& spec, const AddressMap& map);
  SmPorts& ports() { return ports_; }
  const SmPorts& ports() const { return ports_; }
  Cycle wire() const { return wire_; }
  NodeId home(std::uint32_t line) const { return map_.home(line); }

  // --- the miss queue ----------------------------------------------------------------------------
  bool full() const { return queue_.full(); }
  /// Tenants may have shares of it.
  bool limits_tenants() const { return gate_ != nullptr; }
  /// Room for a request of that tenant.
  bool takes(TenantId tenant) const {
    return !queue_.full() && (gate_ == nullptr || gate_->takes(tenant));
  }
  /// Of a request whose tenant is known. Precondition: not full().
  void enqueue(const Message& message, TenantId tenant, std::uint16_t load) {
    Request& request = queue_.emplace();
    request.message = message;
    request.message.tenant = tenant;
    request.load = load;
    if (gate_ != nullptr) [[unlikely]]
      gate_->entered(tenant);
  }
  unsigned queued() const { return queue_.size(); }
  unsigned capacity() const { return queue_.capacity(); }
  /// The i-th from the oldest.
  const Request& operator[](unsigned i) const { return queue_[i]; }
  /// Nobody notes the departures of the load's requests any more.
  void forget_load(unsigned load);
  /// Requests of which is_withdrawn(message) never leave. Precondition: nobody's share is limited.
  template <class IsCancelled>
  void withdraw(IsCancelled is_cancelled);

  // --- each cycle --------------------------------------------------------------------------------
  /// Something waits, and the port is free.
  bool may_inject(Cycle now) const { return waits() && inject_at_ <= now; }
  /// Sends one packet if there are credits. Precondition: may_inject().
  Sent inject(Cycle now);
  /// Something waits for the port.
  bool waits() const { return !queue_.empty() || (transfers_ != nullptr && !transfers_->empty()); }
  /// When what is next may leave. Precondition: waits().
  Cycle next_departure(Cycle now) const;
  /// When the credits come that a packet waits for.
  Cycle credits_at() const { return lacks_credits_ ? ports_.credit_in.next_arrival() : kNever; }
  unsigned credits() const { return credits_; }

  // --- what else decides -------------------------------------------------------------------------
  /// From now on segments leave through the port in turn with requests. The queue must outlive the
  /// port.
  void send_transfers_of(SegmentQueue& transfers) { transfers_ = &transfers; }
  /// From now on requests leave with the rank that the SM has then. The table must outlive the
  /// port.
  void rank_requests_by(const WarpTable& warps) { ranked_by_ = &warps; }
  /// The knobs that concern the miss queue hold from cycle `at` on.
  void obey(Cycle at, const policy::Knobs& knobs);
  stats::SharingCounters sharing(Cycle at, unsigned kernel) const;
  /// Of all launches.
  stats::SharingCounters sharing(Cycle at) const;

 private:
  [[gnu::always_inline]] Sent inject_oldest(Cycle now);
  // Out of line: few have them, and the oldest request's way is the shorter for it.
  [[gnu::noinline]] Sent inject_in_turn(Cycle now);
  Sent inject_segment(Cycle now);
  [[gnu::noinline]] Sent inject_by_tenant(Cycle now);
  [[gnu::always_inline]] Sent depart(Cycle now, const Request& request, unsigned flits);
  template <class Change>
  [[gnu::always_inline]] void put_on_wire(Cycle now, const Message& message, unsigned flits,
                                          Change change);
  bool has_credits(Cycle now, unsigned flits);

  const AddressMap& map_;
  FlitTable flits_;
  PortPace pace_;
  ClockRatio clock_;  // of the network
  unsigned sm_;
  unsigned kernel_slots_;
  Cycle wire_;
  Cycle arbiter_ = 0;  // of a scheme: who leaves next; it takes one each cycle
  Ring<Request> queue_;
  SegmentQueue* transfers_ = nullptr;     // null: nobody sends any
  const WarpTable* ranked_by_ = nullptr;  // null: requests carry no rank
  std::unique_ptr<RequestGate> gate_;     // null: requests leave in order of their entry
  SmPorts ports_;
  Cycle inject_at_ = 0;
  unsigned credits_;
  bool lacks_credits_ = false;
  bool none_may_leave_ = false;                   // gate_: no tenant with a request has a token
  bool segment_next_ = false;                     // whose turn it is
  std::unique_ptr<RequestGate::Counts> sharing_;  // null until somebody is limited
};

template <class IsCancelled>
void RequestPort::withdraw(IsCancelled is_cancelled) {
  RADDLE_ASSERT(gate_ == nullptr);  // it counts what is queued
  for (unsigned left = queue_.size(); left != 0; --left) {
    const Request request = queue_.front();
    queue_.pop();
    if (!is_cancelled(request.message)) queue_.push(request);
  }
  lacks_credits_ = false;  // of another request, if there is one
}

}  // namespace raddle::timing
