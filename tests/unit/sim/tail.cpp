// How long SMs have nothing left (sim/profile/tail.h), on launches made up by hand.
#include "raddle/sim/profile/tail.h"

#include <gtest/gtest.h>

#include <vector>

namespace raddle::sim::tail_test {
namespace {

struct Made {
  Cycle begin;
  std::optional<std::uint32_t> parent = {};
};
std::vector<KernelResult> kernels_of(const std::vector<Made>& all) {
  std::vector<KernelResult> out(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    out[i].begin = all[i].begin;
    if (all[i].parent) out[i].parent.emplace().kernel = *all[i].parent;
  }
  return out;
}

TEST(Tail, IsFromAnSmsLastBlockToTheLastOfAll) {
  const std::vector<KernelResult> kernels = kernels_of({{10}});
  const std::vector<timing::BlockSpan> blocks = {
      {0, 0, 0, 10, 50}, {0, 1, 1, 10, 80}, {0, 2, 0, 50, 60}};
  EXPECT_EQ(tail_cycles(kernels, blocks, 2), 20u);
}

TEST(Tail, AnSmWithoutABlockWaitsFromTheBegin) {
  const std::vector<timing::BlockSpan> blocks = {{0, 0, 0, 12, 50}};
  EXPECT_EQ(tail_cycles(kernels_of({{10}}), blocks, 3), 80u);
}

TEST(Tail, DescendantsCountWithTheirRootAndRootsApart) {
  const std::vector<KernelResult> kernels = kernels_of({{0}, {5, 0}, {7, 1}, {100}});
  const std::vector<timing::BlockSpan> blocks = {{0, 0, 0, 0, 20},
                                                 {1, 0, 1, 5, 30},
                                                 {2, 0, 0, 20, 90},
                                                 {3, 0, 0, 100, 110},
                                                 {3, 1, 1, 100, 104}};
  EXPECT_EQ(tail_cycles(kernels, blocks, 2), 60u + 6u);
}

TEST(Tail, NothingHasNone) { EXPECT_EQ(tail_cycles({}, {}, 4), 0u); }

}  // namespace
}  // namespace raddle::sim::tail_test
