// FIFO of requests and times. A ring whose elements stay within as many places as were ever in use
// at once: however many there must be in the worst case, little memory is touched, one place after
// the other.
#pragma once
#include <algorithm>
#include <bit>

#include "raddle/base/error.h"
#include "raddle/base/prefetch.h"
#include "raddle/base/types.h"
#include "raddle/base/zeroed_array.h"
#include "raddle/timing/wire/message.h"

namespace raddle::timing {

class RequestQueue {
 public:
  explicit RequestQueue(unsigned capacity)
      : place_(std::bit_ceil(std::max(capacity, kFirst))), mask_(kFirst - 1) {}
  bool empty() const { return head_ == tail_; }
  unsigned size() const { return tail_ - head_; }
  Cycle front_at() const { return place_[head_ & mask_].at; }
  const Message& front() const { return place_[head_ & mask_].message; }
  /// The message goes in with that number of DRAM accesses.
  void push(Cycle at, const Message& m, unsigned dram_accesses) {
    if (size() > mask_) grow();
    Place& place = place_[tail_++ & mask_];
    place.at = at;
    place.message = m;
    place.message.dram_accesses = static_cast<std::uint8_t>(dram_accesses);
  }
  /// Precondition: !empty().
  void pop() { ++head_; }
  /// Hints that the first few will soon be looked at.
  void prefetch() const {
    raddle::prefetch(&place_[head_ & mask_]);
    raddle::prefetch(&place_[(head_ + 3) & mask_]);
  }

 private:
  static constexpr unsigned kFirst = 32;
  struct Place {
    Cycle at = 0;
    Message message;
  };
  /// Twice the places: those of the second turn move behind the others.
  void grow() {
    const unsigned n = mask_ + 1, first = head_ & mask_;
    RADDLE_ASSERT(2 * n <= place_.size());
    std::copy_n(place_.begin(), first, place_.begin() + n);
    mask_ = 2 * n - 1;
    head_ = first;
    tail_ = first + n;
  }
  ZeroedArray<Place> place_;
  std::uint32_t mask_, head_ = 0, tail_ = 0;
};

}  // namespace raddle::timing
