// What the rays of raytrace meet: its cost by pixel and by block, and rays whose way is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "raytrace/trace.h"

namespace raddle::workloads::raytrace_scene_test {

namespace {

constexpr std::uint32_t kSide = 256;

Scene white_scene() {
  std::array<float, 3 * kObjects> white;
  white.fill(1);
  return scene_objects(white);
}

std::vector<PixelTrace> picture() {
  std::vector<PixelTrace> pixels;
  for (std::uint32_t y = 0; y < kSide; ++y)
    for (std::uint32_t x = 0; x < kSide; ++x)
      pixels.push_back(trace_pixel(white_scene(), scene_camera(), x, y, kSide, kSide));
  return pixels;
}

// Shares of pixels with 0 to 5 hits, as counted of the public program's scene.
TEST(RaytraceScene, IsMetAsOftenAsThePublicOne) {
  std::array<double, kBounces + 1> hits{};
  double shadow_tests = 0;
  for (const PixelTrace& pixel : picture()) {
    hits[static_cast<std::size_t>(pixel.hits)] += 100.0 / (kSide * kSide);
    shadow_tests += pixel.shadow_tests;
  }
  const std::array<double, kBounces + 1> wanted = {29, 55, 10, 5, 1, 0.5};
  for (std::size_t i = 0; i < hits.size(); ++i) EXPECT_NEAR(hits[i], wanted[i], 0.6) << i;
  EXPECT_GT(shadow_tests, 0);
}

// A warp runs as many trips as its pixel with the most, four warps to a block: sky is cheap,
// spheres are dear, and that is what makes blocks unequal.
TEST(RaytraceScene, CostsFiveTimesAsMuchInSomeBlocks) {
  std::vector<PixelTrace> pixels = picture();
  std::vector<int> trips;
  for (std::uint32_t block_y = 0; block_y < kSide; block_y += 8)
    for (std::uint32_t block_x = 0; block_x < kSide; block_x += 16) {
      int sum = 0;
      for (std::uint32_t warp = 0; warp < 4; ++warp) {
        int maximum = 0;
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          std::uint32_t y = block_y + 2 * warp + lane / 16, x = block_x + lane % 16;
          maximum = std::max(maximum, std::min(pixels[y * kSide + x].hits + 1, kBounces));
        }
        sum += maximum;
      }
      trips.push_back(sum);
    }
  ASSERT_EQ(trips.size(), 512u);
  double mean = 0;
  for (int sum : trips) mean += sum / 512.0;
  EXPECT_NEAR(mean, 8.4, 0.2);
  EXPECT_NEAR(static_cast<double>(std::count(trips.begin(), trips.end(), 4)), 140, 6);
  EXPECT_NEAR(static_cast<double>(std::count(trips.begin(), trips.end(), 20)), 18, 4);
}

// Straight down on the plane from above a corner of the scene, lit: ambient and diffuse light.
TEST(RaytraceScene, ShadesThePlaneByTheLightsSlope) {
  Camera down = scene_camera();
  down.eye = {10, 8.5, 10};
  down.forward = {0, -1, 0};
  down.up = {0, 0, 1};
  down.right = {1, 0, 0};
  PixelTrace pixel = trace_pixel(white_scene(), down, kSide / 2, kSide / 2, kSide, kSide);
  EXPECT_EQ(pixel.hits, 1);  // the reflected ray goes back up
  // The light stands above the point: all of the diffuse and of the highlight.
  EXPECT_NEAR(pixel.colour[0], kAmbient + kDiffuse + kHighlight, 1e-6);
  EXPECT_NEAR(pixel.colour[3], kAmbient + kDiffuse, 1e-6);
}

TEST(RaytraceScene, IsBlackWhereNothingIsMet) {
  Camera away = scene_camera();
  away.forward = {0, 1, 0};
  PixelTrace pixel = trace_pixel(white_scene(), away, kSide / 2, kSide / 2, kSide, kSide);
  EXPECT_EQ(pixel.hits, 0);
  EXPECT_THAT(pixel.colour, ::testing::ElementsAre(0, 0, 0, 1));
}

}  // namespace

}  // namespace raddle::workloads::raytrace_scene_test
