// cuSPARSE for unmodified programs: those of tests/cuda/programs check themselves against the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cuda/library_test.h"

namespace raddle::test::cusparse_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Cusparse : public LibraryTest {
 protected:
  Cusparse() : LibraryTest("-lcusparse") {}
};

TEST_F(Cusparse, ProductsWithDenseOnMachinesOfAllGenerations) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cusparse_products");
  for (const std::string gpu : {"gtx480", "v100", "h100"})
    passes({"--gpu", gpu, "--functional", "--quiet"}, {program});
  passes({"--gpu", "a100", "--quiet"}, {program, "s"});
}

// A group of lanes for a row is as large as rows are long; one algorithm splits entries evenly.
TEST_F(Cusparse, KernelsAreThoseOfRowsAndAlgorithms) {
  RADDLE_NEED_NVCC();
  const std::string json = folder_ / "r.json";
  passes({"--gpu", "a100", "--functional", "--quiet", "--json", json},
         {build("cusparse_products"), "none"});
  const std::set<std::string> kernels = kernels_in(json);
  for (const std::string name :
       {"sparse_sspmv_csr_2", "sparse_sspmv_csr_4", "sparse_sspmv_csr_8", "sparse_sspmv_csr_32",
        "sparse_sspmv_csr_split", "sparse_sspmv_carries", "sparse_sspmv_coo",
        "sparse_sspmv_coo_transposed", "sparse_sspmv_transposed_4", "sparse_dspmv_csr_32",
        "sparse_sspmm_by_entries"})
    EXPECT_TRUE(kernels.contains(name)) << name;
}

TEST_F(Cusparse, ProductsOfSparseAndTriangularSystems) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cusparse_sparse");
  for (const std::string gpu : {"gtx480", "v100", "a100"})
    passes({"--gpu", gpu, "--functional", "--quiet"}, {program});
  passes({"--gpu", "v100", "--quiet"}, {program, "small"});
}

TEST_F(Cusparse, IncompleteFactorisations) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cusparse_factors");
  for (const std::string gpu : {"gtx480", "h100"})
    passes({"--gpu", gpu, "--functional", "--quiet"}, {program});
  passes({"--gpu", "a100", "--quiet"}, {program});
}

TEST_F(Cusparse, VectorsConversionsAndSorts) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cusparse_conversions");
  for (const std::string gpu : {"gtx480", "a100"})
    passes({"--gpu", gpu, "--functional", "--quiet"}, {program});
  passes({"--gpu", "h100", "--quiet"}, {program, "do"});
}

TEST_F(Cusparse, HandlesDescriptorsArgumentsStreamsAndGraphs) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cusparse_api");
  passes({"--gpu", "a100", "--functional", "--quiet"}, {program});
  passes({"--gpu", "a100", "--live", "--quiet"}, {program});
  passes({"--gpu", "a100", "--quiet"}, {program});
}

TEST_F(Cusparse, WhatIsNotThereFailsTheRunByName) {
  RADDLE_NEED_NVCC();
  const Outcome o = exec({"--functional", "--quiet"}, {build("cusparse_api"), "more"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, HasSubstr("PASS"));
  EXPECT_THAT(
      o.err,
      AllOf(
          HasSubstr("cusparseCreateCsru2csrInfo is not supported (CUSPARSE_STATUS_NOT_SUPPORTED)"),
          HasSubstr("cusparseSpMV of a transposed matrix into 16-bit numbers is not supported")));
}

}  // namespace
}  // namespace raddle::test::cusparse_test
