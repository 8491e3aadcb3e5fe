// wmma, mma, ldmatrix, cp.async and mbarrier, as libraries use them.
#include <cuda_fp16.h>
#include <mma.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
using namespace nvcuda;

__global__ void wmma_kernel(const half* a, const half* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + k, n);
    wmma::load_matrix_sync(fb, b + k, n);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, n, wmma::mem_row_major);
}

__global__ void raw_mma(const uint32_t* a, float* d, const void* g) {
  __shared__ __align__(16) uint32_t tile[256];
  uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(tile + 4 * threadIdx.x));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(g));
  asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;");
  __syncthreads();
  uint32_t r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
  float c[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(a[0]), "r"(a[1]));
  unsigned dummy;
  asm volatile("{ .reg .pred p; .reg .u32 r0; setp.ne.b32 p, %1, 0; @p bra DONE; mov.u32 r0, 0b101; add.u32 %0, r0, 0x7fU; DONE: }" : "=r"(dummy) : "r"(r[0]));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %1, 017; @!p bra DONE; mov.u32 %0, WARP_SZ; DONE: }" : "+r"(dummy) : "r"(r[1]));
  d[threadIdx.x] = c[0] + c[1] + c[2] + c[3] + dummy;
}

__global__ void barriers(float* out, const float* in, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ float buffer[512];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, buffer, in, sizeof(float) * 512, bar);
  bar.arrive_and_wait();
  out[threadIdx.x] = buffer[n - threadIdx.x];
}
