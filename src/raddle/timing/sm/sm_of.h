// An SM with an L1 of one protocol: puts the parts that sm.h lists together, leads them through a
// cycle, and does what instructions do beside writing registers (sm_issue.h). A template, because
// the SM asks its load/store unit in every cycle. Only sm.cpp, which makes the SMs there are,
// includes this.
#pragma once
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "raddle/timing/sm/barriers.h"
#include "raddle/timing/sm/block_stage.h"
#include "raddle/timing/sm/dispatcher_port.h"
#include "raddle/timing/sm/issue_gate.h"
#include "raddle/timing/sm/issue_stage.h"
#include "raddle/timing/sm/lsu.h"
#include "raddle/timing/sm/migration_stage.h"
#include "raddle/timing/sm/scoreboard.h"
#include "raddle/timing/sm/sm.h"
#include "raddle/timing/sm/sm_observation.h"
#include "raddle/timing/sm/stall_account.h"
#include "raddle/timing/sm/tma_unit.h"
#include "raddle/timing/sm/warps_abroad.h"

namespace raddle::timing {

template <L1Protocol L1>
class SmOf final : public Sm {
 public:
  SmOf(const OneSmSpec& spec, const AddressMap& map, const SmPolicies& policies,
       std::uint64_t seed);
  SmPorts& ports() override { return lsu_.ports(); }
  AnswerPorts* answers() override { return lsu_.l1().answers(); }
  BlockStartLink& block_in() override { return dispatcher_.block_in(); }
  BlockEndLink& block_out() override { return dispatcher_.block_out(); }
  void connect_dispatcher(Mailbox& box) override { dispatcher_.connect(box); }
  void set_skip(bool skip) override;
  Cycle next_arrival(Cycle) const override {
    return std::min({inbox(), lsu_.credits_at(), called_});
  }
  void open_window() override {
    dispatcher_next_ = dispatcher_.next_event();
    inbox_next_ = std::min(ports_->from_noc.next_arrival(), dispatcher_next_);
    called_ = kNever;
  }
  void prefetch(Cycle end) const override { lsu_.prefetch_replies(end); }
  void forget_instructions() override { board_.forget_instructions(); }
  Cycle run(Cycle from, Cycle end) override;
  void obey(Cycle at, const policy::Knobs& knobs) override;
  WarpMigration& migration() override { return migration_; }
  stats::SmCounters counters(Cycle at) const override;
  stats::SmCounters counters(Cycle at, unsigned kernel) const override;
  stats::SchedulerCounters scheduler_counters(Cycle at) const override;
  stats::SharingCounters sharing(Cycle at) const override { return lsu_.sharing(at); }
  stats::SharingCounters sharing(Cycle at, unsigned kernel) const override {
    return lsu_.sharing(at, kernel);
  }
  unsigned take_most_mshrs(unsigned kernel) override { return lsu_.l1().max_mshrs().take(kernel); }
  Cycle last_progress(Cycle now) const override {
    return board_.warps().sleeping != 0 ? now : std::max(progress_, migration_.last_progress());
  }
  unsigned resident_warps(TenantId tenant) const override {
    return static_cast<unsigned>(std::popcount(board_.warps().of_tenant[raddle::index(tenant)]));
  }
  unsigned schedulers() const override { return issue_.schedulers().count(); }
  policy::WarpPolicy& policy(unsigned scheduler) override {
    return issue_.schedulers().policy(scheduler);
  }
  policy::ThrottlePolicy* throttle() const override { return gate_.throttle(); }
  policy::ReplacementPolicy* replacement() const override { return lsu_.l1().replacement(); }
  policy::BypassPolicy* bypass() const override { return lsu_.l1().bypass(); }
  bool idle() const override { return board_.warps().resident == 0 && lsu_.idle() && tma_.idle(); }
  std::vector<std::string> audit() const override;
  std::vector<DeviceLaunches>& device_launches() override { return device_launches_; }
  void observe(policy::L1Observer& observer) override { lsu_.observe(observer); }
  void keep_profile(const SamplingTimes& samplings) override;
  const InstructionProfile* profile(Cycle at) override {
    if (observation_.profile() != nullptr) see_warps(at);
    return observation_.profile();
  }
  void keep_window(Cycle begin, Cycle end) override;
  const WarpWindow* window(Cycle at) override {
    if (observation_.window() != nullptr) follow_warps(at);
    return observation_.window();
  }
  void notify_progress() override { observation_.keep_progress(); }
  void describe(std::string& out, unsigned maximum) const override;
  void keep_unwritten(const RegionWrites& writes) override;
  std::vector<RegionWrite>& region_writes() override;
  std::uint64_t words_kept() const override;
  void lose(std::uint32_t line, std::uint16_t words) override;

 private:
  template <class Policy>
  void show(Policy& policy);
  /// What becomes of replies.
  struct Arrivals {
    SmOf& sm;
    Cycle now;
    void loaded(const LsuCore::Owner& o) { sm.loaded(now, o); }
    void acknowledged(unsigned w) { sm.acknowledged(now, w); }
    void constant(const LsuCore::Owner& o) { sm.written(now, o.warp, *o.code); }
    void fetched(unsigned id) { sm.dispatcher_.entry_fetched(now, id); }
    void copied(std::uint16_t tag) { sm.copy_answered(now, tag); }
  };

  typename BlockStage<Lsu<L1>>::Parts parts() {
    return {board_, issue_, gate_, observation_, abroad_, dispatcher_, lsu_, counters_};
  }
  Cycle inbox() const {
    return std::min(ports_->from_noc.next_arrival(), dispatcher_.next_event());
  }
  /// Somebody watches, holds warps back or moves them, or nothing is skipped: that changes between
  /// windows only, so a cycle in which nobody does need not ask for each.
  bool has_extras() const {
    return !skip_ || observation_.notes_issues() || gate_.present() || abroad_.allowed();
  }
  template <bool kExtras>
  Cycle step(Cycle now);
  bool serve(Cycle now);
  template <bool kExtras>
  Cycle next_event(Cycle now) const;
  /// Out of line: in `tick`, where gcc sometimes puts it, runs take 1 % more instructions.
  [[gnu::noinline]] void drain_inbox(Cycle now);
  // completions (sm.cpp)
  [[gnu::always_inline]] void run_events(Cycle now);
  void loaded(Cycle now, const LsuCore::Owner& owner);
  void acknowledged(Cycle now, unsigned w);
  void written(Cycle now, unsigned w, const DecodedInst& in);
  // issue (sm_issue.h)
  template <bool kExtras>
  bool issue(Cycle now);
  template <bool kExtras>
  void issue_warp(Cycle now, unsigned scheduler, unsigned w);
  void advance(Cycle now, Cycle from, unsigned w);
  void perform(Cycle now, unsigned w, const DecodedInst& in);
  void to_lsu(Cycle now, unsigned w, const DecodedInst& in);
  std::uint32_t local_base(unsigned w) const;
  void fall_asleep(Cycle now, unsigned w, const DecodedInst& in);
  void call_device_runtime(Cycle now, unsigned w, const DecodedInst& in);
  // what runs beside warps (sm_copies.h)
  void end_group(unsigned w, Beside group);
  void issue_copy(Cycle now, unsigned w, const DecodedInst& in);
  bool make_copies(Cycle now);
  Cycle next_copy(Cycle now) const;
  void copy_answered(Cycle now, std::uint16_t tag);
  void copy_over(Cycle now, unsigned number);
  void over_beside(Cycle now, AsyncGroups::Kind kind, unsigned w, std::uint8_t group);
  // the profile and the window (sm.cpp)
  void see_warps(Cycle now);
  void follow_warps(Cycle now);
  unsigned state(unsigned w) const;

  Scoreboard board_;
  IssueStage issue_;
  IssueGate gate_;
  bool skip_ = true;
  Cycle inbox_next_ = kNever;
  Cycle dispatcher_next_ = kNever;  // of the two that inbox_next_ is made of; few cycles have it
  Cycle called_ = kNever;           // when something is done to it between windows
  Cycle progress_ = 0;
  SmKernelCounters counters_;
  Lsu<L1> lsu_;
  SmPorts* ports_;  // of lsu_
  TmaUnit tma_;
  BlockTable blocks_;
  DispatcherPort dispatcher_;
  WarpsAbroad abroad_;
  SmObservation observation_;
  BlockStage<Lsu<L1>> block_stage_;
  MigrationStage<Lsu<L1>> migration_;
  std::vector<DeviceLaunches> device_launches_;
  unsigned id_;
  std::uint32_t line_bytes_, core_clock_mhz_;
  DeviceLaunchSpec device_launch_;
};

}  // namespace raddle::timing
