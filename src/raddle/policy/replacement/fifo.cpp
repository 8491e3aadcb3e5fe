#include "raddle/policy/replacement/fifo.h"

namespace raddle::policy {

void add_replacement_fifo(Registry<ReplacementPolicy>& r) {
  r.add<FifoOf<ReplacementPolicy>>("fifo", "the line that came first");
}

}  // namespace raddle::policy
