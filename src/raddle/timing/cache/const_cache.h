// First-level constant cache of an SM: read-only, LRU, misses merged in MSHRs of its own and sent
// to the L2 through the load/store unit's miss queue. A kernel finds its own bank absent.
//
// The op stream does not say which constants are read, only how many distinct addresses a warp
// reads. So the k-th constant load of a kernel's code is taken to read byte 8 k of the kernel's
// bank, always: true for parameters, which are laid out and read in order, and optimistic for
// tables, which count as one place for each load in the code. What the model gives is the cold
// start of a kernel on every SM, and the contention of kernels that share an SM.
#pragma once
#include <cstdint>

#include "raddle/base/limits.h"
#include "raddle/timing/cache/mshr.h"
#include "raddle/timing/cache/tags.h"
#include "raddle/timing/spec/address_regions.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/message.h"

namespace raddle::timing {

/// Waiter: whom to tell when a constant has come.
template <class Waiter>
class ConstCache {
 public:
  enum class Outcome : std::uint8_t { Hit, PendingHit, Miss, NoMshr, NoMerge, CannotSend };
  struct Answer {
    Outcome outcome;
    Message request;  ///< Miss: to be sent, but for sm and tag; tag is the MSHR
  };
  static constexpr unsigned kBankBytes = 65536;

  explicit ConstCache(const ConstantsSpec& constants)
      : spec_(constants.cache),
        line_bytes_(constants.line_bytes),
        sector_bytes_(constants.sector_bytes),
        sets_(present() ? spec_.sets() : 1),
        tags_(sets_.value(), spec_.ways),
        mshrs_(spec_.mshr_entries, spec_.mshr_merges) {}
  bool present() const { return spec_.present(); }

  /// A load of the bank of launch slot `kernel`.
  Answer load(unsigned kernel, unsigned offset, bool can_send, const Waiter& waiter) {
    const std::uint32_t line = (kernel * kBankBytes + offset) / spec_.line_bytes;
    if (const unsigned at = tags_.find(set_of(line), line); at != Tags::kAbsent) {
      tags_.touch(at);
      return {Outcome::Hit, {}};
    }
    unsigned m = mshrs_.find(line);
    if (m != mshrs_.kNone) {
      if (!mshrs_.can_merge(m)) return {Outcome::NoMerge, {}};
      mshrs_.wait(m, 1, waiter);
      return {Outcome::PendingHit, {}};
    }
    if (mshrs_.full()) return {Outcome::NoMshr, {}};
    if (!can_send) return {Outcome::CannotSend, {}};
    return {Outcome::Miss, request(line, mshrs_.add(line, 1, waiter), kernel)};
  }
  template <class Done>
  void fill(unsigned mshr, Done done) {
    const std::uint32_t line = mshrs_.line(mshr);
    tags_.fill(set_of(line), line, 1, 0);
    mshrs_.arrive(mshr, 1, done);
  }
  /// A kernel starts: what is left of the slot's former bank goes.
  void forget(unsigned kernel) {
    tags_.each([&](unsigned at) {
      if (tags_.line(at) / (kBankBytes / spec_.line_bytes) == kernel) tags_.invalidate(at);
    });
  }
  unsigned missing_lines() const { return mshrs_.used(); }

 private:
  static_assert(kConstBase + Address{kKernelSlots} * kBankBytes <= 0x40'0000'0000ull);
  unsigned set_of(std::uint32_t line) const { return line - sets_.quotient(line) * sets_.value(); }
  Message request(std::uint32_t line, unsigned mshr, unsigned kernel) const {
    const Address at = kConstBase + Address{line} * spec_.line_bytes;
    Message m;
    m.line = static_cast<std::uint32_t>(at / line_bytes_);
    for (Address byte = at; byte < at + spec_.line_bytes; byte += sector_bytes_)
      m.sectors |= static_cast<std::uint8_t>(1u << byte % line_bytes_ / sector_bytes_);
    m.tag = static_cast<std::uint16_t>(mshr);
    m.kernel = static_cast<std::uint8_t>(kernel);
    return m;
  }
  ConstCacheSpec spec_;
  std::uint32_t line_bytes_, sector_bytes_;
  Divisor sets_;
  Tags tags_;
  Mshrs<Waiter> mshrs_;
};

}  // namespace raddle::timing
