#include "raddle/exec/slow/video.h"

#include <algorithm>
#include <cstdlib>

#include "raddle/base/error.h"

namespace raddle::exec {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

s64 taken(u64 from, VideoPart part, bool is_signed) {
  const unsigned gap = 64 - part.bits;
  const u64 high = from >> part.at << gap;
  return is_signed ? static_cast<s64>(high) >> gap : static_cast<s64>(high >> gap);
}
s64 clamped(s64 value, unsigned bits, bool is_signed) {
  const s64 maximum = (s64{1} << (bits - (is_signed ? 1 : 0))) - 1;
  return std::clamp(value, is_signed ? -maximum - 1 : 0, maximum);
}
u32 mask_of(VideoPart part) { return static_cast<u32>(((u64{1} << part.bits) - 1) << part.at); }
u32 merged(u32 into, VideoPart part, s64 value) {
  const u32 mask = mask_of(part);
  return (into & ~mask) | (static_cast<u32>(value) << part.at & mask);
}

}  // namespace

s64 VideoInstruction::result(s64 x, s64 y) const {
  switch (what) {
    case What::Add:
      return x + y;
    case What::Sub:
      return x - y;
    case What::AbsDiff:
      return std::abs(x - y);
    case What::Min:
      return std::min(x, y);
    case What::Max:
      return std::max(x, y);
    case What::Average:
      return (x + y + (x + y >= 0 ? 1 : 0)) >> 1;
    case What::ShiftLeft:
    case What::ShiftRight: {
      const unsigned by = wrap ? static_cast<unsigned>(y) & 31
                               : static_cast<unsigned>(std::min<u64>(static_cast<u32>(y), 32));
      return what == What::ShiftLeft ? static_cast<s64>(static_cast<u64>(x) << by) : x >> by;
    }
    case What::Mad:
      break;
    case What::Set:
      switch (compare) {
        case Compare::Eq:
          return x == y;
        case Compare::Ne:
          return x != y;
        case Compare::Lt:
          return x < y;
        case Compare::Le:
          return x <= y;
        case Compare::Gt:
          return x > y;
        case Compare::Ge:
          return x >= y;
      }
  }
  RADDLE_ASSERT(false);  // multiply_add()
  return 0;
}

// Whether the sum is signed, and so what it is clamped to, follows from the sources, not from the
// type of d. What is negated is inverted, and the sum gets 1 more: the third operand before it is
// extended, as the ISA has it.
u32 VideoInstruction::multiply_add(s64 x, s64 y, u32 z) const {
  __extension__ using Wide = __int128;
  const bool is_signed = a_signed || b_signed || minus_product || minus_c;
  const Wide product = static_cast<Wide>(x) * y;
  const u32 third = minus_c ? ~z : z;
  const s64 addend = is_signed ? static_cast<s64>(static_cast<std::int32_t>(third)) : s64{third};
  Wide sum = (minus_product ? ~product : product) + addend;
  if (minus_product || minus_c || plus_one) sum += 1;
  sum >>= scale;
  if (!saturate) return static_cast<u32>(sum);
  const Wide highest = is_signed ? INT32_MAX : UINT32_MAX, lowest = is_signed ? INT32_MIN : 0;
  return static_cast<u32>(std::clamp(sum, lowest, highest));
}

u32 VideoInstruction::scalar(u32 x, u32 y, u32 z) const {
  const s64 first = taken(x, a_part[0], a_signed), other = taken(y, b_part[0], b_signed);
  if (what == What::Mad) return multiply_add(first, other, z);
  s64 r = result(first, other);
  if (saturate) r = clamped(r, d_part ? d_part->bits : 32, d_signed);
  const u32 low = static_cast<u32>(r);
  const bool less =
      d_signed ? static_cast<std::int32_t>(low) < static_cast<std::int32_t>(z) : low < z;
  switch (second) {
    case Second::Add:
      return low + z;
    case Second::Min:
      return less ? low : z;
    case Second::Max:
      return less ? z : low;
    case Second::Merge:
      RADDLE_ASSERT(d_part.has_value());
      return merged(z, *d_part, r);
    default:
      return low;
  }
}

u32 VideoInstruction::simd(u32 x, u32 y, u32 z) const {
  const u64 both = u64{y} << 32 | x;
  RADDLE_ASSERT(parts == 2 || parts == 4);
  const unsigned bits = 32 / parts;
  u32 to = z;
  for (unsigned p = 0; p < parts; ++p) {
    if ((written >> p & 1) == 0) continue;
    s64 r = result(taken(both, a_part[p], a_signed), taken(both, b_part[p], b_signed));
    if (saturate) r = clamped(r, bits, d_signed);
    if (second == Second::Add) to += static_cast<u32>(r);  // all of it, not a byte or a half
    else to = merged(to, {bits, bits * p}, r);
  }
  return to;
}

void VideoInstruction::run(const SlowRun& run) const {
  each_lane(run.mask, [&](unsigned lane) {
    const u32 x = lane_value<u32>(run.frame, a, lane), y = lane_value<u32>(run.frame, b, lane);
    const u32 z = lane_value<u32>(run.frame, c, lane);
    set_lane(run.frame, d, lane, parts == 1 ? scalar(x, y, z) : simd(x, y, z));
  });
}

}  // namespace raddle::exec
