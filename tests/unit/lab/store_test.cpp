// The database: what goes in comes out, and nothing else is taken for it.
#include "raddle/lab/store/store.h"

#include <algorithm>

#include "raddle/lab/host/files.h"
#include "raddle/lab/plan/program.h"
#include "raddle_paths.h"
#include "unit/lab/support.h"

namespace raddle::lab::test::store_test {
namespace {

struct Shelf {
  Folder folder;
  Paper paper = read(kWhole);
  Plan plan = make_plan({&paper.experiments[0]}, catalogue());
  std::string file = folder / "r.sqlite";

  RunRecord record(std::size_t r, bool done = true) const {
    RunRecord out;
    out.run = &plan.runs[r];
    out.done = done;
    out.wall_seconds = 1.5;
    out.host = "here";
    out.finished = "2024-01-01T00:00:00Z";
    if (!done) {
      out.reason = "timeout";
      out.error = "gave no result within 3 s";
      return out;
    }
    out.peak_rss = 1000 + r;
    out.result = {
        {"state_hash", "00ff"},
        {"totals", {{"ipc", 1.25 + static_cast<double>(r)}, {"cycles", 7}}},
        {"kernels", {{{"cycles", 3}}}},
        {"policies",
         {{"warp",
           {{"name", "gto"}, {"parameters", {{"k", 8}}}, {"statistics", {{"picks", 11}}}}}}}};
    return out;
  }
};

std::vector<std::string> column(Store& store, const std::string& sql) {
  Statement rows(store.database(), sql.c_str());
  std::vector<std::string> out;
  while (rows.step()) out.push_back(rows.text(0));
  return out;
}

TEST(Store, KeepsARunWithItsMetricsAndPolicies) {
  Shelf shelf;
  {
    Store store(shelf.file);
    EXPECT_FALSE(store.find(shelf.plan.runs[0]));
    store.add(shelf.record(0));
  }
  Store store(shelf.file);  // opened again
  const auto found = store.find(shelf.plan.runs[0]);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->done);
  EXPECT_EQ(found->key, shelf.plan.runs[0].key);
  EXPECT_EQ(found->wall_seconds, 1.5);
  EXPECT_FALSE(store.find(shelf.plan.runs[1]));
  const auto metrics = store.metrics(found->id);
  EXPECT_EQ(metrics.at("totals.ipc"), 1.25);
  EXPECT_EQ(metrics.at("policies.warp.statistics.picks"), 11);
  EXPECT_EQ(metrics.size(), 4u) << "numbers inside lists are none";
  EXPECT_EQ(store.result(found->id)["totals"]["cycles"], 7);
  EXPECT_EQ(column(store, "SELECT name FROM policies"), std::vector<std::string>{"gto"});
  EXPECT_EQ(column(store, "SELECT statistic FROM policy_statistics"),
            std::vector<std::string>{"picks"});
  EXPECT_EQ(column(store, "SELECT program FROM runs"),
            std::vector<std::string>{shelf.plan.runs[0].program});
  EXPECT_EQ(*store.peak_rss("vecadd", shelf.plan.runs[0].parameters), 1000u);
  EXPECT_EQ(*store.mean_seconds("vecadd", shelf.plan.runs[0].parameters), 1.5);
  EXPECT_FALSE(store.peak_rss("bfs", shelf.plan.runs[0].parameters));
}

TEST(Store, KeepsTheSumsOfEachKernel) {
  Shelf shelf;
  Store store(shelf.file);
  RunRecord record = shelf.record(0);
  const auto launch = [](const char* name, int cycles) {
    return Json{{"name", name},
                {"cycles", cycles},
                {"ipc", 3.5},
                {"start_cycle", 70},
                {"execution_cycles", cycles - 1},
                {"stalls", {{"memory", 10}}},
                {"l1d_hit_rate", 0.5},
                {"details", {{"loads", 4}, {"load_mean_cycles", 9.5}}}};
  };
  record.result["kernels"] = {launch("a", 5), launch("b", 7), launch("a", 20)};
  store.add(record);
  EXPECT_EQ(column(store,
                   "SELECT path || '=' || CAST(value AS INTEGER) FROM kernels "
                   "WHERE kernel = 'a' ORDER BY path"),
            (std::vector<std::string>{"cycles=25", "details.loads=8", "execution_cycles=23",
                                      "launches=2", "stalls.memory=20"}))
      << "rates, means and points in time do not add up";
  EXPECT_EQ(column(store, "SELECT DISTINCT kernel FROM kernels ORDER BY kernel"),
            (std::vector<std::string>{"a", "b"}));
  record.run = &shelf.plan.runs[1];
  record.result["kernels"] = Json::array();
  record.result["kernels_by_name"] = {{{"name", "c"},
                                       {"launches", 900},
                                       {"cycles", 5000},
                                       {"cycles_max", 70},
                                       {"cycles_mean", 5.5}}};
  store.add(record);
  EXPECT_EQ(column(store, "SELECT path FROM kernels WHERE kernel = 'c' ORDER BY path"),
            (std::vector<std::string>{"cycles", "launches"}));
  store.remove(shelf.plan.runs[0].key);
  EXPECT_EQ(column(store, "SELECT DISTINCT kernel FROM kernels"), std::vector<std::string>{"c"});
}

TEST(Store, AFileFromBeforeTheTableOfKernelsGetsIt) {
  Shelf shelf;
  {
    Store store(shelf.file);
    store.database().run(
        "DROP TABLE kernels; ALTER TABLE runs DROP COLUMN checksum; PRAGMA user_version = 1");
  }
  Store store(shelf.file);
  store.add(shelf.record(0));
  EXPECT_EQ(column(store, "SELECT path FROM kernels ORDER BY path"),
            (std::vector<std::string>{"cycles", "launches"}));
}

TEST(Store, FailedRunsHaveAReasonAndNoNumbers) {
  Shelf shelf;
  Store store(shelf.file);
  store.add(shelf.record(0, false));
  const auto found = store.find(shelf.plan.runs[0]);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->done);
  EXPECT_EQ(found->reason, "timeout");
  EXPECT_EQ(found->error, "gave no result within 3 s");
  EXPECT_TRUE(store.metrics(found->id).empty());
  EXPECT_TRUE(store.result(found->id).is_null());
  store.remove(found->key);
  EXPECT_FALSE(store.find(shelf.plan.runs[0]));
}

TEST(Store, TheSameRunCannotBeThereTwice) {
  Shelf shelf;
  Store store(shelf.file);
  store.add(shelf.record(0));
  EXPECT_THROW(store.add(shelf.record(0)), InputError) << "who asks first adds it only if damaged";
  EXPECT_EQ(column(store, "SELECT count(*) FROM runs"), std::vector<std::string>{"1"});
  EXPECT_EQ(column(store, "SELECT count(*) FROM metrics"), std::vector<std::string>{"4"})
      << "all or nothing";
  EXPECT_TRUE(store.has(shelf.plan.runs[0].key));
  EXPECT_FALSE(store.has("x"));
}

TEST(Store, MoreAnalysesServeFewer) {
  Shelf shelf;
  Store store(shelf.file);
  PlannedRun with = shelf.plan.runs[0];
  with.spec.analyses = {{"locality", {"locality=locality", {}}}, {"c", {"c=cache", {}}}};
  with.key = run_key(with.spec.configuration, with.spec.analyses, with.program);
  RunRecord record = shelf.record(0);
  record.run = &with;
  store.add(record);
  PlannedRun wanted = shelf.plan.runs[0];
  EXPECT_TRUE(store.find(wanted));
  wanted.spec.analyses = {{"c", {"c=cache", {}}}};
  EXPECT_TRUE(store.find(wanted));
  wanted.spec.analyses = {{"c", {"c=cache:size_kib=8", {}}}};
  EXPECT_FALSE(store.find(wanted)) << "other options";
  wanted.spec.analyses = {{"d", {"d=cache", {}}}};
  EXPECT_FALSE(store.find(wanted));
}

/// Each value of a run in the file, altered by hand.
TEST(Store, ARunThatIsNotWhatWasWrittenNeverAnswers) {
  Shelf shelf;
  const char* const changes[] = {
      "UPDATE runs SET analyses = '[]'",
      "UPDATE runs SET status = 'failed'",
      "UPDATE runs SET error = 'x'",
      "UPDATE runs SET seed = seed + 1",
      "UPDATE runs SET spec = '{}'",
      "UPDATE runs SET state_hash = '01ff'",
      "UPDATE runs SET wall_seconds = 1.5000000000000002",
      "UPDATE runs SET peak_rss = NULL",
      "UPDATE runs SET result = NULL",
      "UPDATE runs SET checksum = NULL",
      "UPDATE runs SET checksum = checksum + 1",
      "UPDATE metrics SET value = 1.2500000000000002 WHERE path = 'totals.ipc'",
      "UPDATE metrics SET path = 'totals.ipd' WHERE path = 'totals.ipc'",
      "DELETE FROM metrics WHERE path = 'totals.ipc'",
      "INSERT INTO metrics VALUES (1, 'x', 0)",
      "UPDATE kernels SET value = value + 1",
      "UPDATE policies SET name = 'lrr'"};
  for (const char* change : changes) {
    const Folder folder;
    Store store(folder / "r.sqlite");
    store.add(shelf.record(0));
    ASSERT_TRUE(store.find(shelf.plan.runs[0]));
    store.database().run(change);
    EXPECT_THAT(input_error_of([&] { store.find(shelf.plan.runs[0]); }),
                AllOf(HasSubstr("r.sqlite: run 1 is not what was written (checksum)"),
                      HasSubstr("put back a copy")))
        << change;
  }
}

TEST(Store, AnExportHoldsNoRunThatIsNotWhatWasWritten) {
  Shelf shelf;
  Store store(shelf.file);
  std::vector<std::string> keys;
  for (const PlannedRun& run : shelf.plan.runs) keys.push_back(run.key);
  store.set_cells(shelf.plan.experiments[0], "quick", keys);
  store.add(shelf.record(0));
  store.database().run("UPDATE metrics SET value = 2");
  EXPECT_THAT(input_error_of([&] { store.export_csv(shelf.folder.path(), {"box.fig1"}, "quick"); }),
              HasSubstr("checksum"));
  EXPECT_FALSE(std::filesystem::exists(shelf.folder / "tidy.csv"));
}

TEST(Store, BytesThatAreDamagedAreToldWithWhatToDo) {
  Shelf shelf;
  {
    Store store(shelf.file);
    store.add(shelf.record(0));
  }
  std::string bytes = raddle::test::read_file(shelf.file);
  bytes.replace(4096, 512, std::string(512, '\x7f'));  // the second page's head
  shelf.folder.write("r.sqlite", bytes);
  const auto use = [&] {
    Store store(shelf.file);
    for (const PlannedRun& run : shelf.plan.runs) store.find(run);
    column(store, "SELECT * FROM runs");
  };
  EXPECT_THAT(input_error_of(use), AllOf(HasSubstr("r.sqlite: is damaged"), HasSubstr("copy")));
}

TEST(Store, OneOfVersionOneGetsChecksums) {
  Shelf shelf;
  {
    Store store(shelf.file);
    store.add(shelf.record(0));
    store.add(shelf.record(1, false));
    store.database().run(
        "ALTER TABLE runs DROP COLUMN checksum; DROP TABLE kernels; PRAGMA user_version = 1");
  }
  Store store(shelf.file);
  EXPECT_EQ(store.database().pragma("user_version"), 2);
  EXPECT_TRUE(store.find(shelf.plan.runs[0])->done);
  EXPECT_FALSE(store.find(shelf.plan.runs[1])->done);
  store.add(shelf.record(2));
  store.database().run("UPDATE metrics SET value = 2 WHERE run = 1");
  EXPECT_THAT(input_error_of([&] { store.find(shelf.plan.runs[0]); }), HasSubstr("checksum"));
}

TEST(Store, AnotherProgramsRunsAreNotUsed) {
  Shelf shelf;
  Store store(shelf.file);
  store.add(shelf.record(0));
  store.database().run("UPDATE runs SET program = '0.0.1+0123456789abcdef'");
  EXPECT_FALSE(store.find(shelf.plan.runs[0]));
}

TEST(Store, ADoneRunIsPreferredToAFailedOne) {
  Shelf shelf;
  Store store(shelf.file);
  store.add(shelf.record(0, false));
  PlannedRun with = shelf.plan.runs[0];
  with.spec.analyses = {{"c", {"c=cache", {}}}};
  with.key = "other";
  RunRecord record = shelf.record(0);
  record.run = &with;
  store.add(record);
  EXPECT_EQ(store.find(shelf.plan.runs[0])->key, "other");
}

TEST(Store, CellsNameRunsAndAreReplaced) {
  Shelf shelf;
  Store store(shelf.file);
  std::vector<std::string> keys;
  for (const PlannedRun& run : shelf.plan.runs) keys.push_back(run.key);
  store.set_cells(shelf.plan.experiments[0], "quick", keys);
  store.set_cells(shelf.plan.experiments[0], "quick", keys);
  EXPECT_EQ(column(store, "SELECT count(*) FROM cells"), std::vector<std::string>{"14"});
  store.add(shelf.record(6));
  store.add(shelf.record(0, false));
  EXPECT_EQ(column(store, "SELECT variant || point || value FROM tidy WHERE metric = 'totals.ipc'"),
            std::vector<std::string>{R"(swept{"group":2.0}7.25)"});
  EXPECT_EQ(column(store, "SELECT workload || variant || reason FROM failures"),
            std::vector<std::string>{"vecaddlrrtimeout"});
}

TEST(Store, ExportsTables) {
  Shelf shelf;
  Store store(shelf.file);
  std::vector<std::string> keys;
  for (const PlannedRun& run : shelf.plan.runs) keys.push_back(run.key);
  store.set_cells(shelf.plan.experiments[0], "quick", keys);
  store.add(shelf.record(0));
  RunRecord failed = shelf.record(1, false);
  failed.error = "said \"no\", twice";
  store.add(failed);
  store.export_csv(shelf.folder.path(), {"box.fig1"}, "quick");
  auto lines = [&](const std::string& file) {
    return raddle::test::line_count(raddle::test::read_file(shelf.folder / file));
  };
  EXPECT_EQ(lines("runs.csv"), 3u);
  EXPECT_EQ(lines("cells.csv"), 15u);
  EXPECT_EQ(lines("tidy.csv"), 5u);
  EXPECT_EQ(lines("policy_statistics.csv"), 2u);
  EXPECT_THAT(raddle::test::read_file(shelf.folder / "failures.csv"),
              HasSubstr("timeout,\"said \"\"no\"\", twice\"\n"));
  EXPECT_THAT(raddle::test::read_file(shelf.folder / "tidy.csv"),
              HasSubstr("box.fig1,quick,vecadd,lrr,{},totals.ipc,1.25\n"));
  store.export_csv(shelf.folder.path(), {"box.fig1"}, "full");
  EXPECT_EQ(lines("runs.csv"), 1u) << "nothing ran at that scale";
}

TEST(Store, RefusesOtherFiles) {
  const Folder folder;
  const std::string text = folder.write("text", std::string(5000, 'x'));
  EXPECT_THAT(input_error_of([&] { Store store(text); }), HasSubstr("no results file of Raddle"));
  const std::string other = folder / "other";
  Database(other).run("CREATE TABLE t (x)");
  EXPECT_THAT(input_error_of([&] { Store store(other); }),
              HasSubstr("is a database, but no results file of Raddle"));
  EXPECT_THAT(input_error_of([&] { Store store(folder / "none/r"); }),
              HasSubstr("cannot be opened"));
}

TEST(Store, TellsWhatIsInThePlaceOfAFile) {
  const Folder folder;
  std::filesystem::create_directory(folder / "f.sqlite");
  std::filesystem::create_symlink("loop.sqlite", folder / "loop.sqlite");
  EXPECT_THAT(input_error_of([&] { Store store(folder / "f.sqlite"); }),
              HasSubstr("f.sqlite: is a folder; expected a database"));
  EXPECT_THAT(input_error_of([&] { Store store(folder / "loop.sqlite"); }),
              HasSubstr("Too many levels of symbolic links"));
}

TEST(Store, RefusesAnotherSchemaVersion) {
  const Folder folder;
  const std::string file = folder / "r.sqlite";
  { Store store(file); }
  Database(file).run("PRAGMA user_version = 3");
  EXPECT_THAT(input_error_of([&] { Store store(file); }),
              AllOf(HasSubstr("r.sqlite: expected results of schema version 2, found version 3"),
                    HasSubstr("--results")));
}

TEST(Store, AFullDiskIsSaidAndLosesNothing) {
  Shelf shelf;
  Store store(shelf.file);
  store.add(shelf.record(0));
  const auto pages = store.database().pragma("page_count");
  store.database().pragma(("max_page_count = " + std::to_string(pages)).c_str());
  RunRecord big = shelf.record(1);
  for (int i = 0; i < 5000; ++i) big.result["totals"]["m" + std::to_string(i)] = i * 1.5;
  try {
    store.add(big);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("is the disk full?"), HasSubstr("are kept")));
  }
  store.database().pragma("max_page_count = 1000000");
  EXPECT_TRUE(store.find(shelf.plan.runs[0]));
  EXPECT_FALSE(store.find(shelf.plan.runs[1]));
  store.add(big);
  EXPECT_EQ(store.metrics(store.find(shelf.plan.runs[1])->id).at("totals.m4999"), 4999 * 1.5);
}

/// Words only, so that line breaks and comments do not count.
std::string words(std::string sql) {
  for (std::size_t at; (at = sql.find("--")) != std::string::npos;)
    sql.erase(at, std::min(sql.find('\n', at), sql.size()) - at);
  std::string out;
  for (const char c : sql)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) out += c;
  return out;
}

TEST(Store, SchemaIsTheDocumentedOne) {
  const std::string readme = raddle::test::read_file(RADDLE_SOURCE_DIR "/experiments/README.md");
  const std::size_t from = readme.find("```sql\n") + 7;
  EXPECT_EQ(words(readme.substr(from, readme.find("```", from) - from)), words(schema_sql()));
}

TEST(Store, CompressionReadsBack) {
  const std::string text(100'000, 'a');
  EXPECT_LT(compressed(text).size(), 1000u);
  EXPECT_EQ(decompressed(compressed(text)), text);
  EXPECT_EQ(decompressed(compressed("")), "");
  EXPECT_THROW(decompressed("nonsense"), RunError);
  EXPECT_THROW(decompressed(compressed(text).substr(0, 20)), RunError);
}

TEST(Files, AreWrittenWholeOrNotAtAll) {
  const Folder folder;
  write_whole(folder / "a", "one");
  write_whole(folder / "a", "two");
  EXPECT_EQ(read_whole(folder / "a"), "two");
  EXPECT_EQ(folder.content(), std::vector<std::string>{"a"});
  EXPECT_FALSE(read_whole(folder / "b"));
  EXPECT_THROW(write_whole(folder / "none/a", "x"), RunError);
  EXPECT_THROW(write_whole("/dev/full/x", "x"), RunError);
}

TEST(Files, FoldersAreMadeOrRefused) {
  const Folder folder;
  make_folder(folder.path() / "a/b/c");
  EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "a/b/c"));
  make_folder(folder.path() / "a");
  folder.write("file", "x");
  EXPECT_THAT(input_error_of([&] { make_folder(folder.path() / "file"); }),
              HasSubstr("cannot be made as a folder"));
}

TEST(Lock, IsHeldByOneAndFreedAtTheEnd) {
  const Folder folder;
  {
    const FolderLock lock(folder.path());
    EXPECT_THAT(input_error_of([&] { FolderLock second(folder.path()); }),
                AllOf(HasSubstr("is in use by another runner"),
                      HasSubstr("pid " + std::to_string(getpid()) + " on " + host_name()),
                      HasSubstr("--results")));
  }
  const FolderLock again(folder.path());
}

TEST(Time, IsUtc) { EXPECT_THAT(utc_now(), testing::MatchesRegex("20..-..-..T..:..:..Z")); }

}  // namespace
}  // namespace raddle::lab::test::store_test
