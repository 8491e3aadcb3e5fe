#include "raddle/timing/sm/warp_window.h"

#include <algorithm>

#include "raddle/stats/instruction_counters.h"

namespace raddle::timing {

WarpWindow::WarpWindow(const WarpTable& warps, Cycle begin, Cycle end)
    : warps_(warps),
      begin_(begin),
      end_(end),
      seen_(begin),
      accesses_of_(warps.slots()),
      loaded_by_(warps.slots()) {
  RADDLE_ASSERT(begin < end);
  for (LoadedBy& loads : loaded_by_) loads.fill(kNone);
}

// Who needs a register that was loaded before the window began waits for nothing that is known.
std::uint32_t WarpWindow::awaited(unsigned w) const {
  const Warp& warp = warps_[w];
  RegisterSet missing = warp.pending_memory;
  if (!has(warps_.ended, w)) missing &= warp.next->uses;
  return missing.any() ? loaded_by_[w][missing.first()] : kNone;
}

void WarpWindow::stands(Cycle now, unsigned w, unsigned state) {
  RADDLE_ASSERT(wants(now) && state < stats::kWarpStates);
  const bool memory = state == static_cast<unsigned>(stats::Stall::Memory);
  const std::uint32_t access = memory ? awaited(w) : kNone;
  std::optional<Run>& open = open_[w];
  if (open && (open->to != seen_ || open->state != state || open->access != access)) {
    runs_.push_back(*open);
    open.reset();
  }
  if (!open) {
    open = Run{.from = seen_,
               .to = seen_,
               .access = access,
               .slot = static_cast<std::uint8_t>(w),
               .state = static_cast<std::uint8_t>(state)};
  }
  open->to = std::min(now, end_);
}

void WarpWindow::settle(Cycle now) {
  seen_ = std::clamp(now, begin_, end_);
  for (std::optional<Run>& open : open_) {
    if (!open || (open->to == seen_ && seen_ != end_)) continue;  // it may go on
    runs_.push_back(*open);
    open.reset();
  }
}

std::uint32_t WarpWindow::add_access(unsigned w) {
  const Warp& warp = warps_[w];
  const auto number = static_cast<std::uint32_t>(accesses_.size());
  const bool lines = warp.next->payload;
  accesses_.push_back({.issue = static_cast<std::uint32_t>(issues_.size()),
                       .expected = lines ? warp.transactions : 0u});
  const DecodedKernel& code = *warp.launch->code;
  LoadedBy& loaded_by = loaded_by_[w];
  if (warp.next->destination < DecodedInst::kNone) {
    loaded_by[warp.next->destination] = number;
  } else if (warp.next->destination == DecodedInst::kMultiple) {
    RegisterSet left = code.multiple_destinations(*warp.next);
    for (; left.any(); left.clear(left.first())) loaded_by[left.first()] = number;
  }
  accesses_of_[w].push_back(number);
  return number;
}

void WarpWindow::issued(Cycle now, unsigned w) {
  if (now < begin_ || now >= end_) return;
  const Warp& warp = warps_[w];
  const DecodedKernel& code = *warp.launch->code;
  const auto inst = static_cast<std::uint32_t>(warp.next - code.instructions());
  const std::uint32_t access = goes_to_lsu(warp.next->route) ? add_access(w) : kNone;
  issues_.push_back({.at = now,
                     .code = &code,
                     .inst = inst,
                     .access = access,
                     .slot = static_cast<std::uint8_t>(w),
                     .block = warp.block,
                     .route = warp.next->route});
}

void WarpWindow::warp_started(const policy::WarpStart& start) {
  if (start.at >= end_) return;
  loaded_by_[start.warp].fill(kNone);
  if (start.at < begin_)  // nobody sees who had the slot before
    std::erase_if(lives_, [&](const Life& life) { return life.slot == start.warp; });
  lives_.push_back({.from = start.at,
                    .launch = start.launch,
                    .block = start.block,
                    .index = start.index,
                    .slot = start.warp});
}

// Of the warp's accesses by that instruction the oldest that has not all its lines; where the cache
// makes more of them than the instruction has, the last.
void WarpWindow::access(const policy::L1Access& a) {
  if (a.outcome == policy::L1Outcome::Refused || a.at >= end_) return;
  constexpr std::uint32_t kLooksBack = 64;
  const std::vector<std::uint32_t>& own = accesses_of_[a.warp];
  std::uint32_t of = kNone, looks = 0;
  for (auto one = own.rbegin(); one != own.rend() && looks < kLooksBack; ++one, ++looks) {
    const Access& candidate = accesses_[*one];
    if (issues_[candidate.issue].inst != a.inst) continue;
    if (of != kNone && candidate.lines.size() >= candidate.expected) break;
    of = *one;
  }
  if (of == kNone) return;  // issued before the window
  std::vector<Line>& lines = accesses_[of].lines;
  if (a.outcome == policy::L1Outcome::Miss || a.outcome == policy::L1Outcome::PendingHit)
    missing_[a.line].push_back({of, static_cast<std::uint32_t>(lines.size()), a.sectors});
  lines.push_back({.at = a.at, .line = a.line, .outcome = a.outcome});
}

void WarpWindow::filled(const policy::L1Fill& fill) {
  const auto waiting = missing_.find(fill.line);
  if (waiting == missing_.end()) return;
  for (Missing& one : waiting->second) {
    if ((one.sectors & fill.sectors) == 0) continue;
    accesses_[one.access].lines[one.line].filled = fill.at;
    one.sectors = static_cast<std::uint8_t>(one.sectors & ~fill.sectors);
  }
  std::erase_if(waiting->second, [](const Missing& one) { return one.sectors == 0; });
  if (waiting->second.empty()) missing_.erase(waiting);
}

// What comes of it later is for others.
void WarpWindow::evicted(const policy::L1Eviction& eviction) { missing_.erase(eviction.line); }

}  // namespace raddle::timing
