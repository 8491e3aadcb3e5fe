#include "raddle/timing/gpu/dispatcher.h"

#include "raddle/base/mask.h"

namespace raddle::timing {

Dispatcher::Dispatcher(const MachineSpec& machine,
                       const policy::Choice<policy::BlockPolicy>& block_policy, std::uint64_t seed)
    : policy_name_(block_policy.name()),
      policy_(block_policy.make({machine.sm.count, seed})),
      latency_(machine.dispatch_latency_cycles),
      sms_(machine.sm.count) {
  const SmSpec& s = machine.sm;
  for (SmState& sm : sms_) {
    sm.free = {s.threads, s.warps, s.registers, s.shared_kib * 1024};
    sm.free_slots = low_bits(s.blocks);
    sm.slot.resize(s.blocks);
  }
}

void Dispatcher::launch(Cycle start, const Launch& launch, const policy::BlockLaunch& view,
                        const BlockNeeds& needs) {
  RADDLE_ASSERT(!busy());
  launch_ = &launch, needs_ = needs, sequence_ = static_cast<std::uint32_t>(view.sequence);
  blocks_ = view.blocks, handed_ = done_ = 0;
  is_handed_.assign(blocks_, false);
  spans_.reserve(spans_.size() + blocks_);
  start_ = started_ = start;
  for (unsigned i = 0; i < sms_.size(); ++i) update_room(i);
  policy_->on_launch(view);
}

Cycle Dispatcher::tick(Cycle now) {
  box_.take(now).each([&](unsigned sm) { take_ends(now, sm); });
  if (now >= start_) start_ = kNever;
  bool can_place = start_ == kNever && handed_ != blocks_ && room_.any();
  if (can_place) hand_out(now);
  return handed_ != blocks_ && room_.any() && start_ == kNever ? now + 1 : next_arrival(now + 1);
}

void Dispatcher::take_ends(Cycle now, unsigned i) {
  SmState& sm = sms_[i];
  for (; sm.end->next_arrival() <= now; sm.end->pop()) {
    unsigned s = sm.end->front().slot;
    Slot& slot = sm.slot[s];
    BlockSpan& span = spans_[slot.span];
    span.end = now - latency_;
    sm.free.threads += slot.needs.threads, sm.free.warps += slot.needs.warps;
    sm.free.registers += slot.needs.registers, sm.free.shared_bytes += slot.needs.shared_bytes;
    sm.free_slots |= 1ull << s;
    policy_->on_block_done(i, span.block);
    if (++done_ == blocks_) {
      finished_ = now;
      policy_->on_kernel_end();
    }
  }
  update_room(i);
}

void Dispatcher::hand_out(Cycle now) {
  SmSet room = room_;
  for (unsigned n = policy_->blocks_per_cycle(); n != 0 && handed_ != blocks_ && room.any(); --n) {
    std::optional<policy::BlockChoice> choice = policy_->pick({room, now});
    if (!choice) return;
    check(*choice, room);
    place(now, *choice);
    room.clear(choice->sm);
  }
}

void Dispatcher::check(const policy::BlockChoice& choice, const SmSet& room) const {
  auto fail = [&](const char* what) {
    assertion_failed(("block policy '" + policy_name_ + "' " + what).c_str(), __FILE__, __LINE__);
  };
  if (choice.sm >= sms_.size() || !room.test(choice.sm)) fail("names an SM that has room");
  if (choice.block >= blocks_) fail("names a block of the grid");
  if (is_handed_[choice.block]) fail("names a block that was not handed out before");
}

void Dispatcher::place(Cycle now, const policy::BlockChoice& choice) {
  SmState& sm = sms_[choice.sm];
  unsigned s = lowest(sm.free_slots);
  sm.free_slots &= sm.free_slots - 1;
  sm.free.threads -= needs_.threads, sm.free.warps -= needs_.warps;
  sm.free.registers -= needs_.registers, sm.free.shared_bytes -= needs_.shared_bytes;
  sm.slot[s] = {spans_.size(), needs_};
  spans_.push_back({sequence_, choice.block, choice.sm, now + latency_, kNever});
  is_handed_[choice.block] = true, ++handed_;
  sm.start->push(now + latency_, {launch_, choice.block, static_cast<std::uint8_t>(s)});
  update_room(choice.sm);
}

void Dispatcher::update_room(unsigned i) {
  const SmState& sm = sms_[i];
  bool fits = sm.free_slots != 0 && sm.free.threads >= needs_.threads &&
              sm.free.warps >= needs_.warps && sm.free.registers >= needs_.registers &&
              sm.free.shared_bytes >= needs_.shared_bytes;
  if (fits) room_.set(i);
  else room_.clear(i);
}

void Dispatcher::describe(std::string& out) const {
  out += "dispatcher: " + std::to_string(done_) + " of " + std::to_string(blocks_) +
         " blocks have ended, " + std::to_string(handed_ - done_) + " are on SMs, " +
         std::to_string(blocks_ - handed_) + " are left";
  if (handed_ != blocks_ && room_.any())
    out += "; " + std::to_string(room_.count()) + " SMs have room, block policy '" + policy_name_ +
           "' gives them none";
  out += "\n";
}

}  // namespace raddle::timing
