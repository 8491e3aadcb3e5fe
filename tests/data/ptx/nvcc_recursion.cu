// Device functions: recursion, function pointers, virtual calls, structures by value, printf, assert, malloc.
#include <cassert>
#include <cstdio>
struct Shape { __device__ virtual float area() const = 0; float scale = 2; };
struct Square : Shape { float a; __device__ Square(float x) : a(x) {} __device__ float area() const override { return a * a * scale; } };
struct Circle : Shape { float r; __device__ Circle(float x) : r(x) {} __device__ float area() const override { return 3.14159f * r * r * scale; } };
struct Big { double d[5]; int i; char c[3]; };
__device__ __noinline__ Big twist(Big b, int k) { for (auto& d : b.d) d *= k; b.i += k; b.c[k % 3] ^= 1; return b; }
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
typedef int (*Op)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Op operations[] = {plus, times, ackermann};
__constant__ Big defaults = {{1.5, -2.25, 1e300, 0, 4}, 7, {'x', 0, 'z'}};
__device__ const char* const words[] = {"one", "two", "three"};
__global__ void calls(int* out, float* area, Big by_value, int n) {
  Shape* shape;
  if (n & 1) shape = new Square(n); else shape = new Circle(n);
  area[threadIdx.x] = shape->area();
  delete shape;
  Big big = twist(by_value, n);
  big = twist(defaults, big.i);
  assert(big.i != 12);
  int local[17];
  for (int i = 0; i < 17; ++i) local[i] = out[i] * n;
  printf("%s %d %f\n", words[n % 3], local[n % 17], big.d[n % 5]);
  out[threadIdx.x] = operations[n % 3](local[n % 17], n) + big.c[n % 3];
}
__global__ void __launch_bounds__(256, 2) choose(int* out, int n) {
  int v = out[threadIdx.x];
  switch (n) {
    case 0: v += 3; break; case 1: v *= 5; break; case 2: v ^= 0x55; break; case 3: v = v / 7; break;
    case 4: v = __popc(v); break; case 5: v = __clz(v); break; case 6: v = __brev(v); break;
    case 7: v = __shfl_xor_sync(~0u, v, 3); break; case 8: v = __ballot_sync(~0u, v); break;
    case 9: v = __match_any_sync(~0u, v); break; case 10: v = atomicAdd(out, v); break;
    case 11: v = atomicCAS(out, v, 2); break; default: __trap();
  }
  out[threadIdx.x] = v;
}
