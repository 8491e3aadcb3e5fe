// When lines of instructions come: the caches by themselves, exact cycles.
#include "raddle/timing/sm/instruction_cache.h"

#include <gtest/gtest.h>

#include "raddle/timing/code/decoded_kernel.h"
#include "raddle/trace/code.h"

namespace raddle::timing::instruction_cache_test {
namespace {

class InstructionCachesTest : public ::testing::Test {
 protected:
  InstructionCachesTest() {
    sm.schedulers = 2;
    FetchSpec& f = sm.fetch;
    f.instruction_bytes = 16;
    f.cache_line_bytes = 128;  // lines of 8
    f.cache_kib = 1;
    f.cache_ways = 8;  // one set of 8 lines
    f.miss_latency_cycles = 45;
    lowered.first = {0};  // no instruction: their places are all that counts
  }
  void make() {
    caches.emplace(sm);
    for (unsigned k = 0; k < 3; ++k) {
      codes[k].emplace(lowered, sm, k);
      launches[k].code = &*codes[k];
      launches[k].slot = static_cast<std::uint8_t>(k);
      launches[k].sequence = k;
    }
  }
  /// When scheduler 0 has line `line` of kernel 0, asked for at `now`.
  Cycle line(Cycle now, std::uint32_t line, unsigned kernel = 0, unsigned scheduler = 0) {
    return caches->ready(now, scheduler, launches[kernel], line * 8);
  }
  SmSpec sm;
  trace::LoweredCode lowered;
  std::optional<InstructionCaches> caches;
  std::optional<DecodedKernel> codes[3];
  Launch launches[3];
};

TEST_F(InstructionCachesTest, WithoutAStreamEachLineIsAMiss) {
  make();
  EXPECT_EQ(line(100, 0), 145u);
  EXPECT_EQ(line(120, 0), 145u) << "on its way";
  EXPECT_EQ(line(200, 0), 200u);
  EXPECT_EQ(line(200, 1), 245u);
  EXPECT_TRUE(caches->same_line(8, 15));
  EXPECT_FALSE(caches->same_line(7, 8));
}

TEST_F(InstructionCachesTest, BehindAMissTheNextLinesFollowByThemselves) {
  sm.fetch.stream_lines = 4;
  sm.fetch.stream_interval_cycles = 18;
  make();
  EXPECT_EQ(line(100, 0), 145u);
  // Eight instructions later: straight code runs at the stream's pace.
  EXPECT_EQ(line(153, 1), 163u);
  EXPECT_EQ(line(171, 2), 181u);
  // It waits for something, the stream goes on: a line that has come costs nothing.
  EXPECT_EQ(line(300, 3), 300u);
  // Four lines wait in the buffer at most, of which 3 was one: 4 to 7 came with it.
  EXPECT_EQ(line(300, 4), 300u);
  EXPECT_EQ(line(300, 7), 300u);
  EXPECT_EQ(line(300, 8), 318u);
  // A jump ahead takes what is nearer, the stream or a miss; backwards it is a miss.
  EXPECT_EQ(line(318, 10), 318u + 36);
  EXPECT_EQ(line(354, 14), 354u + 45);
  EXPECT_EQ(line(500, 40), 545u) << "too far ahead for the stream";
  EXPECT_EQ(line(600, 9), 645u);
}

TEST_F(InstructionCachesTest, TheL1IsThereForAllSchedulers) {
  sm.fetch.l1_kib = 2;
  sm.fetch.l1_ways = 16;
  sm.fetch.l1_miss_latency_cycles = 110;
  make();
  EXPECT_EQ(line(0, 5), 155u);
  EXPECT_EQ(line(60, 5, 0, 1), 110u + 45) << "on its way to the L1, then to the other scheduler";
  EXPECT_EQ(line(300, 5, 0, 1), 300u);
  for (std::uint32_t l = 10; l < 18; ++l) line(1000, l);  // pushes 5 out of the L0
  EXPECT_EQ(line(2000, 5), 2045u) << "still in the L1";
}

TEST_F(InstructionCachesTest, ALaunchBringsTheFirstLinesIntoTheL1) {
  sm.fetch.l1_kib = 2;
  sm.fetch.l1_ways = 16;
  sm.fetch.l1_miss_latency_cycles = 110;
  sm.fetch.launch_kib = 1;  // lines 0 to 7
  make();
  EXPECT_EQ(line(50, 0), 50u + 110 + 45);
  EXPECT_EQ(line(300, 7), 345u) << "in the L1 since 160";
  EXPECT_EQ(line(300, 8), 300u + 110 + 45);
  // The next launch of the kernel brings what it has lost meanwhile; what is left is there.
  launches[0].sequence = 9;
  EXPECT_EQ(line(400, 0), 400u);
}

TEST_F(InstructionCachesTest, KernelsAreToldApartAndFindTheirLinesAgain) {
  make();
  EXPECT_EQ(line(0, 0, 0), 45u);
  EXPECT_EQ(line(100, 0, 1), 145u);
  EXPECT_EQ(line(200, 0, 0), 200u) << "still there";
  caches->forget();
  EXPECT_EQ(line(300, 0, 0), 345u);
}

TEST_F(InstructionCachesTest, AStreamDoesNotOutliveForgetting) {
  sm.fetch.stream_lines = 4;
  sm.fetch.stream_interval_cycles = 18;
  make();
  line(0, 0);
  caches->forget();
  EXPECT_EQ(line(100, 1), 145u);
}

}  // namespace
}  // namespace raddle::timing::instruction_cache_test
