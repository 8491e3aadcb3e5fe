// Branches, joins, calls and ends: the reconvergence stack (Fung et al., MICRO 2007) with the
// running path kept in registers. A divergent branch leaves a join entry (unless the top already is
// that join: loops would grow the stack) and the path not taken first; lanes that branch to the
// join itself just wait in it. Joins are records of their own, so no other instruction looks at the
// stack.
#pragma once
#include "raddle/exec/lanes/stream.h"

namespace raddle::exec::RADDLE_ISA {

/// Where the warp is; the handlers keep it in registers.
struct Path {
  const Record* ip;
  char* frame;
  u32 m, e;
};

RADDLE_INLINE void go(Context* c, Path* p, const Record* to) {
  p->ip = to;
  c->run = to;
}
RADDLE_INLINE StackEntry* push(Warp* w) {
  if (w->sp == w->stack_capacity) grow_stack(w);
  StackEntry* e = &w->stack[w->sp++];
  e->frame = nullptr;
  return e;
}
RADDLE_INLINE void push_path(Warp* w, const Record* ip, const Record* join, u32 mask) {
  StackEntry* e = push(w);
  e->ip = ip;
  e->join = join;
  e->mask = mask;
}
/// No lane is left on this path: takes the next one. False when there is none.
RADDLE_INLINE bool resume(Context* c, Path* p) {
  Warp* w = c->warp;
  while (w->sp != 0) {
    const StackEntry* t = &w->stack[--w->sp];
    if (t->frame != nullptr) leave_function(c, t, &p->frame);
    p->m = p->e = t->mask & ~w->gone;
    if (p->m != 0) {
      go(c, p, t->ip);
      return true;
    }
  }
  return false;
}
RADDLE_INLINE const Record* join_of(const Record* ip) {
  const s32 d = static_cast<s32>(ip->aux);
  return d == kNoJoin ? nullptr : ip + d;
}
/// Records have been written up to and with the branch; `taken` is not empty.
RADDLE_INLINE void branch(Context* c, Path* p, u32 taken) {
  const Record* ip = p->ip;
  const Record* target = ip + ip->imm;
  const u32 rest = p->m & ~taken;
  if (rest == 0) return go(c, p, target);
  Warp* w = c->warp;
  const Record* join = join_of(ip);
  const Record* next = ip + 1;
  if (join != nullptr) {
    const StackEntry* top = w->sp != 0 ? &w->stack[w->sp - 1] : nullptr;
    if (top == nullptr || top->frame != nullptr || top->ip != join || top->join != join)
      push_path(w, join, join, p->m);
  }
  if (target == join) {
    p->m = p->e = rest;
    return go(c, p, next);
  }
  if (next == join) {
    p->m = p->e = taken;
    return go(c, p, target);
  }
  push_path(w, target, join, taken);
  p->m = p->e = rest;
  go(c, p, next);
}
RADDLE_INLINE void join(Context* c, Path* p) {
  Warp* w = c->warp;
  const Record* here = p->ip;
  bool left = false;
  while (w->sp != 0 && w->stack[w->sp - 1].join == here && w->stack[w->sp - 1].frame == nullptr) {
    if (!left) leave(c, here->inst, p->m);
    left = true;
    const StackEntry* t = &w->stack[--w->sp];
    p->m = p->e = t->mask & ~w->gone;
    if (p->m != 0 && t->ip != here) return go(c, p, t->ip);
  }
  if (left) c->run = here + 1;
  p->ip = here + 1;
}

}  // namespace raddle::exec::RADDLE_ISA
