#include <cstdio>
#include <cooperative_groups.h>
#include <mma.h>
namespace cg = cooperative_groups;
__device__ const char* names[3] = {"a","bc","def"};
struct S { int a; float* p; char c; };
__device__ float buf[4];
__device__ S s = {1, buf+2, 'x'};
__managed__ int m = 5;
__constant__ float cc[3] = {1.f,2.5f,-3};
__device__ double dd = 3.25;
__device__ __noinline__ int fib(int n){ return n<2?n:fib(n-1)+fib(n-2); }
typedef int (*fp)(int);
__device__ int inc(int x){return x+1;}
__device__ fp table[2] = {inc, fib};
extern __shared__ float dyn[];
__global__ void k(S v, int* out, cudaTextureObject_t t){
  __shared__ float sh[64];
  auto b = cg::this_thread_block(); auto w = cg::tiled_partition<32>(b);
  sh[threadIdx.x] = tex2D<float>(t, threadIdx.x, v.a); b.sync();
  int r = table[out[0]&1](v.a);

}
__global__ void k2(S v, int* out, int n){
  int loc[32];
  for(int i=0;i<32;i++) loc[i]=out[i];
  switch(n){case 0: printf("x %d\n", n);break; case 1: out[3]=loc[n]; break; case 2: out[2]=names[n][0]; break; case 3: out[1]=fib(n); break; case 4: out[7]=table[n&1](n); break; case 5: out[9]=m+(int)cc[n]+(int)dd+s.a; break;case 6: out[3]^=4; break;}
  out[5]=loc[n];
}
