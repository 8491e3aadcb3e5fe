// A tile of C by one block: panels of both factors, 64 columns wide, come to shared memory by
// tensor copies, and warpgroups multiply them. See README.md.
#pragma once
#include "common/wgmma_lite.h"

constexpr unsigned kDepth = 64, kStep = 16;  ///< columns of a panel, of a product
constexpr unsigned kRowBytes = 2 * kDepth;
constexpr unsigned kMaxPanels = 8;

struct Factors {
  const TensorMap *a, *b;
  float* c;
  unsigned m, n, k, stages;
  unsigned shares;  ///< blocks of a cluster, each of which brings its part of B's panel to all
};

/// What both kinds of blocks have: where panels lie, their objects, how a panel is asked for, how
/// it is multiplied, and how sums are stored.
template <unsigned kM, unsigned kN, unsigned kGroups>
class Tile {
 protected:
  static constexpr unsigned kRowsOfGroup = kM / kGroups, kParts = kRowsOfGroup / 64;
  static constexpr unsigned kPanelBytes = (kM + kN) * kRowBytes;

  __device__ __forceinline__ Tile(const Factors& f, unsigned row0, unsigned column0,
                                  SharedAddress panels, SharedAddress objects)
      : f_(f), row0_(row0), column0_(column0), panels_(panels), objects_(objects) {}

  __device__ __forceinline__ SharedAddress full(unsigned stage) const {
    return objects_ + 16 * stage;
  }
  __device__ __forceinline__ SharedAddress empty(unsigned stage) const { return full(stage) + 8; }
  __device__ __forceinline__ unsigned panels() const { return (f_.k + kDepth - 1) / kDepth; }

  __device__ __forceinline__ void prepare() const {
    if (threadIdx.x == 0) {
      for (unsigned i = 0; i < f_.stages; ++i) {
        init_object(full(i), 1);
        init_object(empty(i), kGroups * f_.shares);
      }
      show_objects();
    }
    if (f_.shares > 1) sync_cluster();
    else __syncthreads();
  }
  /// Nobody leaves while others of the cluster may still tell it something.
  __device__ __forceinline__ void leave() const {
    if (f_.shares > 1) sync_cluster();
  }

  __device__ __forceinline__ void ask_for(unsigned panel, unsigned stage) const {
    const SharedAddress left = panels_ + stage * kPanelBytes, right = left + kM * kRowBytes;
    arrive_and_expect(full(stage), kPanelBytes);
    copy_box(left, f_.a, full(stage), panel * kDepth, row0_);
    if (f_.shares == 1) return copy_box(right, f_.b, full(stage), panel * kDepth, column0_);
    const unsigned rows = kN / f_.shares, from = rows * rank_in_cluster();
    copy_box_to_blocks(right + from * kRowBytes, f_.b, full(stage), panel * kDepth, column0_ + from,
                       static_cast<unsigned short>((1u << f_.shares) - 1));
  }

  /// Starts the products of a panel as one group.
  __device__ __forceinline__ void multiply(unsigned group, unsigned panel, unsigned stage) {
    const SharedAddress at = panels_ + stage * kPanelBytes;
    const unsigned long long right = matrix_at(at + kM * kRowBytes);
    fence_products();
#pragma unroll
    for (unsigned step = 0; step < kDepth / kStep; ++step)
#pragma unroll
      for (unsigned part = 0; part < kParts; ++part) {
        const unsigned row = group * kRowsOfGroup + 64 * part;
        add_group_product(sums_[part], matrix_at(at + row * kRowBytes) + 2 * step, right + 2 * step,
                          panel == 0 && step == 0);
      }
    end_product_group();
  }
  /// One thread speaks for its warpgroup: its products have read the panel.
  __device__ __forceinline__ void release(unsigned stage) const {
    if (threadIdx.x % 128 != 0) return;
    for (unsigned rank = 0; rank < f_.shares; ++rank) arrive_at_rank(empty(stage), rank);
  }

  __device__ __forceinline__ void store(unsigned group) const {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
#pragma unroll
    for (unsigned part = 0; part < kParts; ++part) {
      const unsigned row = row0_ + group * kRowsOfGroup + 64 * part + 16 * warp + lane / 4;
#pragma unroll
      for (unsigned i = 0; i < kN / 8; ++i) {
        const unsigned column = column0_ + 8 * i + 2 * (lane % 4);
        const float* const at = &sums_[part].at[4 * i];
        if (column >= f_.n) continue;
        if (row < f_.m) put(row, column, at[0], at[1]);
        if (row + 8 < f_.m) put(row + 8, column, at[2], at[3]);
      }
    }
  }

  Factors f_;
  unsigned row0_, column0_;
  SharedAddress panels_, objects_;
  GroupSums<kN> sums_[kParts];

 private:
  __device__ __forceinline__ void put(unsigned row, unsigned column, float first,
                                      float second) const {
    float2 two = {first, second};
    *reinterpret_cast<float2*>(f_.c + static_cast<unsigned long long>(row) * f_.n + column) = two;
  }
};

/// Swizzles begin at a multiple of 1,024.
extern __shared__ __align__(1024) unsigned char dynamic_shared[];
/// Objects of a block: full and empty of each stage.
static __device__ __forceinline__ SharedAddress objects_at() {
  __shared__ __align__(16) unsigned long long objects[2 * kMaxPanels];
  return shared_address(objects);
}

/// One warpgroup brings the panels, as far ahead as there are stages, the others multiply.
template <unsigned kM, unsigned kN, unsigned kGroups>
class Specialised : Tile<kM, kN, kGroups> {
  using Base = Tile<kM, kN, kGroups>;

 public:
  static constexpr unsigned kWarpgroups = 1 + kGroups;
  __device__ __forceinline__ Specialised(const Factors& f)
      : Base(f, blockIdx.x * kM, blockIdx.y * kN, shared_address(dynamic_shared), objects_at()) {}

  __device__ __forceinline__ void run() {
    this->prepare();
    const unsigned group = threadIdx.x / 128;
    if (group == 0) bring();
    else multiply_all(group - 1);
    this->leave();
  }

 private:
  __device__ __forceinline__ void bring() const {
    give_registers<40>();
    if (threadIdx.x != 0) return;
    Turn turn;
    for (unsigned panel = 0; panel < this->panels(); ++panel) {
      wait_for_phase(this->empty(turn.stage), turn.parity ^ 1);  // at first the phase before
      this->ask_for(panel, turn.stage);
      turn.next(this->f_.stages);
    }
  }
  __device__ __forceinline__ void multiply_all(unsigned group) {
    take_registers<232>();
    Turn turn;
    unsigned before = 0;
    for (unsigned panel = 0; panel < this->panels(); ++panel) {
      wait_for_phase(this->full(turn.stage), turn.parity);
      this->multiply(group, panel, turn.stage);
      if (panel != 0) {
        wait_for_products<1>();
        this->release(before);
      }
      before = turn.stage;
      turn.next(this->f_.stages);
    }
    wait_for_products<0>();
    this->release(before);
    this->store(group);
  }
};

/// The only warpgroup asks for a panel when the products of the one before it are done, and waits
/// for it: what Triton's compiler makes of a loop without prefetching. Other blocks of the SM hide
/// the way of the panel.
template <unsigned kM, unsigned kN, unsigned kGroups>
class Alone : Tile<kM, kN, kGroups> {
  using Base = Tile<kM, kN, kGroups>;

 public:
  static constexpr unsigned kWarpgroups = 1;
  static_assert(kGroups == 1);
  __device__ __forceinline__ Alone(const Factors& f)
      : Base(f, blockIdx.x * kM, blockIdx.y * kN, shared_address(dynamic_shared), objects_at()) {}

  __device__ __forceinline__ void run() {
    this->prepare();
    Turn turn;
    unsigned before = 0;
    for (unsigned panel = 0; panel < this->panels(); ++panel) {
      if (panel != 0) {
        wait_for_products<0>();
        this->release(before);
      }
      if (threadIdx.x == 0) {
        wait_for_phase(this->empty(turn.stage), turn.parity ^ 1);
        this->ask_for(panel, turn.stage);
      }
      wait_for_phase(this->full(turn.stage), turn.parity);
      this->multiply(0, panel, turn.stage);
      before = turn.stage;
      turn.next(this->f_.stages);
    }
    wait_for_products<0>();
    this->release(before);
    this->store(0);
    this->leave();
  }
};
