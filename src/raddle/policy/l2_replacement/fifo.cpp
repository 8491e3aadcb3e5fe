#include "raddle/policy/replacement/fifo.h"
#include "raddle/policy/l2_replacement/policy.h"

namespace raddle::policy {

void add_l2_replacement_fifo(Registry<L2ReplacementPolicy>& r) {
  r.add<FifoOf<L2ReplacementPolicy>>("fifo", "the line that came first");
}

}  // namespace raddle::policy
