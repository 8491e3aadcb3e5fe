#include "raddle/policy/replacement/srrip.h"
#include "raddle/policy/l2_replacement/policy.h"

namespace raddle::policy {

void add_l2_replacement_srrip(Registry<L2ReplacementPolicy>& r) {
  r.add<SrripOf<L2ReplacementPolicy>>(
      "srrip", "the line predicted to be used last, by whether it has hit (SRRIP)");
}

}  // namespace raddle::policy
