// The real dispatcher between mock SMs, without warps or memory: trees of launches whose blocks
// hold an SM's resources for random times and launch kernels of their own. The mock SMs keep an
// account each, so a block for which there is no room is noticed here whatever the dispatcher
// believes.
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "raddle/base/rng.h"
#include "raddle/timing/code/occupancy.h"
#include "raddle/timing/gpu/dispatcher.h"
#include "support/machines.h"

namespace raddle::support {

/// A launch, and which of its blocks launch what.
struct PlannedLaunch {
  struct Child {
    std::uint32_t block = 0;  ///< of the parent
    std::uint32_t launch = 0;
  };
  Dim3 grid;
  timing::BlockNeeds needs;
  std::uint32_t depth = 0;
  Cycle at = 0;                        ///< of the host's
  std::optional<std::uint32_t> after;  ///< of the host's: launched when that one has ended
  std::vector<Child> children;
};

/// SMs with few resources and one kernel entry, several or as many as there can be.
inline timing::MachineSpec tight_machine(Rng& rng) {
  timing::MachineSpec machine = small_machine();
  machine.sm.count = 1 + rng.below(6);
  machine.sm.blocks = 1 + rng.below(5);
  machine.sm.registers = 16384;
  machine.sm.shared_kib = 32;
  machine.dispatch_latency_cycles = 1 + rng.below(20);
  constexpr std::array<unsigned, 4> kMaxEntries = {3, 3, 32, kKernelSlots};
  machine.kernels.entries = 1 + rng.below(kMaxEntries[rng.below(kMaxEntries.size())]);
  machine.kernels.entry_latency_cycles = rng.below(3) == 0 ? rng.below(60) : 0;
  machine.kernels.block_interval_millicycles = rng.below(3) == 0 ? 1370 : 1000;
  return machine;
}

/// Roots of the host, some at once, and what descends from them, up to four deep. Every block fits
/// an empty SM.
inline std::vector<PlannedLaunch> random_launches(Rng& rng, const timing::MachineSpec& machine,
                                                  unsigned roots, unsigned maximum) {
  std::vector<PlannedLaunch> all;
  auto add = [&](std::uint32_t depth) {
    PlannedLaunch launch;
    const bool large = rng.below(4) == 0;
    launch.grid = {1 + rng.below(large ? 30 : 5), 1 + rng.below(2), 1};
    const std::uint32_t warps = 1 + rng.below(machine.sm.warps);
    launch.needs = {32 * warps, warps, rng.below(machine.sm.registers + 1),
                    rng.below(3) == 0 ? rng.below(machine.sm.shared_kib * 1024 + 1) : 0};
    launch.depth = depth;
    all.push_back(launch);
  };
  Cycle at = 0;
  for (unsigned i = 0; i < roots; ++i) {
    add(0);
    all.back().at = at;
    at += rng.below(3) == 0 ? rng.below(400) : 0;
  }
  for (std::size_t parent = 0; parent < all.size() && all.size() < maximum; ++parent) {
    if (all[parent].depth == 4) continue;
    const auto blocks = static_cast<std::uint32_t>(all[parent].grid.count());
    for (unsigned n = rng.below(6); n != 0; --n) {
      add(all[parent].depth + 1);
      all[parent].children.push_back(
          {rng.below(blocks), static_cast<std::uint32_t>(all.size() - 1)});
    }
  }
  return all;
}

class DispatchRig {
 public:
  DispatchRig(const timing::MachineSpec& machine, timing::Dispatcher& dispatcher, Cycle window,
              std::vector<PlannedLaunch> launches, std::uint64_t seed)
      : dispatcher_(dispatcher),
        window_(window),
        launches_(std::move(launches)),
        latency_(machine.dispatch_latency_cycles),
        rng_(seed, "blocks") {
    for (unsigned i = 0; i < machine.sm.count; ++i) {
      sms_.push_back(std::make_unique<Sm>(machine.sm));
      sms_.back()->chance = 1 + rng_.below(rng_.below(4) == 0 ? 100 : 10);
      dispatcher_.connect(i, sms_.back()->start, sms_.back()->end);
    }
    for (std::uint32_t i = 0; i < launches_.size(); ++i) {
      seen_.emplace_back(launches_[i].grid.count(), false);
      if (launches_[i].depth == 0 && !launches_[i].after)
        to_launch_.emplace_back(launches_[i].at, Launch{i, {}});
    }
  }

  /// Until all has ended; returns what was wrong, "" if nothing. In every cycle, or only in those
  /// in which the dispatcher can act.
  std::string run(bool every_cycle) {
    for (; ended_ != launches_.size(); ++now_) {
      if (now_ - moved_ > 20'000)
        return "stands still with " + std::to_string(launches_.size() - ended_) + " launches left";
      if (now_ % window_ == 0) pass_launches();
      for (unsigned i = 0; i < sms_.size(); ++i)
        if (std::string broken = serve(i); !broken.empty()) return broken;
      if (every_cycle || std::min(next_, dispatcher_.next_arrival(now_)) <= now_)
        next_ = dispatcher_.tick(now_);
    }
    for (const std::vector<bool>& blocks : seen_)
      if (std::ranges::find(blocks, false) != blocks.end()) return "a block did not go out";
    return "";
  }
  Cycle now() const { return now_; }
  /// Entries of queues that have been in memory.
  std::size_t queue_writes() const { return queue_writes_; }

 private:
  struct Resident {
    std::uint32_t launch = 0, block = 0;
    std::uint8_t slot = 0;  // the dispatcher's
    unsigned held = 0;      // in the account here, which is a latency ahead
  };
  struct Sm {
    explicit Sm(const timing::SmSpec& sm)
        : start(2 * sm.blocks + kQueued), end(2 * sm.blocks + kQueued), room(sm) {}
    static constexpr unsigned kQueued = 64;  // accesses to queues on the wire
    timing::BlockStartLink start;
    timing::BlockEndLink end;
    timing::Occupancy room;
    std::vector<Resident> blocks;
    std::vector<std::uint16_t> fetches;
    unsigned chance = 1;  // a block ends in one cycle out of so many
  };
  struct Launch {
    std::uint32_t launch = 0;
    policy::DeviceParent parent;
  };

  /// As between windows: the management unit is told of what is launched, with its time.
  void pass_launches() {
    for (const timing::Dispatcher::Ended& end : dispatcher_.ended()) {
      if (std::ranges::find(seen_[end.job], false) != seen_[end.job].end()) continue;
      ++ended_;
      moved_ = now_;
      for (std::uint32_t i = 0; i < launches_.size(); ++i)
        if (launches_[i].after == end.job) to_launch_.emplace_back(end.at, Launch{i, {}});
    }
    dispatcher_.ended().clear();
    for (const auto& [at, next] : to_launch_) {
      const PlannedLaunch& plan = launches_[next.launch];
      timing::GridLaunch launch;
      launch.job = next.launch;
      launch.sequence = next.launch;
      launch.name = next.launch % 3 == 0 ? "first" : "second";
      launch.grid = plan.grid;
      launch.needs = plan.needs;
      launch.parent = next.parent;
      dispatcher_.launch(launch, at);
    }
    to_launch_.clear();
  }

  std::string serve(unsigned i) {
    Sm& sm = *sms_[i];
    for (; sm.start.next_arrival() <= now_; sm.start.pop()) {
      const timing::BlockStart start = sm.start.front();
      if (start.launch == nullptr) {
        if (std::string broken = access(sm, start.queue); !broken.empty()) return broken;
        continue;
      }
      const auto launch = static_cast<std::uint32_t>(start.launch->sequence);
      const std::string what = "block " + std::to_string(start.block) + " of launch " +
                               std::to_string(launch) + " on SM " + std::to_string(i);
      if (!sm.room.fits(launches_[launch].needs)) return what + " finds no room";
      if (seen_[launch][start.block]) return what + " comes for the second time";
      seen_[launch][start.block] = true;
      for (const Resident& other : sm.blocks)
        if (other.slot == start.slot) return what + " is sent to a slot that is taken";
      const unsigned held = sm.room.reserve(launches_[launch].needs);
      sm.blocks.push_back({launch, start.block, start.slot, held});
      launch_children(sm.blocks.back(), i);
      moved_ = now_;
    }
    if (!sm.fetches.empty() && rng_.below(3) == 0) {
      sm.end.push(now_ + latency_, {0, true, sm.fetches.back()});
      dispatcher_.box().post(now_ + latency_, i);
      sm.fetches.pop_back();
      moved_ = now_;
    }
    if (sm.blocks.empty() || rng_.below(sm.chance) != 0) return "";
    const std::size_t at = rng_.below(static_cast<std::uint32_t>(sm.blocks.size()));
    const std::uint8_t slot = sm.blocks[at].slot;
    sm.room.release(sm.blocks[at].held);
    sm.blocks.erase(sm.blocks.begin() + static_cast<std::ptrdiff_t>(at));
    timing::BlockEnd end{slot};
    end.progress = {100u + slot, 100u * (i % 5)};
    sm.end.push(now_ + latency_, end);
    dispatcher_.box().post(now_ + latency_, i);
    moved_ = now_;
    return "";
  }

  /// An entry of a queue in memory: what is fetched has been written.
  std::string access(Sm& sm, const timing::QueueRequest& request) {
    if (!request.fetch) {
      ++queue_writes_;
      if (!in_memory_.insert(request.place).second) return "a place in memory is taken";
      return "";
    }
    if (in_memory_.erase(request.place) == 0) return "a place in memory is empty";
    sm.fetches.push_back(request.id);
    return "";
  }

  void launch_children(const Resident& block, unsigned sm) {
    const PlannedLaunch& plan = launches_[block.launch];
    for (const PlannedLaunch::Child& child : plan.children)
      if (child.block == block.block)
        to_launch_.emplace_back(
            now_ + 1 + rng_.below(50),
            Launch{child.launch, {block.launch, block.block, sm, plan.depth + 1}});
  }

  timing::Dispatcher& dispatcher_;
  Cycle window_;
  std::vector<PlannedLaunch> launches_;
  Cycle latency_;
  Rng rng_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<std::pair<Cycle, Launch>> to_launch_;
  std::vector<std::vector<bool>> seen_;  // blocks, by launch
  std::set<std::uint32_t> in_memory_;    // places of queues
  std::size_t ended_ = 0, queue_writes_ = 0;
  Cycle now_ = 0, next_ = 0, moved_ = 0;
};

}  // namespace raddle::support
