// A sort that keeps the order of equals. std::stable_sort of libstdc++ 12 uses a function that is
// deprecated, which clang reports as an error.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace raddle {

/// By key(value), which may be a member: that of which before(key, other key) first.
template <class T, class Key, class Before = std::less<>>
void sort_stably(std::vector<T>& values, Key key, Before before = {}) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    decltype(auto) key_a = std::invoke(key, values[a]);
    decltype(auto) key_b = std::invoke(key, values[b]);
    if (before(key_a, key_b)) return true;
    return !before(key_b, key_a) && a < b;
  });
  std::vector<T> sorted;
  sorted.reserve(values.size());
  for (const std::size_t i : order) sorted.push_back(std::move(values[i]));
  values = std::move(sorted);
}

}  // namespace raddle
