// cuRAND for unmodified programs: those of tests/cuda/programs check themselves against sums of
// NVIDIA's numbers and against the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cuda/library_test.h"

namespace raddle::test::curand_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Curand : public LibraryTest {
 protected:
  Curand() : LibraryTest("-lcurand") {}
};

TEST_F(Curand, SequencesAreNvidiasOnDeviceAndHost) {
  RADDLE_NEED_NVCC();
  passes({"--gpu", "a100", "--functional", "--quiet"}, {build("curand_sequences")});
}

TEST_F(Curand, SequencesOnMachinesOfAllGenerations) {
  RADDLE_NEED_NVCC();
  const std::string program = build("curand_sequences");
  for (const std::string gpu : {"gtx480", "v100", "h100"})
    for (const std::string type : {"101", "121", "141", "161", "201", "203"})
      passes({"--gpu", gpu, "--functional", "--quiet"}, {program, type});
}

TEST_F(Curand, SequencesInTime) {
  RADDLE_NEED_NVCC();
  const std::string program = build("curand_sequences");
  passes({"--gpu", "a100", "--quiet"}, {program, "101"});
  passes({"--gpu", "v100", "--quiet"}, {program, "141"});
}

TEST_F(Curand, NormallyDistributedNumbers) {
  RADDLE_NEED_NVCC();
  const std::string program = build("curand_normals");
  for (const std::string gpu : {"gtx480", "a100"})
    passes({"--gpu", gpu, "--functional", "--quiet"}, {program});
}

TEST_F(Curand, ArgumentsOffsetsGraphsAndTables) {
  RADDLE_NEED_NVCC();
  const std::string program = build("curand_api");
  passes({"--gpu", "a100", "--functional", "--quiet"}, {program});
  passes({"--gpu", "a100", "--live", "--quiet"}, {program});
}

// A starting state is a kernel of its own: one for each seed, not for each call.
TEST_F(Curand, KernelsAreNamedByGeneratorAndDistribution) {
  RADDLE_NEED_NVCC();
  const std::string program = build("curand_sequences"), json = folder_ / "r.json";
  passes({"--gpu", "a100", "--functional", "--quiet", "--json", json}, {program, "141"});
  std::multiset<std::string> kernels;
  const auto result = json_of(json);
  for (const auto& kernel : result["kernels"]) kernels.insert(kernel["name"]);
  EXPECT_EQ(kernels, (std::multiset<std::string>{
                         "curand_mtgp32_seed", "curand_mtgp32_seed", "curand_mtgp32_bits",
                         "curand_mtgp32_bits", "curand_mtgp32_uniform", "curand_mtgp32_uniform",
                         "curand_mtgp32_uniform_double", "curand_mtgp32_uniform_double",
                         "curand_mtgp32_poisson", "curand_mtgp32_poisson_inverse"}));
}

TEST_F(Curand, WhatIsNotThereFailsTheRunByName) {
  RADDLE_NEED_NVCC();
  const Outcome o = exec({"--functional", "--quiet"}, {build("curand_api"), "more"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, HasSubstr("PASS"));
  EXPECT_THAT(
      o.err,
      AllOf(HasSubstr("a scrambled Sobol' generator is not supported "
                      "(CURAND_STATUS_ARCH_MISMATCH)"),
            HasSubstr(
                "curandGetScrambleConstants32 is not supported (CURAND_STATUS_ARCH_MISMATCH)")));
}

}  // namespace
}  // namespace raddle::test::curand_test
