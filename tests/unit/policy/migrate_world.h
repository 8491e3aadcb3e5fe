// A machine that is only numbers, for policies of level "migrate".
#pragma once
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "raddle/policy/migrate/policy.h"
#include "support/settings.h"

namespace raddle::policy::migrate_test {

/// SM 4 in the middle of 3 x 3, and its neighbours.
constexpr unsigned kMiddle = 4, kEastOf = 5, kNorthOf = 1, kWestOf = 3, kSouthOf = 7;

struct Sm {
  std::vector<PendingMiss> unsent, outstanding;
  std::map<unsigned, WarpState> warps;
  std::set<unsigned> stay;  ///< that the machine cannot move
  bool has_room = true;
  unsigned outgoing = 0;
};

class World final : public MigrateView {
 public:
  Cycle at = 0;
  std::array<std::uint16_t, 9> taken{};
  std::array<Sm, 9> sms;

  Cycle now() const override { return at; }
  std::span<const std::uint16_t> mshrs() const override { return taken; }
  bool miss(unsigned sm, const MissPlace& place, PendingMiss& out) const override {
    const auto& all = place.among == Misses::Unsent ? sms[sm].unsent : sms[sm].outstanding;
    if (place.position >= all.size()) return false;
    out = place.from == MissesFrom::Oldest ? all[place.position]
                                           : all[all.size() - 1 - place.position];
    return true;
  }
  WarpMask resident(unsigned sm) const override {
    WarpMask out = 0;
    for (const auto& [slot, state] : sms[sm].warps) out |= WarpMask{1} << slot;
    return out;
  }
  WarpState warp(unsigned sm, unsigned slot) const override { return sms[sm].warps.at(slot); }
  bool may_leave(unsigned sm, unsigned slot) const override { return !sms[sm].stay.contains(slot); }
  bool fits(unsigned, std::span<const unsigned>, unsigned to) const override {
    return sms[to].has_room;
  }
  unsigned outgoing(unsigned sm) const override { return sms[sm].outgoing; }
  std::span<const std::uint32_t> changed() const override {
    static constexpr std::array<std::uint32_t, 9> kAll = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    if (only_changed.empty()) return kAll;
    return only_changed;
  }
  void move(const Migration& migration) override {
    moves.push_back(migration);
    if (!carries) return;
    auto& from = sms[migration.sm].warps;
    const WarpState state = from.at(migration.slot);
    from.erase(migration.slot);
    unsigned free = 0;
    auto& to = sms[migration.to].warps;
    while (to.contains(free)) ++free;
    to[free] = {state.converged, state.awaited, true, at};
  }
  std::vector<Migration> moves;
  bool carries = false;                     ///< warps that move are then where they went
  std::vector<std::uint32_t> only_changed;  ///< empty: all
};

/// Names and values of the statistics.
class Read final : public test::NoFields {
 public:
  using NoFields::field;
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    values[std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> values;
};

inline std::vector<Neighbours> three_by_three() {
  std::vector<Neighbours> out;
  for (unsigned sm = 0; sm < 9; ++sm) {
    Neighbours n = {kNoSm, kNoSm, kNoSm, kNoSm};
    if (sm % 3 != 2) n[0] = sm + 1;
    if (sm >= 3) n[1] = sm - 3;
    if (sm % 3 != 0) n[2] = sm - 1;
    if (sm < 6) n[3] = sm + 3;
    out.push_back(n);
  }
  return out;
}

}  // namespace raddle::policy::migrate_test
