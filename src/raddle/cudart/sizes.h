// Sizes that programs give. What they come to may be more than 64 bits hold, and would then name
// other bytes than were meant.
#pragma once
#include "raddle/cudart/context.h"

namespace raddle::cudart {

inline constexpr const char* kTooLarge = "the sizes come to more than 2^64 bytes";

/// Throws Failure with that code beyond 64 bits.
inline std::size_t product(std::size_t a, std::size_t b, Error code = kInvalidValue) {
  std::size_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) throw Failure{code, kTooLarge};
  return out;
}
/// Likewise.
inline std::size_t sum(std::size_t a, std::size_t b, Error code = kInvalidValue) {
  std::size_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) throw Failure{code, kTooLarge};
  return out;
}

}  // namespace raddle::cudart
