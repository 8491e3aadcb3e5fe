// Least recently used. The cache keeps the order of use itself (timing/cache/tags.h) and does not
// ask; the answer is the same.
#include "raddle/policy/registry.h"
#include "raddle/policy/replacement/policy.h"

namespace raddle::policy {
namespace {

class Lru final : public ReplacementPolicy {
 public:
  using Params = NoParams;
  Lru(const Params&, const Context&) {}
  bool is_lru() const override { return true; }
  unsigned victim(const SetView& view) const override { return view.oldest(view.candidates); }
};

}  // namespace

void add_replacement_lru(Registry<ReplacementPolicy>& r) {
  r.add<Lru>("lru", "the line whose last use is longest ago");
}

}  // namespace raddle::policy
