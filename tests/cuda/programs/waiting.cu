// Blocks that wait for one another: at a barrier of the whole grid that programs build themselves,
// at a queue of work that blocks fill for each other, and by turns, very often. Checks itself.
#include <cstdio>
#include <cstring>

// Every block has come when the count is a multiple of the grid.
__device__ unsigned arrived;

__device__ void meet(unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1);
    while (*(volatile unsigned*)&arrived < round * gridDim.x) {
    }
  }
  __syncthreads();
}

// Each round every block adds what its neighbours had in the round before.
__global__ void rounds(unsigned* even, unsigned* odd, unsigned count) {
  for (unsigned round = 1; round <= count; ++round) {
    unsigned* from = round % 2 != 0 ? even : odd;
    unsigned* to = round % 2 != 0 ? odd : even;
    const unsigned b = blockIdx.x, n = gridDim.x;
    if (threadIdx.x == 0)
      to[b] = ((volatile unsigned*)from)[(b + 1) % n] + ((volatile unsigned*)from)[(b + n - 1) % n];
    meet(round);
  }
}

// Block b takes what block b - 1 has passed on, adds one and passes it on.
__global__ void chain(volatile int* passed, int* result) {
  if (threadIdx.x == 0) {
    const int b = gridDim.x - 1 - blockIdx.x;  // the last block is the first of the chain
    int value = 0;
    if (b > 0)
      while ((value = passed[b - 1]) == 0) __threadfence();
    __threadfence();
    passed[b] = value + 1;
    if (b == (int)gridDim.x - 1) *result = value + 1;
  }
}

// Two blocks take turns. Each of them finds the other's answer within a few instructions.
__global__ void turns(volatile int* turn, int count) {
  if (threadIdx.x != 0) return;
  for (int k = 0; k < count; ++k) {
    while (*turn != 2 * k + (int)blockIdx.x) {
    }
    *turn = 2 * k + blockIdx.x + 1;
  }
}

// Items make items: who finds the queue empty asks until all work is done.
__global__ void queue(volatile int* items, int* head, int* tail, int* open, int* done) {
  if (threadIdx.x != 0) return;
  for (;;) {
    const int at = *(volatile int*)head;
    if (at < *(volatile int*)tail) {
      if (atomicCAS(head, at, at + 1) != at) continue;
      int depth;
      while ((depth = items[at]) == 0) {
      }
      if (depth > 1) {
        atomicAdd(open, 2);
        for (int child = 0; child < 2; ++child) items[atomicAdd(tail, 1)] = depth - 1;
      }
      atomicAdd(done, 1);
      atomicSub(open, 1);
    } else if (*(volatile int*)open == 0) {
      return;
    }
  }
}

static int rounds_pass(int blocks) {
  unsigned *even, *odd, host[64], expected[2][64], zero = 0;
  cudaMalloc(&even, sizeof host);
  cudaMalloc(&odd, sizeof host);
  for (int b = 0; b < blocks; ++b) expected[0][b] = b;
  cudaMemcpy(even, expected[0], sizeof host, cudaMemcpyHostToDevice);
  const int count = 4;
  for (int r = 0; r < count; ++r)
    for (int b = 0; b < blocks; ++b)
      expected[(r + 1) % 2][b] =
          expected[r % 2][(b + 1) % blocks] + expected[r % 2][(b + blocks - 1) % blocks];
  for (int launch = 0; launch < 2; ++launch) {
    cudaMemcpy(even, expected[0], 0, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(arrived, &zero, sizeof zero);
    unsigned start[64];
    for (int b = 0; b < blocks; ++b) start[b] = b;
    cudaMemcpy(even, start, sizeof start, cudaMemcpyHostToDevice);
    rounds<<<blocks, 64>>>(even, odd, count);
    cudaMemcpy(host, even, sizeof host, cudaMemcpyDeviceToHost);
    if (memcmp(host, expected[count % 2], blocks * sizeof(unsigned)) != 0) return 0;
  }
  return 1;
}

static int chain_passes(int blocks) {
  int *passed, *result, host = 0;
  cudaMalloc(&passed, blocks * sizeof(int));
  cudaMalloc(&result, sizeof(int));
  cudaMemset(passed, 0, blocks * sizeof(int));
  chain<<<blocks, 32>>>(passed, result);
  cudaMemcpy(&host, result, sizeof host, cudaMemcpyDeviceToHost);
  return host == blocks;
}

static int turns_pass(int count) {
  int *turn, host = 0;
  cudaMalloc(&turn, sizeof(int));
  cudaMemset(turn, 0, sizeof(int));
  turns<<<2, 32>>>(turn, count);
  cudaMemcpy(&host, turn, sizeof host, cudaMemcpyDeviceToHost);
  return host == 2 * count;
}

// The first block asks whether all have come, sleeps longer and longer between, and counts.
__global__ void latch(unsigned* came, unsigned* asked) {
  if (threadIdx.x != 0) return;
  atomicAdd(came, 1);
  if (blockIdx.x != 0) return;
  for (unsigned n = 1, time = 16; *(volatile unsigned*)came < gridDim.x; ++n) {
    __nanosleep(time);
    time = time < 4096 ? 2 * time : time;
    *asked = n;
  }
}

static int sleeps_pass(int blocks) {
  unsigned *words, host[2];
  cudaMalloc(&words, sizeof host);
  cudaMemset(words, 0, sizeof host);
  latch<<<blocks, 32>>>(words, words + 1);
  cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost);
  return host[0] == (unsigned)blocks;
}

static int queue_passes(int blocks, int depth) {
  int *items, *words, host[4] = {0, 1, 1, 0};
  const int all = (1 << depth) - 1;
  cudaMalloc(&items, all * sizeof(int));
  cudaMalloc(&words, sizeof host);
  cudaMemset(items, 0, all * sizeof(int));
  cudaMemcpy(items, &depth, sizeof depth, cudaMemcpyHostToDevice);
  cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice);
  queue<<<blocks, 32>>>(items, words, words + 1, words + 2, words + 3);
  cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost);
  return host[0] == all && host[1] == all && host[2] == 0 && host[3] == all;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int good = 0;
  if (strcmp(what, "rounds") == 0) good = rounds_pass(64);
  if (strcmp(what, "chain") == 0) good = chain_passes(64);
  if (strcmp(what, "turns") == 0) good = turns_pass(3000);
  if (strcmp(what, "sleeps") == 0) good = sleeps_pass(40);
  if (strcmp(what, "queue") == 0) good = queue_passes(16, 7);
  const cudaError_t error = cudaDeviceSynchronize();
  printf("%s %s\n", good ? "PASS" : "FAIL", cudaGetErrorName(error));
  return good && error == cudaSuccess ? 0 : 1;
}
