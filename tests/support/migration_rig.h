// Warps that leave one SM and arrive at another: two real SMs, each with a mock memory of its own,
// and what carries warps and messages between them at no cost.
#pragma once
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "support/sm_harness.h"

namespace raddle::support {

using timing::ExportRefusal;
using timing::ImportRefusal;
using timing::Occupancy;
using timing::WarpContext;

/// Registers and threads of the blocks of these tests, as a dispatcher counts them.
inline timing::BlockNeeds needs_of(const Recording& r, const timing::SmSpec& sm, unsigned warps) {
  const std::uint32_t per_warp = (r.code().registers_per_thread * kLanes + sm.register_unit - 1) /
                                 sm.register_unit * sm.register_unit;
  return {warps * kLanes, warps, per_warp * warps, 0};
}

class Neighbours {
 public:
  using Shared = policy::Passage::Shared;
  explicit Neighbours(const timing::MachineSpec& machine, Shared shared = Shared::Forbid)
      : home(machine),
        guest(machine, "oldest", nullptr, 1),
        home_account(machine.sm),
        guest_account(machine.sm),
        sm_(machine.sm) {
    home.sm().migration().allow(board_, nullptr, shared);
    guest.sm().migration().allow(board_, nullptr, shared);
  }
  void start(Recording& r, unsigned warps, std::uint32_t block = 0) {
    const unsigned slot = home_account.reserve(needs_of(r, sm_, warps));
    home.start_block(now, r, block, slot);
  }
  void run(Cycle end) {
    while (now < end) step();
  }
  void step() {
    home.run(now + 1);
    guest.run(now + 1);
    ++now;
    for (const timing::WarpEnded& e : guest.sm().migration().ended_here()) {
      ended_abroad.push_back(e);
      guest_account.release_beside(e.needs);
      home.sm().migration().warp_ended_abroad(now, e);
    }
    guest.sm().migration().ended_here().clear();
    const auto to_home = std::exchange(guest.sm().migration().calls(), {});
    const auto to_guest = std::exchange(home.sm().migration().calls(), {});
    for (const timing::HomeCall& call : to_home) home.sm().migration().take_call(now, call);
    for (const timing::HomeCall& call : to_guest) guest.sm().migration().take_call(now, call);
    for (; released_ < home.ended().size(); ++released_)
      home_account.release(home.ended()[released_].slot);
  }
  ExportRefusal may_leave(unsigned warp) { return home.sm().migration().may_export(warp); }
  WarpContext leave(unsigned warp) {
    WarpContext context = home.sm().migration().export_warp(now, warp);
    home_account.release_part(context.home.slot, context.needs);
    return context;
  }
  /// The guest's slot.
  unsigned arrive(const WarpContext& context) {
    EXPECT_EQ(guest.sm().migration().may_import(context), ImportRefusal::None);
    guest_account.reserve_beside(context.needs);
    return guest.sm().migration().import_warp(now, context);
  }
  unsigned move(unsigned warp) { return arrive(leave(warp)); }
  std::uint64_t issued() const { return home.counters().issued + guest.counters().issued; }
  /// Nothing is under way anywhere, every law holds and every context has been given back.
  void expect_all_over(const timing::SmSpec& sm) {
    EXPECT_TRUE(home.sm().idle());
    EXPECT_TRUE(guest.sm().idle());
    EXPECT_EQ(home.sm().audit(), std::vector<std::string>{});
    EXPECT_EQ(guest.sm().audit(), std::vector<std::string>{});
    EXPECT_EQ(home_account.free(), Occupancy(sm).free());
    EXPECT_EQ(guest_account.free(), Occupancy(sm).free());
  }
  Cycle now = 0;
  SmHarness home, guest;
  Occupancy home_account, guest_account;
  std::vector<timing::WarpEnded> ended_abroad;

 private:
  timing::SmSpec sm_;
  timing::MigrationBoard board_{2};
  std::size_t released_ = 0;
};

class SmMigration : public ::testing::Test {
 protected:
  timing::MachineSpec machine = small_machine();
  Code code;
};

}  // namespace raddle::support
