// No scheme: tenants share the GPU as one program's kernels do.
#include "raddle/policy/registry.h"
#include "raddle/policy/scheme/policy.h"

namespace raddle::policy {
namespace {

class None final : public SchemePolicy {
 public:
  using Params = NoParams;
  None(const Params&, const Context&) {}
  bool shares() const override { return false; }
  Cycle look(const SchemeView&, Knobs&) override { return kNever; }
};

}  // namespace

void add_scheme_none(Registry<SchemePolicy>& r) {
  r.add<None>("none", "tenants share as one program's kernels do");
}

}  // namespace raddle::policy
