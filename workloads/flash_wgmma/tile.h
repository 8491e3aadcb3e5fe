// Attention of tiles of queries as FlashAttention-3's forward kernel does it: what a block has, and
// the warpgroup that brings tiles. The warpgroups that compute stand in weights.h. See README.md.
#pragma once
#include "common/wgmma_lite.h"

namespace flash3 {

constexpr unsigned kStages = 2;       // tiles of keys, and of values, in shared memory
constexpr unsigned kBoxColumns = 64;  // halves of a row of a box
constexpr unsigned kBoxRowBytes = 2 * kBoxColumns;

/// kDim: numbers of a head; kQueries, kKeys: of a tile; kCausal: a query sees the tokens up to its
/// own only; kInRegisters: weights stay there, else they go through shared memory.
template <unsigned kHead, unsigned kOfQueries, unsigned kOfKeys, bool kMasked, bool kKept>
struct Form {
  static constexpr unsigned kDim = kHead, kQueries = kOfQueries, kKeys = kOfKeys;
  static constexpr bool kCausal = kMasked, kInRegisters = kKept;
  static constexpr unsigned kGroups = kQueries / 64, kThreads = 128 * (1 + kGroups);
  static constexpr unsigned kBoxes = kDim / kBoxColumns;
  static constexpr unsigned kQueryBox = kQueries * kBoxRowBytes, kKeyBox = kKeys * kBoxRowBytes;
  static constexpr unsigned kQueryBytes = kBoxes * kQueryBox, kTileBytes = kBoxes * kKeyBox;
  static constexpr unsigned kKeysAt = kQueryBytes, kValuesAt = kKeysAt + kStages * kTileBytes;
  static constexpr unsigned kWeightsAt = kValuesAt + kStages * kTileBytes;  // if they go through it
  static constexpr unsigned kProducerRegisters = kGroups == 2 ? 24 : 32;
  static constexpr unsigned kConsumerRegisters = kGroups == 2 ? 240 : 160;
  static_assert(kQueryBytes <= kStages * kTileBytes);  // results lie where values did
};

struct Work {
  const TensorMap *queries, *keys, *values, *out;
  unsigned sequence, heads, group;  // `group` heads of queries share one of keys
  unsigned tiles;                   // of all sequences and heads
  unsigned section;                 // heads whose tiles of the same number go together
  float scale;                      // of scores, to powers of two
};

struct Tile {
  unsigned query0, head, batch;
  unsigned count;  // tiles of keys
};

/// Tile number `at`. Without a mask a head's tiles follow one another. With it the longest go
/// first, those of `section` heads in turn, whose keys and values the L2 holds.
template <class Of>
static __device__ __forceinline__ Tile tile_of(const Work& work, unsigned at) {
  const unsigned of_head = (work.sequence + Of::kQueries - 1) / Of::kQueries;
  unsigned row = at % of_head, both = at / of_head;  // both: sequence and head
  if constexpr (Of::kCausal) {
    const unsigned heads = work.tiles / of_head, first = at / (work.section * of_head);
    const unsigned left = heads - first * work.section, rest = at % (work.section * of_head);
    const unsigned wide = left < work.section ? left : work.section;
    row = of_head - 1 - rest / wide;
    both = first * work.section + rest % wide;
  }
  const unsigned query0 = row * Of::kQueries;
  const unsigned seen =
      Of::kCausal && query0 + Of::kQueries < work.sequence ? query0 + Of::kQueries : work.sequence;
  return {query0, both % work.heads, both / work.heads, (seen + Of::kKeys - 1) / Of::kKeys};
}

/// Barrier objects of a block.
struct Objects {
  SharedAddress at;
  __device__ __forceinline__ SharedAddress queries_full() const { return at; }
  __device__ __forceinline__ SharedAddress queries_empty() const { return at + 8; }
  __device__ __forceinline__ SharedAddress out_stored() const { return at + 16; }
  __device__ __forceinline__ SharedAddress keys_full(unsigned stage) const {
    return at + 24 + 8 * stage;
  }
  __device__ __forceinline__ SharedAddress keys_empty(unsigned stage) const {
    return keys_full(stage) + 8 * kStages;
  }
  __device__ __forceinline__ SharedAddress values_full(unsigned stage) const {
    return keys_full(stage) + 16 * kStages;
  }
  __device__ __forceinline__ SharedAddress values_empty(unsigned stage) const {
    return keys_full(stage) + 24 * kStages;
  }
  static constexpr unsigned kCount = 3 + 4 * kStages;

  __device__ __forceinline__ void prepare(unsigned groups) const {
    if (threadIdx.x == 0) {
      init_object(queries_full(), 1);
      init_object(queries_empty(), groups);
      init_object(out_stored(), 1);
      for (unsigned stage = 0; stage < kStages; ++stage) {
        init_object(keys_full(stage), 1);
        init_object(keys_empty(stage), groups);
        init_object(values_full(stage), 1);
        init_object(values_empty(stage), groups);
      }
      show_objects();
    }
    __syncthreads();
  }
};

/// One thread asks for all tiles: of keys one further than of values.
template <class Of>
class Producer {
 public:
  __device__ __forceinline__ Producer(const Work& work, SharedAddress memory,
                                      const Objects& objects)
      : work_(work), memory_(memory), objects_(objects) {}

  __device__ __forceinline__ void run() {
    unsigned parity = 1;  // of objects that say what is empty; at first the phase before
    for (unsigned at = blockIdx.x; at < work_.tiles; at += gridDim.x, parity ^= 1) {
      const Tile tile = tile_of<Of>(work_, at);
      ask(work_.keys, objects_.keys_full(key_.stage), objects_.keys_empty(key_.stage), key_,
          Of::kKeysAt, tile, tile.count - 1);
      wait_for_phase(objects_.queries_empty(), parity);
      arrive_and_expect(objects_.queries_full(), Of::kQueryBytes);
#pragma unroll
      for (unsigned box = 0; box < Of::kBoxes; ++box)
        copy_box(memory_ + box * Of::kQueryBox, work_.queries, objects_.queries_full(),
                 tile.head * Of::kDim + box * kBoxColumns, tile.query0, tile.batch);
      wait_for_phase(objects_.out_stored(), parity);
      for (unsigned number = tile.count; number-- > 0;) {
        if (number != 0)
          ask(work_.keys, objects_.keys_full(key_.stage), objects_.keys_empty(key_.stage), key_,
              Of::kKeysAt, tile, number - 1);
        ask(work_.values, objects_.values_full(value_.stage), objects_.values_empty(value_.stage),
            value_, Of::kValuesAt, tile, number);
      }
    }
  }

 private:
  __device__ __forceinline__ void ask(const TensorMap* map, SharedAddress full, SharedAddress empty,
                                      Turn& turn, unsigned at, const Tile& tile, unsigned number) {
    wait_for_phase(empty, turn.parity ^ 1);
    arrive_and_expect(full, Of::kTileBytes);
    const SharedAddress to = memory_ + at + turn.stage * Of::kTileBytes;
#pragma unroll
    for (unsigned box = 0; box < Of::kBoxes; ++box)
      copy_box(to + box * Of::kKeyBox, map, full,
               tile.head / work_.group * Of::kDim + box * kBoxColumns, number * Of::kKeys,
               tile.batch);
    turn.next(kStages);
  }

  const Work& work_;
  SharedAddress memory_;
  Objects objects_;
  Turn key_, value_;
};

}  // namespace flash3
