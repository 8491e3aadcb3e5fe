// Kernels in the styles of Rodinia, Parboil, PolyBench, the CUDA samples and HeCBench, written for
// these tests; kernels.cpp holds the references.

// Rodinia pathfinder: dynamic programming with a shrinking halo.
extern "C" __global__ void pathfinder(int steps, const int* wall, const int* from, int* to,
                                      int columns, int first_row, int border) {
  __shared__ int previous[256], result[256];
  const int tx = threadIdx.x, small = 256 - steps * 2;
  const int start = small * static_cast<int>(blockIdx.x) - border, x = start + tx;
  const int low = start < 0 ? -start : 0;
  const int high = start + 255 > columns - 1 ? 255 - (start + 255 - columns + 1) : 255;
  if (x >= 0 && x < columns) previous[tx] = from[x];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < steps; ++i) {
    computed = false;
    if (tx >= i + 1 && tx <= 256 - i - 2 && tx >= low && tx <= high) {
      computed = true;
      const int left = previous[max(tx - 1, low)], up = previous[tx];
      const int right = previous[min(tx + 1, high)];
      result[tx] = min(min(left, up), right) + wall[columns * (first_row + i) + x];
    }
    __syncthreads();
    if (i == steps - 1) break;
    if (computed) previous[tx] = result[tx];
    __syncthreads();
  }
  if (computed) to[x] = result[tx];
}

// Rodinia bfs: the frontier as flags.
struct Node {
  int first, edges;
};
extern "C" __global__ void bfs_expand(const Node* nodes, const int* edges, bool* mask, bool* updating,
                                      const bool* visited, int* cost, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || !mask[i]) return;
  mask[i] = false;
  for (int e = nodes[i].first; e < nodes[i].first + nodes[i].edges; ++e)
    if (!visited[edges[e]]) {
      cost[edges[e]] = cost[i] + 1;
      updating[edges[e]] = true;
    }
}
extern "C" __global__ void bfs_advance(bool* mask, bool* updating, bool* visited, bool* over, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || !updating[i]) return;
  mask[i] = visited[i] = true;
  *over = true;
  updating[i] = false;
}

// Rodinia lud: the diagonal block, in shared memory.
extern "C" __global__ void lud_diagonal(float* m, int dimension, int offset) {
  __shared__ float shadow[16][16];
  int at = offset * dimension + offset;
  for (int i = 0; i < 16; ++i) {
    shadow[i][threadIdx.x] = m[at + threadIdx.x];
    at += dimension;
  }
  __syncthreads();
  for (int i = 0; i < 15; ++i) {
    if (threadIdx.x > i) {
      for (int j = 0; j < i; ++j) shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }
    __syncthreads();
    if (threadIdx.x > i)
      for (int j = 0; j < i + 1; ++j)
        shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
    __syncthreads();
  }
  at = (offset + 1) * dimension + offset;
  for (int i = 1; i < 16; ++i) {
    m[at + threadIdx.x] = shadow[i][threadIdx.x];
    at += dimension;
  }
}

// Parboil histo and CUDA samples histogram: privatised counters, then a merge.
extern "C" __global__ void histogram(const unsigned char* data, unsigned n, unsigned* bins) {
  __shared__ unsigned mine[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[data[i]], 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

// PolyBench atax and gesummv: rows and columns of a matrix in double precision.
extern "C" __global__ void atax_rows(const double* a, const double* x, double* t, int rows, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  double sum = 0;
  for (int j = 0; j < columns; ++j) sum += a[i * columns + j] * x[j];
  t[i] = sum;
}
extern "C" __global__ void atax_columns(const double* a, const double* t, double* y, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  double sum = 0;
  for (int i = 0; i < rows; ++i) sum += a[i * columns + j] * t[i];
  y[j] = sum;
}

// CUDA samples scan: warp shuffles, then a scan of the warps' sums.
template <class T>
__device__ T warp_scan(T v) {
  for (int by = 1; by < 32; by *= 2) {
    const T other = __shfl_up_sync(0xffffffffu, v, by);
    if (threadIdx.x % 32 >= by) v += other;
  }
  return v;
}
extern "C" __global__ void scan(const int* in, int* out) {
  __shared__ int sums[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = warp_scan(in[i]);
  if (threadIdx.x % 32 == 31) sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) sums[threadIdx.x] = warp_scan(threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0);
  __syncthreads();
  out[i] = v + (threadIdx.x >= 32 ? sums[threadIdx.x / 32 - 1] : 0);
}

// CUDA samples transpose: a padded tile.
extern "C" __global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// CUDA samples Black-Scholes.
__device__ float cumulative(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228040143267793994605993438f * expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}
extern "C" __global__ void black_scholes(const float* price, const float* strike, const float* years,
                                         float* call, float* put, float rate, float volatility, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float root = sqrtf(years[i]);
  const float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
                   (volatility * root);
  const float d2 = d1 - volatility * root, a = cumulative(d1), b = cumulative(d2);
  const float discount = expf(-rate * years[i]);
  call[i] = price[i] * a - strike[i] * discount * b;
  put[i] = strike[i] * discount * (1.0f - b) - price[i] * (1.0f - a);
}

// HeCBench: mandelbrot, a loop that diverges; a bitonic sort; a spin lock over a counter.
extern "C" __global__ void mandelbrot(int* out, int width, int height, int most) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const double cx = 3.0 * x / width - 2.0, cy = 2.0 * y / height - 1.0;
  double a = 0, b = 0;
  int n = 0;
  while (a * a + b * b < 4.0 && n < most) {
    const double t = a * a - b * b + cx;
    b = 2 * a * b + cy, a = t;
    ++n;
  }
  out[y * width + x] = n;
}
extern "C" __global__ void bitonic(unsigned* values) {
  extern __shared__ unsigned s[];
  s[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned size = 2; size <= blockDim.x; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const unsigned other = threadIdx.x ^ stride;
      if (other > threadIdx.x) {
        const bool up = (threadIdx.x & size) == 0;
        const unsigned a = s[threadIdx.x], b = s[other];
        if ((a > b) == up) s[threadIdx.x] = b, s[other] = a;
      }
    }
  __syncthreads();
  values[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void locked(int* lock, int* counter) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *static_cast<volatile int*>(counter) += 1;
  __threadfence();
  atomicExch(lock, 0);
}

// Time and place.
extern "C" __global__ void clocks(long long* out, unsigned* ids) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const long long a = clock64();
  const clock_t c = clock();
  unsigned long long t0, t1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  float x = i;
  for (int k = 0; k < 100; ++k) x = x * 1.5f + 2.0f;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
  const long long b = clock64();
  out[4 * i] = b - a, out[4 * i + 1] = static_cast<long long>(t1 - t0);
  out[4 * i + 2] = x > 0 ? c - static_cast<clock_t>(a) : 0, out[4 * i + 3] = static_cast<long long>(t0);
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(ids[4 * i]));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(ids[4 * i + 1]));
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(ids[4 * i + 2]));
  unsigned long long grid;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
  ids[4 * i + 3] = static_cast<unsigned>(grid);
}
