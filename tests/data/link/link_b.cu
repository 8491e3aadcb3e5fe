// The other half.
__device__ int table[4] = {10, 20, 30, 40};
typedef int (*Function)(int);
static __device__ __noinline__ int own(int x) { return x * 100; }
template <int N> __device__ __noinline__ int shared_template(int x) { return x * N; }
__device__ int twice(int x) { return 2 * x; }
__device__ Function chosen = own;
__global__ void other(int* out) { out[threadIdx.x] = twice(threadIdx.x) + shared_template<3>(1); }
