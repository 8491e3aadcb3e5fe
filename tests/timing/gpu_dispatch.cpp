// A dispatch policy that is nothing but one class: registered, chosen by name, and run on a whole
// GPU with kernels that launch kernels.
#include <gtest/gtest.h>

#include <map>

#include "raddle/policy/registry.h"
#include "support/gpu_harness.h"
#include "support/no_fields.h"

namespace raddle::gpu_dispatch_test {
namespace {

using namespace raddle::support;
using policy::BlockDispatch;
using policy::GridId;
using policy::GridInfo;
using timing::BlockSpan;

/// Blocks of the deepest kernels first, on their direct parent's SM alone when `bind` is set.
class DeepestFirst final : public policy::DispatchPolicy {
 public:
  struct Params {
    bool bind = false;
    void visit(FieldVisitor& v) { v.field("bind", bind, "children run where their parent ran"); }
  };
  DeepestFirst(const Params& params, const Context&) : bind_(params.bind) {}

  void on_enter(const GridInfo& grid) override {
    grids_[grid.id] = grid;
    next_[grid.id] = 0;
  }
  void on_grid_end(GridId grid) override { grids_.erase(grid); }
  std::optional<BlockDispatch> pick(const policy::DispatchView& view) override {
    const GridInfo* best = nullptr;
    for (GridId id = view.oldest; id != policy::kNoGrid; id = view.after(id)) {
      const GridInfo& grid = grids_.at(id);
      if (room(view, grid).any() && (!best || grid.parent.depth > best->parent.depth)) best = &grid;
    }
    if (best == nullptr) return std::nullopt;
    ++picks_;
    return BlockDispatch{best->id, next_[best->id]++, room(view, *best).first()};
  }
  void visit_statistics(FieldVisitor& v) override {
    v.field("picks", picks_, {}, "blocks", "handed out");
  }

 private:
  SmSet room(const policy::DispatchView& view, const GridInfo& grid) const {
    SmSet out = view.free_sms(grid.id);
    if (!bind_ || grid.parent.depth == 0) return out;
    SmSet own;
    own.set(grid.parent.sm);
    return out & own;
  }
  bool bind_;
  std::map<GridId, GridInfo> grids_;
  std::map<GridId, std::uint32_t> next_;
  std::uint64_t picks_ = 0;
};

class SetBind final : public test::NoFields {
 public:
  void field(std::string_view, bool& value, std::string_view) override { value = true; }
};
class Picks final : public test::NoFields {
 public:
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    if (name == "picks") picks = value;
  }
  std::uint64_t picks = 0;
};

/// A parent of `blocks` blocks whose first lane launches a child of three blocks each.
class Family {
 public:
  explicit Family(std::uint32_t blocks) {
    const auto launch =
        parent_.add(trace::OpKind::Launch, trace::OpClass::Control, {}, {}, "launch");
    const auto exit = parent_.exit();
    const auto work = child_.sfu(3, {3});
    const auto child_exit = child_.exit();
    recordings_.push_back(
        std::make_unique<Recording>(parent_, trace::LaunchShape{{blocks}, {32}, 0}));
    recordings_.back()->each_warp([&](WarpWriter& w) { w.op(launch, 1).op(exit); });
    for (std::uint32_t i = 0; i < blocks; ++i) {
      recordings_.push_back(std::make_unique<Recording>(child_, trace::LaunchShape{{3}, {64}, 0}));
      recordings_.back()->each_warp([&](WarpWriter& w) {
        for (unsigned n = 0; n < 30; ++n) w.op(work);
        w.op(child_exit);
      });
    }
    parent_code_ =
        std::make_shared<const trace::LoweredCode>(trace::as_it_is(recordings_[0]->code()));
    child_code_ =
        std::make_shared<const trace::LoweredCode>(trace::as_it_is(recordings_[1]->code()));
  }
  std::vector<timing::Submission> tree() {
    std::vector<timing::Submission> out;
    for (std::uint32_t i = 0; i < recordings_.size(); ++i) {
      trace::DeviceOrigin origin;
      origin.block = i - 1;
      out.push_back({{std::shared_ptr<void>(), &recordings_[i]->stream()},
                     i == 0 ? parent_code_ : child_code_,
                     {i == 0 ? "parent" : "child", StreamId{1}, i},
                     i == 0 ? trace::DeviceOrigin{} : origin});
    }
    return out;
  }

 private:
  Code parent_{"parent"}, child_{"child"};
  std::vector<std::unique_ptr<Recording>> recordings_;
  std::shared_ptr<const trace::LoweredCode> parent_code_, child_code_;
};

struct Outcome {
  std::vector<BlockSpan> spans;
  std::uint64_t hash = 0, picks = 0;
};

Outcome outcome_of(bool bind, const timing::GpuOptions& options) {
  policy::Registries all = policy::all_policies();
  all.dispatch.add<DeepestFirst>("deepest_first", "a policy of this test");
  const auto warp = all.warp.choose("gto");
  const auto dram = all.dram.choose("frfcfs");
  const auto kernel = all.kernel.choose("fcfs");
  const auto block = all.block.choose("rr");
  const auto dispatch = all.dispatch.choose("deepest_first");
  SetBind set;
  if (bind) dispatch->visit(set);
  timing::PolicyChoices choices;
  choices.kernel = kernel.get();
  choices.warp = warp.get();
  choices.block = block.get();
  choices.dram = dram.get();
  choices.dispatch = dispatch.get();
  timing::MachineSpec machine = busy_machine();
  machine.device_launch.launch_cycles = 40;
  Family family(40);
  timing::Gpu gpu(machine, choices, options);
  gpu.submit_tree(family.tree());
  gpu.run_until_idle();
  EXPECT_EQ(gpu.audit(), std::vector<std::string>{});
  Picks picks;
  gpu.visit_policy_statistics("dispatch", picks);
  return {gpu.block_spans(), gpu.hash(), picks.picks};
}

TEST(GpuDispatch, OneClassIsAPolicy) {
  const Outcome bound = outcome_of(true, {});
  EXPECT_EQ(bound.spans.size(), 40u + 3 * 40);
  EXPECT_EQ(bound.picks, bound.spans.size()) << "its statistics are in the result";
  std::map<std::uint32_t, std::uint32_t> parents;
  for (const BlockSpan& span : bound.spans)
    if (span.launch == 0) parents[span.block + 1] = span.sm;
  for (const BlockSpan& span : bound.spans)
    if (span.launch != 0) {
      EXPECT_EQ(span.sm, parents.at(span.launch)) << span.launch;
    }
}

TEST(GpuDispatch, ItDecidesTheSameHoweverItIsRun) {
  for (const bool bind : {false, true}) {
    const Outcome reference = outcome_of(bind, {});
    timing::GpuOptions every_cycle, shuffled, threads;
    every_cycle.skip = false;
    shuffled.shuffle = true;
    threads.threads = 2;
    EXPECT_EQ(outcome_of(bind, every_cycle).hash, reference.hash);
    EXPECT_EQ(outcome_of(bind, shuffled).hash, reference.hash);
    EXPECT_EQ(outcome_of(bind, threads).hash, reference.hash);
  }
  EXPECT_NE(outcome_of(false, {}).hash, outcome_of(true, {}).hash);
}

}  // namespace
}  // namespace raddle::gpu_dispatch_test
