// Kernels in the styles of the benchmark suites, made by nvcc, against plain C++.
#include <cmath>
#include <numeric>

#include "nvcc_rig.h"

namespace raddle::exec::test::kernels_test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

class Kernels : public OfEachBuild {
 protected:
  void SetUp() override {
    OfEachBuild::SetUp();
    if (!IsSkipped()) gpu = std::make_unique<Gpu>("kernels", GetParam());
  }
  std::unique_ptr<Gpu> gpu;
};
INSTANTIATE_TEST_SUITE_P(Nvcc, Kernels, testing::ValuesIn(kBuilds), build_name);

std::vector<int> numbers(std::size_t n, int maximum) {
  std::vector<int> v(n);
  u32 state = 12345;
  for (int& x : v) {
    state = state * 1664525 + 1013904223;
    x = static_cast<int>((state >> 8) % static_cast<u32>(maximum));
  }
  return v;
}
template <class T>
std::vector<T> reals(std::size_t n) {
  std::vector<T> v;
  for (int x : numbers(n, 1000)) v.push_back(static_cast<T>(x + 1) / 100);
  return v;
}

TEST_P(Kernels, Pathfinder) {
  constexpr int columns = 700, steps = 10, border = 10, rows = 21;
  const auto wall = numbers(columns * rows, 10);
  std::vector<int> want(wall.begin(), wall.begin() + columns);
  Address from = gpu->upload(want), to = gpu->zeros(4 * columns);
  const Address walls = gpu->upload(std::vector<int>(wall.begin() + columns, wall.end()));
  const int small = 256 - 2 * steps, blocks = (columns + small - 1) / small;
  for (int row = 0; row < rows - 1; row += steps) {
    gpu->run("pathfinder", {static_cast<u32>(blocks), 1, 1}, {256, 1, 1}, steps, walls, from, to,
             columns, row, border);
    std::swap(from, to);
  }
  for (int row = 1; row < rows; ++row) {
    std::vector<int> next(columns);
    for (int x = 0; x < columns; ++x)
      next[x] = std::min({want[std::max(x - 1, 0)], want[x], want[std::min(x + 1, columns - 1)]}) +
                wall[row * columns + x];
    want = next;
  }
  EXPECT_EQ(gpu->download<int>(from, columns), want);
}

TEST_P(Kernels, BreadthFirstSearch) {
  constexpr int n = 300;
  std::vector<std::array<int, 2>> nodes;
  std::vector<int> edges;
  const auto random = numbers(n * 8, n);
  for (int i = 0; i < n; ++i) {
    const int degree = random[i] % 5;
    nodes.push_back({static_cast<int>(edges.size()), degree});
    for (int edge = 0; edge < degree; ++edge) edges.push_back(random[n + 4 * i + edge]);
  }
  std::vector<std::uint8_t> first(n);
  first[0] = 1;
  std::vector<int> cost(n, -1);
  cost[0] = 0;
  const Address mask = gpu->upload(first), visited = gpu->upload(first), updating = gpu->zeros(n);
  const Address costs = gpu->upload(cost), over = gpu->zeros(1);
  const Address graph = gpu->upload(nodes), targets = gpu->upload(edges);
  for (bool more = true; more; more = gpu->download<std::uint8_t>(over, 1)[0] != 0) {
    *gpu->memory.host(over) = std::byte{0};
    gpu->run("bfs_expand", {3, 1, 1}, {128, 1, 1}, graph, targets, mask, updating, visited, costs,
             n);
    gpu->run("bfs_advance", {3, 1, 1}, {128, 1, 1}, mask, updating, visited, over, n);
  }
  for (std::vector<int> queue{0}; !queue.empty();) {
    std::vector<int> next;
    for (int i : queue)
      for (int edge = nodes[i][0]; edge < nodes[i][0] + nodes[i][1]; ++edge)
        if (cost[edges[edge]] < 0) {
          cost[edges[edge]] = cost[i] + 1;
          next.push_back(edges[edge]);
        }
    queue = next;
  }
  EXPECT_EQ(gpu->download<int>(costs, n), cost);
}

TEST_P(Kernels, LuDecompositionOfADiagonalBlock) {
  constexpr int n = 48, offset = 16;
  auto m = reals<float>(n * n);
  for (int i = 0; i < n; ++i) m[i * n + i] += 50;
  const Address at = gpu->upload(m);
  gpu->run("lud_diagonal", {1, 1, 1}, {16, 1, 1}, at, n, offset);
  std::vector<double> want(m.begin(), m.end());
  for (int k = 0; k < 16; ++k)
    for (int i = k + 1; i < 16; ++i) {
      const auto e = [&](int r, int c) -> double& { return want[(offset + r) * n + offset + c]; };
      e(i, k) /= e(k, k);
      for (int j = k + 1; j < 16; ++j) e(i, j) -= e(i, k) * e(k, j);
    }
  const auto got = gpu->download<float>(at, n * n);
  for (int i = 0; i < n * n; ++i) ASSERT_NEAR(static_cast<double>(got[i]), want[i], 2e-4) << i;
}

TEST_P(Kernels, Histogram) {
  std::vector<std::uint8_t> data;
  for (int x : numbers(5000, 256)) data.push_back(static_cast<std::uint8_t>(x * x >> 8));
  const Address bins = gpu->zeros(1024);
  gpu->run("histogram", {6, 1, 1}, {192, 1, 1}, gpu->upload(data), static_cast<u32>(data.size()),
           bins);
  std::vector<u32> want(256);
  for (std::uint8_t x : data) ++want[x];
  EXPECT_EQ(gpu->download<u32>(bins, 256), want);
}

TEST_P(Kernels, MatrixTransposedTimesMatrixTimesVector) {
  constexpr int rows = 70, columns = 45;
  const auto a = reals<double>(rows * columns), x = reals<double>(columns);
  const Address t = gpu->zeros(8 * rows), y = gpu->zeros(8 * columns), m = gpu->upload(a);
  gpu->run("atax_rows", {2, 1, 1}, {64, 1, 1}, m, gpu->upload(x), t, rows, columns);
  gpu->run("atax_columns", {1, 1, 1}, {64, 1, 1}, m, t, y, rows, columns);
  std::vector<double> want(columns);
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < columns; ++j) sum += a[i * columns + j] * x[j];
    for (int j = 0; j < columns; ++j) want[j] += a[i * columns + j] * sum;
  }
  const auto got = gpu->download<double>(y, columns);
  for (int j = 0; j < columns; ++j) EXPECT_NEAR(got[j], want[j], 1e-9 * want[j]);
}

TEST_P(Kernels, ScanOfABlock) {
  const auto in = numbers(3 * 256, 100);
  const Address out = gpu->zeros(4 * in.size());
  gpu->run("scan", {3, 1, 1}, {256, 1, 1}, gpu->upload(in), out);
  std::vector<int> want(in.size());
  for (int b = 0; b < 3; ++b)
    std::partial_sum(in.begin() + b * 256, in.begin() + (b + 1) * 256, want.begin() + b * 256);
  EXPECT_EQ(gpu->download<int>(out, want.size()), want);
}

TEST_P(Kernels, Transpose) {
  constexpr int width = 75, height = 50;
  const auto in = reals<float>(width * height);
  const Address out = gpu->zeros(4 * in.size());
  gpu->run("transpose", {3, 2, 1}, {32, 8, 1}, gpu->upload(in), out, width, height);
  const auto got = gpu->download<float>(out, in.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) ASSERT_EQ(got[x * height + y], in[y * width + x]);
}

TEST_P(Kernels, BlackScholes) {
  constexpr int n = 200;
  const auto price = reals<float>(n);
  std::vector<float> strike(n), years(n);
  for (int i = 0; i < n; ++i) {
    strike[i] = price[(i + 7) % n] + 1;
    years[i] = 0.25f + 0.01f * static_cast<float>(i);
  }
  const Address call = gpu->zeros(4 * n), put = gpu->zeros(4 * n);
  gpu->run("black_scholes", {2, 1, 1}, {128, 1, 1}, gpu->upload(price), gpu->upload(strike),
           gpu->upload(years), call, put, 0.02f, 0.3f, n);
  const auto calls = gpu->download<float>(call, n), puts = gpu->download<float>(put, n);
  for (int i = 0; i < n; ++i) {
    const double s = price[i], k = strike[i], t = years[i], r = 0.02, v = 0.3;
    const double d1 = (std::log(s / k) + (r + v * v / 2) * t) / (v * std::sqrt(t));
    const double d2 = d1 - v * std::sqrt(t), discount = std::exp(-r * t);
    const auto cdf = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
    EXPECT_NEAR(static_cast<double>(calls[i]), s * cdf(d1) - k * discount * cdf(d2), 1e-4) << i;
    EXPECT_NEAR(static_cast<double>(puts[i]), k * discount * cdf(-d2) - s * cdf(-d1), 1e-4) << i;
  }
}

TEST_P(Kernels, Mandelbrot) {
  constexpr int width = 50, height = 30, maximum = 200;
  const Address out = gpu->zeros(4 * width * height);
  gpu->run("mandelbrot", {4, 4, 1}, {16, 8, 1}, out, width, height, maximum);
  const auto got = gpu->download<int>(out, width * height);
  int differ = 0;  // where the loop's end hangs on the last bit, a fused build may differ
  for (int i = 0; i < width * height; ++i) {
    const double cx = 3.0 * (i % width) / width - 2, cy = 2.0 * (i / width) / height - 1;
    double a = 0, b = 0;
    int n = 0;
    for (; a * a + b * b < 4 && n < maximum; ++n) {
      const double t = a * a - b * b + cx;
      b = 2 * a * b + cy;
      a = t;
    }
    differ += got[i] != n ? 1 : 0;
  }
  EXPECT_LE(differ, width * height / 100);
}

TEST_P(Kernels, BitonicSort) {
  std::vector<u32> values;
  for (int x : numbers(512, 100000)) values.push_back(static_cast<u32>(x));
  const Address at = gpu->upload(values);
  gpu->dynamic_shared = 1024;
  gpu->run("bitonic", {2, 1, 1}, {256, 1, 1}, at);
  std::sort(values.begin(), values.begin() + 256);
  std::sort(values.begin() + 256, values.end());
  EXPECT_EQ(gpu->download<u32>(at, 512), values);
}

TEST_P(Kernels, ASpinLockBetweenWarpsAndBlocks) {
  const Address lock = gpu->zeros(4), counter = gpu->zeros(4);
  gpu->run("locked", {20, 1, 1}, {256, 1, 1}, lock, counter);
  EXPECT_EQ(gpu->download<int>(counter, 1)[0], 20 * 8);
  EXPECT_EQ(gpu->download<int>(lock, 1)[0], 0);
}

TEST_P(Kernels, ClocksAdvanceAndPlacesAreNamed) {
  constexpr u32 n = 128;
  const Address times = gpu->zeros(32 * n), ids = gpu->zeros(16 * n);
  gpu->run("clocks", {2, 1, 1}, {64, 1, 1}, times, ids);
  const auto first = gpu->download<std::array<std::int64_t, 4>>(times, n);
  const auto id = gpu->download<std::array<u32, 4>>(ids, n);
  for (u32 i = 0; i < n; ++i) {
    EXPECT_GT(first[i][0], 0) << i;
    EXPECT_GT(first[i][1], 0) << i;
    EXPECT_GT(first[i][2], 0) << i;
    EXPECT_EQ(id[i], (std::array<u32, 4>{i % 64 / 32, 0, 1, 1})) << i;
  }
  gpu->run("clocks", {2, 1, 1}, {64, 1, 1}, times, ids);
  const auto second = gpu->download<std::array<std::int64_t, 4>>(times, n);
  EXPECT_GT(second[0][3], first[n - 1][3]);  // time goes on from launch to launch
  EXPECT_EQ((gpu->download<std::array<u32, 4>>(ids, 1)[0][3]), 2u);
}

}  // namespace
}  // namespace raddle::exec::test::kernels_test
