// What programs that launch kernels from kernels compute, functionally and while they are timed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "device_launch/programs.h"
#include "raddle/base/error.h"
#include "raddle/base/rng.h"
#include "raddle/report/summary.h"
#include "raddle/runtime/simulated_device.h"
#include "support/errors.h"
#include "support/nvcc.h"

namespace raddle::test::results_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Results : public testing::TestWithParam<const char*> {
 protected:
  static RunSpec spec() {
    if (std::string(GetParam()) == "functional") return functional();
    return RunSpec{GetParam()};
  }
};
INSTANTIATE_TEST_SUITE_P(On, Results, testing::Values("functional", "gtx480", "h200"),
                         [](const auto& i) { return i.param; });

std::vector<int> sorted_by_device(const std::vector<int>& input, const std::string& ptx,
                                  const RunSpec& spec, sim::Result* result = nullptr) {
  std::vector<int> output;
  Program program(
      [&](runtime::Device& device, runtime::ModuleId module) {
        const Address data = device.upload(input);
        device.launch(device.kernel(module, "_Z9quicksortPiiii"), {1}, {1},
                      runtime::Arguments(data, 0, static_cast<int>(input.size()) - 1, 0));
        output = device.download<int>(data, input.size());
      },
      ptx);
  const sim::Result r = run_on(program, "quicksort", audited(spec));
  if (result != nullptr) *result = r;
  return output;
}

std::vector<int> random_numbers(std::size_t n) {
  Rng rng(7);
  std::vector<int> out(n);
  for (int& x : out) x = static_cast<int>(rng.below(1000));
  return out;
}

TEST_P(Results, QuicksortSortsAndEveryLaunchNamesItsParent) {
  std::vector<int> input = random_numbers(300);
  sim::Result result;
  const std::vector<int> output = sorted_by_device(input, device_launch_ptx(), spec(), &result);
  std::ranges::sort(input);
  EXPECT_EQ(output, input);
  EXPECT_GT(result.kernels.size(), 40u);
  EXPECT_FALSE(result.kernels[0].parent);
  for (std::size_t i = 1; i < result.kernels.size(); ++i) {
    ASSERT_TRUE(result.kernels[i].parent);
    const auto& parent = *result.kernels[i].parent;
    ASSERT_LT(parent.kernel, i);
    const auto& above = result.kernels[parent.kernel].parent;
    EXPECT_EQ(parent.origin.depth, 1 + (above ? above->origin.depth : 0));
  }
}

// The second tree's launches count from its own root.
TEST_P(Results, LaunchesNameParentsInTheirOwnTree) {
  const std::vector<int> input = random_numbers(100);
  Program program([&](runtime::Device& device, runtime::ModuleId module) {
    for (int tree = 0; tree < 2; ++tree) {
      const Address data = device.upload(input);
      device.launch(device.kernel(module, "_Z9quicksortPiiii"), {1}, {1},
                    runtime::Arguments(data, 0, static_cast<int>(input.size()) - 1, 0));
    }
  });
  const sim::Result r = run_on(program, "quicksort", audited(spec()));
  const std::size_t half = r.kernels.size() / 2;
  ASSERT_GT(half, 10u);
  for (std::size_t i = 0; i < half; ++i) {
    const auto &first = r.kernels[i].parent, &second = r.kernels[half + i].parent;
    ASSERT_EQ(first.has_value(), i != 0);
    ASSERT_EQ(second.has_value(), i != 0);
    if (i == 0) continue;
    EXPECT_EQ(second->kernel, half + first->kernel) << i;
  }
}

TEST_P(Results, ManyChildrenMoreThanTheDistributorHolds) {
  const Outcome1 out = launch_one({"_Z4manyPi", {4}, {64}}, spec());
  for (int i = 0; i < 256; ++i) EXPECT_EQ(out.words[i], i % 3 != 2 ? 1024 : 0) << i;
  EXPECT_EQ(out.result.kernels.size(), 1u + 171);
}

TEST_P(Results, NullStreamIsInOrderAndTailsAreLast) {
  const Outcome1 out = launch_one({"_Z8in_orderPi", {1}, {64}}, spec());
  EXPECT_THAT(std::vector<int>(out.words.begin(), out.words.begin() + 10),
              ElementsAre(9, 0, 1, 2, 3, 4, 5, 6, 100, 101));
}

TEST_P(Results, TailLaunchSeesWhatGrandchildrenDid) {
  std::vector<int> kept;
  Program program([&](runtime::Device& device, runtime::ModuleId module) {
    const Address value = device.upload(std::vector<int>(1)), to = device.upload(kept = {0});
    device.launch(device.kernel(module, "_Z13tail_sees_allPiS_"), {1}, {32},
                  runtime::Arguments(value, to));
    kept = device.download<int>(to, 1);
  });
  run_on(program, "tail", audited(spec()));
  EXPECT_EQ(kept[0], 3 * 64);
}

TEST_P(Results, NestingEndsWithAnErrorAt24) {
  const Outcome1 out = launch_one({"_Z6deeperPii", {1}, {1}, {0}}, spec());
  EXPECT_THAT(std::vector<int>(out.words.begin(), out.words.begin() + 4),
              ElementsAre(24, 65, 65, 0));
  EXPECT_EQ(out.result.kernels.size(), 25u);
}

TEST_P(Results, TailLaunchesLoopBeyondTheDepthOfNesting) {
  const Outcome1 out = launch_one({"_Z4loopPii", {1}, {1}, {100}}, spec());
  EXPECT_EQ(out.words[0], 5050);
  EXPECT_EQ(out.result.kernels.size(), 100u);
}

TEST_P(Results, CopiesSetsAndMemoryOfKernels) {
  std::vector<int> a, b, made;
  Program program([&](runtime::Device& device, runtime::ModuleId module) {
    const Address to_a = device.upload(std::vector<int>(32)),
                  to_b = device.upload(std::vector<int>(32)),
                  pointer = device.upload(std::vector<Address>(1));
    device.launch(device.kernel(module, "_Z6copiesPiS_PS_"), {1}, {1},
                  runtime::Arguments(to_a, to_b, pointer));
    a = device.download<int>(to_a, 32);
    b = device.download<int>(to_b, 32);
    made = device.download<int>(device.download<Address>(pointer, 1)[0], 32);
  });
  run_on(program, "copies", audited(spec()));
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(b[i], 7 + i);
    EXPECT_EQ(a[i], i < 16 ? 0x11111111 : 7 + i);
    EXPECT_EQ(made[i], 1000 + i);
  }
}

TEST_P(Results, ErrorsAreCudasOwn) {
  const Outcome1 out = launch_one({"_Z6errorsPi"}, spec());
  EXPECT_THAT(std::vector<int>(out.words.begin(), out.words.begin() + 8),
              ElementsAre(9, 0, 400, 1, 'i', 'n', 0, 32));
  EXPECT_EQ(out.result.kernels.size(), 1u);
}

TEST(Nvcc, TodaysCompilerMakesWhatTheMachineRuns) {
  RADDLE_NEED_NVCC();
  const std::string source = read_file(std::filesystem::path(RADDLE_SOURCE_DIR) /
                                       "tests/data/device_launch/device_launch.cu");
  std::vector<int> input = random_numbers(100);
  for (const char* target : {"sm_75", "sm_90", "sm_100"}) {
    const std::string ptx = nvcc_output(source, std::string("-rdc=true -ptx -arch=") + target);
    auto output = sorted_by_device(input, ptx, functional());
    EXPECT_TRUE(std::ranges::is_sorted(output)) << target;
  }
}

// --- the functions of CUDA before 12 ------------------------------------------------------------

std::string old_style(const std::string& body) {
  return ".version 7.0\n.target sm_70\n.address_size 64\n"
         ".extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f, .param .align 4 "
         ".b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
         ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
         ".extern .func (.param .b64 r) cudaGetParameterBuffer(.param .b64 a, .param .b64 n);\n"
         ".extern .func (.param .b32 r) cudaLaunchDevice(.param .b64 f, .param .b64 p, .param "
         ".align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);\n"
         ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n"
         ".visible .entry child(.param .u64 p, .param .u32 v)\n{\n.reg .b64 %d<2>;\n.reg .b32 "
         "%r<2>;\nld.param.u64 %d1, [p];\nld.param.u32 %r1, [v];\nst.global.u32 [%d1], "
         "%r1;\nret;\n}\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %d<8>;\n.reg .b32 "
         "%r<8>;\n.param .b64 f;\n.param .align 4 .b8 g[12];\n.param .align 4 .b8 b[12];\n.param "
         ".b32 s;\n.param .b64 t;\n.param .b64 q;\n.param .b32 e;\nld.param.u64 %d1, [p];\n"
         "mov.u64 %d2, child;\nst.param.b64 [f], %d2;\nst.param.b32 [g], 1;\nst.param.b32 [g+4], "
         "1;\nst.param.b32 [g+8], 1;\nst.param.b32 [b], 1;\nst.param.b32 [b+4], 1;\nst.param.b32 "
         "[b+8], 1;\nst.param.b32 [s], 0;\nst.param.b64 [t], 0;\n" +
         body + "ret;\n}\n";
}

TEST(OldFunctions, LaunchInBothVersions) {
  const std::string v2 = old_style(
      "call (q), cudaGetParameterBufferV2, (f, g, b, s);\nld.param.b64 %d3, [q];\nst.u64 [%d3], "
      "%d1;\nst.u32 [%d3+8], 77;\nst.param.b64 [q], %d3;\ncall (e), cudaLaunchDeviceV2, (q, t);\n");
  EXPECT_EQ(launch_one({.kernel = "k", .ptx = v2}).words[0], 77);
  const std::string v1 = old_style(
      ".param .b64 a;\n.param .b64 n;\nst.param.b64 [a], 8;\nst.param.b64 [n], 16;\ncall (q), "
      "cudaGetParameterBuffer, (a, n);\nld.param.b64 %d3, [q];\nst.u64 [%d3], %d1;\nst.u32 "
      "[%d3+8], 78;\nst.param.b64 [q], %d3;\ncall (e), cudaLaunchDevice, (f, q, g, b, s, t);\n");
  EXPECT_EQ(launch_one({.kernel = "k", .ptx = v1}).words[0], 78);
}

/// Launches `child` with 78, and what that call gives in word 1.
std::string launch_and_store_error() {
  return old_style(
      ".param .b64 a;\n.param .b64 n;\nst.param.b64 [a], 8;\nst.param.b64 [n], 16;\ncall (q), "
      "cudaGetParameterBuffer, (a, n);\nld.param.b64 %d3, [q];\nst.u64 [%d3], %d1;\nst.u32 "
      "[%d3+8], 78;\nst.param.b64 [q], %d3;\ncall (e), cudaLaunchDevice, (f, q, g, b, s, t);\n"
      "ld.param.b32 %r1, [e];\nst.global.u32 [%d1+4], %r1;\n");
}

TEST(OldFunctions, ClustersThatDoNotDivideTheGridAreCudasOwnError) {
  const auto words = [](const std::string& clusters) {
    std::string ptx = launch_and_store_error();
    const std::string before = ".param .u32 v)\n";
    ptx.insert(ptx.find(before) + before.size(), ".reqnctapercluster " + clusters + "\n");
    const auto out = launch_one({.kernel = "k", .ptx = ptx}, functional()).words;
    return std::vector<int>(out.begin(), out.begin() + 2);
  };
  EXPECT_THAT(words("1"), ElementsAre(78, 0));
  EXPECT_THAT(words("2"), ElementsAre(0, 9));
}

// --- launches that pend -------------------------------------------------------------------------

TEST(Pending, OneTooManyIsCudasOwnError) {
  const std::string ptx = launch_and_store_error();
  const auto words = [&](std::uint32_t maximum) {
    auto out = launch_one({.kernel = "k", .ptx = ptx, .max_pending = maximum}, functional()).words;
    return std::vector<int>(out.begin(), out.begin() + 2);
  };
  EXPECT_THAT(words(1), ElementsAre(78, 0));
  EXPECT_THAT(words(0), ElementsAre(0, 69));
}

TEST(Pending, AGridsLaunchesPendTogether) {
  const auto children = [](OneLaunch one) {
    return called(launch_one(one, functional()).result, "add_one").size();
  };
  EXPECT_EQ(children({.kernel = "_Z4manyPi", .block = {96}, .max_pending = 64}), 64u);
  EXPECT_EQ(children({.kernel = "_Z4manyPi", .block = {96}, .max_pending = 63}), 63u);
}

TEST(Pending, WhatIsRefusedIsCountedAndTold) {
  for (const bool timed : {false, true}) {
    const auto run = [&](std::uint64_t maximum) {
      return launch_one({.kernel = "_Z4manyPi", .block = {96}, .max_pending = maximum},
                        timed ? RunSpec{} : functional())
          .result;
    };
    const sim::Result all = run(64), some = run(60);
    EXPECT_EQ(all.launches_refused, 0u);
    EXPECT_EQ(sim::to_json(all)["launches_refused"], 0);
    EXPECT_EQ(report::refused_launches(all), "");
    EXPECT_EQ(some.launches_refused, 4u);
    EXPECT_EQ(sim::to_json(some)["launches_refused"], 4);
    EXPECT_THAT(report::refused_launches(some),
                AllOf(HasSubstr("4 launches were"), HasSubstr("60 may be pending"),
                      HasSubstr("cudaLimitDevRuntimePendingLaunchCount")));
  }
}

TEST(Pending, WhatHasBegunPendsNoMore) {
  const OneLaunch chain{.kernel = "_Z4loopPii", .block = {1}, .numbers = {100}, .max_pending = 1};
  EXPECT_EQ(launch_one(chain, functional()).result.kernels.size(),
            launch_one({"_Z4loopPii", {1}, {1}, {100}}, functional()).result.kernels.size());
}

TEST(Refused, WaitingForChildrenByName) {
  const std::string text = old_style("call (e), cudaDeviceSynchronize, ();\n");
  EXPECT_THAT(input_error_of([&] { launch_one({.kernel = "k", .ptx = text}); }),
              HasSubstr("kernels cannot wait for what they launch"));
}

/// Launches a child that stores 77 to the first word.
const char* const kStoringChild =
    "call (q), cudaGetParameterBufferV2, (f, g, b, s);\nld.param.b64 %d3, [q];\nst.u64 [%d3], "
    "%d1;\nst.u32 [%d3+8], 77;\nst.param.b64 [q], %d3;\ncall (e), cudaLaunchDeviceV2, (q, t);\n";

TEST(Refused, AskingForWhatAChildWrites) {
  const std::string text = old_style(kStoringChild + std::string(R"(
.reg .pred %p1;
again:
ld.volatile.global.u32 %r1, [%d1];
setp.ne.u32 %p1, %r1, 77;
@%p1 bra again;
)"));
  for (const RunSpec& spec : {functional(), RunSpec{}}) try {
      launch_one({.kernel = "k", .ptx = text}, spec);
      FAIL();
    } catch (const RunError& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("kernel k does not end"),
                        HasSubstr("Kernels that it launches are executed after its end")));
    }
}

TEST(Refused, LiveExecutionByName) {
  RunSpec spec;
  spec.set = {"run.live=true"};
  try {
    launch_one({"_Z4loopPii", {1}, {1}, {3}}, spec);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("live execution knows no device-side launches"));
  }
}

TEST(Refused, ACopyThatLeavesItsMemoryNamesItsCaller) {
  Program program([&](runtime::Device& device, runtime::ModuleId module) {
    const Address a = device.upload(std::vector<int>(8)), b = device.upload(std::vector<int>(32)),
                  p = device.upload(std::vector<int>(2));
    device.launch(device.kernel(module, "_Z6copiesPiS_PS_"), {1}, {1}, runtime::Arguments(b, a, p));
  });
  try {
    run_on(program, "copies", functional());
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("copy (target) of 128 bytes"));
    EXPECT_THAT(error.what(), HasSubstr("device_launch.ptx:"));
  }
}

// --- linked modules -----------------------------------------------------------------------------

TEST(Linked, TwoTranslationUnitsCallEachOther) {
  const auto part = [](const char* name) {
    return ptx::SourceText{
        read_file(std::filesystem::path(RADDLE_SOURCE_DIR) / "tests/data/link" / name), name};
  };
  for (const bool swapped : {false, true}) {
    runtime::SimulatedDevice device({});
    std::vector<ptx::SourceText> parts;
    parts.push_back(part("link_a.ptx"));
    parts.push_back(part("link_b.ptx"));
    if (swapped) std::swap(parts[0], parts[1]);
    const auto module = device.load(std::move(parts));
    const Address out = device.upload(std::vector<int>(32));
    device.launch(device.kernel(module, "_Z4bothPi"), {1}, {32}, runtime::Arguments(out), 0,
                  runtime::kDefaultStream);
    const auto words = device.download<int>(out, 32);
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(words[i], 2 * 10 * (1 + i % 4) + (i + 1) + 100 * i + 3 * i) << i;
  }
}

}  // namespace
}  // namespace raddle::test::results_test
