#include "raddle/policy/coherence/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {

/// `Host`: the host shares the memory (CoherenceRules::host).
template <bool Host>
class GpuCoherence final : public CoherencePolicy {
 public:
  struct Params {
    void visit(FieldVisitor&) {}
  };
  GpuCoherence(const Params&, const Context&) {}
  CoherenceRules rules() const override {
    CoherenceRules rules;
    rules.host = Host;
    return rules;
  }
};

void add_coherence_gpu(Registry<CoherencePolicy>& r) {
  r.add<GpuCoherence<false>>("gpu", "L1s as sm.l1d says, atomics at the L2");
  r.add<GpuCoherence<true>>("gpu_one_memory",
                            "as gpu, and what the host reads and writes between launches passes "
                            "through the L2");
}

}  // namespace raddle::policy
