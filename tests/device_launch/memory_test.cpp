// What a launch by a kernel costs the host: programs make tens of thousands of them.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "device_launch/programs.h"

namespace raddle::test {
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

// 2 MiB each would be 16 GiB, and 2 KiB of text each 16 MiB.
TEST(Memory, EightThousandLaunchesTakeFarLessThanAGibibyte) {
  const std::uint64_t before = peak_bytes();
  Outcome1 out = launch_one(launching(128));
  EXPECT_EQ(out.result.kernels.size(), 8193u);
  EXPECT_LT(peak_bytes() - before, std::uint64_t{150} << 20);
}

}  // namespace
}  // namespace raddle::test
