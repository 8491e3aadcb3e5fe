// The clock of a GPU: lets windows run until what the host waits for has happened, and between two
// windows does what needs the whole machine. Launches that have ended let others go, blocks' ends
// and entries reach the accounts, scheme and reports look at tenants, warps move, samples are
// taken,
// and a run that does not go on is ended.
//
// Contract: time goes on only in the functions of the first group; each throws RunError on
// max_cycles or when nothing moves any more, after which the clock is of no use.
#pragma once
#include <cstdint>
#include <string>

#include "raddle/timing/gpu/accounting.h"
#include "raddle/timing/gpu/assembly.h"
#include "raddle/timing/gpu/launches.h"
#include "raddle/timing/gpu/watchdog.h"
#include "raddle/timing/wire/engine.h"

namespace raddle::timing {

class GpuClock {
 public:
  /// All must outlive the clock; nothing has run yet.
  GpuClock(Assembly& machine, Launches& launches, Accounting& accounting,
           const GpuOptions& options);

  /// Until everything submitted is complete. The host need not wait for that.
  void finish();
  /// The host waits: for the same; for the mark; until the launch of so many warp instructions may
  /// be pending.
  void run_until_idle();
  void run_until(Milestone mark);
  void wait_for_slot(std::uint64_t warp_instructions);
  /// As Gpu::run_to.
  bool run_to(Cycle horizon);

  /// End of the last kernel, or the horizon.
  Cycle now() const { return now_; }
  /// Cycles before this one are over.
  Cycle end() const { return engine_.end(); }
  /// Of the host: what it has waited for.
  Cycle host_time() const { return host_; }

 private:
  template <class Done>
  void advance_until(Done done);
  bool advance_to(Cycle limit);
  bool settle();
  void end_job(const Dispatcher::Ended& ended);
  void send(std::uint32_t job, Cycle left, Cycle arrival);
  void take_device_launches();
  void before_window(Cycle begin);
  void look_at_tenants(Cycle begin);
  void report_tenants(Cycle begin);
  void check_progress(Cycle begin);
  unsigned threads() const { return launches_.concurrent() ? threads_ : 1; }
  [[noreturn]] void give_up(Cycle now, const std::string& what) const;

  Assembly& machine_;
  Launches& launches_;
  Accounting& accounting_;
  unsigned threads_;
  Engine engine_;
  Watchdog watchdog_;
  bool failed_ = false;
  bool obeyed_ = false;  // the scheme's knobs, for the first time
  Cycle host_ = 0;
  Cycle now_ = 0;
};

}  // namespace raddle::timing
