// The kernels of levels 1 and 2 (kernels/vectors.cu).
#pragma once
#include <string>
#include <type_traits>

namespace raddle::cublas {

inline constexpr const char* kVectorModule = "vectors";

/// The kernel's name for elements of type T, of which there are two.
template <class T>
std::string vector_kernel(const char* word) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  return std::string("blas_") + (std::is_same_v<T, float> ? "s" : "d") + word;
}

}  // namespace raddle::cublas
