// Division and remainder of 128-bit integers against the host's. Checks itself.
#include <cstdint>
#include <cstdio>

typedef unsigned __int128 u128;

struct Pair {
  u128 a, b;
};
struct Answer {
  u128 quotient, remainder;
  __int128 signed_quotient;
};

__host__ __device__ Answer divided(const Pair& p) {
  return {p.a / p.b, p.a % p.b, (__int128)p.a / (__int128)p.b};
}

__global__ void divide(const Pair* from, Answer* to, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = divided(from[i]);
}

int main() {
  constexpr int kCount = 512;
  static Pair pairs[kCount];
  static Answer answers[kCount];
  uint64_t x = 20261127;
  const auto next = [&] { return x = x * 6364136223846793005ull + 1442695040888963407ull; };
  for (int i = 0; i < kCount; ++i) {
    pairs[i].a = ((u128)next() << 64 | next()) >> (i % 96);
    pairs[i].b = (((u128)next() << 64 | next()) >> (7 * i % 128)) | 1;
  }
  Pair* from;
  Answer* to;
  cudaMalloc(&from, sizeof pairs);
  cudaMalloc(&to, sizeof answers);
  cudaMemcpy(from, pairs, sizeof pairs, cudaMemcpyHostToDevice);
  divide<<<4, 128>>>(from, to, kCount);
  cudaMemcpy(answers, to, sizeof answers, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    const Answer expected = divided(pairs[i]);
    wrong += answers[i].quotient != expected.quotient ||
             answers[i].remainder != expected.remainder ||
             answers[i].signed_quotient != expected.signed_quotient;
  }
  printf("%d of %d wrong\n", wrong, kCount);
  return wrong != 0;
}
