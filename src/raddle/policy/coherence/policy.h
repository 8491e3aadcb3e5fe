// Level "coherence": how the L1 caches of the SMs are kept coherent. A protocol is machinery of the
// timing model (timing/cache); the policy says which one and with which
// parameters. One instance for the machine.
#pragma once
#include <cstdint>
#include <string_view>

#include "raddle/base/fields.h"

namespace raddle::policy {

struct CoherenceRules {
  /// An L1 owns what it has written (timing/cache/denovo_l1.h). Otherwise stores go where
  /// sm.l1d.write_policy says and atomics are performed at the L2.
  bool ownership = false;
  /// ownership: core cycles from a bank's look-up to the message to an owner, and from that
  /// message's arrival at the owner to its answer.
  std::uint32_t directory_cycles = 1, answer_cycles = 1;
  /// ownership: words of regions that nobody has written since the last acquire outlive an acquire
  /// (timing/cache/region_writes.h).
  bool ro_regions = false;
  /// The host has one memory with the GPU: what it reads and writes between launches passes through
  /// the L2 (timing/cache/host_traffic.h).
  bool host = false;
};

class CoherencePolicy {
 public:
  static constexpr std::string_view kLevel = "coherence";
  struct Context {};
  virtual ~CoherencePolicy() = default;
  virtual CoherenceRules rules() const = 0;
};

}  // namespace raddle::policy
