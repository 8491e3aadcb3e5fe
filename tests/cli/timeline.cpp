// --timeline: what is in the file agrees with the result, and the bound on its events holds.
#include <algorithm>
#include <set>

#include "cli/raddle.h"

namespace raddle::test::timeline_test {
namespace {

Json events_of(const std::string& file) {
  return Json::parse(read_file(file), nullptr, false)["traceEvents"];
}

std::size_t count(const Json& events, const char* key, const std::string& value) {
  return static_cast<std::size_t>(std::ranges::count_if(
      events, [&](const Json& event) { return event.contains(key) && event[key] == value; }));
}

std::set<std::string> processes_of(const Json& events) {
  std::set<std::string> out;
  for (const Json& event : events)
    if (event["name"] == "process_name") out.insert(event["args"]["name"]);
  return out;
}

TEST(Timeline, BlocksLaunchesAndArrowsAreThoseOfTheResult) {
  const Folder folder;
  const Json result =
      json_of(raddle("run nested_bfs size=tiny --quiet --launches all --json - "
                     "--timeline",
                     {folder / "t.json"}));
  const Json events = events_of(folder / "t.json");
  std::size_t children = 0;
  for (const Json& kernel : result["kernels"]) children += kernel.contains("parent");
  ASSERT_GT(children, 0u);
  EXPECT_EQ(count(events, "cat", "kernel"), result["kernels"].size());
  EXPECT_EQ(count(events, "cat", "block"), result["details"]["blocks"].get<std::size_t>());
  EXPECT_EQ(count(events, "ph", "s"), children);
  EXPECT_EQ(count(events, "ph", "f"), children);
  EXPECT_EQ(processes_of(events).count("nested_bfs (counters of SMs in means of 512 cycles)"), 1u);
  EXPECT_EQ(processes_of(events).count("SM 000, nested_bfs"), 1u);
}

TEST(Timeline, ABoundHoldsAndALineSaysWhatItLeavesOut) {
  const Folder folder;
  const Outcome run =
      raddle("run nested_bfs size=tiny --timeline-events 1000 --timeline", {folder / "t.json"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("at most 1000 events (--timeline-events): nested_bfs: "));
  const Json events = events_of(folder / "t.json");
  EXPECT_LE(events.size() - count(events, "ph", "M"), 1000u);
  expect_refused(raddle("run vecadd --timeline-events 10 --timeline x.json"),
                 {"--timeline-events", "from 1000 on"});
}

TEST(Timeline, TenantsOfACorunAreInItAndChangeNothing) {
  const Folder folder;
  const std::string run =
      "run sgemm size=tiny + bfs size=tiny --gpu gtx480 --horizon 30000 --no-alone --quiet --json "
      "- --sample 500";
  const Json result = json_of(raddle(run + " --timeline", {folder / "t.json"}));
  EXPECT_EQ(result["state_hash"], json_of(raddle(run))["state_hash"]);
  const Json events = events_of(folder / "t.json");
  const std::set<std::string> processes = processes_of(events);
  for (const char* name : {"sgemm + bfs", "tenant 0: sgemm", "tenant 1: bfs"})
    EXPECT_EQ(processes.count(name), 1u) << name;
  std::size_t kernels = 0;
  for (const Json& tenant : result["tenants"])
    kernels += tenant["kernels_completed"].get<std::size_t>();
  EXPECT_GE(count(events, "cat", "kernel"), kernels) << "and those that are under way";
  EXPECT_LE(count(events, "cat", "kernel"), kernels + 2);
  for (const Json& event : events)
    if (event["ph"] == "X") {
      EXPECT_LE(event["ts"].get<std::uint64_t>() + event["dur"].get<std::uint64_t>(), 30000u);
    }
}

}  // namespace
}  // namespace raddle::test::timeline_test
