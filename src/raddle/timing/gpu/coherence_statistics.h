// What DeNovo's L1s and banks have done, as the statistics of the policy level.
#pragma once
#include "raddle/base/fields.h"
#include "raddle/stats/counters.h"

namespace raddle::timing {

/// `kept`: DenovoL1::kept() of all L1s.
inline void tell_coherence(const stats::GpuCounters& all, std::uint64_t kept, FieldVisitor& v) {
  stats::GpuCounters c = all;
  v.field("registrations", c.sm.registrations, {}, "", "lines of words registered at the L2");
  v.field("forwards", c.l2.forwards, {}, "", "reads sent on to owners");
  v.field("takes", c.l2.takes, {}, "", "owners asked to give words up to an atomic");
  v.field("invalidations", c.l2.invalidations, {}, "", "former owners told of a registration");
  v.field("recalls", c.l2.recalls, {}, "", "owners asked for words of a line that leaves the L2");
  v.field("words_kept", kept, {}, "", "Valid words that outlived an acquire, summed over acquires");
}

}  // namespace raddle::timing
