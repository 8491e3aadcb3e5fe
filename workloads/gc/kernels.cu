// A mark-compact collector: marking by levels, new places by prefix sums, sliding. See README.md.
#include "common/cuda_lite.h"

// The heap is words of 8 bytes, see common/heap.h; objects have at least 4, so that no two of them
// begin in one group of 4. Marks (a bit) and new places (first word in the compacted heap) are kept
// outside of the objects, by group.
using Word = unsigned long long;
constexpr unsigned kGroup = 4;

static __device__ __forceinline__ bool is_reference(Word field) {
  return field != 0 && field % 2 == 0;
}
static __device__ __forceinline__ unsigned target_of(Word field) {
  return static_cast<unsigned>(field / sizeof(Word));
}
static __device__ __forceinline__ unsigned words_of(Word header) {
  return static_cast<unsigned>(header);
}

static __device__ __forceinline__ unsigned mark_word(unsigned at) { return at / kGroup / 32; }
static __device__ __forceinline__ unsigned mark_bit(unsigned at) { return 1u << at / kGroup % 32; }

// Thread t looks at the fields of the object at work[t]. Who is first to mark a target puts it on
// the next list.
extern "C" __global__ void gc_mark(const Word* heap, unsigned* marks, const unsigned* work,
                                   unsigned count, unsigned* next, unsigned* next_count) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const Word* object = heap + work[t];
  unsigned words = words_of(object[0]);
#pragma unroll 1
  for (unsigned f = 1; f < words; ++f) {
    Word field = object[f];
    if (!is_reference(field)) continue;
    unsigned target = target_of(field), bit = mark_bit(target);
    unsigned* word = marks + mark_word(target);
    if ((*word & bit) == 0 && (atomicOr(word, bit) & bit) == 0)
      next[atomicAdd(next_count, 1)] = target;
  }
}

// Exclusive prefix sum of the threads' values; *total of all. blockDim.x is a multiple of 32.
static __device__ __forceinline__ unsigned block_scan(unsigned value, unsigned* total) {
  __shared__ unsigned of_warp[32];
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = value;
#pragma unroll
  for (unsigned delta = 1; delta < 32; delta *= 2) {
    unsigned below = __shfl_up_sync(0xffffffffu, sum, delta);
    if (lane >= delta) sum += below;
  }
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();
  unsigned before = 0, all = 0;
#pragma unroll 1
  for (unsigned w = 0; w < blockDim.x / 32; ++w) {
    if (w == warp) before = all;
    all += of_warp[w];
  }
  __syncthreads();
  *total = all;
  return before + sum - value;
}

// Objects in order of address. place[o]: words of the marked ones before object o in its block.
extern "C" __global__ void gc_place(const Word* heap, const unsigned* marks,
                                    const unsigned* objects, unsigned count, unsigned* place,
                                    unsigned* block_words) {
  unsigned o = blockIdx.x * blockDim.x + threadIdx.x, words = 0, total;
  if (o < count) {
    unsigned at = objects[o];
    if ((marks[mark_word(at)] & mark_bit(at)) != 0) words = words_of(heap[at]);
  }
  unsigned before = block_scan(words, &total);
  if (o < count) place[o] = before;
  if (threadIdx.x == 0) block_words[blockIdx.x] = total;
}

// One block: block_words becomes its exclusive prefix sum, *words what lives in all.
extern "C" __global__ void gc_scan(unsigned* block_words, unsigned blocks, unsigned* words) {
  unsigned sum = 0;
  for (unsigned first = 0; first < blocks; first += blockDim.x) {
    unsigned b = first + threadIdx.x, total;
    unsigned before = block_scan(b < blocks ? block_words[b] : 0, &total);
    if (b < blocks) block_words[b] = sum + before;
    sum += total;
  }
  if (threadIdx.x == 0) *words = sum;
}

// forward[group]: new place of the object that begins there.
extern "C" __global__ void gc_forward(const unsigned* objects, unsigned count,
                                      const unsigned* place, const unsigned* block_words,
                                      unsigned* forward) {
  unsigned o = blockIdx.x * blockDim.x + threadIdx.x;
  if (o < count) forward[objects[o] / kGroup] = block_words[blockIdx.x] + place[o];
}

// Thread o copies object o word by word to where it slides, references to where their targets go.
extern "C" __global__ void gc_slide(const Word* heap, const unsigned* marks,
                                    const unsigned* objects, unsigned count,
                                    const unsigned* forward, Word* to) {
  unsigned o = blockIdx.x * blockDim.x + threadIdx.x;
  if (o >= count) return;
  unsigned at = objects[o];
  if ((marks[mark_word(at)] & mark_bit(at)) == 0) return;
  const Word* object = heap + at;
  Word* slid = to + forward[at / kGroup];
  unsigned words = words_of(object[0]);
  slid[0] = words;
#pragma unroll 1
  for (unsigned f = 1; f < words; ++f) {
    Word field = object[f];
    if (is_reference(field)) field = Word(forward[target_of(field) / kGroup]) * sizeof(Word);
    slid[f] = field;
  }
}
