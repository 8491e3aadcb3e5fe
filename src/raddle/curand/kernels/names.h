// One kernel for each generator and distribution: DISTRIBUTIONS(KERNEL) makes KERNEL(name, which)
// of each.
#pragma once

#define RADDLE_CURAND_DISTRIBUTIONS(KERNEL)   \
  KERNEL(bits, kBits)                         \
  KERNEL(uniform, kUniform)                   \
  KERNEL(uniform_double, kUniformDouble)      \
  KERNEL(normal, kNormal)                     \
  KERNEL(normal_double, kNormalDouble)        \
  KERNEL(log_normal, kLogNormal)              \
  KERNEL(log_normal_double, kLogNormalDouble) \
  KERNEL(poisson, kPoisson)                   \
  KERNEL(poisson_normal, kPoissonNormal)

/// Those of generators that make one number of each word.
#define RADDLE_CURAND_WORD_DISTRIBUTIONS(KERNEL) \
  RADDLE_CURAND_DISTRIBUTIONS(KERNEL)            \
  KERNEL(poisson_inverse, kPoissonInverse)
