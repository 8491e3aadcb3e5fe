#pragma once
#include <type_traits>

namespace raddle {

/// The least multiple of `to` (not 0) that is no less than `n`.
template <class T>
constexpr T round_up(T n, std::type_identity_t<T> to) {
  return (n + to - 1) / to * to;
}

}  // namespace raddle
