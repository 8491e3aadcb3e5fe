// A tile of a matrix product by matrix instructions of machines since 8.0: panels of both factors
// come to shared memory by asynchronous copies, some panels ahead, and from there to registers one
// step ahead. See README.md.
#pragma once
#include "common/mma_lite.h"

namespace gemm_of {

constexpr unsigned kDepth = 64;  // halves of a row in a panel: 128 bytes, eight chunks of 16
constexpr unsigned kChunks = kDepth / 8, kRowBytes = kDepth * 2;
constexpr unsigned kSteps = 4;  // matrix instructions along a panel, each 16 deep

/// kM x kN results of a block, a part of them to each of kWarpsM x kWarpsN warps.
template <unsigned kTileM, unsigned kTileN, unsigned kOfM, unsigned kOfN>
struct Shape {
  static constexpr unsigned kM = kTileM, kN = kTileN, kWarpsM = kOfM, kWarpsN = kOfN;
  static constexpr unsigned kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr unsigned kWarpM = kM / kWarpsM, kWarpN = kN / kWarpsN;
  static constexpr unsigned kPanelBytes = (kM + kN) * kRowBytes;  // of both factors
};

// Where a chunk of a row lies: its place changes with the row, so that eight rows of one chunk, as
// a matrix of 8 x 8 has them, lie in all banks.
static __device__ __forceinline__ unsigned slot(unsigned row, unsigned chunk) {
  return row * kRowBytes + (chunk ^ row % kChunks) * 16;
}

struct Always {
  static constexpr bool kAlways = true;
};
struct Within {
  static constexpr bool kAlways = false;
  unsigned rows;
  __device__ __forceinline__ bool row(unsigned number) const { return number < rows; }
};

/// What a thread copies of kRows rows that lie one behind the other: a chunk of every so many.
template <unsigned kRows, unsigned kThreads>
struct DenseCopies {
  static constexpr unsigned kApart = kThreads / kChunks, kCount = kRows / kApart;
  static_assert(kRows % kApart == 0 && kApart % 8 == 0 && kCount % kSteps == 0);
  const half_bits *from, *next;
  unsigned long long apart;
  unsigned left;  // of the matrix, from the thread's first row on
  SharedAddress to;

  __device__ __forceinline__ DenseCopies(const half_bits* matrix, unsigned rows, unsigned depth,
                                         unsigned row0, SharedAddress panel)
      : apart(static_cast<unsigned long long>(kApart) * depth),
        to(panel + slot(threadIdx.x / kChunks, threadIdx.x % kChunks)) {
    const unsigned row = row0 + threadIdx.x / kChunks;
    left = row < rows ? rows - row : 0;
    from = matrix + static_cast<unsigned long long>(row) * depth + threadIdx.x % kChunks * 8;
    next = from;
  }
  __device__ __forceinline__ void begin(unsigned depth0) { next = from + depth0; }
  /// Part `kStep` of a panel, all of it within the matrix.
  template <unsigned kStep>
  __device__ __forceinline__ void copy(SharedAddress panel) {
    copy_rows<kStep * kOfStep, (kStep + 1) * kOfStep>(to + panel, Always());
  }
  /// What is outside becomes zero.
  template <unsigned kStep>
  __device__ __forceinline__ void copy(SharedAddress panel, bool inside) {
    copy_rows<kStep * kOfStep, (kStep + 1) * kOfStep>(to + panel, Within{inside ? left : 0});
  }

 private:
  static constexpr unsigned kOfStep = kCount / kSteps;
  template <unsigned kRow, unsigned kEnd, class Wanted>
  __device__ __forceinline__ void copy_rows(SharedAddress panel, Wanted wanted) {
    constexpr unsigned kOffset = kRow * kApart * kRowBytes;
    if constexpr (Wanted::kAlways) copy_16<kOffset>(panel, next);
    else copy_16<kOffset>(panel, next, wanted.row(kRow * kApart));
    next += apart;
    __asm__ volatile("" : "+l"(next));  // one pointer in registers, not one for each row
    if constexpr (kRow + 1 < kEnd) copy_rows<kRow + 1, kEnd>(panel, wanted);
  }
};

/// A warp's parts of both factors in registers, as deep as a matrix instruction.
template <class Of>
struct Factors {
  FourMatrices left[Of::kWarpM / 16], right[Of::kWarpN / 16];
};

/// The sums of a warp.
template <class Of>
struct WarpTile {
  Sums sum[Of::kWarpM / 16][Of::kWarpN / 8];
  unsigned lane, row, column;         // of the warp's part in the tile
  SharedAddress left_row, right_row;  // of the lane
  unsigned left_chunk, right_chunk;

  __device__ __forceinline__ explicit WarpTile(SharedAddress panels)
      : sum{},
        lane(threadIdx.x % 32),
        row(threadIdx.x / 32 / Of::kWarpsN * Of::kWarpM),
        column(threadIdx.x / 32 % Of::kWarpsN * Of::kWarpN),
        left_row(panels + (row + lane % 16) * kRowBytes),
        right_row(panels + (Of::kM + column + lane / 16 * 8 + lane % 8) * kRowBytes),
        left_chunk((lane / 16 ^ lane % 8) * 16),
        right_chunk((lane / 8 % 2 ^ lane % 8) * 16) {}

  __device__ __forceinline__ void load(Factors<Of>& to, unsigned panel, unsigned step) const {
    const SharedAddress left = left_row + panel + (left_chunk ^ step * 32);
    const SharedAddress right = right_row + panel + (right_chunk ^ step * 32);
    load_matrices<Of::kWarpM / 16, 16 * kRowBytes>(to.left, left);
    load_matrices<Of::kWarpN / 16, 16 * kRowBytes>(to.right, right);
  }
  __device__ __forceinline__ void multiply(const Factors<Of>& by) {
#pragma unroll
    for (unsigned i = 0; i < Of::kWarpM / 16; ++i)
#pragma unroll
      for (unsigned j = 0; j < Of::kWarpN / 16; ++j) {
        add_product(sum[i][2 * j], by.left[i], by.right[j].word[0], by.right[j].word[1]);
        add_product(sum[i][2 * j + 1], by.left[i], by.right[j].word[2], by.right[j].word[3]);
      }
  }
  /// store(row, column, two neighbours), of the tile.
  template <class Store>
  __device__ __forceinline__ void store(Store store) const {
#pragma unroll
    for (unsigned i = 0; i < Of::kWarpM / 16; ++i)
#pragma unroll
      for (unsigned j = 0; j < Of::kWarpN / 8; ++j) {
        const unsigned at_row = row + i * 16 + lane / 4, at_column = column + j * 8 + lane % 4 * 2;
        store(at_row, at_column, sum[i][j].at[0], sum[i][j].at[1]);
        store(at_row + 8, at_column, sum[i][j].at[2], sum[i][j].at[3]);
      }
  }
};

/// All of the thread's panels but the youngest `panels`, 0 to 2, have come.
static __device__ __forceinline__ void wait_for_panels(unsigned panels) {
  if (panels == 0) wait_for_copies<0>();
  else if (panels == 1) wait_for_copies<kSteps>();
  else wait_for_copies<2 * kSteps>();
}

/// Rows of `left` times rows of `right`, all of `depth` halves, a multiple of eight. `stages`: 2 to
/// 4 panels in shared memory, the first at `read`. All threads of the block take part. kWhole: all
/// that is copied is within the matrices.
template <class Of, bool kWhole, class Left, class Right>
class Product {
 public:
  __device__ __forceinline__ Product(const Left& left, const Right& right, unsigned depth,
                                     unsigned stages)
      : left_(left),
        right_(right),
        depth_(depth),
        count_((depth + kDepth - 1) / kDepth),
        stages_(stages),
        write_((stages - 1) * Of::kPanelBytes) {}

  __device__ __forceinline__ void run(WarpTile<Of>& tile) {
#pragma unroll 1
    for (unsigned number = 0; number + 1 < stages_; ++number) {
      begin(number);
      const unsigned panel = number * Of::kPanelBytes;
      copy<0>(number, panel);
      copy<1>(number, panel);
      copy<2>(number, panel);
      copy<3>(number, panel);
    }
    next_panel();
    tile.load(factors_[0], 0, 0);
#pragma unroll 1
    for (unsigned number = 0; number < count_; ++number) {
      begin(number + stages_ - 1);
      step<0>(tile, number);
      step<1>(tile, number);
      step<2>(tile, number);
      step<3>(tile, number);
    }
  }

 private:
  __device__ __forceinline__ void begin(unsigned number) {
    left_.begin(number * kDepth);
    right_.begin(number * kDepth);
  }
  // Each step's copies are a group, which leaves them among the products where they stand.
  template <unsigned kStep>
  __device__ __forceinline__ void copy(unsigned number, unsigned panel) {
    if (number < count_) {
      if constexpr (kWhole) {
        left_.template copy<kStep>(panel);
        right_.template copy<kStep>(panel);
      } else {
        const bool inside = number * kDepth + threadIdx.x % kChunks * 8 < depth_;
        left_.template copy<kStep>(panel, inside);
        right_.template copy<kStep>(panel, inside);
      }
    }
    end_copy_group();
  }
  __device__ __forceinline__ void next_panel() {
    wait_for_panels(stages_ - 2);
    __syncthreads();
  }
  // The factors of the next step come while those of this one are multiplied.
  template <unsigned kStep>
  __device__ __forceinline__ void step(WarpTile<Of>& tile, unsigned number) {
    copy<kStep>(number + stages_ - 1, write_);
    if constexpr (kStep + 1 == kSteps) {
      write_ = read_;  // all threads will have read it
      read_ = read_ + Of::kPanelBytes == stages_ * Of::kPanelBytes ? 0 : read_ + Of::kPanelBytes;
      next_panel();
      if (number + 1 < count_) tile.load(factors_[0], read_, 0);
    } else {
      tile.load(factors_[(kStep + 1) % 2], read_, kStep + 1);
    }
    tile.multiply(factors_[kStep % 2]);
  }

  Left left_;
  Right right_;
  unsigned depth_, count_, stages_, read_ = 0, write_;
  Factors<Of> factors_[2];
};

}  // namespace gemm_of
