// Replacement policies in an L2 slice, between two mocks.
#include <gtest/gtest.h>

#include "support/memory_mocks.h"
#include "support/settings.h"

namespace raddle::test::l2_replacement_test {
namespace {

constexpr std::uint8_t kAll = 0b1111;

/// A set of four ways: 'h' for each access that finds its line, 'm' for each that brings it.
class L2Replacement : public testing::TestWithParam<bool> {
 protected:
  std::string use(const char* policy, const std::vector<unsigned>& lines,
                  MessageKind kind = MessageKind::Read) {
    PartitionRig rig(one_slice(), GetParam());
    const auto choice = choose(policy::all_policies().l2_replacement, policy, {});
    if (policy != std::string("lru")) rig.partition().replace_by(*choice, 1);
    std::vector<std::uint32_t> of_set;
    for (std::uint32_t line = 0; of_set.size() < 16; ++line)
      if (rig.map().set(line) == 3) of_set.push_back(line);
    std::string out;
    Cycle at = 100;
    for (const unsigned line : lines) {
      const std::uint64_t before = rig.l2().hits;
      rig.arrive(at, message(kind, of_set[line], kAll));
      rig.run_until(at += 400);
      out += rig.l2().hits != before ? 'h' : 'm';
    }
    EXPECT_EQ(rig.partition().audit(), std::vector<std::string>{});
    return out;
  }
};

TEST_P(L2Replacement, LruKeepsWhatWasUsed) {
  EXPECT_EQ(use("lru", {1, 2, 3, 4, 1, 5, 1, 2}), "mmmmhmhm") << "5 takes 2's way";
}

TEST_P(L2Replacement, FifoDoesNot) {
  EXPECT_EQ(use("fifo", {1, 2, 3, 4, 1, 5, 1, 2}), "mmmmhmmm") << "5 takes 1's way, 1 takes 2's";
  EXPECT_EQ(use("fifo", {1, 2, 3, 4, 1, 5, 2}), "mmmmhmh");
}

// The pattern of the paper's figure: two lines that are used again, a scan, the two again.
TEST_P(L2Replacement, SrripKeepsWhatIsUsedAgainThroughAScan) {
  const std::vector<unsigned> mixed = {1, 2, 2, 1, 11, 12, 13, 14, 1, 2};
  EXPECT_EQ(use("lru", mixed), "mmhhmmmmmm");
  EXPECT_EQ(use("srrip", mixed), "mmhhmmmmhh");
}

TEST_P(L2Replacement, WritesThatBringTheirLineTakeAWayToo) {
  EXPECT_EQ(use("fifo", {1, 2, 3, 4, 1, 5, 1}, MessageKind::Write), "mmmmhmm");
}

INSTANTIATE_TEST_SUITE_P(Skip, L2Replacement, testing::Bool(),
                         [](const auto& info) { return info.param ? "Skip" : "EveryCycle"; });

}  // namespace
}  // namespace raddle::test::l2_replacement_test
