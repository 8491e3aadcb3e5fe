// The library's interface: what comes back is what the simulator computes, and nothing is printed.
#include "raddle/api/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/base/files.h"
#include "support/errors.h"

namespace raddle::api::simulator_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Settings gtx480() {
  Settings out;
  out.gpu = "gtx480";
  return out;
}

std::string hash_of(const Result& result) { return result.value().at("state_hash"); }

TEST(Simulator, RunsAWorkloadAndGivesItsNumbersByName) {
  const Simulator simulator;
  const Result result = simulator.run({"vecadd", "size=tiny"}, gtx480());
  const nlohmann::ordered_json value = result.value();
  EXPECT_EQ(value.at("workload").at("result"), "correct");
  EXPECT_EQ(result.metric("cycles"), value.at("totals").at("cycles").get<double>());
  EXPECT_EQ(result.metric("stalls.memory"), value.at("stalls").at("memory").get<double>());
  EXPECT_THAT(test::input_error_of([&] { result.metric("totals"); }), HasSubstr("is no number"));
  EXPECT_THAT(test::input_error_of([&] { result.metric("cycles.more"); }),
              HasSubstr("is no number"));
  EXPECT_THAT(result.summary(), HasSubstr("vecadd"));
}

TEST(Simulator, KeepsSeriesOnlyWhereItIsAskedTo) {
  const Simulator simulator;
  const Result plain = simulator.run({"vecadd", "size=tiny"}, gtx480());
  EXPECT_TRUE(plain.whole().samples.empty());
  const Result watched = simulator.run({"vecadd", "size=tiny"}, gtx480(), {.for_page = true});
  EXPECT_FALSE(watched.whole().samples.empty());
  EXPECT_FALSE(watched.whole().analysis.is_null());
  EXPECT_EQ(hash_of(watched), hash_of(plain));
  EXPECT_THAT(page({watched}, "mine", "today"), HasSubstr("today"));
}

TEST(Simulator, ComparesEveryWorkUnderEveryVariant) {
  const Simulator simulator;
  const std::vector<Result> found =
      simulator.compare({{"vecadd", "size=tiny"}, {"spmv", "size=tiny"}},
                        {"lrr,gto", {"l2.size_kib=64,128"}}, gtx480());
  std::vector<std::string> labels;
  for (const Result& one : found) labels.push_back(one.whole().workload + " " + one.label());
  EXPECT_THAT(labels, ElementsAre("vecadd lrr l2.size_kib=64", "vecadd lrr l2.size_kib=128",
                                  "vecadd gto l2.size_kib=64", "vecadd gto l2.size_kib=128",
                                  "spmv lrr l2.size_kib=64", "spmv lrr l2.size_kib=128",
                                  "spmv gto l2.size_kib=64", "spmv gto l2.size_kib=128"));
  Settings alone = gtx480();
  alone.policy = {"gto"};
  alone.set = {"l2.size_kib=128"};
  EXPECT_EQ(hash_of(found[3]), hash_of(simulator.run({"vecadd", "size=tiny"}, alone)));
  EXPECT_THAT(comparison({found[0], found[2]}), HasSubstr("gto"));
  EXPECT_THAT(test::input_error_of([&] {
                simulator.compare({{"spmv"}, {"spmv"}}, {"lrr,gto", {}}, gtx480());
              }),
              HasSubstr("'spmv' is there twice"));
}

TEST(Simulator, TakesPoliciesOfTheCaller) {
  Simulator simulator;
  simulator.policies().warp.remove("gto");
  Settings settings = gtx480();
  settings.policy = {"warp=gto"};
  EXPECT_THAT(test::input_error_of([&] { simulator.run({"vecadd"}, settings); }),
              HasSubstr("no warp policy is called 'gto'"));
  EXPECT_NO_THROW(Simulator().setup(settings)) << "another one's are its own";
}

TEST(Simulator, TimesARecordingAsWhatWasRecorded) {
  const Simulator simulator;
  const TemporaryFolder folder("raddle-test");
  const std::string file = folder.path() / "a.rdl";
  Settings seeded = gtx480();
  seeded.seed = 9;
  const Result recorded = simulator.record({"spmv", "size=tiny"}, seeded, file);
  EXPECT_FALSE(recorded.whole().timed);
  const Result live = simulator.run({"spmv", "size=tiny"}, seeded);
  EXPECT_EQ(hash_of(simulator.run({file}, gtx480())), hash_of(live)) << "the seed is the inputs'";
  seeded.seed = 8;
  EXPECT_THAT(test::input_error_of([&] { simulator.run({file}, seeded); }),
              HasSubstr("run.seed: expected 9"));
}

TEST(Simulator, LetsTheCallerEndARun) {
  struct Enough {};
  const Simulator simulator;
  unsigned calls = 0;
  const Watch watch{.progress = [&](const sim::Progress&) {
    if (++calls == 3) throw Enough();
  }};
  EXPECT_THROW(simulator.run({"spmv", "size=small"}, gtx480(), watch), Enough);
  EXPECT_EQ(calls, 3u);
}

TEST(Simulator, GivesHostCodeADevice) {
  const Simulator simulator;
  const auto session = simulator.session("mine", {{"n", 4}}, gtx480());
  runtime::Device& device = session->device();
  const runtime::ModuleId module = device.load(
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .entry k(.param .u64 to) {\n .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [to];\n"
      " st.global.u32 [%rd1], 7;\n ret;\n}\n",
      "k.ptx");
  const Address at = device.allocate(4);
  device.launch(device.kernel(module, "k"), {1, 1, 1}, {1, 1, 1}, runtime::Arguments(at));
  EXPECT_EQ(device.download<std::uint32_t>(at, 1), (std::vector<std::uint32_t>{7}));
  const Result result(session->finish());
  EXPECT_EQ(result.value().at("workload").at("parameters").at("n"), 4);
  EXPECT_GT(result.metric("cycles"), 0);
}

TEST(Simulator, RunsTenantsTogether) {
  const Simulator simulator;
  Settings settings;
  settings.gpu = "ccbp";
  const Result result = simulator.corun({{"vecadd", "size=tiny"}, {"spmv", "size=tiny"}}, settings,
                                        {.horizon = 5000});
  ASSERT_TRUE(result.whole().corun.has_value());
  EXPECT_EQ(result.whole().corun->tenants.size(), 2u);
}

}  // namespace
}  // namespace raddle::api::simulator_test
