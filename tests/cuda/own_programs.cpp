// CUDA programs of the user's own in the laboratory: recorded once, timed under everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cuda/exec.h"

namespace raddle::test::own_programs_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

Outcome raddle_of(const std::vector<std::string>& words) {
  return run_process(RADDLE_PROGRAM, words);
}

const std::vector<std::string> kSmall = {"--gpu", "gtx480", "--set", "sm.count=2"};

/// The test program behind "--" of a command.
Outcome with_app(std::vector<std::string> words, const std::string& scenario) {
  words.insert(words.end(), kSmall.begin(), kSmall.end());
  words.insert(words.end(), {"--", CUDA_APP, scenario});
  return raddle_of(words);
}

TEST(OwnPrograms, AreIdentified) {
  const Folder folder;
  const auto hash = [&](const std::string& name) {
    exec({"--functional", "--quiet", "--json", folder / "r.json"}, {CUDA_APP, name});
    return json_of(folder / "r.json")["workload"]["input_hash"].get<std::string>();
  };
  const std::string add = hash("add");
  EXPECT_NE(add, "0000000000000000");
  EXPECT_EQ(hash("add"), add);
  EXPECT_NE(hash("symbols"), add) << "other arguments";
}

TEST(OwnPrograms, AReplayHasTheHashOfTheProgram) {
  const Folder folder;
  std::vector<std::string> record = {"record",         "--quiet", "-o",
                                     folder / "a.rdl", "--gpu",   "gtx480"};
  record.insert(record.end(), {"--", CUDA_APP, "add"});
  ASSERT_EQ(raddle_of(record).status, 0);
  ASSERT_EQ(raddle_of({"replay", folder / "a.rdl", "--gpu", "gtx480", "--quiet", "--json",
                       folder / "replay.json"})
                .status,
            0);
  ASSERT_EQ(exec({"--gpu", "gtx480", "--quiet", "--json", folder / "exec.json"}, {CUDA_APP, "add"})
                .status,
            0);
  const Json replayed = json_of(folder / "replay.json"), executed = json_of(folder / "exec.json");
  EXPECT_EQ(replayed["workload"]["input_hash"], executed["workload"]["input_hash"]);
  EXPECT_EQ(replayed["state_hash"], executed["state_hash"]);
}

/// What the runtime library tells them of the device makes an execution of its own; what only
/// timing uses does not.
TEST(OwnPrograms, AreRecordedForEachDeviceThatTheySee) {
  const Folder folder;
  const auto recordings = [&](const std::string& setting) {
    const Outcome run = raddle_of({"compare", "--gpu", "gtx480", "--policies", "lrr,gto", "--set",
                                   setting, "--json", folder / "c.json", "--", CUDA_APP, "add"});
    EXPECT_EQ(run.status, 0) << run.err;
    std::size_t found = 0;
    for (std::size_t at = 0; (at = run.err.find("recording of ", at)) != std::string::npos; ++at)
      ++found;
    return found;
  };
  EXPECT_EQ(recordings("sm.lsu_queue=4,8"), 1u);
  EXPECT_EQ(recordings("run.seed=1,2"), 1u) << "it makes its own inputs";
  EXPECT_EQ(recordings("sm.count=2,4"), 2u);
  for (const Json& run : json_of(folder / "c.json")["runs"]) {
    const std::string sms = run["result"]["config"]["sm"]["count"].dump();
    const std::string policy = run["result"]["policies"]["warp"]["name"];
    ASSERT_EQ(exec({"--gpu", "gtx480", "--set", "sm.count=" + sms, "--policy", "warp=" + policy,
                    "--quiet", "--json", folder / "exec.json"},
                   {CUDA_APP, "add"})
                  .status,
              0);
    EXPECT_EQ(run["result"]["state_hash"], json_of(folder / "exec.json")["state_hash"]);
  }
}

TEST(OwnPrograms, AreCompared) {
  const Folder folder;
  const Outcome run = with_app({"compare", "--policies", "lrr,gto,gto+swl:limit=2", "--report",
                                folder / "r.html", "--json", folder / "c.json"},
                               "add");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("gto+swl:limit=2"));
  EXPECT_THAT(run.out, Not(HasSubstr("PASS"))) << "its own words go to standard error";
  EXPECT_THAT(run.err, HasSubstr("PASS"));
  EXPECT_THAT(run.err,
              testing::ContainsRegex("\n\\[0/3\\] recording of [^\n]*cuda_app add [0-9.]+ s\n"
                                     "\\[1/3\\] [^\n]*cuda_app add under lrr [0-9.]+ s\n"));
  const Json compared = json_of(folder / "c.json");
  ASSERT_EQ(compared["runs"].size(), 3u);
  ASSERT_EQ(exec({"--gpu", "gtx480", "--set", "sm.count=2", "--policy", "warp=gto", "--quiet",
                  "--json", folder / "exec.json"},
                 {CUDA_APP, "add"})
                .status,
            0);
  EXPECT_EQ(compared["runs"][1]["result"]["totals"]["cycles"],
            json_of(folder / "exec.json")["totals"]["cycles"]);
}

TEST(OwnPrograms, AreComparedWithAProfileOfThem) {
  const Folder folder;
  folder.write(
      "p.csv",
      "PASS\n\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"sm__cycles_elapsed.max\"\n"
      "\"\",\"\",\"\",\"\",\"cycle\"\n"
      "\"0\",\"add(float *, const float *, const float *, unsigned int)\",\"(256, 1, 1)\","
      "\"(4, 1, 1)\",\"5,000\"\n");
  const Outcome run =
      with_app({"validate", "--ncu", folder / "p.csv", "--json", folder / "v.json"}, "add");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("5,000"), HasSubstr("limited by"), Not(HasSubstr("PASS"))));
  const Json compared = json_of(folder / "v.json");
  ASSERT_EQ(compared["launches"].size(), 1u);
  EXPECT_EQ(compared["unpaired"].size(), 0u);
  ASSERT_EQ(exec({"--gpu", "gtx480", "--set", "sm.count=2", "--cold-l2", "--quiet", "--json",
                  folder / "exec.json"},
                 {CUDA_APP, "add"})
                .status,
            0);
  const Json executed = json_of(folder / "exec.json")["kernels"][0];
  const double cycles = executed["end_cycle"].get<double>() - executed["begin_cycle"].get<double>();
  EXPECT_EQ(compared["launches"][0]["cycles"]["simulated"], cycles);
}

TEST(OwnPrograms, AreComparedWithWhatTheirStrayAccessesAreToDo) {
  const auto compare = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"compare", "--policies", "lrr,gto"});
    return with_app(more, "stray");
  };
  EXPECT_THAT(compare({}).err, HasSubstr("6 accesses outside of allocations in all"));
  const Outcome ignored = compare({"--out-of-bounds", "ignore"});
  EXPECT_EQ(ignored.status, 0) << ignored.err;
  EXPECT_THAT(ignored.err, Not(HasSubstr("outside of allocations")));
  const Outcome fault = compare({"--out-of-bounds", "fault"});
  EXPECT_EQ(fault.status, 1);
  EXPECT_THAT(fault.err, HasSubstr("out-of-bounds 4-byte load"));
}

TEST(OwnPrograms, AreRecordedOnceByAComparisonThatIsKept) {
  const Folder folder;
  const auto compare = [&](const std::string& policies) {
    return with_app({"compare", "--policies", policies, "--results", folder / "kept"}, "add");
  };
  const Outcome first = compare("lrr,gto");
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("gto"));
  EXPECT_THAT(compare("lrr,gto").err, testing::StartsWith("all 2 runs were in "));
  const Outcome more = compare("lrr,gto,two_level:group_size=4");
  EXPECT_THAT(more.err, HasSubstr("[1/1]")) << "neither recorded nor timed again";
}

TEST(OwnPrograms, WithArgumentsOfControlCharactersAreKept) {
  const Folder folder;
  const Outcome o =
      run_process(RADDLE_PROGRAM, {"compare", "--gpu", "gtx480", "--set", "sm.count=2",
                                   "--policies", "lrr,gto", "--results", folder / "kept", "--quiet",
                                   "--", CUDA_APP, "add", "tab\t\x01\x7f"});
  EXPECT_EQ(o.status, 0) << o.err;
}

// A program that is kept by its arguments and inputs cannot be by what a pipe brings.
TEST(OwnPrograms, GetNoStandardInputInAComparisonThatIsKept) {
  const Folder folder;
  const auto compare = [&](const std::string& before, const std::string& results) {
    const std::string command = before +
                                " \"$0\" compare --gpu gtx480 --set sm.count=2 --policies "
                                "lrr,gto " +
                                results + " -- \"$1\" add";
    return run_process("/bin/sh", {"-c", command, RADDLE_PROGRAM, CUDA_APP});
  };
  const std::string kept = "--results " + folder.path().string() + "/kept";
  const auto notice = HasSubstr("gets no standard input");
  EXPECT_THAT(compare("echo 5 |", kept).err, notice);
  EXPECT_THAT(compare("", kept).err, Not(notice));
  EXPECT_THAT(compare("echo 5 |", "").err, Not(notice));
}

// A file that no argument names is looked at when it is named.
TEST(OwnPrograms, AreRecordedAgainWhenAnInputChanges) {
  const Folder folder;
  const auto compare = [&] {
    return with_app({"compare", "--policies", "lrr,gto", "--results", folder / "kept", "--input",
                     folder / "in.txt"},
                    "add");
  };
  folder.write("in.txt", "1");
  EXPECT_THAT(compare().err, HasSubstr("recording of"));
  EXPECT_THAT(compare().err, HasSubstr("all 2 runs were in"));
  folder.write("in.txt", "5");
  EXPECT_THAT(compare().err, HasSubstr("recording of"));
}

/// Where this process has a library from.
std::string loaded(const std::string& name) {
  std::istringstream maps(read_file("/proc/self/maps"));
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with("/" + name)) return line.substr(line.find('/'));
  return "";
}

// A copy of a system library is one of the user's, and goes before that of the system. Bytes behind
// its end mean nothing to the loader.
TEST(OwnPrograms, AreRecordedAgainWhenALibraryChanges) {
  const std::string name = "libgcc_s.so.1", from = loaded(name);
  if (from.empty()) GTEST_SKIP() << "no " << name << " is loaded";
  const Folder folder;
  const std::string library = folder / name;
  std::filesystem::copy_file(from, library);
  const auto compare = [&] {
    std::vector<std::string> words = {"LD_LIBRARY_PATH=" + folder.path().string(),
                                      RADDLE_PROGRAM,
                                      "compare",
                                      "--policies",
                                      "lrr,gto",
                                      "--results",
                                      folder / "kept"};
    words.insert(words.end(), kSmall.begin(), kSmall.end());
    words.insert(words.end(), {"--", CUDA_APP, "add"});
    return run_process("/usr/bin/env", words).err;
  };
  EXPECT_THAT(compare(), HasSubstr("recording of"));
  EXPECT_THAT(compare(), HasSubstr("all 2 runs were in"));
  std::ofstream(library, std::ios::app) << "rebuilt";
  EXPECT_THAT(compare(), HasSubstr("recording of"));
}

TEST(OwnPrograms, AreRecordedIntoFilesWhoseNamesAreText) {
  const Folder folder;
  const Outcome run = raddle_of({"record", "-o", folder / "q\xff.rdl", "--", CUDA_APP, "add"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("q\\xff.rdl"), HasSubstr("UTF-8")));
  EXPECT_TRUE(folder.content().empty());
}

TEST(OwnPrograms, AreTimedByTheirFirstLaunches) {
  const Folder folder;
  const auto launches = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--gpu", "gtx480", "--quiet", "--json", folder / "r.json"});
    EXPECT_EQ(exec(std::move(options), {CUDA_APP, "streams"}).status, 0);
    const Json result = json_of(folder / "r.json");
    return std::pair(result["kernels"].size(), result.value("launches_left_out", 0u));
  };
  const auto [all, none] = launches({});
  EXPECT_GT(all, 1u);
  EXPECT_EQ(none, 0u);
  EXPECT_EQ(launches({"--first-launches", "1"}), std::pair(std::size_t{1}, unsigned(all) - 1));
}

TEST(OwnPrograms, StandBesideAWorkload) {
  const Folder folder;
  const Outcome run = with_app({"compare", "vecadd", "size=tiny", "--policies", "lrr,gto",
                                "--quiet", "--json", folder / "c.json"},
                               "add");
  EXPECT_EQ(run.status, 0) << run.err;
  const Json compared = json_of(folder / "c.json");
  ASSERT_EQ(compared["runs"].size(), 4u);
  EXPECT_EQ(compared["runs"][0]["workload"], "vecadd");
  EXPECT_THAT(compared["runs"][3]["workload"].get<std::string>(), HasSubstr("cuda_app add"));
}

TEST(OwnPrograms, AreRefusedWhereARecordingCannotServe) {
  const Outcome run = with_app({"analyze", "dependencies"}, "add");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("seen when something is executed"), Not(HasSubstr("PASS"))))
      << "it has not been run";
}

TEST(OwnPrograms, AreAnalyzed) {
  const Outcome run = with_app({"analyze", "locality"}, "add");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("hits, intra-thread"));
}

TEST(OwnPrograms, ThatEndBadlyFailTheComparison) {
  const Outcome run = with_app({"compare", "--policies", "lrr,gto"}, "no such scenario");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("ended with status"));
  const Outcome many = with_app({"compare", "--policies", "lrr,gto"}, "many");
  EXPECT_EQ(many.status, 0) << "its launches are told as sums: " << many.err;
  const Outcome none = with_app({"compare", "--policies", "lrr,gto"}, "idle");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("no kernel was launched"));
  const Outcome other = raddle_of({"compare", "--policies", "lrr", "--", "/bin/true"});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("never used the CUDA runtime"));
}

TEST(OwnPrograms, ThatFaultSayWhereAlsoWhereTheirRunsAreKept) {
  const Folder folder;
  for (const bool quiet : {false, true}) {
    std::vector<std::string> words = {"compare", "--policies", "lrr,gto", "--results",
                                      folder / "kept"};
    if (quiet) words.emplace_back("--quiet");
    const Outcome run = with_app(words, "fault");
    EXPECT_EQ(run.status, 1);
    EXPECT_THAT(run.err, AllOf(HasSubstr("failed"), HasSubstr("out-of-bounds"))) << quiet;
  }
}

class Swept : public testing::Test {
 protected:
  Outcome sweep(const std::string& program) const {
    folder.write(
        "own.toml",
        "gpu = 'gtx480'\nset = { 'sm.count' = 2 }\n[workloads.mine]\nprogram = " + program +
            "\n[variants.lrr]\npolicies = ['lrr']\n[variants.gto]\npolicies = "
            "['gto']\n[[runs]]\nworkloads = ['mine']\nvariants = ['lrr', 'gto']\n");
    return raddle_of({"sweep", folder / "own.toml", "--results", folder / "results", "--json",
                      folder / "d.json"});
  }
  std::size_t recordings() const {
    std::size_t out = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder.path() / "results/recordings"))
      out += entry.is_regular_file();
    return out;
  }
  const Folder folder;
};

TEST_F(Swept, AreRecordedOnceAndKept) {
  std::filesystem::copy_file(CUDA_APP, folder.path() / "mine");
  const Outcome run = sweep("['./mine', 'add']");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("recording of mine"));
  EXPECT_EQ(recordings(), 1u);
  const Json e = json_of(folder / "d.json")["experiments"][0];
  EXPECT_EQ(e["runs"]["done"], 2);
  EXPECT_EQ(e["settings"]["workloads"]["mine"]["program"][1], "add");
  EXPECT_THAT(sweep("['./mine', 'add']").err, HasSubstr("all 2 runs were in"))
      << "nothing runs again";
  EXPECT_THAT(sweep("['./mine', 'symbols']").err, HasSubstr("recording of mine"));
}

TEST_F(Swept, ThatEndBadlyAreFailedRuns) {
  const Outcome run = sweep("['" CUDA_APP "', 'no such scenario']");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("ended with status"));
}

TEST(OwnPrograms, StandInThePlaceOfAPapers) {
  const Folder folder;
  const Outcome run = raddle_of({"reproduce", "demo.warps", "--results", folder / "r", "--with",
                                 "bfs=" CUDA_APP " add", "--json", folder / "d.json"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("no_verdict"));
  const Json e = json_of(folder / "d.json")["experiments"][0];
  EXPECT_EQ(e["replaced"]["bfs"]["program"][1], "add");
}

}  // namespace
}  // namespace raddle::test::own_programs_test
