// Atomic operations and reductions, lane after lane in order (PTX ISA 9.7.13.5, 9.7.13.6).
#include <array>
#include <cstring>

#include "raddle/exec/runner.h"
#define RADDLE_ISA scalar
#include "raddle/exec/lanes/arithmetic.h"

namespace raddle::exec {
namespace {

using scalar::u32;
using scalar::u64;

struct Operation {
  AtomOp op;
  AtomType type;
  bool global;  ///< single-precision additions there flush subnormals
};

template <class T>
T integer_result(AtomOp op, T old, T b, T c) {
  switch (op) {
    case AtomOp::Add: return static_cast<T>(static_cast<u64>(old) + static_cast<u64>(b));
    case AtomOp::Min: return b < old ? b : old;
    case AtomOp::Max: return b > old ? b : old;
    case AtomOp::Inc: return old >= b ? T{0} : static_cast<T>(old + 1);
    case AtomOp::Dec: return old == 0 || old > b ? b : static_cast<T>(old - 1);
    case AtomOp::And: return old & b;
    case AtomOp::Or: return old | b;
    case AtomOp::Xor: return old ^ b;
    case AtomOp::Exchange: return b;
    case AtomOp::Compare: return old == b ? c : old;
  }
  return old;
}
template <class T>
T float_result(AtomOp op, T old, T b) {
  return op == AtomOp::Add ? scalar::canonical(old + b)
         : op == AtomOp::Min ? scalar::minimum(old, b)
                             : scalar::maximum(old, b);
}
u32 half_result(AtomOp op, u32 old, u32 b, bool brain) {
  const float x = brain ? scalar::from_bf16(old) : scalar::from_f16(old);
  const float y = brain ? scalar::from_bf16(b) : scalar::from_f16(b);
  const double r = op == AtomOp::Add ? double{x} + y : double{float_result(op, x, y)};
  return brain ? scalar::to_bf16(r) : scalar::to_f16(r);
}

u64 result_of(const Operation& o, u64 old, u64 b, u64 c) {
  using scalar::bits;
  const u32 old32 = static_cast<u32>(old), b32 = static_cast<u32>(b), c32 = static_cast<u32>(c);
  switch (o.type) {
    case AtomType::U32: return integer_result<u32>(o.op, old32, b32, c32);
    case AtomType::S32:
      return static_cast<u32>(integer_result<std::int32_t>(
          o.op, static_cast<std::int32_t>(old32), static_cast<std::int32_t>(b32),
          static_cast<std::int32_t>(c32)));
    case AtomType::U64: return integer_result<u64>(o.op, old, b, c);
    case AtomType::S64:
      return static_cast<u64>(integer_result<std::int64_t>(
          o.op, static_cast<std::int64_t>(old), static_cast<std::int64_t>(b),
          static_cast<std::int64_t>(c)));
    case AtomType::F32: {
      float x = bits<float>(old32), y = bits<float>(b32);
      if (o.global && o.op == AtomOp::Add)
        return bits<u32>(scalar::flush(float_result(o.op, scalar::flush(x), scalar::flush(y))));
      return bits<u32>(float_result(o.op, x, y));
    }
    case AtomType::F64: return bits<u64>(float_result(o.op, bits<double>(old), bits<double>(b)));
    case AtomType::F16: return half_result(o.op, old32, b32, false);
    case AtomType::BF16: return half_result(o.op, old32, b32, true);
    case AtomType::F16x2:
    case AtomType::BF16x2: {
      const bool brain = o.type == AtomType::BF16x2;
      return half_result(o.op, old32 & 0xffff, b32 & 0xffff, brain) |
             half_result(o.op, old32 >> 16, b32 >> 16, brain) << 16;
    }
    case AtomType::B16:
      return integer_result<std::uint16_t>(o.op, static_cast<std::uint16_t>(old),
                                           static_cast<std::uint16_t>(b),
                                           static_cast<std::uint16_t>(c));
  }
  return old;
}

u64 lane_value(const char* frame, u32 offset, unsigned size, unsigned lane) {
  u64 v = 0;
  std::memcpy(&v, frame + offset + size * lane, size);
  return v;
}

/// The operation on every lane of `mask`; old values go to `old`.
void perform(const Record& r, const char* frame, u32 mask, char* const* at, bool global,
             u64* old_values) {
  const Operation o{static_cast<AtomOp>(r.aux & 255), static_cast<AtomType>(r.aux >> 8 & 255),
                    global};
  const unsigned size = 1u << (r.flags & kElementMask);
  for (u32 m = mask; m != 0; m &= m - 1) {
    const unsigned lane = scalar::lowest_lane(m);
    u64 old = 0;
    std::memcpy(&old, at[lane], size);
    const u64 next = result_of(o, old, lane_value(frame, r.b, size, lane),
                               o.op == AtomOp::Compare ? lane_value(frame, r.c, size, lane) : 0);
    std::memcpy(at[lane], &next, size);
    old_values[lane] = old;
  }
}

void write_record(Context* c, u32 inst, u32 pieces, u32 mask) {
  const auto head = trace::Record::make(inst, 1, pieces, mask);
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
  trace::Piece pieces[kLanes];
  u32 n = 0;
  for (u32 m = mask; m != 0; m &= m - 1) {
    const unsigned lane = scalar::lowest_lane(m);
    const u64 x = address[lane] - DeviceMemory::kBase;
    if (x % size != 0 || x >= c->extent || (x & 127) + size > c->valid[x >> 7])
      memory_fault(c, ip, frame, mask);
    at[lane] = c->global + x;
    const u32 line = static_cast<u32>(address[lane] >> 7);
    const u32 words = (size == 8 ? 3u : 1u) << (x >> 2 & 31);
    u32 k = 0;
    while (k < n && pieces[k].line != line) ++k;
    if (k == n) pieces[n++] = {line, 0, 0};
    pieces[k].words |= words;
    pieces[k].lanes |= m & (0 - m);
  }
  write_record(c, ip->inst, n, mask);
  std::memcpy(c->out, pieces, n * sizeof(trace::Piece));
  c->out += n * trace::kPieceWords;
  perform(*ip, frame, mask, at.data(), true, old_values);
  if (c->live != 0) c->out_limit = c->out;
}

/// Each bank serves one lane at a time, also when lanes mean the same word.
void shared_part(Context* c, const Record* ip, char* frame, u32 mask, const u64* address,
                 u64 window, u32 inst, u64* old_values) {
  const unsigned size = 1u << (ip->flags & kElementMask);
  std::array<char*, kLanes> at{};
  std::array<u32, 32> load{};
  u32 most = 0;
  for (u32 m = mask; m != 0; m &= m - 1) {
    const unsigned lane = scalar::lowest_lane(m);
    const u64 x = address[lane] - window;
    if (x % size != 0 || x > c->shared_bytes || c->shared_bytes - x < size)
      memory_fault(c, ip, frame, mask);
    at[lane] = c->shared + x;
    most = std::max(most, ++load[x / std::max(size, 4u) % (128 / std::max(size, 4u))]);
  }
  write_record(c, inst, most, mask);
  perform(*ip, frame, mask, at.data(), false, old_values);
}

}  // namespace

void atomic_access(Context* c, const Record* ip, char* frame, u32 mask) {
  u64 address[kLanes], old_values[kLanes];
  const unsigned width = (ip->flags & kNarrowAddress) != 0 ? 4 : 8;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    address[lane] =
        lane_value(frame, ip->a, width, lane) + static_cast<u64>(std::int64_t{ip->imm});
  const auto space = static_cast<ptx::Space>(ip->aux >> 16 & 255);
  u32 global = space == ptx::Space::Global ? mask : 0;
  u32 shared = space == ptx::Space::Shared ? mask : 0;
  u64 window = 0;
  u32 shared_inst = ip->inst;
  if (space == ptx::Space::Generic) {
    window = kSharedWindow;
    shared_inst = c->aliases[ip->inst];
    for (u32 m = mask; m != 0; m &= m - 1) {
      const u64 x = address[scalar::lowest_lane(m)];
      if (x >= DeviceMemory::kBase) global |= m & (0 - m);
      else if (x - kSharedWindow < kWindowBytes) shared |= m & (0 - m);
      else memory_fault(c, ip, frame, mask);
    }
  }
  if (global != 0) global_part(c, ip, frame, global, address, old_values);
  if (shared != 0)
    shared_part(c, ip, frame, shared, address, window, shared_inst, old_values);
  if ((ip->aux >> 24 & 1) == 0) return;
  const unsigned size = 1u << (ip->flags & kElementMask);
  for (u32 m = mask; m != 0; m &= m - 1) {
    const unsigned lane = scalar::lowest_lane(m);
    std::memcpy(frame + ip->d + size * lane, &old_values[lane], size);
  }
}

}  // namespace raddle::exec
