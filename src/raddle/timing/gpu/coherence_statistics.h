// What DeNovo's L1s and banks have done, as the statistics of the policy level: the protocol is
// machinery that counts in the machine's counters, so the policy has none of its own.
#pragma once
#include "raddle/base/fields.h"
#include "raddle/policy/coherence/policy.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/cache/host_traffic.h"

namespace raddle::timing {

struct CoherenceStatistics {
  static constexpr std::string_view kLevel = policy::CoherencePolicy::kLevel;
  stats::GpuCounters all;
  std::uint64_t kept = 0;  ///< DenovoL1::kept() of all L1s
  HostCounters host;

  void visit_statistics(FieldVisitor& v) {
    stats::SmCounters& sm = all.sm;
    stats::L2Counters& l2 = all.l2;
    v.field("registrations", sm.registrations, {}, "", "lines of words registered at the L2");
    v.field("forwards", l2.forwards, {}, "", "reads sent on to owners");
    v.field("takes", l2.takes, {}, "", "owners asked to give words up to an atomic");
    v.field("invalidations", l2.invalidations, {}, "", "former owners told of a registration");
    v.field("recalls", l2.recalls, {}, "", "owners asked for words of a line that leaves the L2");
    v.field("words_kept", kept, {}, "",
            "Valid words that outlived an acquire, summed over acquires");
    v.field("host_reads", host.reads, {}, "", "lines read by the host between launches");
    v.field("host_writes", host.writes, {}, "", "lines written by the host between launches");
    v.field("host_fetches", host.fetches, {}, "", "of those read, from DRAM");
    v.field("host_evictions", host.evictions, {}, "", "lines of the L2 that made room for them");
    v.field("host_taken", host.taken, {}, "", "words that L1s owned and lost by it");
  }
};

}  // namespace raddle::timing
