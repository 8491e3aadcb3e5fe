// Warps stay where their block is.
#include "raddle/policy/migrate/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class None final : public MigratePolicy {
 public:
  using Params = NoParams;
  None(const Params&, const Context&) {}
  bool migrates() const override { return false; }
  Cycle look(MigrateView&) override { return kNever; }
};

}  // namespace

void add_migrate_none(Registry<MigratePolicy>& r) {
  r.add<None>("none", "warps stay where their block is");
}

}  // namespace raddle::policy
