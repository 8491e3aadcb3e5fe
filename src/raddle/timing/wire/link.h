// Wires between components. One sender, one receiver, in order, fixed latency of at least a window:
// what is sent inside a window is visible only in a later one, so components of a window run alone,
// in any order, on any thread.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/base/types.h"
#include "raddle/base/zeroed_array.h"

namespace raddle::timing {

/// A value on its way.
template <class T>
class Arrival {
 public:
  Arrival() = default;
  Arrival(Cycle at, const T& value) : at_(at), value_(value) {}
  Cycle at() const { return at_; }
  const T& value() const { return value_; }
  T& value() { return value_; }

 private:
  Cycle at_ = 0;
  T value_{};
};
/// A byte and its time in one word: there is one for every packet, and they are far from the
/// processor when they are wanted.
template <>
class Arrival<std::uint8_t> {
 public:
  Arrival() = default;
  Arrival(Cycle at, std::uint8_t value) : at_value_(at << 8 | value) {}
  Cycle at() const { return at_value_ >> 8; }
  std::uint8_t value() const { return static_cast<std::uint8_t>(at_value_); }

 private:
  std::uint64_t at_value_ = 0;
};

/// Capacity is fixed at construction (rounded up to a power of two) and must cover what credits
/// allow in flight.
template <class T>
class Link {
 public:
  explicit Link(unsigned capacity)
      : mask_(std::bit_ceil(capacity) - 1),
        slots_(mask_ + 1),
        sender_mask_(mask_),
        sender_slots_(slots_.data()) {}
  [[gnu::always_inline]] Cycle next_arrival() const {     // a call costs as much again
    if (static_cast<std::int32_t>(seen_ - head_) <= 0) {  // what has been seen has been taken
      seen_ = tail_.load(std::memory_order_acquire);
      if (head_ == seen_) return kNever;
    }
    return slots_[head_ & mask_].at();
  }
  decltype(auto) front() const { return slots_[head_ & mask_].value(); }
  void pop() { ++head_; }
  /// visit(value) for all that is on its way and arrives before `end`.
  template <class F>
  void each(Cycle end, F visit) const {
    each(0, end, visit);
  }
  /// The same without the first `skipped`, which must be on their way.
  template <class F>
  void each(std::uint32_t skipped, Cycle end, F visit) const {
    const std::uint32_t tail = tail_.load(std::memory_order_acquire);
    for (std::uint32_t i = head_ + skipped; i != tail && slots_[i & mask_].at() < end; ++i)
      visit(slots_[i & mask_].value());
  }
  /// Arrival times must not decrease from push to push.
  [[gnu::always_inline]] void push(Cycle at, const T& value) {
    std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    sender_slots_[tail & sender_mask_] = Arrival<T>(at, value);
    tail_.store(tail + 1, std::memory_order_release);
  }
  /// The same after change(value), which is done in its place: a copy of its own would be made
  /// member by member.
  template <class Change>
  [[gnu::always_inline]] void push(Cycle at, const T& value, Change change) {
    std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    Arrival<T>& slot = sender_slots_[tail & sender_mask_];
    slot = Arrival<T>(at, value);
    change(slot.value());
    tail_.store(tail + 1, std::memory_order_release);
  }

 private:
  // Each side has what it needs in a cache line of its own. seen_: the tail when the receiver last
  // had to look.
  alignas(64) std::uint32_t head_ = 0;
  mutable std::uint32_t seen_ = 0;
  std::uint32_t mask_;
  ZeroedArray<Arrival<T>> slots_;
  alignas(64) std::atomic<std::uint32_t> tail_{0};
  std::uint32_t sender_mask_;
  Arrival<T>* sender_slots_;
};

/// For receivers with many links: which of the senders has an arrival in which of the next 64
/// cycles. OR commutes, so the order in which senders post cannot matter. Latencies must be below
/// 64 - window.
class Mailbox {
 public:
  /// For senders numbered 0 to senders - 1.
  explicit Mailbox(unsigned senders)
      : words_((senders + 63) / 64),
        source_(std::make_unique<std::atomic<std::uint64_t>[]>(64 * std::size_t{words_})) {
    RADDLE_ASSERT(senders != 0);
  }
  void set_shared(bool shared) { shared_ = shared; }
  [[gnu::always_inline]] void post(Cycle at, unsigned source) {
    add(of(at)[source >> 6], 1ull << (source & 63));
    add(occupied_, 1ull << (at & 63));
  }
  /// First cycle at or after `from` with an arrival.
  Cycle next(Cycle from) const {
    std::uint64_t m = occupied_.load(std::memory_order_relaxed);
    return m != 0 ? from + lowest(std::rotr(m, static_cast<int>(from & 63))) : kNever;
  }
  /// f(sender) for each sender with an arrival at `now`; forgets them.
  template <class F>
  void take(Cycle now, F f) {
    std::uint64_t bit = 1ull << (now & 63);
    if ((occupied_.load(std::memory_order_relaxed) & bit) == 0) return;
    if (shared_) occupied_.fetch_and(~bit, std::memory_order_relaxed);
    else
      occupied_.store(occupied_.load(std::memory_order_relaxed) & ~bit, std::memory_order_relaxed);
    std::atomic<std::uint64_t>* const source = of(now);
    for (unsigned i = 0; i < words_; ++i) {
      std::uint64_t sources = source[i].load(std::memory_order_relaxed);
      if (sources == 0) continue;
      source[i].store(0, std::memory_order_relaxed);
      for (; sources != 0; sources &= sources - 1) f(64 * i + lowest(sources));
    }
  }
  SmSet take(Cycle now) {
    SmSet out;
    take(now, [&](unsigned sender) { out.set(sender); });
    return out;
  }

 private:
  void add(std::atomic<std::uint64_t>& a, std::uint64_t bits) {
    if (shared_) a.fetch_or(bits, std::memory_order_relaxed);
    else a.store(a.load(std::memory_order_relaxed) | bits, std::memory_order_relaxed);
  }
  std::atomic<std::uint64_t>* of(Cycle at) const { return &source_[(at & 63) * words_]; }

  std::atomic<std::uint64_t> occupied_{0};
  std::uint32_t words_;  // of each cycle
  bool shared_ = false;  // more than one thread posts
  std::unique_ptr<std::atomic<std::uint64_t>[]> source_;
};

/// Queue credits handed back, in flits.
using CreditLink = Link<std::uint8_t>;

/// Takes what has arrived by `now`; returns the flits.
inline unsigned take_credits_of(CreditLink& in, Cycle now) {
  unsigned flits = 0;
  for (; in.next_arrival() <= now; in.pop()) flits += in.front();
  return flits;
}

}  // namespace raddle::timing
