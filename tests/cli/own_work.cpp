// One's own work in the laboratory: recordings and PTX files in compare, analyze, sweep and
// reproduce. CUDA programs: tests/cuda/own_programs.cpp.
#include "cli/lab_site.h"
#include "raddle_paths.h"

namespace raddle::test::own_work_test {
namespace {

constexpr const char* kSmall = " --gpu gtx480 --set sm.count=2 ";

/// A folder with recordings of vecadd.
struct Recorded {
  Recorded() {
    EXPECT_EQ(raddle("record vecadd size=tiny --gpu gtx480 --quiet -o", {file("v.rdl")}).status, 0);
  }
  std::string file(const std::string& name) const { return folder / name; }
  Folder folder;
};

std::vector<std::uint64_t> cycles_of(const Json& compared) {
  std::vector<std::uint64_t> out;
  for (const Json& run : compared.at("runs"))
    out.push_back(run.at("result").at("totals").at("cycles"));
  return out;
}

std::vector<std::string> labels_of(const Json& compared) {
  std::vector<std::string> out;
  for (const Json& run : compared.at("runs")) out.push_back(run.at("policies"));
  return out;
}

TEST(CompareOwn, ARecordingGivesTheNumbersOfItsWorkload) {
  const Recorded site;
  const std::string options = std::string(kSmall) + "--policies lrr,gto --quiet --json -";
  const Json of_file = json_of(raddle("compare" + options, {site.file("v.rdl")}));
  const Json of_name = json_of(raddle("compare vecadd size=tiny" + options));
  EXPECT_EQ(cycles_of(of_file), cycles_of(of_name));
  EXPECT_EQ(of_file["runs"][1]["result"]["state_hash"], of_name["runs"][1]["result"]["state_hash"]);
}

TEST(CompareOwn, TableReportAndOtherWorkBesideIt) {
  const Recorded site;
  const std::string page = site.file("r.html");
  const Outcome run = raddle(std::string("compare reduction size=tiny --policies lrr,gto") + kSmall,
                             {site.file("v.rdl"), "--report", page});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("reduction"), HasSubstr("v.rdl"), HasSubstr("speed-up")));
  EXPECT_THAT(read_file(page), HasSubstr("vecadd"));
}

TEST(CompareOwn, KeptResultsRunOnlyWhatIsNew) {
  const Recorded site;
  const std::string kept = site.file("kept results");
  const auto compare = [&](const std::string& policies, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {site.file("v.rdl"), "--results", kept});
    return raddle("compare reduction size=tiny --policies " + policies + kSmall, more);
  };
  const Outcome first = compare("lrr,gto");
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("[4/4]"));
  EXPECT_THAT(first.out,
              AllOf(HasSubstr("reduction size=tiny"), HasSubstr("v.rdl"), HasSubstr("gto")));
  EXPECT_THAT(compare("lrr,gto").err, testing::StartsWith("all 4 runs were in "));
  EXPECT_EQ(compare("lrr,gto").out, first.out);
  EXPECT_THAT(compare("lrr,gto,two_level:group_size=4").err, HasSubstr("[2/2]"));
  const std::string page = site.file("r.html");
  EXPECT_EQ(compare("lrr,gto", {"--report", page, "--quiet"}).out, "");
  EXPECT_THAT(read_file(page), HasSubstr("<!doctype html>"));
  EXPECT_THAT(compare("lrr,gto", {"--set", "sm.lsu_queue=4,6", "--jobs", "1"}).err,
              HasSubstr("[8/8]"));
}

/// The numbers of runs that are kept are those of one process.
TEST(CompareOwn, KeptResultsHaveOnePolicyOfALevel) {
  const Folder folder;
  const auto compare = [&](const std::vector<std::string>& kept) {
    return raddle(
        "compare reduction size=tiny --policy gto --policy throttle=swl --policies lrr,gto" +
            std::string(kSmall),
        kept);
  };
  const Outcome kept = compare({"--results", folder / "kept"});
  EXPECT_EQ(kept.status, 0) << "what is compared goes before what is common: " << kept.err;
  EXPECT_EQ(compare({}).status, 0);
}

TEST(CompareOwn, KeptResultsAreThoseOfOneProcess) {
  const Folder folder;
  const std::string options =
      "compare vecadd size=tiny n=5000 --policies gto,lrr --seed 3 "
      "--cold-l2 --set l2.write_policy=write_through --quiet --json -" +
      std::string(kSmall);
  const Json one = json_of(raddle(options)),
             kept = json_of(raddle(options + "--results", {folder / "k"}));
  std::vector<double> expected, found;
  for (const Json& run : one["runs"]) expected.push_back(run["result"]["totals"]["ipc"]);
  for (const Json& figure : kept["experiments"][0]["figures"])
    if (figure["title"].get<std::string>().find("IPC") != std::string::npos)
      for (const Json& series : figure["series"])
        for (const Json& value : series["values"]) found.push_back(value);
  EXPECT_EQ(found, expected) << kept["experiments"][0]["figures"].dump(1);
}

TEST(CompareOwn, KeptResultsAreOfRunsAsSweepsMakeThem) {
  const Folder folder;
  const std::string kept = folder / "kept";
  for (const char* option : {"--no-skip", "--threads 2", "--first-launches 2", "--launches 3",
                             "--max-stream 1", "--timeline t.json", "--out-of-bounds fault"}) {
    const Outcome run =
        raddle(std::string("compare vecadd --policies lrr,gto ") + option, {"--results", kept});
    EXPECT_EQ(run.status, 2) << option;
    EXPECT_THAT(run.err, HasSubstr("--results"));
  }
  EXPECT_FALSE(std::filesystem::exists(kept));
  EXPECT_THAT(raddle("compare vecadd --policies lrr,gto --jobs 2").err, HasSubstr("--jobs"));
  for (const std::string rule : {" fault", " page", "=page", " ignore"})
    expect_refused(raddle("compare vecadd --policies lrr,gto --out-of-bounds" + rule),
                   {"--out-of-bounds", "a program behind --"});
}

TEST(CompareOwn, ParametersForNobodyAreRefused) {
  const Folder folder;
  const std::string file = folder / "vecadd.rdl";
  ASSERT_EQ(raddle("record vecadd size=tiny --gpu gtx480 --quiet -o " + file).status, 0);
  expect_refused(raddle("compare size=small " + file + " --policies lrr,gto --gpu gtx480"),
                 {"size=small", "a recording has its parameters already"});
  const Outcome both =
      raddle("compare size=tiny " + file + " bfs --policies lrr,gto --gpu gtx480 --quiet");
  EXPECT_EQ(both.status, 0) << both.err;
}

TEST(CompareOwn, TakesTracesOfAccelSim) {
  const Outcome run = raddle("compare --policies lrr,gto --gpu v100",
                             {RADDLE_SOURCE_DIR "/tests/data/accelsim/kernelslist.g"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("gto"));
}

TEST(CompareOwn, TwoRecordingsOfOneProgramGoByTheirFiles) {
  const Recorded site;
  std::filesystem::copy_file(site.file("v.rdl"), site.file("w.rdl"));
  const Json both = json_of(raddle(std::string("compare --policies lrr --quiet --json -") + kSmall,
                                   {site.file("v.rdl"), site.file("w.rdl")}));
  EXPECT_EQ(both["runs"][0]["result"]["workload"]["name"], site.file("v.rdl"));
  EXPECT_EQ(both["runs"][1]["result"]["workload"]["name"], site.file("w.rdl"));
  expect_refused(raddle("compare --policies lrr", {site.file("v.rdl"), site.file("v.rdl")}),
                 {"v.rdl", "is there twice"});
  expect_refused(raddle("compare bfs bfs --policies lrr"), {"'bfs' is there twice"});
}

TEST(CompareOwn, ListsAndRangesAreWaysToRun) {
  const Json caches =
      json_of(raddle("compare vecadd size=tiny --gpu gtx480 --set l2.size_kib=64,128 --set "
                     "sm.count=2 --policies lrr,gto --quiet --json -"));
  EXPECT_THAT(labels_of(caches), testing::ElementsAre("lrr l2.size_kib=64", "lrr l2.size_kib=128",
                                                      "gto l2.size_kib=64", "gto l2.size_kib=128"));
  EXPECT_EQ(caches["runs"][3]["result"]["config"]["l2"]["size_kib"], 128);
  const Json limits =
      json_of(raddle("compare vecadd size=tiny --gpu gtx480 --set sm.count=2 --policies "
                     "gto,gto+swl --sweep policy.throttle.limit=1..5:2,8 --quiet --json -"));
  EXPECT_THAT(labels_of(limits), testing::ElementsAre("gto", "gto+swl limit=1", "gto+swl limit=3",
                                                      "gto+swl limit=5", "gto+swl limit=8"));
  EXPECT_EQ(limits["runs"][2]["result"]["policies"]["throttle"]["parameters"]["limit"], 3);
  const Json alone = json_of(
      raddle("compare vecadd size=tiny --gpu gtx480 --sweep sm.count=1,2 --quiet --json -"));
  EXPECT_THAT(labels_of(alone), testing::ElementsAre("sm.count=1", "sm.count=2"));
}

TEST(CompareOwn, BadListsAndRanges) {
  const auto swept = [](const std::string& more) { return raddle("compare vecadd " + more); };
  expect_refused(swept("--sweep sm.count=5..3"), {"--sweep sm.count=5..3", "'5..3'", "empty"});
  expect_refused(swept("--sweep sm.count=1..x"), {"range of whole numbers", "'1..x'"});
  expect_refused(swept("--sweep sm.count=1..9:0"), {"'1..9:0'"});
  expect_refused(swept("--sweep sm.count=1,,2"), {"between them, found nothing"});
  expect_refused(swept("--sweep sm.count=1,2,1"), {"the value 1 is there twice"});
  expect_refused(swept("--sweep sm.count=1..100000"), {"at most 256 values"});
  expect_refused(swept("--sweep sm.count"), {"expected PATH=A,B"});
  expect_refused(swept("--sweep sm.cuont=1,2"), {"--sweep sm.cuont=1,2", "did you mean"});
  expect_refused(swept("--policies lrr,gto --sweep policy.throttle.limit=1..4"),
                 {"no policy that is compared has such a parameter"});
  expect_refused(swept("--set l2.size_kib=96,x"), {"l2.size_kib", "found \"x\""});
  expect_refused(swept(""), {"--policies", "--sweep"});
}

TEST(CompareOwn, BadRecordings) {
  const Recorded site;
  const auto compared = [&](const std::string& name) {
    return raddle("compare --policies lrr", {site.file(name)});
  };
  expect_refused(compared("gone.rdl"), {"cannot be read", "gone.rdl"});
  std::string bytes = read_file(site.file("v.rdl"));
  bytes[8] = 6;
  site.folder.write("old.rdl", bytes);
  expect_refused(compared("old.rdl"),
                 {"old.rdl", "version 6", "this program reads versions 7 to 8"});
  expect_refused(raddle("compare --policies lrr", {site.file("v.rdl"), "size=tiny"}),
                 {"size=tiny", "a recording has its parameters already"});
}

TEST(CompareOwn, RunLiveIsRefusedWhereNothingIsExecutedInTime) {
  const Folder folder;
  const std::string file = folder / "v.rdl";
  ASSERT_EQ(raddle("record", {"vecadd", "size=tiny", "--quiet", "-o", file}).status, 0);
  for (const char* command : {"replay", "compare --policies lrr,gto", "analyze bounds"})
    expect_refused(raddle(std::string(command) + " " + file + " --set run.live=true --quiet"),
                   {"v.rdl", "run.live: a recording is timed as it was recorded"});
  expect_refused(raddle("run vecadd size=tiny --functional --set run.live=true --quiet"),
                 {"--functional times nothing"});
}

// Each part alone and all together, on whatever machine, for whatever is compared.
TEST(AnalyzeBounds, RunsEachPartWithoutLimits) {
  const Json compared = json_of(
      raddle("analyze bounds spmv size=tiny --policies lrr,gto --gpu v100 --quiet --json -"));
  std::vector<std::string> labels;
  for (const Json& run : compared.at("runs")) labels.push_back(run.at("policies"));
  EXPECT_THAT(labels,
              testing::ElementsAre("lrr", "lrr ideal l1d", "lrr ideal mshr", "lrr ideal noc",
                                   "lrr ideal l2", "lrr ideal dram", "lrr all ideal", "gto",
                                   "gto ideal l1d", "gto ideal mshr", "gto ideal noc",
                                   "gto ideal l2", "gto ideal dram", "gto all ideal"));
  const Json alone = json_of(raddle(
      "run spmv size=tiny --policy warp=gto --set ideal.l2=true --gpu v100 --quiet --json -"));
  EXPECT_EQ(compared["runs"][11]["result"]["state_hash"], alone["state_hash"]);
  const Outcome owned =
      raddle("analyze bounds vecadd size=tiny --gpu ikra --policies coherence=denovo");
  EXPECT_EQ(owned.status, 0) << owned.err;
  EXPECT_THAT(owned.out, testing::Not(HasSubstr("ideal l2")));
  EXPECT_THAT(owned.out, HasSubstr("ideal dram"));
  expect_refused(raddle("analyze bounds vecadd size=tiny --results kept --quiet"), {"--results"});
}

TEST(CompareOwn, BadPrograms) {
  expect_refused(raddle("compare --policies lrr -- /proc/nowhere/app x"),
                 {"no program /proc/nowhere/app"});
  expect_refused(raddle("compare --policies lrr -- nosuchprogram"),
                 {"no program nosuchprogram in PATH"});
  expect_refused(
      raddle("compare vecadd size=tiny --policies lrr -- /proc/nowhere/app --policies x"),
      {"no program /proc/nowhere/app"});
  expect_refused(raddle("compare --policies lrr"), {"compare: no workload given"});
  expect_refused(raddle("analyze cache -- /proc/nowhere/app"), {"no program /proc/nowhere/app"});
  expect_refused(raddle("analyze cache vecadd -- /proc/nowhere/app"), {"'vecadd'", "behind --"});
}

// --- experiment files ---------------------------------------------------------------------------

struct Sweeping : Recorded {
  Outcome sweep(const std::string& text, const std::vector<std::string>& more = {}) const {
    folder.write("own.toml", text);
    std::vector<std::string> words = {file("own.toml"), "--results", file("results")};
    words.insert(words.end(), more.begin(), more.end());
    return raddle("sweep", words);
  }
  Json document(const std::string& text) const {
    const Outcome run = sweep(text, {"--quiet", "--json", "-"});
    EXPECT_EQ(run.status, 0) << run.err;
    return Json::parse(run.out, nullptr, false);
  }
};

TEST(SweepOwn, TwoLinesAreASweep) {
  const Sweeping site;
  const Outcome run = site.sweep(
      "gpu = 'gtx480'\n"
      "runs = [{ workloads = ['v.rdl', 'vecadd size=tiny'], variants = ['lrr', 'gto+swl:limit=4'] "
      "}]\n");
  EXPECT_EQ(run.status, 0) << run.err;
  for (const char* word :
       {"own", "no_verdict", "4/4", "Speed-up over lrr", "gto+swl:limit=4", "v.rdl", "GMEAN"})
    EXPECT_THAT(run.out, HasSubstr(word));
  EXPECT_THAT(site.sweep(read_file(site.file("own.toml"))).err, testing::StartsWith("all 4 runs"));
}

TEST(SweepOwn, AnAxisIsALine) {
  const Sweeping site;
  const Json document = site.document(
      "gpu = 'gtx480'\n"
      "runs = [{ workloads = ['v.rdl'], variants = ['gto+swl'], axes = "
      "['policy.throttle.limit=1..3'] }]\n");
  const Json& figure = document["experiments"][0]["figures"][0];
  EXPECT_EQ(figure["x"]["values"], Json::parse("[1.0,2.0,3.0]"));
  EXPECT_EQ(figure["series"][0]["values"][0], 1.0);
}

TEST(SweepOwn, ARecordingIsAWorkload) {
  const Sweeping site;
  const Json document = site.document(
      "gpu = 'gtx480'\n[workloads.mine]\nrecording = 'v.rdl'\n[workloads.vecadd]\nquick = { size = "
      "'tiny' }\n[variants.gto]\npolicies = ['gto']\n"
      "[[runs]]\nworkloads = ['mine', 'vecadd']\nvariants = ['gto']\n"
      "[[shapes]]\ncheck = \"totals.cycles[mine, gto] == totals.cycles[vecadd, gto]\"\n");
  EXPECT_EQ(document["experiments"][0]["status"], "pass") << document.dump(1);
  EXPECT_EQ(document["experiments"][0]["settings"]["workloads"]["mine"]["recording"], "v.rdl");
  std::filesystem::remove(site.file("v.rdl"));
  EXPECT_EQ(
      raddle("record vecadd size=tiny n=100 --gpu gtx480 --quiet -o", {site.file("v.rdl")}).status,
      0);
  const Outcome other = site.sweep(read_file(site.file("own.toml")));
  EXPECT_THAT(other.err, HasSubstr("[1/1]")) << "what is in the file counts, not its name";
}

TEST(SweepOwn, APtxFileIsAWorkload) {
  const Sweeping site;
  site.folder.write("fill.ptx", R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 out) {
  .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
})");
  const Json document = site.document(
      "gpu = 'gtx480'\n[workloads.fill]\nworkload = 'fill.ptx'\nparameters = { kernel = 'fill', "
      "args = 'buf:4096' }\n[variants.gto]\npolicies = ['gto']\n"
      "[[runs]]\nworkloads = ['fill']\nvariants = ['gto']\n"
      "[[shapes]]\ncheck = \"totals.cycles[fill, gto] > 0\"\n");
  EXPECT_EQ(document["experiments"][0]["status"], "pass") << document.dump(1);
}

TEST(SweepOwn, AFolderWithASpaceIsAFolder) {
  const Recorded site;
  std::filesystem::create_directory(site.folder.path() / "my experiments");
  site.folder.write("my experiments/own.toml",
                    "gpu = 'gtx480'\nruns = [{ workloads = ['vecadd size=tiny'], variants = "
                    "['lrr'] }]\n");
  const Outcome run = raddle("sweep", {site.file("my experiments/own.toml"), "--results",
                                       site.file("results"), "--report", site.file("r.html")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("my_experiments.own"));
  EXPECT_TRUE(std::filesystem::exists(site.file("r.html")));
}

TEST(SweepOwn, BadFiles) {
  const Sweeping site;
  const auto refused = [&](const std::string& workload, const std::vector<std::string>& words) {
    const Outcome run = site.sweep(
        "gpu = 'gtx480'\n[workloads.mine]\n" + workload +
        "\n[variants.gto]\npolicies = ['gto']\n[[runs]]\nworkloads = ['mine']\nvariants = "
        "['gto']\n");
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_FALSE(std::filesystem::exists(site.file("results")));
    for (const std::string& word : words) EXPECT_THAT(run.err, HasSubstr(word));
  };
  refused("recording = 'gone.rdl'", {"own.toml:2", "mine", "gone.rdl"});
  refused("recording = 'my.txt'", {"own.toml:3", "FILE.rdl or kernelslist.g", "my.txt"});
  refused("program = './gone'", {"own.toml:3", "a list of texts"});
  refused("program = ['./gone']", {"own.toml:2", "mine", "no program", "gone"});
  refused("program = ['./gone']\nrecording = 'v.rdl'", {"own.toml:4", "found both"});
  refused("recording = 'v.rdl'\ninputs = ['x']", {"own.toml:4", "only a program has inputs"});
  refused("recording = 'v.rdl'\nparameters = { n = 5 }", {"own.toml:4", "it is what it is"});
  const Outcome typo =
      site.sweep("gpu = 'gtx480'\nruns = [{ workloads = ['vecad'], variants = ['lrr'] }]\n");
  EXPECT_EQ(typo.status, 2);
  EXPECT_THAT(typo.err, HasSubstr("vecad"));
  for (const char* nothing : {"gpu = 'gtx480'\n", "gpu = 'gtx480'\nruns = []\n"})
    expect_refused(site.sweep(nothing), {"own.toml", "something to run under [[runs]]"});
  const Outcome policy =
      site.sweep("gpu = 'gtx480'\nruns = [{ workloads = ['vecadd'], variants = ['glo'] }]\n");
  EXPECT_EQ(policy.status, 2);
  EXPECT_THAT(policy.err, AllOf(HasSubstr("own.toml:2"), HasSubstr("no policy is called 'glo'")));
  const Outcome range = site.sweep(
      "gpu = 'gtx480'\nruns = [{ workloads = ['vecadd'], variants = ['lrr'], axes = "
      "['sm.count=3..1'] }]\n");
  EXPECT_EQ(range.status, 2);
  EXPECT_THAT(range.err, AllOf(HasSubstr("own.toml:2"), HasSubstr("'3..1'")));
}

// --- reproduce --with ---------------------------------------------------------------------------

TEST(ReproduceWith, OwnWorkInThePlaceOfThePapers) {
  const Site site;
  const std::string recording = site.folder / "mine.rdl";
  ASSERT_EQ(raddle("record scan size=tiny --gpu gtx480 --quiet -o", {recording}).status, 0);
  const Outcome run =
      raddle("reproduce", {"small", "--experiments", site.papers(), "--results", site.results(),
                           "--with", "vecadd=" + recording, "--json", site.folder / "d.json"});
  EXPECT_EQ(run.status, 0) << run.err << "verdicts of the paper do not apply";
  const Json document = Json::parse(read_file(site.folder / "d.json"));
  const Json& one = document["experiments"][0];
  EXPECT_EQ(one["id"], "small.one-with-vecadd");
  EXPECT_EQ(one["status"], "no_verdict");
  EXPECT_EQ(one["kind"], "study");
  EXPECT_EQ(one["replaced"]["vecadd"]["recording"], recording);
  EXPECT_EQ(one["replaced"]["vecadd"]["identity"].get<std::string>().size(), 16u);
  EXPECT_THAT(one["explanation"].get<std::string>(), HasSubstr("is not the paper's"));
  EXPECT_TRUE(document["experiments"][1]["stated"].empty()) << "the paper's numbers are gone";
  EXPECT_EQ(document["experiments"][2]["id"], "small.three") << "it runs nothing";
  EXPECT_FALSE(std::filesystem::exists(site.results() / "small.quick.json"));
  EXPECT_EQ(site.run_count("workload = 'scan'"), 3);
}

TEST(ReproduceWith, BadOnes) {
  const Site site;
  const auto with = [&](const std::string& text) {
    return raddle("reproduce", {"small", "--experiments", site.papers(), "--results",
                                site.results(), "--with", text});
  };
  expect_refused(with("vecad=x.rdl"), {"'vecad'", "did you mean 'vecadd'"});
  expect_refused(with("vecadd"), {"--with", "expected WORKLOAD="});
  expect_refused(with("vecadd="), {"--with vecadd", "found nothing"});
  expect_refused(with("vecadd=gone.rdl"), {"vecadd", "gone.rdl"});
  expect_refused(with("vecadd=./gone 'x"), {"a quote ' does not end"});
  expect_refused(with("vecadd=./gone x"), {"vecadd", "no program ./gone"});
  expect_refused(
      raddle("reproduce", {"small", "--experiments", site.papers(), "--results", site.results(),
                           "--with", "vecadd=a.rdl", "--with", "vecadd=b.rdl"}),
      {"'vecadd' is there twice"});
}

// 3,072 launches where 2,048 may be pending.
TEST(PtxOwn, LaunchesThatAreRefusedAreToldAndTheLimitIsAParameter) {
  const std::string work =
      "run " RADDLE_SOURCE_DIR
      "/tests/data/device_launch/device_launch.ptx kernel=_Z4manyPi grid=48 block=96 "
      "args=buf:65536 --functional --quiet";
  const Outcome refused = raddle(work + " --json -");
  EXPECT_EQ(refused.status, 0) << refused.err;
  EXPECT_EQ(Json::parse(refused.out).at("launches_refused"), 1024);
  EXPECT_THAT(refused.err, HasSubstr("pending_launches=N"));
  EXPECT_EQ(line_count(refused.err), 1u) << refused.err;
  const Outcome all = raddle(work + " pending_launches=4096");
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(all.err, "");
}

// The kernel that waits, not one that it launched; and nothing is advised that cannot be done.
TEST(PtxOwn, BlocksThatWaitAndLaunchAreNamed) {
  const Folder folder;
  const std::string file = folder.write("waits.ptx", R"(.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12],
    .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 p, .param .b64 s);
.visible .entry child() { ret; }
.visible .entry parent(.param .u64 p) {
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  .param .b64 f;
  .param .align 4 .b8 g[12];
  .param .align 4 .b8 b[12];
  .param .b32 s;
  .param .b64 q;
  .param .b64 t;
  .param .b32 e;
  ld.param.u64 %d1, [p];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra second;
again:
  ld.volatile.global.u32 %r2, [%d1];
  setp.ne.u32 %p1, %r2, 5;
  @%p1 bra again;
  bra launch;
second:
  st.volatile.global.u32 [%d1], 5;
launch:
  mov.u64 %d2, child;
  st.param.b64 [f], %d2;
  st.param.b32 [g], 1;
  st.param.b32 [g+4], 1;
  st.param.b32 [g+8], 1;
  st.param.b32 [b], 1;
  st.param.b32 [b+4], 1;
  st.param.b32 [b+8], 1;
  st.param.b32 [s], 0;
  st.param.b64 [t], 0;
  call (q), cudaGetParameterBufferV2, (f, g, b, s);
  call (e), cudaLaunchDeviceV2, (q, t);
  ret;
})");
  const Outcome run = raddle("run", {file, "kernel=parent", "grid=2", "block=1", "args=buf:256",
                                     "--gpu", "v100", "--quiet"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("blocks of kernel parent wait for one another"));
  EXPECT_THAT(run.err, HasSubstr("so it is for clusters and for kernels that launch kernels"));
  EXPECT_EQ(line_count(run.err), 1u) << run.err;
}

}  // namespace
}  // namespace raddle::test::own_work_test
