// cuBLAS for unmodified programs: those of tests/cuda/programs check themselves against the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cuda/library_test.h"

namespace raddle::test::cublas_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Cublas : public LibraryTest {
 protected:
  Cublas() : LibraryTest("-lcublas -lcublasLt") {}
};

TEST_F(Cublas, VectorsOnMachinesOfAllGenerations) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cublas_vectors");
  for (const std::string gpu : {"gtx480", "v100", "h100"})
    passes({"--gpu", gpu, "--functional", "--quiet"}, {program});
  passes({"--gpu", "a100", "--quiet"}, {program, "small"});
}

TEST_F(Cublas, ProductsOnMachinesOfAllGenerations) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cublas_products");
  for (const std::string gpu : {"gtx480", "v100", "t4", "a100"})
    passes({"--gpu", gpu, "--functional", "--quiet"}, {program});
  // Large ones have large tiles.
  for (const std::string type : {"s", "h", "t"})
    passes({"--gpu", "h100", "--functional", "--quiet"}, {program, type, "large"});
}

// Pedantic compute types have kernels without matrix instructions.
TEST_F(Cublas, KernelsAreThoseOfTheGeneration) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cublas_products"), json = folder_ / "r.json";
  passes({"--gpu", "gtx480", "--functional", "--quiet", "--json", json}, {program, "h"});
  EXPECT_EQ(kernels_in(json), std::set<std::string>{"blas_hgemm_64x64"});
  passes({"--gpu", "v100", "--functional", "--quiet", "--json", json}, {program, "h"});
  EXPECT_EQ(kernels_in(json),
            (std::set<std::string>{"blas_hgemm_64x64", "blas_hgemm_tensor_64x64_nn",
                                   "blas_hgemm_tensor_64x64_nt", "blas_hgemm_tensor_64x64_tn",
                                   "blas_hgemm_tensor_64x64_tt"}));
}

TEST_F(Cublas, ProductsInTime) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cublas_products");
  passes({"--gpu", "v100", "--quiet"}, {program, "s"});
  passes({"--gpu", "a100", "--quiet"}, {program, "i"});
}

TEST_F(Cublas, LtWithLayoutsAndEpilogues) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cublas_lt");
  for (const std::string gpu : {"gtx480", "v100", "a100"})
    passes({"--gpu", gpu, "--functional", "--quiet"}, {program});
  passes({"--gpu", "a100", "--quiet"}, {program});
}

TEST_F(Cublas, HandlesArgumentsStreamsAndGraphs) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cublas_api");
  passes({"--gpu", "a100", "--functional", "--quiet"}, {program});
  passes({"--gpu", "a100", "--live", "--quiet"}, {program});
  passes({"--gpu", "a100", "--quiet"}, {program});
}

TEST_F(Cublas, WhatIsNotThereFailsTheRunByName) {
  RADDLE_NEED_NVCC();
  const Outcome o = exec({"--functional", "--quiet"}, {build("cublas_api"), "more"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, HasSubstr("PASS"));
  EXPECT_THAT(o.err, HasSubstr("cublasCgemm_v2 is not supported (CUBLAS_STATUS_NOT_SUPPORTED)"));
}

TEST_F(Cublas, AnAttributeThatIsNotThereIsCalledByItsName) {
  RADDLE_NEED_NVCC();
  const Outcome o = exec({"--functional", "--quiet"}, {build("cublas_lt"), "more"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("cublasLtMatmulDescSetAttribute of "
                               "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER is not supported"));
}

// NVIDIA's own library is where the program's path leads first.
TEST_F(Cublas, StandsBeforeALibraryInTheProgramsOwnPath) {
  RADDLE_NEED_NVCC();
  const std::string program = build_program(folder_, "cublas_api",
                                            "-lcublas -Xlinker --disable-new-dtags -Xlinker "
                                            "-rpath=/usr/local/cuda/lib64");
  passes({"--gpu", "a100", "--functional", "--quiet"}, {program});
}

}  // namespace
}  // namespace raddle::test::cublas_test
