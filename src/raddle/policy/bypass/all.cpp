// No load brings a line: the L1D holds what stores leave there, by its write policy.
#include "raddle/policy/bypass/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class AllPast final : public BypassPolicy {
 public:
  using Params = NoParams;
  AllPast(const Params&, const Context&) {}

 private:
  bool goes_past(const BypassView&) override { return true; }
};

}  // namespace

void add_bypass_all(Registry<BypassPolicy>& r) { r.add<AllPast>("all", "every load that misses"); }

}  // namespace raddle::policy
