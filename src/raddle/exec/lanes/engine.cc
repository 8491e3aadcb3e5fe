// The dispatch loop: decoded records in, registers, memory and op stream changed. Measured in
// examples/lane_exec: a plain switch is as fast as computed goto, function pointers or tail calls.
#include "raddle/exec/lanes/arithmetic.h"
#include "raddle/exec/lanes/control.h"
#include "raddle/exec/lanes/other_memory.h"
#include "raddle/exec/lanes/tables.h"
#include "raddle/exec/lanes/warp.h"

namespace raddle::exec::RADDLE_ISA {

#include "raddle/exec/isa/hot.def"

namespace {

/// Directed rounding for the records up to the next `round`. Operands come from memory and results
/// go there, so the clobber keeps the arithmetic between two of these.
RADDLE_INLINE void set_rounding(u32 mode) {
#if defined(__x86_64__)
  // MXCSR: all exceptions masked, rounding control 0 nearest, 1 down, 2 up, 3 zero.
  const u32 control = mode == 0 ? 0 : mode == 1 ? 3 : mode == 2 ? 1 : 2;
  const u32 mxcsr = 0x1f80 | control << 13;
  asm volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory");
#elif defined(__aarch64__)
  // FPCR: no exception trapped, subnormals kept, RMode 0 nearest, 1 up, 2 down, 3 zero.
  const u64 control = mode == 0 ? 0 : mode == 1 ? 3 : mode == 2 ? 2 : 1;
  const u64 fpcr = control << 22;
  asm volatile("msr fpcr, %0" : : "r"(fpcr) : "memory");
#else
#error "set_rounding() knows x86-64 and AArch64: say here how this processor rounds"
#endif
}

RADDLE_INLINE void save(Context* c, const Path& p) {
  Warp* w = c->warp;
  w->ip = p.ip;
  w->frame = p.frame;
  w->mask = p.m;
  w->effective = p.e;
}
RADDLE_INLINE bool must_pause(const Context* c) {
  return __builtin_expect((c->out >= c->out_limit) | (c->warp_instructions >= c->stop_at), 0);
}
/// Everything before ip is written and the warp can be taken up again at ip.
RADDLE_INLINE Outcome pause(Context* c, const Path& p, Outcome why) {
  leave(c, p.ip->inst, p.m);
  c->run = p.ip;
  save(c, p);
  return why;
}
/// A record of its own for the instruction at ip, mask `e`, after the run before it.
RADDLE_INLINE void alone(Context* c, const Path& p, u32 transactions, u32 mask) {
  leave(c, p.ip->inst, p.m);
  single(c, p.ip->inst, transactions, mask);
}
/// True when lanes remain on this path or another one.
RADDLE_INLINE bool drop_lanes(Context* c, Path* p, u32 lanes_of) {
  c->warp->gone |= lanes_of;
  p->m = p->e = p->m & ~lanes_of;
  if (p->m == 0) return resume(c, p);
  go(c, p, p->ip + 1);
  return true;
}
RADDLE_INLINE void splat_32(char* frame, u32 offset, u32 value, u32 e) {
  u32* d = lanes<u32>(frame, offset);
  RADDLE_LANES d[i] = (e & kBit[i]) != 0 ? value : d[i];
}
RADDLE_INLINE void splat_64(char* frame, u32 offset, u64 value, u32 e) {
  u64* d = lanes<u64>(frame, offset);
  RADDLE_LANES d[i] = (e & kBit[i]) != 0 ? value : d[i];
}
/// Binary logarithm, rounded up, of the longest time a lane asks to sleep; a millisecond at most.
RADDLE_INLINE u32 sleep_time(const Path& p) {
  const u32* t = lanes<u32>(p.frame, p.ip->a);
  u32 longest = 0, log = 0;
  RADDLE_LANES longest = (p.e & kBit[i]) != 0 && t[i] > longest ? t[i] : longest;
  while (log < 20 && (1u << log) < longest) ++log;
  return log;
}
/// The word a barrier or fence record carries instead of lanes, when the decoder gave one; the time
/// in a sleep's.
RADDLE_INLINE void simple(Context* c, const Path& p) {
  leave(c, p.ip->inst, p.m);
  put(c, p.ip->inst, 1, p.ip->imm != 0 ? sleep_time(p) : 0, p.ip->b != 0 ? p.ip->aux : p.e);
  count(c, 1, p.e);
  if ((p.ip->flags & kVisible) != 0) pause_if_live(c);
}

/// Of operations that observers see: may the record be met again after a pause?
[[maybe_unused]] RADDLE_INLINE bool may_pause(u32 op) {
  return op == O_call || op == O_call_indirect || (op >= O_ld_global_32 && op != O_slow);
}

// One case per operation, most of them three lines; what does work has a function of its own.
// lengths: dispatch table
Outcome run(Context* c) {
  Warp* const w = c->warp;
  Path p = {w->ip, w->frame, w->mask, w->effective};
  for (;;) {
    const Record* const ip = p.ip;
    if constexpr (RADDLE_OBSERVED != 0)
      if (!may_pause(ip->op) || !must_pause(c)) observe(c, ip, p.frame, p.e);
#define MAY_PAUSE \
  if (must_pause(c)) return pause(c, p, Outcome::Pause)
#define NEXT     \
  p.ip = ip + 1; \
  continue
#define MEMORY(call)       \
  MAY_PAUSE;               \
  leave(c, ip->inst, p.m); \
  call;                    \
  c->run = ip + 1;         \
  NEXT
    switch (ip->op) {
#undef ALU
#undef SETP
#define ALU(name, ...)               \
  case O_##name:                     \
    alu<F_##name>(ip, p.frame, p.e); \
    NEXT;
#define SETP(name, ...)                        \
  case O_##name:                               \
    set_predicate<F_##name>(ip, p.frame, p.e); \
    NEXT;
#include "raddle/exec/isa/hot.def"
#undef ALU
#undef SETP
      case O_selp_16:
        select<u16>(ip, p.frame, p.e);
        NEXT;
      case O_selp_32:
        select<u32>(ip, p.frame, p.e);
        NEXT;
      case O_selp_64:
        select<u64>(ip, p.frame, p.e);
        NEXT;
      case O_pred_logic:
        predicate_logic(ip, p.frame, p.e);
        NEXT;
      case O_pred_from_32: {
        const u32* a = lanes<u32>(p.frame, ip->a);
        u32 r = 0;
        RADDLE_LANES r |= a[i] != 0 ? kBit[i] : 0;
        u32& d = predicate(p.frame, ip->d);
        d = (d & ~p.e) | (r & p.e);
        NEXT;
      }
      case O_round:
        set_rounding(static_cast<u32>(ip->imm));
        NEXT;
      case O_note:
        MAY_PAUSE;
        alone(c, p, static_cast<u32>(ip->imm), p.e);
        c->run = ip + 1;
        NEXT;
      case O_guard: {
        MAY_PAUSE;
        const u32 g = p.m & (predicate(p.frame, ip->a) ^ ip->d);
        if (g == 0 || ip->imm != 0) {
          alone(c, p, 0, g);
          c->run = ip + ip->aux;
        }
        p.e = g;
        p.ip = g == 0 ? c->run : ip + 1;
        if (g == 0) p.e = p.m;
        continue;
      }
      case O_unguard:
        p.e = p.m;
        NEXT;
      case O_cut:
        MAY_PAUSE;
        leave(c, ip->inst, p.m);
        c->run = ip;
        NEXT;
      case O_join:
        join(c, &p);
        continue;
      case O_bra:
        MAY_PAUSE;
        leave(c, ip->inst + 1, p.m);
        go(c, &p, ip + ip->imm);
        continue;
      case O_bra_if: {
        MAY_PAUSE;
        const u32 taken = p.m & (predicate(p.frame, ip->a) ^ ip->d);
        alone(c, p, 0, taken);
        if (taken == 0) go(c, &p, ip + 1);
        else branch(c, &p, taken);
        continue;
      }
      case O_brx:
        MAY_PAUSE;
        alone(c, p, 0, p.e);
        go(c, &p, indexed_branch(c, ip, p.frame, p.e, &p.m));
        p.e = p.m;
        continue;
      case O_call:
      case O_call_indirect:
        MAY_PAUSE;
        alone(c, p, 0, p.e);
        go(c, &p, enter_function(c, ip, &p.frame, p.e, &p.m));
        p.e = p.m;
        continue;
      case O_host:
        MAY_PAUSE;
        alone(c, p, 0, p.e);
        c->run = ip + 1;
        host_call(c, ip, p.frame, p.e);
        NEXT;
      case O_device:
        MAY_PAUSE;
        alone(c, p, 0, p.e);
        c->run = ip + 1;
        device_call(c, ip, p.frame, p.e);
        NEXT;
      case O_launch:  // the record's lanes are those that have launched
        MAY_PAUSE;
        leave(c, ip->inst, p.m);
        c->run = ip;
        single(c, ip->inst, 0, device_call(c, ip, p.frame, p.e));
        c->run = ip + 1;
        NEXT;
      case O_ret:
        MAY_PAUSE;
        alone(c, p, 0, p.e);
        drop_lanes(c, &p, p.e);  // the caller's entry lies below: something remains
        continue;
      case O_exit:
        MAY_PAUSE;
        alone(c, p, 0, p.e);
        w->exited |= p.e;
        if (!drop_lanes(c, &p, p.e)) return Outcome::Done;
        continue;
      case O_end:  // the function's text ends without ret or exit
        MAY_PAUSE;
        leave(c, ip->inst, p.m);
        if (ip->imm != 0) w->exited |= p.m;
        if (!drop_lanes(c, &p, p.m)) return Outcome::Done;
        continue;
      case O_bar:
        MAY_PAUSE;
        leave(c, ip->inst, p.m);
        count(c, 1, p.e);
        save(c, p);  // the block writes the record, and moves ip on when the barrier opens
        return Outcome::Barrier;
      case O_simple:
        MAY_PAUSE;
        simple(c, p);
        c->run = ip + 1;
        NEXT;
      case O_trap:
        trap(c, ip, p.e);
      case O_clock: {
        const u64 now = c->clock_base + c->warp_instructions + (ip->inst - c->run->inst);
        const u64 value = ip->imm == 0 ? now : now >> 32;
        if (ip->aux == 8) splat_64(p.frame, ip->d, value, p.e);
        else splat_32(p.frame, ip->d, u32(value), p.e);
        NEXT;
      }
      case O_local_address:
        if (ip->aux == 8) splat_64(p.frame, ip->d, u64(s64(ip->imm)) + w->local_base, p.e);
        else splat_32(p.frame, ip->d, u32(ip->imm) + w->local_base, p.e);
        NEXT;
      case O_shfl:
        shuffle(ip, p.frame, p.e);
        NEXT;
      case O_warp:
        warp_operation(c, ip, p.frame, p.e);
        NEXT;
      case O_ld_global_32:
        MEMORY((global_access<u32, false>(c, ip, p.frame, p.e)));
      case O_ld_global_64:
        MEMORY((global_access<u64, false>(c, ip, p.frame, p.e)));
      case O_ld_global:
        MEMORY((global_any<false>(c, ip, p.frame, p.e, ip->inst)));
      case O_st_global_32:
        MEMORY((global_access<u32, true>(c, ip, p.frame, p.e)));
      case O_st_global_64:
        MEMORY((global_access<u64, true>(c, ip, p.frame, p.e)));
      case O_st_global:
        MEMORY((global_any<true>(c, ip, p.frame, p.e, ip->inst)));
      case O_ld_shared_32:
        MEMORY(((ip->flags & kNarrowAddress) != 0 ? shared_word<u32, false>(c, ip, p.frame, p.e)
                                                  : shared_word<u64, false>(c, ip, p.frame, p.e)));
      case O_st_shared_32:
        MEMORY(((ip->flags & kNarrowAddress) != 0 ? shared_word<u32, true>(c, ip, p.frame, p.e)
                                                  : shared_word<u64, true>(c, ip, p.frame, p.e)));
      case O_ld_shared:
        MEMORY((shared_any<false>(c, ip, p.frame, p.e, 0, ip->inst)));
      case O_st_shared:
        MEMORY((shared_any<true>(c, ip, p.frame, p.e, 0, ip->inst)));
      case O_ld_local:
        MEMORY((local_any<false>(c, ip, p.frame, p.e, 0, ip->inst)));
      case O_st_local:
        MEMORY((local_any<true>(c, ip, p.frame, p.e, 0, ip->inst)));
      case O_ld_const:
        MEMORY(constant_any(c, ip, p.frame, p.e, kDeviceBase, false));
      case O_ld_param:
        MEMORY(constant_any(c, ip, p.frame, p.e, 0, true));
      case O_ld_generic:
        MEMORY(generic_any<false>(c, ip, p.frame, p.e));
      case O_st_generic:
        MEMORY(generic_any<true>(c, ip, p.frame, p.e));
      case O_atom:
        MEMORY(atomic_access(c, ip, p.frame, p.e));
      case O_slow:
        slow(c, ip, p.frame, p.e);
        NEXT;
      case O_slow_access:
        MEMORY(slow(c, ip, p.frame, p.e));
      case O_image:
        MEMORY(image_access(c, ip, p.frame, p.e));
      default:
        run_table(ip, p.frame, p.e);
        NEXT;
    }
  }
}

}  // namespace

extern const LaneEngine kEngine;
const LaneEngine kEngine = {RADDLE_ISA_NAME, run};

}  // namespace raddle::exec::RADDLE_ISA
