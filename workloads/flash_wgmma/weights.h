// The warpgroups that compute: 64 queries each. While the tensor unit multiplies a tile of keys and
// the values of the tile before, the maxima and powers are those of another warpgroup.
#pragma once
#include "flash_wgmma/tile.h"

namespace flash3 {

constexpr float kUnder = -1.0e37f;  // finite: differences of it are numbers

static __device__ __forceinline__ float largest_of_four_lanes(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
static __device__ __forceinline__ float sum_of_four_lanes(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

/// kColumns / 16 products' left factors.
template <unsigned kColumns>
struct GroupHalves {
  unsigned word[kColumns / 4];
};

/// 64 rows of halves, as boxes of `box` bytes from one to the next lie in shared memory; `row`: of
/// the first. A warp stores its 16 rows.
template <unsigned kColumns>
static __device__ __forceinline__ void put_halves(SharedAddress boxes, unsigned box, unsigned row,
                                                  const GroupHalves<kColumns>& halves) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned own = row + threadIdx.x % 128 / 32 * 16 + lane % 16;
  const SharedAddress at = boxes + own * kBoxRowBytes;
#pragma unroll
  for (unsigned i = 0; i < kColumns / 16; ++i) {
    const unsigned chunk = (2 * i % 8 + lane / 16) ^ own % 8;
    store_matrices(at + i / 4 * box + chunk * 16, &halves.word[4 * i]);
  }
}

template <class Of>
class Consumer {
  static constexpr unsigned kKeys = Of::kKeys, kDim = Of::kDim, kGroups = Of::kGroups;
  static constexpr unsigned kAllThreads = 128 * kGroups;
  // Barriers: 1 to kGroups whose turn it is, then two of the end of a tile.
  static constexpr unsigned kValuesRead = kGroups + 1, kOutWritten = kGroups + 2;

 public:
  __device__ __forceinline__ Consumer(const Work& work, SharedAddress memory,
                                      const Objects& objects, unsigned group)
      : work_(work), memory_(memory), objects_(objects), group_(group) {}

  __device__ __forceinline__ void run() {
    if (group_ == kGroups - 1) pass_turn();
    unsigned parity = 0;
    for (unsigned at = blockIdx.x; at < work_.tiles; at += gridDim.x, parity ^= 1) {
      const Tile tile = tile_of<Of>(work_, at);
      begin(tile, parity);
#pragma unroll 1
      for (unsigned number = tile.count - 1; number-- > 0;) step(tile, number);
      end(tile);
    }
  }

 private:
  __device__ __forceinline__ SharedAddress keys() const {
    return memory_ + Of::kKeysAt + key_.stage * Of::kTileBytes;
  }
  __device__ __forceinline__ SharedAddress values() const {
    return memory_ + Of::kValuesAt + value_.stage * Of::kTileBytes;
  }
  __device__ __forceinline__ SharedAddress weights() const {
    return memory_ + Of::kWeightsAt + group_ * 64 * kBoxRowBytes;
  }
  /// One thread speaks for its warpgroup.
  __device__ __forceinline__ void notify(SharedAddress object) const {
    if (threadIdx.x % 128 == 0) arrive(object);
  }
  __device__ __forceinline__ void wait_for_turn() const { sync_at(1 + group_, 256); }
  __device__ __forceinline__ void pass_turn() const {
    arrive_at(1 + (group_ + 1 == kGroups ? 0 : group_ + 1), 256);
  }

  /// Starts the scores of a tile of keys.
  __device__ __forceinline__ void start_scores() {
    fence_products();
#pragma unroll
    for (unsigned step = 0; step < kDim / 16; ++step) {
      const SharedAddress query = memory_ + step / 4 * Of::kQueryBox + group_ * 64 * kBoxRowBytes;
      add_group_product(scores_, matrix_at(query) + 2 * (step % 4),
                        matrix_at(keys() + step / 4 * Of::kKeyBox) + 2 * (step % 4), step == 0);
    }
    end_product_group();
  }
  /// Starts the products of the weights and a tile of values.
  __device__ __forceinline__ void start_values() {
    constexpr unsigned kSixteenRows = 16 * kBoxRowBytes >> 4;
    const unsigned long long right = rows_at(values(), Of::kKeyBox);
    fence_products();
#pragma unroll
    for (unsigned step = 0; step < kKeys / 16; ++step) {
      const bool first = fresh_ && step == 0;
      if constexpr (Of::kInRegisters) {
        add_group_product(out_, &halves_.word[4 * step], right + step * kSixteenRows, first);
      } else {
        const SharedAddress left = weights() + step / 4 * Of::kQueryBox;
        add_group_product_of_rows(out_, matrix_at(left) + 2 * (step % 4),
                                  right + step * kSixteenRows, first);
      }
    }
    end_product_group();
    fresh_ = false;
  }
  __device__ __forceinline__ void end_values() {
    wait_for_products<0>();
    notify(objects_.values_empty(value_.stage));
    value_.next(kStages);
  }

  /// Keys that a query does not see get no weight.
  __device__ __forceinline__ void hide(const Tile& tile, unsigned number) {
    const unsigned lane = threadIdx.x % 32, first = number * kKeys;
    const unsigned query0 = tile.query0 + group_ * 64;
    if (first + kKeys <= work_.sequence && (!Of::kCausal || first + kKeys <= query0 + 1)) return;
    const int key = static_cast<int>(first + lane % 4 * 2);
    int limit[2];
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned query = query0 + threadIdx.x % 128 / 32 * 16 + lane / 4 + 8 * half;
      const unsigned seen = Of::kCausal && query + 1 < work_.sequence ? query + 1 : work_.sequence;
      limit[half] = static_cast<int>(seen) - key;
    }
#pragma unroll
    for (unsigned i = 0; i < kKeys / 2; ++i)
      if (static_cast<int>(i / 4 * 8 + i % 2) >= limit[i / 2 % 2]) scores_.at[i] = kUnder;
  }

  /// Scores become weights; `shrink`: by how much what was summed does where a maximum grows.
  __device__ __forceinline__ void weigh(float (&shrink)[2]) {
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
      float largest = scores_.at[2 * half];
#pragma unroll
      for (unsigned i = 0; i < kKeys / 2; ++i)
        if (i / 2 % 2 == half) largest = fmaxf(largest, scores_.at[i]);
      largest = fmaxf(maximum_[half], largest_of_four_lanes(largest));
      const float above = largest == kUnder ? 0.0f : largest;  // a query may see no key of a tile
      shrink[half] = power_of_two((maximum_[half] - above) * work_.scale);
      maximum_[half] = largest;
      const float less = above * work_.scale;
      sum_[half] *= shrink[half];
#pragma unroll
      for (unsigned i = 0; i < kKeys / 2; ++i) {
        if (i / 2 % 2 != half) continue;
        scores_.at[i] = power_of_two(fmaf(scores_.at[i], work_.scale, -less));
        sum_[half] += scores_.at[i];
      }
    }
  }
  /// Weights as the next products' left factor.
  __device__ __forceinline__ void keep_weights() {
#pragma unroll
    for (unsigned i = 0; i < kKeys / 4; ++i)
      halves_.word[i] = two_halves(scores_.at[2 * i], scores_.at[2 * i + 1]);
    if constexpr (!Of::kInRegisters) {
      put_halves<kKeys>(weights() - group_ * 64 * kBoxRowBytes, Of::kQueryBox, group_ * 64,
                        halves_);
      show_to_units();
      sync_lanes();  // a warp reads what it has written alone
    }
  }

  /// The last tile of keys is the first: it has nobody to be overlapped with.
  __device__ __forceinline__ void begin(const Tile& tile, unsigned parity) {
    fresh_ = true;
    sum_[0] = sum_[1] = 0.0f;
    maximum_[0] = maximum_[1] = kUnder;
    wait_for_phase(objects_.queries_full(), parity);
    wait_for_phase(objects_.keys_full(key_.stage), key_.parity);
    start_scores();
    wait_for_products<0>();
    notify(objects_.keys_empty(key_.stage));
    key_.next(kStages);
    hide(tile, tile.count - 1);
    float shrink[2];
    weigh(shrink);
    keep_weights();
  }
  __device__ __forceinline__ void step(const Tile& tile, unsigned number) {
    wait_for_phase(objects_.keys_full(key_.stage), key_.parity);
    wait_for_turn();
    start_scores();
    wait_for_phase(objects_.values_full(value_.stage), value_.parity);
    start_values();
    pass_turn();
    wait_for_products<1>();
    notify(objects_.keys_empty(key_.stage));
    key_.next(kStages);
    hide(tile, number);
    float shrink[2];
    weigh(shrink);
    end_values();
    keep_weights();
#pragma unroll
    for (unsigned i = 0; i < kDim / 2; ++i) out_.at[i] *= shrink[i / 2 % 2];
  }
  __device__ __forceinline__ void end(const Tile& tile) {
    notify(objects_.queries_empty());
    wait_for_phase(objects_.values_full(value_.stage), value_.parity);
    start_values();
    float factor[2];
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) factor[half] = 1.0f / sum_of_four_lanes(sum_[half]);
    end_values();
    GroupHalves<kDim> halves;
#pragma unroll
    for (unsigned i = 0; i < kDim / 4; ++i)
      halves.word[i] =
          two_halves(out_.at[2 * i] * factor[i % 2], out_.at[2 * i + 1] * factor[i % 2]);
    store(tile, halves);
  }

  /// Through the place of the values, when all have read theirs.
  __device__ __forceinline__ void store(const Tile& tile, const GroupHalves<kDim>& halves) {
    const SharedAddress place = memory_ + Of::kValuesAt;
    sync_at(kValuesRead, kAllThreads);
    put_halves<kDim>(place, Of::kQueryBox, group_ * 64, halves);
    show_to_units();
    const bool stores = threadIdx.x / 32 == 4 * (1 + kGroups) - 1;  // the last warp
    if (!stores) return arrive_at(kOutWritten, kAllThreads);
    sync_at(kOutWritten, kAllThreads);
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (unsigned box = 0; box < Of::kBoxes; ++box)
        store_box(work_.out, place + box * Of::kQueryBox, tile.head * kDim + box * kBoxColumns,
                  tile.query0, tile.batch);
      wait_for_stores_to_read();
      arrive(objects_.out_stored());
    }
    sync_lanes();
  }

  const Work& work_;
  SharedAddress memory_;
  Objects objects_;
  unsigned group_;
  Turn key_, value_;
  bool fresh_ = true;  // nothing has been summed in out_
  GroupSums<kKeys> scores_;
  GroupSums<kDim> out_;
  GroupHalves<kKeys> halves_;
  float maximum_[2], sum_[2];  // of two rows; sum_: of the lane's keys alone
};

}  // namespace flash3
