// Pointers followed and arrays streamed, at each level of the memory. See README.md.
#include "common/cuda_lite.h"

using Word = unsigned long long;

// A step is 32 of what the loop does: nvcc unrolls the measured programs' loops by as much.
constexpr unsigned kUnrolled = 32;

template <class F>
static __device__ __forceinline__ void repeat(unsigned steps, F f) {
#pragma unroll 1
  for (unsigned i = 0; i < steps; ++i)
#pragma unroll
    for (unsigned k = 0; k < kUnrolled; ++k) f(i * kUnrolled + k);
}

// Loads at one level: .ca from the L1D, .cg from the L2.
static __device__ __forceinline__ Word load_l1(const Word* at) {
  Word value;
  asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}
static __device__ __forceinline__ Word load_l2(const Word* at) {
  Word value;
  asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}

// next[i] is the address of the word `stride` further, round and round. Each thread starts at its
// own word; the last one reached is written. With `writes` the first thread makes the array first,
// so that it lies in the L2.
template <class Load>
static __device__ __forceinline__ void chase(Word* next, Word* last, unsigned words,
                                             unsigned stride, bool writes, unsigned steps,
                                             Load load) {
  if (writes && threadIdx.x == 0)
#pragma unroll 1
    for (unsigned i = 0, to = stride % words; i < words; ++i, to = to + 1 == words ? 0 : to + 1)
      next[i] = reinterpret_cast<Word>(next + to);
  __syncthreads();
  const Word* at = reinterpret_cast<const Word*>(load(next + threadIdx.x));
  repeat(steps, [&](unsigned) { at = reinterpret_cast<const Word*>(load(at)); });
  last[threadIdx.x] = reinterpret_cast<Word>(at);
}
extern "C" __global__ void micro_chase_l1(Word* next, Word* last, unsigned words, unsigned stride,
                                          unsigned writes, unsigned steps) {
  chase(next, last, words, stride, writes != 0, steps, load_l1);
}
extern "C" __global__ void micro_chase_l2(Word* next, Word* last, unsigned words, unsigned stride,
                                          unsigned writes, unsigned steps) {
  chase(next, last, words, stride, writes != 0, steps, load_l2);
}

constexpr unsigned kSharedBytes = 32 * 1024;

// By addresses: the machine's loads of shared memory scale an index by themselves, PTX's do not,
// and nothing shall lie between two loads.
static __device__ __forceinline__ unsigned load_shared(unsigned at) {
  unsigned value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  return value;
}
static __device__ __forceinline__ Word load_shared(Word at) {
  Word value;
  asm volatile("ld.shared.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}

// The same in shared memory: a word is the address of the one `stride` further.
template <class T>
static __device__ __forceinline__ void chase_shared(T* last, unsigned stride, unsigned steps) {
  constexpr unsigned kWords = kSharedBytes / sizeof(T);
  __shared__ T next[kWords];
  Word start;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(start) : "l"(next));
  const T base = static_cast<T>(start);
  for (unsigned i = threadIdx.x; i < kWords; i += blockDim.x)
    next[i] = base + (i + stride) % kWords * sizeof(T);
  __syncthreads();
  T at = base + threadIdx.x * sizeof(T);
  repeat(steps, [&](unsigned) { at = load_shared(at); });
  last[threadIdx.x] = (at - base) / sizeof(T);
}
extern "C" __global__ void micro_chase_shared_32(unsigned* last, unsigned stride, unsigned steps) {
  chase_shared(last, stride, steps);
}
extern "C" __global__ void micro_chase_shared_64(Word* last, unsigned stride, unsigned steps) {
  chase_shared(last, stride, steps);
}

// A block's threads read an array of 64 KiB that its L1D holds, again and again: words of theirs,
// further by as much as a warp reads in a step. Each load has an accumulator of its own.
constexpr unsigned kFloats = 16384;

extern "C" __global__ void micro_stream_l1_f32(const float* from, float* sums, unsigned steps) {
  float sum[4] = {};
  repeat(steps, [&](unsigned i) {
    asm volatile(
        "{\n\t.reg .f32 v<4>;\n\t"
        "ld.global.ca.f32 v0, [%4];\n\tld.global.ca.f32 v1, [%4+128];\n\t"
        "ld.global.ca.f32 v2, [%4+256];\n\tld.global.ca.f32 v3, [%4+384];\n\t"
        "add.f32 %0, %0, v0;\n\tadd.f32 %1, %1, v1;\n\t"
        "add.f32 %2, %2, v2;\n\tadd.f32 %3, %3, v3;\n\t}"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "l"(from + (threadIdx.x + i * 128) % kFloats)
        : "memory");
  });
  sums[threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}
extern "C" __global__ void micro_stream_l1_f64(const double* from, double* sums, unsigned steps) {
  double sum[2] = {};
  repeat(steps, [&](unsigned i) {
    asm volatile(
        "{\n\t.reg .f64 v<2>;\n\t"
        "ld.global.ca.f64 v0, [%2];\n\tld.global.ca.f64 v1, [%2+256];\n\t"
        "add.f64 %0, %0, v0;\n\tadd.f64 %1, %1, v1;\n\t}"
        : "+d"(sum[0]), "+d"(sum[1])
        : "l"(from + (threadIdx.x + i * 64) % (kFloats / 2))
        : "memory");
  });
  sums[threadIdx.x] = sum[0] + sum[1];
}
extern "C" __global__ void micro_stream_l1_f32x2(const float* from, float* sums, unsigned steps) {
  float sum[2] = {};
  repeat(steps, [&](unsigned i) {
    asm volatile(
        "{\n\t.reg .f32 v<2>;\n\tld.global.ca.v2.f32 {v0, v1}, [%2];\n\t"
        "add.f32 %0, %0, v0;\n\tadd.f32 %1, %1, v1;\n\t}"
        : "+f"(sum[0]), "+f"(sum[1])
        : "l"(from + (threadIdx.x * 2 + i * 64) % kFloats)
        : "memory");
  });
  sums[threadIdx.x] = sum[0] + sum[1];
}
extern "C" __global__ void micro_stream_l1_f32x4(const float* from, float* sums, unsigned steps) {
  float sum[4] = {};
  repeat(steps, [&](unsigned i) {
    asm volatile(
        "{\n\t.reg .f32 v<4>;\n\tld.global.ca.v4.f32 {v0, v1, v2, v3}, [%4];\n\t"
        "add.f32 %0, %0, v0;\n\tadd.f32 %1, %1, v1;\n\t"
        "add.f32 %2, %2, v2;\n\tadd.f32 %3, %3, v3;\n\t}"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "l"(from + (threadIdx.x * 4 + i * 128) % kFloats)
        : "memory");
  });
  sums[threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

// All blocks read an array that the L2 holds, past the L1Ds: a thread its own element of the whole
// grid, then that of the next warp, and so on.
static __device__ __forceinline__ unsigned own_place() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
extern "C" __global__ void micro_stream_l2_f32(const float* from, float* sums, unsigned steps) {
  float sum = 0;
  repeat(steps, [&](unsigned i) {
    asm volatile("{\n\t.reg .f32 v;\n\tld.global.cg.f32 v, [%1];\n\tadd.f32 %0, %0, v;\n\t}"
                 : "+f"(sum)
                 : "l"(from + own_place() + i * 32)
                 : "memory");
  });
  sums[own_place()] = sum;
}
extern "C" __global__ void micro_stream_l2_f64(const double* from, double* sums, unsigned steps) {
  double sum = 0;
  repeat(steps, [&](unsigned i) {
    asm volatile("{\n\t.reg .f64 v;\n\tld.global.cg.f64 v, [%1];\n\tadd.f64 %0, %0, v;\n\t}"
                 : "+d"(sum)
                 : "l"(from + own_place() + i * 32)
                 : "memory");
  });
  sums[own_place()] = sum;
}
extern "C" __global__ void micro_stream_l2_f32x4(const float* from, float* sums, unsigned steps) {
  float sum[4] = {};
  repeat(steps, [&](unsigned i) {
    asm volatile(
        "{\n\t.reg .f32 v<4>;\n\tld.global.cg.v4.f32 {v0, v1, v2, v3}, [%4];\n\t"
        "add.f32 %0, %0, v0;\n\tadd.f32 %1, %1, v1;\n\t"
        "add.f32 %2, %2, v2;\n\tadd.f32 %3, %3, v3;\n\t}"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "l"(from + 4 * (own_place() + i * 32))
        : "memory");
  });
  sums[own_place()] = sum[0] + sum[1] + sum[2] + sum[3];
}

// c = a + b + d + e + f, four elements of each array at once.
extern "C" __global__ void micro_stream_memory(const float4* a, const float4* b, float4* c,
                                               const float4* d, const float4* e, const float4* f,
                                               unsigned count) {
#pragma unroll 1
  for (unsigned i = own_place(); i < count; i += blockDim.x * gridDim.x)
    c[i] = a[i] + b[i] + d[i] + e[i] + f[i];
}

// One way at a time, four elements of 4 bytes at once: read and summed, written, copied.
extern "C" __global__ void micro_read_memory(const float4* a, float4* sums, unsigned count) {
  float4 sum = {0, 0, 0, 0};
#pragma unroll 4
  for (unsigned i = own_place(); i < count; i += blockDim.x * gridDim.x) sum += a[i];
  sums[own_place()] = sum;
}
extern "C" __global__ void micro_write_memory(float4* c, float value, unsigned count) {
#pragma unroll 4
  for (unsigned i = own_place(); i < count; i += blockDim.x * gridDim.x)
    c[i] = float4{value, value, value, value};
}
extern "C" __global__ void micro_copy_memory(const float4* a, float4* c, unsigned count) {
#pragma unroll 4
  for (unsigned i = own_place(); i < count; i += blockDim.x * gridDim.x) c[i] = a[i];
}

// Every thread adds to one word, again and again, and needs no answer; words of neighbours are
// `stride` apart, round and round.
extern "C" __global__ void micro_atomic(unsigned* counters, unsigned words, unsigned stride,
                                        unsigned steps) {
  unsigned* at =
      counters + static_cast<unsigned>((static_cast<Word>(own_place()) * stride) % words);
  repeat(steps, [&](unsigned) {
    asm volatile("red.global.add.u32 [%0], 1;" : : "l"(at) : "memory");
  });
}
