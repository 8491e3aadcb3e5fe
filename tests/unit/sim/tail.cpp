// How long SMs have nothing left (sim/tail.h), on launches made up by hand.
#include "raddle/sim/tail.h"

#include <gtest/gtest.h>

#include <vector>

namespace raddle::sim {
namespace {

KernelResult kernel(Cycle begin, std::optional<std::uint32_t> parent = {}) {
  KernelResult out;
  out.begin = begin;
  if (parent) {
    out.parent.emplace();
    out.parent->kernel = *parent;
  }
  return out;
}

TEST(Tail, IsFromAnSmsLastBlockToTheLastOfAll) {
  const std::vector<KernelResult> kernels = {kernel(10)};
  const std::vector<timing::BlockSpan> blocks = {
      {0, 0, 0, 10, 50}, {0, 1, 1, 10, 80}, {0, 2, 0, 50, 60}};
  EXPECT_EQ(tail_cycles(kernels, blocks, 2), 20u);
}

TEST(Tail, AnSmWithoutABlockWaitsFromTheBegin) {
  const std::vector<timing::BlockSpan> blocks = {{0, 0, 0, 12, 50}};
  EXPECT_EQ(tail_cycles(std::vector{kernel(10)}, blocks, 3), 80u);
}

TEST(Tail, DescendantsCountWithTheirRootAndRootsApart) {
  const std::vector<KernelResult> kernels = {kernel(0), kernel(5, 0), kernel(7, 1), kernel(100)};
  const std::vector<timing::BlockSpan> blocks = {{0, 0, 0, 0, 20},
                                                 {1, 0, 1, 5, 30},
                                                 {2, 0, 0, 20, 90},
                                                 {3, 0, 0, 100, 110},
                                                 {3, 1, 1, 100, 104}};
  EXPECT_EQ(tail_cycles(kernels, blocks, 2), 60u + 6u);
}

TEST(Tail, NothingHasNone) { EXPECT_EQ(tail_cycles({}, {}, 4), 0u); }

}  // namespace
}  // namespace raddle::sim
