#include "raddle/policy/coherence/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {

class GpuOneMemory final : public CoherencePolicy {
 public:
  struct Params {
    void visit(FieldVisitor&) {}
  };
  GpuOneMemory(const Params&, const Context&) {}
  CoherenceRules rules() const override {
    CoherenceRules rules;
    rules.host = true;
    return rules;
  }
};

void add_coherence_gpu_one_memory(Registry<CoherencePolicy>& r) {
  r.add<GpuOneMemory>("gpu_one_memory",
                      "as gpu, and what the host reads and writes between launches passes through "
                      "the L2");
}

}  // namespace raddle::policy
