// When each bank of a channel is to be looked at again: a wheel of 64 memory cycles, each with its
// set of banks. What lies beyond is looked at (in vain) when the wheel has come round. The next
// cycle with a bank is a count of zeros, and only the banks concerned are visited.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "raddle/base/mask.h"
#include "raddle/base/types.h"

namespace raddle::timing {

class BankTimers {
 public:
  static constexpr unsigned kReach = 64, kBanks = 64;

  BankTimers() { slot_.fill(kNone); }
  /// The first cycle with a bank.
  std::uint64_t next() const { return next_; }
  /// Takes out the banks whose time has come up to `m`; the wheel then stands at `m`. Never goes
  /// back.
  std::uint64_t expire(std::uint64_t m) {
    std::uint64_t banks = 0;
    while (next_ <= m) {
      banks |= bank_[next_ % kReach];
      clear(next_ % kReach);
    }
    base_ = m;
    for (std::uint64_t left = banks; left != 0; left &= left - 1) slot_[lowest(left)] = kNone;
    return banks;
  }
  /// Replaces the bank's time. Precondition: `at` is after the last expire().
  void set(unsigned bank, std::uint64_t at) {
    unset(bank);
    at = std::min(at, base_ + kReach);
    const auto slot = static_cast<std::uint8_t>(at % kReach);
    slot_[bank] = slot;
    bank_[slot] |= 1ull << bank;
    used_ |= 1ull << slot;
    next_ = std::min(next_, at);
  }
  /// As set(), unless the bank's time is earlier.
  void set_no_later(unsigned bank, std::uint64_t at) {
    if (slot_[bank] == kNone || (slot_[bank] - base_ - 1) % kReach > at - base_ - 1) set(bank, at);
  }
  void unset(unsigned bank) {
    const std::uint8_t slot = slot_[bank];
    if (slot == kNone) return;
    slot_[bank] = kNone;
    bank_[slot] &= ~(1ull << bank);
    if (bank_[slot] == 0) clear(slot);
  }

 private:
  static constexpr std::uint8_t kNone = 255;
  void clear(std::uint64_t slot) {
    bank_[slot] = 0;
    used_ &= ~(1ull << slot);
    if (next_ % kReach != slot) return;
    const auto turned = std::rotr(used_, static_cast<int>((base_ + 1) % kReach));
    next_ = used_ == 0 ? kNever : base_ + 1 + lowest(turned);
  }

  std::uint64_t base_ = 0, used_ = 0, next_ = kNever;
  std::array<std::uint64_t, kReach> bank_{};
  std::array<std::uint8_t, kBanks> slot_;
};

}  // namespace raddle::timing
