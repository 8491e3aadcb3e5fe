#include <cuda_runtime.h>
__global__ void textures(cudaTextureObject_t t1, cudaTextureObject_t t2, cudaTextureObject_t t3, cudaTextureObject_t layered,
                         cudaTextureObject_t cube, cudaSurfaceObject_t s, float4* out, int x, int y) {
  float4 v = tex1Dfetch<float4>(t1, x);
  v.x += tex2D<float>(t2, x + 0.5f, y + 0.5f);
  v.y += tex3D<float>(t3, x, y, x + y);
  v.z += tex2DLayered<float>(layered, x, y, 3);
  v.w += texCubemap<float>(cube, x, y, 1.0f);
  v.x += tex2DLod<float>(t2, x, y, 2.0f) + tex2DGrad<float>(t2, x, y, make_float2(1, 0), make_float2(0, 1));
  int4 i = tex1D<int4>(t1, x * 0.5f);
  uchar4 g = tex2Dgather<uchar4>(t2, x, y, 0);
  surf2Dwrite(v.x, s, x * 4, y);
  float r;
  surf2Dread(&r, s, x * 4, y, cudaBoundaryModeClamp);
  out[x] = make_float4(v.x + i.x, v.y + g.x, v.z + r, v.w);
}
