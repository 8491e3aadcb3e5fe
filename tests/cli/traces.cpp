// Accel-Sim traces through the program: replay, record, analyze, and what is said of bad ones.
#include <fstream>

#include "cli/raddle.h"

namespace raddle::test::traces_test {
namespace {

const std::string kList = RADDLE_TEST_DATA "/accelsim/kernelslist.g";

TEST(Trace, ReplaysOnAnyMachineWithTheOrdinaryResult) {
  for (const std::string gpu : {"v100", "gtx480", "h200"}) {
    const Json result = json_of(raddle("replay " + kList + " --json - --gpu " + gpu));
    EXPECT_EQ(result["workload"]["result"], "unchecked");
    EXPECT_EQ(result["workload"]["import"]["unknown_opcodes"].dump(), R"({"FROBNICATE.X":16})");
    EXPECT_EQ(result["totals"]["warp_instructions"], 320);
    EXPECT_EQ(result["totals"]["thread_instructions"], 320 * 32);
    ASSERT_EQ(result["kernels"].size(), 2u);
    EXPECT_EQ(result["kernels"][0]["name"], "first");
    EXPECT_GT(result["totals"]["dram_bytes"], 0);
  }
}

TEST(Trace, KernelsOfTwoStreamsOverlap) {
  const Json result = json_of(raddle("replay " + kList + " --json - --gpu v100"));
  const Json &a = result["kernels"][0], &b = result["kernels"][1];
  EXPECT_NE(a["stream"], b["stream"]);
  EXPECT_LT(b["begin_cycle"].get<std::uint64_t>(), a["end_cycle"].get<std::uint64_t>());
}

TEST(Trace, SummaryListsWhatIsUnknown) {
  const Outcome o = raddle("replay " + kList + " --policy warp=gto --threads 2");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("warp=gto"), HasSubstr("unknown opcodes"),
                           HasSubstr("FROBNICATE.X"), HasSubstr("warp instructions/s")));
}

TEST(Trace, HoppersCopiesAndProductsTakeTheirTime) {
  const std::string list = RADDLE_TEST_DATA "/accelsim/hopper.g";
  const Json result = json_of(raddle("replay " + list + " --json - --gpu h100"));
  const Json& import = result["workload"]["import"];
  EXPECT_EQ(import["without_effect"].dump(), R"({"USETMAXREG.ALLOC.CTAPOOL":8})");
  EXPECT_EQ(import["unended_waits"], 0);
  EXPECT_EQ(result["totals"]["dram_bytes"], 2 * 4 * 8192 + 128)
      << "what the tensor copies bring, and a descriptor";
  // 224 as control instructions; two stages hold two of four loads.
  EXPECT_GT(result["kernels"][0]["execution_cycles"], 1000);
  const Outcome o = raddle("replay " + list + " --gpu h100");
  EXPECT_THAT(o.out, AllOf(HasSubstr("without effect"), HasSubstr("USETMAXREG.ALLOC.CTAPOOL")));
}

TEST(Trace, ConvertedItIsTheSameRun) {
  const Folder folder;
  const std::string rdl = (folder.path() / "t.rdl").string();
  const std::string again = (folder.path() / "u.rdl").string();
  const Outcome o = raddle("record " + kList + " -o " + rdl);
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("FROBNICATE.X"));
  EXPECT_EQ(raddle("record " + kList + " --quiet -o " + again).out, "");
  EXPECT_EQ(read_file(rdl), read_file(again)) << "equal traces give equal files";
  const Json a = json_of(raddle("replay " + kList + " --json -"));
  const Json b = json_of(raddle("replay " + rdl + " --json -"));
  EXPECT_EQ(a["state_hash"], b["state_hash"]);
  EXPECT_EQ(a["workload"], b["workload"]);
}

TEST(Trace, IsAnalysed) {
  const Outcome o = raddle("analyze locality " + kList);
  EXPECT_EQ(o.status, 0) << o.err;
}

TEST(Trace, BadOnesAreRefusedAndNothingIsWritten) {
  const Folder folder;
  const std::string list = (folder.path() / "kernelslist.g").string();
  const std::string json = (folder.path() / "out.json").string();
  const std::string rdl = (folder.path() / "out.rdl").string();
  std::ofstream(list) << "kernel-1.traceg\n";
  std::string text = read_file(RADDLE_TEST_DATA "/accelsim/kernel-1.traceg");
  text.replace(text.find("MUFU.RCP 1 R21"), 14, "MUFU.RCP 1 Q21");
  std::ofstream(folder.path() / "kernel-1.traceg") << text;
  const std::string place = (folder.path() / "kernel-1.traceg:").string() + "34: ";
  expect_refused(raddle("replay " + list + " --json " + json), {place, "R255, found 'Q21'"});
  expect_refused(raddle("record " + list + " -o " + rdl), {place});
  EXPECT_FALSE(std::filesystem::exists(json));
  EXPECT_FALSE(std::filesystem::exists(rdl));
  expect_refused(raddle("record " + kList + " size=tiny -o " + rdl), {"a trace has no parameters"});
  expect_refused(raddle("replay /proc/nowhere/kernelslist.g"),
                 {"/proc/nowhere/kernelslist.g: cannot be read: No such file"});
}

}  // namespace
}  // namespace raddle::test::traces_test
