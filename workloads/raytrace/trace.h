// The reference of raytrace: what a pixel shows, in double precision. See README.md.
#pragma once
#include <array>
#include <cstdint>

#include "raytrace/scene.h"

namespace raddle::workloads {

using Direction = std::array<double, 3>;

/// Where pictures are taken from: forward, up and right are of length 1 and at right angles.
struct Camera {
  Direction forward{}, up{}, right{}, eye{};
  double focus = 0;  ///< distance of a picture of half height 1
};

/// From above the plane towards the spheres, with an opening of 65 degrees.
Camera scene_camera();

using Scene = std::array<SceneObject, kObjects>;

/// The plane and three spheres of the public program; `colours` has red, green and blue of each.
Scene scene_objects(const std::array<float, 3 * kObjects>& colours);

/// One pixel. Colours before they are cut off at 1, as summed over the bounces.
struct PixelTrace {
  std::array<double, 4> colour{};
  int hits = 0;
  int shadow_tests = 0;  ///< objects tried for a shadow
};

/// (x, y) in pixels; fractions lie between pixels.
PixelTrace trace_pixel(const Scene& scene, const Camera& camera, double x, double y,
                       std::uint32_t width, std::uint32_t height);

}  // namespace raddle::workloads
