// What the program is run in: output that is lost, names that are no text, inputs without an end.
#include <unistd.h>

#include "cli/raddle.h"
#include "raddle/lab/run/local_executor.h"

namespace raddle::test::surroundings_test {
namespace {

/// With standard output going to /dev/full.
Outcome to_full_disk(const std::string& words) {
  return run_process("/bin/sh", {"-c", std::string(RADDLE_PROGRAM) + " " + words + " >/dev/full"});
}

TEST(LostOutput, IsAFailureOfEveryCommandThatPrints) {
  const Folder folder;
  const std::string recording = folder / "v.rdl";
  ASSERT_EQ(raddle("record vecadd size=tiny --quiet -o", {recording}).status, 0);
  for (const std::string& words :
       {std::string("list gpus"), std::string("--help"), std::string("--version"),
        std::string("run vecadd size=tiny --gpu gtx480"),
        std::string("run vecadd size=tiny --functional --json -"),
        std::string("compare vecadd size=tiny --gpu gtx480 --policies lrr,gto"),
        std::string("analyze locality vecadd size=tiny --gpu gtx480"),
        "replay " + recording + " --gpu gtx480",
        std::string("run vecadd size=tiny --quiet --functional --json /dev/full")}) {
    const Outcome o = to_full_disk(words);
    EXPECT_EQ(o.status, 1) << words;
    EXPECT_THAT(o.err,
                testing::MatchesRegex("(\\[[12]/2\\] .* s\n)*raddle: [^\n]*cannot write[^\n]*\n"))
        << words;
  }
  EXPECT_EQ(to_full_disk("run vecadd size=tiny --functional --quiet").status, 0)
      << "nothing was to be printed";
}

TEST(LostOutput, AWrongInputIsStillAWrongInput) {
  const Outcome o = to_full_disk("run nothing");
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, HasSubstr("nothing"));
}

TEST(Names, OfFilesMayHoldAnyBytes) {
  const Folder folder;
  const std::string odd = folder / "bad\xff";
  std::filesystem::create_directory(odd);
  const std::string ptx = odd + "/k.ptx";
  std::ofstream(ptx)
      << ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n";
  const std::string json = odd + "/r.json", recording = odd + "/r.rdl";
  const Outcome run =
      raddle("run", {ptx, "kernel=k", "--quiet", "--json", json, "--report", odd + "/r.html"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(Json::parse(read_file(json))["workload"]["name"].get<std::string>(),
              HasSubstr("bad\\xff/k.ptx"));
  EXPECT_EQ(raddle("record", {ptx, "kernel=k", "--quiet", "-o", recording}).status, 0);
  EXPECT_EQ(raddle("replay", {recording, "--quiet"}).status, 0);
  EXPECT_EQ(raddle("ptx --json", {ptx}).status, 0);
}

TEST(Names, OfComparedRecordingsMayHoldAnyBytes) {
  const Folder folder;
  const std::string odd = folder / "q\xff.rdl", json = folder / "c.json";
  ASSERT_EQ(raddle("record vecadd size=tiny --quiet -o", {odd}).status, 0);
  const Outcome run = raddle("compare --policies lrr,gto --quiet", {odd, "--json", json});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(Json::parse(read_file(json))["runs"].size(), 2u);
  // Kept results find their files by names in documents.
  expect_refused(raddle("compare --policies lrr,gto --quiet", {odd, "--results", folder / "kept"}),
                 {"q\\xff.rdl", "UTF-8"});
  EXPECT_FALSE(std::filesystem::exists(folder / "kept"));
}

TEST(Names, OfAFolderOfResultsMustBeText) {
  const Folder folder;
  const Outcome o = raddle("reproduce demo --check", {"--results", folder / "bad\xff"});
  expect_refused(o, {"bad\\xff", "UTF-8"});
}

/// The command in a shell that has done `before` first.
Outcome in_shell(const std::string& before, const std::string& words) {
  return run_process("/bin/bash", {"-c", before + " && exec " RADDLE_PROGRAM " " + words});
}

TEST(Names, OfTheFolderOneIsInMayHoldAnyBytesOrAreToldByIt) {
  const Folder folder;
  const std::string odd = folder / "bad\xff";
  std::filesystem::create_directory(odd);
  std::ofstream(odd + "/e.toml") << "gpu = \"gtx480\"\nruns = [{ workloads = [\"vecadd "
                                    "size=tiny\"], variants = [\"gto\"] }]\n";
  for (const char* words :
       {"sweep e.toml --quiet", "compare vecadd size=tiny --policies lrr,gto --results r --quiet"})
    expect_refused(in_shell("cd '" + odd + "'", words), {"bad\\xff", "UTF-8"});
}

/// Every reader of the program, with the name of what leads to no file.
std::vector<std::string> readers(const std::string& file) {
  return {"ptx " + file,
          "run vecadd size=tiny --gpu " + file + ".toml",
          "run " + file + ".ptx kernel=k",
          "replay " + file + ".rdl",
          "replay " + file + ".g",
          "record -o /dev/null -- " + file,
          "exec -- " + file,
          "compare --policies lrr,gto -- " + file,
          "analyze locality " + file + ".rdl",
          "sweep " + file + ".toml",
          "report " + file + " -o /nowhere",
          "validate vecadd --measured " + file,
          "run vecadd size=tiny --plugin " + file};
}

TEST(Readers, TellALoopOfLinks) {
  const Folder folder;
  for (const char* end : {"", ".toml", ".ptx", ".rdl", ".g"})
    std::filesystem::create_symlink(std::string("loop") + end,
                                    folder / (std::string("loop") + end));
  for (const std::string& words : readers(folder / "loop"))
    expect_refused(raddle(words), {"loop", "Too many levels of symbolic links"});
}

TEST(Readers, TellAFolder) {
  const Folder folder;
  for (const char* end : {"", ".toml", ".ptx", ".rdl", ".g"})
    std::filesystem::create_directory(folder / (std::string("f") + end));
  for (const std::string& words : readers(folder / "f"))
    expect_refused(raddle(words), {folder / "f", "is a folder"});
}

TEST(Readers, TellWhatIsNotThere) {
  const Folder folder;
  for (const std::string& words : readers(folder / "none")) {
    const Outcome o = raddle(words);
    expect_refused(o, {folder / "none"});
    EXPECT_THAT(o.err, testing::AnyOf(HasSubstr("No such file"), HasSubstr("there is no program")));
  }
}

TEST(Readers, TellADeviceThatIsNoRecording) {
  const Folder folder;
  for (const char* device : {"/dev/null", "/dev/zero"}) {
    std::filesystem::create_symlink(device, folder / "d.rdl");
    expect_refused(raddle("replay", {folder / "d.rdl"}), {"d.rdl", "is a device", "a recording"});
    std::filesystem::remove(folder / "d.rdl");
  }
  expect_refused(raddle("replay /dev/null"), {"/dev/null", "is a device"});
  expect_refused(raddle("replay /tmp"), {"/tmp", "is a folder"});
}

TEST(Limits, OfAFilesSizeAreAWriteThatFails) {
  const Folder folder;
  const Outcome run =
      in_shell("ulimit -f 1", "record sgemm size=tiny --quiet -o " + folder / "r.rdl");
  expect_failed(run, {"r.rdl", "File too large"});
  expect_failed(in_shell("ulimit -f 1", "run bfs size=tiny --quiet --json " + folder / "r.json"),
                {"r.json", "File too large"});
  EXPECT_THAT(folder.content(), IsEmpty());
}

TEST(Limits, OfAddressSpaceLetEveryMachineStart) {
  for (const char* gpu : {"h200", "h100", "v100"}) {
    const Outcome run =
        in_shell("ulimit -v 4000000", "run vecadd size=tiny --quiet --gpu " + std::string(gpu));
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.err, "");
  }
  const Outcome run = in_shell("ulimit -v 2000000", "run vecadd n=200000000 --functional --quiet");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, testing::MatchesRegex("raddle: [^\n]* memory[^\n]*\n"));
}

TEST(Limits, OfMemoryAreToldInALineThatSaysSo) {
  for (const char* kib : {"150000", "200000", "300000", "600000"}) {
    const Outcome run = in_shell(std::string("ulimit -v ") + kib, "run sgemm size=small --quiet");
    if (run.status == 0 || run.status == 127) continue;  // enough, or not even for the loader
    EXPECT_EQ(run.status, 1) << kib << run.err;
    EXPECT_THAT(run.err, testing::MatchesRegex("raddle: [^\n]*(memory|address space)[^\n]*\n"));
  }
}

TEST(Limits, OfThreadsAreToldAndTheRunGoesOn) {
  if (getuid() != 0 || lab::usable_cores() < 2) GTEST_SKIP() << "needs root and two cores";
  const std::string run = "run vecadd size=tiny --gpu gtx480 --threads 8 --quiet --json -";
  const Outcome limited = run_process(
      "/bin/bash",
      {"-c", "ulimit -u 1; exec setpriv --reuid 65534 --clear-groups " RADDLE_PROGRAM " " + run});
  EXPECT_EQ(limited.status, 0) << limited.err;
  EXPECT_THAT(limited.err, testing::MatchesRegex("raddle: [^\n]*1 of [0-9]+ threads[^\n]*\n"));
  EXPECT_EQ(Json::parse(limited.out)["state_hash"], json_of(raddle(run))["state_hash"]);
}

TEST(LongInputs, AreQuotedUpToEightyCharacters) {
  const Folder folder;
  const std::string many(100'000, '[');
  for (const Outcome& o :
       {raddle("run vecadd", {"n=" + many}), raddle("run", {many}), raddle("", {many}),
        raddle("run vecadd --threads", {many}), raddle("run vecadd --set", {"sm.count=" + many}),
        raddle("replay", {folder.write("k.g", many + "\nMemcpyHtoD" + many + "\n")}),
        raddle("ptx", {folder.write("k.ptx", ".version 7.0\n.target sm_70\n" + many)}),
        raddle("run vecadd --gpu", {folder.write("g.toml", "name = " + many)})}) {
    EXPECT_EQ(o.status, 2);
    EXPECT_LT(o.err.size(), 1500u) << o.err.substr(0, 3000);
    EXPECT_THAT(o.err, testing::StartsWith("raddle: "));
  }
}

TEST(EndlessInputs, EndAtALimitThatIsTold) {
  expect_refused(raddle("ptx /dev/zero"), {"/dev/zero", "larger than 256 MiB", "a PTX file"});
  expect_refused(raddle("report /dev/zero -o /proc/nowhere"), {"/dev/zero", "larger than 256 MiB"});
  expect_refused(raddle("sweep /dev/zero"), {"/dev/zero", "larger than 4 MiB"});
  expect_refused(raddle("replay /dev/zero.rdl"), {"/dev/zero.rdl"});
}

TEST(DeepDocuments, AreRefusedWithTheirPlace) {
  const Folder folder;
  const std::string file =
      folder.write("deep.json", std::string(1'000'000, '[') + std::string(1'000'000, ']'));
  expect_refused(raddle("report", {file, "-o", folder / "site"}),
                 {"deep.json:1:65: ", "nested deeper than 64"});
}

TEST(ManyThreads, AreNoMoreThanThereAreCores) {
  const Outcome o = raddle("run sgemm size=tiny --gpu gtx480 --quiet --threads 256 --json -");
  EXPECT_LE(json_of(o)["host"]["threads"], std::max(2u, std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace raddle::test::surroundings_test
