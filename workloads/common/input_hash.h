// xxh64 over a workload's inputs, so that two runs can be told to have worked on the same data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace raddle::workloads {

/// xxh64 of `bytes` with `seed` (https://github.com/Cyan4973/xxHash, XXH64).
std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed);

/// Chained: each piece is hashed with the hash so far as seed, so order and boundaries count.
class InputHash {
 public:
  template <class T>
  void add(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    value_ = xxh64(std::as_bytes(std::span(values)), value_);
  }
  /// A parameter the kernels see.
  template <class T>
  requires std::is_arithmetic_v<T>
  void add(T value) { value_ = xxh64(std::as_bytes(std::span(&value, 1)), value_); }
  /// One after the other.
  template <class... T>
  requires(sizeof...(T) > 1) void add(const T&... transactions) { (add(transactions), ...); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace raddle::workloads
