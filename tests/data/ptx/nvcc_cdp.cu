// Device-side launches, compiled with -rdc=true.
__global__ void child(int* data, int depth);
__global__ void parent(int* data, int depth) {
  if (threadIdx.x == 0 && depth > 0) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    child<<<depth, 32, 64, stream>>>(data, depth - 1);
    cudaStreamDestroy(stream);
    if (cudaGetLastError() != cudaSuccess) data[0] = -1;
  }
}
__global__ void child(int* data, int depth) {
  extern __shared__ int scratch[];
  scratch[threadIdx.x & 15] = depth;
  data[blockIdx.x] += scratch[0];
  if (depth > 0) parent<<<1, 32>>>(data, depth - 1);
}
