// Simultaneous multikernel: blocks of all tenants on every SM, so many of each as dominant resource
// fairness over what they take gives, and a quota of warp instructions for each in an epoch, by
// what it does alone (Wang et al., "Simultaneous Multikernel GPU: Multi-tasking Throughput
// Processors via Fine-Grained Sharing", HPCA 2016). Rebuilt from what papers that compare with it
// say: docs/mechanisms/ccbp.md, which tells what is a reading.
#include <algorithm>
#include <array>

#include "raddle/policy/registry.h"
#include "raddle/policy/scheme/present_tenants.h"

namespace raddle::policy {
namespace {

class Smk final : public SchemePolicy {
 public:
  struct Params {
    bool quota = true, by_all = false;
    std::uint32_t epoch = 1000, period = 20000;
    void visit(FieldVisitor& v) {
      v.field("quota", quota, "warp instructions are shared too, by IPC alone");
      v.field("epoch", epoch, {1, 1'000'000}, "cycles",
              "a tenant's quota is its part of what it would issue alone in as many; twice as many "
              "renew all quotas anyway");
      v.field("by_all", by_all,
              "an epoch ends when every tenant on the SM has spent its quota, not when those that "
              "have not are not ready");
      v.field("period", period, {1000, 100'000'000}, "cycles",
              "quotas follow the lanes that tenants' instructions have had so far");
    }
  };
  Smk(const Params& params, const Context& context) : params_(params), context_(context) {}
  bool wants_ipc_alone() const override { return params_.quota; }

  Cycle look(const SchemeView& view, Knobs& knobs) override {
    knobs = {};
    for (unsigned t = 0; t < kMaxTenants; ++t) {
      lanes_[t].instructions += view.tenant[t].counts.instructions;
      lanes_[t].thread_instructions += view.tenant[t].counts.thread_instructions;
    }
    const PresentTenants present = present_tenants(view);
    if (present.count() < 2) return kNever;
    expect_one_of_each(context_.sm, present.blocks, "smk");
    const std::vector<std::uint32_t> blocks = share_by_dominant(context_.sm, present.blocks);
    cap_blocks(present, blocks, context_.sms, knobs);
    blocks_.fill(0);
    for (std::size_t i = 0; i < present.count(); ++i) blocks_[present.number[i]] = blocks[i];
    if (!params_.quota) return kNever;
    knobs.issue_epoch = 2 * params_.epoch;
    knobs.issue_by_all = params_.by_all;
    for (const unsigned t : present.number)
      knobs.tenant[t].issue_quota = quota_[t] = quota_of(t, present.count());
    return view.now + params_.period;
  }
  void visit_statistics(FieldVisitor& v) override {
    for (unsigned t = 0; t < kMaxTenants; ++t) {
      if (blocks_[t] == 0) continue;
      v.enter("tenant_" + std::to_string(t), "as it was set last");
      v.field("blocks", blocks_[t], {}, "blocks", "on each SM at most");
      if (quota_[t] != kNoLimit)
        v.field("quota", quota_[t], {}, "instructions", "of warps, on each SM in an epoch");
      v.leave();
    }
  }

 private:
  /// Nobody is held who is not known alone or has not shown how many lanes its instructions have.
  std::uint32_t quota_of(unsigned t, std::size_t tenants) const {
    const Lanes& seen = lanes_[t];
    if (!(context_.ipc_alone[t] > 0) || seen.thread_instructions == 0) return kNoLimit;
    const double warp_instructions = context_.ipc_alone[t] *
                                     static_cast<double>(seen.instructions) /
                                     static_cast<double>(seen.thread_instructions) / context_.sms;
    const double quota = warp_instructions * params_.epoch / static_cast<double>(tenants);
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::min(quota, 1e9)));
  }
  struct Lanes {
    std::uint64_t instructions = 0, thread_instructions = 0;
  };
  Params params_;
  Context context_;
  std::array<Lanes, kMaxTenants> lanes_{};
  std::array<std::uint32_t, kMaxTenants> blocks_{}, quota_{};
};

}  // namespace

void add_scheme_smk(Registry<SchemePolicy>& r) {
  r.add<Smk>("smk", "blocks by dominant resource fairness, and a quota of warp instructions");
}

}  // namespace raddle::policy
