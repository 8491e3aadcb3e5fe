// What a launch by a kernel costs the host: programs make tens of thousands of them.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "device_launch/programs.h"

namespace raddle::test::memory_test {
namespace {

std::uint64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

/// Blocks of 96 threads, of which 64 launch a kernel of two warps each.
OneLaunch launching(std::uint32_t blocks) {
  return {"_Z4manyPi", {blocks}, {96}, {}, std::size_t{96} * blocks};
}

/// Time, JSON and everything else that a run of the program makes.
std::uint64_t peak_bytes_of(std::uint32_t blocks) {
  const std::uint64_t before = peak_bytes();
  const Outcome1 out = launch_one(launching(blocks));
  EXPECT_EQ(out.result.kernels.size(), 1 + std::size_t{64} * blocks);
  const auto json = sim::to_json(out.result);
  EXPECT_EQ(json["kernels_by_name"][1]["launches"], 64 * blocks);
  EXPECT_LT(json.dump(2).size(), std::size_t{64} << 10);
  return peak_bytes() - before;
}

// Each launch took 2 MiB once: 16 GiB. In this order, since the peak never falls.
TEST(Memory, EightThousandLaunchesTakeFarLessThanAGibibyte) {
  EXPECT_LT(peak_bytes_of(128), std::uint64_t{128} << 20);
}

TEST(Memory, AHundredThousandLaunchesTakeLessThanAGibibyte) {
  EXPECT_LT(peak_bytes_of(1563), std::uint64_t{1} << 30);
}

}  // namespace
}  // namespace raddle::test::memory_test
