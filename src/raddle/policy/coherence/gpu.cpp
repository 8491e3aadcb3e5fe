#include "raddle/policy/coherence/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {

class GpuCoherence final : public CoherencePolicy {
 public:
  struct Params {
    bool host = false;
    void visit(FieldVisitor& v) { v.field("host", host, kHostDoc); }
  };
  GpuCoherence(const Params& p, const Context&) : p_(p) {}
  CoherenceRules rules() const override {
    CoherenceRules rules;
    rules.host = p_.host;
    return rules;
  }

 private:
  Params p_;
};

void add_coherence_gpu(Registry<CoherencePolicy>& r) {
  r.add<GpuCoherence>("gpu", "L1s as sm.l1d says, atomics at the L2");
}

}  // namespace raddle::policy
