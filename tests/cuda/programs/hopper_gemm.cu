// A matrix product as Hopper does it: one warpgroup brings tiles by tensor copies, two multiply
// them, barrier objects between them, rows swizzled by 128 bytes; with and without clusters of two
// blocks, which share what they load. C = A * B', f16 in, f32 out. Ends with 0 when C is right.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kTileM = 128, kTileN = 128, kTileK = 64, kStages = 4;
constexpr int kConsumers = 2, kThreads = 128 * (1 + kConsumers);
constexpr unsigned kTileBytes = kTileM * kTileK * 2;

struct alignas(1024) Shared {
  __half a[kStages][kTileM * kTileK];
  __half b[kStages][kTileN * kTileK];
  std::uint64_t full[kStages], empty[kStages];
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void wait(std::uint64_t* bar, unsigned parity) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}"
      ::"r"(shared_address(bar)), "r"(parity)
      : "memory");
}
__device__ void expect(std::uint64_t* bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)),
               "r"(bytes)
               : "memory");
}
/// At the barrier object of the same place in the block of that rank.
__device__ void arrive(std::uint64_t* bar, unsigned rank) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(shared_address(bar)),
      "r"(rank)
      : "memory");
}
__device__ void load(void* to, const CUtensorMap* map, std::uint64_t* bar, int x, int y,
                     std::uint16_t blocks) {
  if (blocks == 0)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %4}], [%2];" ::"r"(shared_address(to)),
        "l"(map), "r"(shared_address(bar)), "r"(x), "r"(y)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
        "l"(map), "r"(shared_address(bar)), "r"(x), "r"(y), "h"(blocks)
        : "memory");
}
__device__ std::uint64_t descriptor(const __half* p) {
  // Rows of 128 bytes, eight of them to the next group; swizzled by 128 bytes.
  return (shared_address(p) >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
#define F8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), \
                 "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
__device__ void multiply(float (&d)[64], std::uint64_t a, std::uint64_t b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0;\n}"
      : F8(d, 0), F8(d, 8), F8(d, 16), F8(d, 24), F8(d, 32), F8(d, 40), F8(d, 48), F8(d, 56)
      : "l"(a), "l"(b), "r"(accumulate));
}
__device__ unsigned rank_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
#endif

/// `shares`: blocks of a cluster, which are neighbours along M, share tiles of B. Each loads a part.
__global__ void __launch_bounds__(kThreads, 1)
    product(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
            float* c, int n, int k, int shares) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>((reinterpret_cast<std::uintptr_t>(raw) + 1023) & ~std::uintptr_t{1023});
  const int group = threadIdx.x / 128, steps = k / kTileK;
  const int row = blockIdx.x * kTileM, column = blockIdx.y * kTileN;
  const unsigned rank = shares > 1 ? rank_in_cluster() : 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&s.full[i])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&s.empty[i])),
                   "r"(kConsumers * shares));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;");
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0)
      for (int i = 0; i < steps; ++i) {
        const int stage = i % kStages;
        wait(&s.empty[stage], (i / kStages & 1) ^ 1);
        expect(&s.full[stage], 2 * kTileBytes);
        load(s.a[stage], &map_a, &s.full[stage], i * kTileK, row, 0);
        const int part = kTileN / shares, at = part * rank;
        load(s.b[stage] + at * kTileK, &map_b, &s.full[stage], i * kTileK, column + at,
             shares > 1 ? (1 << shares) - 1 : 0);
      }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[64];
    for (float& x : d) x = 0;
    const int at = (group - 1) * 64;
    for (int i = 0; i < steps; ++i) {
      const int stage = i % kStages;
      wait(&s.full[stage], i / kStages & 1);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      const std::uint64_t a = descriptor(s.a[stage] + at * kTileK), b = descriptor(s.b[stage]);
      for (int step = 0; step < kTileK / 16; ++step) multiply(d, a + 2 * step, b + 2 * step, 1);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      // One thread speaks for its warpgroup.
      if (threadIdx.x % 128 == 0)
        for (int other = 0; other < shares; ++other) arrive(&s.empty[stage], other);
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    for (int r = 0; r < 64; ++r)
      c[static_cast<std::size_t>(row + at + 16 * warp + lane / 4 + r / 2 % 2 * 8) * n + column +
        r / 4 * 8 + lane % 4 * 2 + r % 2] = d[r];
  }
  // Nobody leaves while others of the cluster may still tell it something.
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;");
#endif
}

#define CHECK(x)                                                                    \
  do {                                                                              \
    const int code = (x);                                                           \
    if (code != 0) {                                                                \
      std::printf("%s: %d\n", #x, code);                                            \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                            const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                            const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

CUtensorMap map_of(Encode encode, void* at, int rows, int columns, int box_rows) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(columns) * 2};
  const cuuint32_t box[] = {kTileK, static_cast<cuuint32_t>(box_rows)}, steps[] = {1, 1};
  CHECK(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, at, sizes, strides, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

int main(int argc, char** argv) {
  const int m = argc > 1 ? std::atoi(argv[1]) : 256, n = argc > 2 ? std::atoi(argv[2]) : 256;
  const int k = argc > 3 ? std::atoi(argv[3]) : 512;
  std::vector<__half> a(static_cast<std::size_t>(m) * k), b(static_cast<std::size_t>(n) * k);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = __float2half(static_cast<float>(i * 7 % 9) - 4);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = __float2half(static_cast<float>(i * 5 % 7) - 3);
  void *da, *db;
  float* dc;
  CHECK(cudaMalloc(&da, 2 * a.size()));
  CHECK(cudaMalloc(&db, 2 * b.size()));
  CHECK(cudaMalloc(&dc, sizeof(float) * m * n));
  CHECK(cudaMemcpy(da, a.data(), 2 * a.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), 2 * b.size(), cudaMemcpyHostToDevice));
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                         &found));
  CHECK(found);
  const auto encode = reinterpret_cast<Encode>(entry);
  int wrong = 0;
  for (int shares = 1; shares <= 2; ++shares) {
    const CUtensorMap map_a = map_of(encode, da, m, k, kTileM);
    const CUtensorMap map_b = map_of(encode, db, n, k, kTileN / shares);
    CHECK(cudaMemset(dc, 0xff, sizeof(float) * m * n));
    const int bytes = sizeof(Shared) + 1024;
    CHECK(cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(m / kTileM, n / kTileN);
    configuration.blockDim = kThreads;
    configuration.dynamicSmemBytes = bytes;
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = shares;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    configuration.attrs = &cluster;
    configuration.numAttrs = shares > 1 ? 1 : 0;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    CHECK(cudaLaunchKernelEx(&configuration, product, map_a, map_b, dc, n, k, shares));
    CHECK(cudaEventRecord(end));
    CHECK(cudaDeviceSynchronize());
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    std::vector<float> c(static_cast<std::size_t>(m) * n);
    CHECK(cudaMemcpy(c.data(), dc, sizeof(float) * c.size(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int at = 0; at < k; ++at)
          sum += __half2float(a[static_cast<std::size_t>(i) * k + at]) *
                 __half2float(b[static_cast<std::size_t>(j) * k + at]);
        if (c[static_cast<std::size_t>(i) * n + j] == sum) continue;
        if (wrong++ < 5) std::printf("%d, %d: %g, not %g\n", i, j, c[static_cast<std::size_t>(i) * n + j], sum);
      }
    std::printf("%d block(s) to a cluster: %.2f us\n", shares, 1000 * milliseconds);
  }
  std::printf(wrong == 0 ? "PASS\n" : "FAIL: %d\n", wrong);
  return wrong == 0 ? 0 : 1;
}
