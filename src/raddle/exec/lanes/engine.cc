// The dispatch loop: decoded records in, registers, memory and op stream changed. Measured in
// examples/lane_exec: a plain switch is as fast as computed goto, function pointers or tail calls.
#include "raddle/exec/lanes/arithmetic.h"
#include "raddle/exec/lanes/control.h"
#include "raddle/exec/lanes/other_memory.h"
#include "raddle/exec/lanes/products.h"
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
/// The lanes that it names may be on other sides of the warp. Under a guard the run before it has
/// been written together with it, so there it is executed by those that are here.
RADDLE_INLINE bool must_meet(Context* c, const Path& p) {
  if (RADDLE_LIKELY(c->parted == 0) || p.e != p.m || c->run > p.ip) return false;
  const bool passed = c->passed == p.ip;
  c->passed = nullptr;
  return !passed;
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
  c->sleeps += p.ip->imm != 0 ? 1 : 0;
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
Outcome run(Context* context) {
  Warp* const warp = context->warp;
  Path path = {warp->ip, warp->frame, warp->mask, warp->effective};
  for (;;) {
    const Record* const ip = path.ip;
    if constexpr (RADDLE_OBSERVED != 0)
      if (!may_pause(ip->op) || !must_pause(context)) observe(context, ip, path.frame, path.e);
#define MAY_PAUSE \
  if (must_pause(context)) return pause(context, path, Outcome::Pause)
#define NEXT        \
  path.ip = ip + 1; \
  continue
#define MEMORY(call)                \
  MAY_PAUSE;                        \
  leave(context, ip->inst, path.m); \
  call;                             \
  context->run = ip + 1;            \
  NEXT
    switch (ip->op) {
#undef ALU
#undef SETP
#define ALU(name, ...)                     \
  case O_##name:                           \
    alu<F_##name>(ip, path.frame, path.e); \
    NEXT;
#define SETP(name, ...)                              \
  case O_##name:                                     \
    set_predicate<F_##name>(ip, path.frame, path.e); \
    NEXT;
#include "raddle/exec/isa/hot.def"
#undef ALU
#undef SETP
      case O_selp_16:
        select<u16>(ip, path.frame, path.e);
        NEXT;
      case O_selp_32:
        select<u32>(ip, path.frame, path.e);
        NEXT;
      case O_selp_64:
        select<u64>(ip, path.frame, path.e);
        NEXT;
      case O_pred_logic:
        predicate_logic(ip, path.frame, path.e);
        NEXT;
      case O_pred_from_32: {
        const u32* source = lanes<u32>(path.frame, ip->a);
        u32 nonzero = 0;
        RADDLE_LANES nonzero |= source[i] != 0 ? kBit[i] : 0;
        u32& target = predicate(path.frame, ip->d);
        target = (target & ~path.e) | (nonzero & path.e);
        NEXT;
      }
      case O_round:
        set_rounding(static_cast<u32>(ip->imm));
        NEXT;
      case O_note:
        MAY_PAUSE;
        alone(context, path, static_cast<u32>(ip->imm), path.e);
        context->run = ip + 1;
        NEXT;
      case O_guard: {
        MAY_PAUSE;
        const u32 guarded = path.m & (predicate(path.frame, ip->a) ^ ip->d);
        if (guarded == 0 || ip->imm != 0) {
          alone(context, path, 0, guarded);
          context->run = ip + ip->aux;
        }
        path.e = guarded;
        path.ip = guarded == 0 ? context->run : ip + 1;
        if (guarded == 0) path.e = path.m;
        continue;
      }
      case O_unguard:
        path.e = path.m;
        NEXT;
      case O_cut:
        MAY_PAUSE;
        leave(context, ip->inst, path.m);
        context->run = ip;
        NEXT;
      case O_join:
        join(context, &path);
        continue;
      case O_bra:
        MAY_PAUSE;
        leave(context, ip->inst + 1, path.m);
        go(context, &path, ip + ip->imm);
        continue;
      case O_bra_if: {
        MAY_PAUSE;
        const u32 taken = path.m & (predicate(path.frame, ip->a) ^ ip->d);
        alone(context, path, 0, taken);
        if (taken == 0) go(context, &path, ip + 1);
        else branch(context, &path, taken);
        continue;
      }
      case O_brx:
        MAY_PAUSE;
        alone(context, path, 0, path.e);
        go(context, &path, indexed_branch(context, ip, path.frame, path.e, &path.m));
        path.e = path.m;
        continue;
      case O_call:
      case O_call_indirect:
        MAY_PAUSE;
        alone(context, path, 0, path.e);
        go(context, &path, enter_function(context, ip, &path.frame, path.e, &path.m));
        path.e = path.m;
        continue;
      case O_host:
        MAY_PAUSE;
        alone(context, path, 0, path.e);
        context->run = ip + 1;
        host_call(context, ip, path.frame, path.e);
        NEXT;
      case O_device:
        MAY_PAUSE;
        alone(context, path, 0, path.e);
        context->run = ip + 1;
        device_call(context, ip, path.frame, path.e);
        NEXT;
      case O_launch:  // the record's lanes are those that have launched
        MAY_PAUSE;
        leave(context, ip->inst, path.m);
        context->run = ip;
        single(context, ip->inst, 0, device_call(context, ip, path.frame, path.e));
        context->run = ip + 1;
        NEXT;
      case O_ret:
        MAY_PAUSE;
        alone(context, path, 0, path.e);
        drop_lanes(context, &path, path.e);  // the caller's entry lies below: something remains
        continue;
      case O_exit:
        MAY_PAUSE;
        alone(context, path, 0, path.e);
        warp->exited |= path.e;
        if (!drop_lanes(context, &path, path.e)) return Outcome::Done;
        continue;
      case O_end:  // the function's text ends without ret or exit
        MAY_PAUSE;
        leave(context, ip->inst, path.m);
        if (ip->imm != 0) warp->exited |= path.m;
        if (!drop_lanes(context, &path, path.m)) return Outcome::Done;
        continue;
      case O_bar:
        MAY_PAUSE;
        leave(context, ip->inst, path.m);
        count(context, 1, path.e);
        save(context, path);  // the block writes the record, and moves ip on when the barrier opens
        return Outcome::Barrier;
      case O_simple:
        MAY_PAUSE;
        if (ip->b != 0 && must_meet(context, path)) return pause(context, path, Outcome::Meet);
        simple(context, path);
        context->run = ip + 1;
        NEXT;
      case O_trap:
        trap(context, ip, path.e);
      case O_converged:
        save(context, path);
        return Outcome::Converged;
      case O_clock: {
        const u64 now =
            context->clock_base + context->warp_instructions + (ip->inst - context->run->inst);
        const u64 value = ip->imm == 0 ? now : now >> 32;
        if (ip->aux == 8) splat_64(path.frame, ip->d, value, path.e);
        else splat_32(path.frame, ip->d, u32(value), path.e);
        NEXT;
      }
      case O_local_address:
        if (ip->aux == 8) splat_64(path.frame, ip->d, u64(s64(ip->imm)) + warp->local_base, path.e);
        else splat_32(path.frame, ip->d, u32(ip->imm) + warp->local_base, path.e);
        NEXT;
      case O_shfl:
        if (must_meet(context, path)) return pause(context, path, Outcome::Meet);
        shuffle(ip, path.frame, path.e);
        NEXT;
      case O_warp:
        if (must_meet(context, path)) return pause(context, path, Outcome::Meet);
        warp_operation(context, ip, path.frame, path.e);
        NEXT;
      case O_ld_global_32:
        MEMORY((global_access<u32, false>(context, ip, path.frame, path.e)));
      case O_ld_global_64:
        MEMORY((global_access<u64, false>(context, ip, path.frame, path.e)));
      case O_ld_global:
        MEMORY((global_any<false>(context, ip, path.frame, path.e, ip->inst)));
      case O_st_global_32:
        MEMORY((global_access<u32, true>(context, ip, path.frame, path.e)));
      case O_st_global_64:
        MEMORY((global_access<u64, true>(context, ip, path.frame, path.e)));
      case O_st_global:
        MEMORY((global_any<true>(context, ip, path.frame, path.e, ip->inst)));
      case O_ld_shared_32:
        MEMORY(((ip->flags & kNarrowAddress) != 0
                    ? shared_word<u32, false>(context, ip, path.frame, path.e)
                    : shared_word<u64, false>(context, ip, path.frame, path.e)));
      case O_st_shared_32:
        MEMORY(((ip->flags & kNarrowAddress) != 0
                    ? shared_word<u32, true>(context, ip, path.frame, path.e)
                    : shared_word<u64, true>(context, ip, path.frame, path.e)));
      case O_ld_shared:
        MEMORY((shared_any<false>(context, ip, path.frame, path.e, 0, ip->inst)));
      case O_st_shared:
        MEMORY((shared_any<true>(context, ip, path.frame, path.e, 0, ip->inst)));
      case O_ld_local:
        MEMORY((local_any<false>(context, ip, path.frame, path.e, 0, ip->inst)));
      case O_st_local:
        MEMORY((local_any<true>(context, ip, path.frame, path.e, 0, ip->inst)));
      case O_ld_const:
        MEMORY(constant_any(context, ip, path.frame, path.e, kDeviceBase, false, ip->inst));
      case O_ld_param:
        MEMORY(constant_any(context, ip, path.frame, path.e, 0, true, ip->inst));
      case O_ld_generic:
        MEMORY(generic_any<false>(context, ip, path.frame, path.e));
      case O_st_generic:
        MEMORY(generic_any<true>(context, ip, path.frame, path.e));
      case O_atom:
        MEMORY(atomic_access(context, ip, path.frame, path.e));
      case O_slow:
        slow(context, ip, path.frame, path.e);
        NEXT;
      case O_slow_access:
        MEMORY(slow(context, ip, path.frame, path.e));
      case O_image:
        MEMORY(image_access(context, ip, path.frame, path.e));
      default:
        run_table(ip, path.frame, path.e);
        NEXT;
    }
  }
}

}  // namespace

extern const LaneEngine kEngine;
const LaneEngine kEngine = {RADDLE_ISA_NAME, run, add_products, widen_halves, take_sums, give_sums};

}  // namespace raddle::exec::RADDLE_ISA
