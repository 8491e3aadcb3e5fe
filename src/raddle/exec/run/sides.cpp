#include "raddle/exec/run/sides.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using At = SideProgress::At;

constexpr std::size_t kMinEntries = 16;  // what a warp's stack begins with
constexpr Record kConverged{O_converged, 0, 0, 0, 0, 0, 0, 0, 0};

/// What holds for the function that an entry of a stack belongs to.
struct Level {
  char* frame;
  u32 activation, local_base, gone;
};

/// Of entry i among `entries`, above which a side runs in the level `top`: the function of the
/// lowest caller from there on is what its entry says. A caller's entry belongs to the caller.
Level level_of(std::span<const StackEntry> entries, std::size_t i, const Level& top, u32 exited) {
  for (; i < entries.size(); ++i)
    if (const StackEntry& e = entries[i]; e.frame != nullptr)
      return {e.frame, e.activation, e.local_base, e.gone | exited};
  return top;
}
Level level_of(const WarpState& warp, std::size_t i) {
  return level_of({warp.stack, warp.sp}, i,
                  {warp.frame, warp.activation, warp.local_base, warp.gone}, warp.exited);
}
/// Lanes that have left the function in which the side began.
u32 gone_of(const Side& side, u32 exited) {
  return level_of(side.entries, 0, {side.frame, side.activation, side.local_base, side.gone},
                  exited)
      .gone;
}
/// Lanes of the side that have not left where it began.
u32 alive(const Side& side, u32 exited) { return side.progress.lanes & ~gone_of(side, exited); }

/// The lowest entry of a side: lanes that come to where the entry `below` ends meet there.
StackEntry meeting_place(const StackEntry* below, u32 lanes) {
  StackEntry e = {};
  e.ip = &kConverged;
  if (below != nullptr && below->frame == nullptr) e.join = below->join;
  e.mask = lanes;
  return e;
}
void add_restricted(std::vector<StackEntry>& to, std::span<const StackEntry> entries, u32 lanes) {
  for (StackEntry e : entries) {
    e.mask &= lanes;
    e.called &= lanes;
    if (e.mask != 0) to.push_back(e);
  }
}

void cut_to_level(Side& side) {
  RADDLE_ASSERT(side.functions.size() > side.activation && side.allocated.size() > side.activation);
  side.functions.resize(side.activation + 1);
  side.allocated.resize(side.activation + 1);
  if (side.activations.size() > side.activation) side.activations.resize(side.activation);
}
void set_level(Side& side, const Level& level) {
  side.frame = level.frame;
  side.activation = level.activation;
  side.local_base = level.local_base;
  side.gone = level.gone;
  cut_to_level(side);
}

Side taken(WarpState& w) {
  Side s;
  s.ip = w.ip;
  s.frame = w.frame;
  s.mask = w.mask;
  s.effective = w.effective;
  s.gone = w.gone;
  s.local_base = w.local_base;
  s.activation = w.activation;
  s.entries.assign(w.stack, w.stack + w.sp);
  s.activations = w.activations;
  s.functions = w.functions;
  s.allocated = w.allocated;
  if (w.sides != nullptr) s.progress = w.sides->running;
  return s;
}
void put(WarpState& w, Side s) {
  w.ip = s.ip;
  w.frame = s.frame;
  w.mask = s.mask;
  w.effective = s.effective;
  w.gone = s.gone;
  w.local_base = s.local_base;
  w.activation = s.activation;
  w.sp = static_cast<u32>(s.entries.size());
  s.entries.resize(std::max<std::size_t>(s.entries.size(), kMinEntries));
  w.entries = std::move(s.entries);
  w.stack = w.entries.data();
  w.stack_capacity = static_cast<u32>(w.entries.size());
  w.activations = std::move(s.activations);
  w.functions = std::move(s.functions);
  w.allocated = std::move(s.allocated);
  if (w.sides != nullptr) w.sides->running = s.progress;
}
void put_next(WarpState& w, std::size_t i) {
  auto& waiting = w.sides->waiting;
  Side next = std::move(waiting[i]);
  waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
  put(w, std::move(next));
}

/// What lanes that wait in a caller's entry have of the call. The warp is in the callee or deeper.
void deliver_returns(Context& c, const WarpState& warp, const StackEntry& caller, u32 lanes) {
  StackEntry theirs = caller;
  theirs.called &= lanes;
  if (theirs.called == 0) return;
  WarpState callee{};
  callee.functions = warp.functions;
  callee.activation = caller.activation + 1;
  RADDLE_ASSERT(warp.activations.size() > caller.activation);
  char* frame = warp.activations[caller.activation]->frame.data();
  Warp* const before = c.warp;
  c.warp = &callee;
  leave_function(&c, &theirs, &frame);
  c.warp = before;
}

/// A side of the lanes that wait in an entry, in that entry's level, with the stack `below` it.
Side side_in(const StackEntry& entry, u32 lanes, const Level& level, const Side& from) {
  Side side;
  side.ip = entry.ip;
  side.mask = side.effective = lanes;
  side.activations = from.activations;
  side.functions = from.functions;
  side.allocated = from.allocated;
  set_level(side, level);
  side.progress.lanes = lanes;
  return side;
}

/// The running lanes become a side of their own, and those of `others`, which wait in entry i and
/// innermost, another one, which runs now.
void part(Context& c, WarpState& w, std::size_t i, u32 others) {
  const StackEntry at = w.stack[i];
  const Level level = level_of(w, i);
  if (at.frame != nullptr) deliver_returns(c, w, at, others);
  const bool first = w.sides == nullptr;
  if (first) w.sides = std::make_unique<Sides>();
  Sides& sides = *w.sides;
  Side spinner = taken(w);
  const std::vector<StackEntry> entries = std::move(spinner.entries);
  const std::span<const StackEntry> all(entries), own = all.subspan(first ? i : 1);
  if (first) {
    sides.base = side_in(at, 0, level, spinner);
    sides.base.entries.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i));
    for (u32 depth = 0; depth < spinner.activations.size(); ++depth)
      if (const auto& frame = spinner.activations[depth]; frame->prepared)
        sides.frames[{depth, frame->function}] = frame;
    spinner.progress.lanes = w.mask | others;
  }
  const StackEntry* below = sides.base.entries.empty() ? nullptr : &sides.base.entries.back();
  const u32 rest_lanes = spinner.progress.lanes & ~w.mask;
  Side rest = side_in(at, others, level, spinner);
  rest.progress.lanes = rest_lanes;
  rest.entries.push_back(meeting_place(below, rest_lanes));
  if (!first) add_restricted(rest.entries, all.subspan(1, i - 1), ~w.mask);
  spinner.entries = {meeting_place(below, w.mask)};
  add_restricted(spinner.entries, own, w.mask);
  spinner.progress = {.lanes = w.mask, .asked = true};
  sides.waiting.push_back(std::move(spinner));
  put(w, std::move(rest));
}

/// Lanes that wait where sides were to meet, or have come there, go on as a side of their own; the
/// others will meet them further out. nullopt: there are none.
std::optional<Side> go_beyond(Context& context, WarpState& warp) {
  Sides& sides = *warp.sides;
  Side& base = sides.base;
  u32 apart = 0;
  for (Side& side : sides.waiting) {
    base.gone |= gone_of(side, warp.exited);
    side.progress.lanes = alive(side, warp.exited);
    side.entries.front().mask &= side.progress.lanes;
    apart |= side.progress.lanes;
  }
  while (!base.entries.empty()) {
    const StackEntry x = base.entries.back();
    base.entries.pop_back();
    const StackEntry* below = base.entries.empty() ? nullptr : &base.entries.back();
    const Level level = x.frame != nullptr
                            ? Level{x.frame, x.activation, x.local_base, x.gone | warp.exited}
                            : Level{base.frame, base.activation, base.local_base, base.gone};
    const u32 lanes = x.mask & ~level.gone & ~apart;
    for (Side& side : sides.waiting) {
      std::vector<StackEntry> entries = {meeting_place(below, side.progress.lanes)};
      add_restricted(entries, {&x, 1}, side.progress.lanes);
      entries.insert(entries.end(), side.entries.begin() + 1, side.entries.end());
      side.entries = std::move(entries);
    }
    if (x.frame != nullptr && lanes != 0) {
      warp.functions = base.functions;
      warp.activations = base.activations;
      deliver_returns(context, warp, x, lanes);
    }
    set_level(base, level);
    if (lanes == 0) continue;
    Side side = side_in(x, lanes, level, base);
    side.entries.push_back(meeting_place(below, lanes));
    return side;
  }
  return std::nullopt;
}

// --- meeting -------------------------------------------------------------------------------------
/// Lanes that must come to where the side stands.
u32 members(const Side& side, u32 exited) {
  const Record& r = *side.ip;
  u32 offset = 0;
  if (r.op == O_shfl) offset = r.flags * kMemberUnit;
  if (r.op == O_warp) offset = r.b;
  if (r.op == O_simple) offset = r.a;
  u32 named = 0;
  for (u32 left = side.mask; left != 0; left &= left - 1) {
    u32 word = 0;
    std::memcpy(&word, side.frame + offset + 4 * __builtin_ctz(left), 4);
    named |= word;
  }
  const bool activemask = r.op == O_warp && static_cast<WarpOp>(r.imm) == WarpOp::Activemask;
  if (activemask || (offset == 0 && r.op != O_bar)) named = side.mask;
  return (r.op == O_bar ? ~0u : named) & ~exited;
}

bool same_place(const Side& a, const Side& b) {
  if (a.progress.at == At::Running || a.ip != b.ip || a.frame != b.frame ||
      a.activation != b.activation || a.entries.size() != b.entries.size())
    return false;
  for (std::size_t i = 1; i < a.entries.size(); ++i) {
    const StackEntry &x = a.entries[i], &y = b.entries[i];
    if (x.ip != y.ip || x.join != y.join || x.frame != y.frame) return false;
  }
  return true;
}
/// Of two sides that become one: lanes that have left a function in the one are still there only
/// if they are so in the other.
u32 merged_gone(u32 a, u32 a_lanes, u32 b, u32 b_lanes) {
  return (a & ~(b_lanes & ~b)) | (b & ~(a_lanes & ~a));
}
void merge(Side& to, const Side& from) {
  const u32 a = to.progress.lanes, b = from.progress.lanes;
  to.gone = merged_gone(to.gone, a, from.gone, b);
  to.mask |= from.mask;
  to.effective |= from.effective;
  for (std::size_t i = 0; i < to.entries.size(); ++i) {
    to.entries[i].mask |= from.entries[i].mask;
    to.entries[i].called |= from.entries[i].called;
    to.entries[i].gone = merged_gone(to.entries[i].gone, a, from.entries[i].gone, b);
  }
  to.progress.lanes |= from.progress.lanes;
}

/// Whether all that are named where the side stands have come to some warp barrier: unlike other
/// instructions it need not be the same one.
bool all_at_warp_barriers(const Sides& sides, u32 named) {
  u32 there = 0;
  for (const Side& side : sides.waiting)
    if (side.progress.at == At::Meeting && side.ip->op == O_simple) there |= side.mask;
  return (named & ~there) == 0;
}

/// Sides that have found all whom they wait for may go on, those at one place as one.
void release(Sides& sides, u32 exited) {
  auto& waiting = sides.waiting;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i].progress.at == At::Running || waiting[i].progress.met) continue;
    u32 here = 0, named = 0;
    for (const Side& other : waiting)
      if (same_place(other, waiting[i])) {
        here |= other.mask;
        named |= members(other, exited);
      }
    const bool warp_barrier = waiting[i].ip->op == O_simple;
    if ((named & ~here) != 0 && !(warp_barrier && all_at_warp_barriers(sides, named))) continue;
    for (std::size_t k = waiting.size(); --k > i;)
      if (same_place(waiting[k], waiting[i])) {
        merge(waiting[i], waiting[k]);
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(k));
      }
    waiting[i].progress.met = true;
    if (!warp_barrier) continue;
    // Whom else it was for has come as well.
    for (Side& other : waiting)
      if (other.progress.at == At::Meeting && other.ip->op == O_simple && (other.mask & named) != 0)
        other.progress.met = true;
  }
}

bool can_run(const Side& side) { return side.progress.at == At::Running || side.progress.met; }
bool can_run_afresh(const Side& side) { return can_run(side) && !side.progress.asked; }

/// Nobody runs: a side that waits for its turn has it. False: there is none.
bool take_turn(WarpState& w, bool (*may)(const Side&)) {
  const auto& waiting = w.sides->waiting;
  const auto next = std::ranges::find_if(waiting, may);
  if (next == waiting.end()) return false;
  put_next(w, static_cast<std::size_t>(next - waiting.begin()));
  return true;
}

/// All sides have met or ended: the stack below goes on.
bool go_on_together(Context& c, WarpState& w) {
  put(w, std::move(w.sides->base));
  w.sides.reset();
  while (w.sp != 0) {
    const StackEntry t = w.stack[--w.sp];
    if (t.frame != nullptr) leave_function(&c, &t, &w.frame);
    w.mask = w.effective = t.mask & ~w.gone;
    w.ip = t.ip;
    if (w.mask != 0) return true;
  }
  return false;
}

/// Nobody runs. False: no lane of the warp is left.
bool choose(Context& c, WarpState& w) {
  Sides& sides = *w.sides;
  if (sides.waiting.empty()) return go_on_together(c, w);
  release(sides, w.exited);
  if (take_turn(w, can_run)) return true;
  if (auto beyond = go_beyond(c, w)) {
    put(w, std::move(*beyond));
    return true;
  }
  // Whoever is named there never comes.
  sides.waiting.front().progress.met = true;
  put_next(w, 0);
  return true;
}

}  // namespace

bool lanes_wait(const WarpState& warp) { return (~warp.exited & ~warp.mask) != 0; }

void moved(WarpState& warp) {
  if (warp.sides == nullptr) return;
  warp.sides->running.asked = false;
  for (Side& side : warp.sides->waiting) side.progress.asked = false;
}

bool give_way(Context& c, WarpState& w) {
  c.warp = &w;
  const std::size_t bottom = w.sides != nullptr ? 1 : 0;
  for (std::size_t i = w.sp; i-- > bottom;)
    if (const u32 others = w.stack[i].mask & ~w.mask & ~level_of(w, i).gone; others != 0) {
      part(c, w, i, others);
      return true;
    }
  if (w.sides == nullptr) return false;
  if (w.sp == 0) return next_side(c, w);  // it stands where sides meet
  Sides& sides = *w.sides;
  sides.running.asked = true;
  sides.waiting.push_back(taken(w));
  release(sides, w.exited);
  if (take_turn(w, can_run_afresh)) return true;
  if (auto beyond = go_beyond(c, w)) {
    put(w, std::move(*beyond));
    return true;
  }
  put_next(w, sides.waiting.size() - 1);
  moved(w);  // next time they may all try again
  return false;
}

bool next_side(Context& c, WarpState& w) {
  c.warp = &w;
  RADDLE_ASSERT(w.sides != nullptr);
  w.watch.met = true;
  w.sides->base.gone |= w.gone;
  return choose(c, w);
}

void meet(Context& c, WarpState& w, At at) {
  c.warp = &w;
  RADDLE_ASSERT(w.sides != nullptr && w.mask != 0);
  w.sides->running.at = at;
  w.sides->running.met = false;
  w.sides->waiting.push_back(taken(w));
  const bool some = choose(c, w);
  RADDLE_ASSERT(some);
}

}  // namespace raddle::exec
