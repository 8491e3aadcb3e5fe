// DeviceMemory: addresses, guard gaps, byte-exact validity, reuse.
#include "raddle/exec/memory/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <new>

#include "raddle/base/rng.h"

namespace raddle::exec::device_memory_test {
namespace {

constexpr std::uint64_t kCapacity = 1 << 20;

TEST(DeviceMemory, StartsAtBaseAlignedAndZeroed) {
  DeviceMemory memory(kCapacity);
  const Address a = *memory.allocate(1000);
  EXPECT_EQ(a, DeviceMemory::kBase);
  EXPECT_EQ(a % DeviceMemory::kAlignment, 0u);
  for (unsigned i = 0; i < 1000; ++i) EXPECT_EQ(memory.host(a)[i], std::byte{0});
}

/// What the system counts as this process's data, bytes.
std::uint64_t data_size() {
  std::ifstream status("/proc/self/status");
  std::uint64_t kib = 0;
  for (std::string word; status >> word;)
    if (word == "VmData:") status >> kib;
  return kib << 10;
}

/// Ends with 7 when a device of 16 GiB works in a process that may have 256 MiB more, and says so
/// when it may not have what is asked for.
[[noreturn]] void allocate_under_a_limit() {
  constexpr std::uint64_t kRoom = std::uint64_t{256} << 20;
  const rlimit limit{data_size() + kRoom, RLIM_INFINITY};
  setrlimit(RLIMIT_DATA, &limit);
  DeviceMemory memory(std::uint64_t{16} << 30);
  const Address a = *memory.allocate(kRoom / 4);
  std::memset(memory.host(a), 1, kRoom / 4);
  try {
    memory.allocate(2 * kRoom);
  } catch (const std::bad_alloc&) {
    std::_Exit(memory.valid(a, kRoom / 4) ? 7 : 8);
  }
  std::_Exit(9);
}

// A sweep limits its runs to the memory there is, which may be less than a device could have.
TEST(DeviceMemory, OnlyWhatIsAllocatedCountsAgainstALimit) {
  EXPECT_EXIT(allocate_under_a_limit(), testing::ExitedWithCode(7), "");
}

/// Ends with 7 when a device of 141 GiB works in a process whose address space is limited to 1 GiB
/// more than it has, and half of that is left for the host.
[[noreturn]] void reserve_under_a_limit() {
  constexpr std::uint64_t kRoom = std::uint64_t{1} << 30, kDevice = std::uint64_t{141} << 30;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * 4096 + kRoom, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  DeviceMemory memory(kDevice);
  if (memory.capacity() > kRoom / 2 || memory.capacity() < kRoom / 4) std::_Exit(8);
  const auto a = memory.allocate(kRoom / 8);
  if (!a || memory.allocate(kRoom)) std::_Exit(9);
  std::memset(memory.host(*a), 1, kRoom / 8);
  std::_Exit(std::malloc(kRoom / 4) != nullptr ? 7 : 10);
}

TEST(DeviceMemory, TakesWhatTheSystemGivesOfTheAddressSpace) {
  EXPECT_EXIT(reserve_under_a_limit(), testing::ExitedWithCode(7), "");
  EXPECT_EQ(DeviceMemory(kCapacity).capacity(), kCapacity);
}

TEST(DeviceMemory, OneBytePastAnAllocationIsInvalid) {
  DeviceMemory memory(kCapacity);
  for (std::uint64_t size : {1, 127, 128, 129, 255, 256, 1000}) {
    const Address a = *memory.allocate(size);
    EXPECT_TRUE(memory.valid(a, size)) << size;
    EXPECT_FALSE(memory.valid(a, size + 1)) << size;
    EXPECT_FALSE(memory.valid(a + size, 1)) << size;
    EXPECT_FALSE(memory.valid(a - 1, 1)) << size;
  }
}

TEST(DeviceMemory, LineTableAgreesWithValid) {
  DeviceMemory memory(kCapacity);
  Rng rng(7);
  for (int i = 0; i < 40; ++i) (void)memory.allocate(1 + rng.below(2000));
  for (std::uint64_t offset = 0; offset < memory.extent(); ++offset) {
    const bool by_line = offset % 128 < memory.valid_bytes()[offset / 128];
    ASSERT_EQ(by_line, memory.valid(DeviceMemory::kBase + offset, 1)) << offset;
  }
}

TEST(DeviceMemory, NeighboursAreSeparatedByAnInvalidLine) {
  DeviceMemory memory(kCapacity);
  const Address a = *memory.allocate(256), b = *memory.allocate(256);
  EXPECT_GE(b - a, 256u + 128u);
  EXPECT_EQ(memory.valid_bytes()[(a - DeviceMemory::kBase + 256) / 128], 0);
}

TEST(DeviceMemory, RefusesMoreThanItsCapacityAndGoesOn) {
  DeviceMemory memory(kCapacity);
  EXPECT_FALSE(memory.allocate(kCapacity + 1));
  EXPECT_FALSE(memory.allocate(~std::uint64_t{0}));
  EXPECT_TRUE(memory.allocate(kCapacity / 2));
  EXPECT_FALSE(memory.allocate(kCapacity / 2 + 1));
  EXPECT_TRUE(memory.allocate(100));
}

TEST(DeviceMemory, FreedRangesAreInvalidAndUsedAgain) {
  DeviceMemory memory(kCapacity);
  const Address a = *memory.allocate(500);
  EXPECT_EQ(memory.used(), 500u);
  EXPECT_TRUE(memory.free(a));
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_FALSE(memory.valid(a, 1));
  EXPECT_EQ(memory.valid_bytes()[0], 0);
  EXPECT_FALSE(memory.free(a)) << "twice";
  EXPECT_EQ(*memory.allocate(510), a) << "same footprint";
}

// What was freed side by side is one gap: sizes need not come again.
TEST(DeviceMemory, GrowingSizesFitWhileOnlyOneIsThere) {
  DeviceMemory memory(16 * kCapacity);
  const std::uint64_t all = memory.largest_free();
  for (std::uint64_t size = all / 16; size <= all; size += all / 16) {
    const auto at = memory.allocate(size);
    ASSERT_TRUE(at) << size;
    EXPECT_TRUE(memory.free(*at));
  }
  EXPECT_EQ(memory.largest_free(), all);
  EXPECT_TRUE(memory.allocate(all));
  EXPECT_EQ(memory.largest_free(), 0u);
}

TEST(DeviceMemory, RandomAllocationsNeverOverlapAndFailOnlyForLackOfAGap) {
  DeviceMemory memory(kCapacity);
  Rng rng(5);
  std::map<Address, std::uint64_t> live;
  unsigned refused = 0, used_again = 0;
  for (unsigned step = 0; step < 4000; ++step) {
    if (!live.empty() && rng.below(2) == 0) {
      const auto at = std::next(live.begin(), rng.below(static_cast<std::uint32_t>(live.size())));
      ASSERT_TRUE(memory.free(at->first));
      live.erase(at);
      continue;
    }
    const std::uint64_t size = 1 + rng.below(kCapacity / 4), room = memory.largest_free();
    const auto at = memory.allocate(size);
    ASSERT_EQ(at.has_value(), size <= room) << "step " << step;
    if (!at) {
      ++refused;
      continue;
    }
    const auto after = live.upper_bound(*at);
    if (after != live.end()) {
      ASSERT_LT(*at + size, after->first);
      ++used_again;
    }
    if (after != live.begin()) {
      ASSERT_LT(std::prev(after)->first + std::prev(after)->second, *at);
    }
    ASSERT_LE(*at + size, DeviceMemory::kBase + kCapacity);
    ASSERT_LE(*at + size, DeviceMemory::kBase + memory.extent());
    ASSERT_TRUE(memory.valid(*at, size));
    live[*at] = size;
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(used_again, 100u);
}

TEST(DeviceMemory, FreeOfTheMiddleIsRefused) {
  DeviceMemory memory(kCapacity);
  const Address a = *memory.allocate(500);
  EXPECT_FALSE(memory.free(a + 4));
  EXPECT_TRUE(memory.valid(a, 500));
}

TEST(DeviceMemory, AnEmptyAllocationStillHasAnAddress) {
  DeviceMemory memory(kCapacity);
  const Address a = *memory.allocate(0), b = *memory.allocate(0);
  EXPECT_NE(a, b);
}

TEST(DeviceMemory, DescribeNamesTheNearestAllocation) {
  DeviceMemory memory(kCapacity);
  EXPECT_EQ(memory.describe(DeviceMemory::kBase), "no memory is allocated");
  const Address a = *memory.allocate(4096);
  EXPECT_EQ(memory.describe(a + 4112),
            "16 bytes past the end of the 4096-byte allocation at 0x1000000000");
  EXPECT_EQ(memory.describe(a - 8), "8 bytes before the 4096-byte allocation at 0x1000000000");
  EXPECT_EQ(memory.describe(a + 5), "byte 5 of the 4096-byte allocation at 0x1000000000");
  EXPECT_EQ(memory.describe(a + (std::uint64_t{1} << 34)),
            "17179865088 bytes past the end of the 4096-byte allocation at 0x1000000000")
      << "index -1 as 32 bits without sign";
  EXPECT_EQ(memory.describe(8), "near the null pointer");
  EXPECT_EQ(memory.describe(0x7ffc'0000'0000), "far from every allocation") << "a host's pointer";
}

TEST(DeviceMemory, DescribeNamesWhatTheProgramKnows) {
  using Kind = DeviceMemory::Owner::Kind;
  DeviceMemory memory(kCapacity);
  memory.allocate(41, {Kind::Internal});
  EXPECT_EQ(memory.describe(DeviceMemory::kBase + 50), "no memory is allocated");
  const Address table = *memory.allocate(400, {Kind::Variable, "table"});
  const Address buffer = *memory.allocate(4096);
  memory.allocate(10, {Kind::Internal});
  EXPECT_EQ(memory.describe(table + 404),
            "4 bytes past the end of variable 'table' of 400 bytes at 0x1000000200");
  EXPECT_EQ(memory.describe(table + 2), "byte 2 of variable 'table' of 400 bytes at 0x1000000200");
  EXPECT_EQ(memory.describe(table - 4),
            "4 bytes before variable 'table' of 400 bytes at 0x1000000200");
  // In the guard between the two: the nearer one.
  EXPECT_EQ(memory.describe(buffer - 8), "8 bytes before the 4096-byte allocation at 0x1000000500");
  EXPECT_EQ(memory.describe(buffer + 4096 + 512 + 4),
            "516 bytes past the end of the 4096-byte allocation at 0x1000000500")
      << "an allocation of ours that lies nearer is not named";
}

TEST(DeviceMemory, TellsWhatTheHostHasMadeAndFreedAndOfVariables) {
  using Kind = DeviceMemory::Owner::Kind;
  DeviceMemory memory(kCapacity);
  EXPECT_TRUE(memory.take_changes().empty());
  const Address table = *memory.allocate(400, {Kind::Variable, "table"});
  const Address ours = *memory.allocate(41, {Kind::Internal});
  const Address heap = *memory.allocate(42, {Kind::Heap});
  const Address buffer = *memory.allocate(4096);
  EXPECT_EQ(memory.take_changes(),
            (trace::AllocationChanges{{}, {{table, 400, "table"}, {buffer, 4096, "", 1}}}));
  EXPECT_TRUE(memory.take_changes().empty()) << "told once";
  EXPECT_TRUE(memory.free(table));
  EXPECT_TRUE(memory.free(ours));
  EXPECT_TRUE(memory.free(heap));
  EXPECT_EQ(memory.take_changes(), (trace::AllocationChanges{{table}, {}}));
  EXPECT_TRUE(memory.free(*memory.allocate(8)));
  EXPECT_TRUE(memory.take_changes().empty()) << "nobody has seen it";
  EXPECT_TRUE(memory.free(buffer));
  EXPECT_EQ(*memory.allocate(4096), buffer);
  EXPECT_EQ(memory.take_changes(), (trace::AllocationChanges{{buffer}, {{buffer, 4096, "", 3}}}))
      << "another one at its place";
}

}  // namespace
}  // namespace raddle::exec::device_memory_test
