// The request queue of a DRAM channel: slots, who sent what is in them, in which order it came, and
// how many of the requests are writes. It knows the rank that a scheme has given each tenant, since
// every request carries that of its tenant, but neither banks nor time.
//
// Contract: insert() needs a free slot and returns which one it took, the lowest; the slot is the
// request's name until remove(). What a slot held stays readable until the next insert().
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "raddle/base/age.h"
#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/timing/dram/request.h"

namespace raddle::timing {

class DramQueue {
 public:
  static constexpr unsigned kSlots = 128;
  struct alignas(32) Slot {  // two to a line of the host
    Cycle since = 0;
    std::uint64_t queued = 0;  ///< memory cycle of arrival
    std::uint32_t column = 0;
    DramRequest request;
  };

  explicit DramQueue(unsigned capacity) : capacity_(capacity) {
    RADDLE_ASSERT(capacity >= 1 && capacity <= kSlots);
  }
  unsigned capacity() const { return capacity_; }
  unsigned size() const { return size_; }
  bool empty() const { return size_ == 0; }
  unsigned free_slots() const { return capacity_ - size_; }
  unsigned writes_queued() const { return writes_queued_; }

  /// Precondition: free_slots() > 0.
  unsigned insert(const Slot& request, unsigned bank) {
    RADDLE_ASSERT(size_ < capacity_);
    const unsigned e =
        used_.word(0) != ~0ull ? lowest(~used_.word(0)) : 64 + lowest(~used_.word(1));
    const DramRequest& r = request.request;
    slot_[e] = request;
    tag_[e] = {.sm = r.sm,
               .kernel = r.kernel,
               .write = r.write,
               .bank = static_cast<std::uint8_t>(bank),
               .tenant = TenantId{r.tenant},
               .rank = rank_[r.tenant],
               .core_rank = r.core_rank};
    used_.set(e);
    age_.insert(e);
    ++size_;
    if (r.write) {
      writes_.set(e);
      ++writes_queued_;
    }
    return e;
  }
  void remove(unsigned e) {
    RADDLE_ASSERT(used_.test(e));
    if (writes_.test(e)) --writes_queued_;
    used_.clear(e);
    writes_.clear(e);
    age_.remove(e);
    --size_;
  }
  const Slot& operator[](unsigned e) const { return slot_[e]; }
  const policy::DramTag& tag(unsigned e) const { return tag_[e]; }
  std::span<const policy::DramTag, kSlots> tags() const { return tag_; }
  const AgeMatrix128& age() const { return age_; }
  const Mask128& used() const { return used_; }
  const Mask128& writes() const { return writes_; }
  /// Precondition: !empty().
  unsigned oldest() const { return age_.oldest(used_); }

  /// The ranks of tenants hold from now on, also for what waits.
  void obey(const policy::Knobs& knobs) {
    ranked_ = false;
    for (unsigned t = 0; t < kMaxTenants; ++t) {
      rank_[t] = knobs.tenant[t].dram_rank;
      ranked_ = ranked_ || rank_[t] != rank_[0];
    }
    used_.each([this](unsigned e) { tag_[e].rank = rank_[index(tag_[e].tenant)]; });
  }
  /// Tenants have different ranks.
  bool ranked() const { return ranked_; }

 private:
  std::array<Slot, kSlots> slot_;
  std::array<policy::DramTag, kSlots> tag_{};
  AgeMatrix128 age_;
  Mask128 used_, writes_;
  unsigned capacity_, size_ = 0, writes_queued_ = 0;
  bool ranked_ = false;
  std::array<std::uint8_t, kMaxTenants> rank_{};
};

}  // namespace raddle::timing
