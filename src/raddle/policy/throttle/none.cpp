// No throttle: every warp may issue whatever it has.
#include "raddle/policy/registry.h"
#include "raddle/policy/throttle/policy.h"

namespace raddle::policy {
namespace {

class None final : public ThrottlePolicy {
 public:
  using Params = NoParams;
  None(const Params&, const Context&) {}
  bool throttles() const override { return false; }

 private:
  Admission admit(const ThrottleView&) override { return {}; }
};

}  // namespace

void add_throttle_none(Registry<ThrottlePolicy>& r) { r.add<None>("none", "every warp may issue"); }

}  // namespace raddle::policy
