// raddle analyze: tables, JSON, recordings, and what is refused.
#include "cli/raddle.h"
#include "raddle_paths.h"

namespace raddle::test::analyze_test {
namespace {

TEST(Analyze, CacheComparesReplacements) {
  const Outcome out = raddle("analyze cache bfs size=tiny --gpu ccws");
  EXPECT_EQ(out.status, 0) << out.err;
  for (const char* word : {"bfs on ccws", "timing run", "32 KiB, 8 ways", "lru", "belady",
                           "unbounded", "MPKI", "intra-thread", "inter-warp"})
    EXPECT_THAT(out.out, HasSubstr(word));
}

TEST(Analyze, CacheTakesSizesWaysAndPolicies) {
  const Json j = json_of(
      raddle("analyze cache bfs size=tiny --gpu ccws --policy warp=lrr --replacement lru,belady "
             "--size-kib 2,4 --ways 4 --json -"));
  EXPECT_EQ(j["policies"]["warp"]["name"], "lrr");
  EXPECT_EQ(j["analysis"].size(), 2u);
  for (const char* label : {"cache_2kib", "cache_4kib"}) {
    EXPECT_EQ(j["analysis"][label]["ways"], 4);
    EXPECT_GT(j["analysis"][label]["lru"]["misses"], j["analysis"][label]["belady"]["misses"]);
    EXPECT_FALSE(j["analysis"][label].contains("unbounded"));
  }
  EXPECT_GT(j["analysis"]["cache_2kib"]["lru"]["misses"],
            j["analysis"]["cache_4kib"]["lru"]["misses"]);
}

TEST(Analyze, SaysWhereBeladyIsNotTheBest) {
  EXPECT_THAT(raddle("analyze cache bfs size=tiny --gpu v100").out, HasSubstr("sectors"));
  EXPECT_THAT(raddle("analyze cache bfs size=tiny --gpu ccws").out, Not(HasSubstr("sectors")));
}

TEST(Analyze, FiguresUseTheRunsInstructions) {
  const Json j = json_of(raddle("analyze cache bfs size=tiny --gpu ccws --json -"));
  const Json& lru = j["analysis"]["cache"]["lru"];
  EXPECT_DOUBLE_EQ(lru["mpki"].get<double>(), 1000.0 * lru["misses"].get<double>() /
                                                  j["totals"]["thread_instructions"].get<double>());
  EXPECT_DOUBLE_EQ(
      lru["warp_mpki"].get<double>(),
      1000.0 * lru["misses"].get<double>() / j["totals"]["warp_instructions"].get<double>());
}

TEST(Analyze, LocalitySplitsTheHits) {
  const Outcome out = raddle("analyze locality kmeans size=tiny --gpu ccws");
  EXPECT_EQ(out.status, 0) << out.err;
  for (const char* word : {"kmeans on ccws", "hits, intra-thread", "hits, inter-thread",
                           "hits, inter-warp", "pending, inter-warp", "misses", "distinct lines"})
    EXPECT_THAT(out.out, HasSubstr(word));
  const Json j = json_of(raddle("analyze locality kmeans size=tiny --gpu ccws --json -"));
  EXPECT_EQ(j["analysis"]["locality"]["hits"], j["totals"]["l1d_hits"]);
}

TEST(Analyze, DependenciesTellWhoHasWrittenWhat) {
  const Outcome out = raddle("analyze dependencies srad size=tiny version=1");
  EXPECT_EQ(out.status, 0) << out.err;
  for (const char* word : {"srad (functional): correct", "logical", "executed", "self", "ghost",
                           "older self", "host", "elsewhere", "srad1_update", "all"})
    EXPECT_THAT(out.out, HasSubstr(word));
  const Json j = json_of(raddle("analyze dependencies hotspot size=tiny --json -"));
  const Json& logical = j["analysis"]["dependencies"]["logical"];
  EXPECT_FALSE(j["timed"]);
  EXPECT_NEAR(logical["self_share"].get<double>() + logical["ghost_share"].get<double>(), 1, 1e-12);
}

TEST(Analyze, DependenciesNeedTheWorkloadItself) {
  const Folder folder;
  ASSERT_EQ(raddle("record vecadd size=tiny --quiet -o " + (folder / "v.rdl")).status, 0);
  const Outcome recording = raddle("analyze dependencies " + (folder / "v.rdl"));
  EXPECT_EQ(recording.status, 2);
  EXPECT_THAT(recording.err, HasSubstr("which thread"));
  const Outcome live = raddle("analyze dependencies vecadd size=tiny --live");
  EXPECT_EQ(live.status, 2);
  EXPECT_THAT(live.err, HasSubstr("--live"));
}

/// many<<<4, 64>>> of tests/data/device_launch: what its children share is worked out in
/// tests/device_launch/footprint_test.cpp.
std::string launching() {
  return std::string(RADDLE_SOURCE_DIR) +
         "/tests/data/device_launch/device_launch.ptx kernel=_Z4manyPi grid=4 block=64 "
         "args=buf:1024";
}

TEST(Analyze, FootprintTellsWhatChildrenShare) {
  const Outcome out = raddle("analyze footprint " + launching());
  EXPECT_EQ(out.status, 0) << out.err;
  for (const char* word :
       {"(functional)", "parent-child", "child-sibling", "parent-parent", "many > add_one", "all",
        "ratio", "in bytes", "own share", "two alone", "50.00 %",
        "4 direct parents of 4 parent blocks make 171 launches of 342 child blocks",
        "lines of 128 bytes"})
    EXPECT_THAT(out.out, HasSubstr(word));
  const Json j = json_of(raddle("analyze footprint " + launching() + " --json -"));
  EXPECT_FALSE(j["timed"]);
  const Json& lines = j["analysis"]["footprint"];
  EXPECT_EQ(lines["line_bytes"], 128);
  EXPECT_EQ(lines["child_sibling"]["ratio"], 0.5);
  EXPECT_FALSE(lines["parent_child"].contains("each_other")) << "of blocks of one kind only";
  EXPECT_EQ(lines["kernels"]["_Z4manyPi"]["children"]["_Z7add_onePii"]["child_blocks"], 342);
  const Json& words = j["analysis"]["footprint_bytes"];
  EXPECT_EQ(words["line_bytes"], 4);
  EXPECT_EQ(words["parent_child"]["second_lines"], 171) << "a sum for each launching thread";
  const Json sectors =
      json_of(raddle("analyze footprint " + launching() + " --line-bytes 32 --json -"));
  EXPECT_EQ(sectors["analysis"]["footprint"]["line_bytes"], 32);
  EXPECT_EQ(sectors["analysis"]["footprint_bytes"], words);
}

TEST(Analyze, FootprintOfARecordingIsThatOfTheProgram) {
  const Folder folder;
  const std::string file = folder / "launches.rdl";
  ASSERT_EQ(raddle("record " + launching() + " --quiet -o " + file).status, 0);
  const Json direct = json_of(raddle("analyze footprint " + launching() + " --json -"));
  const Json recorded = json_of(raddle("analyze footprint " + file + " --json -"));
  EXPECT_EQ(direct["analysis"], recorded["analysis"]);
  EXPECT_EQ(direct["state_hash"], recorded["state_hash"]);
}

TEST(Analyze, FootprintSaysSoWhereNoKernelLaunches) {
  const Outcome out = raddle("analyze footprint bfs size=tiny");
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_THAT(out.out, HasSubstr("no kernel launches a kernel here"));
  EXPECT_THAT(out.out, Not(HasSubstr("parent-child")));
  const Json j = json_of(raddle("analyze footprint bfs size=tiny --json -"));
  EXPECT_EQ(j["analysis"]["footprint"]["device_launches"], 0);
  EXPECT_EQ(j["analysis"]["footprint"]["parent_child"]["pairs"], 0);
}

TEST(Analyze, SourceTellsWhereWarpsSpendTheirTime) {
  const Outcome out = raddle("analyze source bfs size=tiny --gpu v100 --top 3");
  EXPECT_EQ(out.status, 0) << out.err;
  for (const char* word : {"bfs_expand", "bfs_advance", "of the warps' time", "waiting for",
                           "executed", "memory", "more lines (--top 0 shows all)", "looks have"})
    EXPECT_THAT(out.out, HasSubstr(word));
  const Outcome all = raddle("analyze source bfs size=tiny --gpu v100 --top 0");
  EXPECT_THAT(all.out, Not(HasSubstr("more lines")));
  const Json with = json_of(raddle("analyze source bfs size=tiny --gpu v100 --json -"));
  const Json without = json_of(raddle("run bfs size=tiny --gpu v100 --json -"));
  EXPECT_EQ(with["state_hash"], without["state_hash"]) << "who is watched does what he does";
  std::uint64_t issued = 0;
  for (const Json& kernel : with["analysis"]["source"]["kernels"])
    for (const Json& line : kernel["lines"]) issued += line["issued"].get<std::uint64_t>();
  EXPECT_EQ(issued, without["totals"]["warp_instructions"].get<std::uint64_t>());
}

TEST(Analyze, SourceRefusesWhatItCannotDo) {
  expect_refused(raddle("analyze source bfs size=tiny --interval 0"), {"--interval", "0"});
  expect_refused(raddle("analyze source bfs size=tiny --top many"), {"--top", "many"});
  expect_refused(raddle("analyze source nobody"), {"nobody"});
}

TEST(Analyze, AllocationsTellWhereTrafficGoes) {
  const Outcome out = raddle("analyze allocations bfs size=tiny --gpu v100 --top 3");
  EXPECT_EQ(out.status, 0) << out.err;
  for (const char* word : {"allocation 2", "touched", "argument of", "bfs_expand 2", "100.0 %",
                           "more (--top 0 shows all)"})
    EXPECT_THAT(out.out, HasSubstr(word));
  EXPECT_THAT(out.out, Not(HasSubstr("not known")));
  EXPECT_THAT(raddle("analyze allocations bfs size=tiny --kernels --gpu v100").out,
              HasSubstr("\n    bfs_advance "));
  const Json with = json_of(raddle("analyze allocations bfs size=tiny --gpu v100 --json -"));
  EXPECT_EQ(with["state_hash"],
            json_of(raddle("run bfs size=tiny --gpu v100 --json -"))["state_hash"])
      << "who is watched does what he does";
}

TEST(Analyze, AllocationsOfWhoDoesNotSayThem) {
  const Outcome out = raddle("analyze allocations " RADDLE_SOURCE_DIR
                             "/tests/data/accelsim/kernelslist.g --gpu v100");
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_THAT(out.out,
              AllOf(HasSubstr("the rest"), HasSubstr("not known here what was allocated")));
  expect_refused(raddle("analyze allocations bfs size=tiny --top many"), {"--top", "many"});
}

TEST(Analyze, AllocationsHaveAPlaceForEverything) {
  const Json all = json_of(
      raddle("analyze allocations bfs size=tiny --gpu ccws --json -"))["analysis"]["allocations"];
  const auto row = [&](const std::string& name) -> Json {
    for (const Json& one : all["rows"])
      if (one["name"] == name) return one;
    return {};
  };
  EXPECT_EQ(row("allocation 2")["arguments"]["bfs_expand"], Json::parse("[2]"))
      << "counted from 1, as in the table";
  EXPECT_GT(row("constants")["l2_misses"], 0) << "parameters";
  EXPECT_EQ(row("the rest"), Json()) << "nothing is left over";
}

TEST(Analyze, SaysWhatIsNotInIt) {
  EXPECT_THAT(raddle("analyze allocations bfs size=tiny --gpu v100 --first-launches 2").out,
              HasSubstr("more launches are not in it (--first-launches)"));
  EXPECT_THAT(raddle("analyze allocations bfs size=tiny --gpu v100").out,
              Not(HasSubstr("are not in it")));
}

TEST(Analyze, LooksAtOneWorkload) {
  expect_refused(raddle("analyze allocations bfs + spmv size=tiny"), {"'+'", "co-run"});
}

TEST(Analyze, ErrorsNameTheHelpThatHelps) {
  expect_refused(raddle("analyze allocations bfs --nope"),
                 {"--nope", "(see raddle analyze allocations --help)"});
  expect_refused(raddle("analyze source bfs --top -1"),
                 {"--top", "-1", "(see raddle analyze source --help)"});
}

TEST(Analyze, ARecordingIsAsGoodAsTheWorkload) {
  const Folder folder;
  ASSERT_EQ(
      raddle("record bfs size=tiny seed=3 --gpu ccws --quiet -o " + (folder / "b.rdl")).status, 2)
      << "seed is an option";
  ASSERT_EQ(
      raddle("record bfs size=tiny --seed 3 --gpu ccws --quiet -o " + (folder / "b.rdl")).status,
      0);
  for (const std::string what : {"cache", "locality", "source", "allocations"}) {
    const Json direct =
        json_of(raddle("analyze " + what + " bfs size=tiny --seed 3 --gpu ccws --json -"));
    const Json file =
        json_of(raddle("analyze " + what + " " + (folder / "b.rdl") + " --gpu ccws --json -"));
    EXPECT_EQ(direct["analysis"], file["analysis"]);
    EXPECT_EQ(direct["state_hash"], file["state_hash"]);
  }
  expect_refused(raddle("analyze cache " + (folder / "b.rdl") + " size=small"), {"size=small"});
  expect_refused(raddle("analyze cache " + (folder / "b.rdl") + " --live"), {"--live"});
}

TEST(Analyze, TheHashIsThatOfTheUnobservedRun) {
  const Json plain = json_of(raddle("run bfs size=tiny --gpu ccws --json -"));
  EXPECT_FALSE(plain.contains("analysis"));
  EXPECT_EQ(plain["state_hash"],
            json_of(raddle("analyze cache bfs size=tiny --gpu ccws --json -"))["state_hash"]);
}

TEST(Analyze, ExplainsItself) {
  const Outcome all = raddle("analyze --help");
  EXPECT_THAT(all.out, AllOf(HasSubstr("cache"), HasSubstr("locality")));
  const std::string cache = raddle("analyze cache --help").out;
  for (const char* word : {"--gpu", "--set", "--policy", "--replacement", "--size-kib", "--ways",
                           "--json", "FILE.rdl", "belady", "analysis.cache.lru.mpki"})
    EXPECT_THAT(cache, HasSubstr(word));
  EXPECT_THAT(cache, Not(HasSubstr("--timeline")));
  EXPECT_THAT(raddle("analyze locality --help").out, HasSubstr("intra-thread"));
}

TEST(Analyze, MistakesAreRefusedAndNothingIsWritten) {
  const Folder folder;
  const auto refused = [&](const std::string& words, const std::vector<std::string>& said) {
    expect_refused(raddle("analyze " + words, {"--json", folder / "r.json"}), said);
    EXPECT_THAT(folder.content(), IsEmpty()) << words;
  };
  refused("cache vecad", {"'vecad'", "vecadd"});
  refused("cache vecadd n=-1", {"n", "-1"});
  refused("cache vecadd --replacement lru,fifo", {"--replacement", "'fifo'", "belady"});
  refused("cache vecadd --replacement lru,lru", {"--replacement", "twice"});
  refused("cache vecadd --size-kib 0", {"--size-kib", "0"});
  refused("cache vecadd --size-kib big", {"--size-kib", "big"});
  refused("cache vecadd --size-kib 8,8", {"--size-kib", "twice"});
  refused("cache vecadd --gpu ccws --size-kib 1 --ways 3", {"size_kib = 1", "3 ways"});
  refused("cache vecadd --ways 0", {"--ways"});
  refused("cache vecadd --gpu ccws --set sm.l1d.size_kib=0", {"no L1D", "sm.l1d.size_kib"});
  refused("locality vecadd --size-kib 8", {"--size-kib"});
  refused("footprint vecadd --line-bytes 96", {"--line-bytes", "power of two", "96"});
  refused("footprint vecadd --line-bytes 2", {"--line-bytes", "from 4 to 4096", "found 2"});
  refused("footprint vecadd --line-bytes big", {"--line-bytes", "big"});
  refused("footprint vecadd --live", {"footprint", "--live"});
  refused("footprint vecad", {"'vecad'", "vecadd"});
  refused("footprint missing.rdl", {"missing.rdl"});
  refused("cache missing.rdl", {"missing.rdl"});
  refused("cache vecadd --functional", {"--functional"});
  expect_refused(raddle("analyze"), {"analyze --help"});
  expect_refused(
      raddle("analyze caches vecadd"),
      {"'caches'",
       "allocations, bounds, cache, dependencies, footprint, locality, source or warps"});
  expect_refused(
      raddle("analyze vecadd size=tiny"),
      {"'vecadd'",
       "allocations, bounds, cache, dependencies, footprint, locality, source or warps"});
  expect_refused(raddle("analyze cache"), {"workload"});
}

TEST(Analyze, WhereThereIsNoRoomForTheAccessesTheFolderIsNamed) {
  const Outcome out =
      run_process("/usr/bin/env",
                  {"TMPDIR=/proc/nowhere", RADDLE_PROGRAM, "analyze", "cache", "spmv", "size=small",
                   "--gpu", "ccws", "--set", "sm.count=1", "--quiet"},
                  std::chrono::seconds(120));
  expect_failed(out, {"/proc/nowhere", "TMPDIR"});
}

TEST(Analyze, WarpsDrawsALaneForEachWarp) {
  const Outcome out = raddle("analyze warps vecadd size=tiny --gpu gtx480 --window 0:640 --sm 2");
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_THAT(out.out, HasSubstr("warps of SM 2, cycles 0 to 640, 10 a letter"));
  EXPECT_THAT(out.out, testing::ContainsRegex("\n     0  .*\\*.*M"));
  EXPECT_THAT(out.out, testing::ContainsRegex("\n  M memory +[0-9]+ warp cycles\n"));
  const Json j =
      json_of(raddle("analyze warps vecadd size=tiny --gpu gtx480 --window 0:640 --sm 2 --json -"));
  const Json& warps = j["analysis"]["warps"];
  EXPECT_EQ(warps["sm"], 2);
  EXPECT_EQ(warps["instructions"][0]["kernel"], "vecadd");
  EXPECT_GT(warps["states"].size(), 0u);
}

TEST(Analyze, AWindowIsRefusedWhereItCannotBe) {
  const std::string run = "vecadd size=tiny --gpu gtx480 ", window = "analyze warps " + run;
  expect_refused(raddle("run " + run + "--window 0:10"),
                 {"--window: expected --report or --json beside it"});
  expect_refused(raddle(window + "--window 10"), {"--window: expected BEGIN:END"});
  expect_refused(raddle(window + "--window 10:5"), {"end must be 1 to 20000 cycles behind begin"});
  expect_refused(raddle(window + "--window 0:30000"), {"end must be 1 to 20000 cycles"});
  expect_refused(raddle(window + "--window 0:10 --sm 15"),
                 {"sm must be below sm.count, 15, is 15"});
  expect_refused(raddle("run " + run + "--sm 1 --json -"), {"--sm: expected --window beside it"});
  expect_refused(raddle("compare hotspot size=tiny steps=20 --gpu gtx480 --policies lrr --json - "
                        "--window 0:10 --sampling-error 0.05"),
                 {"--window: expected every launch timed"});
}

}  // namespace
}  // namespace raddle::test::analyze_test
