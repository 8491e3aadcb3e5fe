// An SM as policies see it that is what the test says (policy/sm_view.h).
#pragma once
#include <array>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/policy/sm_view.h"

namespace raddle::test {

class FakeSm final : public policy::SmView {
 public:
  using Wait = policy::WarpWait;
  std::array<policy::WarpFacts, 64> facts{};
  std::array<std::uint64_t, 10> scheduler_cycles{};  ///< by StallReason
  policy::LsuFacts load_store;

  /// The warps wait for that, and for nothing else.
  void wait(std::uint64_t warps, Wait what) {
    for (std::uint64_t& in : in_) in &= ~warps;
    in_[static_cast<unsigned>(what)] |= warps;
  }
  /// They are not there any more.
  void leave(std::uint64_t warps) {
    for (std::uint64_t& in : in_) in &= ~warps;
  }
  /// The warp issues an instruction and goes on at the next.
  void issue(unsigned slot, Cycle now) {
    ++facts[slot].issued;
    facts[slot].last_issue = now;
    if (facts[slot].next + 1 < facts[slot].code_size) ++facts[slot].next;
    if (policy::is_global(facts[slot].kind)) load_store.last_user = slot;
  }

  policy::WarpFacts warp(unsigned slot) const override {
    RADDLE_ASSERT(slot < facts.size());
    return facts[slot];
  }
  std::uint64_t waiting(Wait what) const override { return in_[static_cast<unsigned>(what)]; }
  Cycle waited(unsigned, Wait, Cycle) const override { return 0; }
  std::uint64_t block_issued(unsigned slot) const override {
    std::uint64_t sum = 0;
    for (const policy::WarpFacts& f : facts) sum += f.block_slot == slot ? f.issued : 0;
    return sum;
  }
  Cycle stalled(policy::StallReason why, Cycle) const override {
    return scheduler_cycles[static_cast<unsigned>(why)];
  }
  policy::LsuFacts lsu() const override { return load_store; }

 private:
  std::array<std::uint64_t, policy::kWarpWaits> in_{};
};

}  // namespace raddle::test
