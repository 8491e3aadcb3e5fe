#include "raddle/exec/slow/async.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

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

namespace {

trace::ObjectChange brought_to(const Block& block, trace::ObjectChange wait) {
  wait.arrivals = trace::ObjectChange::kBrought;
  const auto found = block.brought.find(wait.object);
  wait.value = found == block.brought.end() ? 0 : found->second.at_phase;
  return wait;
}

/// The block that an object belongs to, and its number there.
struct Home {
  Block* block;
  u32 number;
};
/// Precondition: shared_place() has found something there.
Home home_of(const SlowRun& run, u64 offset) {
  Block& own = static_cast<Runner*>(run.context->owner)->stepping_block();
  const u64 rank = offset >> kRankShift;
  const auto number = static_cast<u32>((offset & ((u64{1} << kRankShift) - 1)) / 8);
  if (rank == 0 || own.cluster == nullptr) return {&own, number};
  Block* const other = own.cluster->blocks[rank - 1];
  RADDLE_ASSERT(other != nullptr);
  return {other, number};
}
bool is_own(const SlowRun& run, const Home& home) {
  return home.block == static_cast<const Runner*>(run.context->owner)->running_block();
}
/// The block's own warps bring so many arrivals or bytes.
void bring(const SlowRun& run, const Home& home, u64 units) {
  if (static_cast<const Runner*>(run.context->owner)->shares_objects() && is_own(run, home))
    home.block->brought[home.number].so_far += static_cast<u32>(units);
}
/// A phase of it is over.
void note_phase(const Home& home) {
  ++home.block->phases[home.number];
  if (const auto found = home.block->brought.find(home.number); found != home.block->brought.end())
    found->second.at_phase = found->second.so_far;
}

}  // namespace

/// What a lane does to an object, to the timing model.
trace::ObjectChange BarrierObject::change(const SlowRun& run, unsigned lane, u32 object) const {
  const Runner& runner = *static_cast<const Runner*>(run.context->owner);
  const auto count = [&] { return lane_value<u32>(run.frame, operand, lane); };
  trace::ObjectChange out{.object = object, .lanes = 1u << lane};
  switch (action) {
    case Action::Inval:
      break;
    case Action::Init:
    case Action::Arrive:
      out.arrivals = count();
      break;
    case Action::ArriveCopies:
      out.arrivals = 1;
      break;
    case Action::ArriveExpectTx:
      out.arrivals = 1;
      out.value = count();
      break;
    case Action::ExpectTx:
    case Action::CompleteTx:
      out.value = count();
      break;
    case Action::TestWait:
    case Action::TestParity:
      if (runner.shares_objects()) return brought_to(*runner.running_block(), out);
      out.value = runner.running_block()->phases_of(object);
      break;
  }
  return out;
}

void ObjectChanges::add(const trace::ObjectChange& change) {
  for (trace::ObjectChange& known : changes_) {
    if (known.object != change.object) continue;
    known.lanes |= change.lanes;
    known.arrivals += change.arrivals;
    known.value += change.value;
    return;
  }
  changes_.push_back(change);
}

namespace {
void write_objects(const SlowRun& run, std::span<const trace::ObjectChange> changes) {
  Context& c = *run.context;
  RADDLE_ASSERT(changes.size() <= kLanes);
  const auto count = static_cast<unsigned>(changes.size());
  const auto head = trace::Record::make(run.record->inst, 1, count, run.mask);
  c.out[0] = head.head;
  c.out[1] = head.mask;
  c.out += trace::kRecordWords;
  for (const trace::ObjectChange& change : changes) {
    const trace::Transaction packed = change.packed();
    std::memcpy(c.out, &packed, sizeof packed);
    c.out += trace::kTransactionWords;
  }
  ++c.warp_instructions;
  c.thread_instructions += static_cast<u32>(std::popcount(run.mask));
}
}  // namespace

void BarrierObject::run(const SlowRun& run) const {
  const bool tests = action == Action::TestWait || action == Action::TestParity;
  SlowAccess access(run, ptx::Space::Shared, !tests);
  ObjectChanges changes;
  bool all = true;
  each_lane(run.mask, [&](unsigned lane) {
    u64 at = address.of(run.frame, lane);
    if (address.space == ptx::Space::Generic) at -= kSharedWindow;
    char* const where = access.at(lane, at, 8);
    u64 object = 0;
    std::memcpy(&object, where, 8);
    const u64 before = object;
    const Home home = home_of(run, at);
    const trace::ObjectChange changed =
        tests ? trace::ObjectChange{} : change(run, lane, home.number);
    if (!tests && action != Action::Init)
      bring(run, home, changed.arrivals + (action == Action::CompleteTx ? changed.value : 0));
    const bool answer = act(run, lane, object);
    std::memcpy(where, &object, 8);
    const bool sets = action == Action::Init || action == Action::Inval;
    if (!sets && (before ^ object) >> 63 != 0) note_phase(home);
    // A test that fails is no wait; of several lanes' tests of one object one says it all.
    const bool known = tests && std::ranges::any_of(changes.all(), [&](const auto& change) {
                         return change.object == home.number;
                       });
    if (answer && !known && is_own(run, home))
      changes.add(tests ? change(run, lane, home.number) : changed);
    if (tests) set_predicate(run.frame, result, lane, answer);
    else if (result != 0) set_lane(run.frame, result, lane, before);
    all = all && answer;
  });
  write_objects(run, changes.all());
  if (!tests && run.context->live != 0) run.context->out_limit = run.context->out;
  if (!all) static_cast<Runner*>(run.context->owner)->yield();
}

std::optional<u32> complete_transactions(const SlowRun& run, unsigned lane, u64 offset, u64 bytes) {
  const u64 at = offset >= kSharedWindow ? offset - kSharedWindow : offset;
  char* const where = at % 8 == 0 ? shared_place(run.context, at, 8) : nullptr;
  if (where == nullptr) {
    const Runner& runner = *static_cast<const Runner*>(run.context->owner);
    throw RunError(
        fmt::format("kernel {}: no barrier object can be at shared address {:#x}, {}, {}",
                    runner.kernel().title, at, runner.location(run.record->inst),
                    runner.thread_text(*run.context->warp, lane)));
  }
  u64 object = 0;
  std::memcpy(&object, where, 8);
  Fields fields = Fields::of(object);
  const Home home = home_of(run, at);
  bring(run, home, bytes);
  fields.bytes -= static_cast<s64>(bytes);
  const u64 parity = fields.parity;
  fields.complete_if_done();
  if (fields.parity != parity) note_phase(home);
  object = fields.packed();
  std::memcpy(where, &object, 8);
  return is_own(run, home) ? std::optional{home.number} : std::nullopt;
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
