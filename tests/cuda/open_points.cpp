// What CUDA leaves open and programs rely on, with what nvcc makes of tests/cuda/programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "cuda/built.h"
#include "cuda/exec.h"

namespace raddle::test::open_points_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::uint64_t issued(const std::string& file) {
  std::uint64_t sum = 0;
  const auto result = json_of(file);
  for (const auto& kernel : result["kernels"])
    sum += kernel["warp_instructions"].get<std::uint64_t>();
  return sum;
}

class WaitingBlocks : public testing::TestWithParam<const char*> {};

TEST_P(WaitingBlocks, AreStartedBesideEachOtherWithoutTiming) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "waiting");
  // What they did before: 16.8 M instructions of each block until the next was started.
  const Outcome o =
      exec({"--functional", "--quiet", "--json", folder / "r.json"}, {program, GetParam()});
  EXPECT_EQ(o.status, 0) << o.err << o.out;
  EXPECT_EQ(o.err, "");
  EXPECT_LT(issued(folder / "r.json"), 5'000'000u);
}

TEST_P(WaitingBlocks, WaitInSimulatedTime) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "waiting");
  const Outcome o =
      exec({"--gpu", "v100", "--quiet", "--json", folder / "r.json"}, {program, GetParam()});
  EXPECT_EQ(o.status, 0) << o.err << o.out;
  // The first block of the queue finds all the work, and nobody has to wait. Who sleeps and counts
  // is not seen to wait, but gives others their turn.
  if (GetParam() != std::string("queue") && GetParam() != std::string("sleeps")) {
    EXPECT_THAT(o.err, HasSubstr("wait for one another: it is executed while it is timed"));
  }
  EXPECT_LE(line_count(o.err), 1u) << o.err;
  const Outcome live = exec({"--gpu", "v100", "--live", "--quiet", "--json", folder / "l.json"},
                            {program, GetParam()});
  EXPECT_EQ(live.status, 0) << live.err;
  // No more of asking than while it is executed in time, but for the block that was first.
  const std::uint64_t asked = GetParam() == std::string("sleeps") ? 60'000 : 20'000;
  EXPECT_LT(issued(folder / "r.json"), 2 * issued(folder / "l.json") + asked);
}

// How long they ask is in the streams then, and that is said.
TEST(OpenPoints, WaitingThatIsRecordedIsTold) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "waiting");
  const Outcome o = run_process(
      RADDLE_PROGRAM, {"record", "-o", folder / "w.rdl", "--quiet", "--", program, "chain"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.err, HasSubstr("wait for one another, and how long they ask is fixed"));
  EXPECT_EQ(line_count(o.err), 1u) << o.err;
}

INSTANTIATE_TEST_SUITE_P(All, WaitingBlocks,
                         testing::Values("rounds", "chain", "queue", "turns", "sleeps"),
                         [](const auto& info) { return std::string(info.param); });

TEST(OpenPoints, RegistersAddressesAndIdleLanes) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const Outcome o = exec({"--gpu", "h100", "--quiet"}, {build_program(folder, "bounds")});
  EXPECT_EQ(o.status, 0) << o.err;
  // ptxas for sm_80: 64, 32 and 255 registers; 1 + 2 + ... + 20.
  EXPECT_THAT(o.out, HasSubstr("registers 64 32 255, wrapped 0 63, sum 210, cudaSuccess"));
}

/// Of each kernel of a result, by name.
std::map<std::string, std::uint32_t> registers_in(const std::string& file) {
  std::map<std::string, std::uint32_t> out;
  const auto result = json_of(file);
  for (const auto& kernel : result["kernels"])
    out[kernel["name"]] = kernel["resident"]["registers_per_thread"];
  return out;
}

TEST(OpenPoints, RegistersAreThoseOfTheProgramsMachineCode) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string made =
                        " -Xptxas -v -gencode arch=compute_75,code=sm_75 -gencode "
                        "arch=compute_90,code=sm_90",
                    json = folder / "r.json";
  for (const std::string more : {"", " -rdc=true"}) {
    const std::string program = build_program(folder, "bounds", made + more),
                      notified = read_file(folder / "log");
    for (const auto& [gpu, arch] : std::map<std::string, std::string>{
             {"v100", "sm_80"}, {"t4", "sm_75"}, {"a100", "sm_80"}, {"h100", "sm_90"}}) {
      ASSERT_EQ(exec({"--gpu", gpu, "--quiet", "--json", json}, {program}).status, 0);
      EXPECT_EQ(ptxas_registers(notified, arch).size(), 5u) << notified;
      EXPECT_EQ(registers_in(json), ptxas_registers(notified, arch)) << gpu << more;
    }
  }
  // A recording knows them of each GPU, and whoever wants the estimate gets it.
  const std::string recording = folder / "a.rdl";
  ASSERT_EQ(
      run_process(RADDLE_PROGRAM, {"record", "--quiet", "-o", recording, "--", folder / "bounds"})
          .status,
      0);
  const auto replayed = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"replay", recording, "--quiet", "--json", json});
    EXPECT_EQ(run_process(RADDLE_PROGRAM, options).status, 0);
    return registers_in(json);
  };
  EXPECT_EQ(replayed({"--gpu", "h100"}), ptxas_registers(read_file(folder / "log"), "sm_90"));
  EXPECT_NE(replayed({"--gpu", "h100", "--set", "isa.lowering=ptx", "--set", "isa.registers=ptx"}),
            ptxas_registers(read_file(folder / "log"), "sm_90"));
}

TEST(OpenPoints, ClustersOfTheLaunchAndTheirOccupancy) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program =
      build_program(folder, "clusters", "", "-gencode arch=compute_90,code=compute_90");
  for (const char* how : {"--functional", "--quiet"}) {
    const Outcome o = exec({"--gpu", "h100", "--quiet", how}, {program});
    EXPECT_EQ(o.status, 0) << o.out << o.err;
  }
  const Outcome older = exec({"--gpu", "a100", "--functional", "--quiet"}, {program});
  EXPECT_THAT(older.err, HasSubstr("cudaLaunchKernelExC: clusters need compute capability 9.0"));
  EXPECT_THAT(older.out, HasSubstr("\nlaunch: 912, not 0\n"));
  const Outcome live = exec({"--gpu", "h100", "--live", "--quiet"}, {program});
  EXPECT_EQ(live.status, 1);
  EXPECT_THAT(live.err, HasSubstr("ring: a launch of clusters that is executed while it is timed "
                                  "(--live) is not supported"));
}

TEST(OpenPoints, DivisionOf128Bits) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "int128");
  const Outcome o = exec({"--functional", "--quiet"}, {program});
  EXPECT_EQ(o.status, 0) << o.out << o.err;
}

TEST(OpenPoints, AttributesOfPointersAndArrays) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const Outcome o = exec({"--quiet"}, {build_program(folder, "attributes")});
  EXPECT_EQ(o.status, 0) << o.out << o.err;
}

// They bring a runtime of their own, which asks for a driver.
TEST(OpenPoints, LibrariesOfMachineCodeFailTheRunByName) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  for (const char* options : {"-lcusolver", "-DCRASH -lcusolver"}) {
    const std::string program = build_program(folder, "library", options);
    const Outcome run = exec({"--functional", "--quiet"}, {program});
    EXPECT_EQ(run.status, 1) << options;
    const std::size_t last = run.err.rfind("raddle: ");
    ASSERT_NE(last, std::string::npos);
    EXPECT_THAT(run.err.substr(last),
                AllOf(HasSubstr("libcusolver.so"), HasSubstr("(cusolverDnCreate)"),
                      HasSubstr("was not computed")))
        << run.err;
    for (const char* command : {"record", "compare --policies lrr,gto", "analyze locality"}) {
      std::istringstream split(command);
      std::vector<std::string> words;
      for (std::string word; split >> word;) words.push_back(word);
      if (words.front() == "record") words.insert(words.end(), {"-o", folder / "l.rdl"});
      words.insert(words.end(), {"--", program});
      const Outcome other = run_process(RADDLE_PROGRAM, words);
      EXPECT_EQ(other.status, 1) << command << other.err;
      EXPECT_THAT(other.err, HasSubstr("(cusolverDnCreate)")) << command;
    }
  }
}

TEST(OpenPoints, MissingLibrariesAreNamedBeforeTheStart) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  folder.write("none.c", "int cuInit(unsigned f) { return (int)f; }\n");
  const std::string there = folder.path().string();
  ASSERT_EQ(std::system(("cc -shared -Wl,-soname,libcuda.so.1 -o " + there + "/libcuda.so.1 " +
                         there + "/none.c && cc -shared -Wl,-soname,libcufft.so.99 -o " + there +
                         "/libcufft.so.99 " + there + "/none.c")
                            .c_str()),
            0);
  const std::string with = "-Xlinker --no-as-needed -L" + there + " -l:";
  const std::string driver = build_program(folder, "bounds", with + "libcuda.so.1");
  std::filesystem::remove(folder / "libcuda.so.1");
  const Outcome found = exec({"--functional", "--quiet"}, {driver});  // ours
  EXPECT_EQ(found.status, 0) << found.err;

  const std::string blas =
      build_program(folder, "bounds", with + "libcufft.so.99 -Xlinker -rpath=" + there);
  const Outcome warned = exec({"--functional", "--quiet"}, {blas});
  EXPECT_EQ(warned.status, 0) << warned.err;
  EXPECT_THAT(warned.err, HasSubstr("loads libcufft.so.99, which brings machine code only"));
  std::filesystem::remove(folder / "libcufft.so.99");
  const Outcome missing = exec({"--functional"}, {blas});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("needs libcufft.so.99, which the loader does not find"));
}

}  // namespace
}  // namespace raddle::test::open_points_test
