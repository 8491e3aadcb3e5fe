// An SM with an L1 of one protocol: what sm.h describes, as one class. A template, because the SM
// asks its load/store unit in every cycle. Definitions of its members are in sm.cpp, sm_issue.h,
// sm_migration.h, sm_home_calls.h and sm_describe.h; only sm.cpp, which makes the SMs there are,
// includes these.
#pragma once
#include <algorithm>
#include <bit>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "raddle/timing/sm/active_blocks.h"
#include "raddle/timing/sm/barriers.h"
#include "raddle/timing/sm/front_end.h"
#include "raddle/timing/sm/issue_quota.h"
#include "raddle/timing/sm/lsu.h"
#include "raddle/timing/sm/schedulers.h"
#include "raddle/timing/sm/sm.h"
#include "raddle/timing/sm/stall_account.h"
#include "raddle/timing/sm/throttle_gate.h"
#include "raddle/timing/sm/units.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

template <L1Protocol L1>
class SmOf final : public Sm {
 public:
  SmOf(const OneSmSpec& spec, const AddressMap& map, const SmPolicies& policies,
       std::uint64_t seed);
  SmPorts& ports() override { return lsu_.ports(); }
  AnswerPorts* answers() override { return lsu_.l1().answers(); }
  BlockStartLink& block_in() override { return block_in_; }
  BlockEndLink& block_out() override { return block_out_; }
  void connect_dispatcher(Mailbox& box) override { dispatcher_box_ = &box; }
  void set_skip(bool skip) override;
  Cycle next_arrival(Cycle) const override {
    return std::min({inbox(), lsu_.credits_at(), called_});
  }
  void open_window() override {
    inbox_next_ = inbox();
    called_ = kNever;
  }
  void prefetch(Cycle end) const override { lsu_.prefetch_replies(end); }
  void forget_instructions() override { front_end_.forget(); }
  Cycle tick(Cycle now) override;
  void obey(Cycle at, const policy::Knobs& knobs) override;
  void allow_migration(MigrationBoard& board, SegmentQueue* leaving,
                       policy::Passage::Shared shared) override;
  void segments_wait(Cycle now) override { called_ = now; }
  WarpMask resident() const override { return warps_.resident; }
  policy::WarpState state_of(unsigned warp) const override;
  bool is_home_of(unsigned warp, unsigned sm) const override;
  BlockNeeds context_needs(unsigned warp) const override;
  bool miss(const policy::MissPlace& place, policy::PendingMiss& out) override {
    return lsu_.miss(place, out);
  }
  ExportRefusal may_export(unsigned warp) const override;
  WarpContext export_warp(Cycle now, unsigned warp) override;
  ImportRefusal may_import(const WarpContext& context) const override;
  unsigned import_warp(Cycle now, const WarpContext& context) override;
  std::vector<WarpEnded>& ended_here() override { return ended_here_; }
  std::vector<HomeCall>& calls() override { return calls_; }
  void take_call(Cycle now, const HomeCall& call) override;
  void warp_ended_abroad(Cycle now, const WarpEnded& ended) override;
  const MigrationCounters& migration() const override { return migration_; }
  stats::SmCounters counters(Cycle at) const override;
  stats::SmCounters counters(Cycle at, unsigned kernel) const override;
  stats::SchedulerCounters scheduler_counters(Cycle at) const override;
  stats::SharingCounters sharing(Cycle at) const override { return lsu_.sharing(at); }
  stats::SharingCounters sharing(Cycle at, unsigned kernel) const override {
    return lsu_.sharing(at, kernel);
  }
  unsigned take_most_mshrs(unsigned kernel) override { return lsu_.l1().most_mshrs().take(kernel); }
  Cycle last_progress(Cycle now) const override { return warps_.sleeping != 0 ? now : progress_; }
  unsigned resident_warps(TenantId tenant) const override {
    return static_cast<unsigned>(std::popcount(warps_.of_tenant[raddle::index(tenant)]));
  }
  unsigned schedulers() const override { return schedulers_.count(); }
  policy::WarpPolicy& policy(unsigned scheduler) override { return schedulers_.policy(scheduler); }
  policy::ThrottlePolicy* throttle() const override { return throttle_.policy(); }
  policy::ReplacementPolicy* replacement() const override { return lsu_.l1().replacement(); }
  policy::BypassPolicy* bypass() const override { return lsu_.l1().bypass(); }
  bool idle() const override { return warps_.resident == 0 && lsu_.idle(); }
  std::vector<std::string> audit() const override;
  std::vector<DeviceLaunches>& device_launches() override { return device_launches_; }
  void observe(policy::L1Observer& observer) override { lsu_.observe(observer); }
  void keep_profile(const LookTimes& looks) override;
  const InstructionProfile* profile(Cycle at) override {
    if (profile_ != nullptr) see_warps(at);
    return profile_.get();
  }
  void tell_progress() override;
  void describe(std::string& out, unsigned most) const override;
  void keep_unwritten(const RegionWrites& writes) override;
  std::vector<RegionWrite>& region_writes() override;
  std::uint64_t words_kept() const override;
  void lose(std::uint32_t line, std::uint16_t words) override;

 private:
  template <class Policy>
  void show(Policy& policy);
  /// Why a scheduler does not issue, and the warps that are nearest to ready; none when idle.
  struct Wait {
    stats::Stall why;
    WarpMask nearest;
  };
  /// What becomes of replies.
  struct Arrivals {
    SmOf& sm;
    Cycle now;
    void loaded(const LsuCore::Owner& o) { sm.loaded(now, o); }
    void acknowledged(unsigned w) { sm.acknowledged(now, w); }
    void constant(const LsuCore::Owner& o) { sm.constant(now, o); }
    void fetched(unsigned id) { sm.fetched(now, id); }
  };

  Cycle inbox() const {
    return std::min({ports_->from_noc.next_arrival(), block_in_.next_arrival(), queue_retry_});
  }
  Cycle next_event(Cycle now) const;
  // arrivals (sm.cpp)
  void drain_inbox(Cycle now);
  void start_block(Cycle now, const BlockStart& start);
  void send_queue_accesses(Cycle now);
  void fetched(Cycle now, unsigned id);
  void start_warp(Cycle now, unsigned slot, unsigned index, unsigned lanes);
  void count_warps(Cycle now) { stalls_.count_warps(now, warps_.running(), throttle_.no_load()); }
  void ask_throttle(Cycle now);
  void take_over(Cycle now, const ThrottleGate::Answer& answer);
  void hold_inactive(Cycle now);
  void renew_quota(Cycle now);
  // completions (sm.cpp)
  void run_events(Cycle now);
  void loaded(Cycle now, const LsuCore::Owner& owner);
  void acknowledged(Cycle now, unsigned w);
  void constant(Cycle now, const LsuCore::Owner& owner);
  void register_written(Cycle now, unsigned w, unsigned reg);
  void registers_written(Cycle now, unsigned w, const DecodedInst& in);
  void resume(Cycle now, unsigned w);
  // the end of a warp (sm.cpp)
  void end_stream(Cycle now, unsigned w);
  void end_if_drained(Cycle now, unsigned w);
  void end_warp(Cycle now, unsigned w);
  void end_block(Cycle now, unsigned slot);
  // warps of blocks elsewhere (sm_migration.h)
  bool is_adopted(unsigned w) const { return has(adopted_, w); }
  std::uint32_t block_id(unsigned w) const {
    return is_adopted(w) ? homes_[w].block : blocks_[warps_[w].block].id;
  }
  bool enter_arriving(Cycle now);
  static void expect_load(Warp& warp, const DecodedInst& in);
  void end_adopted(Cycle now, unsigned w);
  // barriers and shared memory of warps that are abroad (sm_home_calls.h)
  HomeCall call_of(unsigned w, HomeCall::Kind kind) const;
  void tell(const HomeCall& call);
  void access_at_home(unsigned w, const DecodedInst& in);
  bool enter_foreign();
  void foreign_served();
  void accessed_at_home(Cycle now, const HomeCall& call);
  // the next instruction of a warp (sm_issue.h)
  void advance(Cycle now, Cycle from, unsigned w);
  void fetch_next(Cycle now, Cycle from, unsigned w, const DecodedInst* before);
  void refill_buffer(Cycle from, unsigned w);
  void present_from(Cycle from, Cycle at, unsigned w);
  void present_next(unsigned w);
  void check_hazards(unsigned w);
  void recheck_hazards(Cycle now, unsigned w);
  // issue (sm_issue.h)
  bool issue(Cycle now);
  void stalled(Cycle now, unsigned scheduler, const Wait& wait);
  Wait reason(unsigned scheduler, WarpMask open, WarpMask held) const;
  void issue_warp(Cycle now, unsigned scheduler, unsigned w);
  void note_issue(Cycle now, unsigned w, const DecodedInst& in);
  void perform(Cycle now, unsigned w, const DecodedInst& in);
  void write_back(Cycle now, unsigned w, const DecodedInst& in);
  void to_lsu(Cycle now, unsigned w, const DecodedInst& in);
  std::uint32_t local_base(unsigned w) const;
  void arrive_at_barrier(Cycle now, unsigned w);
  Cycle counted_at(Cycle now);
  void open_barrier(Cycle now, unsigned slot, const Opened& opened);
  void fall_asleep(Cycle now, unsigned w, const DecodedInst& in);
  void call_device_runtime(Cycle now, unsigned w, const DecodedInst& in);
  // what policies may know (sm_known.h)
  class Known;
  Known& known();
  // what people may know (sm_describe.h)
  void see_warps(Cycle now);
  unsigned state(unsigned w) const;
  void describe_warp(std::string& out, unsigned w) const;
  void describe_wait(std::string& out, unsigned w) const;
  void describe_barrier(std::string& out, unsigned w) const;

  WarpTable warps_;
  Schedulers schedulers_;
  ExecutionUnits units_;
  ThrottleGate throttle_;
  std::unique_ptr<ActiveBlocks> active_;         // null without a scheme
  std::unique_ptr<IssueQuota> quota_;            // null unless it limits what a tenant issues
  std::unique_ptr<Known> known_;                 // null unless a policy wants to know
  std::unique_ptr<InstructionProfile> profile_;  // null unless it is asked for
  bool notes_issues_ = false;                    // one of these two is there
  bool tells_progress_ = false;                  // ends of blocks say what they have done
  Cycle called_ = kNever;                        // when something is done to it between windows
  StallAccount stalls_;
  FrontEnd front_end_;
  BlockTable blocks_;
  Lsu<L1> lsu_;
  SmPorts* ports_;  // of lsu_
  EventWheel wheel_;

  WarpMask adopted_ = 0;          // warps whose block is on another SM ...
  std::vector<HomeBlock> homes_;  // ... by warp slot: where; empty unless migration is allowed
  std::deque<std::pair<unsigned, PendingLoad>> arriving_;  // by warp, not yet in lsu_
  std::vector<WarpEnded> ended_here_;
  std::vector<GuestWarp> guests_;  // by block slot and index: where a warp is that waits abroad
  std::vector<HomeCall> calls_;
  std::deque<HomeCall> foreign_;     // accesses of warps abroad to shared memory here ...
  std::size_t foreign_entered_ = 0;  // ... of which so many are in the load/store unit
  policy::Passage::Shared shared_ = policy::Passage::Shared::Forbid;
  MigrationBoard* board_ = nullptr;  // null: no warp comes or goes
  Cycle last_tick_ = 0;              // kept where warps come and go
  MigrationCounters migration_;
  std::uint32_t register_unit_;

  WarpMask look_again_ = 0;  // for these warps' schedulers issue() may find another thing than last
  bool skip_ = true;
  Cycle inbox_next_ = kNever;
  std::deque<QueueRequest> queue_requests_;  // of the dispatcher, that have not left ...
  Cycle queue_retry_ = kNever;               // ... until when
  Cycle progress_ = 0;
  SmKernelCounters counters_;
  KernelSet kernels_;  // launch slots that have been here
  std::vector<DeviceLaunches> device_launches_;

  unsigned id_;
  std::uint32_t line_bytes_, core_clock_mhz_, barrier_interval_;
  Cycle barrier_free_ = 0;  // when the next arrival can be counted
  Cycle dispatch_latency_;
  DeviceLaunchSpec device_launch_;
  BlockStartLink block_in_;
  BlockEndLink block_out_;
  Mailbox* dispatcher_box_ = nullptr;
};

}  // namespace raddle::timing
