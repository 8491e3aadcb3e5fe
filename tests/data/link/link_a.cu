// One half of a program of two translation units: nvcc -rdc=true -ptx -arch=sm_75.
extern __device__ int table[4];
extern __device__ int twice(int x);
typedef int (*Function)(int);
extern __device__ Function chosen;
static __device__ int own(int x) { return x + 1; }
template <int N> __device__ __noinline__ int shared_template(int x) { return x * N; }
__global__ void both(int* out) {
  const int i = threadIdx.x;
  out[i] = twice(table[i & 3]) + own(i) + chosen(i) + shared_template<3>(i);
}
