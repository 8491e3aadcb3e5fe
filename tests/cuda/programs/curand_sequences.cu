// Sequences of all generators of cuRAND, on device and host: sums of 64 bits over the numbers are
// those of NVIDIA's library. Normally distributed numbers, which are rounded, are not among them.
//   curand_sequences          all
//   curand_sequences TYPE     one generator
//   curand_sequences print    the sums of the library that is there, by generators on the host
#include "curand.h"

struct Sequence {
  int type, ordering;
  unsigned long long seed, offset;
  unsigned dimensions;
  std::size_t numbers;
  double mean;  // of Poisson distributions
  std::uint64_t bits, uniform, uniform_double, poisson;
};

// From NVIDIA's libcurand.so.10 (10.4.0), by "print".
Sequence sequences[] = {
#include "curand_sums.inc"
};

template <class T>
std::uint64_t sum_of(const std::vector<T>& numbers) {
  std::uint64_t sum = 0xcbf29ce484222325u;  // FNV-1a
  std::vector<unsigned char> bytes(numbers.size() * sizeof(T));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  for (const unsigned char byte : bytes) sum = (sum ^ byte) * 0x100000001b3u;
  return sum;
}

/// The same generator goes on from one distribution to the next, after counts that fit nothing.
Sequence drawn(const Sequence& s, bool on_device) {
  const Drawn generator(on_device, s.type, s.ordering, s.seed);
  if (s.offset != 0) good(curandSetGeneratorOffset(generator.at, s.offset), "offset");
  if (s.type >= CURAND_RNG_QUASI_DEFAULT)
    good(curandSetQuasiRandomGeneratorDimensions(generator.at, s.dimensions), "dimensions");
  Sequence out = s;
  out.bits = s.type >= CURAND_RNG_QUASI_SOBOL64 ? sum_of(generator.long_bits(s.numbers))
                                                : sum_of(generator.bits(s.numbers));
  out.uniform = sum_of(generator.uniform(s.numbers, 1));
  out.uniform_double = sum_of(generator.uniform_double(s.numbers));
  out.poisson = sum_of(generator.poisson(s.numbers, s.mean));
  return out;
}

void print() {
  for (const Sequence& s : sequences) {
    const Sequence out = drawn(s, false);
    std::printf("{%d, %d, %lluu, %lluu, %u, %zu, %g,\n 0x%llxu, 0x%llxu,\n 0x%llxu, 0x%llxu},\n",
                s.type, s.ordering, s.seed, s.offset, s.dimensions, s.numbers, s.mean,
                static_cast<unsigned long long>(out.bits),
                static_cast<unsigned long long>(out.uniform),
                static_cast<unsigned long long>(out.uniform_double),
                static_cast<unsigned long long>(out.poisson));
  }
}

/// Many small calls make what one makes.
void in_parts(int type) {
  const Drawn whole(true, type, CURAND_ORDERING_PSEUDO_LEGACY, 5);
  const Drawn parts(true, type, CURAND_ORDERING_PSEUDO_LEGACY, 5);
  constexpr std::size_t kCount = 12000;
  const auto want = whole.bits(kCount);
  std::vector<unsigned> got;
  for (std::size_t part = 1; got.size() < kCount; part = part * 3 + 1) {
    const auto more = parts.bits(std::min(part, kCount - got.size()));
    got.insert(got.end(), more.begin(), more.end());
  }
  check(got == want, "parts of " + std::to_string(type));
}

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  if (only == "print") {
    print();
    return 0;
  }
  for (const Sequence& s : sequences) {
    if (!only.empty() && only != std::to_string(s.type)) continue;
    for (const bool on_device : {true, false}) {
      const Sequence got = drawn(s, on_device);
      const std::string what = std::to_string(s.type) + " ordering " + std::to_string(s.ordering) +
                               (on_device ? "" : " on the host");
      check(got.bits == s.bits, what + ": bits");
      check(got.uniform == s.uniform, what + ": uniform");
      check(got.uniform_double == s.uniform_double, what + ": uniform double");
      check(got.poisson == s.poisson, what + ": Poisson");
    }
  }
  if (only.empty())
    for (const int type : {101, 121, 141, 142, 161}) in_parts(type);
  return finish();
}
