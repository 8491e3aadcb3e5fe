// Seeded random views for the contract suites. Each suite is a function that plays a long random
// scenario with one policy and returns what rule was broken, "" if none, so that the suites
// themselves can be tested with faulty policies.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "raddle/policy/all.h"

namespace raddle::contract {

template <class Interface>
using Make = std::function<std::unique_ptr<Interface>(const typename Interface::Context&)>;

/// Every answer is a ready warp; the same views give the same answers from a second instance; the
/// order in which instances of other schedulers are asked does not matter.
std::string check_warp(const Make<policy::WarpPolicy>& make, std::uint64_t seed);

/// Asked in every cycle, or only when its answer may have become another, a throttle answers the
/// same and counts the same; an answer holds in its own cycle; when nothing happens any more, in
/// the end a warp that waits at no barrier may do everything.
std::string check_throttle(const Make<policy::ThrottlePolicy>& make, std::uint64_t seed);

/// On the real dispatcher, which aborts on an answer that is not allowed: every block of every
/// launch goes out exactly once; launches of changing sizes, one after another and at once, SMs of
/// very different speed; no standstill while blocks are left; the same history gives the same
/// answers, whether cycles are skipped or not.
std::string check_block(const Make<policy::BlockPolicy>& make, std::uint64_t seed);

/// Every answer is a kernel whose block fits; when all fit, one is named; no standstill while
/// blocks are left; the same history gives the same answers.
std::string check_kernel(const Make<policy::KernelPolicy>& make, std::uint64_t seed);

struct DramPromises {
  /// No request waits forever while traffic goes on.
  bool no_starvation = true;
};
/// Every answer is an issuable request; a full queue drains when nothing new arrives; asking again
/// with the same view gives the same answer; asking more often changes nothing; no starvation under
/// sustained traffic where promised.
std::string check_dram(const Make<policy::DramPolicy>& make, std::uint64_t seed,
                       DramPromises promises);

/// Every answer is a way that may be given away; asking again changes nothing, neither the answer
/// nor any later one; the same history gives the same answers.
std::string check_replacement(const Make<policy::ReplacementPolicy>& make, std::uint64_t seed);

/// The same history gives the same answers and counts, also where an instance is told more often
/// that waits may have changed.
std::string check_bypass(const Make<policy::BypassPolicy>& make, std::uint64_t seed);

/// Knobs stay within the machine, a tenant that is present can have a block somewhere, no knob is
/// set that nobody obeys; the same history gives the same knobs, also when it starts later.
std::string check_scheme(const Make<policy::SchemePolicy>& make, std::uint64_t seed);

/// Only warps move that may leave, to where they fit; the same history gives the same orders, and
/// asked in every cycle or only when something has changed or it wanted to be, a policy orders and
/// counts the same.
std::string check_migrate(const Make<policy::MigratePolicy>& make, std::uint64_t seed);

}  // namespace raddle::contract
