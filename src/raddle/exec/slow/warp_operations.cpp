// Votes, matches and reductions across the warp (PTX ISA 9.7.13). Lanes outside the member mask or
// not on this path do not take part; the instruction as written promises that all members are
// there.
#include <array>
#include <bit>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"
#define RADDLE_ISA scalar
#include "raddle/exec/lanes/arithmetic.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

u32 word(const char* frame, u32 offset, unsigned lane) {
  u32 v = 0;
  std::memcpy(&v, frame + offset + 4 * lane, 4);
  return v;
}
u64 value_of(const Record& r, const char* frame, unsigned lane) {
  if (r.flags != 3) return word(frame, r.a, lane);
  u64 v = 0;
  std::memcpy(&v, frame + r.a + 8 * lane, 8);
  return v;
}
void put_word(char* frame, u32 offset, unsigned lane, u32 v) {
  std::memcpy(frame + offset + 4 * lane, &v, 4);
}
void put_words(char* frame, u32 offset, u32 mask, u32 v) {
  u32* d = reinterpret_cast<u32*>(frame + offset);
  if (mask == kFullMask)
    for (unsigned lane = 0; lane < kLanes; ++lane) d[lane] = v;
  else
    for (; mask != 0; mask &= mask - 1) d[scalar::lowest_lane(mask)] = v;
}
void put_predicate(char* frame, u32 offset, u32 mask, bool value) {
  u32 p = word(frame, offset, 0);
  p = (p & ~mask) | (value ? mask : 0);
  put_word(frame, offset, 0, p);
}

/// redux.sync.min and .max of singles: a NaN counts only under .NaN, or where all are.
u32 reduce_floats(const Record& record, const char* frame, u32 members) {
  const bool min = static_cast<WarpOp>(record.imm) == WarpOp::ReduxMin;
  const auto value = [&](unsigned lane) {
    const u32 bits = word(frame, record.a, lane);
    return std::bit_cast<float>((record.aux & kReduxAbs) != 0 ? bits & 0x7fffffff : bits);
  };
  float total = scalar::canonical(value(scalar::lowest_lane(members)));
  for (u32 left = members & (members - 1); left != 0; left &= left - 1) {
    const float next = value(scalar::lowest_lane(left));
    if ((record.aux & kReduxNaN) != 0)
      total = min ? scalar::minimum_nan(total, next) : scalar::maximum_nan(total, next);
    else total = min ? scalar::minimum(total, next) : scalar::maximum(total, next);
  }
  return std::bit_cast<u32>(total);
}

u32 reduce(const Record& record, const char* frame, u32 members) {
  if (record.aux != 0) return reduce_floats(record, frame, members);
  const auto op = static_cast<WarpOp>(record.imm);
  const bool is_signed = (record.flags & kSigned) != 0;
  RADDLE_ASSERT(members != 0 && op >= WarpOp::ReduxAdd);
  u32 total = word(frame, record.a, scalar::lowest_lane(members));
  for (u32 left = members & (members - 1); left != 0; left &= left - 1) {
    const u32 value = word(frame, record.a, scalar::lowest_lane(left));
    const bool less = is_signed
                          ? static_cast<std::int32_t>(value) < static_cast<std::int32_t>(total)
                          : value < total;
    switch (op) {
      case WarpOp::ReduxAdd:
        total += value;
        break;
      case WarpOp::ReduxMin:
        total = less ? value : total;
        break;
      case WarpOp::ReduxMax:
        total = less ? total : value;
        break;
      case WarpOp::ReduxAnd:
        total &= value;
        break;
      case WarpOp::ReduxOr:
        total |= value;
        break;
      default:
        total ^= value;
        break;
    }
  }
  return total;
}

using Values = std::array<u64, kLanes>;
Values values_of(const Record& r, const char* frame, u32 mask) {
  Values out{};
  for (; mask != 0; mask &= mask - 1)
    out[scalar::lowest_lane(mask)] = value_of(r, frame, scalar::lowest_lane(mask));
  return out;
}
/// Of the lanes of `mask` those whose value it is.
u32 equal_to(u64 value, const Values& values, u32 mask) {
  u32 equal = 0;
  for (u32 m = mask; m != 0; m &= m - 1)
    if (values[scalar::lowest_lane(m)] == value) equal |= m & (0 - m);
  return equal;
}

/// `members` are told of `asked`, which are the same lanes where the program is right.
void match(const Record& r, char* frame, const Values& values, u32 members, u32 asked) {
  RADDLE_ASSERT(members != 0);
  if (static_cast<WarpOp>(r.imm) == WarpOp::MatchAll) {
    const u32 first = asked != 0 ? asked : members;
    const bool same = equal_to(values[scalar::lowest_lane(first)], values, asked) == asked;
    put_words(frame, r.d, members, same ? asked : 0);
    if (r.aux != 0) put_predicate(frame, r.aux, members, same);
    return;
  }
  for (u32 left = members; left != 0;) {
    const u64 value = values[scalar::lowest_lane(left)];
    const u32 given = equal_to(value, values, left);
    put_words(frame, r.d, given, equal_to(value, values, asked));
    left &= ~given;
  }
}

}  // namespace

void warp_operation(Context*, const Record* ip, char* frame, u32 mask) {
  const Record& record = *ip;
  const auto op = static_cast<WarpOp>(record.imm);
  if (op == WarpOp::Activemask) {
    put_words(frame, record.d, mask, mask);
    return;
  }
  const u32* named = reinterpret_cast<const u32*>(frame + record.b);
  u32 differ = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) differ |= named[lane] ^ named[0];
  // Lanes may name different member masks: one group after another. What one is told may stand
  // where another's value stood.
  const u32 predicate = op <= WarpOp::Ballot ? word(frame, record.a, 0) : 0;
  const bool matches = op == WarpOp::MatchAny || op == WarpOp::MatchAll;
  const Values values = matches ? values_of(record, frame, mask) : Values{};
  for (u32 left = mask; left != 0;) {
    u32 members = differ == 0 ? mask : 0;
    for (u32 others = left; members != mask && others != 0; others &= others - 1)
      if (named[scalar::lowest_lane(others)] == named[scalar::lowest_lane(left)])
        members |= others & (0 - others);
    // A lane that its own mask does not name leaves votes and matches undefined. ptxas (13.0, for
    // sm_80) takes those of all lanes that are there, and then the mask's.
    const u32 asked = mask & named[scalar::lowest_lane(left)];
    left &= ~members;
    const u32 votes = predicate & asked;
    switch (op) {
      case WarpOp::VoteAll:
        put_predicate(frame, record.d, members, votes == asked);
        break;
      case WarpOp::VoteAny:
        put_predicate(frame, record.d, members, votes != 0);
        break;
      case WarpOp::VoteUni:
        put_predicate(frame, record.d, members, votes == 0 || votes == asked);
        break;
      case WarpOp::Ballot:
        put_words(frame, record.d, members, votes);
        break;
      case WarpOp::MatchAny:
      case WarpOp::MatchAll:
        match(record, frame, values, members, asked);
        break;
      default: {
        const u32 total = reduce(record, frame, members);
        put_words(frame, record.d, members, total);
      }
    }
  }
}

}  // namespace raddle::exec
