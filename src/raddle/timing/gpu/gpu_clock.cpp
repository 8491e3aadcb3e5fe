#include "raddle/timing/gpu/gpu_clock.h"

#include <algorithm>
#include <array>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/timing/mem/l2_slice.h"

namespace raddle::timing {

GpuClock::GpuClock(Assembly& machine, Launches& launches, Accounting& accounting,
                   const GpuOptions& options)
    : machine_(machine),
      launches_(launches),
      accounting_(accounting),
      threads_(options.threads),
      engine_(machine.window(), options.skip, options.shuffle),
      watchdog_(options.max_cycles, options.watchdog_cycles, options.progress) {
  machine_.add_to(engine_);
}

// --- until when ----------------------------------------------------------------------------------

void GpuClock::finish() {
  advance_until([&] { return launches_.idle(); });
}

void GpuClock::run_until_idle() {
  finish();
  host_ = std::max(host_, now_);
}

void GpuClock::run_until(Milestone mark) {
  advance_until([&] { return launches_.reached(mark) != kNever; });
  host_ = std::max(host_, launches_.reached(mark));
}

void GpuClock::wait_for_slot(std::uint64_t warp_instructions) {
  if (launches_.has_free_slot(warp_instructions)) return;
  advance_until([&] { return launches_.has_free_slot(warp_instructions); });
  host_ = std::max(host_, now_);
}

template <class Done>
void GpuClock::advance_until(Done done) {
  if (failed_) throw RunError("this GPU has failed before");
  settle();
  if (done()) return;
  watchdog_.restart();
  failed_ = true;
  const bool ended = engine_.run(
      threads(),
      [&] {
        settle();
        return done();
      },
      [&](Cycle begin) { before_window(begin); });
  if (!ended) give_up(engine_.end(), "nothing can move any more");
  failed_ = false;
  if (launches_.idle()) accounting_.update_samples(now_);
}

// Shortly before the horizon nothing is handed over ahead of time any more, so that what lies
// behind the horizon is not counted.
bool GpuClock::run_to(Cycle horizon) {
  if (failed_) throw RunError("this GPU has failed before");
  RADDLE_ASSERT(horizon >= engine_.end());
  const Cycle near = std::max(engine_.end(), horizon - std::min(horizon, L2Slice::kMaxAhead));
  if (settle() || advance_to(near)) {
    if (launches_.idle()) accounting_.update_samples(now_);
    return true;
  }
  machine_.allow_ahead(false);
  const bool moved = advance_to(horizon);
  machine_.allow_ahead(true);
  if (moved) return true;
  now_ = horizon;
  host_ = horizon;
  accounting_.close_samples(now_);
  accounting_.update_samples(now_);
  return false;
}

/// True: something has ended before.
bool GpuClock::advance_to(Cycle limit) {
  watchdog_.restart();
  failed_ = true;
  bool moved = false;
  const bool stopped = engine_.run(
      threads(),
      [&] {
        moved = settle();
        return moved;
      },
      [&](Cycle begin) { before_window(begin); }, limit);
  if (!stopped && !launches_.idle()) give_up(engine_.end(), "nothing can move any more");
  failed_ = false;
  if (!moved) engine_.skip_to(limit);
  return moved;
}

// --- between windows -----------------------------------------------------------------------------

/// Kernels that have ended let others go, and so do those that launch some. True: some have ended,
/// or there was something new.
bool GpuClock::settle() {
  if (!engine_.between_windows()) return false;
  Dispatcher& dispatcher = machine_.dispatcher();
  for (const Dispatcher::Entered& entered : dispatcher.entered())
    accounting_.entered(entered, launches_.tenant(entered.job), engine_.end());
  dispatcher.entered().clear();
  if (launches_.has_trees()) take_device_launches();
  if (dispatcher.ended().empty() && !launches_.changed()) return false;
  for (const Dispatcher::Ended& ended : dispatcher.ended()) end_job(ended);
  dispatcher.ended().clear();
  launches_.advance(
      [this](std::uint32_t job, Cycle left, Cycle arrival) { send(job, left, arrival); });
  return true;
}

void GpuClock::end_job(const Dispatcher::Ended& ended) {
  accounting_.ended(ended);
  now_ = std::max(now_, ended.at);  // a horizon may lie behind it
  launches_.ended(ended.job, ended.at);
  if (const std::string why = watchdog_.ended(ended.at); !why.empty()) give_up(ended.at, why);
}

/// The launch is with the kernel management unit in cycle `arrival`.
void GpuClock::send(std::uint32_t job, Cycle left, Cycle arrival) {
  accounting_.left_queue(job, left);
  const GridLaunch launch = launches_.grid(job);
  if (SchemeUnit* scheme = machine_.scheme()) {
    const BlockNeeds& needs = launch.needs;
    const std::uint64_t sms = machine_.sms().size();
    scheme->launched(launch.tenant,
                     {.threads = needs.threads,
                      .warps = needs.warps,
                      .registers = needs.registers,
                      .shared_bytes = needs.shared_bytes},
                     (launch.grid.count() + sms - 1) / sms);
  }
  machine_.dispatcher().launch(launch, arrival);
}

/// SM by SM; the trees and the manager order by time.
void GpuClock::take_device_launches() {
  for (const auto& sm : machine_.sms()) {
    for (const DeviceLaunches& launches : sm->device_launches()) launches_.launched(launches);
    sm->device_launches().clear();
  }
}

void GpuClock::before_window(Cycle begin) {
  machine_.gather_writes();
  if (machine_.scheme() != nullptr) look_at_tenants(begin);
  if (machine_.reports() != nullptr && machine_.reports()->due(begin)) report_tenants(begin);
  accounting_.close_samples(begin);
  if (MigrationUnit* migration = machine_.migration()) migration->act(begin);
  if (watchdog_.due(begin)) check_progress(begin);
}

void GpuClock::check_progress(Cycle begin) {
  const std::string why = watchdog_.look(
      begin, !launches_.idle(), [&] { return machine_.dispatcher().names(); },
      [&] { return machine_.last_progress(begin); });
  if (!why.empty()) give_up(begin, why);
}

/// The scheme looks, if it is time, and what it sets holds from this window's first cycle on.
void GpuClock::look_at_tenants(Cycle begin) {
  SchemeUnit& scheme = *machine_.scheme();
  const std::uint8_t present = launches_.present();
  if (!scheme.due(begin, present)) return;
  const auto totals = accounting_.tenants(begin);
  std::array<SchemeUnit::Tenant, kMaxTenants> tenants;
  std::array<std::vector<std::uint32_t>, kMaxTenants> warps;
  for (unsigned t = 0; t < kMaxTenants; ++t) {
    const TenantId id{static_cast<std::uint8_t>(t)};
    for (const auto& sm : machine_.sms()) warps[t].push_back(sm->resident_warps(id));
    tenants[t] = {.total = totals[t],
                  .resident_blocks = machine_.dispatcher().caps().resident(id),
                  .resident_warps = warps[t]};
  }
  const bool changed = scheme.look(begin, present, tenants);
  if (!changed && obeyed_) return;
  obeyed_ = true;
  machine_.obey(begin);
}

void GpuClock::report_tenants(Cycle begin) {
  const auto counts = machine_.reports()->take(begin, accounting_.tenants(begin));
  machine_.learn(begin, counts);
}

void GpuClock::give_up(Cycle now, const std::string& what) const {
  std::string out = what + " (cycle " + std::to_string(now) + ")\n";
  machine_.describe(out);
  launches_.describe(out);
  while (out.back() == '\n') out.pop_back();
  throw RunError(out);
}

}  // namespace raddle::timing
