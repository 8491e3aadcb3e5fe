// The usual scheduler of a GPU on which kernels launch kernels, LaPerm's baseline (section III.B):
// kernels first come, first served; of one kernel its own blocks in order, then those of the groups
// that have joined it, in the order in which they came; each block to the next SM with room. A
// block that fits nowhere is not overtaken. On the chip there is a table of so many groups; the
// rest is in memory (Wang et al., DTBL, ISCA 2015). docs/mechanisms/laperm.md.
#include "raddle/policy/dispatch/any_sm_policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Rr final : public AnySmPolicy {
 public:
  struct Params {
    std::uint32_t table = 1024;
    void visit(FieldVisitor& v) {
      v.field("table", table, {1, 1u << 20}, "groups", "that have a place on the chip");
    }
  };
  Rr(const Params& params, const Context& context)
      : AnySmPolicy(context.sms, 0, params.table),
        kernels_(kernel_slots(context.entries), LevelQueues(0)) {}

 private:
  void ready(GridId grid) override {
    kernels_[known(grid).entry].push(grid, 0);
    ready_.set(known(grid).entry);
  }
  void remove(GridId grid) override {
    LevelQueues& kernel = kernels_[known(grid).entry];
    kernel.remove(grid, 0);
    if (kernel.empty()) ready_.clear(known(grid).entry);
  }
  /// The oldest kernel's first grid with blocks left.
  std::optional<GridId> head(const DispatchView& view) const override {
    std::optional<GridId> best;
    std::uint64_t oldest = ~std::uint64_t{0};
    ready_.each([&](unsigned entry) {
      if (since(entry) > oldest) return;
      const std::optional<GridId> grid = kernels_[entry].first(
          [&](GridId one) { return !view.shared || view.free_sms(one).any(); });
      if (!grid) return;
      best = grid;
      oldest = since(entry);
    });
    return best;
  }
  std::vector<LevelQueues> kernels_;  // by entry; what has blocks left and is on the chip
  KernelSet ready_;                   // kernels that have any
};

}  // namespace

void add_dispatch_rr(Registry<DispatchPolicy>& r) {
  r.add<Rr>("rr",
            "kernels in order of their launch, then the groups that joined them; SMs in turn");
}

}  // namespace raddle::policy
