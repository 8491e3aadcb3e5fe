// libcu++ and cooperative groups as programs use them, to be run: pipelines, barriers, asynchronous copies, tiles, atomics.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <mma.h>
namespace cg = cooperative_groups;
// Two stages, shared by the block: out = in + 1, tile after tile of 256.
extern "C" __global__ void pipeline2(const float* in, float* out, int tiles) {
  __shared__ alignas(16) float s[2][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int fetch = 0, tile = 0; tile < tiles; ++tile) {
    for (; fetch < tiles && fetch < tile + 2; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[fetch % 2], in + 256 * fetch, cuda::aligned_size_t<16>(1024), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    out[256 * tile + threadIdx.x] = s[tile % 2][255 - threadIdx.x] + 1;
    pipe.consumer_release();
  }
}
extern "C" __global__ void barrier_copy(const int* in, int* out) {
  __shared__ int s[512];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  for (int round = 0; round < 3; ++round) {
    cuda::memcpy_async(block, s, in + 512 * round, sizeof(s), bar);
    bar.arrive_and_wait();
    out[512 * round + threadIdx.x] = s[511 - threadIdx.x];
    block.sync();
  }
}
extern "C" __global__ void tiles(const int* in, int* out) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto four = cg::tiled_partition<4>(block);
  const int v = in[threadIdx.x];
  int* o = out + 8 * threadIdx.x;
  o[0] = cg::reduce(warp, v, cg::plus<int>());
  o[1] = cg::reduce(four, v, cg::greater<int>());
  o[2] = cg::inclusive_scan(warp, v);
  o[3] = cg::exclusive_scan(four, v);
  o[4] = __float_as_int(cg::reduce(warp, float(v), cg::plus<float>()));
  auto odd = cg::binary_partition(warp, v & 1);
  o[5] = odd.size();
  o[6] = cg::labeled_partition(warp, v % 3).size();
  if (v > 10) o[7] = cg::coalesced_threads().size();
}
extern "C" __global__ void atomics(int* i, unsigned long long* u, float* f, double* d, short* h) {
  const int t = threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_device>(*i).fetch_max(t * 7 % 256);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_block>(*u).fetch_add(t, cuda::std::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_system>(*f).fetch_add(1.0f);
  cuda::atomic_ref<double, cuda::thread_scope_device>(*d).fetch_add(0.5, cuda::std::memory_order_acq_rel);
  cuda::atomic_ref<short, cuda::thread_scope_device>(*h).fetch_add(2);
}
extern "C" __global__ void wmma_gemm(const half* a, const half* b, float* c, int n) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * n + k, n);
    wmma::load_matrix_sync(fb, b + blockIdx.x * 16 * n + k, n);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 2;
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, wmma::mem_row_major);
}
