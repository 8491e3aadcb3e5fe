// What is around the numbers of cuRAND: what wrong arguments give, seeds and offsets in between,
// streams, graphs, direction vectors and distributions in kernels that use NVIDIA's header.
#include "curand.h"

#include <curand_kernel.h>

template <class T>
std::uint64_t sum_of(const T* words, std::size_t count) {
  std::uint64_t sum = 0xcbf29ce484222325u;  // FNV-1a, of words
  for (std::size_t i = 0; i < count; ++i) sum = (sum ^ words[i]) * 0x100000001b3u;
  return sum;
}

void wrong_arguments() {
  curandGenerator_t none = nullptr, g;
  unsigned* there;
  cudaMalloc(&there, 4096);
  status(curandDestroyGenerator(none), CURAND_STATUS_NOT_INITIALIZED, "destroy nothing");
  status(curandGenerate(none, there, 4), CURAND_STATUS_NOT_INITIALIZED, "no generator");
  status(curandSetStream(none, nullptr), CURAND_STATUS_NOT_INITIALIZED, "stream of none");
  status(curandCreateGenerator(&g, static_cast<curandRngType_t>(7)), CURAND_STATUS_TYPE_ERROR,
         "no such type");
  good(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_XORWOW), "create");
  float* const floats = reinterpret_cast<float*>(there);
  status(curandGenerateNormal(g, floats, 5, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE, "odd");
  status(curandGenerateLongLong(g, nullptr, 4), CURAND_STATUS_TYPE_ERROR, "64 bits of XORWOW");
  status(curandSetQuasiRandomGeneratorDimensions(g, 2), CURAND_STATUS_TYPE_ERROR, "dimensions");
  status(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT), CURAND_STATUS_OUT_OF_RANGE,
         "ordering of another kind");
  for (const double mean : {0.0, -1.0, 400001.0})
    status(curandGeneratePoisson(g, there, 4, mean), CURAND_STATUS_OUT_OF_RANGE, "mean");
  good(curandGenerate(g, there, 0), "nothing at all");
  good(curandDestroyGenerator(g), "destroy");
  good(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_MTGP32), "create");
  status(curandSetGeneratorOffset(g, 5), CURAND_STATUS_TYPE_ERROR, "offset of MTGP32");
  status(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_SEEDED), CURAND_STATUS_OUT_OF_RANGE,
         "seeds for each of MTGP32");
  good(curandDestroyGenerator(g), "destroy");
  good(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32), "create");
  status(curandSetPseudoRandomGeneratorSeed(g, 1), CURAND_STATUS_TYPE_ERROR, "seed");
  for (const unsigned dimensions : {0u, 20001u})
    status(curandSetQuasiRandomGeneratorDimensions(g, dimensions), CURAND_STATUS_OUT_OF_RANGE,
           "dimensions");
  good(curandSetQuasiRandomGeneratorDimensions(g, 3), "dimensions");
  status(curandGenerate(g, there, 4), CURAND_STATUS_LENGTH_NOT_MULTIPLE, "parts of a point");
  good(curandDestroyGenerator(g), "destroy");
  // DYNAMIC is of the GPU alone.
  good(curandCreateGeneratorHost(&g, CURAND_RNG_PSEUDO_XORWOW), "create");
  status(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_DYNAMIC), CURAND_STATUS_OUT_OF_RANGE,
         "dynamic on the host");
  good(curandDestroyGenerator(g), "destroy");
  int version = 0, major = 0;
  good(curandGetVersion(&version), "version");
  good(curandGetProperty(MAJOR_VERSION, &major), "property");
  check(version / 1000 == 10 && major == 10, "version of the interface");
  // An error of before is reported.
  cudaMemcpy(nullptr, there, 4, cudaMemcpyDeviceToDevice);
  if (cudaPeekAtLastError() != cudaSuccess) {
    good(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_XORWOW), "create");
    status(curandGenerate(g, there, 4), CURAND_STATUS_PREEXISTING_FAILURE, "after an error");
    cudaGetLastError();
    good(curandGenerate(g, there, 4), "after it was read");
    good(curandDestroyGenerator(g), "destroy");
  }
  cudaFree(there);
}

void seeds_and_offsets() {
  for (const int type : {101, 121, 161}) {
    const Drawn g(true, type, CURAND_ORDERING_PSEUDO_LEGACY, 9);
    const auto all = g.bits(9000);
    for (const unsigned offset : {1u, 4096u, 8191u}) {
      good(curandSetGeneratorOffset(g.at, offset), "offset");
      const auto some = g.bits(300);
      check(std::equal(some.begin(), some.end(), all.begin() + offset),
            "offset of " + std::to_string(type));
    }
    good(curandSetPseudoRandomGeneratorSeed(g.at, 10), "seed");
    good(curandSetGeneratorOffset(g.at, 0), "offset");
    check(g.bits(9000) != all, "another seed");
    good(curandSetPseudoRandomGeneratorSeed(g.at, 9), "seed");
    good(curandSetGeneratorOffset(g.at, 0), "offset");
    good(curandGenerateSeeds(g.at), "seeds");
    check(g.bits(9000) == all, "the first seed again");
  }
}

/// A graph makes other numbers each time; starting states are not part of it.
void captured() {
  const Drawn g(true, CURAND_RNG_PSEUDO_PHILOX4_32_10, 0, 3), same(true, 161, 0, 3);
  constexpr std::size_t kCount = 4 * 65536;
  unsigned* there;
  cudaMalloc(&there, kCount * sizeof(unsigned));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  good(curandSetStream(g.at, stream), "stream");
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  good(curandGenerate(g.at, there, kCount), "captured");
  cudaGraph_t graph;
  check(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture");
  std::size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  check(nodes == 1, "one kernel in the graph, not " + std::to_string(nodes));
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 2; ++i) {
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    std::vector<unsigned> got(kCount);
    cudaMemcpy(got.data(), there, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost);
    check(got == same.bits(kCount), "launch " + std::to_string(i) + " of a graph");
  }
  cudaFree(there);
}

__global__ void sobol_kernel(const curandDirectionVectors32_t* vectors, unsigned* to, int count) {
  curandStateSobol32_t state;
  curand_init(const_cast<unsigned*>(vectors[threadIdx.x]), 5, &state);
  for (int i = 0; i < count; ++i) to[threadIdx.x * count + i] = curand(&state);
}
__global__ void poisson_kernel(curandDiscreteDistribution_t distribution, unsigned* to, int count) {
  curandStatePhilox4_32_10_t state;
  curand_init(11, threadIdx.x, 0, &state);
  for (int i = 0; i < count; i += 4) {
    const uint4 four = curand_discrete4(&state, distribution);
    for (int j = 0; j < 4; ++j)
      to[threadIdx.x * count + i + j] =
          j == 0 ? four.x : j == 1 ? four.y : j == 2 ? four.z : four.w;
  }
}

void tables_in_kernels() {
  constexpr int kDimensions = 32, kCount = 8;
  curandDirectionVectors32_t* vectors;
  good(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6), "vectors");
  curandDirectionVectors64_t* wide;
  good(curandGetDirectionVectors64(&wide, CURAND_DIRECTION_VECTORS_64_JOEKUO6), "vectors");
  // The sums of NVIDIA's, of the dimensions that are there.
  constexpr std::size_t kHave = 5715;
  check(sum_of(&vectors[0][0], kHave * 32) == 0x1f430a640f202f58u, "direction vectors");
  check(sum_of(&wide[0][0], kHave * 64) == 0xc662180a0085c45au, "direction vectors of 64 bits");
  status(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_64_JOEKUO6),
         CURAND_STATUS_OUT_OF_RANGE, "set of other words");
  unsigned* to;
  cudaMalloc(&to, kDimensions * kCount * sizeof(unsigned));
  curandDirectionVectors32_t* there;
  cudaMalloc(&there, kDimensions * sizeof *there);
  cudaMemcpy(there, vectors, kDimensions * sizeof *there, cudaMemcpyHostToDevice);
  sobol_kernel<<<1, kDimensions>>>(there, to, kCount);
  std::vector<unsigned> got(kDimensions * kCount);
  cudaMemcpy(got.data(), to, got.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
  const Drawn sobol(true, CURAND_RNG_QUASI_SOBOL32);
  good(curandSetQuasiRandomGeneratorDimensions(sobol.at, kDimensions), "dimensions");
  good(curandSetGeneratorOffset(sobol.at, 5), "offset");
  check(got == sobol.bits(got.size()), "the same points in a kernel");

  curandDiscreteDistribution_t distribution;
  status(curandCreatePoissonDistribution(0, &distribution), CURAND_STATUS_OUT_OF_RANGE, "mean");
  status(curandCreatePoissonDistribution(1, nullptr), CURAND_STATUS_NOT_INITIALIZED, "nowhere");
  good(curandCreatePoissonDistribution(12.5, &distribution), "distribution");
  poisson_kernel<<<1, kDimensions>>>(distribution, to, kCount);
  cudaMemcpy(got.data(), to, got.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
  // Thread t has subsequence t: every fourth group of the generator's first round.
  const auto want =
      Drawn(true, CURAND_RNG_PSEUDO_PHILOX4_32_10, 0, 11).poisson(4 * 65536 + 128, 12.5);
  for (int t = 0; t < kDimensions; ++t)
    for (int i = 0; i < kCount; ++i)
      check(got[t * kCount + i] == want[i / 4 * 4 * 65536 + t * 4 + i % 4], "Poisson in a kernel");
  good(curandDestroyDistribution(distribution), "destroy");
  status(curandDestroyDistribution(nullptr), CURAND_STATUS_NOT_INITIALIZED, "destroy nothing");
  cudaFree(to);
  cudaFree(there);
}

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "print") {
    curandDirectionVectors32_t* vectors;
    curandDirectionVectors64_t* wide;
    curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6);
    curandGetDirectionVectors64(&wide, CURAND_DIRECTION_VECTORS_64_JOEKUO6);
    std::printf("%llx %llx\n", (unsigned long long)sum_of(&vectors[0][0], 5715 * 32),
                (unsigned long long)sum_of(&wide[0][0], 5715 * 64));
    return 0;
  }
  wrong_arguments();
  seeds_and_offsets();
  captured();
  tables_in_kernels();
  if (argc > 1) {  // what we do not have
    curandGenerator_t g;
    status(curandCreateGenerator(&g, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32),
           CURAND_STATUS_ARCH_MISMATCH, "scrambled");
    unsigned* constants;
    status(curandGetScrambleConstants32(&constants), CURAND_STATUS_ARCH_MISMATCH, "constants");
  }
  return finish();
}
