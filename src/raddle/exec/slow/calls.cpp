// Calls, returns and indexed branches: what changes frames or has many targets.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"
#define RADDLE_ISA scalar
#include "raddle/exec/lanes/arithmetic.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kBytesPerCall = 16;  // of the stack, at least

StackEntry& push(Warp* w) {
  if (w->sp == w->stack_capacity) grow_stack(w);
  StackEntry& e = w->stack[w->sp++];
  e = {};
  return e;
}

/// Lanes of `mask` whose copy replaces the old bytes; all 32 lanes lie side by side.
void copy_place(char* to, const ParameterPlace& to_place, const char* from,
                const ParameterPlace& from_place, u32 mask) {
  const u32 width = to_place.is_register ? to_place.bytes : 4;
  const u32 words = to_place.is_register ? 1 : to_place.frame_bytes() / 128;
  for (u32 w = 0; w < words; ++w)
    for (u32 m = mask; m != 0; m &= m - 1) {
      const u32 at = 128 * w + width * scalar::lowest_lane(m);
      std::memcpy(to + to_place.offset + at, from + from_place.offset + at, width);
    }
}

u64 target_of(const Record& r, const char* frame, unsigned lane) {
  u64 target = 0;
  std::memcpy(&target, frame + r.a + 8 * lane, 8);
  return target;
}

}  // namespace

void grow_stack(Warp* w) {
  auto& entries = static_cast<WarpState*>(w)->entries;
  RADDLE_ASSERT(!entries.empty() && w->sp <= entries.size());
  entries.resize(entries.size() * 2);
  w->stack = entries.data();
  w->stack_capacity = static_cast<u32>(entries.size());
}

namespace {

/// The frame of a function that the warp enters at its present depth, ready to be used.
Activation& activate(const Runner& runner, WarpState& warp, u32 index, const Code& callee) {
  RADDLE_ASSERT(warp.activation != 0);
  const u32 depth = warp.activation - 1;
  if (warp.activations.size() <= depth) warp.activations.push_back(std::make_shared<Activation>());
  std::shared_ptr<Activation>& slot = warp.activations[depth];
  if (warp.sides != nullptr && slot->function != index) {  // other sides may be in that one
    std::shared_ptr<Activation>& known = warp.sides->frames[{depth, index}];
    if (known == nullptr) known = std::make_shared<Activation>();
    slot = known;
  }
  if (slot->prepared && slot->function == index) return *slot;
  slot->bytes = callee.frame_bytes + 256;
  slot->frame.reserve(slot->bytes);
  std::memset(slot->frame.data(), 0, slot->bytes);
  runner.fill(callee, slot->frame.data(), warp);
  slot->function = index;
  slot->prepared = true;
  return *slot;
}

}  // namespace

const Record* enter_function(Context* context, const Record* ip, char** frame, u32 effective,
                             u32* mask) {
  const Runner& runner = *static_cast<const Runner*>(context->owner);
  const Kernel& kernel = runner.kernel();
  WarpState& warp = static_cast<WarpState&>(*context->warp);
  const Code& caller = runner.running_code(warp);
  RADDLE_ASSERT(effective != 0);
  RADDLE_ASSERT(static_cast<std::size_t>(ip->imm) < caller.calls.size());
  const CallSite& site = caller.calls[static_cast<std::size_t>(ip->imm)];
  u32 module_index = site.callee, called = effective, back = *mask;
  const auto fail = [&](const std::string& why) {
    throw RunError(fmt::format("kernel {}: {} at {}, {}", kernel.title, why,
                               runner.location(ip->inst),
                               runner.thread_text(warp, scalar::lowest_lane(effective))));
  };
  if (ip->op == O_call_indirect) {
    const u64 target = target_of(*ip, *frame, scalar::lowest_lane(effective));
    module_index = static_cast<u32>((target - kCodeWindow) / 16);
    if (target < kCodeWindow || target % 16 != 0 ||
        (target - kCodeWindow) / 16 >= kernel.function_of_module.size() ||
        kernel.function_of_module[module_index] == ptx::kNoIndex)
      fail(fmt::format("call of address {:#x}, which is no function", target));
    called = 0;
    for (u32 left = effective; left != 0; left &= left - 1)
      if (target_of(*ip, *frame, scalar::lowest_lane(left)) == target) called |= left & (0 - left);
    const u32 rest = effective & ~called;
    if (rest != 0) {  // they make the call after these have returned
      const auto distance = static_cast<std::int32_t>(ip->aux);
      const Record* join = distance == kNoJoin ? nullptr : ip + distance;
      if (join != nullptr) {
        StackEntry& entry = push(&warp);
        entry.ip = entry.join = join;
        entry.mask = *mask;
      }
      StackEntry& entry = push(&warp);
      entry.ip = ip;
      entry.join = join;
      entry.mask = rest;
      back = called;
    }
  }
  const u32 index = kernel.function_of_module[module_index];
  RADDLE_ASSERT(index < kernel.functions.size());
  const Code& callee = kernel.functions[index];
  StackEntry& entry = push(&warp);
  entry.ip = ip + 1;
  entry.frame = *frame;
  entry.mask = back;
  entry.called = called;
  entry.gone = warp.gone;
  entry.local_base = warp.local_base;
  entry.activation = warp.activation;
  RADDLE_ASSERT(warp.activation < warp.allocated.size());
  warp.local_base += caller.local_bytes + warp.allocated[warp.activation];
  if (u64{warp.local_base} + callee.local_bytes > context->local_bytes)
    fail(fmt::format("call stack overflow (local memory of {} bytes per thread)",
                     context->local_bytes));
  const u32 deepest = std::max(context->local_bytes / kBytesPerCall, kernel.max_calls());
  if (++warp.activation > deepest)
    fail(fmt::format("call stack overflow (more than {} calls within calls)", deepest));
  if (warp.functions.size() <= warp.activation) warp.functions.push_back(index);
  warp.functions[warp.activation] = index;
  warp.allocated.resize(warp.activation);
  warp.allocated.push_back(0);
  Activation& activation = activate(runner, warp, index, callee);
  for (std::size_t i = 0; i < site.arguments.size() && i < callee.parameters.size(); ++i)
    copy_place(activation.frame.data(), callee.parameters[i], *frame, site.arguments[i], called);
  *frame = activation.frame.data();
  *mask = called;
  return callee.records.data();
}

void leave_function(Context* c, const StackEntry* caller, char** frame) {
  const Runner& runner = *static_cast<const Runner*>(c->owner);
  WarpState& warp = static_cast<WarpState&>(*c->warp);
  const Code& callee = runner.running_code(warp);
  const char* from = *frame;
  RADDLE_ASSERT(caller->frame != nullptr && caller->activation + 1 == warp.activation);
  warp.activation = caller->activation;
  const Code& code = runner.running_code(warp);
  const CallSite& site = code.calls[static_cast<std::size_t>(caller->ip[-1].imm)];
  for (std::size_t i = 0; i < site.returns.size() && i < callee.returns.size(); ++i)
    copy_place(caller->frame, site.returns[i], from, callee.returns[i], caller->called);
  warp.gone = caller->gone | warp.exited;
  warp.local_base = caller->local_base;
  *frame = caller->frame;
}

/// The lanes' stacks move together: an allocation takes what the greediest of them asks for.
void stack_call(Context* context, const Record* ip, char* frame, u32 mask, const HostCall& call) {
  constexpr u64 kAlignment = 16;
  const Runner& runner = *static_cast<const Runner*>(context->owner);
  WarpState& warp = static_cast<WarpState&>(*context->warp);
  RADDLE_ASSERT(mask != 0 && warp.activation < warp.allocated.size());
  u32& allocated = warp.allocated[warp.activation];
  const u64 frame_end = warp.local_base + runner.running_code(warp).local_bytes;
  const u64 top = frame_end + allocated;
  const auto value = [&](unsigned lane) {
    u64 bits = 0;
    const ParameterPlace& place = call.arguments[0];
    std::memcpy(&bits, frame + place.offset + place.bytes * lane, place.bytes);
    return bits;
  };
  if (call.function == HostFunction::StackRestore) {
    const u64 to = value(scalar::lowest_lane(mask));
    if (to >= frame_end && to <= top) allocated = static_cast<u32>(to - frame_end);
    return;
  }
  if (call.function == HostFunction::StackAllocate) {
    u64 maximum = 0;
    for (u32 left = mask; left != 0; left &= left - 1)
      maximum = std::max(maximum, value(scalar::lowest_lane(left)));
    if (maximum > context->local_bytes || top + maximum + kAlignment > context->local_bytes)
      throw RunError(fmt::format(
          "kernel {}: call stack overflow (alloca of {} bytes, local memory of {} bytes per "
          "thread) at {}, {}",
          runner.kernel().title, maximum, context->local_bytes, runner.location(ip->inst),
          runner.thread_text(warp, scalar::lowest_lane(mask))));
    allocated += static_cast<u32>((maximum + kAlignment - 1) / kAlignment * kAlignment);
  }
  const ParameterPlace& to = call.returns[0];
  for (u32 left = mask; left != 0; left &= left - 1)
    std::memcpy(frame + to.offset + to.bytes * scalar::lowest_lane(left), &top, to.bytes);
}

const Record* indexed_branch(Context* context, const Record* ip, char* frame, u32 effective,
                             u32* mask) {
  const Runner& runner = *static_cast<const Runner*>(context->owner);
  WarpState& warp = static_cast<WarpState&>(*context->warp);
  const auto& table = runner.running_code(warp).branch_tables[static_cast<std::size_t>(ip->imm)];
  const auto distance = static_cast<std::int32_t>(ip->aux);
  const Record* join = distance == kNoJoin ? nullptr : ip + distance;
  struct Path {
    const Record* to;
    u32 lanes;
  };
  std::vector<Path> paths;
  const auto add = [&](const Record* to, u32 lanes) {
    for (Path& path : paths)
      if (path.to == to) {
        path.lanes |= lanes;
        return;
      }
    paths.push_back({to, lanes});
  };
  for (u32 left = effective; left != 0; left &= left - 1) {
    u32 index = 0;
    std::memcpy(&index, frame + ip->a + 4 * scalar::lowest_lane(left), 4);
    if (index >= table.size())
      throw RunError(fmt::format("kernel {}: branch index {} of {} targets at {}, {}",
                                 runner.kernel().title, index, table.size(),
                                 runner.location(ip->inst),
                                 runner.thread_text(warp, scalar::lowest_lane(left))));
    add(ip + table[index], left & (0 - left));
  }
  if (effective != *mask) add(ip + 1, *mask & ~effective);
  if (paths.size() == 1) return paths[0].to;
  if (join != nullptr) {
    const StackEntry* top = warp.sp != 0 ? &warp.stack[warp.sp - 1] : nullptr;
    if (top == nullptr || top->frame != nullptr || top->ip != join || top->join != join) {
      StackEntry& entry = push(&warp);
      entry.ip = entry.join = join;
      entry.mask = *mask;
    }
  }
  const Path* first = nullptr;
  for (std::size_t k = paths.size(); k-- > 0;) {
    if (paths[k].to == join) continue;  // these lanes wait in the join
    if (first != nullptr) {
      StackEntry& entry = push(&warp);
      entry.ip = first->to;
      entry.join = join;
      entry.mask = first->lanes;
    }
    first = &paths[k];
  }
  RADDLE_ASSERT(first != nullptr);  // not all of several paths end in the join
  *mask = first->lanes;
  return first->to;
}

}  // namespace raddle::exec
