// SMX-Bind (LaPerm, section IV.B, figure 5c): what a kernel launches runs on the SM of the block
// that launched it, before blocks of the host's kernels. bound_queues.h has the rule.
#include "raddle/policy/dispatch/bound_policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class SmxBind final : public BoundPolicy {
 public:
  using Params = BindParams;
  SmxBind(const Params& params, const Context& context) : BoundPolicy(params.rules(context.sms)) {}
};

}  // namespace

void add_dispatch_smx_bind(Registry<DispatchPolicy>& r) {
  r.add<SmxBind>("smx_bind", "launches by kernels first and on their parent's SM (LaPerm)");
}

}  // namespace raddle::policy
