// Everything that happens after a fixed delay inside an SM: write-backs, cache hits, units becoming
// free, barriers opening. One slot per cycle, with room for the two events that most have at most;
// further ones hang together in a pool, and what is freed last is used first, so only as much
// memory is touched as there are events under way.
#pragma once
#include <bit>
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/base/types.h"
#include "raddle/base/zeroed_array.h"

namespace raddle::timing {

/// What happens to whom, in 32 bits.
class Event {
 public:
  enum class Kind : std::uint8_t {
    Write,          ///< a warp's register gets its value
    WriteMultiple,  ///< all destinations of a warp's instruction do
    Transaction,    ///< one line of a load is there
    Resume,         ///< a warp goes on behind a barrier
    Acknowledge,    ///< one of a warp's stores is done
    Fetched,        ///< a warp's next instruction is there
    Foreign,        ///< a warp's access to shared memory is done that is on another SM
  };
  Event() = default;
  static Event write(unsigned warp, unsigned reg) { return {Kind::Write, warp << 8 | reg}; }
  static Event write_multiple(unsigned warp, std::uint32_t inst) {
    return {Kind::WriteMultiple, warp << 20 | inst};
  }
  static Event transaction(unsigned load) { return {Kind::Transaction, load}; }
  static Event resume(unsigned warp) { return {Kind::Resume, warp}; }
  static Event acknowledge(unsigned warp) { return {Kind::Acknowledge, warp}; }
  static Event fetched(unsigned warp) { return {Kind::Fetched, warp}; }
  static Event foreign() { return {Kind::Foreign, 0}; }

  Kind kind() const { return static_cast<Kind>(bits_ >> kShift); }
  unsigned warp() const {
    return kind() == Kind::Write           ? payload() >> 8
           : kind() == Kind::WriteMultiple ? payload() >> 20
                                           : payload();
  }
  unsigned reg() const { return bits_ & 0xff; }
  std::uint32_t inst() const { return bits_ & 0xfffff; }
  unsigned load() const { return payload(); }

 private:
  Event(Kind kind, std::uint32_t payload)
      : bits_(static_cast<std::uint32_t>(kind) << kShift | payload) {}
  static constexpr unsigned kShift = 29;
  std::uint32_t payload() const { return bits_ & ((1u << kShift) - 1); }
  std::uint32_t bits_ = 0;
};

class EventWheel {
 public:
  static constexpr unsigned kHorizon = 1024;  ///< delays are shorter than this
  static constexpr unsigned kUnitBits = 32;   ///< of push_unit()

  /// At most `capacity` events under way.
  explicit EventWheel(unsigned capacity) : slots_(kHorizon), nodes_(capacity + 1) {
    RADDLE_ASSERT(capacity < 0xffff);
  }
  /// Preconditions: now < at < now + kHorizon.
  [[gnu::always_inline]] void push(Cycle at, Event event) {
    Slot& slot = slots_[at % kHorizon];
    if (slot.near_events < kNear) [[likely]]
      slot.near[slot.near_events++] = event;
    else push_far(slot, event);
    mark(at);
  }
  /// Same precondition. One bit per unit; each is set at most once in a slot.
  void push_unit(Cycle at, unsigned unit_bit) {
    slots_[at % kHorizon].units |= 1u << unit_bit;
    mark(at);
  }
  bool due(Cycle now) const { return (occupied_[word(now)] >> (now & 63) & 1) != 0; }
  /// First cycle at or after `from` with an event; kNever when there is none.
  Cycle next(Cycle from) const {
    unsigned w = word(from), bit = from & 63;
    if (std::uint64_t here = occupied_[w] & ~0ull << bit; here != 0)
      return from + lowest(here) - bit;
    auto later = std::rotr(occupied_words_, static_cast<int>(w + 1));
    if (later == 0) return kNever;
    unsigned k = lowest(later);
    return from + (64 - bit) + 64 * k + lowest(occupied_[(w + 1 + k) % kWords]);
  }
  /// Takes out all events of `now`: units(mask) once if any, event(e) for each, the last pushed
  /// first.
  template <class Units, class OnEvent>
  [[gnu::always_inline]] void take(Cycle now, Units units, OnEvent on_event) {
    std::uint64_t& bits = occupied_[word(now)];
    bits &= ~(1ull << (now & 63));
    if (bits == 0) occupied_words_ &= static_cast<std::uint16_t>(~(1u << word(now)));
    Slot slot = slots_[now % kHorizon];
    slots_[now % kHorizon] = {};
    if (slot.units != 0) units(slot.units);
    while (slot.near_events != 0) {
      const Event event = slot.first != 0 ? pop_far(slot) : slot.near[--slot.near_events];
      on_event(event);
    }
  }

 private:
  static constexpr unsigned kWords = kHorizon / 64;
  static_assert(kWords == 16);
  struct Node {
    Event event;
    std::uint16_t next = 0;
  };
  static constexpr unsigned kNear = 2;
  struct Slot {
    std::uint32_t units = 0;
    std::uint16_t first = 0;  // of those that came when `near` was full
    std::uint16_t near_events = 0;
    Event near[kNear];
  };
  [[gnu::noinline]] void push_far(Slot& slot, Event event) {
    const std::uint16_t n = free_;
    if (n == fresh_) {
      RADDLE_ASSERT(n < nodes_.size());
      free_ = ++fresh_;
    } else {
      free_ = nodes_[n].next;
    }
    nodes_[n] = {event, slot.first};
    slot.first = n;
  }
  Event pop_far(Slot& slot) {
    const std::uint16_t n = slot.first;
    Node& node = nodes_[n];
    slot.first = node.next;
    node.next = free_;
    free_ = n;
    return node.event;
  }
  static unsigned word(Cycle at) { return static_cast<unsigned>(at / 64 % kWords); }
  [[gnu::always_inline]] void mark(Cycle at) {
    occupied_[word(at)] |= 1ull << (at & 63);
    occupied_words_ |= static_cast<std::uint16_t>(1u << word(at));
  }
  std::uint16_t occupied_words_ = 0;
  std::uint16_t free_ = 1;   // the node that is used next
  std::uint16_t fresh_ = 1;  // from here on none has ever been used
  std::uint64_t occupied_[kWords] = {};
  ZeroedArray<Slot> slots_;
  ZeroedArray<Node> nodes_;  // [0] is nobody
};

}  // namespace raddle::timing
