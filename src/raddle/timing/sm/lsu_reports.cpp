// What a load/store unit tells observers, people and auditors.
#include <string>

#include "raddle/timing/sm/lsu.h"

namespace raddle::timing {

namespace {
using stats::Refusal;

const char* in_words(Refusal why) {
  switch (why) {
    case Refusal::Mshr:
      return "no MSHR is free";
    case Refusal::Merge:
      return "the line's MSHR can merge no more";
    case Refusal::Way:
      return "every way of the set is reserved";
    case Refusal::MissQueue:
      return "the miss queue is full";
    case Refusal::StoreBuffer:
      return "the store buffer is full";
    case Refusal::WriteBack:
      return "its line is on its way to the L2";
  }
  return "nothing";
}
}  // namespace

void Lsu::tell_access(Cycle now, const Entry& e, const LineAccess& a, policy::L1Outcome outcome) {
  const policy::L1Kind kind = e.route == Route::Load    ? policy::L1Kind::Load
                              : e.route == Route::Store ? policy::L1Kind::Store
                                                        : policy::L1Kind::Atomic;
  events()->access({now, a.line, e.owner.inst, head_.lanes, lines_.widened(a.sectors), kept(e, a),
                    e.owner.warp, e.owner.kernel, kind, e.owner.code->local, e.bypass, outcome,
                    e.owner.tenant});
}

/// What a store leaves valid of a line, by write policy; DeNovo's stores and atomics leave all of
/// it.
std::uint8_t Lsu::kept(const Entry& e, const LineAccess& a) const {
  if (denovo_ != nullptr) return e.route == Route::Load ? std::uint8_t{0} : a.sectors;
  if (e.route != Route::Store || e.bypass) return 0;
  switch (e.owner.code->local ? local_policy_ : policy_) {
    case WritePolicy::WriteThrough:
    case WritePolicy::WriteEvict:
      return 0;
    case WritePolicy::WriteBack:
    case WritePolicy::WriteValidate:
      return lines_.widened(a.sectors);
    case WritePolicy::WriteThroughValidate:
      return l1d_.last_way() == Tags::kAbsent ? std::uint8_t{0}
                                              : lines_.narrowed(lines_.whole(a.words));
  }
  return 0;
}

/// What has become of an access to the L1D.
void Lsu::tell(Cycle now, const Entry& e, const LineAccess& a, const L1d::Answer& answer) {
  L1Events& events = *l1d_.events();
  switch (answer.outcome) {
    case L1d::Outcome::Blocked:
      if (!refused_) tell_access(now, e, a, policy::L1Outcome::Refused);
      return;
    case L1d::Outcome::Hit:
      events.used(l1d_.last_way(), e.owner.warp);
      return tell_access(now, e, a, policy::L1Outcome::Hit);
    case L1d::Outcome::Forward:
      if (l1d_.last_way() != Tags::kAbsent) events.used(l1d_.last_way(), e.owner.warp);
      return tell_access(now, e, a, policy::L1Outcome::Forwarded);
    case L1d::Outcome::Miss:
      break;
  }
  if (answer.ask != 0 && l1d_.first_request(answer.mshr, answer.ask))
    events.requested(answer.mshr, e.owner.warp);
  if (l1d_.reserved_way(answer.mshr) != Tags::kAbsent)
    events.used(l1d_.reserved_way(answer.mshr), e.owner.warp);
  tell_access(now, e, a, answer.ask != 0 ? policy::L1Outcome::Miss : policy::L1Outcome::PendingHit);
}

void Lsu::describe(std::string& out) const {
  out += "load/store unit: " + std::to_string(queue_.size()) + " of " +
         std::to_string(queue_.capacity()) + " instructions, " +
         std::to_string(loads_.size() - free_loads_.size()) + " loads in flight, " +
         std::to_string(denovo_ != nullptr ? denovo_->missing() : l1d_.missing_lines()) +
         " lines missing, miss queue " + std::to_string(miss_queue_.size()) + " of " +
         std::to_string(miss_queue_.capacity()) + ", " + std::to_string(credits_) + " flit credits";
  if (denovo_ != nullptr)
    out += ", " + std::to_string(denovo_->registrations_under_way()) + " registrations, " +
           std::to_string(answers_.size()) + " answers to others";
  if (refused_)
    out += "; its head (warp slot " + std::to_string(queue_.front().owner.warp) +
           ") is blocked: " + in_words(refused_for_);
}

void Lsu::audit(const SmKernelCounters& counters, std::vector<std::string>& broken) const {
  auto require = [&](const char* law, std::uint64_t left, std::uint64_t right) {
    if (left != right)
      broken.push_back("SM " + std::to_string(sm_) + ": " + law + " (" + std::to_string(left) +
                       " and " + std::to_string(right) + ")");
  };
  stats::SmCounters c = counters.total();
  std::uint64_t refused = 0;
  for (std::uint64_t cycles : c.l1d_refused) refused += cycles;
  require("L1D accesses = hits + pending hits + misses", c.l1d_accesses,
          c.l1d_hits + c.l1d_pending_hits + c.l1d_misses);
  require("refused cycles = sum of causes", c.l1d_reservation_fails, refused);
  require("load cycles = LSU + hit + miss queue + outside", c.load_cycles,
          c.load_lsu_cycles + c.load_hit_cycles + c.load_queue_cycles + c.load_outside_cycles);
  if (!idle()) return;
  std::uint64_t withdrawn = 0;
  for (unsigned k = 0; k < stats::kKernelSlots; ++k) withdrawn += withdrawn_[k].requests;
  require("requests = replies when nothing is under way", c.requests, c.replies);
  require("L1D fills = misses of loads and stores when nothing is under way", c.l1d_fills + withdrawn,
          c.l1d_misses + c.l1d_store_misses);
}

}  // namespace raddle::timing
