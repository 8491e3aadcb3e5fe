// Atomic operations and reductions, lane after lane in order (PTX ISA 9.7.13.5, 9.7.13.6).
#include <algorithm>
#include <array>
#include <cstring>

#include "raddle/exec/run/runner.h"
#include "raddle/exec/slow/vector_atomic.h"
#define RADDLE_ISA scalar
#include "raddle/exec/lanes/arithmetic.h"
#include "raddle/exec/lanes/memory.h"

namespace raddle::exec {
namespace {

using scalar::u32;
using scalar::u64;

/// next = f(old, b, c) for each lane of `mask` in turn; old values go to `old_values`.
template <class T, class F>
void each_atomic_lane(const Record& r, const char* frame, u32 mask, char* const* at,
                      u64* old_values, F f) {
  const T* b = reinterpret_cast<const T*>(frame + r.b);
  const T* c = reinterpret_cast<const T*>(frame + r.c);
  for (; mask != 0; mask &= mask - 1) {
    const unsigned lane = scalar::lowest_lane(mask);
    T old;
    std::memcpy(&old, at[lane], sizeof(T));
    const T next = f(old, b[lane], c[lane]);
    std::memcpy(at[lane], &next, sizeof(T));
    std::memcpy(&old_values[lane], &old, sizeof(T));
  }
}

template <class T>
void integer(AtomOp op, const Record& r, const char* frame, u32 mask, char* const* at, u64* old) {
  const auto run = [&](auto f) { each_atomic_lane<T>(r, frame, mask, at, old, f); };
  switch (op) {
    case AtomOp::Add:
      return run(
          [](T o, T b, T) { return static_cast<T>(static_cast<u64>(o) + static_cast<u64>(b)); });
    case AtomOp::Min:
      return run([](T o, T b, T) { return b < o ? b : o; });
    case AtomOp::Max:
      return run([](T o, T b, T) { return b > o ? b : o; });
    case AtomOp::Inc:
      return run([](T o, T b, T) { return o >= b ? T{0} : static_cast<T>(o + 1); });
    case AtomOp::Dec:
      return run([](T o, T b, T) { return o == 0 || o > b ? b : static_cast<T>(o - 1); });
    case AtomOp::And:
      return run([](T o, T b, T) { return static_cast<T>(o & b); });
    case AtomOp::Or:
      return run([](T o, T b, T) { return static_cast<T>(o | b); });
    case AtomOp::Xor:
      return run([](T o, T b, T) { return static_cast<T>(o ^ b); });
    case AtomOp::Exchange:
      return run([](T, T b, T) { return b; });
    case AtomOp::Compare:
      return run([](T o, T b, T c) { return o == b ? c : o; });
  }
}
template <class T>
T float_result(AtomOp op, T old, T b) {
  return op == AtomOp::Add   ? scalar::canonical(old + b)
         : op == AtomOp::Min ? scalar::minimum(old, b)
                             : scalar::maximum(old, b);
}
scalar::u16 half_result(AtomOp op, u32 old, u32 b, bool brain) {
  const float x = brain ? scalar::from_bf16(old) : scalar::from_f16(old);
  const float y = brain ? scalar::from_bf16(b) : scalar::from_f16(b);
  const double r = op == AtomOp::Add ? double{x} + y : double{float_result(op, x, y)};
  return brain ? scalar::to_bf16(r) : scalar::to_f16(r);
}

/// `global`: single-precision additions there flush subnormals.
void perform(const Record& record, const char* frame, u32 mask, char* const* at, bool global,
             u64* old_values) {
  const auto op = static_cast<AtomOp>(record.aux & 255);
  const auto type = static_cast<AtomType>(record.aux >> 8 & 255);
  const bool brain = type == AtomType::BF16 || type == AtomType::BF16x2;
  switch (type) {
    case AtomType::U32:
      return integer<u32>(op, record, frame, mask, at, old_values);
    case AtomType::S32:
      return integer<std::int32_t>(op, record, frame, mask, at, old_values);
    case AtomType::U64:
      return integer<u64>(op, record, frame, mask, at, old_values);
    case AtomType::S64:
      return integer<std::int64_t>(op, record, frame, mask, at, old_values);
    case AtomType::B16:
      return integer<std::uint16_t>(op, record, frame, mask, at, old_values);
    case AtomType::F32:
      return each_atomic_lane<float>(
          record, frame, mask, at, old_values, [=](float old, float operand, float) {
            if (!global || op != AtomOp::Add) return float_result(op, old, operand);
            return scalar::flush(float_result(op, scalar::flush(old), scalar::flush(operand)));
          });
    case AtomType::F64:
      return each_atomic_lane<double>(
          record, frame, mask, at, old_values,
          [=](double old, double operand, double) { return float_result(op, old, operand); });
    case AtomType::F16:
    case AtomType::BF16:
      return each_atomic_lane<scalar::u16>(
          record, frame, mask, at, old_values,
          [=](u32 old, u32 operand, u32) { return half_result(op, old, operand, brain); });
    case AtomType::F16x2:
    case AtomType::BF16x2:
      return each_atomic_lane<u32>(
          record, frame, mask, at, old_values, [=](u32 old, u32 operand, u32) {
            const u32 low = half_result(op, old & 0xffff, operand & 0xffff, brain);
            return low | u32{half_result(op, old >> 16, operand >> 16, brain)} << 16;
          });
  }
}

void write_record(Context* c, u32 inst, u32 transactions, u32 mask) {
  const auto head = trace::Record::make(inst, 1, transactions, mask);
  c->out[0] = head.head;
  c->out[1] = head.mask;
  c->out += 2;
  ++c->warp_instructions;
  c->thread_instructions += static_cast<u32>(__builtin_popcount(mask));
}

void global_part(Context* c, const Record* ip, char* frame, u32 mask, const u64* address,
                 u64* old_values) {
  const unsigned size = 1u << (ip->flags & kElementMask);
  std::array<char*, kLanes> at{};
  trace::Transaction transactions[kLanes];
  u32 n = 0, k = 0;
  for (u32 m = mask; m != 0; m &= m - 1) {
    const unsigned lane = scalar::lowest_lane(m);
    const u64 x = address[lane] - DeviceMemory::kBase;
    if (x % size != 0 || x >= c->extent || (x & 127) + size > c->valid[x >> 7])
      stray_or_fault(c, ip, frame, m & (0 - m));
    at[lane] = c->global + x;
    const u32 line = static_cast<u32>(address[lane] >> 7);
    const u32 words = (size == 8 ? 3u : 1u) << (x >> 2 & 31);
    if (n == 0 || transactions[k].line != line) {  // neighbours mostly share
      k = 0;
      while (k < n && transactions[k].line != line) ++k;
      if (k == n) transactions[n++] = {line, 0, 0};
    }
    transactions[k].words |= words;
    transactions[k].lanes |= m & (0 - m);
  }
  write_record(c, ip->inst, n, mask);
  std::memcpy(c->out, transactions, n * sizeof(trace::Transaction));
  c->out += n * trace::kTransactionWords;
  perform(*ip, frame, mask, at.data(), true, old_values);
  if (c->live != 0) c->out_limit = c->out;
}

/// Each bank serves one lane at a time, also when lanes mean the same word.
void shared_part(Context* c, const Record* ip, char* frame, u32 mask, const u64* address,
                 u64 window, u32 inst, u64* old_values) {
  const unsigned size = 1u << (ip->flags & kElementMask);
  std::array<char*, kLanes> at{};
  std::array<u32, 32> load{};
  u32 maximum = 0;
  for (u32 m = mask; m != 0; m &= m - 1) {
    const unsigned lane = scalar::lowest_lane(m);
    const u64 x = address[lane] - window;
    at[lane] = x % size == 0 ? shared_place(c, x, size) : nullptr;
    if (at[lane] == nullptr) memory_fault(c, ip, frame, mask);
    maximum = std::max(maximum, ++load[x / std::max(size, 4u) % (128 / std::max(size, 4u))]);
  }
  write_record(c, inst, maximum, mask);
  perform(*ip, frame, mask, at.data(), false, old_values);
}

}  // namespace

void VectorAtomic::run(const SlowRun& run) const {
  SlowAccess access(run, address.space, true);
  std::array<char*, kLanes> at{};
  const auto bytes = static_cast<unsigned>(size * operands.size());
  each_lane(run.mask,
            [&](unsigned lane) { at[lane] = access.at(lane, address.of(run.frame, lane), bytes); });
  std::array<std::array<u64, kLanes>, 8> old_values{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Record r = *run.record;
    r.b = r.c = operands[i];
    r.aux = what;
    perform(r, run.frame, run.mask, at.data(), true, old_values[i].data());
    each_lane(run.mask, [&](unsigned lane) { at[lane] += size; });
  }
  // A result's register may be that of another element's operand.
  for (std::size_t i = 0; i < operands.size(); ++i)
    each_lane(run.mask, [&](unsigned lane) {
      std::memcpy(run.frame + results[i] + size * lane, &old_values[i][lane], size);
    });
  access.write(run.mask);
}

void reduce_in_memory(u32 what, unsigned size, char* to, const char* from, u64 bytes) {
  alignas(8) std::array<char, 8 * kLanes> operands;
  std::array<char*, kLanes> at{};
  std::array<u64, kLanes> old_values{};
  Record r{};
  r.aux = what;
  for (u64 done = 0; done < bytes;) {
    const u64 part = std::min<u64>(bytes - done, u64{size} * kLanes);
    const auto count = static_cast<unsigned>(part / size);
    std::memcpy(operands.data(), from + done, part);
    for (unsigned lane = 0; lane < count; ++lane) at[lane] = to + done + u64{size} * lane;
    const u32 mask = count == kLanes ? ~0u : (1u << count) - 1;
    perform(r, operands.data(), mask, at.data(), true, old_values.data());
    done += part;
  }
}

void WideAtomic::run(const SlowRun& run) const {
  constexpr u32 kUpper = sizeof(u64) * kLanes;
  using Value = std::array<u64, 2>;
  const auto value = [&](u32 at, unsigned lane) {
    return Value{lane_value<u64>(run.frame, at, lane),
                 lane_value<u64>(run.frame, at + kUpper, lane)};
  };
  SlowAccess access(run, address.space, true);
  std::array<u32, 8> load{};  // of the groups of four banks
  each_lane(run.mask, [&](unsigned lane) {
    const u64 where = address.of(run.frame, lane);
    char* const at = access.at(lane, where, sizeof(Value));
    ++load[where / sizeof(Value) % load.size()];
    Value old;
    std::memcpy(&old, at, sizeof old);
    if (!compares || old == value(expected, lane)) {
      const Value next = value(desired, lane);
      std::memcpy(at, &next, sizeof next);
    }
    set_lane(run.frame, result, lane, old[0]);
    set_lane(run.frame, result + kUpper, lane, old[1]);
  });
  access.write(run.mask, *std::max_element(load.begin(), load.end()));
}

void atomic_access(Context* context, const Record* ip, char* frame, u32 mask) {
  u64 address[kLanes], old_values[kLanes] = {};
  scalar::addresses_of(ip, frame, mask, 0, address);
  const auto space = static_cast<ptx::Space>(ip->aux >> 16 & 255);
  if (space == ptx::Space::Shared) scalar::wrap_narrow(ip, 0, address);
  u32 global = space == ptx::Space::Global ? mask : 0;
  u32 shared = space == ptx::Space::Shared ? mask : 0;
  u64 window = 0;
  u32 shared_inst = ip->inst;
  if (space == ptx::Space::Generic) {
    window = kSharedWindow;
    shared_inst = context->aliases[ip->inst];
    for (u32 left = mask; left != 0; left &= left - 1) {
      const u64 x = address[scalar::lowest_lane(left)];
      if (x >= DeviceMemory::kBase) global |= left & (0 - left);
      else if (x - kSharedWindow < kWindowBytes) shared |= left & (0 - left);
      else memory_fault(context, ip, frame, mask);
    }
  }
  if (global != 0) global_part(context, ip, frame, global, address, old_values);
  if (shared != 0)
    shared_part(context, ip, frame, shared, address, window, shared_inst, old_values);
  if ((ip->aux >> 24 & 1) == 0) return;
  const auto put = [&](auto* to) {
    for (u32 left = mask; left != 0; left &= left - 1) {
      const unsigned lane = scalar::lowest_lane(left);
      std::memcpy(to + lane, &old_values[lane], sizeof *to);
    }
  };
  switch (ip->flags & kElementMask) {
    case 1:
      return put(scalar::lanes<scalar::u16>(frame, ip->d));
    case 2:
      return put(scalar::lanes<u32>(frame, ip->d));
    default:
      return put(scalar::lanes<u64>(frame, ip->d));
  }
}

}  // namespace raddle::exec
