// What programs that test cuRAND share: checks, generators on device and host, and memory for both.
#pragma once
#include <cuda_runtime.h>
#include <curand.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

inline int failures = 0;

inline void check(bool good, const std::string& what) {
  if (good) return;
  std::printf("WRONG %s\n", what.c_str());
  ++failures;
}
inline void status(curandStatus_t got, curandStatus_t want, const std::string& what) {
  check(got == want, what + ": " + std::to_string(got) + ", not " + std::to_string(want));
}
inline void good(curandStatus_t got, const std::string& what) {
  status(got, CURAND_STATUS_SUCCESS, what);
}

/// A generator on the device or the host, and numbers of it on the host.
struct Drawn {
  curandGenerator_t at = nullptr;
  bool on_device;

  Drawn(bool device, int type, int ordering = 0, unsigned long long seed = 0) : on_device(device) {
    const auto which = static_cast<curandRngType_t>(type);
    good(device ? curandCreateGenerator(&at, which) : curandCreateGeneratorHost(&at, which),
         "create " + std::to_string(type));
    if (ordering != 0)
      good(curandSetGeneratorOrdering(at, static_cast<curandOrdering_t>(ordering)), "ordering");
    if (type < CURAND_RNG_QUASI_DEFAULT) good(curandSetPseudoRandomGeneratorSeed(at, seed), "seed");
  }
  ~Drawn() { good(curandDestroyGenerator(at), "destroy"); }
  Drawn(const Drawn&) = delete;

  /// What `call` writes to memory for n elements, which starts `shift` elements into an allocation.
  template <class T, class Call>
  std::vector<T> numbers(std::size_t n, const Call& call, std::size_t shift = 0) const {
    std::vector<T> out(n);
    if (!on_device) {
      good(call(out.data()), "draw on the host");
      return out;
    }
    T* there = nullptr;
    cudaMalloc(&there, (n + shift + 1) * sizeof(T));
    good(call(there + shift), "draw");
    cudaMemcpy(out.data(), there + shift, n * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(there);
    return out;
  }
  std::vector<unsigned> bits(std::size_t n) const {
    return numbers<unsigned>(n, [&](unsigned* to) { return curandGenerate(at, to, n); });
  }
  std::vector<unsigned long long> long_bits(std::size_t n) const {
    return numbers<unsigned long long>(
        n, [&](unsigned long long* to) { return curandGenerateLongLong(at, to, n); });
  }
  std::vector<float> uniform(std::size_t n, std::size_t shift = 0) const {
    return numbers<float>(
        n, [&](float* to) { return curandGenerateUniform(at, to, n); }, shift);
  }
  std::vector<double> uniform_double(std::size_t n) const {
    return numbers<double>(n, [&](double* to) { return curandGenerateUniformDouble(at, to, n); });
  }
  std::vector<float> normal(std::size_t n, float mean, float deviation) const {
    return numbers<float>(
        n, [&](float* to) { return curandGenerateNormal(at, to, n, mean, deviation); });
  }
  std::vector<double> normal_double(std::size_t n, double mean, double deviation) const {
    return numbers<double>(
        n, [&](double* to) { return curandGenerateNormalDouble(at, to, n, mean, deviation); });
  }
  std::vector<float> log_normal(std::size_t n, float mean, float deviation) const {
    return numbers<float>(
        n, [&](float* to) { return curandGenerateLogNormal(at, to, n, mean, deviation); });
  }
  std::vector<double> log_normal_double(std::size_t n, double mean, double deviation) const {
    return numbers<double>(
        n, [&](double* to) { return curandGenerateLogNormalDouble(at, to, n, mean, deviation); });
  }
  std::vector<unsigned> poisson(std::size_t n, double mean) const {
    return numbers<unsigned>(n,
                             [&](unsigned* to) { return curandGeneratePoisson(at, to, n, mean); });
  }
};

inline int finish() {
  std::printf(failures == 0 ? "PASS\n" : "FAIL\n");
  return failures == 0 ? 0 : 1;
}
