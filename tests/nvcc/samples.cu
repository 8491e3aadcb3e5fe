// More kernels in the styles of Rodinia, Parboil and the CUDA samples: textures, constant memory,
// threadfence reductions, bit tricks; samples.cpp holds the references.
#include <cuda_runtime.h>

// Rodinia needle: one anti-diagonal tile of Needleman-Wunsch.
extern "C" __global__ void needle(const int* reference, int* score, int columns, int penalty, int first_x,
                                  int tiles_y) {
  constexpr int kTile = 16;
  __shared__ int s[kTile + 1][kTile + 1], r[kTile][kTile];
  const int bx = first_x + blockIdx.x, by = tiles_y - blockIdx.x, tx = threadIdx.x;
  const int corner = columns * kTile * by + kTile * bx;
  for (int y = 0; y < kTile; ++y) r[y][tx] = reference[corner + (y + 1) * columns + tx + 1];
  s[tx + 1][0] = score[corner + (tx + 1) * columns];
  s[0][tx + 1] = score[corner + tx + 1];
  if (tx == 0) s[0][0] = score[corner];
  __syncthreads();
  for (int m = 0; m < 2 * kTile - 1; ++m) {
    const int x = m < kTile ? tx + 1 : tx + m - kTile + 2, y = m < kTile ? m - tx + 1 : kTile - tx;
    if (m < kTile ? tx <= m : tx <= 2 * kTile - 2 - m)
      s[y][x] = max(s[y - 1][x - 1] + r[y - 1][x - 1], max(s[y][x - 1], s[y - 1][x]) - penalty);
    __syncthreads();
  }
  for (int y = 0; y < kTile; ++y) score[corner + (y + 1) * columns + tx + 1] = s[y + 1][tx + 1];
}

// Rodinia kmeans: features through a texture, centres in constant memory.
__constant__ float centres[8 * 4];
extern "C" __global__ void kmeans(cudaTextureObject_t features, int* member, int points) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= points) return;
  int best = -1;
  float least = 3.402823466e38f;
  for (int c = 0; c < 8; ++c) {
    float distance = 0;
    for (int f = 0; f < 4; ++f) {
      const float d = tex1Dfetch<float>(features, p + f * points) - centres[c * 4 + f];
      distance += d * d;
    }
    if (distance < least) least = distance, best = c;
  }
  member[p] = best;
}

// Rodinia hotspot: temperature and power, borders by clamping.
extern "C" __global__ void hotspot(const float* power, const float* from, float* to, int n, float k) {
  __shared__ float tile[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const auto at = [&](int r, int c) { return from[min(max(r, 0), n - 1) * n + min(max(c, 0), n - 1)]; };
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  tile[ty][tx] = at(y, x);
  if (ty == 1) tile[0][tx] = at(y - 1, x);
  if (ty == 16) tile[17][tx] = at(y + 1, x);
  if (tx == 1) tile[ty][0] = at(y, x - 1);
  if (tx == 16) tile[ty][17] = at(y, x + 1);
  __syncthreads();
  if (x < n && y < n) {
    const float t = tile[ty][tx];
    to[y * n + x] = t + k * (power[y * n + x] + (tile[ty - 1][tx] + tile[ty + 1][tx] - 2 * t) +
                             (tile[ty][tx - 1] + tile[ty][tx + 1] - 2 * t));
  }
}

// CUDA samples threadFenceReduction: the last block to finish adds up the partial sums.
__device__ unsigned finished = 0;
extern "C" __global__ void reduce(const float* in, volatile float* partial, float* out, int n) {
  __shared__ float s[128];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  const auto block_sum = [&](float v) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (unsigned by = blockDim.x / 2; by > 0; by /= 2) {
      if (threadIdx.x < by) s[threadIdx.x] += s[threadIdx.x + by];
      __syncthreads();
    }
    return s[0];
  };
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  float total = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) total += partial[i];
  total = block_sum(total);
  if (threadIdx.x == 0) *out = total, finished = 0;
}

// CUDA samples convolutionTexture and SobelFilter: stencils through textures.
__constant__ float taps[17];
extern "C" __global__ void convolve_rows(cudaTextureObject_t image, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
#pragma unroll
  for (int k = -8; k <= 8; ++k) sum += tex2D<float>(image, x + 0.5f + k, y + 0.5f) * taps[8 - k];
  out[y * width + x] = sum;
}
extern "C" __global__ void sobel(cudaTextureObject_t image, unsigned char* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int p[3][3];
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) p[j][i] = tex2D<unsigned char>(image, x + i - 1, y + j - 1);
  const int h = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
  const int v = p[0][0] + 2 * p[0][1] + p[0][2] - p[2][0] - 2 * p[2][1] - p[2][2];
  const int sum = abs(h) + abs(v);
  out[y * width + x] = sum > 255 ? 255 : static_cast<unsigned char>(sum);
}

// Parboil mri-q: sines and cosines of a constant table, single precision.
struct Sample {
  float x, y, z, magnitude;
};
__constant__ Sample samples[64];
extern "C" __global__ void mri_q(const float* x, const float* y, const float* z, float* real, float* imaginary,
                                 int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float r = 0, m = 0;
  for (int k = 0; k < 64; ++k) {
    const float a = 6.2831853071795864769f * (samples[k].x * x[i] + samples[k].y * y[i] + samples[k].z * z[i]);
    r += samples[k].magnitude * cosf(a);
    m += samples[k].magnitude * sinf(a);
  }
  real[i] = r, imaginary[i] = m;
}

// CUDA samples fastWalshTransform, in shared memory; dct8x8-like bit reversal on the way out.
extern "C" __global__ void walsh(int* data) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  int* const mine = data + blockIdx.x * 256;
  s[t] = mine[t];
  for (int stride = 1; stride < 256; stride *= 2) {
    __syncthreads();
    const int a = s[t & ~stride], b = s[t | stride];
    __syncthreads();
    s[t] = t & stride ? a - b : a + b;
  }
  __syncthreads();
  mine[__brev(t) >> 24] = s[t];
}

// HeCBench: a linear probing hash table filled by 64-bit compare-and-swap.
extern "C" __global__ void insert(unsigned long long* table, unsigned slots, const unsigned* keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long entry = static_cast<unsigned long long>(keys[i]) << 32 | (i + 1u);
  for (unsigned at = keys[i] * 2654435761u % slots;; at = (at + 1) % slots)
    if (atomicCAS(&table[at], 0ull, entry) == 0) return;
}
extern "C" __global__ void look_up(const unsigned long long* table, unsigned slots, const unsigned* keys,
                                   unsigned* found, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  found[i] = 0;
  for (unsigned at = keys[i] * 2654435761u % slots; table[at] != 0; at = (at + 1) % slots)
    if (table[at] >> 32 == keys[i]) {
      found[i] = static_cast<unsigned>(table[at]);
      return;
    }
}
