#include "raddle/timing/gpu/dispatcher.h"

#include <algorithm>

#include "raddle/base/demangle.h"
#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/policy/fault.h"

namespace raddle::timing {

Dispatcher::Dispatcher(const MachineSpec& machine, Cycle window,
                       std::unique_ptr<policy::DispatchPolicy> policy, std::string name)
    : name_(std::move(name)),
      policy_(std::move(policy)),
      wants_progress_(policy_->wants_progress()),
      latency_(machine.dispatch_latency_cycles),
      window_(window),
      interval_(machine.kernels.block_interval_millicycles),
      flush_(machine.sm.l1d.flush_at_kernel_start),
      flush_only_when_idle_(machine.kernels.flush_only_when_idle),
      concurrent_on_sm_(machine.kernels.concurrent_on_sm),
      sms_(machine.sm.count, SmState(machine.sm)),
      caps_(machine.sm.count),
      entries_(machine.kernels.entries),
      kmu_(machine.kernels, machine.device_launch, window, grids_, entries_, *policy_, name_),
      box_(machine.sm.count) {
  RADDLE_ASSERT(latency_ >= window);
}

void Dispatcher::connect(unsigned sm, BlockStartLink& start, BlockEndLink& end) {
  sms_[sm].start = &start;
  sms_[sm].end = &end;
}

// --- each cycle ---------------------------------------------------------------------------------

Cycle Dispatcher::tick(Cycle now) {
  const Cycle next = step(now);
  return kmu_.has_device_launches() && send_queue_access(now) ? now + 1 : next;
}

Cycle Dispatcher::step(Cycle now) {
  if (called_ <= now) called_ = kNever;
  box_.take(now).each([&](unsigned sm) { take_ends(now, sm); });
  if (kmu_.next_arrival() <= now || kmu_.can_admit()) take_launches(now);
  if (next_begin_ <= now) begin_grids(now);
  const bool fit = free_sms_.any({});
  if (!fit && !kmu_.can_admit()) return next_arrival(now + 1);
  const bool given = fit && next_dispatch_ <= 1000 * now && dispatch_blocks(now);
  if (given || on_sms_ != 0) still_since_ = kNever;
  else check_standstill(now);
  const Cycle next = next_arrival(now + 1);
  if (kmu_.can_admit()) return std::min(next, now + 1);
  if (!free_sms_.any({})) return next;
  return std::min(next, std::max(now + 1, (next_dispatch_ + 999) / 1000));
}

void Dispatcher::take_ends(Cycle now, unsigned i) {
  SmState& sm = sms_[i];
  for (; sm.end->next_arrival() <= now; sm.end->pop()) {
    const BlockEnd& end = sm.end->front();
    if (!end.fetched) {
      if (wants_progress_) policy_->on_block_progress(sm.slot[end.slot].grid, i, end.progress);
      end_block(now, i, end.slot);
    } else {
      policy_->on_fetched(fetched_[end.id], now);
      free_ids_.push_back(end.id);
    }
  }
  update_free(i);
}

void Dispatcher::end_block(Cycle now, unsigned i, unsigned s) {
  const BlockSlot slot = sms_[i].slot[s];
  BlockSpan& span = spans_[slot.span];
  span.end = now - latency_;
  empty_.ended(spans_, span.end);
  sms_[i].resources.release(s);
  --sms_[i].blocks;
  occupancy_changed_.store(true, std::memory_order_relaxed);
  --on_sms_;
  Grid& grid = grids_[slot.grid];
  caps_.ended(grid.is.tenant, i);
  policy_->on_block_end(slot.grid, span.block, i);
  if (++grid.done == grid.blocks) end_grid(now, slot.grid);
}

/// What the policy wants of its queues in memory, all of it.
void Dispatcher::take_queue_accesses() {
  constexpr unsigned kMaxOfCycle = 1 << 20;
  const auto fail = [&](const std::string& what) {
    policy::wrong_answer("dispatch=" + name_, what);
  };
  for (unsigned n = 0;; ++n) {
    const std::optional<policy::QueueAccess> access = policy_->access();
    if (!access) return;
    if (n == kMaxOfCycle)
      fail("has no more to access() after " + std::to_string(kMaxOfCycle) + " times in one cycle");
    if (access->grid >= grids_.states().size()) fail("accesses the queue of a grid that is there");
    if (access->sm >= sms_.size()) fail("accesses its queues through an SM that is there");
    accesses_.push_back(*access);
  }
}

/// One access a cycle to the policy's queues in memory; true: there are more to come.
bool Dispatcher::send_queue_access(Cycle now) {
  take_queue_accesses();
  if (accesses_.empty()) return false;
  const policy::QueueAccess& access = accesses_.front();
  if (access.fetch && free_ids_.empty()) {
    if (fetched_.size() == QueueRequest::kMaxIds) return true;
    free_ids_.push_back(static_cast<std::uint16_t>(fetched_.size()));
    fetched_.emplace_back();
  }
  BlockStart message;
  message.queue.place = access.place;
  message.queue.kernel = static_cast<std::uint8_t>(grids_[access.grid].entry);
  message.queue.fetch = access.fetch;
  if (access.fetch) {
    message.queue.id = free_ids_.back();
    free_ids_.pop_back();
    fetched_[message.queue.id] = access.grid;
  }
  sms_[access.sm].start->push(now + latency_, message);
  accesses_.pop_front();
  return !accesses_.empty();
}

void Dispatcher::end_grid(Cycle now, GridId id) {
  const Grid& grid = grids_[id];
  ended_.push_back({grid.is.job, now, grid.first, now - latency_});
  --under_way_[index(grid.is.tenant)];
  policy_->on_grid_end(id);
  entries_.end(grid.entry, id, now);
  grids_.remove(id);
}

/// What has come to the management unit, and who gets an entry.
void Dispatcher::take_launches(Cycle now) {
  for (const GridId id : kmu_.tick(now)) {
    const Grid& grid = grids_[id];
    const unsigned tenant = index(grid.is.tenant);
    if (under_way_[tenant]++ == 0) ++epoch_[tenant];
    if (spans_.capacity() < spans_.size() + grid.blocks)
      spans_.reserve(std::max(2 * spans_.size(), spans_.size() + grid.blocks));
    coming_.push_back(id);
    next_begin_ = std::min(next_begin_, grid.begin);
    last_begin_ = std::max(last_begin_, grid.begin);
    const bool joined = entries_[grid.entry].grids.front() != id;
    entered_.push_back({grid.is.job, grid.entry, grid.begin, joined});
  }
}

void Dispatcher::begin_grids(Cycle now) {
  next_begin_ = kNever;
  std::erase_if(coming_, [&](GridId id) {
    const Grid& grid = grids_[id];
    if (grid.begin > now) {
      next_begin_ = std::min(next_begin_, grid.begin);
      return false;
    }
    const BlockKind kind{grid.is.needs, grid.is.tenant, concurrent_on_sm_ ? 0 : grid.entry};
    const auto fits_there = [&](unsigned sm) { return fits(kind, sm); };
    policy::GridState& state = grids_.state(id);
    state.left = grid.blocks;
    state.free_set = free_sms_.add(kind, static_cast<unsigned>(sms_.size()), fits_there);
    waiting_.add(grids_, id);
    policy_->on_begin(id, now);
    return true;
  });
}

/// True when a block has gone out.
bool Dispatcher::dispatch_blocks(Cycle now) {
  SmSet served;
  bool any = false;
  for (unsigned n = policy_->blocks_per_cycle(); n != 0 && free_sms_.any(served); --n) {
    const std::optional<policy::BlockDispatch> choice =
        policy_->pick({.grids = grids_.states(),
                       .free_sets = free_sms_.sets(),
                       .served = served,
                       .oldest = waiting_.first(),
                       .shared = shared_,
                       .now = now});
    if (!choice) break;
    check(*choice, served);
    place(now, *choice);
    served.set(choice->sm);
    any = true;
  }
  if (!any) return false;
  // What is left of a cycle counts on, cycles that were not used do not.
  if (next_dispatch_ + 1000 <= 1000 * now) next_dispatch_ = 1000 * now;
  next_dispatch_ += interval_;
  return true;
}

void Dispatcher::check(const policy::BlockDispatch& choice, const SmSet& served) const {
  const auto fail = [&](const std::string& what) {
    policy::wrong_answer("dispatch=" + name_, "names " + what);
  };
  const std::span<const policy::GridState> states = grids_.states();
  if (choice.grid >= states.size() || states[choice.grid].left == 0)
    fail("a grid with blocks left");
  const SmSet free = free_sms_[states[choice.grid].free_set] - served;
  if (choice.sm >= sms_.size() || !free.test(choice.sm)) fail("an SM that has free slots");
  const Grid& grid = grids_[choice.grid];
  if (choice.block >= grid.blocks) fail("a block of the grid");
  if (grid.is_handed[choice.block]) fail("a block that was not handed out before");
}

void Dispatcher::place(Cycle now, const policy::BlockDispatch& choice) {
  SmState& sm = sms_[choice.sm];
  Grid& grid = grids_[choice.grid];
  const unsigned s = sm.resources.reserve(grid.is.needs);
  ++sm.blocks;
  occupancy_changed_.store(true, std::memory_order_relaxed);
  sm.kernel = grid.entry;
  caps_.started(grid.is.tenant, choice.sm);
  sm.slot[s] = {spans_.size(), choice.grid};
  spans_.push_back({.launch = static_cast<std::uint32_t>(grid.is.sequence),
                    .block = choice.block,
                    .sm = choice.sm,
                    .start = now + latency_,
                    .end = kNever,
                    .stolen = choice.stolen});
  grid.is_handed[choice.block] = true;
  if (grid.handed++ == 0) grid.first = now + latency_;
  ++on_sms_;
  policy::GridState& state = grids_.state(choice.grid);
  if (--state.left == 0) {
    waiting_.remove(grids_, choice.grid);
    free_sms_.remove(state.free_set);
  }
  sm.start->push(
      now + latency_,
      {&grid.launch, choice.block, static_cast<std::uint8_t>(s), flushes(grid, choice.sm), {}});
  update_free(choice.sm);
}

/// Does the grid's next block on the SM find the L1D emptied? Precondition: it is sent. Idle is who
/// has no other grid under way: beside another tenant a tenant is emptied as it is alone.
bool Dispatcher::flushes(const Grid& grid, unsigned i) {
  const unsigned tenant = index(grid.is.tenant);
  SmSet& known = entries_[grid.entry].known;
  SmState& sm = sms_[i];
  const bool first = !known.test(i);
  const bool stale = sm.epoch[tenant] != epoch_[tenant];
  known.set(i);
  sm.epoch[tenant] = epoch_[tenant];
  return flush_ && (flush_only_when_idle_ ? stale : first);
}

/// What limits blocks on an SM: its resources, other kernels where these keep them off, and the
/// caps of a scheme. What else may (a partition of the SM) belongs here, and what that depends on
/// into BlockKind.
bool Dispatcher::fits(const BlockKind& kind, unsigned sm) const {
  const SmState& state = sms_[sm];
  if (!concurrent_on_sm_ && state.blocks != 0 && state.kernel != kind.kernel) return false;
  return state.resources.fits(kind.needs) && caps_.allows(kind.tenant, sm);
}

void Dispatcher::update_free(unsigned sm) {
  free_sms_.update(sm, [&](const BlockKind& kind) { return fits(kind, sm); });
}

void Dispatcher::obey(Cycle at, const policy::Knobs& knobs) {
  caps_.obey(knobs);
  shared_ = true;
  called_ = at;
  for (unsigned i = 0; i < sms_.size(); ++i) update_free(i);
}

void Dispatcher::resources_changed(Cycle at, unsigned sm) {
  called_ = at;
  update_free(sm);
}

// --- standstill ---------------------------------------------------------------------------------

/// The policy has given nothing in this cycle and no block is on an SM. What the last ends have set
/// free comes within the windows after them; if nothing does, only the policy's own clock can help.
void Dispatcher::check_standstill(Cycle now) {
  if (kmu_.next_arrival() != kNever || next_begin_ != kNever || next_dispatch_ > 1000 * now ||
      fetched_.size() != free_ids_.size() || !accesses_.empty()) {
    still_since_ = kNever;
    return;
  }
  if (still_since_ == kNever) still_since_ = now;
  if (now - still_since_ < 4 * window_) return;
  const Cycle until = policy_->waits_until(now);
  if (until > now && until != kNever) return;
  std::string out = "policy 'dispatch=" + name_ + "' gives nothing although ";
  out += waiting_.empty() ? "an entry is free and " + std::to_string(kmu_.pending()) + " grids pend"
                          : "blocks fit and all SMs are empty";
  out += " (cycle " + std::to_string(now) + ")\n";
  describe(out);
  while (out.back() == '\n') out.pop_back();
  throw RunError(out);
}

// --- words --------------------------------------------------------------------------------------

/// f(grid) for all that have an entry.
template <class F>
void Dispatcher::each_grid(F f) const {
  entries_.taken().each([&](unsigned entry) {
    for (const GridId id : entries_[entry].grids) f(id);
  });
}

std::string Dispatcher::names() const {
  std::vector<std::string_view> names;
  each_grid([&](GridId id) {
    const std::string_view name = grids_[id].is.name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  });
  std::string out;
  for (std::string_view name : names) out += (out.empty() ? "'" : ", '") + short_name(name) + "'";
  return out;
}

void Dispatcher::describe(std::string& out) const {
  constexpr unsigned kMaxGrids = 32;
  unsigned described = 0;
  each_grid([&](GridId id) {
    if (described++ >= kMaxGrids) return;
    const Grid& grid = grids_[id];
    const policy::GridState& state = grids_.states()[id];
    out += "dispatcher: " + std::to_string(grid.done) + " of " + std::to_string(grid.blocks) +
           " blocks of '" + short_name(grid.is.name) + "' (launch " +
           std::to_string(grid.is.sequence) + ", stream " + std::to_string(index(grid.is.stream)) +
           ") have ended, " + std::to_string(grid.handed - grid.done) + " are on SMs, " +
           std::to_string(grid.blocks - grid.handed) + " are left";
    if (state.left != 0 && free_sms_[state.free_set].any())
      out += "; " + std::to_string(free_sms_[state.free_set].count()) + " SMs have free slots";
    out += "\n";
  });
  if (described > kMaxGrids)
    out += "... and " + std::to_string(described - kMaxGrids) + " more grids\n";
  if (const std::string refusals = policy_->refusals(); !refusals.empty())
    out += "dispatch: " + refusals + "\n";
  kmu_.describe(out);
}

}  // namespace raddle::timing
