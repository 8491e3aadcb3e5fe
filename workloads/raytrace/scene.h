// The form of a scene in constant memory, for kernels and host alike. See README.md.
#pragma once

constexpr int kObjects = 4;
constexpr int kBounces = 5;           ///< rays followed for a pixel, at most
constexpr float kFar = 10000.0f;      ///< nothing is found beyond
constexpr float kOffSurface = 1e-4f;  ///< a ray that leaves a surface begins so far off it
constexpr float kLightAt = 10.0f;     ///< the light is at (10, 10, 10)
constexpr float kFlat = 1e-4f;        ///< a ray does not meet a plane that it runs along
constexpr float kAmbient = 0.05f, kDiffuse = 0.3f, kHighlight = 0.8f, kShininess = 50.0f;
constexpr float kReflected = 0.8f;

/// A sphere, or a level plane through its centre.
struct SceneObject {
  float x, y, z, radius;
  float red, green, blue, alpha;
  int plane, unused;
};
