#include "raddle/exec/slow/async.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

bool predicate_of(const char* frame, u32 offset, unsigned lane) {
  return (lane_value<u32>(frame, offset, 0) >> lane & 1) != 0;
}
void set_predicate(char* frame, u32 offset, unsigned lane, bool value) {
  const u32 old = lane_value<u32>(frame, offset, 0);
  set_lane(frame, offset, 0, (old & ~(1u << lane)) | u32{value} << lane);
}

constexpr u64 kCountMask = (u64{1} << 20) - 1;

/// The fields of a barrier object.
struct Fields {
  u64 pending, count;
  s64 bytes;
  u64 parity;

  static Fields of(u64 object) {
    return {object & kCountMask, object >> 20 & kCountMask, static_cast<s64>(object << 3) >> 43,
            object >> 63};
  }
  u64 packed() const {
    const u64 transactions = static_cast<u64>(bytes) & ((u64{1} << 21) - 1);
    return pending | count << 20 | transactions << 40 | parity << 63;
  }
  void complete_if_done() {
    if (pending != 0 || bytes != 0) return;
    parity ^= 1;
    pending = count;
  }
};

}  // namespace

void AsyncCopy::run(const SlowRun& run) const {
  RADDLE_ASSERT(bytes == 4 || bytes == 8 || bytes == 16);
  SlowAccess read(run, from.space, false), written(run, to.space, true);
  each_lane(run.mask, [&](unsigned lane) {
    u32 size = bytes;
    if (source_bytes) size = std::min(size, lane_value<u32>(run.frame, *source_bytes, lane));
    if (ignore && predicate_of(run.frame, *ignore, lane) != ignore_negated) size = 0;
    char* const target = written.at(lane, to.of(run.frame, lane), bytes);
    char data[16] = {};
    if (size != 0) std::memcpy(data, read.at(lane, from.of(run.frame, lane), bytes), size);
    std::memcpy(target, data, bytes);
  });
  read.write(run.mask);
}

/// Changes `object`; the answer of a test.
bool BarrierObject::act(const SlowRun& run, unsigned lane, u64& object) const {
  const auto count = [&] { return u64{lane_value<u32>(run.frame, operand, lane)}; };
  Fields fields = Fields::of(object);
  switch (action) {
    case Action::Init:
      fields = {count(), count(), 0, 0};
      break;
    case Action::Inval:
      fields = {};
      break;
    case Action::ExpectTx:
      fields.bytes += static_cast<s64>(count());
      break;
    case Action::CompleteTx:
      fields.bytes -= static_cast<s64>(count());
      fields.complete_if_done();
      break;
    case Action::ArriveCopies:  // one more is pending, and arrives
      fields.complete_if_done();
      break;
    case Action::Arrive:
    case Action::ArriveExpectTx: {
      const bool expects = action == Action::ArriveExpectTx;
      const u64 arrivals = expects ? 1 : count();
      if (expects) fields.bytes += static_cast<s64>(count());
      if (arrivals > fields.pending) {
        const Runner& runner = *static_cast<const Runner*>(run.context->owner);
        throw RunError(fmt::format(
            "kernel {}: {} arrivals at a barrier object that expects {} more at {}, {}",
            runner.kernel().title, arrivals, fields.pending, runner.location(run.record->inst),
            runner.thread_text(*run.context->warp, lane)));
      }
      if (drops) fields.count -= std::min(arrivals, fields.count);
      fields.pending -= arrivals;
      fields.complete_if_done();
      break;
    }
    case Action::TestWait:
      return fields.parity != lane_value<u64>(run.frame, operand, lane) >> 63;
    case Action::TestParity:
      return fields.parity != (count() & 1);
  }
  object = fields.packed();
  return true;
}

void BarrierObject::run(const SlowRun& run) const {
  const bool tests = action == Action::TestWait || action == Action::TestParity;
  SlowAccess access(run, ptx::Space::Shared, !tests);
  bool all = true;
  each_lane(run.mask, [&](unsigned lane) {
    u64 at = address.of(run.frame, lane);
    if (address.space == ptx::Space::Generic) at -= kSharedWindow;
    char* const where = access.at(lane, at, 8);
    u64 object = 0;
    std::memcpy(&object, where, 8);
    const u64 before = object;
    const bool answer = act(run, lane, object);
    std::memcpy(where, &object, 8);
    if (tests) set_predicate(run.frame, result, lane, answer);
    else if (result != 0) set_lane(run.frame, result, lane, before);
    all = all && answer;
  });
  // Objects are changed lane after lane.
  access.write(run.mask, tests ? 1 : static_cast<unsigned>(std::popcount(run.mask)));
  if (!all) static_cast<Runner*>(run.context->owner)->yield();
}

void PendingCount::run(const SlowRun& run) const {
  each_lane(run.mask, [&](unsigned lane) {
    const u64 object = lane_value<u64>(run.frame, state, lane);
    set_lane(run.frame, d, lane, static_cast<u32>(Fields::of(object).pending));
  });
}

void Election::run(const SlowRun& run) const {
  RADDLE_ASSERT(run.mask != 0);
  const unsigned first = static_cast<unsigned>(std::countr_zero(run.mask));
  const u32 members = lane_value<u32>(run.frame, this->members, first) & run.mask;
  const u32 among = members != 0 ? members : run.mask;
  const u32 leader = static_cast<u32>(std::countr_zero(among));
  each_lane(run.mask, [&](unsigned lane) {
    set_lane(run.frame, d, lane, leader);
    if (elected != 0) set_predicate(run.frame, elected, lane, lane == leader);
  });
}

}  // namespace raddle::exec
