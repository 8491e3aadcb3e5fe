// A fixed combination: every SM holds at most so many blocks of each tenant, and sends at most so
// many of its requests. The points that searches over combinations evaluate (the best of all is the
// oracle that papers on sharing SMs compare with), and reservations as an operator would make them.
#include <algorithm>
#include <bit>

#include "raddle/policy/registry.h"
#include "raddle/policy/scheme/by_tenant_fields.h"
#include "raddle/policy/scheme/policy.h"

namespace raddle::policy {
namespace {

class Static final : public SchemePolicy {
 public:
  struct Params {
    ByTenant blocks{}, requests{}, priority{};
    std::uint32_t interval = 200;
    void visit(FieldVisitor& v) {
      visit_by_tenant(v, "blocks", blocks, {0, 64}, "blocks",
                      "most blocks that an SM holds; 0 = as many as fit");
      visit_by_tenant(v, "requests", requests, {0, 100'000}, "requests",
                      "that each SM may send to the L2 in each interval; 0 = no limit");
      visit_by_tenant(v, "priority", priority, {0, 255}, "",
                      "higher goes first among requests where some are limited");
      v.field("interval", interval, {1, 100'000}, "NoC cycles", "in which requests are counted");
    }
    bool limits_requests() const {
      return std::ranges::any_of(requests, [](std::uint32_t limit) { return limit != 0; });
    }
  };
  Static(const Params& params, const Context& context) : params_(params), context_(context) {}

  Cycle look(const SchemeView& view, Knobs& knobs) override {
    knobs = {};
    for (unsigned t = 0; t < kMaxTenants; ++t)
      if (params_.blocks[t] != 0) knobs.tenant[t].block_cap.assign(context_.sms, params_.blocks[t]);
    if (params_.limits_requests()) limit_requests(view, knobs);
    return kNever;
  }

 private:
  /// Each tenant has its part of the queues: in one in common, who may not send would hold up all.
  void limit_requests(const SchemeView& view, Knobs& knobs) const {
    const auto tenants = std::max(1u, static_cast<unsigned>(std::popcount(view.present)));
    knobs.token_interval = params_.interval;
    for (unsigned t = 0; t < kMaxTenants; ++t) {
      if (!view.has(t)) continue;
      TenantKnobs& of = knobs.tenant[t];
      if (params_.requests[t] != 0) of.request_tokens = params_.requests[t];
      of.miss_queue = std::max(1u, context_.miss_queue / tenants);
      of.lsu_queue = std::max(1u, context_.lsu_queue / tenants);
      of.priority = static_cast<std::uint8_t>(params_.priority[t]);
    }
  }
  Params params_;
  Context context_;
};

}  // namespace

void add_scheme_static(Registry<SchemePolicy>& r) {
  r.add<Static>("static", "at most so many blocks, and requests, of each tenant on every SM");
}

}  // namespace raddle::policy
