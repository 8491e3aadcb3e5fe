// Wrong names, settings, files: status 2, one clear line, nothing written.
#include <algorithm>
#include <filesystem>

#include "cli/raddle.h"
#include "raddle_paths.h"

namespace raddle::test::bad_input_test {
namespace {

/// Refused, and no result file left behind.
void expect_nothing_written(const std::string& words, const std::vector<std::string>& said,
                            const std::vector<std::string>& more = {}) {
  const Folder folder;
  std::vector<std::string> arguments = more;
  for (const std::string& word :
       {std::string("--json"), folder / "r.json", std::string("--report"), folder / "r.html"})
    arguments.push_back(word);
  expect_refused(raddle(words, arguments), said);
  EXPECT_THAT(folder.content(), IsEmpty()) << words;
}

TEST(BadInput, UnknownWorkloadNamesTheKnown) {
  expect_nothing_written("run vecad", {"'vecad'", "vecadd", "sgemm"});
  expect_nothing_written("compare bfs vecad --policies lrr,gto", {"'vecad'", "vecadd"});
}

TEST(BadInput, UnknownParameterNamesTheKnown) {
  expect_nothing_written("run vecadd siz=tiny", {"siz", "size"});
  expect_nothing_written("run vecadd size=huge", {"huge", "tiny", "small", "paper"});
  expect_nothing_written("run vecadd tiny", {"tiny"});
}

TEST(BadInput, ParameterOfWrongTypeOrOutOfRange) {
  expect_nothing_written("run vecadd n=many", {"n", "many"});
  expect_nothing_written("run vecadd n=-1", {"n", "-1"});
  expect_nothing_written("run vecadd n=0", {"n", "0"});
}

TEST(BadInput, UnknownPolicyNamesTheKnown) {
  expect_nothing_written("run vecadd --policy warp=gtoo", {"gtoo", "gto", "lrr"});
  expect_nothing_written("run vecadd --policy wrap=gto", {"wrap"});
  expect_nothing_written("run vecadd --policy =gto", {"=gto", "LEVEL=NAME"});
  expect_nothing_written("compare vecadd --policies lrr,gtoo", {"gtoo", "warp=gto"});
  expect_nothing_written("compare vecadd --policies lrr,lrr", {"lrr", "twice"});
}

TEST(BadInput, UnknownOrBadPolicyParameter) {
  expect_nothing_written("run vecadd --policy warp=two_level:group_siz=4",
                         {"group_siz", "group_size"});
  expect_nothing_written("run vecadd --policy warp=two_level:group_size=0", {"group_size", "0"});
  expect_nothing_written("run vecadd --policy warp=two_level:group_size=x", {"group_size", "x"});
  expect_nothing_written("run vecadd --policy dram=clams:mode=range3",
                         {"mode", "range8", "dynamic"});
  expect_nothing_written("run vecadd --policy dram=clams:threshold=101", {"threshold", "101"});
  expect_nothing_written("run vecadd --gpu ikra --policy dram=clams", {"fixed", "fcfs"});
  expect_nothing_written("run vecadd --policy dram=tcm:quantum=99", {"quantum", "99", "100"});
  expect_nothing_written("run vecadd --policy dram=tcm:latency_share=101",
                         {"latency_share", "101"});
  expect_nothing_written("run vecadd --policy dram=tcm:shuffle=0", {"shuffle", "0"});
  expect_nothing_written("run vecadd --policy replacement=plru", {"plru", "fifo", "srrip", "ucp"});
  expect_nothing_written("run vecadd --policy replacement=srrip:bits=8", {"bits", "8", "7"});
  expect_nothing_written("run vecadd --policy replacement=ucp:sample=0", {"sample", "0"});
  expect_nothing_written("run vecadd --policy replacement=ucp:interval=x", {"interval", "x"});
  for (const char* block : {"reset", "flip", "steal"})
    expect_nothing_written("run vecadd", {"policy.block.relations", "'k 1 one 0'", "whole number"},
                           {"--policy", std::string("block=") + block + ":relations=k 1 one 0"});
}

TEST(BadInput, UnknownGpuNamesTheKnown) {
  expect_nothing_written("run vecadd --gpu v10", {"'v10'", "v100", "gtx480"});
}

TEST(BadInput, UnknownOrBadSetting) {
  expect_nothing_written("run vecadd --set sm.cont=4", {"sm.cont", "unknown key"});
  expect_nothing_written("run vecadd --set sm.count=four", {"sm.count", "four"});
  expect_nothing_written("run vecadd --set sm.count=0", {"sm.count", "0"});
  expect_nothing_written("run vecadd --set sm.count", {"sm.count"});
  expect_nothing_written("run vecadd --set =4", {"=4"});
}

/// Of two nobody could tell which counts.
TEST(BadInput, ASettingThatIsSaidTwiceInEveryCommandThatTakesThem) {
  const Folder folder;
  const std::string recording = folder / "v.rdl";
  ASSERT_EQ(raddle("record vecadd size=tiny --quiet", {"-o", recording}).status, 0);
  const std::vector<std::vector<std::string>> commands = {
      {"run", "vecadd", "size=tiny"},
      {"run", "vecadd", "size=tiny", "--functional"},
      {"replay", recording},
      {"run", "vecadd", "size=tiny", "+", "vecadd", "size=tiny", "--horizon", "2000"},
      {"record", "vecadd", "size=tiny", "-o", folder / "w.rdl"},
      {"compare", "vecadd", "size=tiny", "--policies", "throttle=swl,throttle=none"},
      {"compare", "vecadd", "size=tiny", "--sweep", "l2.size_kib=96,192"},
      {"analyze", "cache", "vecadd", "size=tiny"},
      {"exec", "--", "/bin/true"},
      {"record", "-o", folder / "w.rdl", "--", "/bin/true"}};
  const std::string again = "says that already";
  for (const std::vector<std::string>& command : commands) {
    const auto refused = [&](std::vector<std::string> twice, const std::string& one) {
      std::vector<std::string> words(command.begin() + 1, command.end());
      words.insert(std::ranges::find(words, "--"), twice.begin(), twice.end());
      SCOPED_TRACE(command[0] + " " + command[1] + " " + twice.back());
      expect_refused(raddle(command[0], words), {one, twice.back(), again});
    };
    const bool times =
        command[0] != "record" && std::ranges::find(command, "--functional") == command.end();
    if (times) refused({"--policy", "warp=lrr", "--policy", "warp=gto"}, "warp=lrr");
    refused({"--set", "sm.count=1", "--set", "sm.count=2"}, "sm.count=1");
    refused({"--set", "sm.l1d={ways=4}", "--set", "sm.l1d.ways=8"}, "sm.l1d={ways=4}");
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "w.rdl"));
}

TEST(BadInput, ASettingThatIsSaidTwiceInDifferentOptions) {
  const std::string compare = "compare vecadd size=tiny ", again = "says that already";
  expect_refused(raddle(compare + "--set l2.size_kib=96 --sweep l2.size_kib=96,192"),
                 {"--set l2.size_kib=96", "--sweep l2.size_kib=96,192", again});
  expect_refused(
      raddle(compare + "--policies throttle=swl:limit=2 --sweep policy.throttle.limit=1,2"),
      {"throttle=swl:limit=2", "policy.throttle.limit", again});
  expect_refused(
      raddle(compare + "--policies swl:limit=1,swl:limit=2 --set policy.throttle.limit=3"),
      {"swl:limit=1", "policy.throttle.limit", again});
  expect_refused(raddle("run vecadd --policy swl:limit=2 --set policy.throttle.limit=3"),
                 {"--policy swl:limit=2", "--set policy.throttle.limit=3", again});
  expect_refused(raddle("run vecadd --policy warp=two_level:group_size=2,group_size=4"),
                 {"'group_size=2'", again});
  expect_refused(raddle("run vecadd size=tiny size=small"), {"'size=tiny'", "size=small", again});
  expect_refused(raddle("compare vecadd --policies gto+warp=lrr"), {"warp=gto", "warp=lrr"});
}

/// A policy by an option, a parameter of it by another.
TEST(BadInput, AParameterOfAPolicyThatAnotherOptionChooses) {
  const Json run =
      json_of(raddle("run vecadd size=tiny --gpu gtx480 --policy swl --set "
                     "policy.throttle.limit=3 --json -"));
  EXPECT_EQ(run.at("config").at("policy").at("throttle").at("limit"), 3);
}

TEST(BadInput, ReplacementThatTheL1dCannotHave) {
  expect_nothing_written(
      "run vecadd --gpu gtx480 --policy replacement=fifo --set sm.l1d.size_kib=0",
      {"policy.replacement.name", "fifo", "sm.l1d.size_kib"});
  expect_nothing_written(
      "run vecadd --gpu ikra --policy replacement=srrip --policy coherence=denovo",
      {"policy.replacement.name", "srrip", "policy.coherence.name", "denovo"});
  expect_nothing_written(
      "run vecadd --gpu ccbp --policy replacement=ucp --set sm.l1d.ways=96 --set "
      "sm.l1d.size_kib=12",
      {"policy.replacement.name", "ucp", "64", "sm.l1d.ways = 96"});
}

TEST(BadInput, BadTomlNamesFileAndLine) {
  const Folder folder;
  const std::string broken = folder.write("broken.toml", "name = \"x\"\n[sm\ncount = 4\n");
  expect_nothing_written("run vecadd", {"broken.toml:2"}, {"--gpu", broken});
}

TEST(BadInput, UnknownKeyInTomlNamesFileLineAndKey) {
  const Folder folder;
  std::string toml = read_file(RADDLE_SOURCE_DIR "/gpus/gtx480.toml");
  const std::size_t table = toml.find("[sm]\n");
  ASSERT_NE(table, std::string::npos);
  toml.insert(table + 5, "warp_count = 8\n");
  const std::size_t line = line_count(toml.substr(0, table)) + 2;
  expect_nothing_written("run vecadd", {"odd.toml:" + std::to_string(line), "sm.warp_count"},
                         {"--gpu", folder.write("odd.toml", toml)});
}

TEST(BadInput, AllConfigurationErrorsAtOnce) {
  const Folder folder;
  const std::string file =
      folder.write("odd.toml", "name = \"x\"\n[sm]\ncount = \"four\"\nwarp_count = 8\n");
  const Outcome run = raddle("run vecadd --gpu", {file, "--set", "sm.schedulers=0"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(line_count(run.err), 3u) << run.err;
  for (const char* word :
       {"odd.toml:3", "sm.count", "odd.toml:4", "sm.warp_count", "sm.schedulers"})
    EXPECT_THAT(run.err, HasSubstr(word));
}

TEST(BadInput, ContradictingValuesAreNamed) {
  const Outcome run = raddle("run vecadd --gpu gtx480 --set sm.l1d.line_bytes=96");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("l1d"));
}

TEST(BadInput, MissingFilesAreNamed) {
  expect_nothing_written("run vecadd --gpu /proc/nowhere/x.toml", {"/proc/nowhere/x.toml"});
  expect_nothing_written("run /proc/nowhere/x.ptx kernel=k", {"/proc/nowhere/x.ptx"});
  expect_refused(raddle("ptx /proc/nowhere/x.ptx"), {"/proc/nowhere/x.ptx"});
}

TEST(BadInput, FoldersAreNoFiles) {
  const Folder folder;
  expect_refused(raddle("ptx", {folder.path().string()}), {folder.path().string()});
  expect_refused(raddle("run vecadd --gpu", {folder.path().string() + "/"}),
                 {folder.path().string()});
  expect_refused(raddle("run vecadd size=tiny --json", {folder.path().string()}),
                 {folder.path().string()});
}

TEST(BadInput, UnwritableResultIsToldBeforeTheRun) {
  const Outcome run =
      raddle("run sgemm size=paper --json /proc/nowhere/r.json", {}, std::chrono::seconds(5));
  expect_refused(run, {"/proc/nowhere/r.json"});
}

TEST(BadInput, OptionsThatContradictEachOther) {
  expect_nothing_written("run vecadd --functional --live", {"--functional", "--live"});
  expect_refused(raddle("run vecadd --functional --first-launches 2"), {"--first-launches"});
  expect_refused(raddle("run vecadd --functional --sampling-error 0.03"), {"--sampling-error"});
  expect_refused(raddle("run vecadd --live --sampling-error 0.03"),
                 {"run.sampling_error", "run.live"});
  expect_refused(raddle("run vecadd --sampling-error 3"), {"--sampling-error", "0.5", "found 3"});
  expect_refused(raddle("run vecadd --sampling-error few"), {"--sampling-error", "few"});
  expect_refused(raddle("run vecadd --on cuda --sampling-error 0.03"), {"--on cuda"});
  expect_refused(raddle("run vecadd + bfs --horizon 1000 --sampling-error 0.03"),
                 {"--sampling-error", "horizon"});
  expect_refused(raddle("validate --suite v100 nn --sampling-error 0.03"),
                 {"validate", "--sampling-error"});
  expect_refused(raddle("analyze locality vecadd size=tiny --sampling-error 0.03"),
                 {"analyses", "run.sampling_error"});
  expect_refused(raddle("analyze dependencies vecadd size=tiny --first-launches 1"),
                 {"dependencies", "--first-launches"});
  expect_refused(raddle("validate vecadd --first-launches 1"), {"validate", "--first-launches"});
  expect_refused(raddle("run vecadd --on cuda --first-launches 1"), {"--on cuda"});
  expect_refused(raddle("run vecadd --first-launches 0"),
                 {"--first-launches", "expected a whole number from 1 on, found '0'"});
  expect_refused(raddle("run vecadd + bfs --horizon 1000 --first-launches 2"),
                 {"--first-launches", "--horizon"});
  expect_refused(raddle("run vecadd --functional --timeline /tmp/t.json"),
                 {"--functional", "--timeline"});
  expect_nothing_written("compare vecadd --policies lrr,gto --live", {"--live"});
}

TEST(BadInput, NumbersOutOfRange) {
  expect_nothing_written("run vecadd --threads 0", {"--threads"});
  expect_nothing_written("run vecadd --threads many", {"--threads"});
  expect_nothing_written("run vecadd --max-cycles 0", {"--max-cycles"});
  expect_nothing_written("run vecadd --max-cycles -5", {"--max-cycles"});
}

}  // namespace
}  // namespace raddle::test::bad_input_test
