// Transforms of one dimension, of lengths of all kinds: within a block and in several passes, by
// butterflies and by convolution, complex and real, in place and not.
#include "cufft.h"

/// All that is done with a length.
template <class T>
void length(long long n, long long batch) {
  for (const bool in_place : {false, true}) {
    for (const int sign : {CUFFT_FORWARD, CUFFT_INVERSE})
      run<T>({.n = {n}, .sign = sign, .batch = batch, .in_place = in_place});
    run<T>({.n = {n}, .ends = kToComplex, .batch = batch, .in_place = in_place});
    run<T>({.n = {n}, .ends = kToReal, .batch = batch, .in_place = in_place});
  }
}

template <class T>
void lengths(const std::string& which) {
  if (which == "short")
    for (int n = 1; n <= 64; ++n) length<T>(n, n % 7 + 1);
  if (which == "few")
    for (const int n : {1, 2, 8, 15, 16, 30, 34, 64, 121}) length<T>(n, 3);
  if (which == "block") {
    for (const int n : {128, 256, 512, 1024, 2048, 96, 100, 169, 243, 343, 1000, 1155, 1287})
      length<T>(n, 3);
    for (const int n : {67, 94, 251, 257, 499, 514}) length<T>(n, 3);
  }
  if (which == "passes") {
    for (const int n : {4096, 8192, 5000, 6561, 10000, 15015}) length<T>(n, 2);
    for (const int n : {1031, 2062, 4099}) length<T>(n, 2);
  }
  if (which == "real")
    for (const int n : {64, 4096, 34, 8192})
      for (const Ends ends : {kToComplex, kToReal})
        run<T>({.n = {n}, .ends = ends, .batch = 2, .odd_address = true});
}

/// Of 2^22 points and more, whose transform is known: of a sum of waves.
void large(long long n) {
  constexpr int kWaves = 3;
  const long long at[kWaves] = {1, n / 3, n - 5};
  std::vector<float2> host(n);
  const Numbers& roots = roots_of(n);
  for (long long i = 0; i < n; ++i) {
    Exact sum = 0;
    for (int wave = 0; wave < kWaves; ++wave)
      sum += roots[static_cast<std::size_t>(i) * at[wave] % n] * (wave + 1.0L);
    host[i] = {static_cast<float>(sum.real()), static_cast<float>(sum.imag())};
  }
  Guarded<float2> a(n);
  a.up(host);
  cufftHandle plan;
  good(cufftPlan1d(&plan, static_cast<int>(n), CUFFT_C2C, 1), "plan");
  good(cufftExecC2C(plan, a.data(), a.data(), CUFFT_FORWARD), "execute");
  const std::vector<float2> got = a.down("large");
  double difference = 0, norm = 0;
  for (long long k = 0; k < n; ++k) {
    double want = 0;
    for (int wave = 0; wave < kWaves; ++wave)
      if (k == at[wave]) want = static_cast<double>(n) * (wave + 1);
    difference += (got[k].x - want) * (got[k].x - want) + double(got[k].y) * got[k].y;
    norm += want * want;
  }
  const double error = std::sqrt(difference / norm);
  const double allowed = kTolerance<float> * std::log2(static_cast<double>(n));
  worst_of_tolerance = std::max(worst_of_tolerance, error / allowed);
  check(error < allowed, "large: error " + std::to_string(error));
  good(cufftDestroy(plan), "destroy");
}

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "short", type = argc > 2 ? argv[2] : "";
  const Keeper keeper;
  if (which == "large") {
    large(std::atoll(argv[2]));
  } else {
    if (type != "d") lengths<float>(which);
    if (type != "s") lengths<double>(which);
  }
  return finish();
}
