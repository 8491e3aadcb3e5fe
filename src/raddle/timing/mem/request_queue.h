// FIFOs of requests that share one pool of places. A place freed last is used first, so however
// many places there must be in the worst case, only as many are touched as are in use (rings would
// walk through all of them).
#pragma once
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/types.h"
#include "raddle/timing/message.h"

namespace raddle::timing {

class RequestPool {
 public:
  struct Place {
    Cycle at = 0;
    Message message;
    std::uint32_t next = 0;
  };
  explicit RequestPool(unsigned capacity) : place_(capacity) {
    for (unsigned i = 0; i < capacity; ++i) place_[i].next = i + 1;
  }
  std::uint32_t take() {
    RADDLE_ASSERT(free_ < place_.size());
    std::uint32_t i = free_;
    free_ = place_[i].next;
    return i;
  }
  void give(std::uint32_t i) { place_[i].next = free_, free_ = i; }
  Place& operator[](std::uint32_t i) { return place_[i]; }
  const Place& operator[](std::uint32_t i) const { return place_[i]; }

 private:
  std::vector<Place> place_;
  std::uint32_t free_ = 0;
};

class RequestQueue {
 public:
  explicit RequestQueue(RequestPool& pool) : pool_(pool) {}
  bool empty() const { return size_ == 0; }
  unsigned size() const { return size_; }
  Cycle front_at() const { return pool_[first_].at; }
  const Message& front() const { return pool_[first_].message; }
  /// The message goes in with that number of DRAM accesses.
  void push(Cycle at, const Message& m, unsigned dram_accesses) {
    std::uint32_t i = pool_.take();
    RequestPool::Place& place = pool_[i];
    place.at = at, place.message = m;
    place.message.dram_accesses = static_cast<std::uint8_t>(dram_accesses);
    (size_ == 0 ? first_ : pool_[last_].next) = i;
    last_ = i, ++size_;
  }
  /// Precondition: !empty().
  void pop() {
    std::uint32_t i = first_;
    first_ = pool_[i].next, --size_;
    pool_.give(i);
  }

 private:
  RequestPool& pool_;
  std::uint32_t first_ = 0, last_ = 0;
  unsigned size_ = 0;
};

}  // namespace raddle::timing
