// Compressible flow on an unstructured mesh: fluxes over the four faces of each element, then a
// step in time. See README.md.
#include "common/cuda_lite.h"

constexpr int kThreads = 192, kFewThreads = 64;
constexpr int kFaces = 4;
constexpr int kWall = -1;           // instead of a neighbour; any other negative number: far flow
constexpr float kGamma = 1.4f;      // ratio of specific heats
constexpr float kSmoothing = 0.2f;  // artificial viscosity
constexpr float kCourant = 0.2f;

struct Vector {
  float x, y, z;
};

static __device__ __forceinline__ float dot(Vector a, Vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

// The conserved variables: [variable * elements + element] in memory.
struct State {
  float density;
  Vector momentum;
  float energy;
};

struct Flow {
  State u;
  Vector velocity;
  float speed, pressure, sound;  // sound: its speed
};

static __device__ __forceinline__ State load(const float* variables, int e, int elements) {
  State u;
  u.density = variables[e];
  u.momentum.x = variables[elements + e];
  u.momentum.y = variables[2 * elements + e];
  u.momentum.z = variables[3 * elements + e];
  u.energy = variables[4 * elements + e];
  return u;
}

static __device__ __forceinline__ void store(float* variables, int e, int elements, State u) {
  variables[e] = u.density;
  variables[elements + e] = u.momentum.x;
  variables[2 * elements + e] = u.momentum.y;
  variables[3 * elements + e] = u.momentum.z;
  variables[4 * elements + e] = u.energy;
}

static __device__ __forceinline__ Flow flow_of(State u) {
  Flow f;
  f.u = u;
  f.velocity = {u.momentum.x / u.density, u.momentum.y / u.density, u.momentum.z / u.density};
  float speed2 = dot(f.velocity, f.velocity);
  f.speed = sqrtf(speed2);
  f.pressure = (kGamma - 1.0f) * (u.energy - 0.5f * u.density * speed2);
  f.sound = sqrtf(kGamma * f.pressure / u.density);
  return f;
}

// sum += factor * (what flows with velocity and pressure of f through a face of normal n).
static __device__ __forceinline__ void add_flux(State& sum, const Flow& f, Vector n, float factor) {
  float through = factor * dot(f.velocity, n);
  float push = factor * f.pressure;
  sum.density += through * f.u.density;
  sum.momentum.x += through * f.u.momentum.x + push * n.x;
  sum.momentum.y += through * f.u.momentum.y + push * n.y;
  sum.momentum.z += through * f.u.momentum.z + push * n.z;
  sum.energy += through * (f.u.energy + f.pressure);
}

static __device__ __forceinline__ void add_difference(State& sum, const State& a, const State& b,
                                                      float factor) {
  sum.density += factor * (a.density - b.density);
  sum.momentum.x += factor * (a.momentum.x - b.momentum.x);
  sum.momentum.y += factor * (a.momentum.y - b.momentum.y);
  sum.momentum.z += factor * (a.momentum.z - b.momentum.z);
  sum.energy += factor * (a.energy - b.energy);
}

template <int threads>
static __device__ __forceinline__ int element_of_thread() {
  return static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
}

// Time step over volume of each element; size is its volume to the power 2/3.
extern "C" __global__ void __launch_bounds__(kThreads)
    cfd_step_factor(const float* variables, const float* size, float* step_factor, int elements) {
  int e = element_of_thread<kThreads>();
  if (e >= elements) return;
  Flow f = flow_of(load(variables, e, elements));
  step_factor[e] = kCourant / (size[e] * (f.speed + f.sound));
}

// What flows into each element. neighbours[face * elements + element],
// normals[(axis * kFaces + face) * elements + element]: outwards, as long as the face's area.
template <int threads>
static __device__ __forceinline__ void flux_of_thread(const int* neighbours, const float* normals,
                                                      const float* variables, float* fluxes,
                                                      int elements, const State& far) {
  int e = element_of_thread<threads>();
  if (e >= elements) return;
  Flow own = flow_of(load(variables, e, elements));
  State sum = {};
#pragma unroll
  for (int face = 0; face < kFaces; ++face) {
    int neighbour = neighbours[face * elements + e];
    Vector n = {normals[face * elements + e], normals[(kFaces + face) * elements + e],
                normals[(2 * kFaces + face) * elements + e]};
    if (neighbour >= 0) {
      Flow other = flow_of(load(variables, neighbour, elements));
      float speeds = own.speed + other.speed + own.sound + other.sound;
      add_difference(sum, other.u, own.u, 0.5f * kSmoothing * sqrtf(dot(n, n)) * speeds);
      add_flux(sum, own, n, -0.5f);
      add_flux(sum, other, n, -0.5f);
    } else if (neighbour == kWall) {
      sum.momentum.x -= n.x * own.pressure;
      sum.momentum.y -= n.y * own.pressure;
      sum.momentum.z -= n.z * own.pressure;
    } else {
      add_flux(sum, own, n, -0.5f);
      add_flux(sum, flow_of(far), n, -0.5f);
    }
  }
  store(fluxes, e, elements, sum);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    cfd_flux(const int* neighbours, const float* normals, const float* variables, float* fluxes,
             int elements, State far) {
  flux_of_thread<kThreads>(neighbours, normals, variables, fluxes, elements, far);
}

// A stage of the time step: variables = old + share * step_factor * fluxes.
extern "C" __global__ void __launch_bounds__(kThreads)
    cfd_advance(const float* old, const float* step_factor, const float* fluxes, float* variables,
                int elements, float share) {
  int e = element_of_thread<kThreads>();
  if (e >= elements) return;
  float factor = share * step_factor[e];
  State u = load(old, e, elements);
  add_difference(u, load(fluxes, e, elements), State{}, factor);
  store(variables, e, elements, u);
}

// The flows with smaller blocks, as CCBP must have had them.
extern "C" __global__ void __launch_bounds__(kFewThreads)
    cfd_flux_64(const int* neighbours, const float* normals, const float* variables, float* fluxes,
                int elements, State far) {
  flux_of_thread<kFewThreads>(neighbours, normals, variables, fluxes, elements, far);
}
