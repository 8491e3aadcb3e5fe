// What a protocol of the L1D gives the load/store unit: the concept that Lsu<L1> is written
// against, and what a third protocol has to provide. The two there are: GPU coherence
// (gpu_coherent_l1.h: L1D, store buffer, write-backs) and DeNovo (denovo_coherent_l1.h).
//
// A protocol decides what becomes of an access to the L1D, asks the L2 for what it lacks through
// the core's miss queue, and takes replies. It has no clock of its own. In each call it is lent the
// core of the load/store unit (lsu_core.h). Which one an SM has is a template parameter and not a
// virtual call, because an SM asks in every cycle; the contract suite
// tests/timing/lsu_protocols.cpp runs over all.
//
// What holds for all:
// - serve() is given the same access again until it has been Done. Refused changes nothing and says
//   why (core.refuse()); Again has done a part, such as a write-back that goes first.
// - Every load that serve() has taken ends once for each access: with an Event::piece in the wheel
//   (a hit) or through sink in receive(); every store and reduction with an Event::acknowledge or
//   sink.acknowledged(warp).
// - What a protocol sends of itself (write-backs, buffered stores, registrations) waits while
//   drains() and leaves in drain(), which says whether anything has; next_event() names the cycle
//   in which it or send_answer() could do something.
// - Every request it counts in count.requests is answered, and counted in count.replies then.
#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>

#include "raddle/policy/bypass/policy.h"
#include "raddle/policy/observer.h"
#include "raddle/policy/replacement/policy.h"
#include "raddle/timing/cache/most_taken.h"
#include "raddle/timing/cache/way_shares.h"
#include "raddle/timing/sm/lsu_core.h"

namespace raddle::timing {

enum class Served : std::uint8_t {
  Refused,  ///< try again
  Again,    ///< something has changed, and the access is not over
  Done,
};

namespace l1_protocol_detail {
/// For the concept: what becomes of replies.
struct AnySink {
  void loaded(const LsuCore::Owner&) {}
  void acknowledged(unsigned) {}
};
}  // namespace l1_protocol_detail

template <class L1>
concept L1Protocol = requires(L1& l1, const L1& l1_const, LsuCore& core, const LsuCore& core_const,
                              Cycle now, const LsuCore::Entry& e, const LineAccess& a,
                              EventWheel& wheel, SmKernelCounters& counters,
                              stats::SmCounters& count, const Message& m, Message& request,
                              l1_protocol_detail::AnySink& sink, std::string& out, unsigned kernel,
                              policy::L1Observer& observer, const WayShares* shares,
                              const TenantId* tenants) {
  // Accesses and replies.
  { l1.serve(core, now, e, a, wheel, count) } -> std::same_as<Served>;
  l1.receive(core, now, m, counters, sink);
  /// Room for a request of the launch in a slot, also one that is not the L1's own: of a constant.
  { l1_const.can_send(core_const, kernel) } -> std::same_as<bool>;
  l1.mark_constant(request);
  // Beside the oldest instruction.
  { l1_const.drains() } -> std::same_as<bool>;
  { l1.drain(core, counters) } -> std::same_as<bool>;
  { l1.send_answer(core, now) } -> std::same_as<bool>;
  { l1_const.next_event(core_const, now) } -> std::same_as<Cycle>;
  { l1_const.answer_credits_at() } -> std::same_as<Cycle>;
  // The wires of send_answer(); null: this protocol answers nobody.
  { l1.answers() } -> std::same_as<AnswerPorts*>;
  // Synchronisation: a launch's first block, a warp's acquire (a fence, an access that acquires).
  l1.kernel_starts(now, kernel);
  l1.acquire(now);
  // Which ways the misses of a launch may fill, by launch slot; null: any.
  l1.share_ways(shares);
  // Who decides whose way a miss gets, and the tenants of the launch slots; null: the order of use.
  l1.replace_by(std::unique_ptr<policy::ReplacementPolicy>{}, tenants);
  { l1_const.replacement() } -> std::same_as<policy::ReplacementPolicy*>;
  // Who decides which loads that miss go past; null: none.
  l1.bypass_by(std::unique_ptr<policy::BypassPolicy>{});
  { l1_const.bypass() } -> std::same_as<policy::BypassPolicy*>;
  // Loads that leave with their warp: whether the protocol lets them (if not, none of the rest is
  // called); how many MSHRs there are; whether anybody waits for one, and who; the MSHR in which a
  // load waits for sectors of a line; the load will not be told, and nobody else waits then; what
  // has not come; frees it, because none of its requests has left; counts it as free, although one
  // has.
  { L1::kMigrates } -> std::convertible_to<bool>;
  { l1_const.waits(std::uint32_t{}, std::uint8_t{}, std::uint16_t{}) } -> std::same_as<unsigned>;
  { l1_const.mshrs() } -> std::same_as<unsigned>;
  { l1_const.waited_for(kernel) } -> std::same_as<bool>;
  l1_const.each_waiter(kernel, [](std::uint16_t) {});
  { l1.cancel(kernel, std::uint16_t{}) } -> std::same_as<bool>;
  { l1_const.missing_sectors(kernel) } -> std::same_as<std::uint8_t>;
  l1.abandon(kernel);
  l1.unclaimed(kernel);
  // Hints.
  l1_const.prefetch_find(std::uint32_t{});
  l1_const.prefetch_load(std::uint32_t{});
  l1_const.prefetch_reply(m);
  // Results.
  { l1_const.idle() } -> std::same_as<bool>;
  { l1_const.missing_lines() } -> std::same_as<unsigned>;
  { l1_const.mshrs_taken() } -> std::same_as<unsigned>;
  { l1.max_mshrs() } -> std::same_as<MaxTaken&>;
  l1_const.describe(out);
  l1.observe(observer);
  { l1.events() } -> std::same_as<L1Events*>;
};

}  // namespace raddle::timing
