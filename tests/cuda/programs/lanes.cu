// Lanes of one warp that wait for one another, as compute capability 7.0 and later allows: locks
// that every thread takes, flags between lanes, lists locked hand over hand. Checks itself.
// lanes IDIOM BLOCKS THREADS
#include <cstdio>
#include <cstdlib>
#include <cstring>

__device__ int lock_word, count, inner_lock, wrong;

__device__ void lock(int* word) {
  while (atomicCAS(word, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void unlock(int* word) {
  __threadfence();
  atomicExch(word, 0);
}

__global__ void spin() {
  while (atomicCAS(&lock_word, 0, 1) != 0) {
  }
  ++*(volatile int*)&count;
  __threadfence();
  atomicExch(&lock_word, 0);
}

// The guide's: sleeps longer each time.
__global__ void backoff() {
  unsigned ns = 8;
  while (atomicCAS(&lock_word, 0, 1) != 0) {
    __nanosleep(ns);
    if (ns < 256) ns *= 2;
  }
  ++*(volatile int*)&count;
  unlock(&lock_word);
}

// Some lanes take a second lock inside the first one, and all meet behind it.
__global__ void nested() {
  if (threadIdx.x % 3 != 0) {
    lock(&lock_word);
    ++*(volatile int*)&count;
    if (threadIdx.x % 2 != 0) {
      lock(&inner_lock);
      ++*(volatile int*)&count;
      unlock(&inner_lock);
    }
    unlock(&lock_word);
  }
  __syncwarp();
  const int sum = __reduce_add_sync(0xffffffff, 1);
  if (sum != 32 || __shfl_xor_sync(0xffffffff, (int)threadIdx.x, 1) != (int)(threadIdx.x ^ 1))
    atomicAdd(&wrong, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&count, 1);
}

// Even lanes write what odd lanes wait for; they wait first.
__global__ void pairs() {
  __shared__ volatile int flag[1024], data[1024];
  flag[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x % 2 != 0) {
    while (flag[threadIdx.x - 1] == 0) {
    }
    if (data[threadIdx.x - 1] != (int)threadIdx.x) atomicAdd(&wrong, 1);
    flag[threadIdx.x] = 1;
  } else {
    data[threadIdx.x] = threadIdx.x + 1;
    __threadfence_block();
    flag[threadIdx.x] = 1;
    while (flag[threadIdx.x + 1] == 0) {
    }
  }
  atomicAdd(&count, 1);
}

// Lane after lane passes a token on.
__global__ void token() {
  __shared__ volatile int at;
  if (threadIdx.x == 0) at = 0;
  __syncthreads();
  while (at != (int)threadIdx.x) {
  }
  atomicAdd(&count, 1);
  at = threadIdx.x + 1;
}

// A sorted list: a node is locked before its predecessor is let go (as in the text about Volta).
struct Node {
  int lock, value;
  Node* next;
};
__device__ Node nodes[4096];
__device__ Node head = {0, -1, nullptr};
__global__ void list() {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  Node* mine = &nodes[id];
  mine->value = (id * 37) % 101;
  Node* at = &head;
  lock(&at->lock);
  for (;;) {
    Node* next = *(Node* volatile*)&at->next;
    if (next == nullptr || *(volatile int*)&next->value >= mine->value) break;
    lock(&next->lock);
    unlock(&at->lock);
    at = next;
  }
  mine->next = *(Node* volatile*)&at->next;
  __threadfence();
  *(Node* volatile*)&at->next = mine;
  unlock(&at->lock);
}
__global__ void check_list() {
  for (const Node* n = head.next; n != nullptr; n = n->next) {
    ++count;
    if (n->next != nullptr && n->next->value < n->value) ++wrong;
  }
}

// Counts how often it has asked: no two rounds are the same.
__global__ void tries(int* asked) {
  int n = 1;
  while (atomicCAS(&lock_word, 0, 1) != 0) ++n;
  asked[threadIdx.x] = n;
  ++*(volatile int*)&count;
  unlock(&lock_word);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const char* name = argv[1];
  const auto is = [&](const char* other) { return strcmp(name, other) == 0; };
  const int blocks = atoi(argv[2]), threads = atoi(argv[3]), all = blocks * threads;
  int* asked = nullptr;
  cudaMalloc(&asked, 4096);
  int expected = all;
  if (is("spin")) spin<<<blocks, threads>>>();
  if (is("backoff")) backoff<<<blocks, threads>>>();
  if (is("pairs")) pairs<<<blocks, threads>>>();
  if (is("token")) token<<<blocks, threads>>>();
  if (is("tries")) tries<<<blocks, threads>>>(asked);
  if (is("list")) {
    list<<<blocks, threads>>>();
    check_list<<<1, 1>>>();
  }
  if (is("nested")) {
    nested<<<blocks, threads>>>();
    expected = blocks;
    for (int t = 0; t < threads; ++t) expected += t % 3 == 0 ? 0 : blocks * (1 + t % 2);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  int c = 0, w = 0;
  cudaMemcpyFromSymbol(&c, count, sizeof c);
  cudaMemcpyFromSymbol(&w, wrong, sizeof w);
  printf("%s %s: count %d of %d, wrong %d\n", name, cudaGetErrorString(error), c, expected, w);
  return error != cudaSuccess || c != expected || w != 0;
}
