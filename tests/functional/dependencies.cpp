// The dependencies analysis on kernels whose dependences are known in closed form, and that it
// changes nothing of what it looks at.
#include <gtest/gtest.h>

#include <filesystem>

#include "functional/workload_support.h"
#include "raddle/sim/profile/analysis.h"
#include "support/whole.h"

namespace raddle::runtime::dependencies_test {
namespace {

using Json = nlohmann::ordered_json;

sim::Options asking() {
  sim::Options options;
  options.functional = true;
  options.analyses = {sim::read_analysis("dependencies", "test")};
  return options;
}

Json dependences(Workload& workload) {
  const sim::Result r = test::run_on(workload, "w", {"v100", {}, {}, asking()});
  EXPECT_NE(r.verdict, sim::Result::Verdict::Wrong) << r.difference;
  return r.analysis.at("dependencies");
}

Json dependences(std::string_view name, const Parameters& parameters) {
  return dependences(*make_workload(name, parameters));
}

using Counts = std::vector<std::uint64_t>;  // self, ghost, older_self, host, elsewhere, same_kernel
Counts counts(const Json& from) {
  Counts out;
  for (const char* key : {"self", "ghost", "older_self", "host", "elsewhere", "same_kernel"})
    out.push_back(from.at(key));
  return out;
}

/// The kernel of the paper's figure 1, out[i] = in[i] + in[i - 1] * in[i + 1], launched `times`
/// times with the two arrays in turn. Their first and last words are never written.
class Figure1 final : public Workload {
 public:
  Figure1(unsigned blocks, unsigned times) : blocks_(blocks), times_(times) {}
  void set_size(Size) override {}
  void visit(FieldVisitor&) override {}
  void run(Device& device, std::uint64_t) override {
    const ModuleId module = device.load(kText, "figure1.ptx");
    const std::vector<std::uint32_t> words(std::size_t{blocks_} * 256 + 2, 1);
    Address from = device.upload(words), to = device.upload(words);
    for (unsigned i = 0; i < times_; ++i, std::swap(from, to))
      device.launch(device.kernel(module, "kernel"), {blocks_}, {256}, Arguments(from, to));
  }
  std::string check() override { return ""; }
  bool checked() const override { return false; }
  std::uint64_t input_hash() const override { return 0; }

 private:
  static constexpr const char* kText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry kernel(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %d<7>;
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %d3, %r4, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
  ld.global.u32 %r5, [%d4+4]; ld.global.u32 %r6, [%d4]; ld.global.u32 %r7, [%d4+8];
  mad.lo.s32 %r8, %r6, %r7, %r5;
  st.global.u32 [%d5+4], %r8;
  ret;
})";
  unsigned blocks_, times_;
};

TEST(WorkedDependencies, Figure1IsSelfAndGhost) {
  Figure1 kernel(4, 5);
  const Json d = dependences(kernel);
  // Three words each of 1024 threads in the four launches that follow another; at the six sides
  // between blocks one is a neighbour's, at the two ends one is nobody's.
  EXPECT_EQ(counts(d["logical"]), (Counts{4 * (3072 - 6 - 2), 4 * 6, 0, 0, 0, 0}));
  EXPECT_EQ(counts(d["executed"]), counts(d["logical"])) << "nothing is staged";
}

TEST(WorkedDependencies, HotspotIsItsStencilHoweverItIsTiled) {
  const Json d = dependences("hotspot", {{"rows", "28"}, {"columns", "28"}, {"steps", "4"}});
  // 2 x 2 blocks of 14 x 14 cells. A cell needs five temperatures, at the chip's edge one of them
  // is its own; over each of the two lines between blocks 28 cells look from both sides.
  EXPECT_EQ(counts(d["logical"]), (Counts{3 * (28 * 28 * 5 - 4 * 28 - 112), 3 * 112, 0, 0, 0, 0}));
  // Every thread of a 16 x 16 block that lies on the chip loads one cell; of a block's 225, 29 are
  // a neighbour's: a side of 14 each of two, and the corner of the third.
  EXPECT_EQ(counts(d["executed"]), (Counts{3 * 4 * 14 * 14, 3 * 4 * 29, 0, 0, 0, 0}));
}

TEST(WorkedDependencies, PathfinderReadsThreeCellsOfTheRowBefore) {
  const Json d = dependences("pathfinder", {});
  const double ghost = d["logical"]["ghost_share"], self = d["logical"]["self_share"];
  EXPECT_NEAR(self + ghost, 1, 1e-12);
  EXPECT_LT(ghost, 0.02);
  EXPECT_GT(ghost, 0);
}

TEST(WorkedDependencies, WavefrontBlocksHaveNoGhosts) {
  const Json d = dependences("nw", {});
  EXPECT_EQ(d["logical"]["ghost"], 0);
  EXPECT_GT(d["logical"]["self"], 0);
  EXPECT_GT(d["logical"]["elsewhere"], 0);
}

TEST(WorkedDependencies, CentroidsComeFromTheHost) {
  const Json assign = dependences("kmeans", {})["kernels"]["kmeans_assign"]["logical"];
  EXPECT_GT(assign["host"], 0);
}

/// The observed engine is another build: it must compute what the others do.
TEST(WorkedDependencies, ObservedWorkloadsStayCorrect) {
  for (const std::string& name : all_workloads().names()) {
    const auto plain = make_workload(name, {}), observed = make_workload(name, {});
    sim::Options functional;
    functional.functional = true;
    const std::string gpu = plain->min_capability() > 70 ? "h200" : "v100";
    const sim::Result a = test::run_on(*plain, name, {gpu, {}, {}, functional});
    const sim::Result b = test::run_on(*observed, name, {gpu, {}, {}, asking()});
    EXPECT_EQ(b.verdict, a.verdict) << name << ": " << b.difference;
    EXPECT_EQ(b.totals.sm.thread_instructions, a.totals.sm.thread_instructions) << name;
    EXPECT_EQ(test::state_hash(b), test::state_hash(a)) << name;
  }
}

TEST(WorkedDependencies, ATimedRunIsTheSameObservedOrNot) {
  test::RunSpec spec{"gtx480"};
  const std::string plain = test::state_hash(test::run("hotspot", spec));
  spec.options.analyses = {sim::read_analysis("dependencies", "test"),
                           sim::read_analysis("locality", "test")};
  const sim::Result observed = test::run("hotspot", spec);
  EXPECT_EQ(test::state_hash(observed), plain);
  EXPECT_EQ(observed.analysis.size(), 2u);
  EXPECT_EQ(observed.analysis["dependencies"], dependences("hotspot", {}));
}

TEST(WorkedDependencies, RefusesWhatItCannotLookAt) {
  test::RunSpec live{"gtx480", {"run.live=true"}};
  live.options.analyses = asking().analyses;
  EXPECT_THROW(test::run("vecadd", live), InputError);
  test::RunSpec twice{"gtx480"};
  twice.options.analyses = {sim::read_analysis("a=dependencies", "test"),
                            sim::read_analysis("a=locality", "test")};
  EXPECT_THROW(test::run("vecadd", twice), InputError);
}

}  // namespace
}  // namespace raddle::runtime::dependencies_test
