// The runner, with workers that are functions of the test.
#include "raddle/lab/run/runner.h"

#include <signal.h>

#include <fstream>

#include "unit/lab/hands.h"

namespace raddle::lab::test::runner_test {
namespace {

struct Site {
  Site() {
    make_folder(results.work());
    make_folder(results.recordings());
  }
  Folder folder;
  ResultsFolder results{folder.path()};
  Paper paper = read(kWhole);
  Plan plan = make_plan({&paper.experiments[0]}, catalogue());
  RunnerOptions options = {false, {}, std::uint64_t{1} << 30, "quick", {}, {}};

  RunnerSummary run(Hands& hands) {
    Store store(results.database().string());
    return run_plan(plan, catalogue(), store, hands, results, options);
  }
  RunnerSummary run() {
    Hands hands(results.work());
    return run(hands);
  }
  std::vector<std::string> listing(const fs::path& of) const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(of)) out.push_back(entry.path().filename());
    std::ranges::sort(out);
    return out;
  }
};

TEST(Runner, RecordsOnceAndReplaysTheRest) {
  Site site;
  Hands hands(site.results.work());
  const RunnerSummary summary = site.run(hands);
  EXPECT_EQ(summary.done, 14u);
  EXPECT_EQ(summary.failed, 0u);
  EXPECT_EQ(summary.found, 0u);
  EXPECT_EQ(summary.recordings, 3u);
  EXPECT_EQ(std::ranges::count(hands.order, "recording reduction"), 1);
  EXPECT_LT(std::ranges::find(hands.order, "recording reduction"),
            std::ranges::find(hands.order, "cell reduction"));
  ASSERT_EQ(summary.states.size(), 14u);
  for (const RunState& state : summary.states) {
    EXPECT_EQ(state.kind, RunState::Kind::Done);
    EXPECT_GT(state.metrics.at("totals.ipc"), 0);
  }
  EXPECT_TRUE(site.listing(site.results.work()).empty()) << "swept clean";
  EXPECT_EQ(site.listing(site.results.recordings()).size(), 3u);
}

TEST(Runner, RunsNothingTwice) {
  Site site;
  site.run();
  Hands again(site.results.work());
  const RunnerSummary summary = site.run(again);
  EXPECT_TRUE(again.order.empty());
  EXPECT_EQ(summary.found, 14u);
  EXPECT_EQ(summary.done, 0u);
  EXPECT_EQ(summary.states[0].kind, RunState::Kind::Done);
}

TEST(Runner, ReplayedNumbersAreThoseOfADirectRun) {
  Site site;
  const RunnerSummary summary = site.run();
  const Json direct = run_cell({"cell", site.plan.runs[3].spec}, catalogue());
  EXPECT_EQ(summary.states[3].metrics.at("totals.cycles"), direct["totals"]["cycles"]);
}

struct FailureCase {
  const char* name;
  std::function<bool(const CellFile&, JobEnd&)> instead;
  std::string reason, said;
};
void PrintTo(const FailureCase& of, std::ostream* out) { *out << of.name; }
class Failure : public testing::TestWithParam<FailureCase> {};

TEST_P(Failure, IsRecordedAndTheRestGoesOn) {
  Site site;
  Hands hands(site.results.work());
  hands.instead = [&](const CellFile& cell, JobEnd& ended) {
    if (cell.kind != "cell" || cell.spec.programs.front().workload != "reduction" ||
        cell.spec.policies[0].text != "warp=gto")
      return false;
    std::ofstream(log_file(site.results.work(), ended.name)) << "last words\n";
    if (!GetParam().instead(cell, ended))
      write_whole(result_file(site.results.work(), ended.name),
                  R"({"error": {"kind": "out_of_memory", "message": "too large"}})");
    return true;
  };
  const RunnerSummary summary = site.run(hands);
  EXPECT_EQ(summary.done, 13u);
  EXPECT_EQ(summary.failed, 1u);
  Store store(site.results.database().string());
  const auto stored = store.find(site.plan.runs[3]);
  ASSERT_TRUE(stored);
  EXPECT_FALSE(stored->done);
  EXPECT_EQ(stored->reason, GetParam().reason);
  EXPECT_THAT(stored->error, HasSubstr(GetParam().said));
  EXPECT_EQ(summary.states[3].kind, RunState::Kind::Failed);

  Hands again(site.results.work());
  EXPECT_EQ(site.run(again).failed, 0u) << "not tried again";
  EXPECT_TRUE(again.order.empty());
  site.options.retry_failed = true;
  Hands retry(site.results.work());
  EXPECT_EQ(site.run(retry).done, 1u);
  EXPECT_EQ(retry.order, std::vector<std::string>{"cell reduction"});
}

INSTANTIATE_TEST_SUITE_P(
    All, Failure,
    testing::Values(FailureCase{"Crash",
                                [](const CellFile&, JobEnd& e) {
                                  e.how = JobEnd::How::Signal;
                                  e.status = SIGSEGV;
                                  return true;
                                },
                                "crash", "signal 11 (Segmentation fault): last words"},
                    FailureCase{"Hang",
                                [](const CellFile&, JobEnd& e) {
                                  e.how = JobEnd::How::TimedOut;
                                  e.seconds = 60;
                                  return true;
                                },
                                "timeout", "gave no result within 60 s"},
                    FailureCase{"KilledBySystem",
                                [](const CellFile&, JobEnd& e) {
                                  e.how = JobEnd::How::Signal;
                                  e.status = SIGKILL;
                                  return true;
                                },
                                "out_of_memory", "for want of memory"},
                    FailureCase{"OutOfMemory", [](const CellFile&, JobEnd&) { return false; },
                                "out_of_memory", "too large"},
                    FailureCase{"Status",
                                [](const CellFile&, JobEnd& e) {
                                  e.status = 1;
                                  return true;
                                },
                                "crash", "status 1 and without a result: last words"},
                    FailureCase{"Lost",
                                [](const CellFile&, JobEnd& e) {
                                  e.how = JobEnd::How::Lost;
                                  e.reason = "it disappeared";
                                  return true;
                                },
                                "lost", "it disappeared: last words"}),
    [](const auto& info) { return info.param.name; });

TEST(Runner, AWrongResultIsAFailureWithItsResult) {
  Site site;
  Hands hands(site.results.work());
  hands.instead = [&](const CellFile& cell, JobEnd& ended) {
    if (cell.kind != "cell" || cell.spec.programs.front().workload != "scan") return false;
    Json result = run_cell(cell, catalogue());
    result["workload"]["result"] = "wrong";
    result["workload"]["difference"] = "out[3] is 4, not 5";
    write_whole(result_file(site.results.work(), ended.name), result.dump());
    return true;
  };
  EXPECT_EQ(site.run(hands).failed, 2u);
  Store store(site.results.database().string());
  const auto stored = store.find(site.plan.runs[4]);
  EXPECT_EQ(stored->reason, "wrong_result");
  EXPECT_THAT(stored->error, HasSubstr("out[3] is 4, not 5"));
  EXPECT_FALSE(store.result(stored->id).is_null());
}

TEST(Runner, ResultsOfSomethingElseAreRefused) {
  for (const std::string text : {"not JSON", "{}", "[]", R"({"workload": 3})", "other"}) {
    Site site;
    Hands hands(site.results.work());
    hands.instead = [&](const CellFile& cell, JobEnd& ended) {
      if (cell.kind != "cell" || cell.spec.programs.front().workload != "scan") return false;
      CellFile other = cell;
      other.spec.configuration.clear();
      other.spec.seed = 2;

      other.spec.programs.front().recording.clear();
      write_whole(result_file(site.results.work(), ended.name),
                  text == "other" ? run_cell(other, catalogue()).dump() : text);
      return true;
    };
    EXPECT_EQ(site.run(hands).failed, 2u) << text;
    Store store(site.results.database().string());
    EXPECT_EQ(store.find(site.plan.runs[4])->reason, "error");
  }
}

TEST(Runner, WithoutARecordingItsRunsFail) {
  Site site;
  Hands hands(site.results.work());
  hands.instead = [&](const CellFile& cell, JobEnd& ended) {
    if (cell.kind != "recording" || cell.spec.programs.front().workload != "scan") return false;
    ended.how = JobEnd::How::Signal;
    ended.status = SIGABRT;
    return true;
  };
  const RunnerSummary summary = site.run(hands);
  EXPECT_EQ(summary.failed, 2u);
  EXPECT_EQ(summary.done, 12u);
  EXPECT_THAT(summary.states[4].error, HasSubstr("its recording: crashed"));
}

TEST(Runner, AFullDiskStopsTheSweepAndFailsNobody) {
  Site site;
  Hands hands(site.results.work());
  int cells = 0;
  hands.instead = [&](const CellFile& cell, JobEnd& ended) {
    if (cell.kind != "cell" || ++cells < 4) return false;
    ended.status = kResultNotWritten;
    return true;
  };
  try {
    site.run(hands);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is the disk full?"));
  }
  EXPECT_TRUE(hands.cancelled);
  const RunnerSummary summary = site.run();
  EXPECT_EQ(summary.found, 3u);
  EXPECT_EQ(summary.done, 11u);
  EXPECT_EQ(summary.failed, 0u);
}

TEST(Runner, TakesInWhatCameAfterTheLastRunnerHadGone) {
  Site site;
  const PlannedRun& run = site.plan.runs[2];
  write_whole(spec_file(site.results.work(), run.key), to_json(run.spec, "cell").dump());
  write_whole(result_file(site.results.work(), run.key),
              run_cell({"cell", run.spec}, catalogue()).dump());
  Hands hands(site.results.work());
  const RunnerSummary summary = site.run(hands);
  EXPECT_EQ(summary.found, 1u);
  EXPECT_EQ(summary.done, 13u);
  EXPECT_EQ(std::ranges::count(hands.order, "cell reduction"), 5);
}

TEST(Runner, TakesInResultsOfAnotherFilesSweep) {
  Site site;
  const Paper other = read(
      "id = 'o'\ntitle = 't'\nkind = 'cost'\ngpu = 'v100'\n[workloads.vecadd]\n"
      "quick = { size = 'tiny' }\n[variants.a]\n[[runs]]\nworkloads = "
      "['vecadd']\nvariants = ['a']\n" +
      kShape);
  const Plan plan = make_plan({&other.experiments[0]}, catalogue());
  const PlannedRun& run = plan.runs[0];
  write_whole(spec_file(site.results.work(), run.key), to_json(run.spec, "cell").dump());
  write_whole(result_file(site.results.work(), run.key),
              run_cell({"cell", run.spec}, catalogue()).dump());
  site.run();
  Store store(site.results.database().string());
  EXPECT_TRUE(store.find(run)) << "lost otherwise";
}

TEST(Runner, RubbishInTheWorkFolderIsThrownAway) {
  Site site;
  const fs::path work = site.results.work();
  write_whole(work / "x.result.json", "nonsense");
  write_whole(work / "y.spec.json", "nonsense");
  write_whole(work / "y.result.json", "{}");
  write_whole(spec_file(work, site.plan.runs[0].key),
              to_json(site.plan.runs[1].spec, "cell").dump());
  write_whole(result_file(work, site.plan.runs[0].key),
              run_cell({"cell", site.plan.runs[1].spec}, catalogue()).dump());
  const RunnerSummary summary = site.run();
  EXPECT_EQ(summary.found, 0u);
  EXPECT_EQ(summary.done, 14u);
  EXPECT_TRUE(site.listing(work).empty());
}

TEST(Runner, WaitsForJobsThatAreUnderWayElsewhere) {
  Site site;
  Hands hands(site.results.work());
  const PlannedRun& run = site.plan.runs[0];
  hands.elsewhere = {run.key, "recording-" + site.plan.runs[4].recordings.at(0)};
  write_whole(spec_file(site.results.work(), run.key), to_json(run.spec, "cell").dump());
  CellSpec recording = site.plan.runs[4].spec;
  recording.programs.front().recording =
      site.results.recordings() / (site.plan.runs[4].recordings.at(0) + ".rdl");
  write_whole(spec_file(site.results.work(), *hands.elsewhere.rbegin()),
              to_json(recording, "recording").dump());
  const RunnerSummary summary = site.run(hands);
  EXPECT_EQ(summary.done, 14u);
  EXPECT_EQ(std::ranges::count(hands.submitted, run.key, &Job::name), 0);
  EXPECT_EQ(std::ranges::count(hands.order, "recording scan"), 1);
}

TEST(Runner, StopsCleanly) {
  Site site;
  Hands hands(site.results.work());
  std::size_t ended = 0;
  site.options.progress = [&](const RunnerProgress& p) { ended += p.ended.empty() ? 0 : 1; };
  site.options.stop = [&] { return ended >= 5; };
  const RunnerSummary summary = site.run(hands);
  EXPECT_TRUE(summary.interrupted);
  EXPECT_TRUE(hands.cancelled);
  EXPECT_GT(summary.missing, 0u);
  EXPECT_EQ(summary.done + summary.missing, 14u);
  site.options.stop = {};
  EXPECT_EQ(site.run().done, summary.missing);
}

TEST(Runner, ProgressCountsUpAndKnowsTheTimeLeft) {
  Site site;
  Hands hands(site.results.work());
  std::vector<RunnerProgress> notified;
  site.options.progress = [&](const RunnerProgress& p) { notified.push_back(p); };
  site.run(hands);
  ASSERT_FALSE(notified.empty());
  std::size_t before = 0;
  for (const RunnerProgress& p : notified) {
    EXPECT_EQ(p.runs, 14u);
    EXPECT_GE(p.done, before);
    before = p.done;
    EXPECT_TRUE(p.done == 0 || p.seconds_left.has_value());
  }
  EXPECT_EQ(notified.back().done, 14u);
  EXPECT_EQ(*notified.back().seconds_left, 0);
}

TEST(Runner, TimeoutAndMemoryOfAJob) {
  Site site;
  Hands hands(site.results.work());
  site.run(hands);
  EXPECT_EQ(hands.submitted[0].timeout_seconds, 3600);
  EXPECT_EQ(hands.submitted[0].memory_bytes, (std::uint64_t{1} << 30) * 9 / 8) << "not known yet";
  Store(site.results.database().string())
      .database()
      .run("DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE workload = 'vecadd' LIMIT 1)");
  Hands again(site.results.work());
  site.options.timeout_seconds = 7;
  site.run(again);
  ASSERT_EQ(again.submitted.size(), 1u);
  EXPECT_EQ(again.submitted[0].timeout_seconds, 7);
  EXPECT_LT(again.submitted[0].memory_bytes, std::uint64_t{1} << 30) << "as seen";
}

TEST(Runner, RecordingsNotNeededGoWhenThereAreTooMany) {
  Site site;
  const fs::path old = site.results.recordings() / "old.rdl",
                 young = site.results.recordings() / "young.rdl";
  std::ofstream(old) << std::string(1000, 'x');
  std::ofstream(young) << std::string(1000, 'x');
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::last_write_time(young, fs::file_time_type::clock::now() - std::chrono::hours(1));
  std::ofstream(site.results.recordings() / "half.rdl.tmp123") << "x";
  site.options.recordings_limit = 1500;
  site.run();
  EXPECT_FALSE(fs::exists(old)) << "longest unused";
  EXPECT_TRUE(fs::exists(young));
  EXPECT_FALSE(fs::exists(site.results.recordings() / "half.rdl.tmp123"));
  EXPECT_EQ(site.listing(site.results.recordings()).size(), 4u) << "those just made stay";
}

TEST(Runner, CellsAreNamedFromTheStart) {
  Site site;
  Hands hands(site.results.work());
  site.options.stop = [] { return true; };
  site.run(hands);
  Store store(site.results.database().string());
  Statement count(store.database(), "SELECT count(*) FROM cells");
  count.step();
  EXPECT_EQ(count.whole(0), 14);
}

}  // namespace
}  // namespace raddle::lab::test::runner_test
