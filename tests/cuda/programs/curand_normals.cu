// Normally and log-normally distributed numbers of cuRAND, against the host's functions in double
// precision, from bits that a second generator of the same seed draws.
#include "curand.h"

#include <algorithm>
#include <functional>

constexpr double kPi = 3.14159265358979323846;
constexpr unsigned long long kSeed = 77;
// Of numbers with mean 0 and deviation 1; those of the host's own rounding are half of it.
constexpr double kFloatError = 3e-6, kDoubleError = 2e-14;

double unit(unsigned x) { return (x + 0.5) * 0x1p-32; }
double unit(unsigned x, unsigned y) {
  return (static_cast<double>(x ^ static_cast<unsigned long long>(y) << 21) + 0.5) * 0x1p-53;
}
/// The first or second of Box and Muller's pair.
double box_muller(double u, double v, bool is_second) {
  const double radius = std::sqrt(-2 * std::log(u));
  return radius * (is_second ? std::cos(2 * kPi * v) : std::sin(2 * kPi * v));
}

using Reference = std::function<double(std::size_t)>;

void compare(const Drawn& one, const Drawn& two, std::size_t n, const Reference& narrow,
             const Reference& wide, const std::string& what) {
  constexpr float kMean = 1.5f, kDeviation = 0.5f;
  // The second is drawn from after the first: each generator starts anew for its one call.
  const auto floats = one.normal(n, kMean, kDeviation);
  const auto doubles = two.normal_double(n, kMean, kDeviation);
  double float_error = 0, double_error = 0;
  for (std::size_t i = 0; i < n; ++i) {
    float_error = std::max(float_error, std::abs(floats[i] - (kMean + kDeviation * narrow(i))));
    double_error = std::max(double_error, std::abs(doubles[i] - (kMean + kDeviation * wide(i))));
  }
  check(float_error < kFloatError, what + ": normal, error " + std::to_string(float_error * 1e6) +
                                       "e-6");
  check(double_error < kDoubleError,
        what + ": normal double, error " + std::to_string(double_error * 1e14) + "e-14");
}

void compare_logs(const Drawn& one, const Drawn& two, std::size_t n, const Reference& narrow,
                  const Reference& wide, const std::string& what) {
  const auto floats = one.log_normal(n, 0.25f, 0.75f);
  const auto doubles = two.log_normal_double(n, 0.25, 0.75);
  double float_error = 0, double_error = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double want = std::exp(0.25 + 0.75 * narrow(i));
    const double wide_want = std::exp(0.25 + 0.75 * wide(i));
    float_error = std::max(float_error, std::abs(floats[i] / want - 1));
    double_error = std::max(double_error, std::abs(doubles[i] / wide_want - 1));
  }
  check(float_error < kFloatError, what + ": log-normal, error " +
                                       std::to_string(float_error * 1e6) + "e-6");
  check(double_error < kDoubleError,
        what + ": log-normal double, error " + std::to_string(double_error * 1e14) + "e-14");
}

void both(bool on_device, int type, std::size_t n, const Reference& narrow, const Reference& wide) {
  const int order = type < CURAND_RNG_QUASI_DEFAULT ? CURAND_ORDERING_PSEUDO_LEGACY : 0;
  const std::string what = std::to_string(type) + (on_device ? "" : " on the host");
  {
    const Drawn one(on_device, type, order, kSeed), two(on_device, type, order, kSeed);
    compare(one, two, n, narrow, wide, what);
  }
  const Drawn one(on_device, type, order, kSeed), two(on_device, type, order, kSeed);
  compare_logs(one, two, n, narrow, wide, what);
}

/// Pair j is of thread j mod 4096, which goes on from step to step.
void threads_in_turn(bool on_device) {
  constexpr std::size_t kThreads = 4096, kCount = 2 * kThreads + 1500;
  const auto bits = Drawn(on_device, CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_LEGACY, kSeed)
                        .bits(8 * kThreads);
  const auto at = [&](std::size_t i, std::size_t step, std::size_t steps) {
    return bits[(i / 2 / kThreads * steps + step) * kThreads + i / 2 % kThreads];
  };
  both(on_device, CURAND_RNG_PSEUDO_XORWOW, kCount,
       [&](std::size_t i) { return box_muller(unit(at(i, 0, 2)), unit(at(i, 1, 2)), i % 2 != 0); },
       [&](std::size_t i) {
         return box_muller(unit(at(i, 0, 4), at(i, 1, 4)), unit(at(i, 2, 4), at(i, 3, 4)),
                           i % 2 != 0);
       });
  const auto steps =
      Drawn(on_device, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_ORDERING_PSEUDO_LEGACY, kSeed)
          .uniform_double(4 * kThreads);
  const Reference mrg = [&](std::size_t i) {
    const std::size_t first = i / 2 / kThreads * 2 * kThreads + i / 2 % kThreads;
    return box_muller(steps[first], steps[first + kThreads], i % 2 != 0);
  };
  both(on_device, CURAND_RNG_PSEUDO_MRG32K3A, kCount, mrg, mrg);
}

void philox(bool on_device) {
  constexpr std::size_t kCount = 3002, kRound = 4 * 65536;
  const auto bits =
      Drawn(on_device, CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_ORDERING_PSEUDO_LEGACY, kSeed)
          .bits(2 * kRound);
  both(on_device, CURAND_RNG_PSEUDO_PHILOX4_32_10, kCount,
       [&](std::size_t i) {
         const std::size_t pair = i / 2 * 2;
         return box_muller(unit(bits[pair]), unit(bits[pair + 1]), i % 2 != 0);
       },
       [&](std::size_t i) {
         const unsigned* const four = &bits[i / 4 * 4 + (i % 4 >= 2 ? kRound : 0)];
         return box_muller(unit(four[0], four[1]), unit(four[2], four[3]), i % 2 != 0);
       });
  // Large means are rounded from the same numbers.
  const Drawn one(on_device, CURAND_RNG_PSEUDO_PHILOX4_32_10, 0, kSeed);
  const Drawn two(on_device, CURAND_RNG_PSEUDO_PHILOX4_32_10, 0, kSeed);
  constexpr double kMean = 5000;
  const auto normals = one.normal(kCount, 0, 1);
  const auto counts = two.poisson(kCount, kMean);
  for (std::size_t i = 0; i < kCount; ++i)
    check(counts[i] == static_cast<unsigned>(kMean + std::sqrt(kMean) * normals[i] + 0.5),
          "Poisson of a large mean");
}

/// The inverse of the normal distribution's integral, by Newton's method from what came out.
double quantile(double p) {
  double x = 0;
  for (int i = 0; i < 60; ++i) {
    const double error = 0.5 * std::erfc(-x / std::sqrt(2.0)) - p;
    const double step = error / (std::exp(-x * x / 2) / std::sqrt(2 * kPi));
    x -= std::clamp(step, -0.5, 0.5);
  }
  return x;
}
/// Of the upper half, by symmetry: erfc loses what is near 1.
double symmetric_quantile(unsigned x) {
  return x >= 0x80000000u ? -quantile(unit(~x)) : quantile(unit(x));
}

void by_the_inverse(bool on_device) {
  constexpr std::size_t kCount = 1500;
  for (const int type : {CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_QUASI_SOBOL32}) {
    const auto bits = Drawn(on_device, type, 0, kSeed).bits(kCount);
    std::vector<double> want;
    for (const unsigned x : bits) want.push_back(symmetric_quantile(x));
    const Reference reference = [&](std::size_t i) { return want[i]; };
    both(on_device, type, kCount, reference, reference);
  }
  const auto words = Drawn(on_device, CURAND_RNG_QUASI_SOBOL64).long_bits(kCount);
  std::vector<double> narrow, wide;
  for (const unsigned long long x : words) {
    narrow.push_back(symmetric_quantile(static_cast<unsigned>(x >> 32)));
    const double u = (static_cast<double>(x >> 11) + 0.5) * 0x1p-53;
    wide.push_back(u > 0.5 ? -quantile(1 - u) : quantile(u));
  }
  both(on_device, CURAND_RNG_QUASI_SOBOL64, kCount, [&](std::size_t i) { return narrow[i]; },
       [&](std::size_t i) { return wide[i]; });
}

int main(int argc, char**) {
  threads_in_turn(true);
  philox(true);
  if (argc > 1) return finish();  // a part of it, for runs that are timed
  by_the_inverse(true);
  threads_in_turn(false);
  philox(false);
  by_the_inverse(false);
  return finish();
}
