// What the program is run in: output that is lost, names that are no text, inputs without an end.
#include "cli/raddle.h"

namespace raddle::test {
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

TEST(Names, OfAFolderOfResultsMustBeText) {
  const Folder folder;
  const Outcome o = raddle("reproduce demo --check", {"--results", folder / "bad\xff"});
  expect_refused(o, {"bad\\xff", "UTF-8"});
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
}  // namespace raddle::test
