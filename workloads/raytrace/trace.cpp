// Scene and reference of raytrace, one ray after the other. See trace.h.
#include "raytrace/trace.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace raddle::workloads {

namespace {

double dot(const Direction& a, const Direction& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// a + s b
Direction plus(const Direction& a, double s, const Direction& b) {
  return {a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]};
}

Direction unit(const Direction& a) { return plus({}, 1 / std::sqrt(dot(a, a)), a); }

Direction cross(const Direction& a, const Direction& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

constexpr Direction kLight = {kLightAt, kLightAt, kLightAt};
constexpr Direction kUp = {0, 1, 0};

Direction centre_of(const SceneObject& object) { return {object.x, object.y, object.z}; }

struct Ray {
  Direction from, along;
};

double to_sphere(const Ray& ray, const SceneObject& sphere) {
  Direction there = plus(centre_of(sphere), -1, ray.from);
  double along = dot(there, ray.along), square = double{sphere.radius} * sphere.radius;
  bool outside = dot(there, there) > square;
  double beside = dot(there, there) - along * along;
  if ((outside && along < 0) || beside > square) return 0;
  double half = std::sqrt(square - beside);
  return outside ? along - half : along + half;
}

double to_plane(const Ray& ray, const SceneObject& plane) {
  double slope = ray.along[1];
  if (std::abs(slope) < kFlat) return 0;
  return std::max((plane.y - ray.from[1]) / slope, 0.0);
}

double to_object(const Ray& ray, const SceneObject& object) {
  return object.plane != 0 ? to_plane(ray, object) : to_sphere(ray, object);
}

bool in_shadow(const Scene& scene, const Direction& point, const Direction& to_light,
               double light_square, PixelTrace& trace) {
  Ray ray{plus(point, kOffSurface, to_light), to_light};
  for (const SceneObject& object : scene) {
    ++trace.shadow_tests;
    double met = to_object(ray, object);
    Direction there = plus(point, met, to_light);
    if (met > 0 && !(dot(there, there) > light_square)) return true;
  }
  return false;
}

/// The object that the ray meets first, or none; how far away it is.
const SceneObject* first_met(const Scene& scene, const Ray& ray, double& distance) {
  const SceneObject* met = nullptr;
  distance = kFar;
  for (const SceneObject& object : scene)
    if (double there = to_object(ray, object); there > 0 && there < distance) {
      distance = there;
      met = &object;
    }
  return met;
}

/// What the point adds to its pixel; the ray becomes the reflected one.
std::array<double, 4> shade(const Scene& scene, const SceneObject& object, double distance,
                            Ray& ray, PixelTrace& trace) {
  Direction point = plus(ray.from, distance, ray.along);
  Direction light = plus(kLight, -1, point);
  Direction to_light = unit(light), to_eye = unit(plus(ray.from, -1, point));
  Direction normal = object.plane != 0 ? kUp : unit(plus(point, -1, centre_of(object)));
  double facing = dot(to_eye, normal);
  Direction outward = facing < 0 ? plus({}, -1, normal) : normal;
  double lit = dot(outward, to_light), diffuse = 0, highlight = 0;
  if (lit > 0 && !in_shadow(scene, point, to_light, dot(light, light), trace)) {
    double cosine = dot(outward, unit(plus(to_light, 1, to_eye)));
    diffuse = kDiffuse * std::min(1.0, lit);
    highlight = kHighlight * std::pow(std::clamp(cosine, 0.0, 1.0), double{kShininess});
  }
  ray.along = unit(plus(plus({}, 2 * facing, normal), -1, to_eye));
  ray.from = plus(point, kOffSurface, ray.along);
  double share = kAmbient + diffuse;
  return {object.red * share + highlight, object.green * share + highlight,
          object.blue * share + highlight, object.alpha * share};
}

}  // namespace

Camera scene_camera() {
  Camera camera;
  camera.eye = {0, 0.5, 2};
  camera.forward = unit(plus({}, -1, camera.eye));
  camera.up = unit(plus(kUp, -dot(camera.forward, kUp), camera.forward));
  camera.right = unit(cross(camera.forward, camera.up));
  camera.focus = 1 / std::tan(65.0 / 180 * std::numbers::pi / 2);
  return camera;
}

Scene scene_objects(const std::array<float, 3 * kObjects>& colours) {
  auto object = [](float x, float y, float z, float radius, int plane) {
    return SceneObject{x, y, z, radius, 0, 0, 0, 1, plane, 0};
  };
  Scene scene = {object(0, -1.5f, 0, 0.5f, 1), object(-1, 0, -1, 0.5f, 0),
                 object(1, 0, -1, 0.5f, 0), object(0, 0, -2, 0.75f, 0)};
  for (std::size_t i = 0; i < scene.size(); ++i) {
    scene[i].red = colours[3 * i];
    scene[i].green = colours[3 * i + 1];
    scene[i].blue = colours[3 * i + 2];
  }
  return scene;
}

PixelTrace trace_pixel(const Scene& scene, const Camera& camera, double x, double y,
                       std::uint32_t width, std::uint32_t height) {
  double pixel = 2.0 / std::min(width, height);
  Direction along = plus({}, camera.focus, camera.forward);
  along = plus(along, (x - width / 2.0) * pixel, camera.right);
  along = plus(along, (y - height / 2.0) * pixel, camera.up);
  Ray ray{camera.eye, unit(along)};
  PixelTrace trace;
  trace.colour = {0, 0, 0, 1};
  double share = 1;
  for (; trace.hits < kBounces; ++trace.hits, share *= kReflected) {
    double distance = 0;
    const SceneObject* met = first_met(scene, ray, distance);
    if (met == nullptr) break;
    if (trace.hits == 0) trace.colour = {};
    std::array<double, 4> added = shade(scene, *met, distance, ray, trace);
    for (std::size_t c = 0; c < 4; ++c) trace.colour[c] += share * added[c];
  }
  return trace;
}

}  // namespace raddle::workloads
