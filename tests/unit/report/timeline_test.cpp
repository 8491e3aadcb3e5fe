#include "raddle/report/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "samples.h"

namespace raddle::report::timeline_test {
namespace {

using Json = nlohmann::json;
using Track = std::pair<int, int>;  // process, track

Json events(const std::vector<Run>& runs, std::size_t maximum = kMaxTimelineEvents) {
  return Json::parse(timeline(runs, maximum).text)["traceEvents"];
}

/// Those that a limit is of.
std::size_t counted(const Json& all) {
  return static_cast<std::size_t>(
      std::ranges::count_if(all, [](const Json& e) { return e["ph"] != "M"; }));
}

std::map<int, std::string> processes_of(const Json& all) {
  std::map<int, std::string> out;
  for (const Json& e : all)
    if (e["name"] == "process_name") out[e["pid"]] = e["args"]["name"];
  return out;
}

/// The slice at a place; null where there is none.
Json slice_at(const Json& all, const Json& place) {
  for (const Json& e : all)
    if (e["ph"] == "X" && e["pid"] == place["pid"] && e["tid"] == place["tid"] &&
        e["ts"] <= place["ts"] &&
        place["ts"].get<std::uint64_t>() <=
            e["ts"].get<std::uint64_t>() + e["dur"].get<std::uint64_t>())
      return e;
  return {};
}

/// The slices at the two ends of each arrow of that name. Each arrow has both, in order of time.
std::vector<std::pair<Json, Json>> arrows_of(const Json& all, const std::string& name) {
  std::map<int, std::pair<Json, Json>> ends;
  for (const Json& e : all) {
    if (e["ph"] != "s" && e["ph"] != "f") continue;
    Json& end = e["ph"] == "s" ? ends[e["id"]].first : ends[e["id"]].second;
    EXPECT_TRUE(end.is_null()) << "an id is used once";
    end = e;
  }
  std::vector<std::pair<Json, Json>> out;
  for (const auto& [id, arrow] : ends) {
    const auto& [from, to] = arrow;
    EXPECT_FALSE(from.is_null() || to.is_null()) << "arrow " << id;
    EXPECT_LE(from["ts"], to["ts"]);
    if (from["name"] == name) out.emplace_back(slice_at(all, from), slice_at(all, to));
  }
  return out;
}

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

/// By a block of the first kernel.
sim::KernelParent made_by(std::uint32_t block) {
  sim::KernelParent out;
  out.origin.block = block;
  return out;
}

TEST(Timeline, ShowsEveryBlockWithItsKernel) {
  const sim::Result r = small_result();
  const std::vector<Json> blocks = of_category(events({{"gto", &r}}), "block");
  ASSERT_EQ(blocks.size(), 5u);
  EXPECT_EQ(blocks[0]["name"], "first, block 0");
  EXPECT_EQ(blocks[0]["ts"], 10);
  EXPECT_EQ(blocks[0]["dur"], 90);
  EXPECT_EQ(blocks[1]["name"], "second, block 0");
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
  for (const Json& block : of_category(all, "block")) EXPECT_NE(block["pid"], kernels[0]["pid"]);
}

TEST(Timeline, EventsOfATrackNeverOverlap) {
  sim::Result r = small_result();
  r.kernels.push_back(kernel("same stream at once", 100, 200));
  r.kernels.push_back(kernel("other stream", 0, 300, 3));
  expect_no_overlap(events({{"gto", &r}}));
  EXPECT_EQ(of_category(events({{"gto", &r}}), "kernel").size(), 4u);
}

TEST(Timeline, EachRunAndEachSmIsAProcessAndEachTrackHasAName) {
  const sim::Result r = small_result();
  const Json all = events({{"lrr", &r}, {"gto", &r}});
  std::set<Track> named, used;
  for (const Json& e : all) {
    if (e["name"] == "thread_name") named.emplace(e["pid"], e["tid"]);
    if (e["ph"] == "X") used.emplace(e["pid"], e["tid"]);
  }
  std::vector<std::string> names;
  for (const auto& [process, name] : processes_of(all)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"bfs lrr", "SM 000, bfs lrr", "SM 001, bfs lrr",
                                             "bfs gto", "SM 000, bfs gto", "SM 001, bfs gto"}))
      << "in the order in which viewers show them";
  EXPECT_EQ(processes_of(events({{"", &r}})).begin()->second, "bfs") << "without a blank behind it";
  for (const Json& block : of_category(all, "block"))
    EXPECT_EQ(processes_of(all).at(block["pid"]).find("SM "), 0u);
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
  r.samples = {{0, 0, 0, 0, 0, 0, 800, 200}, {100, 0, 0, 0, 0, 0, 500, 200}};
  r.sms_over_time = {
      {100, {{.warp_cycles = 400}, {.warp_cycles = 400, .throttled_warp_cycles = 200}}},
      {150, {{.warp_cycles = 550}, {.warp_cycles = 750, .throttled_warp_cycles = 400}}}};
  const Json all = events({{"swl", &r}});
  const std::map<int, std::string> processes = processes_of(all);
  std::map<std::string, std::vector<double>> counters;
  for (const Json& e : all)
    if (e["ph"] == "C" && e["name"] == "warps that may load")
      counters[processes.at(e["pid"])].push_back(e["args"]["value"]);
  EXPECT_EQ(counters["bfs swl"], (std::vector<double>{6, 6}));
  EXPECT_EQ(counters["SM 000, bfs swl"], (std::vector<double>{4, 3}));
  EXPECT_EQ(counters["SM 001, bfs swl"], (std::vector<double>{2, 3}));
}

/// Cycles times value of a counter of a process.
double integral(const Json& all, int process, const std::string& name, Cycle end) {
  double sum = 0, value = 0, since = 0;
  for (const Json& e : all) {
    if (e["ph"] != "C" || e["pid"] != process || e["name"] != name) continue;
    sum += value * (e["ts"].get<double>() - since);
    value = e["args"]["value"];
    since = e["ts"];
  }
  return sum + value * (static_cast<double>(end) - since);
}

TEST(Timeline, WarpsOfResidentBlocksAreThoseOfTheBlocks) {
  sim::Result r = small_result();
  r.cycles = 20'000;  // several intervals
  r.blocks.push_back({1, 1, 0, 200, 19'000});
  r.kernels[0].block = {65, 1, 1};  // three warps
  const Json all = events({{"gto", &r}});
  double warps[2] = {};
  for (const timing::BlockSpan& block : r.blocks)
    warps[block.sm] += static_cast<double>(block.end - block.start) * (block.launch == 0 ? 3 : 2);
  for (int sm = 0; sm < 2; ++sm)
    EXPECT_NEAR(integral(all, 2 + sm, "warps of resident blocks", r.cycles), warps[sm],
                1e-4 * warps[sm]);
  const Json few = events({{"gto", &r}}, 1000);
  EXPECT_NEAR(integral(few, 2, "warps of resident blocks", r.cycles), warps[0], 1e-4 * warps[0])
      << "means of longer intervals sum to the same";
}

TEST(Timeline, ArrowsLeadFromTheBlockThatLaunchedToTheLaunch) {
  sim::Result r = small_result();
  r.kernels[1].parent = made_by(3);
  r.kernels[1].start = 90;
  r.kernels.push_back(kernel("late", 200, 250, 1));
  r.kernels.back().parent = made_by(1);
  const Json all = events({{"gto", &r}});
  expect_no_overlap(all);
  const auto arrows = arrows_of(all, "launch");
  ASSERT_EQ(arrows.size(), 2u);
  EXPECT_EQ(arrows[0].first["name"], "first, block 3");
  EXPECT_EQ(arrows[0].second["name"], "second");
  EXPECT_EQ(arrows[1].first["name"], "first, block 1") << "which is over before it starts";
  EXPECT_EQ(arrows[1].second["name"], "late");
}

TEST(Timeline, ArrowsThatHaveNoPlaceAreSaid) {
  sim::Result r = small_result();
  for (unsigned i = 0; i < 300; ++i) {
    r.kernels.push_back(kernel("child", 100, 120, 1));
    r.kernels.back().parent = made_by(1);
  }
  const Timeline some = timeline(std::vector<report::Run>{{"gto", &r}}, 1000);
  const auto arrows = arrows_of(Json::parse(some.text)["traceEvents"], "launch");
  EXPECT_EQ(arrows.size(), 50u) << "a tenth of the events, two each";
  EXPECT_EQ(some.left_out, (std::vector<std::string>{"bfs gto: the first 100 of 302 launches",
                                                     "bfs gto: no arrow to 250 launches by "
                                                     "kernels"}));
  EXPECT_EQ(Json::parse(some.text)["otherData"]["left_out"], Json(some.left_out));
}

TEST(Timeline, LaunchesThatWereNotTimedAreSaid) {
  sim::Result r = small_result();
  r.launches_left_out = 50;
  r.sampling.emplace().estimated = 44;
  EXPECT_EQ(timeline(std::vector<report::Run>{{"gto", &r}}, 1000).left_out,
            (std::vector<std::string>{"bfs gto: 50 launches that were not timed",
                                      "bfs gto: 44 launches that were estimated, and their time"}));
}

TEST(Timeline, StolenBlocksAreMarked) {
  sim::Result r = small_result();
  r.blocks[1].stolen = true;
  const std::vector<Json> blocks = of_category(events({{"steal", &r}}), "block");
  EXPECT_EQ(blocks[2]["name"], "first, block 1 (stolen)");
  EXPECT_EQ(blocks[2]["args"]["stolen"], 1);
  EXPECT_EQ(blocks[0]["args"]["stolen"], 0);
}

/// Of two SMs, of which the second does nothing.
timing::MeshCounts counts_at(Cycle at, timing::MeshCounts::Sm first,
                             std::vector<timing::WarpMoves> moves) {
  timing::MeshCounts out;
  out.at = at;
  out.sms = {first, {}};
  out.moves = std::move(moves);
  return out;
}

TEST(Timeline, WarpsThatMoveAreArrowsBetweenSms) {
  sim::Result r = small_result();
  r.mesh.emplace();
  r.mesh->counts = {counts_at(100, {}, {{0, 1, 3}}), counts_at(200, {}, {{0, 1, 3}}),
                    counts_at(300, {50, 20, 0}, {{0, 1, 4}, {1, 0, 2}})};
  const Json all = events({{"latoa", &r}});
  expect_no_overlap(all);
  const auto warps = arrows_of(all, "warps"), one = arrows_of(all, "warp");
  ASSERT_EQ(warps.size(), 2u);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(warps[0].first["name"], "3 out, 0 in");
  EXPECT_EQ(warps[0].second["name"], "0 out, 3 in");
  EXPECT_EQ(one[0].first["name"], "1 out, 2 in");
  EXPECT_EQ(one[0].first["ts"], 200) << "what has moved since, not since the beginning";
  std::uint64_t out = 0, in = 0;
  for (const Json& slice : of_category(all, "moves")) {
    out += slice["args"]["out"].get<std::uint64_t>();
    in += slice["args"]["in"].get<std::uint64_t>();
  }
  EXPECT_EQ(out, 6u);
  EXPECT_EQ(in, 6u);
  EXPECT_NEAR(integral(all, 2, "schedulers that issue", r.cycles), 50, 1e-3);
  EXPECT_NEAR(integral(all, 2, "schedulers that wait for memory", r.cycles), 20, 1e-3);
}

TEST(Timeline, TenantsOfACorunAreProcessesWithTheirKernels) {
  sim::Result r = small_result();
  r.workload = "bfs + spmv";
  r.kernels.clear();
  r.corun.emplace();
  r.corun->tenants.resize(2);
  r.corun->tenants[0].name = "bfs";
  r.corun->tenants[1].name = "spmv";
  r.corun->launches = {{0, "expand", 0, {4, 1, 1}, {64, 1, 1}, 0, 150},
                       {1, "multiply", 0, {4, 1, 1}, {64, 1, 1}, 20, kNever},
                       {1, "later", 0, {4, 1, 1}, {64, 1, 1}}};
  r.blocks.back().end = kNever;  // under way at the horizon
  const Json all = events({{"", &r}});
  expect_no_overlap(all);
  const std::map<int, std::string> processes = processes_of(all);
  std::map<std::string, std::string> kernels;
  for (const Json& e : of_category(all, "kernel")) kernels[e["name"]] = processes.at(e["pid"]);
  EXPECT_EQ(kernels, (std::map<std::string, std::string>{{"expand", "tenant 0: bfs"},
                                                         {"multiply", "tenant 1: spmv"}}))
      << "what has not begun is not there";
  for (const Json& e : of_category(all, "block"))
    EXPECT_LE(e["ts"].get<Cycle>() + e["dur"].get<Cycle>(), r.cycles);
  EXPECT_EQ(of_category(all, "block").size(), 5u);
}

TEST(Timeline, HasABoundWhateverTheRun) {
  sim::Result result = small_result();
  result.blocks.clear();
  for (std::uint32_t block = 0; block < 400'000; ++block)
    result.blocks.push_back({0, block, block % 4, block / 4, block / 4 + 1});
  result.cycles = 1'000'000;
  result.samples.clear();
  for (Cycle at = 0; at < result.cycles; at += 10)
    result.samples.push_back({at, 0, 40, 10, 5, 0, 0, 0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2}});
  for (Cycle at = 2'000; at <= result.cycles; at += 2'000)
    result.sms_over_time.push_back(
        {at, {{.warp_cycles = at, .throttled_warp_cycles = at / 2}, {}}});
  result.kernels.resize(200'000, result.kernels.front());
  for (Cycle i = 0; i < result.kernels.size(); ++i) {
    result.kernels[i].start = i;
    result.kernels[i].end = i + 1;
  }
  const std::vector<report::Run> runs = {{"gto", &result}, {"lrr", &result}};
  EXPECT_LT(timeline(runs).text.size(), 60'000'000u);
  const Json all = events(runs);
  EXPECT_LE(counted(all), kMaxTimelineEvents);
  EXPECT_LT(all.size(), 310'000u) << "names of tracks are few";
  std::size_t blocks = 0;
  for (const Json& event : all) {
    if (event.value("cat", "") == "block" && event["pid"] < 10'000)
      blocks += event["args"]["blocks"].get<std::size_t>();
    if (event["ph"] == "C" && event["name"] == "IPC") {
      EXPECT_EQ(event["args"]["value"], 4) << "means of neighbours";
    }
    if (event["ph"] == "C" && event["name"] == "schedulers stalled") {
      EXPECT_EQ(event["args"]["memory"], 0.3) << "means of neighbours";
    }
  }
  EXPECT_EQ(blocks, 400'000u) << "neighbours are one bar, and none is lost";
  EXPECT_EQ(processes_of(all).begin()->second,
            "bfs gto (up to 8 blocks in one bar) (the first 15000 of 200000 launches) (counters in "
            "means of 23 samples) (counters of SMs in means of 768 cycles)");
}

TEST(Timeline, CountersOfAMeshThatDoNotFitAreSaid) {
  sim::Result result = small_result();
  result.cycles = 100'000;
  result.mesh.emplace();
  for (std::uint64_t i = 1; i <= 100; ++i)
    result.mesh->counts.push_back(counts_at(i * 1000, {i, i, 0}, {{0, 1, i}, {1, 0, 2 * i}}));
  const std::vector<report::Run> runs = {{"lrr", &result}};
  const auto name = [&](std::size_t maximum) {
    return processes_of(Json::parse(timeline(runs, maximum).text)["traceEvents"]).begin()->second;
  };
  EXPECT_TRUE(name(60).find("(no counters of the mesh") != std::string::npos) << name(60);
  EXPECT_TRUE(name(100'000).find("mesh") == std::string::npos) << name(100'000);
}

TEST(Timeline, ASmallerBoundHoldsAndWhatItLeavesOutIsSaid) {
  sim::Result result = small_result();
  result.cycles = 100'000;
  result.samples.clear();
  for (Cycle at = 100; at <= result.cycles; at += 100) {
    result.samples.push_back({at - 100, 1, 32, 1, 1, 32, 8, 0, {1, 1}});
    result.sms_over_time.push_back(
        {at, {{.warp_cycles = at, .throttled_warp_cycles = at / 2}, {}}});
  }
  result.mesh.emplace();
  for (std::uint64_t i = 1; i <= 100; ++i)
    result.mesh->counts.push_back(counts_at(i * 1000, {i, i, 0}, {{0, 1, i}, {1, 0, 2 * i}}));
  for (unsigned block = 4; block < 2000; ++block)
    result.blocks.push_back({0, block, block % 2, 200 + 40 * block, 230 + 40 * block});
  const std::vector<report::Run> runs = {{"lrr", &result}, {"gto", &result}, {"two", &result}};
  const std::size_t all = counted(events(runs));
  for (const std::size_t maximum : {1000u, 3000u, 9000u}) {
    const Timeline of = timeline(runs, maximum);
    const Json few = Json::parse(of.text)["traceEvents"];
    EXPECT_LE(counted(few), maximum);
    EXPECT_GT(counted(few), maximum / 10) << "and it is made use of";
    EXPECT_FALSE(of.left_out.empty());
    std::uint64_t moved = 0, blocks = 0;
    for (const Json& slice : of_category(few, "moves"))
      if (slice["pid"] < 10'000) moved += slice["args"]["out"].get<std::uint64_t>();
    EXPECT_EQ(moved, 300u) << "sums of longer intervals";
    for (const Json& bar : of_category(few, "block"))
      if (bar["pid"] < 10'000) blocks += bar["args"]["blocks"].get<std::uint64_t>();
    EXPECT_EQ(blocks, result.blocks.size());
    expect_no_overlap(few);
    arrows_of(few, "warps");
  }
  EXPECT_GT(all, 9000u);
  EXPECT_LE(counted(events(std::vector<report::Run>(200, {"many", &result}), 1000)), 1000u)
      << "five events a run";
}

TEST(Timeline, NamesAreEscaped) {
  sim::Result r = small_result();
  r.kernels[0].name = "a\"b\\c\n{}";
  const std::string label = "</script>\"{0}";
  const Json all = events({{label, &r}});
  EXPECT_EQ(of_category(all, "kernel")[0]["name"], "a\"b\\c\n{}");
  EXPECT_EQ(processes_of(all).begin()->second, "bfs " + label);
}

TEST(Timeline, NothingRunIsAValidEmptyTrace) {
  EXPECT_TRUE(events({}).empty());
  const sim::Result nothing;
  const Json all = events({{"empty", &nothing}});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["name"], "process_name");
  EXPECT_EQ(all[1]["name"], "process_sort_index");
}

}  // namespace
}  // namespace raddle::report::timeline_test
