// Clusters as nvcc compiles them for sm_90, optimised and for debugging.
#include "nvcc_rig.h"

namespace raddle::exec::test::clusters_test {
namespace {

using u32 = std::uint32_t;

class Clusters : public OfEachBuild {
 protected:
  void SetUp() override {
    OfEachBuild::SetUp();
    if (!IsSkipped()) gpu = std::make_unique<Gpu>("clusters", GetParam());
  }
  std::unique_ptr<Gpu> gpu;
};
constexpr std::array kHopper = {Build{"sm_90", "-arch=compute_90"},
                                Build{"debug", "-arch=compute_90 -G"}};
INSTANTIATE_TEST_SUITE_P(Nvcc, Clusters, testing::ValuesIn(kHopper), build_name);

TEST_P(Clusters, AtomicsInTheSharedMemoryOfOtherBlocks) {
  constexpr u32 kBlocks = 8, kEach = 500;
  std::vector<std::uint8_t> in(kBlocks * kEach);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * i * 31 >> 3);
  const Address out = gpu->zeros(4 * 64 * kBlocks);
  gpu->run("histogram", {kBlocks, 1, 1}, {64, 1, 1}, gpu->upload(in), static_cast<int>(kEach), out);
  std::vector<int> want(64 * kBlocks);  // by cluster, owner, bin
  for (std::size_t i = 0; i < in.size(); ++i)
    ++want[i / kEach / 4 * 256 + in[i] % 4 * 64 + in[i] / 4];
  EXPECT_EQ(gpu->download<int>(out, want.size()), want);
}
TEST_P(Clusters, RanksShapesAndANeighboursMemory) {
  const Dim3 grid{4, 6, 1};
  const u32 blocks = 24;
  const Address out = gpu->zeros(4 * 32 * blocks), ids = gpu->zeros(16 * blocks);
  gpu->run("ring", grid, {32, 1, 1}, out, ids);
  const auto got = gpu->download<int>(out, 32 * blocks);
  const auto id = gpu->download<std::array<u32, 4>>(ids, blocks);
  for (u32 b = 0; b < blocks; ++b) {
    const u32 x = b % 4, y = b / 4, rank = x % 2 + 2 * (y % 2), next = (rank + 1) % 4;
    EXPECT_EQ(id[b], (std::array<u32, 4>{rank, x % 2 + 10 * (y % 2), 4, x / 2 + 10 * 3})) << b;
    const u32 neighbour = (y / 2 * 2 + next / 2) * 4 + x / 2 * 2 + next % 2;
    for (u32 i = 0; i < 32; ++i)
      EXPECT_EQ(got[b * 32 + i], static_cast<int>(neighbour * 100 + 31 - i)) << b << ", " << i;
  }
}
TEST_P(Clusters, StoresThroughMappedSharedAddresses) {
  const Address out = gpu->zeros(4 * 64 * 6);
  gpu->run("exchange", {6, 1, 1}, {64, 1, 1}, out);
  const auto got = gpu->download<int>(out, 64 * 6);
  for (int b = 0; b < 6; ++b)
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(got[64 * b + i], (b + 1) % 2 * 1000 + i + (b + 1) % 2 * 1000000) << b << ", " << i;
}
TEST_P(Clusters, SpacesOfSharedAddresses) {
  const Address out = gpu->zeros(8);
  gpu->run("spaces", {2, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(gpu->download<u32>(out, 2), (std::vector<u32>{13, 13}));
}
TEST_P(Clusters, WhatCannotBeLaunchedIsRefused) {
  const Address out = gpu->zeros(4096);
  try {
    gpu->run("exchange", {5, 1, 1}, {64, 1, 1}, out);
    FAIL() << "five blocks in clusters of two";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "kernel exchange cannot be launched: clusters of (2, 1, 1) blocks do not divide a "
                 "grid of (5, 1, 1)");
  }
  const Kernel& kernel = gpu->program.kernel("exchange");
  std::vector<std::byte> parameters(8);
  std::memcpy(parameters.data(), &out, 8);
  try {
    gpu->machine.live({&kernel, {{4, 1, 1}, {64, 1, 1}}, parameters});
    FAIL() << "live";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("kernel exchange cannot be run live"), std::string::npos);
  }
}

}  // namespace
}  // namespace raddle::exec::test::clusters_test
