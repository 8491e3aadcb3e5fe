// The kernel management unit (KMU): launches of the host and of kernels come to it, each at its
// time, and pend until the dispatch policy lets them into an entry of the kernel distributor. From
// an entry a kernel may begin kernels.entry_latency_cycles later. A launch of a kernel may join
// another one under way instead, if the policy says so. Left out: that pending kernels are in
// memory and how many there can be.
//
// It shares the dispatcher's cycle and is no component of its own: which grid enters and which
// block leaves is one decision of one policy, and both hang on the same ends of blocks. A wire
// between the two would make every entry a window late.
//
// What a window's ends free, the host and the launch trees learn between windows. So that it makes
// no difference who waits, a kernel that takes an entry freed in this window begins in the next one
// at the earliest.
#pragma once
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "raddle/timing/gpu/entries.h"
#include "raddle/timing/gpu/grids.h"
#include "raddle/timing/spec/device_launch_spec.h"
#include "raddle/timing/spec/kernel_spec.h"

namespace raddle::timing {

class Kmu {
 public:
  Kmu(const KernelSpec& spec, const DeviceLaunchSpec& device, Cycle window, Grids& grids,
      Entries& entries, policy::DispatchPolicy& policy, std::string name)
      : entry_latency_(spec.entry_latency_cycles),
        groups_join_(device.model == LaunchModel::Dtbl),
        set_up_(device.buffer_time(1)),
        per_cycle_(device.per_cycle != 0 ? device.per_cycle : ~0u),
        window_(window),
        grids_(grids),
        entries_(entries),
        policy_(policy),
        name_(std::move(name)) {
    RADDLE_ASSERT(window != 0);
  }

  /// Between windows: comes to the unit in cycle `arrival`; when that is over, at once.
  void launch(const GridLaunch& launch, Cycle arrival);
  /// The next launch on its way; kNever: none is. May lie in the past: those before it took all
  /// that arrives in a cycle.
  Cycle next_arrival() const { return on_way_.empty() ? kNever : on_way_.top().arrival; }
  /// The policy is asked in every cycle in which that is so.
  bool can_admit() const { return !pending_.empty() && !entries_.full(); }
  /// One cycle: arrivals, then admissions. Returns the grids that have entered, which are forgotten
  /// by the next call.
  const std::vector<GridId>& tick(Cycle now);
  /// Has a launch by a kernel come? Nothing else waits in queues that overflow into memory.
  bool has_device_launches() const { return has_device_launches_; }
  std::size_t pending() const { return pending_.count(); }
  void describe(std::string& out) const;

 private:
  struct OnWay {
    Cycle arrival;
    std::uint32_t job;
    GridId grid;
    bool operator>(const OnWay& other) const {
      return arrival != other.arrival ? arrival > other.arrival : job > other.job;
    }
  };
  void arrive(GridId id, Cycle now);
  bool join(GridId id, Cycle now);
  bool admit(Cycle now);
  void enter(const policy::GridInfo& info, Cycle begin);
  Cycle search_of(const policy::GridInfo& grid) const;
  Cycle begin_of(const Grid& grid, const Entries::Vacancy& vacancy, Cycle now) const;

  Cycle entry_latency_;
  bool groups_join_;
  Cycle set_up_;             // of a group, at least
  std::uint32_t per_cycle_;  // launches by kernels that arrive in a cycle
  Cycle taken_until_ = 0;    // all that may arrive before has arrived
  Cycle window_;
  Grids& grids_;
  Entries& entries_;
  policy::DispatchPolicy& policy_;
  std::string name_;  // of the policy
  std::priority_queue<OnWay, std::vector<OnWay>, std::greater<>> on_way_;
  GridList pending_;
  std::vector<bool> is_pending_;  // by grid
  bool has_device_launches_ = false;
  bool has_declined_ = false;
  Cycle declined_ = 0;  // when the policy let nobody in, last
  std::vector<GridId> entered_;
};

}  // namespace raddle::timing
