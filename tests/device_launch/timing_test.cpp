// Launches of kernels in time: order, latency, the machine's laws, and one hash however it is run.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "device_launch/programs.h"
#include "raddle/base/error.h"
#include "raddle/trace/file.h"

namespace raddle::test::timing_test {
namespace {

using Kernels = std::vector<const sim::KernelResult*>;

TEST(Order, NullStreamChildrenFollowEachOtherAndTailsFollowAll) {
  const Outcome1 out = launch_one({"_Z8in_orderPi", {1}, {64}});
  const Kernels notes = called(out.result, "note");
  ASSERT_EQ(notes.size(), 9u);
  for (std::size_t i = 1; i < notes.size(); ++i) EXPECT_GE(notes[i]->start, notes[i - 1]->end) << i;
  EXPECT_TRUE(notes[7]->parent->origin.tail && notes[8]->parent->origin.tail);
  EXPECT_GE(notes[7]->start, out.result.kernels[0].end);  // the grid itself is over too
}

TEST(Order, StreamsRunAtOnceAndEventsOrderThem) {
  const Outcome1 out = launch_one({"_Z11event_orderPi"});
  const Kernels notes = called(out.result, "note");
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_GE(notes[2]->start, notes[0]->end);
  EXPECT_GE(notes[2]->start, notes[1]->end);
  EXPECT_LT(notes[1]->start, notes[0]->end);  // another stream
  EXPECT_LT(notes[3]->start, notes[0]->end);  // fire and forget
}

TEST(Order, BlocksHaveNullStreamsOfTheirOwn) {
  const Outcome1 out = launch_one({"_Z4manyPi", {2}, {3}});
  const Kernels children = called(out.result, "add_one");
  ASSERT_EQ(children.size(), 4u);
  EXPECT_GE(children[1]->start, children[0]->end);  // of one block
  EXPECT_LT(children[2]->start, children[1]->end);  // of the other
}

TEST(Order, ATailFollowsDescendantsNotOnlyChildren) {
  std::vector<int> words;
  Program program([&](runtime::Device& device, runtime::ModuleId module) {
    const Address value = device.upload(std::vector<int>(1)), kept = device.upload(words = {0});
    device.launch(device.kernel(module, "_Z13tail_sees_allPiS_"), {1}, {32},
                  runtime::Arguments(value, kept));
  });
  const sim::Result result = run_on(program, "tail", audited());
  const sim::KernelResult& tail = *called(result, "keep").at(0);
  const Kernels grandchildren = called(result, "grandchild");
  EXPECT_EQ(grandchildren.size(), 6u);
  for (const sim::KernelResult* k : grandchildren) EXPECT_GE(tail.start, k->end);
}

TEST(Order, TheHostsStreamGoesOnWhenAllDescendantsAreComplete) {
  double milliseconds = 0;
  Program program([&](runtime::Device& device, runtime::ModuleId module) {
    const Address log = device.upload(std::vector<int>(256));
    const StreamId stream = device.create_stream();
    const auto before = device.create_event(), after = device.create_event();
    device.record(before, stream);
    device.launch(device.kernel(module, "_Z8in_orderPi"), {1}, {64}, runtime::Arguments(log), 0,
                  stream);
    device.record(after, stream);
    device.launch(device.kernel(module, "_Z4notePiii"), {1}, {1}, runtime::Arguments(log, 500, 0),
                  0, stream);
    milliseconds = device.elapsed_ms(before, after);
    EXPECT_EQ(device.download<int>(log, 11)[10], 500);
  });
  const sim::Result result = run_on(program, "stream", audited());
  Cycle last = 0;
  for (std::size_t i = 0; i + 1 < result.kernels.size(); ++i)
    last = std::max(last, result.kernels[i].end);
  EXPECT_GT(last, result.kernels[0].end);
  EXPECT_GE(result.kernels.back().start, last);
  EXPECT_GE(milliseconds * result.core_clock_mhz * 1e3 + 1, static_cast<double>(last));
}

TEST(Latency, IsThatOfTheMachineAndKeepsTheWarp) {
  const auto gap = [](const char* base, const char* lane) {
    RunSpec spec;
    spec.set = {std::string("device_launch.launch_cycles=") + base,
                std::string("device_launch.launch_lane_cycles=") + lane};
    const Outcome1 out = launch_one({"_Z4manyPi", {1}, {32}}, spec);
    const sim::KernelResult& parent = out.result.kernels[0];
    const sim::KernelResult& child = out.result.kernels[1];
    EXPECT_GE(parent.end, child.start);  // it slept until then, and had its exit left
    return child.start - parent.begin;
  };
  const Cycle none = gap("0", "0"), base = gap("5000", "0"), lanes = gap("5000", "100");
  EXPECT_EQ(base - none, 5000u);
  EXPECT_EQ(lanes - base, 2200u);  // 22 of 32 lanes launch
}

// A launch is made of calls, each with a cost of its own; _Z4manyPi makes no stream.
TEST(Latency, IsTheSumOfTheCalls) {
  const auto gap = [](std::vector<std::string> set) {
    for (std::string& one : set) one = "device_launch." + one;
    RunSpec spec;
    spec.set = std::move(set);
    const sim::Result result = launch_one({"_Z4manyPi", {1}, {32}}, spec).result;
    return result.kernels[1].start - result.kernels[0].begin;
  };
  // Long enough that the parameters' own loads are over.
  const Cycle base = gap({"buffer_cycles=1000"});
  EXPECT_EQ(gap({"buffer_cycles=5000", "buffer_lane_cycles=100"}) - base, 4000u + 2200);
  EXPECT_EQ(gap({"buffer_cycles=1000", "stream_cycles=5000"}), base) << "no stream, no cost";
  EXPECT_EQ(gap({"buffer_cycles=1000", "launch_cycles=3000"}) - base, 3000u);
  EXPECT_EQ(gap({"buffer_cycles=2000", "launch_cycles=3000", "percent=50"}) - base, 1500u);
  EXPECT_EQ(gap({"model=dtbl", "buffer_cycles=1000", "launch_cycles=3000"}), base);
}

TEST(Latency, ChildrenStartWhileTheirParentRuns) {
  const Outcome1 out = launch_one({"_Z4manyPi", {130}, {3}, {}, 512});
  const Kernels children = called(out.result, "add_one");
  EXPECT_LT(children.front()->begin, out.result.kernels[0].end);
}

// --- one hash -----------------------------------------------------------------------------------

struct Case {
  const char* name;
  OneLaunch launch;
};
class OneHash : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Programs, OneHash,
                         testing::Values(Case{"Many", {"_Z4manyPi", {4}, {64}}},
                                         Case{"Order", {"_Z8in_orderPi", {1}, {64}}},
                                         Case{"Events", {"_Z11event_orderPi"}},
                                         Case{"Nested", {"_Z6deeperPii", {1}, {1}, {0}}},
                                         Case{"Loop", {"_Z4loopPii", {1}, {1}, {30}}},
                                         Case{"Stream",
                                              {"_Z4manyPi", {4}, {64}, {}, 256, StreamId{1}}}),
                         [](const auto& i) { return i.param.name; });

TEST_P(OneHash, SkippingOrderThreadsAndTwice) {
  const auto hash = [&](const std::function<void(RunSpec&)>& change) {
    RunSpec spec{"v100"};
    spec.set = {"device_launch.launch_cycles=300", "device_launch.launch_lane_cycles=7"};
    change(spec);
    return state_hash(launch_one(GetParam().launch, spec).result);
  };
  const std::string reference = hash([](RunSpec&) {});
  EXPECT_EQ(hash([](RunSpec&) {}), reference);
  EXPECT_EQ(hash([](RunSpec& s) { s.options.skip = false; }), reference);
  EXPECT_EQ(hash([](RunSpec& s) { s.options.shuffle = true; }), reference);
  EXPECT_EQ(hash([](RunSpec& s) { s.options.threads = 2; }), reference);
}

TEST_P(OneHash, ReplayEqualsTheDirectRun) {
  const Folder folder;
  const std::string file = folder / "launches.rdl";
  std::vector<int> words;
  sim::Setup setup = make_setup({"v100"});
  Program recorded(host_of(GetParam().launch, words));
  const sim::Result functional_result =
      sim::record(recorded, {"device_launch", {}}, setup, {}, file);
  const sim::Result direct = launch_one(GetParam().launch, {"v100"}).result;
  EXPECT_EQ(functional_result.kernels.size(), direct.kernels.size());
  const trace::FileReader reader(file);
  std::vector<sim::Setup> setups;
  setups.push_back(make_setup({"v100"}));
  setups.push_back(make_setup({"gtx480"}));
  const auto replayed = sim::replay(reader, setups, {});
  EXPECT_EQ(state_hash(replayed[0]), state_hash(direct));
  EXPECT_EQ(state_hash(replayed[1]), state_hash(launch_one(GetParam().launch, {"gtx480"}).result));
}

TEST(Report, TheResultShowsParents) {
  const Outcome1 out = launch_one({"_Z8in_orderPi", {1}, {64}});
  const auto json = sim::to_json(out.result);
  EXPECT_FALSE(json["kernels"][0].contains("parent"));
  EXPECT_EQ(json["kernels"][1]["parent"]["kernel"], 0);
  EXPECT_EQ(json["kernels"][1]["parent"]["depth"], 1);
  EXPECT_EQ(json["kernels"][9]["parent"]["tail"], true);
}

}  // namespace
}  // namespace raddle::test::timing_test
