// Forward rates followed along paths, and what a portfolio of swaptions is worth. See README.md.
#include "common/cuda_lite.h"
#include "libor/market.h"

extern "C" {
__constant__ int libor_rates, libor_steps, libor_options, libor_maturities[kOptions];
__constant__ float libor_interval, libor_strikes[kOptions], libor_volatilities[kMaxRates];
}

// Arrays of a thread; their index is not known, so that they lie in local memory.
constexpr int kStored = kMaxRates * (kMaxSteps + 1);

static __device__ __forceinline__ void begin_path(float* rates, float* normals) {
#pragma unroll 4
  for (int i = 0; i < libor_rates; ++i) {
    normals[i] = kNormal;
    rates[i] = kFirstRate;
  }
}

// After step n rates 0 to n are past; row n + 1 of `stored` keeps the others where it is wanted.
// The exponent is of double precision, as its constant is in the published program.
template <bool kStore>
static __device__ __forceinline__ void evolve(float* rates, const float* normals, float* stored) {
  const float interval = libor_interval;
#pragma unroll 1
  for (int n = 0; n < libor_steps; ++n) {
    float shock = sqrtf(interval) * normals[n], drift = 0.0f;
#pragma unroll 4
    for (int i = n + 1; i < libor_rates; ++i) {
      float volatility = libor_volatilities[i - n - 1];
      float scaled = interval * volatility;
      drift += __fdividef(scaled * rates[i], 1.0f + interval * rates[i]);
      double exponent = scaled * drift + volatility * (shock - 0.5 * scaled);
      rates[i] = rates[i] * __expf(static_cast<float>(exponent));
      if constexpr (kStore) stored[i + (n + 1) * libor_rates] = rates[i];
    }
  }
}

// What the swaptions pay; bonds and annuities are those of the rates after the last step.
static __device__ __forceinline__ float payoff(const float* bonds, const float* annuities) {
  float value = 0.0f;
#pragma unroll 4
  for (int i = 0; i < libor_options; ++i) {
    int m = libor_maturities[i] - 1;
    float swap = bonds[m] + libor_strikes[i] * annuities[m] - 1.0f;
    if (swap < 0.0f) value = static_cast<float>(value + -100.0 * swap);
  }
  return value;
}

static __device__ __forceinline__ float discounted(const float* rates) {
  float bond = 1.0f;
#pragma unroll 4
  for (int n = 0; n < libor_steps; ++n)
    bond = static_cast<float>(bond / (1.0 + libor_interval * rates[n]));
  return bond;
}

extern "C" __global__ void libor_values(float* values, int paths) {
  float rates[kMaxRates], normals[kMaxRates], bonds[kMaxSteps], annuities[kMaxSteps];
  int threads = static_cast<int>(blockDim.x * gridDim.x);
  int path = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (; path < paths; path += threads) {
    begin_path(rates, normals);
    evolve<false>(rates, normals, nullptr);
    float bond = 1.0f, annuity = 0.0f;
#pragma unroll 4
    for (int n = libor_steps; n < libor_rates; ++n) {
      bond = static_cast<float>(bond / (1.0 + libor_interval * rates[n]));
      annuity = annuity + libor_interval * bond;
      bonds[n - libor_steps] = bond;
      annuities[n - libor_steps] = annuity;
    }
    float value = payoff(bonds, annuities);
    values[path] = discounted(rates) * value;
  }
}

// The value, and its derivative by each rate after the last step, which takes the rate's place.
static __device__ __forceinline__ float derive_value(float* rates) {
  float bonds[kMaxSteps], annuities[kMaxSteps], by_bond[kMaxSteps], by_annuity[kMaxSteps];
  const float interval = libor_interval;
  const int due = libor_rates - libor_steps;
  float bond = 1.0f, annuity = 0.0f;
#pragma unroll 4
  for (int m = 0; m < due; ++m) {
    bond = __fdividef(bond, 1.0f + interval * rates[m + libor_steps]);
    annuity = annuity + interval * bond;
    bonds[m] = bond;
    annuities[m] = annuity;
  }
#pragma unroll 4
  for (int m = 0; m < due; ++m) by_bond[m] = by_annuity[m] = 0.0f;
  float value = 0.0f;
#pragma unroll 5
  for (int i = 0; i < libor_options; ++i) {
    int m = libor_maturities[i] - 1;
    float swap = bonds[m] + libor_strikes[i] * annuities[m] - 1.0f;
    if (swap < 0.0f) {
      value += -kShortfall * swap;
      by_annuity[m] += -kShortfall * libor_strikes[i];
      by_bond[m] += -kShortfall;
    }
  }
#pragma unroll 4
  for (int m = due - 1; m >= 0; --m) {
    int n = m + libor_steps;
    float growth = 1.0f + interval * rates[n];
    by_bond[m] += interval * by_annuity[m];
    rates[n] = -by_bond[m] * bonds[m] * __fdividef(interval, growth);
    if (m > 0) {
      by_annuity[m - 1] += by_annuity[m];
      by_bond[m - 1] += __fdividef(by_bond[m], growth);
    }
  }
  bond = discounted(rates);
  value = bond * value;
#pragma unroll 4
  for (int n = 0; n < libor_steps; ++n)
    rates[n] = static_cast<float>(-value * interval / (1.0 + interval * rates[n]));
#pragma unroll 4
  for (int n = libor_steps; n < libor_rates; ++n) rates[n] = bond * rates[n];
  return value;
}

// Back along the path: derivatives by the rates after a step become those by the rates before it.
static __device__ __forceinline__ void turn_back(float* derivatives, const float* stored) {
  const float interval = libor_interval;
#pragma unroll 1
  for (int n = libor_steps - 1; n >= 0; --n) {
    float sum = 0.0f;
#pragma unroll 4
    for (int i = libor_rates - 1; i > n; --i) {
      float before = stored[i + n * libor_rates], after = stored[i + (n + 1) * libor_rates];
      float volatility = libor_volatilities[i - n - 1];
      sum += volatility * after * derivatives[i];
      float share = __fdividef(interval, 1.0f + interval * before);
      derivatives[i] =
          derivatives[i] * __fdividef(after, before) + sum * volatility * share * share;
    }
  }
}

extern "C" __global__ void libor_sensitivities(float* values, float* sensitivities, int paths) {
  float rates[kMaxRates], stored[kStored], normals[kMaxRates];
  int threads = static_cast<int>(blockDim.x * gridDim.x);
  int path = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (; path < paths; path += threads) {
    begin_path(rates, normals);
#pragma unroll 4
    for (int i = 0; i < libor_rates; ++i) stored[i] = rates[i];
    evolve<true>(rates, normals, stored);
    values[path] = derive_value(rates);
    turn_back(rates, stored);
    sensitivities[path] = rates[libor_rates - 1];
  }
}
