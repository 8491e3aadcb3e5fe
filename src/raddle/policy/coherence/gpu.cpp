#include "raddle/policy/coherence/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {

class GpuCoherence final : public CoherencePolicy {
 public:
  struct Params {
    void visit(FieldVisitor&) {}
  };
  GpuCoherence(const Params&, const Context&) {}
  CoherenceRules rules() const override { return {}; }
};

void add_coherence_gpu(Registry<CoherencePolicy>& r) {
  r.add<GpuCoherence>("gpu", "L1s as sm.l1d says, atomics at the L2");
}

}  // namespace raddle::policy
