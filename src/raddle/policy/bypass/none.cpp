// Every load that misses brings its line.
#include "raddle/policy/bypass/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class NoBypass final : public BypassPolicy {
 public:
  using Params = NoParams;
  NoBypass(const Params&, const Context&) {}
  bool bypasses() const override { return false; }

 private:
  bool goes_past(const BypassView&) override { return false; }
};

}  // namespace

void add_bypass_none(Registry<BypassPolicy>& r) {
  r.add<NoBypass>("none", "every load that misses brings its line");
}

}  // namespace raddle::policy
