// Texture and surface objects as CUDA programs use them; textures.cpp holds
// the references.
#include <cuda_runtime.h>

extern "C" __global__ void fetch_linear(cudaTextureObject_t t, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(t, n - 1 - i) + 2.0f * tex1Dfetch<float>(t, n + i);
}
extern "C" __global__ void fetch_uchar4(cudaTextureObject_t t, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float4>(t, i);
}
extern "C" __global__ void fetch_int4(cudaTextureObject_t t, int4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<int4>(t, i ^ 1);
}
/// A grid of samples from (x0, y0) in steps of (dx, dy).
extern "C" __global__ void sample_2d(cudaTextureObject_t t, float* out, int width, int height,
                                     float x0, float y0, float dx, float dy) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(t, x0 + dx * x, y0 + dy * y);
}
extern "C" __global__ void sample_1d(cudaTextureObject_t t, float* out, int n, float x0, float dx) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<float>(t, x0 + dx * i);
}
extern "C" __global__ void sample_3d(cudaTextureObject_t t, float2* out, int n, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex3D<float2>(t, step * (i % 7), step * (i % 11), step * (i % 13));
}
extern "C" __global__ void sample_layers(cudaTextureObject_t t, float* out, int width, int layers) {
  const int x = threadIdx.x, layer = blockIdx.x;
  out[layer * width + x] =
      tex2DLayered<float>(t, x + 0.5f, 1.5f, layer) + tex2DLayered<float>(t, x + 0.5f, 0.5f, layers + 3);
}
extern "C" __global__ void sample_cube(cudaTextureObject_t t, float* out) {
  const int i = threadIdx.x;  // six directions, then the diagonals
  const float d[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  if (i < 6) out[i] = texCubemap<float>(t, d[i][0], d[i][1], d[i][2]);
}
extern "C" __global__ void gather_2d(cudaTextureObject_t t, float4* out) {
  const int i = threadIdx.x;
  out[i] = tex2Dgather<float4>(t, i % 4 + 1.0f, i / 4 + 1.0f, 0);
}
/// Each lane has a texture of its own.
extern "C" __global__ void bindless(const cudaTextureObject_t* t, float* out, int textures) {
  const int i = threadIdx.x;
  out[i] = tex2D<float>(t[i % textures], i + 0.5f, 0.5f);
}
extern "C" __global__ void surface_transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to,
                                             int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float v;
  surf2Dread(&v, from, x * 4, y);
  surf2Dwrite(v + 1.0f, to, y * 4, x);
}
extern "C" __global__ void surface_edges(cudaSurfaceObject_t s, uchar4* out, int width) {
  const int i = threadIdx.x;  // from -4 on: beyond both ends
  uchar4 zero, clamp;
  surf2Dread(&zero, s, (i - 4) * 4, 1, cudaBoundaryModeZero);
  surf2Dread(&clamp, s, (i - 4) * 4, 1, cudaBoundaryModeClamp);
  out[2 * i] = zero, out[2 * i + 1] = clamp;
  surf2Dwrite(make_uchar4(i, i, i, i), s, (i - 4) * 4, 0, cudaBoundaryModeZero);
}
extern "C" __global__ void surface_beyond(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 4000, 0); }
