#include "raddle/cufft/tables.h"

#include <numbers>

#include "raddle/cuda_library/device.h"

namespace raddle::cufft {

namespace {

/// exp(-2 pi i k / order)
Exact root(long long k, long long order) {
  const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                            static_cast<long double>(order);
  return {std::cos(angle), std::sin(angle)};
}

/// The exponents that are in the table for a radix: 1, 2, 4 and 8 below it.
int powers_of(int radix) { return radix > 8 ? 4 : radix > 4 ? 3 : radix > 2 ? 2 : 1; }

std::vector<Exact> twiddle_numbers(const std::vector<int>& radices) {
  std::vector<Exact> out;
  int done = 1;
  for (const int radix : radices) {
    for (int power = 0; done > 1 && power < powers_of(radix); ++power)
      for (int j = 0; j < done; ++j)
        out.push_back(
            root(static_cast<long long>(j) << power, static_cast<long long>(done) * radix));
    done *= radix;
  }
  return out;
}

/// j^2 modulo 2 n, so that the angle stays exact.
Exact chirp_number(long long j, long long n) { return root(j * j % (2 * n), 2 * n); }

/// In place, of a power of two.
void transform(std::vector<Exact>& numbers) {
  const std::size_t n = numbers.size();
  for (std::size_t i = 1, reversed = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; (reversed & bit) != 0; bit >>= 1) reversed ^= bit;
    reversed |= bit;
    if (i < reversed) std::swap(numbers[i], numbers[reversed]);
  }
  std::vector<Exact> roots(n / 2);
  for (std::size_t k = 0; k < n / 2; ++k)
    roots[k] = root(static_cast<long long>(k), static_cast<long long>(n));
  for (std::size_t half = 1; half < n; half *= 2)
    for (std::size_t first = 0; first < n; first += 2 * half)
      for (std::size_t k = 0; k < half; ++k) {
        Exact &low = numbers[first + k], &high = numbers[first + half + k];
        const Exact w = roots[k * (n / 2 / half)];
        // By hand: operator* asks for infinities.
        const Exact turned(high.real() * w.real() - high.imag() * w.imag(),
                           high.real() * w.imag() + high.imag() * w.real());
        high = low - turned;
        low += turned;
      }
}

template <class T>
const void* upload_as(const std::vector<Exact>& numbers) {
  std::vector<std::complex<T>> rounded;
  rounded.reserve(numbers.size());
  for (const Exact& one : numbers)
    rounded.emplace_back(static_cast<T>(one.real()), static_cast<T>(one.imag()));
  const std::size_t bytes = rounded.size() * sizeof(std::complex<T>);
  void* const at = cuda_library::allocate(bytes);
  cuda_library::copy(at, rounded.data(), bytes, nullptr);
  cuda_library::wait(nullptr);
  return at;
}

}  // namespace

Tables::~Tables() {
  for (const auto& [name, at] : tables_)
    if (at != nullptr) cuda_library::release(const_cast<void*>(at));
}

const void* Tables::upload(const std::vector<Exact>& numbers) const {
  if (numbers.empty()) return nullptr;
  return in_double_ ? upload_as<double>(numbers) : upload_as<float>(numbers);
}

template <class Make>
const void* Tables::table(const std::string& name, Make make) {
  if (!in_memory_) return nullptr;
  const auto [at, is_new] = tables_.try_emplace(name, nullptr);
  if (is_new) at->second = upload(make());
  return at->second;
}

const void* Tables::twiddles(const std::vector<int>& radices) {
  std::string name = "twiddles";
  for (const int radix : radices) name += " " + std::to_string(radix);
  return table(name, [&] { return twiddle_numbers(radices); });
}

Roots Tables::roots(long long order) {
  // Both tables are of about the root of the order.
  int bits = 0;
  while (1ll << (2 * bits) < order) ++bits;
  const long long fine = 1ll << bits;
  const std::string name = std::to_string(order);
  const auto make = [&](long long count, long long step) {
    return [=] {
      std::vector<Exact> out;
      for (long long k = 0; k < count; ++k) out.push_back(root(k * step, order));
      return out;
    };
  };
  return {.coarse = table("coarse " + name, make(order / fine + 1, fine)),
          .fine = table("fine " + name, make(fine, 1)),
          .bits = bits};
}

const void* Tables::chirp(int n) {
  return table("chirp " + std::to_string(n), [&] {
    std::vector<Exact> out;
    for (int j = 0; j < n; ++j) out.push_back(chirp_number(j, n));
    return out;
  });
}

const void* Tables::chirp_spectrum(int n, int m) {
  return table("spectrum " + std::to_string(n) + " " + std::to_string(m), [&] {
    std::vector<Exact> out(static_cast<std::size_t>(m));
    for (int j = 0; j < n; ++j) {
      const Exact number = std::conj(chirp_number(j, n)) / static_cast<long double>(m);
      out[static_cast<std::size_t>(j)] = number;
      out[static_cast<std::size_t>((m - j) % m)] = number;
    }
    transform(out);
    return out;
  });
}

std::vector<int> twiddle_offsets(const std::vector<int>& radices) {
  std::vector<int> out;
  int done = 1, next = 0;
  for (const int radix : radices) {
    out.push_back(next);
    if (done > 1) next += powers_of(radix) * done;
    done *= radix;
  }
  return out;
}

}  // namespace raddle::cufft
