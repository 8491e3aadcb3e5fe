// Adaptive mesh refinement: a hot cell becomes 4 x 4 x 2 cells, of which hot ones become as many.
// See README.md.
#include "common/child_device.h"

constexpr unsigned kRefine = 32;

struct Mesh {
  float* temperature;
  unsigned* children;  // of each cell: its first child, 0 = none
  unsigned* next;      // first place that is not given out
};

// Of the gas, and from when on a cell is refined. Double precision throughout.
struct Gas {
  double threshold, curve, steep, spread;
};

// energy = t + t^2 / curve
static __device__ double energy_of(double t, const Gas& gas) {
  return __dadd_rn(t, __dmul_rn(t, t) / gas.curve);
}

// The energy thins out from the centre of the refined cell; the temperature solves energy_of().
static __device__ double temperature_of(double energy, unsigned cell, const Gas& gas) {
  double x = static_cast<double>(cell % 4) - 1.5;
  double y = static_cast<double>(cell / 4 % 4) - 1.5;
  double z = static_cast<double>(cell / 16) - 0.5;
  double square = __dadd_rn(__dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)), __dmul_rn(z, z));
  double share = energy / __dadd_rn(1.0, square / gas.spread);
  double root = sqrt(__dadd_rn(1.0, __dmul_rn(4.0, share) / gas.curve));
  return __dadd_rn(root, -1.0) / gas.steep;
}

// Places for the children of all cells of the block that are `hot`: one addition for the block.
static __device__ unsigned places(const Mesh& mesh, bool hot) {
  __shared__ unsigned sums[32];
  __shared__ unsigned first;
  unsigned total;
  unsigned before = block_sum_before(hot, sums, total);
  if (threadIdx.x == 0 && total != 0) first = atomicAdd(mesh.next, total * kRefine);
  __syncthreads();
  return first + before * kRefine;
}

// The 32 children of a cell with this energy, thread = child; hot ones are refined in turn.
extern "C" __global__ void amr_refine(float* temperature, unsigned* children, unsigned* next,
                                      double energy, unsigned first, unsigned levels,
                                      double threshold, double curve, double steep, double spread) {
  const Mesh mesh = {temperature, children, next};
  const Gas gas = {threshold, curve, steep, spread};
  unsigned cell = first + threadIdx.x;
  temperature[cell] = static_cast<float>(temperature_of(energy, threadIdx.x, gas));
  read_again();
  double here = temperature[cell];
  bool hot = levels != 0 && children[cell] == 0 && here >= threshold;
  unsigned place = places(mesh, hot);
  if (!hot) return;
  children[cell] = place;
  LAUNCH_CHILD(amr_refine, 1u, kRefine, own_stream(), temperature, children, next,
               energy_of(here, gas), place, levels - 1, threshold, curve, steep, spread);
}

// Cells of the mesh to start with.
extern "C" __global__ void amr_coarse(const float* coarse, unsigned* coarse_children,
                                      unsigned cells, float* temperature, unsigned* children,
                                      unsigned* next, unsigned levels, double threshold,
                                      double curve, double steep, double spread) {
  const Mesh mesh = {temperature, children, next};
  const Gas gas = {threshold, curve, steep, spread};
  for (unsigned base = blockIdx.x * blockDim.x; base < cells; base += gridDim.x * blockDim.x) {
    unsigned cell = base + threadIdx.x;
    double here = cell < cells ? static_cast<double>(coarse[cell]) : 0.0;
    bool hot = cell < cells && here >= threshold;
    unsigned place = places(mesh, hot);
    if (hot) {
      coarse_children[cell] = place;
      LAUNCH_CHILD(amr_refine, 1u, kRefine, own_stream(), temperature, children, next,
                   energy_of(here, gas), place, levels - 1, threshold, curve, steep, spread);
    }
    __syncthreads();
  }
}

// One level without children: the cells `first` to `end` - 1 of `parent`; each hot one writes its
// 32 children itself. The host launches the next level.
extern "C" __global__ void amr_flat(const float* parent, unsigned* parent_children, unsigned first,
                                    unsigned end, float* temperature, unsigned* children,
                                    unsigned* next, double threshold, double curve, double steep,
                                    double spread) {
  const Mesh mesh = {temperature, children, next};
  const Gas gas = {threshold, curve, steep, spread};
  for (unsigned base = first + blockIdx.x * blockDim.x; base < end;
       base += gridDim.x * blockDim.x) {
    unsigned cell = base + threadIdx.x;
    double here = cell < end ? static_cast<double>(parent[cell]) : 0.0;
    bool hot = cell < end && here >= threshold;
    unsigned place = places(mesh, hot);
    if (hot) {
      parent_children[cell] = place;
      double energy = energy_of(here, gas);
#pragma unroll 1
      for (unsigned child = 0; child < kRefine; ++child)
        temperature[place + child] = static_cast<float>(temperature_of(energy, child, gas));
    }
    __syncthreads();
  }
}
