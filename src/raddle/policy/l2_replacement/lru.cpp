// Least recently used, as the slice itself does it.
#include "raddle/policy/l2_replacement/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class L2Lru final : public L2ReplacementPolicy {
 public:
  using Params = NoParams;
  L2Lru(const Params&, const Context&) {}
  bool is_lru() const override { return true; }
  unsigned victim(const SetView& view) const override { return view.oldest(view.candidates); }
};

}  // namespace

void add_l2_replacement_lru(Registry<L2ReplacementPolicy>& r) {
  r.add<L2Lru>("lru", "the line whose last use is longest ago");
}

}  // namespace raddle::policy
