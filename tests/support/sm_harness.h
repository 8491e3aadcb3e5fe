// One SM between a mock dispatcher and a mock memory that answers every request after a fixed time.
// Observes what the rest of the machine would: which warp issued when, which message left when.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raddle/policy/all.h"
#include "raddle/timing/sm/sm.h"
#include "raddle/timing/wire/flits.h"
#include "support/machines.h"
#include "support/stream_builder.h"

namespace raddle::support {

struct Issue {
  Cycle at;
  unsigned scheduler, warp;
  bool operator==(const Issue&) const = default;
};

/// A real warp policy whose answers are written down.
class ObservedWarpPolicy final : public policy::Choice<policy::WarpPolicy> {
 public:
  explicit ObservedWarpPolicy(std::string_view name)
      : registries_(policy::all_policies()), inner_(registries_.warp.choose(name)) {}
  std::string_view name() const override { return inner_->name(); }
  std::string_view doc() const override { return inner_->doc(); }
  void visit(FieldVisitor& v) override { inner_->visit(v); }
  std::unique_ptr<policy::WarpPolicy> make(const Context& context) const override {
    return std::make_unique<Observer>(inner_->make(context), context.scheduler, issues);
  }
  /// It is in no registry.
  std::unique_ptr<Choice> fresh() const override { return nullptr; }
  mutable std::vector<Issue> issues;

 private:
  class Observer final : public policy::WarpPolicy {
   public:
    Observer(std::unique_ptr<policy::WarpPolicy> inner, unsigned scheduler,
             std::vector<Issue>& issues)
        : inner_(std::move(inner)), scheduler_(scheduler), issues_(issues) {}
    unsigned pick(const policy::WarpView& view) override {
      unsigned w = inner_->pick(view);
      if (w == kInvalidId) return w;
      issues_.push_back({view.now, scheduler_, w});
      return w;
    }
    void on_warp_start(unsigned slot) override { inner_->on_warp_start(slot); }
    void on_warp_end(unsigned slot) override { inner_->on_warp_end(slot); }
    bool may_decline() const override { return inner_->may_decline(); }
    policy::SmObserver* sm_observer() override { return inner_->sm_observer(); }

   private:
    std::unique_ptr<policy::WarpPolicy> inner_;
    unsigned scheduler_;
    std::vector<Issue>& issues_;
  };
  policy::Registries registries_;
  std::unique_ptr<policy::Choice<policy::WarpPolicy>> inner_;
};

class SmHarness {
 public:
  struct Sent {
    Cycle at;
    timing::Message message;
  };
  struct Ended {
    Cycle at;
    unsigned slot;
  };
  explicit SmHarness(const timing::MachineSpec& machine, std::string_view warp_policy = "oldest",
                     const policy::Choice<policy::ThrottlePolicy>* throttle = nullptr,
                     unsigned id = 0, const policy::Choice<policy::BypassPolicy>* bypass = nullptr)
      : machine_(machine),
        map_(machine),
        policy_(warp_policy),
        made_(timing::make_sm({machine, id}, map_, {policy_, throttle, nullptr, bypass}, 1)),
        sm_(*made_),
        noc_box_(id + 1),
        dispatcher_box_(id + 1) {
    sm_.ports().noc_box = &noc_box_;
    sm_.connect_dispatcher(dispatcher_box_);
  }
  // --- the world around the SM -------------------------------------------------------------------
  Cycle reply_after =
      100;  ///< from departure of a request to arrival of its reply; kNever = no replies
  Cycle credit_after = 40;  ///< kNever = credits never come back
  bool skip = false;

  /// Says what the recording's instructions are on this machine; as they are unless this is called
  /// before its first block.
  void lower(Recording& r, trace::LoweredCode lowered) {
    launches_.push_back(
        std::make_unique<Running>(r, std::move(lowered), machine_.sm, launches_.size()));
    launches_.back()->launch.tenant = tenant;
  }
  /// The block arrives at `at`. The recording must outlive the harness.
  void start_block(Cycle at, Recording& r, std::uint32_t block = 0, unsigned slot = 0) {
    if (launches_.empty() || launches_.back()->launch.stream != &r.stream())
      lower(r, trace::as_it_is(r.code()));
    const timing::Launch* launch = &launches_.back()->launch;
    const bool first = std::exchange(newest_, launch) != launch;
    sm_.block_in().push(at, {launch,
                             block,
                             static_cast<std::uint8_t>(slot),
                             first && machine_.sm.l1d.flush_at_kernel_start,
                             {}});
  }
  /// Of the launches that are made from now on.
  TenantId tenant{};
  void reply(Cycle at, const timing::Message& m) { sm_.ports().from_noc.push(at, m); }

  /// Runs up to (not including) cycle `end`.
  SmHarness& run(Cycle end) {
    sm_.set_skip(skip);
    while (now_ < end) {
      sm_.open_window();
      Cycle next = sm_.tick(now_);
      collect();
      now_ = skip ? std::min(end, std::min(next, std::max(now_ + 1, sm_.next_arrival(now_ + 1))))
                  : now_ + 1;
    }
    return *this;
  }

  // --- what was seen -----------------------------------------------------------------------------
  const std::vector<Issue>& issues() const { return policy_.issues; }
  std::vector<Cycle> issue_times(unsigned warp = 0) const {
    std::vector<Cycle> out;
    for (const Issue& i : issues())
      if (i.warp == warp) out.push_back(i.at);
    return out;
  }
  std::vector<unsigned> order() const {
    std::vector<unsigned> out;
    for (const Issue& i : issues()) out.push_back(i.warp);
    return out;
  }
  const std::vector<Sent>& sent() const { return sent_; }
  std::vector<Cycle> sent_times() const {
    std::vector<Cycle> out;
    for (const Sent& s : sent_) out.push_back(s.at);
    return out;
  }
  const std::vector<Ended>& ended() const { return ended_; }
  stats::SmCounters counters() const { return sm_.counters(now_); }
  stats::SmCounters counters(unsigned launch) const { return sm_.counters(now_, launch); }
  stats::SchedulerCounters scheduler_counters() const { return sm_.scheduler_counters(now_); }
  std::uint64_t stalls(stats::Stall s) const {
    return scheduler_counters().stall[static_cast<unsigned>(s)];
  }
  timing::Sm& sm() { return sm_; }
  Cycle now() const { return now_; }

 private:
  struct Running {
    Running(Recording& r, trace::LoweredCode as, const timing::SmSpec& sm, std::size_t sequence)
        : lowered(std::move(as)), code(lowered, sm) {
      launch = {&r.stream(), &code, sequence,
                static_cast<std::uint8_t>(sequence % kernel_slots(1))};
    }
    trace::LoweredCode lowered;
    timing::DecodedKernel code;
    timing::Launch launch;
  };
  void collect() {
    timing::SmPorts& p = sm_.ports();
    const timing::FlitTable size(timing::packet_size(machine_), timing::Direction::Request);
    for (; p.to_noc.next_arrival() != kNever; p.to_noc.pop()) {
      timing::Message m = p.to_noc.front();
      Cycle at = p.to_noc.next_arrival() - machine_.noc.latency_cycles;
      noc_box_.take(p.to_noc.next_arrival());
      sent_.push_back({at, m});
      const bool asks = m.kind != timing::MessageKind::Transfer;
      if (asks && reply_after != kNever) p.from_noc.push(at + reply_after, m);
      if (credit_after != kNever)
        p.credit_in.push(at + credit_after, static_cast<std::uint8_t>(size.flits(m)));
    }
    for (; sm_.block_out().next_arrival() != kNever; sm_.block_out().pop())
      ended_.push_back({sm_.block_out().next_arrival() - machine_.dispatch_latency_cycles,
                        sm_.block_out().front().slot});
  }
  timing::MachineSpec machine_;
  timing::AddressMap map_;
  ObservedWarpPolicy policy_;
  std::unique_ptr<timing::Sm> made_;
  timing::Sm& sm_;
  timing::Mailbox noc_box_, dispatcher_box_;  // of this SM and those before it
  std::vector<std::unique_ptr<Running>> launches_;
  const timing::Launch* newest_ = nullptr;  // of the blocks sent
  Cycle now_ = 0;
  std::vector<Sent> sent_;
  std::vector<Ended> ended_;
};

/// Every warp of a grid of one block of `warps` warps runs what `write` writes.
template <class Write>
Recording one_block(const Code& code, unsigned warps, Write write) {
  Recording r(code, {{1}, {warps * kLanes}, 0});
  r.each_warp(write);
  return r;
}

}  // namespace raddle::support
