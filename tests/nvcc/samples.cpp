// More kernels in the styles of the suites, made by nvcc, against plain C++.
#include <cmath>
#include <numeric>

#include "nvcc_rig.h"

namespace raddle::exec::test::samples_test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

class Samples : public OfEachBuild {
 protected:
  void SetUp() override {
    OfEachBuild::SetUp();
    if (!IsSkipped()) gpu = std::make_unique<Gpu>("samples", GetParam());
  }
  template <class T>
  void set_symbol(const std::string& name, const std::vector<T>& values) {
    const auto symbol = gpu->program.symbol(name);
    ASSERT_TRUE(symbol.has_value()) << name;
    ASSERT_EQ(symbol->size, values.size() * sizeof(T));
    std::memcpy(gpu->memory.host(symbol->address), values.data(), symbol->size);
  }
  std::unique_ptr<Gpu> gpu;
};
INSTANTIATE_TEST_SUITE_P(Nvcc, Samples, testing::ValuesIn(kBuilds), build_name);

std::vector<int> numbers(std::size_t n, int maximum) {
  std::vector<int> v(n);
  u32 state = 777;
  for (int& x : v) {
    state = state * 1664525 + 1013904223;
    x = static_cast<int>((state >> 9) % static_cast<u32>(maximum));
  }
  return v;
}
std::vector<float> reals(std::size_t n) {
  std::vector<float> v;
  for (int x : numbers(n, 2000)) v.push_back(static_cast<float>(x) / 250 - 4);
  return v;
}

TEST_P(Samples, NeedlemanWunsch) {
  constexpr int tiles = 4, n = 16 * tiles + 1, penalty = 10;
  auto reference = numbers(n * n, 21);
  for (int& r : reference) r -= 8;
  std::vector<int> score(n * n);
  for (int i = 1; i < n; ++i) score[i] = score[i * n] = -penalty * i;
  const Address scores = gpu->upload(score), references = gpu->upload(reference);
  for (int d = 0; d < 2 * tiles - 1; ++d) {
    const int first = std::max(0, d - tiles + 1), last_y = std::min(d, tiles - 1);
    gpu->run("needle", {static_cast<u32>(last_y - (d - last_y) + 1), 1, 1}, {16, 1, 1}, references,
             scores, n, penalty, first, last_y);
  }
  for (int y = 1; y < n; ++y)
    for (int x = 1; x < n; ++x)
      score[y * n + x] = std::max(score[(y - 1) * n + x - 1] + reference[y * n + x],
                                  std::max(score[y * n + x - 1], score[(y - 1) * n + x]) - penalty);
  EXPECT_EQ(gpu->download<int>(scores, n * n), score);
}

TEST_P(Samples, KmeansThroughATexture) {
  constexpr int points = 500;
  const auto features = reals(4 * points);
  const auto centres = reals(32);
  set_symbol("centres", centres);
  TextureDescription t;
  t.resource = TextureDescription::Resource::Linear;
  t.image.address = gpu->upload(features);
  t.image.format = {{32, 0, 0, 0}, ChannelKind::Float};
  t.image.shape.width = 4 * points;
  const Address member = gpu->zeros(4 * points);
  gpu->run("kmeans", {4, 1, 1}, {128, 1, 1}, gpu->machine.create_texture(t), member, points);
  const auto got = gpu->download<int>(member, points);
  for (int p = 0; p < points; ++p) {
    const auto distance = [&](int c) {
      double sum = 0;
      for (int f = 0; f < 4; ++f)
        sum += std::pow(double{features[p + f * points]} - double{centres[c * 4 + f]}, 2);
      return sum;
    };
    for (int c = 0; c < 8; ++c) ASSERT_LE(distance(got[p]), distance(c) + 1e-5) << p;
  }
}

TEST_P(Samples, Hotspot) {
  constexpr int n = 50;
  const auto power = reals(n * n);
  auto t = reals(n * n);
  const Address powers = gpu->upload(power);
  Address from = gpu->upload(t), to = gpu->zeros(4 * n * n);
  for (int step = 0; step < 3; ++step) {
    gpu->run("hotspot", {4, 4, 1}, {16, 16, 1}, powers, from, to, n, 0.1f);
    std::swap(from, to);
    std::vector<float> next(n * n);
    const auto at = [&](int y, int x) {
      return t[std::min(std::max(y, 0), n - 1) * n + std::min(std::max(x, 0), n - 1)];
    };
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        next[y * n + x] =
            at(y, x) + 0.1f * (power[y * n + x] + (at(y - 1, x) + at(y + 1, x) - 2 * at(y, x)) +
                               (at(y, x - 1) + at(y, x + 1) - 2 * at(y, x)));
    t = next;
  }
  const auto got = gpu->download<float>(from, n * n);
  for (int i = 0; i < n * n; ++i) ASSERT_NEAR(got[i], t[i], 1e-4f) << i;
}

TEST_P(Samples, TheLastBlockReduces) {
  constexpr int n = 10000;
  std::vector<float> in(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i % 17);
  const Address partial = gpu->zeros(4 * 20), out = gpu->zeros(4);
  for (int time = 0; time < 2; ++time) {
    gpu->run("reduce", {20, 1, 1}, {128, 1, 1}, gpu->upload(in), partial, out, n);
    EXPECT_EQ(gpu->download<float>(out, 1)[0], std::accumulate(in.begin(), in.end(), 0.0f));
  }
}

TEST_P(Samples, StencilsThroughTextures) {
  constexpr int width = 70, height = 20;
  const auto image = reals(width * height);
  std::vector<float> taps(17);
  for (int k = 0; k < 17; ++k) taps[k] = 1.0f / static_cast<float>(3 + std::abs(k - 8));
  set_symbol("taps", taps);
  TextureDescription texture;
  ImageShape shape;
  shape.dimensions = 2;
  shape.width = width;
  shape.height = height;
  texture.image = lay_out_array(shape, {{32, 0, 0, 0}, ChannelKind::Float});
  texture.image.address = gpu->zeros(image_bytes(texture.image));
  for (int y = 0; y < height; ++y)
    std::memcpy(
        gpu->memory.host(texture.image.address + static_cast<u64>(y) * texture.image.pitch_bytes),
        image.data() + y * width, 4 * width);
  const Address out = gpu->zeros(4 * width * height);
  gpu->run("convolve_rows", {5, 3, 1}, {16, 8, 1}, gpu->machine.create_texture(texture), out, width,
           height);
  const auto got = gpu->download<float>(out, width * height);
  const auto clamped = [](int x, int maximum) { return std::min(std::max(x, 0), maximum - 1); };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int k = -8; k <= 8; ++k)
        sum += double{image[y * width + clamped(x + k, width)]} * double{taps[8 - k]};
      ASSERT_NEAR(static_cast<double>(got[y * width + x]), sum, 1e-4);
    }
  std::vector<std::uint8_t> grey;
  for (int value : numbers(width * height, 256)) grey.push_back(static_cast<std::uint8_t>(value));
  texture.resource = TextureDescription::Resource::Pitch2D;
  texture.image.format = {{8, 0, 0, 0}, ChannelKind::Unsigned};
  texture.image.address = gpu->upload(grey);
  texture.image.pitch_bytes = width;
  const Address edges = gpu->zeros(width * height);
  gpu->run("sobel", {5, 3, 1}, {16, 8, 1}, gpu->machine.create_texture(texture), edges, width,
           height);
  const auto sobel = gpu->download<std::uint8_t>(edges, width * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto pixel = [&](int j, int i) {
        return int{grey[clamped(y + j, height) * width + clamped(x + i, width)]};
      };
      const int horizontal = pixel(-1, 1) + 2 * pixel(0, 1) + pixel(1, 1) - pixel(-1, -1) -
                             2 * pixel(0, -1) - pixel(1, -1);
      const int vertical = pixel(-1, -1) + 2 * pixel(-1, 0) + pixel(-1, 1) - pixel(1, -1) -
                           2 * pixel(1, 0) - pixel(1, 1);
      ASSERT_EQ(int{sobel[y * width + x]},
                std::min(std::abs(horizontal) + std::abs(vertical), 255));
    }
}

TEST_P(Samples, MriQ) {
  constexpr int n = 100;
  const auto x = reals(n), y = reals(2 * n), z = reals(3 * n), samples = reals(256);
  set_symbol("samples", samples);
  const Address real = gpu->zeros(4 * n), imaginary = gpu->zeros(4 * n);
  gpu->run("mri_q", {1, 1, 1}, {128, 1, 1}, gpu->upload(x), gpu->upload(y), gpu->upload(z), real,
           imaginary, n);
  const auto r = gpu->download<float>(real, n), m = gpu->download<float>(imaginary, n);
  for (int i = 0; i < n; ++i) {
    double want_r = 0, want_m = 0;
    for (int k = 0; k < 64; ++k) {
      const float* s = samples.data() + 4 * k;
      const double a =
          6.283185307179586 *
          (double{s[0]} * double{x[i]} + double{s[1]} * double{y[i]} + double{s[2]} * double{z[i]});
      want_r += double{s[3]} * std::cos(a);
      want_m += double{s[3]} * std::sin(a);
    }
    EXPECT_NEAR(static_cast<double>(r[i]), want_r, 5e-3) << i;
    EXPECT_NEAR(static_cast<double>(m[i]), want_m, 5e-3) << i;
  }
}

TEST_P(Samples, WalshTransform) {
  auto data = numbers(512, 1000);
  const Address at = gpu->upload(data);
  gpu->run("walsh", {2, 1, 1}, {256, 1, 1}, at);
  const auto got = gpu->download<int>(at, 512);
  for (int b = 0; b < 2; ++b)
    for (u32 i = 0; i < 256; ++i) {
      int sum = 0;
      for (u32 k = 0; k < 256; ++k)
        sum += (__builtin_popcount(i & k) & 1) != 0 ? -data[b * 256 + k] : data[b * 256 + k];
      u32 reversed = 0;
      for (u32 k = 0; k < 8; ++k) reversed |= (i >> k & 1) << (7 - k);
      ASSERT_EQ(got[b * 256 + reversed], sum) << i;
    }
}

TEST_P(Samples, HashTable) {
  constexpr int n = 700;
  constexpr u32 slots = 1024;
  std::vector<u32> keys(n);
  for (u32 i = 0; i < n; ++i) keys[i] = i * 7919 + 13;
  const Address table = gpu->zeros(8 * slots), found = gpu->zeros(4 * n), at = gpu->upload(keys);
  gpu->run("insert", {6, 1, 1}, {128, 1, 1}, table, slots, at, n);
  gpu->run("look_up", {6, 1, 1}, {128, 1, 1}, table, slots, at, found, n);
  const auto got = gpu->download<u32>(found, n);
  for (u32 i = 0; i < n; ++i) EXPECT_EQ(got[i], i + 1);
}

}  // namespace
}  // namespace raddle::exec::test::samples_test
