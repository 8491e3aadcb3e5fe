#include "raddle/timing/gpu/dispatcher.h"

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"

namespace raddle::timing {

Dispatcher::Dispatcher(const MachineSpec& machine,
                       const policy::Choice<policy::KernelPolicy>& kernel_policy,
                       const policy::Choice<policy::BlockPolicy>& block_policy, std::uint64_t seed)
    : kernel_policy_name_(kernel_policy.name()),
      block_policy_name_(block_policy.name()),
      kernel_policy_(kernel_policy.make({seed})),
      block_policy_(block_policy.make({machine.sm.count, seed})),
      latency_(machine.dispatch_latency_cycles),
      interval_(machine.kernels.block_interval_millicycles),
      flush_(machine.sm.l1d.flush_at_kernel_start),
      flush_only_when_idle_(machine.kernels.flush_only_when_idle),
      sms_(machine.sm.count, SmState(machine.sm)),
      caps_(machine.sm.count),
      vacant_(machine.kernels.entries, 0),
      box_(machine.sm.count) {}

// --- kernels ------------------------------------------------------------------------------------

unsigned Dispatcher::next_slot() const {
  unsigned slot = last_slot_;
  do slot = (slot + 1) % stats::kKernelSlots;
  while ((under_way_ >> slot & 1) != 0);
  return slot;
}

void Dispatcher::enter(const KernelEntry& kernel, Cycle start) {
  RADDLE_ASSERT(!full());
  RADDLE_ASSERT(index(kernel.tenant) < kMostTenants);
  const unsigned slot = last_slot_ = next_slot();
  vacant_.erase(vacant_.begin());
  if (under_way_ == 0) ++epoch_;
  under_way_ |= 1u << slot;
  age_.insert(slot);
  Kernel& k = kernels_[slot];
  k.is = kernel;
  k.launch = {kernel.ops, kernel.code, kernel.job, static_cast<std::uint8_t>(slot),
              kernel.tenant, kernel.first_line};
  k.begin = start;
  k.blocks = static_cast<std::uint32_t>(kernel.grid.count()), k.handed = k.done = 0;
  k.is_handed.assign(k.blocks, false);
  k.room = k.known = {};
  if (spans_.capacity() < spans_.size() + k.blocks)
    spans_.reserve(std::max(2 * spans_.size(), spans_.size() + k.blocks));
  next_begin_ = std::min(next_begin_, start), last_begin_ = std::max(last_begin_, start);
  kernel_policy_->on_launch(
      {kernel.sequence, kernel.name, kernel.stream, k.blocks, slot, kernel.parent});
  block_policy_->on_launch(
      {kernel.sequence, kernel.name, kernel.grid, k.blocks, slot, kernel.parent});
}

void Dispatcher::begin_kernels(Cycle now) {
  next_begin_ = kNever;
  for (Slots m = under_way_; m != 0; m &= m - 1) {
    Kernel& k = kernels_[lowest(m)];
    if (k.handed != 0 || (waiting_ >> lowest(m) & 1) != 0) continue;
    if (k.begin > now) {
      next_begin_ = std::min(next_begin_, k.begin);
      continue;
    }
    waiting_ |= 1u << lowest(m);
    for (unsigned i = 0; i < sms_.size(); ++i)
      if (fits(k, i)) k.room.set(i);
  }
}

void Dispatcher::end_kernel(Cycle now, unsigned slot) {
  under_way_ &= ~(1u << slot);
  age_.remove(slot);
  vacant_.push_back(now);
  ended_.push_back({kernels_[slot].is.job, now});
  block_policy_->on_kernel_end(slot);
  kernel_policy_->on_end(slot);
}

// --- each cycle ---------------------------------------------------------------------------------

Cycle Dispatcher::tick(Cycle now) {
  if (wake_ <= now) wake_ = kNever;
  if (obeys_ <= now) obeys_ = kNever;
  box_.take(now).each([&](unsigned sm) { take_ends(now, sm); });
  if (next_begin_ <= now) begin_kernels(now);
  const Cycle next = next_arrival(now + 1);
  if (waiting_ == 0 || with_room(waiting_, {}) == 0) return next;
  if (next_hand_out_ <= 1000 * now) hand_out(now);
  if (with_room(waiting_, {}) == 0) return next;
  return std::min(next, std::max(now + 1, (next_hand_out_ + 999) / 1000));
}

void Dispatcher::take_ends(Cycle now, unsigned i) {
  SmState& sm = sms_[i];
  for (; sm.end->next_arrival() <= now; sm.end->pop()) {
    const unsigned s = sm.end->front().slot;
    const BlockSlot& slot = sm.slot[s];
    Kernel& kernel = kernels_[slot.kernel];
    BlockSpan& span = spans_[slot.span];
    span.end = now - latency_;
    sm.resources.release(s);
    caps_.ended(kernel.is.tenant, i);
    block_policy_->on_block_done(i, span.block, slot.kernel);
    if (++kernel.done == kernel.blocks) end_kernel(now, slot.kernel);
  }
  update_room(i);
}

/// Those of the kernels of which a block fits an SM that is not in `served`.
Dispatcher::Slots Dispatcher::with_room(Slots kernels, const SmSet& served) const {
  Slots out = 0;
  for (Slots m = kernels; m != 0; m &= m - 1)
    if ((kernels_[lowest(m)].room - served).any()) out |= 1u << lowest(m);
  return out;
}

void Dispatcher::hand_out(Cycle now) {
  SmSet served;
  Slots declined = 0;
  bool any = false;
  for (unsigned n = block_policy_->blocks_per_cycle(); n != 0;) {
    const Slots fit = with_room(waiting_ & ~declined, served);
    if (fit == 0) break;
    const std::optional<unsigned> slot =
        kernel_policy_->pick({shared_ ? fit : waiting_ & ~declined, fit, age_, now});
    if (!slot) break;
    if (*slot >= stats::kKernelSlots || (fit >> *slot & 1) == 0)
      assertion_failed(
          ("kernel policy '" + kernel_policy_name_ + "' names a kernel whose block fits").c_str(),
          __FILE__, __LINE__);
    const SmSet room = kernels_[*slot].room - served;
    const std::optional<policy::BlockChoice> choice = block_policy_->pick({room, now, *slot});
    if (!choice) {
      declined |= 1u << *slot;
      continue;
    }
    check(*slot, *choice, room);
    place(now, *slot, *choice);
    served.set(choice->sm);
    any = true, --n;
  }
  if (!any) return;
  // What is left of a cycle counts on, cycles that were not used do not.
  if (next_hand_out_ + 1000 <= 1000 * now) next_hand_out_ = 1000 * now;
  next_hand_out_ += interval_;
}

void Dispatcher::check(unsigned slot, const policy::BlockChoice& choice, const SmSet& room) const {
  auto fail = [&](const char* what) {
    assertion_failed(("block policy '" + block_policy_name_ + "' " + what).c_str(), __FILE__,
                     __LINE__);
  };
  const Kernel& k = kernels_[slot];
  if (choice.sm >= sms_.size() || !room.test(choice.sm)) fail("names an SM that has room");
  if (choice.block >= k.blocks) fail("names a block of the grid");
  if (k.is_handed[choice.block]) fail("names a block that was not handed out before");
}

void Dispatcher::place(Cycle now, unsigned slot, const policy::BlockChoice& choice) {
  SmState& sm = sms_[choice.sm];
  Kernel& k = kernels_[slot];
  const unsigned s = sm.resources.reserve(k.is.needs);
  caps_.started(k.is.tenant, choice.sm);
  sm.slot[s] = {spans_.size(), slot};
  spans_.push_back({static_cast<std::uint32_t>(k.is.sequence), choice.block, choice.sm,
                    now + latency_, kNever, choice.stolen});
  k.is_handed[choice.block] = true;
  if (++k.handed == k.blocks) waiting_ &= ~(1u << slot);
  sm.start->push(now + latency_,
                 {&k.launch, choice.block, static_cast<std::uint8_t>(s), flushes(slot, choice.sm)});
  update_room(choice.sm);
}

/// Does this kernel's next block on the SM find the L1D emptied? Precondition: it is sent.
bool Dispatcher::flushes(unsigned slot, unsigned i) {
  Kernel& k = kernels_[slot];
  SmState& sm = sms_[i];
  const bool first = !k.known.test(i), stale = sm.epoch != epoch_;
  k.known.set(i), sm.epoch = epoch_;
  return flush_ && (flush_only_when_idle_ ? stale : first);
}

/// What limits blocks of a kernel on an SM: its resources and the caps of a scheme.
bool Dispatcher::fits(const Kernel& k, unsigned sm) const {
  return sms_[sm].resources.fits(k.is.needs) && caps_.allows(k.is.tenant, sm);
}

void Dispatcher::obey(Cycle at, const policy::Knobs& knobs) {
  caps_.obey(knobs);
  shared_ = true;
  obeys_ = at;
  for (unsigned i = 0; i < sms_.size(); ++i) update_room(i);
}

void Dispatcher::update_room(unsigned i) {
  for (Slots m = waiting_; m != 0; m &= m - 1) {
    Kernel& k = kernels_[lowest(m)];
    if (fits(k, i)) k.room.set(i);
    else k.room.clear(i);
  }
}

// --- words --------------------------------------------------------------------------------------

std::string Dispatcher::names() const {
  std::vector<std::string_view> names;
  for (Slots m = under_way_; m != 0; m &= m - 1)
    if (std::ranges::find(names, kernels_[lowest(m)].is.name) == names.end())
      names.push_back(kernels_[lowest(m)].is.name);
  std::string out;
  for (std::string_view name : names) out += (out.empty() ? "'" : ", '") + std::string(name) + "'";
  return out;
}

void Dispatcher::describe(std::string& out) const {
  for (Slots m = under_way_; m != 0; m &= m - 1) {
    const Kernel& k = kernels_[lowest(m)];
    out += "dispatcher: " + std::to_string(k.done) + " of " + std::to_string(k.blocks) +
           " blocks of '" + std::string(k.is.name) + "' (launch " + std::to_string(k.is.sequence) +
           ", stream " + std::to_string(index(k.is.stream)) + ") have ended, " +
           std::to_string(k.handed - k.done) + " are on SMs, " +
           std::to_string(k.blocks - k.handed) + " are left";
    if ((waiting_ >> lowest(m) & 1) != 0 && k.room.any())
      out += "; " + std::to_string(k.room.count()) +
             " SMs have room, policies 'block=" + block_policy_name_ +
             "' and 'kernel=" + kernel_policy_name_ + "' give them none";
    out += "\n";
  }
}

}  // namespace raddle::timing
