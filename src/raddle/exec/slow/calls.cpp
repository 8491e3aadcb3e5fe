// Calls, returns and indexed branches: what changes frames or has many targets.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kBytesPerCall = 16;  // of the stack, at least

unsigned lowest_of(u32 mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }

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
      const u32 at = 128 * w + width * lowest_of(m);
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
  entries.resize(entries.size() * 2);
  w->stack = entries.data();
  w->stack_capacity = static_cast<u32>(entries.size());
}

const Record* enter_function(Context* c, const Record* ip, char** frame, u32 effective, u32* mask) {
  const Runner& runner = *static_cast<const Runner*>(c->owner);
  const Kernel& kernel = runner.kernel();
  WarpState& warp = static_cast<WarpState&>(*c->warp);
  const Code& caller = runner.running_code(warp);
  const CallSite& site = caller.calls[static_cast<std::size_t>(ip->imm)];
  u32 module_index = site.callee, called = effective, back = *mask;
  const auto fail = [&](const std::string& why) {
    throw RunError(fmt::format("kernel {}: {} at {}, {}", kernel.title, why, runner.place(ip->inst),
                               runner.thread_text(warp, lowest_of(effective))));
  };
  if (ip->op == O_call_indirect) {
    const u64 target = target_of(*ip, *frame, lowest_of(effective));
    module_index = static_cast<u32>((target - kCodeWindow) / 16);
    if (target < kCodeWindow || target % 16 != 0 ||
        (target - kCodeWindow) / 16 >= kernel.function_of_module.size() ||
        kernel.function_of_module[module_index] == ptx::kNoIndex)
      fail(fmt::format("call of address {:#x}, which is no function", target));
    called = 0;
    for (u32 m = effective; m != 0; m &= m - 1)
      if (target_of(*ip, *frame, lowest_of(m)) == target) called |= m & (0 - m);
    const u32 rest = effective & ~called;
    if (rest != 0) {  // they make the call after these have returned
      const auto distance = static_cast<std::int32_t>(ip->aux);
      const Record* join = distance == kNoJoin ? nullptr : ip + distance;
      if (join != nullptr) {
        StackEntry& e = push(&warp);
        e.ip = e.join = join, e.mask = *mask;
      }
      StackEntry& e = push(&warp);
      e.ip = ip, e.join = join, e.mask = rest;
      back = called;
    }
  }
  const u32 index = kernel.function_of_module[module_index];
  const Code& callee = kernel.functions[index];
  StackEntry& e = push(&warp);
  e.ip = ip + 1, e.frame = *frame, e.mask = back, e.called = called;
  e.gone = warp.gone, e.local_base = warp.local_base, e.activation = warp.activation;
  warp.local_base += caller.local_bytes + warp.allocated[warp.activation];
  if (u64{warp.local_base} + callee.local_bytes > c->local_bytes)
    fail(fmt::format("call stack overflow (local memory of {} bytes per thread)", c->local_bytes));
  const u32 deepest = std::max(c->local_bytes / kBytesPerCall, kernel.most_calls());
  if (++warp.activation > deepest)
    fail(fmt::format("call stack overflow (more than {} calls within calls)", deepest));
  if (warp.activations.size() < warp.activation)
    warp.activations.push_back(std::make_unique<Activation>());
  if (warp.functions.size() <= warp.activation) warp.functions.push_back(index);
  warp.functions[warp.activation] = index;
  warp.allocated.resize(warp.activation);
  warp.allocated.push_back(0);
  Activation& a = *warp.activations[warp.activation - 1];
  if (!a.prepared || a.function != index) {
    const std::size_t bytes = callee.frame_bytes + 256;
    a.frame.reserve(bytes);
    std::memset(a.frame.data(), 0, bytes);
    runner.fill(callee, a.frame.data(), warp);
    a.function = index;
    a.prepared = true;
  }
  for (std::size_t i = 0; i < site.arguments.size() && i < callee.parameters.size(); ++i)
    copy_place(a.frame.data(), callee.parameters[i], *frame, site.arguments[i], called);
  *frame = a.frame.data();
  *mask = called;
  return callee.records.data();
}

void leave_function(Context* c, const StackEntry* caller, char** frame) {
  const Runner& runner = *static_cast<const Runner*>(c->owner);
  WarpState& warp = static_cast<WarpState&>(*c->warp);
  const Code& callee = runner.running_code(warp);
  const char* from = *frame;
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
void stack_call(Context* c, const Record* ip, char* frame, u32 mask, const HostCall& call) {
  constexpr u64 kAlignment = 16;
  const Runner& runner = *static_cast<const Runner*>(c->owner);
  WarpState& warp = static_cast<WarpState&>(*c->warp);
  u32& allocated = warp.allocated[warp.activation];
  const u64 frame_end = warp.local_base + runner.running_code(warp).local_bytes;
  const u64 top = frame_end + allocated;
  const auto value = [&](unsigned lane) {
    u64 v = 0;
    const ParameterPlace& place = call.arguments[0];
    std::memcpy(&v, frame + place.offset + place.bytes * lane, place.bytes);
    return v;
  };
  if (call.function == HostFunction::StackRestore) {
    const u64 to = value(lowest_of(mask));
    if (to >= frame_end && to <= top) allocated = static_cast<u32>(to - frame_end);
    return;
  }
  if (call.function == HostFunction::StackAllocate) {
    u64 most = 0;
    for (u32 m = mask; m != 0; m &= m - 1) most = std::max(most, value(lowest_of(m)));
    if (most > c->local_bytes || top + most + kAlignment > c->local_bytes)
      throw RunError(fmt::format(
          "kernel {}: call stack overflow (alloca of {} bytes, local memory of {} bytes per "
          "thread) at {}, {}",
          runner.kernel().title, most, c->local_bytes, runner.place(ip->inst),
          runner.thread_text(warp, lowest_of(mask))));
    allocated += static_cast<u32>((most + kAlignment - 1) / kAlignment * kAlignment);
  }
  const ParameterPlace& d = call.returns[0];
  for (u32 m = mask; m != 0; m &= m - 1)
    std::memcpy(frame + d.offset + d.bytes * lowest_of(m), &top, d.bytes);
}

const Record* indexed_branch(Context* c, const Record* ip, char* frame, u32 effective, u32* mask) {
  const Runner& runner = *static_cast<const Runner*>(c->owner);
  WarpState& warp = static_cast<WarpState&>(*c->warp);
  const auto& table = runner.running_code(warp).branch_tables[static_cast<std::size_t>(ip->imm)];
  const auto distance = static_cast<std::int32_t>(ip->aux);
  const Record* join = distance == kNoJoin ? nullptr : ip + distance;
  struct Path {
    const Record* to;
    u32 lanes;
  };
  std::vector<Path> paths;
  const auto add = [&](const Record* to, u32 lanes) {
    for (Path& p : paths)
      if (p.to == to) {
        p.lanes |= lanes;
        return;
      }
    paths.push_back({to, lanes});
  };
  for (u32 m = effective; m != 0; m &= m - 1) {
    u32 index = 0;
    std::memcpy(&index, frame + ip->a + 4 * lowest_of(m), 4);
    if (index >= table.size())
      throw RunError(fmt::format("kernel {}: branch index {} of {} targets at {}, {}",
                                 runner.kernel().title, index, table.size(), runner.place(ip->inst),
                                 runner.thread_text(warp, lowest_of(m))));
    add(ip + table[index], m & (0 - m));
  }
  if (effective != *mask) add(ip + 1, *mask & ~effective);
  if (paths.size() == 1) return paths[0].to;
  if (join != nullptr) {
    const StackEntry* top = warp.sp != 0 ? &warp.stack[warp.sp - 1] : nullptr;
    if (top == nullptr || top->frame != nullptr || top->ip != join || top->join != join) {
      StackEntry& e = push(&warp);
      e.ip = e.join = join, e.mask = *mask;
    }
  }
  const Path* first = nullptr;
  for (std::size_t k = paths.size(); k-- > 0;) {
    if (paths[k].to == join) continue;  // these lanes wait in the join
    if (first != nullptr) {
      StackEntry& e = push(&warp);
      e.ip = first->to, e.join = join, e.mask = first->lanes;
    }
    first = &paths[k];
  }
  *mask = first->lanes;
  return first->to;
}

}  // namespace raddle::exec
