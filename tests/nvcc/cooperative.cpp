// Cooperative groups as nvcc compiles them: the grid barrier spins on the driver's workspace.
#include <numeric>

#include "nvcc_rig.h"

namespace raddle::exec::test::cooperative_test {
namespace {

using u32 = std::uint32_t;

class Cooperative : public OfEachBuild {
 protected:
  void SetUp() override {
    OfEachBuild::SetUp();
    if (!IsSkipped()) gpu = std::make_unique<Gpu>("cooperative", GetParam());
  }
  std::unique_ptr<Gpu> gpu;
};
INSTANTIATE_TEST_SUITE_P(Nvcc, Cooperative, testing::ValuesIn(kBuilds), build_name);

TEST_P(Cooperative, EveryStepSeesTheOneBeforeOfAllBlocks) {
  constexpr int n = 3000, steps = 12;
  std::vector<float> a(n);
  for (int i = 0; i < n; ++i) a[i] = static_cast<float>(i * i % 97);
  const Address from = gpu->upload(a), to = gpu->zeros(4 * n);
  gpu->cooperative = true;
  gpu->run("ring", {12, 1, 1}, {128, 1, 1}, from, to, n, steps);
  for (int s = 0; s < steps; ++s) {
    std::vector<float> b(n);
    for (int i = 0; i < n; ++i) b[i] = (a[(i + n - 1) % n] + 2.0f * a[i] + a[(i + 1) % n]) * 0.25f;
    a = b;
  }
  EXPECT_EQ(gpu->download<float>(from, n), a);
}
TEST_P(Cooperative, LiveTheBarrierWaitsForWhoeverIsRead) {
  // One warp a block, read in turn; the last block is not read until all others spin.
  constexpr int n = 256, steps = 3;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = static_cast<float>(i % 19);
  const Address from = gpu->upload(values), to = gpu->zeros(4 * n);
  const Kernel& kernel = gpu->program.kernel("ring");
  std::vector<std::byte> parameters(24);
  std::memcpy(parameters.data(), &from, 8);
  std::memcpy(parameters.data() + 8, &to, 8);
  std::memcpy(parameters.data() + 16, &n, 4);
  std::memcpy(parameters.data() + 20, &steps, 4);
  Launch launch{&kernel, {{8, 1, 1}, {32, 1, 1}}, parameters};
  launch.cooperative = true;
  const auto stream = gpu->machine.live(launch);
  std::vector<trace::WarpCursor> cursors;
  for (u32 block = 0; block < 8; ++block) cursors.push_back(stream->open(block, 0));
  std::vector<char> ended(8);
  for (int turn = 0; turn < 3000; ++turn)
    for (u32 block = 0; block + 1 < 8; ++block) ended[block] = !stream->refill(cursors[block]);
  EXPECT_EQ(std::count(ended.begin(), ended.end(), 1), 0);
  for (int turn = 0; turn < 3000; ++turn)
    for (u32 block = 0; block < 8; ++block)
      if (ended[block] == 0) ended[block] = !stream->refill(cursors[block]);
  EXPECT_EQ(std::count(ended.begin(), ended.end(), 1), 8);
  for (int step = 0; step < steps; ++step) {
    std::vector<float> next(n);
    for (int i = 0; i < n; ++i)
      next[i] = (values[(i + n - 1) % n] + 2.0f * values[i] + values[(i + 1) % n]) * 0.25f;
    values = next;
  }
  EXPECT_EQ(gpu->download<float>(to, n), values);
}
TEST_P(Cooperative, AllBlocksReadWhatAllBlocksWrote) {
  constexpr int n = 10000;
  std::vector<int> in(n);
  std::iota(in.begin(), in.end(), -17);
  const int sum = std::accumulate(in.begin(), in.end(), 0);
  const Address partial = gpu->zeros(4 * 40), out = gpu->zeros(4 * 40 * 96);
  gpu->cooperative = true;
  for (int time = 0; time < 2; ++time)  // each launch has a barrier of its own
    gpu->run("sum_all", {40, 1, 1}, {96, 1, 1}, gpu->upload(in), partial, out, n);
  for (int got : gpu->download<int>(out, 40 * 96)) ASSERT_EQ(got, sum);
}
TEST_P(Cooperative, AnOrdinaryLaunchMeetsTheTrapOfGridSync) {
  const Address a = gpu->zeros(400);
  const std::string what = run_error([&] {
    gpu->run("ring", {1, 1, 1}, {32, 1, 1}, a, a, 100, 1);
  });
  EXPECT_NE(what.find("trap"), std::string::npos) << what;
}
TEST_P(Cooperative, CoalescedGroupsAggregate) {
  constexpr int n = 256;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i * 31 % 257;
  const Address counter = gpu->zeros(4), out = gpu->zeros(4 * n);
  gpu->run("aggregate", {4, 1, 1}, {64, 1, 1}, gpu->upload(in), counter, out);
  std::vector<int> want;
  for (int v : in)
    if (v % 3 == 0) want.push_back(v);
  ASSERT_EQ(gpu->download<int>(counter, 1)[0], static_cast<int>(want.size()));
  auto got = gpu->download<int>(out, want.size());
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(got, want);
}
TEST_P(Cooperative, PartitionsOfTiles) {
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i * 37 % 101;
  const Address out = gpu->zeros(16 * 64);
  gpu->run("partitions", {1, 1, 1}, {64, 1, 1}, gpu->upload(in), out);
  const auto got = gpu->download<std::array<int, 4>>(out, 64);
  for (int i = 0; i < 64; ++i) {
    std::array<int, 4> want{};
    int size = 0, rank = 0;
    for (int k = i / 16 * 16; k < i / 16 * 16 + 16; ++k) {
      if (k <= i) want[0] += in[k];
      want[1] = std::max(want[1], in[k]);
      if (in[k] % 3 == in[i] % 3) want[2] += in[k];
      if ((in[k] > 50) != (in[i] > 50)) continue;
      ++size;
      rank += k < i ? 1 : 0;
    }
    want[3] = 100 * size + rank;
    EXPECT_EQ(got[i], want) << i;
  }
}
TEST_P(Cooperative, TilesShuffleAndVoteAmongThemselves) {
  const Address out = gpu->zeros(4 * 64);
  gpu->run("tiles", {1, 1, 1}, {64, 1, 1}, out);
  const auto got = gpu->download<int>(out, 64);
  for (int i = 0; i < 64; ++i) {
    const int first = i / 8 * 8, v = 3 * (i % 8 == 7 ? i : i + 1);
    int ballot = 0;
    for (int k = 0; k < 8; ++k) ballot |= ((first + k) * 3 % 2 == 0 ? 1 : 0) << k;
    EXPECT_EQ(got[i], v + 1000 * ballot + (first == 0 ? 1000000 : 0)) << i;
  }
}

}  // namespace
}  // namespace raddle::exec::test::cooperative_test
