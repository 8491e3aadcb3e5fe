#include "raddle/timing/gpu/residency.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "raddle/timing/gpu/gpu.h"
#include "support/machines.h"

namespace raddle::residency_test {
namespace {

using timing::residency;

class ResidencyTest : public ::testing::Test {
 protected:
  ResidencyTest() {
    code.name = "k";
    code.registers_per_thread = 32;
  }
  timing::SmSpec sm =
      support::large_machine().sm;  // 2048 threads, 64 warps, 65536 registers, 96 KiB, 32 blocks
  trace::KernelCode code;
  trace::LaunchShape shape{{100}, {256}, 0};
};

TEST_F(ResidencyTest, RegistersAreGivenPerWarpInUnits) {
  code.registers_per_thread = 33;
  EXPECT_EQ(timing::block_needs(sm, code, shape).registers, 8u * 1280)
      << "33 x 32 = 1056, rounded up to 256s";
}

// cudaOccMaxBlocksPerSMRegsLimit of NVIDIA's cuda_occupancy.h: of the registers of a partition a
// warp takes its own, and a block's warps are spread over all partitions.
TEST_F(ResidencyTest, AWarpsRegistersLieInOnePartition) {
  sm.register_partitions = 4;
  unsigned fewer = 0;
  for (unsigned registers = 1; registers <= 255; ++registers)
    for (unsigned threads = 32; threads <= 1024; threads += 32) {
      code.registers_per_thread = registers;
      shape.block.x = threads;
      const unsigned own = (registers * 32 + 255) / 256 * 256, warps = threads / 32;
      const unsigned by_registers = 4 * (16384 / own) / warps;
      const unsigned expected = std::min({by_registers, 64 / warps, 32u});
      ASSERT_EQ(residency(sm, code, shape).blocks, expected) << registers << " " << threads;
      fewer += by_registers < 65536 / (own * warps) && by_registers == expected ? 1 : 0;
    }
  EXPECT_GT(fewer, 100u) << "of 65,536 in one piece more would fit";
  code.registers_per_thread = 37;
  shape.block.x = 64;
  EXPECT_EQ(residency(sm, code, shape).blocks, 24u) << "12 warps of 1,280 to each 16,384";
}

// What is told of a block is what it has, not what it is charged for its partitions' sake.
TEST_F(ResidencyTest, RegistersThatAreToldAreThoseOfItsWarps) {
  sm.register_partitions = 4;
  code.registers_per_thread = 21;  // 672, so 768 a warp: 21 warps in 16,384 and 256 left over
  const timing::Residency fit = residency(sm, code, shape);
  EXPECT_EQ(fit.limits[2].needs, 8u * 768);
  EXPECT_EQ(fit.limits[2].fit, 4u * 21 / 8);
  EXPECT_GT(timing::block_needs(sm, code, shape).registers, 8u * 768);
  EXPECT_EQ(timing::taken_by_block(sm, code, shape).registers, 8u * 768);
}

TEST_F(ResidencyTest, APartitionWithoutRoomForAWarpIsSaid) {
  sm.register_partitions = 4;
  sm.registers = 2048;
  code.registers_per_thread = 22;
  shape.block.x = 32;
  EXPECT_EQ(residency(sm, code, shape).reason,
            "a block of kernel 'k' needs room for 1 warp of 768 registers; an SM of this machine "
            "has 4 partitions of 512 registers, with room for 0");
  sm.registers = 4096;
  shape.block.x = 5 * 32;  // 3,840 registers in all
  EXPECT_EQ(residency(sm, code, shape).reason,
            "a block of kernel 'k' needs room for 5 warps of 768 registers; an SM of this machine "
            "has 4 partitions of 1024 registers, with room for 4");
}

TEST_F(ResidencyTest, SharedMemoryIsStaticPlusDynamicInUnits) {
  code.static_shared_bytes = 100;
  shape.dynamic_shared_bytes = 1000;
  EXPECT_EQ(timing::block_needs(sm, code, shape).shared_bytes, 1280u);
}

// From compute capability 8.0 on, also of a block that has no shared memory.
TEST_F(ResidencyTest, TheSystemKeepsSomeSharedMemoryOfEachBlock) {
  sm.shared_reserved_bytes = 1024;
  EXPECT_EQ(timing::block_needs(sm, code, shape).shared_bytes, 1024u);
  code.static_shared_bytes = 100;
  EXPECT_EQ(timing::block_needs(sm, code, shape).shared_bytes, 1280u);
  shape = {{100}, {32}, 0};
  code = {};
  code.registers_per_thread = 1;
  sm.shared_kib = 20;
  EXPECT_EQ(residency(sm, code, shape).blocks, 20u);
  EXPECT_EQ(residency(sm, code, shape).limited_by, "shared memory");
  code.name = "k";
  shape.dynamic_shared_bytes = 20 * 1024;
  EXPECT_EQ(residency(sm, code, shape).reason,
            "a block of kernel 'k' needs 21504 bytes of shared memory; an SM of this machine has "
            "20480");
}

TEST_F(ResidencyTest, APartialWarpTakesAWholeWarp) {
  shape.block = {33};
  EXPECT_EQ(timing::block_needs(sm, code, shape).warps, 2u);
  EXPECT_EQ(timing::block_needs(sm, code, shape).threads, 33u);
}

TEST_F(ResidencyTest, TheScarcestResourceDecides) {
  EXPECT_EQ(residency(sm, code, shape).blocks, 8u);
  EXPECT_EQ(residency(sm, code, shape).limited_by, "threads");
  code.registers_per_thread = 64;
  EXPECT_EQ(residency(sm, code, shape).blocks, 4u);
  EXPECT_EQ(residency(sm, code, shape).limited_by, "registers");
  shape.dynamic_shared_bytes = 40000;
  EXPECT_EQ(residency(sm, code, shape).blocks, 2u);
  EXPECT_EQ(residency(sm, code, shape).limited_by, "shared memory");
  shape = {{100}, {32}, 0};
  code.registers_per_thread = 1;
  EXPECT_EQ(residency(sm, code, shape).blocks, 32u);
  EXPECT_EQ(residency(sm, code, shape).limited_by, "block slots");
  shape.block = {33};
  sm.threads = 2048;
  sm.blocks = 64;
  sm.warps = 56;
  EXPECT_EQ(residency(sm, code, shape).blocks, 28u);
  EXPECT_EQ(residency(sm, code, shape).limited_by, "warps");
}

TEST_F(ResidencyTest, NoSharedMemoryIsNoLimit) {
  sm.shared_kib = 0;
  EXPECT_EQ(residency(sm, code, shape).blocks, 8u);
}

TEST_F(ResidencyTest, WhatDoesNotFitIsToldWithBothNumbers) {
  code.registers_per_thread = 255;
  shape.block = {1024};
  EXPECT_EQ(residency(sm, code, shape).reason,
            "a block of kernel 'k' needs 262144 registers; an SM of this machine has 65536");
  code.registers_per_thread = 16;
  shape.block = {64, 64};
  EXPECT_EQ(residency(sm, code, shape).reason,
            "a block of kernel 'k' has 4096 threads; this machine allows 1024");
  shape.block = {0xffffffff, 0xffffffff, 64};
  EXPECT_EQ(residency(sm, code, shape).blocks, 0u) << "absurd shapes do not wrap around";
}

}  // namespace
}  // namespace raddle::residency_test
