// raddle ptx of what holds PTX among other things: fat binaries, programs, libraries.
#include "cli/raddle.h"
#include "raddle_paths.h"
#include "support/nvcc.h"

namespace raddle::test::device_ptx_test {
namespace {

const std::string kData = RADDLE_SOURCE_DIR "/tests/data/fatbin/";

/// A program with device code in it.
std::string program_with(const std::string& fatbin, const Folder& folder) {
  std::string program = folder / "app";
  const Outcome made = run_process(
      "/usr/bin/objcopy", {"--add-section", ".nv_fatbin=" + kData + fatbin, "/bin/true", program});
  EXPECT_EQ(made.status, 0) << made.err;
  return program;
}

TEST(DevicePtx, OfAFatBinaryIsDescribedEntryByEntry) {
  const Outcome run = raddle("ptx", {kData + "two.fatbin"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("two.fatbin, compute_75: PTX"),
                             HasSubstr("two.fatbin, compute_75 (2): PTX"), HasSubstr("twice")));
  const Json all = json_of(raddle("ptx", {kData + "zstd.fatbin", "--json"}));
  ASSERT_EQ(all["modules"].size(), 2u);
  EXPECT_EQ(all["modules"][0]["target"], "sm_75");
  EXPECT_EQ(all["modules"][1]["target"], "sm_90a");
  EXPECT_EQ(all["modules"][1]["kernels"].size(), 1u);
}

TEST(DevicePtx, OfAProgramIsPrintedAsItIs) {
  const Folder folder;
  const std::string program = program_with("lz4.fatbin", folder);
  const Outcome text = raddle("ptx", {program, "--text"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr(".version"), HasSubstr("_Z5twicePi")));
  const std::string file = folder.write("app.ptx", text.out);
  const Json of_text = json_of(raddle("ptx", {file, "--json"}));
  const Json of_program = json_of(raddle("ptx", {program, "--json"}));
  EXPECT_EQ(of_program["modules"][0]["kernels"], of_text["kernels"]);
  EXPECT_EQ(raddle("ptx", {program, "--text", "--json"}).status, 2);
}

TEST(DevicePtx, BrokenContainersAreRefused) {
  const Folder folder;
  const std::string whole = read_file(kData + "plain.fatbin");
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{40}, whole.size() / 2})
    expect_refused(raddle("ptx", {folder.write("cut.fatbin", whole.substr(0, bytes))}),
                   {"cut.fatbin"});
}

// As nvcc -dc leaves them and a program holds them: each alone calls what another one has.
TEST(DevicePtx, PartsAreLinkedBeforeTheyAreJudged) {
  if (nvcc().empty()) GTEST_SKIP() << "no nvcc here";
  const Folder folder;
  const std::string options = "-rdc=true -fatbin -gencode arch=compute_80,code=compute_80";
  const std::string caller = nvcc_output(
      "__device__ int twice(int);\n"
      "__global__ void f(int* a) { *a = twice(*a); }\n",
      options);
  const std::string callee =
      nvcc_output("__device__ int twice(int x) { return 2 * x; }\n", options);
  const Outcome both = raddle("ptx", {folder.write("both.fatbin", caller + callee)});
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.out, AllOf(HasSubstr("kernel _Z1fPi"), HasSubstr("function _Z5twicei")));
  const Outcome one = raddle("ptx", {folder.write("one.fatbin", caller)});
  EXPECT_EQ(one.status, 1);
  EXPECT_THAT(one.err, AllOf(HasSubstr("one.fatbin, compute_80"), HasSubstr("_Z5twicei")));
}

}  // namespace
}  // namespace raddle::test::device_ptx_test
