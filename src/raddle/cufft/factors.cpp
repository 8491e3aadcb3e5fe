#include "raddle/cufft/factors.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace raddle::cufft {

namespace {

constexpr int kPrimes[] = {13, 11, 7, 5, 3};

/// The best largest factor of n as a product of `count` numbers below `bound`; they are left in
/// `chosen` when it is better.
void search(long long n, int count, std::vector<int>& taken, int& bound, std::vector<int>& chosen) {
  if (count == 1) {
    if (n >= bound) return;
    taken.push_back(static_cast<int>(n));
    bound = *std::max_element(taken.begin(), taken.end());
    chosen = taken;
    taken.pop_back();
    return;
  }
  // Each is at most the one before: orders do not matter here.
  const int largest = taken.empty() ? bound - 1 : std::min(bound - 1, taken.back());
  for (int factor = largest; factor > 1; --factor) {
    if (std::pow(static_cast<double>(factor), count) < static_cast<double>(n)) break;
    if (n % factor != 0) continue;
    taken.push_back(factor);
    search(n / factor, count - 1, taken, bound, chosen);
    taken.pop_back();
  }
}

}  // namespace

bool is_smooth(long long n) {
  for (const int prime : {2, 3, 5, 7, 11, 13})
    while (n % prime == 0) n /= prime;
  return n == 1;
}

bool is_power_of_two(int n) { return std::has_single_bit(static_cast<unsigned>(n)); }

std::vector<int> radices_of(int n) {
  std::vector<int> out;
  for (const int prime : kPrimes)
    for (; n % prime == 0; n /= prime) out.push_back(prime);
  for (; n % 8 == 0; n /= 8) out.push_back(8);
  if (n > 1) out.push_back(n);
  return out;
}

std::vector<int> split(long long n, int limit) {
  constexpr int kMaxCount = 4;  // of at most 1,024 each: beyond all memory
  for (int count = 1; count <= kMaxCount; ++count) {
    std::vector<int> taken, chosen;
    int bound = limit + 1;
    search(n, count, taken, bound, chosen);
    if (!chosen.empty()) return chosen;
  }
  return {};
}

}  // namespace raddle::cufft
