// What a block policy learns of a launch and, if it wants to, of the blocks that end.
#include <gtest/gtest.h>

#include "raddle/timing/code/occupancy.h"
#include "support/gpu_harness.h"

namespace raddle::block_progress_test {
namespace {

using namespace raddle::support;
using policy::BlockProgress;

struct Heard {
  std::uint32_t max_on_sm = 0;
  std::vector<BlockProgress> progress;
  std::vector<std::string> order;
};

class Listener final : public policy::Choice<policy::BlockPolicy> {
 public:
  Listener(bool wants, Heard& heard) : wants_(wants), heard_(heard) {}
  std::string_view name() const override { return "listener"; }
  std::string_view doc() const override { return ""; }
  void visit(FieldVisitor&) override {}
  std::unique_ptr<policy::BlockPolicy> make(const Context&) const override {
    return std::make_unique<Policy>(*this);
  }
  /// It is in no registry.
  std::unique_ptr<Choice> fresh() const override { return nullptr; }

 private:
  struct Policy final : policy::BlockPolicy {
    explicit Policy(const Listener& of) : owner(of) {}
    bool wants_progress() const override { return owner.wants_; }
    void on_launch(const policy::BlockLaunch& launch) override {
      owner.heard_.max_on_sm = launch.max_on_sm;
    }
    std::optional<policy::BlockChoice> pick(const policy::BlockView& view) override {
      return policy::BlockChoice{view.free_sms.first(), next++};
    }
    void on_progress(std::uint32_t, unsigned, const BlockProgress& progress) override {
      owner.heard_.progress.push_back(progress);
      owner.heard_.order.push_back("progress");
    }
    void on_block_done(std::uint32_t, std::uint32_t block, unsigned) override {
      owner.heard_.order.push_back("done " + std::to_string(block));
    }
    const Listener& owner;
    std::uint32_t next = 0;
  };
  bool wants_;
  Heard& heard_;
};

Heard hear(bool wants, bool skip) {
  timing::MachineSpec machine = small_machine();
  machine.sm.count = 1;
  machine.sm.blocks = 3;
  machine.sm.schedulers = 1;
  Code code;
  const auto a = code.alu(1, {9}), exit = code.exit();
  Recording r(code, {{2}, {32}, 0});
  r.each_warp([&](WarpWriter& w) {
    for (unsigned i = 0; i < (w.block() == 0 ? 2u : 9u); ++i) w.op(a);
    w.op(exit);
  });
  Heard heard;
  timing::GpuOptions options;
  options.skip = skip;
  GpuHarness gpu(machine, options, std::make_unique<Listener>(wants, heard));
  gpu.run(r);
  return heard;
}

TEST(BlockProgressTest, ComesWithTheEndOfABlock) {
  for (const bool skip : {false, true}) {
    const Heard heard = hear(true, skip);
    EXPECT_EQ(heard.max_on_sm, 3u);
    EXPECT_EQ(heard.order, (std::vector<std::string>{"progress", "done 0", "progress", "done 1"}));
    ASSERT_EQ(heard.progress.size(), 2u);
    EXPECT_EQ(heard.progress[0].issued, 3u);
    EXPECT_LT(heard.progress[0].others, 10u) << "the other block has begun at most";
    EXPECT_EQ(heard.progress[1].issued, 10u);
    EXPECT_EQ(heard.progress[1].others, 0u) << "it was alone";
  }
}

TEST(BlockProgressTest, DoesNotIfNobodyWantsIt) {
  EXPECT_EQ(hear(false, true).order, (std::vector<std::string>{"done 0", "done 1"}));
}

TEST(OccupancyMost, IsWhatTheScarcestResourceAllows) {
  timing::SmSpec sm = small_machine().sm;
  sm.threads = 256;
  sm.warps = 8;
  sm.registers = 4096;
  sm.shared_kib = 4;
  sm.blocks = 6;
  const timing::Occupancy empty(sm);
  EXPECT_EQ(empty.maximum({32, 1, 0, 0}), 6u) << "block slots";
  EXPECT_EQ(empty.maximum({64, 2, 0, 0}), 4u);
  EXPECT_EQ(empty.maximum({32, 1, 2048, 0}), 2u);
  EXPECT_EQ(empty.maximum({32, 1, 512, 1500}), 2u) << "shared memory";
  EXPECT_EQ(empty.maximum({512, 16, 0, 0}), 0u);
}

}  // namespace
}  // namespace raddle::block_progress_test
