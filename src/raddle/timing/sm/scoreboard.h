// Where every warp of an SM stands: which instruction is next, whether its operands are there, and
// whose schedulers must look again. It owns the warp table (warps.h), the execution units
// (units.h), the front end (front_end.h) and the wheel of what comes back after a fixed delay
// (event_wheel.h), and keeps them consistent with one another:
// - a warp at an instruction wants that instruction's unit, and is in one of the table's sets by
//   its hazards; nobody else wants a unit;
// - whenever either changes, the warp is looked at again.
//
// What it does not know: blocks, policies, the load/store unit. A warp whose stream ends, and one
// that has ended and has got what it waited for, are the caller's (blocks.h): advance() and
// ...written() say so.
#pragma once
#include <algorithm>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/timing/sm/event_wheel.h"
#include "raddle/timing/sm/front_end.h"
#include "raddle/timing/sm/units.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

class Scoreboard {
 public:
  /// At most so many events are under way.
  Scoreboard(const SmSpec& spec, const SchedulerSlots& slots, unsigned events)
      : warps_(spec.warps),
        units_(spec, slots),
        front_end_(spec, slots),
        wheel_(events),
        products_(spec.warpgroup.interval_cycles != 0 ? spec.warps : 0) {}
  WarpTable& warps() { return warps_; }
  const WarpTable& warps() const { return warps_; }
  Warp& operator[](unsigned w) { return warps_[w]; }
  const Warp& operator[](unsigned w) const { return warps_[w]; }
  ExecutionUnits& units() { return units_; }
  const ExecutionUnits& units() const { return units_; }
  EventWheel& wheel() { return wheel_; }
  const EventWheel& wheel() const { return wheel_; }
  void forget_instructions() { front_end_.forget(); }

  // --- who is looked at --------------------------------------------------------------------------
  /// For these warps' schedulers the issue stage may find another thing than last.
  WarpMask changed() const { return look_again_; }
  void look_again(WarpMask warps) { look_again_ |= warps; }
  /// All have been looked at.
  void clear_changed() { look_again_ = 0; }

  // --- the next instruction ----------------------------------------------------------------------
  /// A warp has come with its first instruction decoded. Precondition: it is in no set.
  void present_first(Cycle now, unsigned w) {
    if (front_end_.present()) refill_buffer(now, w);
    else present_next(w);
  }
  /// The instruction after `next` becomes the one to issue, from cycle `from` on; false: the stream
  /// is at its end.
  [[nodiscard, gnu::always_inline]] bool advance(Cycle now, Cycle from, unsigned w) {
    Warp& warp = warps_[w];
    const DecodedInst* before = warp.next;
    if (!FrontEnd::decode_next(warp)) return false;
    if (front_end_.limits_straight_code() || (front_end_.present() && warp.next != before + 1))
      fetch_next(now, from, w, before);
    else present_next(w);
    return true;
  }
  /// The same behind a copy, whose further records, and those of what tells barrier objects of it,
  /// are taken with it: take() for each, with the warp at it.
  template <class Take>
  [[nodiscard]] bool advance_past(Cycle now, Cycle from, unsigned w, Take take) {
    Warp& warp = warps_[w];
    const DecodedInst* const copy = warp.next;
    const auto record = [&] { return trace::Record{warp.cursor.at[0], warp.cursor.at[1]}.inst(); };
    const std::uint32_t inst = record();
    for (;;) {
      if (!FrontEnd::decode_next(warp)) return false;
      if (record() == inst && warp.next < copy) continue;  // what stands before it in the record
      if (warp.next != copy && warp.next->beside != Beside::EndOfCopy) break;
      take();
    }
    if (front_end_.present() && (front_end_.limits_straight_code() || warp.next != copy + 1))
      fetch_next(now, from, w, copy);
    else present_next(w);
    return true;
  }
  /// Its next instruction has been fetched.
  void fetched(unsigned w) {
    RADDLE_ASSERT(has(warps_.fetching, w));
    warps_.fetching &= ~bit_of(w);
    present_next(w);
  }
  /// Something it waited for is there, or it waits for less: where does it belong now?
  void recheck_hazards(Cycle now, unsigned w) {
    warps_.forget_hazards(w);
    if (!has(warps_.emptied, w) || warps_[w].pending.test(trace::kPcRegister))
      return check_hazards(w);
    warps_.emptied &= ~bit_of(w);
    units_.withdraw(w, warps_[w].next->unit);
    refill_buffer(now, w);
  }
  /// A warp at an instruction goes away with it: it wants nothing here any more.
  void withdraw(unsigned w) {
    RADDLE_ASSERT(!has(warps_.parked(), w));
    units_.withdraw(w, warps_[w].next->unit);
    warps_.forget_hazards(w);
    warps_.emptied &= ~bit_of(w);
  }

  // --- issue -------------------------------------------------------------------------------------
  /// The warp issues what it has next; returns by how many cycles it begins late.
  [[gnu::always_inline]] Cycle issue(Cycle now, unsigned scheduler, unsigned w,
                                     const DecodedInst& in) {
    warps_.ready &= ~bit_of(w);
    units_.issued(w, in.unit);
    Cycle late = 0;
    if (in.interval > 1) {
      if (units_.has_queue(in.unit)) [[unlikely]]
        late = units_.enter_queue(now, scheduler, in, wheel_);
      else units_.take(now, scheduler, in, wheel_);
    }
    return late + units_.collect(now, scheduler, in, wheel_);
  }
  /// Its results will be there when the instruction's latency is over.
  [[gnu::always_inline]] void write_back(Cycle now, unsigned w, const DecodedInst& in) {
    Warp& warp = warps_[w];
    if (in.destination < DecodedInst::kNone) {
      warp.pending.set(in.destination);
      wheel_.push(now + in.latency, Event::write(w, in.destination));
    } else if (in.destination == DecodedInst::kMultiple) {
      warp.pending |= warp.launch->code->multiple_destinations(in);
      if (in.product != 0) [[unlikely]]
        note_product(w, in);
      const auto inst = static_cast<std::uint32_t>(&in - warp.launch->code->instructions());
      wheel_.push(now + in.latency, Event::write_multiple(w, inst));
    }
  }
  /// The registers that a memory instruction will write, whenever that may be.
  static void expect_load(Warp& warp, const DecodedInst& in) {
    if (in.destination < DecodedInst::kNone) {
      warp.pending.set(in.destination);
      warp.pending_memory.set(in.destination);
    } else if (in.destination == DecodedInst::kMultiple) {
      const RegisterSet& registers = warp.launch->code->multiple_destinations(in);
      warp.pending |= registers;
      warp.pending_memory |= registers;
    }
  }

  // --- results -----------------------------------------------------------------------------------
  /// A register has its value; true: of a warp that has ended.
  [[nodiscard, gnu::always_inline]] bool register_written(Cycle now, unsigned w, unsigned reg) {
    Warp& warp = warps_[w];
    warp.pending.clear(reg);
    warp.pending_memory.clear(reg);
    if (has(warps_.parked(), w)) return has(warps_.ended, w);
    if (warp.next->uses.test(reg)) waits_for_less(now, w);
    return false;
  }
  /// All that the instruction writes have theirs; true: of a warp that has ended.
  [[nodiscard]] bool registers_written(Cycle now, unsigned w, const DecodedInst& in) {
    if (in.product != 0) [[unlikely]]
      return product_written(now, w, in);
    return are_there(now, w, warps_[w].launch->code->multiple_destinations(in));
  }
  /// Whatever it writes has its value; true: of a warp that has ended.
  [[nodiscard]] bool written(Cycle now, unsigned w, const DecodedInst& in) {
    if (in.destination == DecodedInst::kMultiple) return registers_written(now, w, in);
    if (in.destination != DecodedInst::kNone) return register_written(now, w, in.destination);
    return has(warps_.ended, w);
  }

 private:
  struct Product {
    const DecodedInst* inst = nullptr;
    std::uint8_t group = 0;
  };
  bool are_there(Cycle now, unsigned w, const RegisterSet& registers) {
    Warp& warp = warps_[w];
    warp.pending -= registers;
    warp.pending_memory -= registers;
    if (has(warps_.parked(), w)) return has(warps_.ended, w);
    waits_for_less(now, w);
    return false;
  }
  /// Registers were written of a warp at an instruction. Its scheduler finds another thing only
  /// if the warp is in another set than before.
  [[gnu::always_inline]] void waits_for_less(Cycle now, unsigned w) {
    const Warp& warp = warps_[w];
    const WarpMask bit = bit_of(w);
    if ((warps_.emptied & bit) != 0 || warp.next->releases) return recheck_hazards(now, w);
    if ((warps_.ready & bit) != 0) return;
    if (!warp.next->uses.meets(warp.pending)) {
      warps_.memory_wait &= ~bit;
      warps_.ready |= bit;
      look_again_ |= bit;
    } else if ((warps_.memory_wait & bit) != 0 && !warp.next->uses.meets(warp.pending_memory)) {
      warps_.memory_wait &= ~bit;
      look_again_ |= bit;
    }
  }
  // Out of line: other instructions do not pay for what few machines have.
  [[gnu::noinline]] void note_product(unsigned w, const DecodedInst& in) {
    products_[w].push_back({&in, warps_.groups.issued(AsyncGroups::Kind::Products, w)});
  }
  /// A product of the warp's is made: sums are there to which no other under way adds.
  [[gnu::noinline]] bool product_written(Cycle now, unsigned w, const DecodedInst& in) {
    std::vector<Product>& under_way = products_[w];
    const auto at = std::ranges::find(under_way, &in, &Product::inst);
    RADDLE_ASSERT(at != under_way.end());
    warps_.groups.over(AsyncGroups::Kind::Products, w, at->group);
    under_way.erase(at);
    const DecodedKernel& code = *warps_[w].launch->code;
    RegisterSet sums = code.multiple_destinations(in);
    for (const Product& other : under_way) sums -= code.multiple_destinations(*other.inst);
    return are_there(now, w, sums);
  }
  [[gnu::always_inline]] void check_hazards(unsigned w) {
    look_again_ |= bit_of(w);
    warps_.check_hazards(w);
  }
  // Precondition: the warp is in no set of those that wait or may issue.
  [[gnu::always_inline]] void present_next(unsigned w) {
    units_.want(w, warps_[w].next->unit);
    check_hazards(w);
  }
  void fetch_next(Cycle now, Cycle from, unsigned w, const DecodedInst* before) {
    const Warp& warp = warps_[w];
    const Cycle buffered = front_end_.buffered(now, from, w);
    if (warp.next == before + 1)
      return present_from(from, std::max(buffered, front_end_.line_ready(from, w, warp)), w);
    if (!warp.pending.test(trace::kPcRegister)) return refill_buffer(from, w);
    warps_.emptied |= bit_of(w);  // fetched from where the branch leads when that is known
    present_next(w);
  }
  void refill_buffer(Cycle from, unsigned w) {
    present_from(from, front_end_.refilled(from, w, warps_[w]), w);
  }
  // The next instruction is there at `at`; it could issue from cycle `from` on.
  void present_from(Cycle from, Cycle at, unsigned w) {
    if (at <= from) return present_next(w);
    warps_.fetching |= bit_of(w);
    look_again_ |= bit_of(w);
    wheel_.push(at, Event::fetched(w));
  }

  WarpTable warps_;
  ExecutionUnits units_;
  WarpMask look_again_ = 0;
  FrontEnd front_end_;
  EventWheel wheel_;
  std::vector<std::vector<Product>> products_;  // by warp: under way, oldest first
};

}  // namespace raddle::timing
