// Kernels of libcu++, cooperative groups and wmma as nvcc compiles them
// (tests/data/ptx/nvcc_async.cu), run and compared with what they mean.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "instruction_case.h"
#include "raddle_paths.h"

namespace raddle::exec::test::nvcc_programs_test {
namespace {

std::string module_text() {
  std::ifstream file(RADDLE_SOURCE_DIR "/tests/data/ptx/nvcc_async.ptx");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.substr(text.find(".address_size 64") + 16);  // the rig has a header of its own
}

TEST(NvccPrograms, PipelineOfTwoStages) {
  Rig rig(module_text());
  constexpr unsigned kTiles = 9;
  std::vector<float> in(256 * kTiles);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 31 % 1009);
  const Address out = rig.zeros(4 * in.size());
  rig.run("pipeline2", {1, 1, 1}, {256, 1, 1}, rig.upload(in), out, kTiles);
  const auto got = rig.download<float>(out, in.size());
  for (unsigned i = 0; i < in.size(); ++i)
    ASSERT_EQ(got[i], in[i / 256 * 256 + 255 - i % 256] + 1) << i;
}
TEST(NvccPrograms, CopiesThatArriveAtABarrier) {
  Rig rig(module_text());
  std::vector<int> in(3 * 512);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 7 + 1);
  const Address out = rig.zeros(4 * in.size());
  rig.run("barrier_copy", {1, 1, 1}, {512, 1, 1}, rig.upload(in), out);
  const auto got = rig.download<int>(out, in.size());
  for (unsigned i = 0; i < in.size(); ++i)
    ASSERT_EQ(got[i], in[i / 512 * 512 + 511 - i % 512]) << i;
}
TEST(NvccPrograms, TilesReduceScanAndPartition) {
  Rig rig(module_text());
  std::vector<int> in(64);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 13 % 29);
  const Address out = rig.zeros(64 * 8 * 4);
  rig.run("tiles", {1, 1, 1}, {64, 1, 1}, rig.upload(in), out);
  const auto got = rig.download<int>(out, 64 * 8);
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned warp = t / 32 * 32, four = t / 4 * 4;
    int sum = 0, maximum = 0, upto = 0, before = 0, parity = 0, third = 0, large = 0;
    for (unsigned i = warp; i < warp + 32; ++i) {
      sum += in[i];
      upto += i <= t ? in[i] : 0;
      parity += (in[i] & 1) == (in[t] & 1) ? 1 : 0;
      third += in[i] % 3 == in[t] % 3 ? 1 : 0;
      large += in[i] > 10 ? 1 : 0;
    }
    for (unsigned i = four; i < four + 4; ++i) {
      maximum = std::max(maximum, in[i]);
      before += i < t ? in[i] : 0;
    }
    const int bits = std::bit_cast<int>(static_cast<float>(sum));
    EXPECT_THAT(std::vector<int>(got.begin() + 8 * t, got.begin() + 8 * t + 8),
                testing::ElementsAre(sum, maximum, upto, before, bits, parity, third,
                                     in[t] > 10 ? large : 0))
        << "thread " << t;
  }
}
TEST(NvccPrograms, AtomicsOfEveryScope) {
  Rig rig(module_text());
  const Address i = rig.zeros(4), u = rig.zeros(8), f = rig.zeros(4), d = rig.zeros(8),
                h = rig.zeros(4);
  rig.run("atomics", {2, 1, 1}, {128, 1, 1}, i, u, f, d, h);
  int maximum = 0;
  for (int t = 0; t < 128; ++t) maximum = std::max(maximum, t * 7 % 256);
  EXPECT_EQ(rig.download<int>(i, 1)[0], maximum);
  EXPECT_EQ(rig.download<u64>(u, 1)[0], 2u * 127 * 64);
  EXPECT_EQ(rig.download<float>(f, 1)[0], 256.0f);
  EXPECT_EQ(rig.download<double>(d, 1)[0], 128.0);
  EXPECT_EQ(rig.download<s16>(h, 1)[0], 512);
}
TEST(NvccPrograms, WmmaGemm) {
  Rig rig(module_text());
  constexpr unsigned n = 64;
  const auto value = [](unsigned i) { return static_cast<int>(i * 37 % 11) - 5; };
  std::vector<u16> a(n * n), b(n * n);  // whole numbers up to 5 as halves
  constexpr u16 kHalves[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500};
  const auto half = [&](int x) {
    return static_cast<u16>(kHalves[x < 0 ? -x : x] | (x < 0 ? 0x8000 : 0));
  };
  for (unsigned i = 0; i < n * n; ++i) {
    a[i] = half(value(i));
    b[i] = half(value(3 * i + 1));
  }
  const Address c = rig.zeros(4 * n * n);
  rig.run("wmma_gemm", {n / 16, n / 16, 1}, {32, 1, 1}, rig.upload(a), rig.upload(b), c, n);
  const auto got = rig.download<float>(c, n * n);
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j) {
      int sum = 0;
      for (unsigned k = 0; k < n; ++k) sum += value(i * n + k) * value(3 * (j * n + k) + 1);
      ASSERT_EQ(got[i * n + j], static_cast<float>(2 * sum)) << i << ", " << j;
    }
}

}  // namespace
}  // namespace raddle::exec::test::nvcc_programs_test
