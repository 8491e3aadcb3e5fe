#include "raddle/report/timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "samples.h"

namespace raddle::report::timeline_test {
namespace {

using Json = nlohmann::json;
using Track = std::pair<int, int>;  // process, track

Json events(const std::vector<Run>& runs) { return Json::parse(timeline(runs))["traceEvents"]; }

std::vector<Json> of_category(const Json& all, const std::string& category) {
  std::vector<Json> out;
  for (const Json& e : all)
    if (e.value("cat", "") == category) out.push_back(e);
  return out;
}

/// Events of one track may follow each other but not overlap, so that a viewer never has to guess.
void expect_no_overlap(const Json& all) {
  std::map<Track, std::map<std::uint64_t, std::uint64_t>> busy;
  for (const Json& e : all) {
    if (e["ph"] != "X") continue;
    const bool fresh =
        busy[{e["pid"], e["tid"]}]
            .emplace(e["ts"], e["ts"].get<std::uint64_t>() + e["dur"].get<std::uint64_t>())
            .second;
    EXPECT_TRUE(fresh) << e;
  }
  for (const auto& [track, spans] : busy) {
    std::uint64_t end = 0;
    for (const auto& [from, to] : spans) {
      EXPECT_GE(from, end) << "track " << track.second;
      end = to;
    }
  }
}

TEST(Timeline, ShowsEveryBlockWithItsKernel) {
  const sim::Result r = small_result();
  const std::vector<Json> blocks = of_category(events({{"gto", &r}}), "block");
  ASSERT_EQ(blocks.size(), 5u);
  EXPECT_EQ(blocks[0]["name"], "first");
  EXPECT_EQ(blocks[0]["ts"], 10);
  EXPECT_EQ(blocks[0]["dur"], 90);
  EXPECT_EQ(blocks[1]["name"], "second");
  EXPECT_EQ(blocks[1]["args"]["launch"], 1);
}

TEST(Timeline, ShowsKernelsOnATrackOfTheirOwn) {
  const sim::Result r = small_result();
  const Json all = events({{"gto", &r}});
  const std::vector<Json> kernels = of_category(all, "kernel");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0]["tid"], kernels[1]["tid"]);
  EXPECT_EQ(kernels[0]["args"]["grid"], Json({4, 1, 1}));
  EXPECT_EQ(kernels[0]["args"]["warp_instructions"], 100);
  for (const Json& block : of_category(all, "block")) EXPECT_NE(block["tid"], kernels[0]["tid"]);
}

TEST(Timeline, EventsOfATrackNeverOverlap) {
  sim::Result r = small_result();
  r.kernels.push_back(kernel("same stream at once", 100, 200));
  r.kernels.push_back(kernel("other stream", 0, 300, 3));
  expect_no_overlap(events({{"gto", &r}}));
  EXPECT_EQ(of_category(events({{"gto", &r}}), "kernel").size(), 4u);
}

TEST(Timeline, EachRunIsAProcessAndEachTrackHasAName) {
  const sim::Result r = small_result();
  const Json all = events({{"lrr", &r}, {"gto", &r}});
  std::map<int, std::string> processes;
  std::set<Track> named, used;
  for (const Json& e : all) {
    if (e["name"] == "process_name") processes[e["pid"]] = e["args"]["name"];
    if (e["name"] == "thread_name") named.emplace(e["pid"], e["tid"]);
    if (e["ph"] == "X") used.emplace(e["pid"], e["tid"]);
  }
  EXPECT_EQ(processes, (std::map<int, std::string>{{1, "bfs lrr"}, {2, "bfs gto"}}));
  EXPECT_EQ(events({{"", &r}})[0]["args"]["name"], "bfs") << "without a blank behind it";
  EXPECT_EQ(named, used);
  expect_no_overlap(all);
}

TEST(Timeline, CountersFollowTheSamples) {
  const sim::Result r = small_result();
  std::vector<double> ipc;
  for (const Json& e : events({{"gto", &r}}))
    if (e["ph"] == "C" && e["name"] == "IPC") ipc.push_back(e["args"]["value"]);
  EXPECT_EQ(ipc, (std::vector<double>{10, 15, 3}));
}

TEST(Timeline, CountersOfSchedulersByWhatTheyWaitFor) {
  sim::Result r = small_result();
  EXPECT_FALSE(std::ranges::any_of(
      events({{"gto", &r}}), [](const Json& e) { return e["name"] == "schedulers stalled"; }));
  r.cycles = 250;  // the last sample is half as long
  for (timing::Sample& s : r.samples) {
    s.stall[static_cast<unsigned>(stats::Stall::Memory)] = 150;
    s.stall[static_cast<unsigned>(stats::Stall::Barrier)] = s.start;
  }
  std::vector<Json> notified;
  for (const Json& e : events({{"gto", &r}}))
    if (e["ph"] == "C" && e["name"] == "schedulers stalled") notified.push_back(e["args"]);
  EXPECT_EQ(notified, (std::vector<Json>{{{"barrier", 0}, {"memory", 1.5}},
                                         {{"barrier", 1}, {"memory", 1.5}},
                                         {{"barrier", 4}, {"memory", 3}}}));
}

TEST(Timeline, CountersOfWarpsThatMayLoadOfAllAndOfEachSm) {
  sim::Result r = small_result();
  r.cycles = 150;
  r.samples = {{0, 0, 0, 0, 0, 0, 800, 200, {400, 200}},
               {100, 0, 0, 0, 0, 0, 500, 200, {150, 150}}};
  std::map<std::string, std::vector<double>> counters;
  for (const Json& e : events({{"swl", &r}}))
    if (e["ph"] == "C") counters[e["name"]].push_back(e["args"]["value"]);
  EXPECT_EQ(counters["warps that may load"], (std::vector<double>{6, 6}));
  EXPECT_EQ(counters["warps that may load, SM 000"], (std::vector<double>{4, 3}));
  EXPECT_EQ(counters["warps that may load, SM 001"], (std::vector<double>{2, 3}));
}

TEST(Timeline, HasABoundWhateverTheRun) {
  sim::Result result = small_result();
  result.blocks.clear();
  for (std::uint32_t block = 0; block < 400'000; ++block)
    result.blocks.push_back({0, block, block % 4, block / 4, block / 4 + 1});
  result.cycles = 1'000'000;
  result.samples.clear();
  for (Cycle at = 0; at < result.cycles; at += 10)
    result.samples.push_back(
        {at, 0, 40, 10, 5, 0, 0, 0, {100, 300}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2}});
  result.kernels.resize(200'000, result.kernels.front());
  for (Cycle i = 0; i < result.kernels.size(); ++i) {
    result.kernels[i].start = i;
    result.kernels[i].end = i + 1;
  }
  const std::vector<report::Run> runs = {{"gto", &result}, {"lrr", &result}};
  EXPECT_LT(timeline(runs).size(), 60'000'000u);
  const Json all = events(runs);
  EXPECT_LT(all.size(), 310'000u) << "300,000 and the names of tracks";
  std::size_t blocks = 0;
  for (const Json& event : all) {
    if (event["pid"] == 1 && event.value("cat", "") == "block")
      blocks += event["args"]["blocks"].get<std::size_t>();
    if (event["ph"] == "C" && event["name"] == "IPC") {
      EXPECT_EQ(event["args"]["value"], 4) << "means of neighbours";
    }
    if (event["ph"] == "C" && event["name"] == "schedulers stalled") {
      EXPECT_EQ(event["args"]["memory"], 0.3) << "means of neighbours";
    }
  }
  EXPECT_EQ(blocks, 400'000u) << "neighbours are one bar, and none is lost";
  EXPECT_EQ(all[0]["args"]["name"],
            "bfs gto (up to 8 blocks in one bar) (the first 25000 of 200000 launches)");
}

TEST(Timeline, NamesAreEscaped) {
  sim::Result r = small_result();
  r.kernels[0].name = "a\"b\\c\n{}";
  const std::string label = "</script>\"{0}";
  const Json all = events({{label, &r}});
  EXPECT_EQ(of_category(all, "kernel")[0]["name"], "a\"b\\c\n{}");
  EXPECT_EQ(all[0]["args"]["name"], "bfs " + label);
}

TEST(Timeline, NothingRunIsAValidEmptyTrace) {
  EXPECT_TRUE(events({}).empty());
  const sim::Result nothing;
  const Json all = events({{"empty", &nothing}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["name"], "process_name");
}

}  // namespace
}  // namespace raddle::report::timeline_test
