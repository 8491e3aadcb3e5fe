// FIFO of fixed capacity: the hardware's queue. Never allocates after construction.
#pragma once
#include <bit>
#include <cstdint>
#include <memory>

#include "raddle/base/error.h"

namespace raddle {

template <class T>
class Ring {
 public:
  /// Holds up to `capacity` elements exactly (storage is rounded up to a power of two).
  explicit Ring(unsigned capacity)
      : capacity_(capacity),
        mask_(std::bit_ceil(capacity) - 1),
        slots_(std::make_unique<T[]>(mask_ + 1)) {}
  bool empty() const { return head_ == tail_; }
  unsigned size() const { return tail_ - head_; }
  unsigned capacity() const { return capacity_; }
  unsigned room() const { return capacity_ - size(); }
  bool full() const { return size() == capacity_; }
  T& front() { return slots_[head_ & mask_]; }
  const T& front() const { return slots_[head_ & mask_]; }
  /// The i-th from the front.
  T& operator[](unsigned i) { return slots_[(head_ + i) & mask_]; }
  const T& operator[](unsigned i) const { return slots_[(head_ + i) & mask_]; }
  void push(const T& value) {
    RADDLE_ASSERT(!full());
    slots_[tail_++ & mask_] = value;
  }
  /// The slot the next element goes to, already counted; for filling in place.
  T& emplace() {
    RADDLE_ASSERT(!full());
    return slots_[tail_++ & mask_];
  }
  void pop() {
    RADDLE_ASSERT(!empty());
    ++head_;
  }
  /// Takes the i-th from the front out; the others stay in order.
  void remove(unsigned i) {
    RADDLE_ASSERT(i < size());
    for (; i != 0; --i) (*this)[i] = (*this)[i - 1];
    ++head_;
  }

 private:
  std::uint32_t capacity_, mask_, head_ = 0, tail_ = 0;
  std::unique_ptr<T[]> slots_;
};

}  // namespace raddle
