// The footprint analysis on whole programs: executed, timed and from a recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "device_launch/programs.h"
#include "raddle/base/error.h"
#include "raddle/sim/profile/analysis.h"
#include "support/errors.h"

namespace raddle::test::footprint_test {
namespace {

using Json = nlohmann::ordered_json;

const OneLaunch kMany = {"_Z4manyPi", {4}, {64}};
const OneLaunch kDeeper = {"_Z6deeperPii", {1}, {1}, {0}};

RunSpec asking(RunSpec spec, const std::vector<std::string>& more = {}) {
  spec.options.analyses = {sim::read_analysis("footprint", "test")};
  for (const std::string& text : more)
    spec.options.analyses.push_back(sim::read_analysis(text, "test"));
  return spec;
}

Json footprint(const OneLaunch& one) {
  return launch_one(one, asking(functional())).result.analysis.at("footprint");
}

/// many<<<4, 64>>>: thread i launches add_one<<<2, 32>>> unless i % 3 is 2; its children add to
/// sums[i] and touch nothing else. A parent block's sums are two lines.
TEST(Footprint, ChildrenThatAddToTheSumsOfTheirParentsThreads) {
  const Json f = footprint(kMany);
  EXPECT_EQ(f["host_launches"], 1);
  EXPECT_EQ(f["device_launches"], 171);
  EXPECT_EQ(f["direct_parents"], 4);
  EXPECT_EQ(f["parent_blocks"], 4);
  EXPECT_EQ(f["child_blocks"], 342);
  const Json& siblings = f["child_sibling"];
  EXPECT_EQ(siblings["pairs"], 342);
  EXPECT_EQ(siblings["first_lines"], 342) << "one line each";
  EXPECT_EQ(siblings["ratio"], 0.5) << "one of the two lines of the others";
  EXPECT_EQ(siblings["own_share"], 1);
  double pairs = 0, of_one_line = 0;
  for (int parent = 0; parent < 4; ++parent) {
    int on_line[2] = {0, 0};
    for (int i = 64 * parent; i < 64 * (parent + 1); ++i)
      if (i % 3 != 2) on_line[i / 32 % 2] += 2;
    pairs += (on_line[0] + on_line[1]) * (on_line[0] + on_line[1] - 1);
    for (const int blocks : on_line) of_one_line += blocks * (blocks - 1);
  }
  EXPECT_EQ(siblings["each_other"]["pairs"], pairs);
  EXPECT_NEAR(siblings["each_other"]["ratio"].get<double>(), of_one_line / pairs, 1e-12);
  EXPECT_EQ(f["parent_child"]["second_lines"], 4 * 2);
  EXPECT_EQ(f["parent_child"]["ratio"], 0) << "the parents leave the sums alone";
  EXPECT_EQ(f["parent_parent"]["pairs"], 0) << "what they write is their children's parameters";
  EXPECT_EQ(f["kernels"]["_Z4manyPi"]["children"]["_Z7add_onePii"]["child_sibling"], siblings);
}

/// deeper<<<1, 1>>> stores to out[0], then launches the next, 24 deep.
TEST(Footprint, AChainSharesTheLineThatAllStoreTo) {
  const Json f = footprint(kDeeper);
  EXPECT_EQ(f["direct_parents"], 24);
  EXPECT_EQ(f["parent_child"]["pairs"], 24);
  EXPECT_EQ(f["parent_child"]["ratio"], 1);
  EXPECT_EQ(f["child_sibling"]["pairs"], 0) << "only children";
  EXPECT_EQ(f["parent_parent"]["pairs"], 0) << "launches of one block";
}

TEST(Footprint, ExecutedTimedAndRecordedAreEqual) {
  for (const OneLaunch& one : {kMany, kDeeper, OneLaunch{"_Z8in_orderPi", {1}, {64}}}) {
    const Json executed = footprint(one);
    const RunSpec timed = asking({"gtx480"}, {"locality"});
    const sim::Result result = launch_one(one, timed).result;
    EXPECT_EQ(result.analysis.at("footprint"), executed) << one.kernel;
    EXPECT_TRUE(result.analysis.contains("locality"));
    EXPECT_EQ(state_hash(result), state_hash(launch_one(one, {"gtx480"}).result));

    const Folder folder;
    const std::string file = folder / "launches.rdl";
    std::vector<int> words;
    std::vector<sim::Setup> setups;
    setups.push_back(make_setup({"gtx480"}));
    Program recorded(host_of(one, words));
    sim::record(recorded, {"device_launch", {}}, setups.front(), {}, file);
    const trace::FileReader reader(file);
    const sim::Result replayed = sim::replay(reader, setups, timed.options).front();
    EXPECT_EQ(replayed.analysis.at("footprint"), executed) << one.kernel;
    EXPECT_EQ(state_hash(replayed), state_hash(result));
    const sim::Result read = sim::replay(reader, setups, asking(functional()).options).front();
    EXPECT_FALSE(read.timed);
    EXPECT_EQ(read.analysis.at("footprint"), executed) << one.kernel;
    EXPECT_EQ(read.kernels.size(), result.kernels.size());
    EXPECT_EQ(read.kernels.back().parent.has_value(), true);
    EXPECT_EQ(read.totals.sm.issued, result.totals.sm.issued);
  }
}

/// Without timing the tree of a launch is found from the launch before it.
TEST(Footprint, LaunchesNameTheirParentsWithAndWithoutTime) {
  const auto parents = [](const RunSpec& spec) {
    std::vector<int> words(256);
    Program program([&](runtime::Device& device, runtime::ModuleId module) {
      const Address buffer = device.upload(words);
      for (const char* name : {"_Z6deeperPii", "_Z4manyPi", "_Z6deeperPii", "_Z4manyPi"}) {
        runtime::Arguments arguments(buffer);
        if (std::string_view(name) == "_Z6deeperPii") arguments.add(0);
        device.launch(device.kernel(module, name), {2}, {4}, arguments);
      }
    });
    const sim::Result result = run_on(program, "device_launch", audited(spec));
    std::vector<std::optional<std::pair<std::size_t, std::uint32_t>>> out;
    for (const sim::KernelResult& kernel : result.kernels)
      if (kernel.parent)
        out.emplace_back(std::pair(kernel.parent->kernel, kernel.parent->origin.block));
      else out.emplace_back();
    return out;
  };
  const auto executed = parents(functional());
  EXPECT_EQ(executed, parents({"gtx480"}));
  EXPECT_EQ(std::count(executed.begin(), executed.end(), std::nullopt), 4);
}

TEST(Footprint, EachRequestHasItsLine) {
  const sim::Result result =
      launch_one(kMany, asking(functional(), {"narrow=footprint:line_bytes=32"})).result;
  EXPECT_EQ(result.analysis.at("footprint").at("line_bytes"), 128);
  EXPECT_EQ(result.analysis.at("narrow").at("line_bytes"), 32);
  EXPECT_EQ(result.analysis.at("narrow").at("parent_child").at("second_lines"), 4 * 8);
}

TEST(Footprint, OfAProgramWithoutNestedLaunchesIsEmptyAndFinite) {
  const Json f = footprint({"_Z7add_onePii", {2}, {32}, {0}});
  EXPECT_EQ(f["host_launches"], 1);
  EXPECT_EQ(f["device_launches"], 0);
  for (const char* pair : {"parent_child", "child_sibling", "parent_parent"}) {
    EXPECT_EQ(f[pair]["pairs"], 0);
    EXPECT_EQ(f[pair]["ratio"], 0);
  }
}

TEST(Footprint, RefusesWhatItCannotLookAt) {
  RunSpec live = asking({"gtx480"});
  live.set = {"run.live=true"};
  EXPECT_THAT(input_error_of([&] { launch_one(kMany, live); }), testing::HasSubstr("--live"));
  EXPECT_THAT(input_error_of([&] { launch_one(kMany, asking(functional(), {"footprint"})); }),
              testing::HasSubstr("asked for twice"));
  EXPECT_THAT(input_error_of([&] { launch_one(kMany, asking(functional(), {"locality"})); }),
              testing::HasSubstr("timing run"));
}

}  // namespace
}  // namespace raddle::test::footprint_test
