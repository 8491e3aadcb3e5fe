// Forces on bodies by the tree code of Barnes and Hut: the sub-trees of cells that are too near go
// to children. See README.md.
#include "common/child_device.h"

// Cells in preorder: the first child of an opened cell is the next one; skip leads past all that
// is below. A leaf's skip is the next cell.
struct Cell {
  float4 mass;  // centre of mass, mass
  float size;
  unsigned skip, first_body, bodies;
};

struct Tree {
  const float4* body;  // position, mass; sorted as the leaves are
  const Cell* cell;
  const float4* group;  // of child_block bodies: middle, radius
  float* force;         // x of all bodies, y of all, z of all
};

struct Walk {
  unsigned bodies;
  float reach;         // 1 / opening angle
  unsigned threshold;  // bodies below an opened cell from which on a child walks it
};

struct Sum {
  float x, y, z;
};

static __device__ void attract(const float4& here, const float4& mass, Sum& sum) {
  float x = mass.x - here.x, y = mass.y - here.y, z = mass.z - here.z;
  float square = x * x + y * y + z * z + 1e-4f;
  float scale = mass.w / (square * sqrtf(square));
  sum.x += x * scale;
  sum.y += y * scale;
  sum.z += z * scale;
}

// The same for all bodies of the group, so that its threads walk together; without fused
// multiply-add, so that the host finds the same.
static __device__ bool far(const Cell& cell, const float4& group, float reach) {
  float x = __fadd_rn(cell.mass.x, -group.x), y = __fadd_rn(cell.mass.y, -group.y);
  float z = __fadd_rn(cell.mass.z, -group.z);
  float square = __fadd_rn(__fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)), __fmul_rn(z, z));
  float least = __fadd_rn(__fmul_rn(cell.size, reach), group.w);
  return __fmul_rn(least, least) < square;
}

extern "C" __global__ void bht_sub_tree(const float4* body, const Cell* cells, const float4* group,
                                        float* force, unsigned first, unsigned at, unsigned end,
                                        float child_size, unsigned bodies, float reach,
                                        unsigned threshold);

// Cells `at` to `end` - 1 for the group of `lanes` bodies from `first` on, this thread's the
// lane-th. Opened cells of child_size and `threshold` bodies go to children, each launched by the
// next lane.
template <bool kNested>
static __device__ void walk(const Tree& tree, const Walk& how, unsigned first, unsigned lane,
                            unsigned lanes, unsigned at, unsigned end, float child_size) {
  const float4 group = tree.group[first / lanes];
  unsigned own = first + lane;
  bool any = own < how.bodies;
  const float4 here = tree.body[any ? own : first];
  Sum sum = {0, 0, 0};
  unsigned launches = 0;
  while (at < end) {
    const Cell cell = tree.cell[at];
    if (far(cell, group, how.reach)) {
      attract(here, cell.mass, sum);
      at = cell.skip;
    } else if (cell.skip == at + 1) {
      for (unsigned b = cell.first_body; b < cell.first_body + cell.bodies; ++b)
        attract(here, tree.body[b], sum);
      at = cell.skip;
    } else if (kNested && cell.size <= child_size && cell.bodies >= how.threshold) {
      if (launches++ % lanes == lane)
        LAUNCH_CHILD(bht_sub_tree, 1u, lanes, own_stream(), tree.body, tree.cell, tree.group,
                     tree.force, first, at + 1, cell.skip, child_size / 2, how.bodies, how.reach,
                     how.threshold);
      at = cell.skip;
    } else {
      ++at;
    }
  }
  if (!any) return;
  atomicAdd(&tree.force[own], sum.x);
  atomicAdd(&tree.force[how.bodies + own], sum.y);
  atomicAdd(&tree.force[2 * how.bodies + own], sum.z);
}

// One block: the group of bodies from `first` on.
extern "C" __global__ void bht_sub_tree(const float4* body, const Cell* cells, const float4* group,
                                        float* force, unsigned first, unsigned at, unsigned end,
                                        float child_size, unsigned bodies, float reach,
                                        unsigned threshold) {
  walk<true>({body, cells, group, force}, {bodies, reach, threshold}, first, threadIdx.x,
             blockDim.x, at, end, child_size);
}

// Thread = body, a block has one group or several.
template <bool kNested>
static __device__ void walk_all(const Tree& tree, const Walk& how, unsigned child_block,
                                unsigned end, float child_size) {
  unsigned lane = threadIdx.x % child_block;
  for (unsigned first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < how.bodies;
       first += gridDim.x * blockDim.x)
    walk<kNested>(tree, how, first, lane, child_block, 1, end, child_size);
}

extern "C" __global__ void bht_bodies(const float4* body, const Cell* cells, const float4* group,
                                      float* force, unsigned end, float child_size, unsigned bodies,
                                      float reach, unsigned threshold, unsigned child_block) {
  walk_all<true>({body, cells, group, force}, {bodies, reach, threshold}, child_block, end,
                 child_size);
}

extern "C" __global__ void bht_bodies_flat(const float4* body, const Cell* cells,
                                           const float4* group, float* force, unsigned end,
                                           unsigned bodies, float reach, unsigned child_block) {
  walk_all<false>({body, cells, group, force}, {bodies, reach, 0}, child_block, end, 0);
}
