// A fixed combination of thread blocks: every SM holds at most so many blocks of each tenant. The
// point that searches over combinations evaluate (the best of all is the oracle that papers on
// sharing SMs compare with).
#include "raddle/policy/registry.h"
#include "raddle/policy/scheme/by_tenant_fields.h"
#include "raddle/policy/scheme/policy.h"

namespace raddle::policy {
namespace {

class Static final : public SchemePolicy {
 public:
  struct Params {
    ByTenant blocks{};
    void visit(FieldVisitor& v) {
      visit_by_tenant(v, "blocks", blocks, {0, 64}, "blocks",
                      "most blocks that an SM holds; 0 = as many as fit");
    }
  };
  Static(const Params& params, const Context& context) : params_(params), sms_(context.sms) {}

  Cycle look(const SchemeView&, Knobs& knobs) override {
    for (unsigned t = 0; t < kMaxTenants; ++t)
      if (params_.blocks[t] != 0) knobs.tenant[t].block_cap.assign(sms_, params_.blocks[t]);
    return kNever;
  }

 private:
  Params params_;
  unsigned sms_;
};

}  // namespace

void add_scheme_static(Registry<SchemePolicy>& r) {
  r.add<Static>("static", "at most so many blocks of each tenant on every SM");
}

}  // namespace raddle::policy
