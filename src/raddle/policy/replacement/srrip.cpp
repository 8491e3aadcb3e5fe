#include "raddle/policy/replacement/srrip.h"

namespace raddle::policy {

void add_replacement_srrip(Registry<ReplacementPolicy>& r) {
  r.add<SrripOf<ReplacementPolicy>>(
      "srrip", "the line predicted to be used last, by whether it has hit (SRRIP)");
}

}  // namespace raddle::policy
