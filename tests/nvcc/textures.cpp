// Texture and surface objects against references written from the CUDA programming guide's
// formulas.
#include <cmath>

#include "nvcc_rig.h"

namespace raddle::exec::test::textures_test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Resource = TextureDescription::Resource;
using Float2 = std::array<float, 2>;
using Float4 = std::array<float, 4>;
using Int4 = std::array<int, 4>;
using Uchar4 = std::array<std::uint8_t, 4>;

constexpr ChannelFormat kFloat{{32, 0, 0, 0}, ChannelKind::Float};

/// An array with `values` in it, row after row.
template <class T>
Image array(Gpu& gpu, const ImageShape& shape, const ChannelFormat& format,
            const std::vector<T>& values) {
  Image image = lay_out_array(shape, format);
  image.address = gpu.zeros(image_bytes(image));
  const u64 rows = u64{shape.height} * shape.depth * shape.layers;
  for (u64 r = 0; r < rows; ++r)
    std::memcpy(gpu.memory.host(image.address + r / shape.height * image.slice_bytes +
                                r % shape.height * image.pitch_bytes),
                values.data() + r * shape.width, shape.width * sizeof(T));
  return image;
}
template <class T>
Image linear(Gpu& gpu, const ChannelFormat& format, const std::vector<T>& values) {
  Image image;
  image.address = gpu.upload(values);
  image.format = format;
  image.shape.width = static_cast<u32>(values.size());
  return image;
}
std::vector<float> noise(std::size_t n) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = static_cast<float>((i * 2654435761u >> 7) % 1000) / 100.0f - 5.0f;
  return v;
}

// --- references ----------------------------------------------------------------------------------
/// Index after the address mode; -1: the border.
int settled(AddressMode mode, int i, int n) {
  switch (mode) {
    case AddressMode::Wrap:
      return ((i % n) + n) % n;
    case AddressMode::Mirror: {
      const int p = ((i % (2 * n)) + 2 * n) % (2 * n);
      return p < n ? p : 2 * n - 1 - p;
    }
    case AddressMode::Clamp:
      return std::min(std::max(i, 0), n - 1);
    default:
      return i < 0 || i >= n ? -1 : i;
  }
}
struct Reference {
  std::vector<float> values;
  int width, height;
  AddressMode mode;
  bool normalized;
  FilterMode filter;
  float border = 0;

  float element(int x, int y) const {
    x = settled(mode, x, width);
    y = settled(mode, y, height);
    return x < 0 || y < 0 ? border : values[static_cast<std::size_t>(y * width + x)];
  }
  float at(float x, float y) const {
    const double u = double{x} * (normalized ? width : 1),
                 v = double{y} * (normalized ? height : 1);
    if (filter == FilterMode::Point)
      return element(static_cast<int>(std::floor(u)), static_cast<int>(std::floor(v)));
    const double fu = std::floor((u - 0.5) * 256 + 0.5), fv = std::floor((v - 0.5) * 256 + 0.5);
    const int i = static_cast<int>(std::floor(fu / 256)),
              j = static_cast<int>(std::floor(fv / 256));
    const double a = fu / 256 - i, b = fv / 256 - j;
    return static_cast<float>(
        (1 - a) * (1 - b) * double{element(i, j)} + a * (1 - b) * double{element(i + 1, j)} +
        (1 - a) * b * double{element(i, j + 1)} + a * b * double{element(i + 1, j + 1)});
  }
};

class Textures : public OfEachBuild {
 protected:
  void SetUp() override {
    OfEachBuild::SetUp();
    if (!IsSkipped()) gpu = std::make_unique<Gpu>("textures", GetParam());
  }
  std::unique_ptr<Gpu> gpu;
};
INSTANTIATE_TEST_SUITE_P(Nvcc, Textures, testing::ValuesIn(kBuilds), build_name);

// --- linear memory -------------------------------------------------------------------------------
TEST_P(Textures, LinearMemoryIsReadByIndexAndZeroBeyond) {
  constexpr int n = 100;
  const auto values = noise(n);
  TextureDescription t;
  t.resource = Resource::Linear;
  t.image = linear(*gpu, kFloat, values);
  const Address out = gpu->zeros(4 * n);
  gpu->run("fetch_linear", {4, 1, 1}, {32, 1, 1}, gpu->machine.create_texture(t), out, n);
  const auto got = gpu->download<float>(out, n);
  for (int i = 0; i < n; ++i) EXPECT_EQ(got[i], values[n - 1 - i]) << i;
}
TEST_P(Textures, BytesAsNormalisedFloats) {
  std::vector<Uchar4> values(64);
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned k = 0; k < 4; ++k) values[i][k] = static_cast<std::uint8_t>(i * 37 + k * 85);
  TextureDescription t;
  t.resource = Resource::Linear;
  t.read = ReadMode::NormalizedFloat;
  t.image = linear(*gpu, {{8, 8, 8, 8}, ChannelKind::Unsigned}, values);
  const Address out = gpu->zeros(64 * 16);
  gpu->run("fetch_uchar4", {2, 1, 1}, {32, 1, 1}, gpu->machine.create_texture(t), out, 64);
  auto got = gpu->download<Float4>(out, 64);
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned k = 0; k < 4; ++k)
      EXPECT_EQ(got[i][k], static_cast<float>(values[i][k] / 255.0)) << i;
  t.image.format.kind = ChannelKind::Signed;
  gpu->run("fetch_uchar4", {2, 1, 1}, {32, 1, 1}, gpu->machine.create_texture(t), out, 64);
  got = gpu->download<Float4>(out, 64);
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned k = 0; k < 4; ++k) {
      const auto v = static_cast<std::int8_t>(values[i][k]);
      EXPECT_EQ(got[i][k], static_cast<float>(std::max(v / 127.0, -1.0))) << i;
    }
}
TEST_P(Textures, IntegersOfEverySizeAsTheyAre) {
  const std::vector<std::int16_t> shorts{-1, 2, -32768, 32767, 5, -6, 7, -8};
  TextureDescription t;
  t.resource = Resource::Linear;
  t.image = linear(*gpu, {{16, 16, 0, 0}, ChannelKind::Signed}, shorts);
  t.image.shape.width = 4;
  const Address out = gpu->zeros(4 * 16);
  gpu->run("fetch_int4", {1, 1, 1}, {32, 1, 1}, gpu->machine.create_texture(t), out, 4);
  const auto got = gpu->download<Int4>(out, 4);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(got[i], (Int4{shorts[2 * (i ^ 1)], shorts[2 * (i ^ 1) + 1], 0, 1})) << i;
}

// --- two dimensions: every filter, address mode and kind of coordinates --------------------------
TEST_P(Textures, EveryAddressModeAndFilterInTwoDimensions) {
  constexpr int kWide = 13, kHigh = 7, kOut = 40;
  Reference reference{noise(kWide * kHigh), kWide, kHigh, {}, false, {}};
  ImageShape shape;
  shape.dimensions = 2;
  shape.width = kWide;
  shape.height = kHigh;
  TextureDescription texture;
  texture.image = array(*gpu, shape, kFloat, reference.values);
  const Address out = gpu->zeros(4 * kOut * kOut);
  for (const AddressMode mode :
       {AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border})
    for (const FilterMode filter : {FilterMode::Point, FilterMode::Linear})
      for (const bool normalized : {false, true}) {
        const bool periodic = mode == AddressMode::Wrap || mode == AddressMode::Mirror;
        texture.address = {mode, mode, mode};
        texture.filter = filter;
        texture.normalized = normalized;
        texture.border = {2.5f, 0, 0, 0};
        reference.filter = filter;
        reference.normalized = normalized;
        reference.border = 2.5f;
        reference.mode = periodic && !normalized ? AddressMode::Clamp : mode;
        // Exact in a float whether or not a build fuses, and never half a step of the weights.
        const float k = 1.0f / 1024;
        const float x0 = k * (normalized ? -1345.125f : -9391.125f),
                    dx = k * (normalized ? 93.0f : 789.0f);
        const float y0 = k * (normalized ? -921.125f : -4507.125f),
                    dy = k * (normalized ? 71.0f : 423.0f);
        const u64 handle = gpu->machine.create_texture(texture);
        gpu->run("sample_2d", {2, 10, 1}, {32, 4, 1}, handle, out, kOut, kOut, x0, y0, dx, dy);
        const auto got = gpu->download<float>(out, kOut * kOut);
        for (int y = 0; y < kOut; ++y)
          for (int x = 0; x < kOut; ++x) {
            const float want =
                reference.at(x0 + dx * static_cast<float>(x), y0 + dy * static_cast<float>(y));
            ASSERT_FLOAT_EQ(got[static_cast<std::size_t>(y * kOut + x)], want)
                << "mode " << static_cast<int>(mode) << " filter " << static_cast<int>(filter)
                << " normalized " << normalized << " at " << x << ", " << y;
          }
      }
}
TEST_P(Textures, PitchedMemoryAndWeightsInSteps) {
  // Between 0 and 256 the interpolated value is the weight itself, in steps of 1/256.
  std::vector<float> rows(2 * 64, 0.0f);
  rows[1] = rows[65] = 256.0f;
  TextureDescription t;
  t.resource = Resource::Pitch2D;
  t.image.address = gpu->upload(rows);
  t.image.format = kFloat;
  t.image.shape.dimensions = 2;
  t.image.shape.width = 2;
  t.image.shape.height = 2;
  t.image.pitch_bytes = 256;
  t.filter = FilterMode::Linear;
  const Address out = gpu->zeros(4 * 64);
  const float step = 1.0f / 1024;
  gpu->run("sample_2d", {2, 1, 1}, {32, 1, 1}, gpu->machine.create_texture(t), out, 64, 1, 0.5f,
           1.0f, step, 0.0f);
  const auto got = gpu->download<float>(out, 64);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(got[i], std::floor(static_cast<float>(i) / 4 + 0.5f)) << i;
}

// --- other geometries ----------------------------------------------------------------------------
TEST_P(Textures, OneDimensionalArrayIsFiltered) {
  const std::vector<float> values{1, 3, 7, 15};
  ImageShape shape;
  shape.width = 4;
  TextureDescription t;
  t.image = array(*gpu, shape, kFloat, values);
  t.filter = FilterMode::Linear;
  const Address out = gpu->zeros(4 * 9);
  gpu->run("sample_1d", {1, 1, 1}, {32, 1, 1}, gpu->machine.create_texture(t), out, 9, 0.0f, 0.5f);
  EXPECT_EQ(gpu->download<float>(out, 9), (std::vector<float>{1, 1, 2, 3, 5, 7, 11, 15, 15}));
}
TEST_P(Textures, ThreeDimensionsOfTwoChannels) {
  constexpr u32 kSide = 5;
  std::vector<Float2> values(kSide * kSide * kSide);
  for (u32 z = 0; z < kSide; ++z)
    for (u32 y = 0; y < kSide; ++y)
      for (u32 x = 0; x < kSide; ++x)  // linear in each coordinate, so interpolation is exact
        values[(z * kSide + y) * kSide + x] = {static_cast<float>(x + 10 * y + 100 * z),
                                               static_cast<float>(x * y * z)};
  ImageShape shape;
  shape.dimensions = 3;
  shape.width = shape.height = shape.depth = kSide;
  TextureDescription t;
  t.image = array(*gpu, shape, {{32, 32, 0, 0}, ChannelKind::Float}, values);
  t.filter = FilterMode::Linear;
  const Address out = gpu->zeros(8 * 1000);
  gpu->run("sample_3d", {32, 1, 1}, {32, 1, 1}, gpu->machine.create_texture(t), out, 1000, 0.25f);
  const auto got = gpu->download<Float2>(out, 1000);
  for (int i = 0; i < 1000; ++i) {
    const auto c = [](int k) {
      return std::min(std::max(0.25f * static_cast<float>(k) - 0.5f, 0.0f), 4.0f);
    };
    const float x = c(i % 7), y = c(i % 11), z = c(i % 13);
    ASSERT_FLOAT_EQ(got[i][0], x + 10 * y + 100 * z) << i;
    ASSERT_FLOAT_EQ(got[i][1], x * y * z) << i;
  }
}
TEST_P(Textures, LayersAreNotFilteredAndClampTheirIndex) {
  constexpr u32 kWide = 16, kHigh = 2, kLayers = 3;
  ImageShape shape;
  shape.dimensions = 2;
  shape.width = kWide;
  shape.height = kHigh;
  shape.layers = kLayers;
  shape.layered = true;
  const auto values = noise(kWide * kHigh * kLayers);
  TextureDescription t;
  t.image = array(*gpu, shape, kFloat, values);
  const Address out = gpu->zeros(4 * kWide * kLayers);
  gpu->run("sample_layers", {kLayers, 1, 1}, {kWide, 1, 1}, gpu->machine.create_texture(t), out,
           static_cast<int>(kWide), static_cast<int>(kLayers));
  const auto got = gpu->download<float>(out, kWide * kLayers);
  for (u32 l = 0; l < kLayers; ++l)
    for (u32 x = 0; x < kWide; ++x)
      EXPECT_EQ(got[l * kWide + x],
                values[(l * kHigh + 1) * kWide + x] + values[(kLayers - 1) * kHigh * kWide + x]);
}
TEST_P(Textures, CubeFaces) {
  ImageShape shape;
  shape.dimensions = 2;
  shape.width = shape.height = 1;
  shape.layers = 6;
  shape.cube = true;
  TextureDescription t;
  t.image = array(*gpu, shape, kFloat, std::vector<float>{10, 11, 12, 13, 14, 15});
  t.normalized = true;
  const Address out = gpu->zeros(4 * 6);
  gpu->run("sample_cube", {1, 1, 1}, {32, 1, 1}, gpu->machine.create_texture(t), out);
  EXPECT_EQ(gpu->download<float>(out, 6), (std::vector<float>{10, 11, 12, 13, 14, 15}));
}
TEST_P(Textures, GatherTakesTheFourNeighbours) {
  ImageShape shape;
  shape.dimensions = 2;
  shape.width = shape.height = 6;
  const auto values = noise(36);
  TextureDescription t;
  t.image = array(*gpu, shape, kFloat, values);
  const Address out = gpu->zeros(16 * 16);
  gpu->run("gather_2d", {1, 1, 1}, {16, 1, 1}, gpu->machine.create_texture(t), out);
  const auto got = gpu->download<Float4>(out, 16);
  for (unsigned i = 0; i < 16; ++i) {
    const auto v = [&](unsigned x, unsigned y) { return values[y * 6 + x]; };
    const unsigned x = i % 4, y = i / 4;
    EXPECT_EQ(got[i], (Float4{v(x, y + 1), v(x + 1, y + 1), v(x + 1, y), v(x, y)})) << i;
  }
}
TEST_P(Textures, EachLaneMayHaveItsOwn) {
  std::vector<u64> handles;
  for (int k = 0; k < 3; ++k) {
    ImageShape shape;
    shape.dimensions = 2;
    shape.width = 32;
    std::vector<float> values(32);
    for (int i = 0; i < 32; ++i) values[i] = static_cast<float>(100 * k + i);
    TextureDescription t;
    t.image = array(*gpu, shape, kFloat, values);
    handles.push_back(gpu->machine.create_texture(t));
  }
  const Address out = gpu->zeros(128);
  gpu->run("bindless", {1, 1, 1}, {32, 1, 1}, gpu->upload(handles), out, 3);
  const auto got = gpu->download<float>(out, 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], static_cast<float>(100 * (i % 3) + i));
}

// --- surfaces ------------------------------------------------------------------------------------
TEST_P(Textures, SurfacesAreReadAndWritten) {
  ImageShape from, to;
  from.dimensions = to.dimensions = 2;
  from.width = to.height = 20;
  from.height = to.width = 9;
  const auto values = noise(180);
  const Image a = array(*gpu, from, kFloat, values);
  const Image b = array(*gpu, to, kFloat, std::vector<float>(180));
  gpu->run("surface_transpose", {1, 2, 1}, {32, 8, 1}, gpu->machine.create_surface({a}),
           gpu->machine.create_surface({b}), 20, 9);
  for (u32 y = 0; y < 20; ++y)
    for (u32 x = 0; x < 9; ++x) {
      float got;
      std::memcpy(&got, gpu->memory.host(b.address + y * b.pitch_bytes + 4 * x), 4);
      EXPECT_EQ(got, values[x * 20 + y] + 1.0f);
    }
}
TEST_P(Textures, SurfaceBoundaries) {
  ImageShape shape;
  shape.dimensions = 2;
  shape.width = 8;
  shape.height = 2;
  std::vector<Uchar4> values(16);
  for (unsigned i = 0; i < 16; ++i) values[i].fill(static_cast<std::uint8_t>(100 + i));
  const Image image = array(*gpu, shape, {{8, 8, 8, 8}, ChannelKind::Unsigned}, values);
  const Address out = gpu->zeros(4 * 32);
  gpu->run("surface_edges", {1, 1, 1}, {16, 1, 1}, gpu->machine.create_surface({image}), out, 8);
  const auto got = gpu->download<Uchar4>(out, 32);
  for (int i = 0; i < 16; ++i) {
    const int x = i - 4;
    EXPECT_EQ(got[2 * i], x < 0 || x > 7 ? Uchar4{} : values[8 + x]) << i;
    EXPECT_EQ(got[2 * i + 1], values[8 + std::min(std::max(x, 0), 7)]) << i;
    if (x < 0 || x > 7) continue;
    Uchar4 written;
    std::memcpy(&written, gpu->memory.host(image.address + 4 * static_cast<u64>(x)), 4);
    EXPECT_EQ(written[0], i);
  }
}

// --- what is wrong is told -----------------------------------------------------------------------
TEST_P(Textures, WrongHandlesAndPlacesAreTold) {
  const Address out = gpu->zeros(256);
  const auto fetch = [&](u64 handle) {
    return run_error([&] { gpu->run("fetch_linear", {1, 1, 1}, {32, 1, 1}, handle, out, 8); });
  };
  // Built for debugging, the kernel has lines of CUDA before those of its PTX: here of the header
  // that the fetch is inlined from.
  const std::string wrong = fetch(7);
  const bool debug = std::string_view(GetParam().name) == "debug";
  const std::string notified = "0x7 is no texture object, at ";
  EXPECT_EQ(wrong.find(notified + "textures.ptx:") == std::string::npos, debug) << wrong;
  EXPECT_EQ(wrong.find("texture_indirect_functions.h:") != std::string::npos, debug) << wrong;
  EXPECT_NE(wrong.find(notified), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("textures.ptx:"), std::string::npos) << wrong;
  TextureDescription texture;
  texture.resource = Resource::Linear;
  texture.image = linear(*gpu, kFloat, noise(32));
  const u64 handle = gpu->machine.create_texture(texture);
  EXPECT_TRUE(gpu->machine.destroy_texture(handle));
  EXPECT_FALSE(gpu->machine.destroy_texture(handle));
  EXPECT_NE(fetch(handle).find("is no texture object"), std::string::npos);
  const u64 other = gpu->machine.create_texture(texture);
  gpu->memory.free(texture.image.address);
  EXPECT_NE(fetch(other).find("memory has been freed"), std::string::npos);
  ImageShape shape;
  shape.dimensions = 2;
  shape.width = 8;
  shape.height = 2;
  const u64 surface =
      gpu->machine.create_surface({array(*gpu, shape, kFloat, std::vector<float>(16))});
  const std::string beyond = run_error([&] {
    gpu->run("surface_beyond", {1, 1, 1}, {1, 1, 1}, surface);
  });
  EXPECT_NE(beyond.find("out-of-bounds surface access at byte 4000 of row 0"), std::string::npos)
      << beyond;
  EXPECT_NE(fetch(surface).find("is no texture object"), std::string::npos);
}

}  // namespace
}  // namespace raddle::exec::test::textures_test
