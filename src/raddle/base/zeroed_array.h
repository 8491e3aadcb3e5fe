// A fixed number of elements whose bytes are all 0 at first. Of a large array only the parts that
// are touched take memory and time: the system hands out pages of zeros one by one.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include "raddle/base/error.h"

namespace raddle {

/// T: bytes of 0 must be a value of it, and the one that is wanted at first.
template <class T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit ZeroedArray(std::size_t size)
      : size_(size), memory_(zeros(bytes_of(size)), Release{bytes_of(size)}) {
    void* at = memory_.get();
    std::size_t room = bytes_of(size);
    first_ = static_cast<T*>(std::align(alignof(T), size * sizeof(T), at, room));
    RADDLE_ASSERT(first_ != nullptr);
  }
  std::size_t size() const { return size_; }
  T* data() { return first_; }
  const T* data() const { return first_; }
  T& operator[](std::size_t i) { return first_[i]; }
  const T& operator[](std::size_t i) const { return first_[i]; }
  T* begin() { return first_; }
  T* end() { return first_ + size_; }
  const T* begin() const { return first_; }
  const T* end() const { return first_ + size_; }

 private:
  /// From here on of the system, which has such pages; calloc() writes zeros into what it has.
  static constexpr std::size_t kLarge = std::size_t{4} << 10;
  static std::size_t bytes_of(std::size_t size) { return size * sizeof(T) + alignof(T); }
  static void* zeros(std::size_t bytes) {
    void* at = nullptr;
    if (bytes >= kLarge) {
      at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (at == MAP_FAILED) at = nullptr;
    } else {
      at = std::calloc(bytes, 1);
    }
    if (at == nullptr) throw std::bad_alloc();
    return at;
  }
  struct Release {
    std::size_t bytes;
    void operator()(void* at) const {
      if (bytes >= kLarge) munmap(at, bytes);
      else std::free(at);
    }
  };
  std::size_t size_;
  std::unique_ptr<void, Release> memory_;
  T* first_;
};

}  // namespace raddle
