// Kernels that launch kernels: nvcc -rdc=true -ptx -arch=sm_75 device_launch.cu. Each writes what
// tests/device_launch compares with a result of the host.

// --- recursion: quicksort, two children each in a stream of its own -----------------------------
__device__ void selection_sort(int* data, int left, int right) {
  for (int i = left; i <= right; ++i) {
    int smallest = i;
    for (int j = i + 1; j <= right; ++j)
      if (data[j] < data[smallest]) smallest = j;
    const int value = data[i];
    data[i] = data[smallest], data[smallest] = value;
  }
}
__global__ void quicksort(int* data, int left, int right, int depth) {
  if (depth >= 12 || right - left <= 8) return selection_sort(data, left, right);
  int *low = data + left, *high = data + right;
  const int pivot = data[(left + right) / 2];
  while (low <= high) {
    while (*low < pivot) ++low;
    while (*high > pivot) --high;
    if (low <= high) {
      const int value = *low;
      *low++ = *high, *high-- = value;
    }
  }
  const int next_right = high - data, next_left = low - data;
  cudaStream_t stream;
  if (left < next_right) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, stream>>>(data, left, next_right, depth + 1);
    cudaStreamDestroy(stream);
  }
  if (next_left < right) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, stream>>>(data, next_left, right, depth + 1);
    cudaStreamDestroy(stream);
  }
}

// --- many children: one for each thread ---------------------------------------------------------
__global__ void add_one(int* sums, int which) { atomicAdd(&sums[which], threadIdx.x + blockIdx.x); }
__global__ void many(int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 != 2) add_one<<<2, 32>>>(sums, i);
}

// --- order: each launch appends its name to a log, so that what comes after what can be read ------
__global__ void note(int* log, int name, int work) {
  volatile int* busy = log + 64;
  for (int i = 0; i < work; ++i) *busy = i;
  log[1 + atomicAdd(log, 1)] = name;
}
// One block: the NULL stream is in order, whatever takes how long; tails come last, in order.
__global__ void in_order(int* log) {
  if (threadIdx.x == 1) {
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 100, 50);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 101, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < 6; ++i) note<<<1, 1>>>(log, i, 60 - 10 * i);
  __syncthreads();
  if (threadIdx.x == 40) note<<<1, 1>>>(log, 6, 0);
}
// Two streams and an event: 2 comes after 0 and 1, 3 after 1 only.
__global__ void event_order(int* log) {
  cudaStream_t a, b;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  note<<<1, 1, 0, a>>>(log, 0, 200);
  cudaEventRecord(event, a);
  note<<<1, 1, 0, b>>>(log, 1, 0);
  cudaStreamWaitEvent(b, event, 0);
  note<<<1, 1, 0, b>>>(log, 2, 0);
  note<<<1, 1, 0, cudaStreamFireAndForget>>>(log, 3, 0);
  cudaEventDestroy(event);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}
// A tail launch of the grid sees what the children of its children did.
__global__ void grandchild(int* value) { atomicAdd(value, 1); }
__global__ void child_of_two(int* value) {
  grandchild<<<1, 32>>>(value);
  grandchild<<<1, 32, 0, cudaStreamFireAndForget>>>(value);
}
__global__ void keep(int* kept, const int* value) { *kept = *value; }
__global__ void tail_sees_all(int* value, int* kept) {
  if (threadIdx.x != 0) return;
  keep<<<1, 1, 0, cudaStreamTailLaunch>>>(kept, value);
  for (int i = 0; i < 3; ++i) child_of_two<<<1, 1>>>(value);
}

// --- nesting as deep as it goes, and a loop of tail launches ---------------------------------------
__global__ void deeper(int* out, int depth) {
  out[0] = depth;
  deeper<<<1, 1>>>(out, depth + 1);
  const cudaError_t peeked = cudaPeekAtLastError(), error = cudaGetLastError();
  if (error != cudaSuccess) out[1] = error, out[2] = peeked, out[3] = cudaGetLastError();
}
__global__ void loop(int* out, int left) {
  out[0] += left;
  if (left > 1) loop<<<1, 1, 0, cudaStreamTailLaunch>>>(out, left - 1);
}

// --- copies, memory, errors -----------------------------------------------------------------------
__global__ void fill(int* to, int value) { to[threadIdx.x] = value + threadIdx.x; }
__global__ void copies(int* a, int* b, int** made) {
  fill<<<1, 32>>>(a, 7);
  cudaMemcpyAsync(b, a, 32 * sizeof(int), cudaMemcpyDeviceToDevice, 0);
  cudaMemsetAsync(a, 0x11, 16 * sizeof(int), 0);
  int* memory = nullptr;
  if (cudaMalloc(&memory, 128) == cudaSuccess) fill<<<1, 32>>>(memory, 1000);
  *made = memory;
  int* other = nullptr;
  cudaMalloc(&other, 128);
  if (cudaFree(other) != cudaSuccess) *made = nullptr;
}
__global__ void errors(int* out) {
  fill<<<1, 2000>>>(out, 0);  // a block of too many threads
  out[0] = cudaGetLastError();
  out[1] = cudaGetLastError();
  fill<<<1, 32, 0, (cudaStream_t)0x123456>>>(out, 0);  // no stream
  out[2] = cudaGetLastError();
  out[3] = cudaFree(out);
  const char* text = cudaGetErrorString(cudaErrorInvalidValue);
  out[4] = text[0], out[5] = text[1];
  cudaGetDevice(&out[6]);
  int warp = 0;
  cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0);
  out[7] = warp;
}
