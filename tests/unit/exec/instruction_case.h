// Runs one PTX instruction (or a few) on every combination of edge values and compares each lane
// with a scalar reference: under full and partial masks, in every build of the lane engine, whose
// results must be the same bits.
#pragma once
#include <bit>
#include <functional>

#include "rig.h"

namespace raddle::exec::test {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

inline float f32(u64 bits) { return std::bit_cast<float>(static_cast<u32>(bits)); }
inline double f64(u64 bits) { return std::bit_cast<double>(bits); }
inline u64 raw(float x) { return x == x ? std::bit_cast<u32>(x) : 0x7fffffffu; }
inline u64 raw(double x) { return x == x ? std::bit_cast<u64>(x) : 0xfff8000000000000ull; }

/// Kinds of operands: h 16 bits, r 32 bits, q 64 bits, f single, d double.
struct Case {
  std::string body;   ///< with D, A, B, C in angle brackets: "add.s32 <D>, <A>, <B>;"
  std::string kinds;  ///< destination first: "rrr"
  std::function<u64(u64, u64, u64)> expected;
};

inline std::vector<u64> edge_values(char kind) {
  switch (kind) {
    case 'h':
      return {0,      1,      2,      0xffff, 0x8000, 0x7fff, 0x7c00, 0xfc00, 0x7e01,
              0x0001, 0x03ff, 0x0400, 0x3c00, 0x3c01, 0xbc00, 0x1234, 0x7bff};
    case 'r':
      return {0,          1,          2,          3,          5,          31,         32,
              33,         100,        0x7f,       0x80,       0xff,       0x8000,     0xffff,
              0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x12345678, 0xdeadbeef};
    case 'q':
      return {0,
              1,
              2,
              7,
              63,
              64,
              0x7fffffff,
              0x80000000,
              0xffffffff,
              0x100000000,
              0x7fffffffffffffff,
              0x8000000000000000,
              0x8000000000000001,
              ~0ull,
              ~0ull - 1,
              0x123456789abcdef0,
              0xfedcba9876543210,
              0x20000000000001};
    case 'f':
      return {0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x40200000, 0xc0200000,
              0x3fc00000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 1,          0x80000001,
              0x007fffff, 0x00800000, 0x7f7fffff, 0x3f7fffff, 0x3f800001, 0x4f000000, 0xcf000000,
              0x4effffff, 0x4f800000, 0x5f000000, 0x5f800000, 0x42c80000, 0xc2c7ffff, 0x33800000,
              0x477fe000, 0x477ff000, 0x38800000, 0x33000000, 0x33000001};
    default:
      return {0,
              0x8000000000000000,
              0x3ff0000000000000,
              0xbff0000000000000,
              0x3fe0000000000000,
              0x4004000000000000,
              0xc004000000000000,
              0x7ff0000000000000,
              0xfff0000000000000,
              0x7ff8000000000000,
              0xfff8000000001234,
              1,
              0x000fffffffffffff,
              0x0010000000000000,
              0x7fefffffffffffff,
              0x3ff0000010000000,
              0x3ff0000010000001,
              0x41dfffffffe00000,
              0x41e0000000000000,
              0xc1e0000000200000,
              0x43e0000000000000,
              0xc3e0000000000000,
              0x43f0000000000000,
              0x40590000cccccccd,
              0x36a0000000000001,
              0x47efffffefffffff};
  }
}

inline std::string kernel_of(const Case& test) {
  static const std::map<char, std::pair<std::string, std::string>> kTypes = {{'h', {"b16", "h"}},
                                                                             {'r', {"b32", "r"}},
                                                                             {'q', {"b64", "q"}},
                                                                             {'f', {"f32", "f"}},
                                                                             {'d', {"f64", "d"}}};
  std::string p = R"(
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 mask)
{
  .reg .pred %p<9>; .reg .b16 %th<20>; .reg .b32 %tr<20>, %x<20>; .reg .b64 %tq<20>, %y<20>;
  .reg .f32 %tf<20>; .reg .f64 %td<20>;
  ld.param.u64 %y1, [in]; ld.param.u64 %y2, [out]; ld.param.u32 %x1, [mask];
  mov.u32 %x2, %tid.x; mov.u32 %x3, %ctaid.x; mov.u32 %x4, %ntid.x; mad.lo.u32 %x2, %x3, %x4, %x2;
  mul.wide.u32 %y3, %x2, 8; add.u64 %y2, %y2, %y3; mul.wide.u32 %y3, %x2, 24; add.u64 %y1, %y1, %y3;
)";
  std::string body = test.body;
  const char* names[] = {"<D>", "<A>", "<B>", "<C>"};
  for (std::size_t i = 0; i < test.kinds.size(); ++i) {
    const auto& [type, letter] = kTypes.at(test.kinds[i]);
    const std::string reg = "%t" + letter + std::to_string(i + 1);
    p += "  ld.global." + type + " " + reg + ", [" +
         (i == 0 ? "%y2" : "%y1+" + std::to_string(8 * (i - 1))) + "];\n";
    for (std::size_t at; (at = body.find(names[i])) != std::string::npos;) body.replace(at, 3, reg);
  }
  p += "  mov.u32 %x5, %laneid; shr.u32 %x6, %x1, %x5; and.b32 %x6, %x6, 1; setp.eq.u32 %p8, %x6, "
       "0;\n  @%p8 bra SKIP;\n  " +
       body;
  const auto& [type, letter] = kTypes.at(test.kinds[0]);
  return p + "\n  st.global." + type + " [%y2], %t" + letter + "1;\nSKIP:\n  ret;\n}\n";
}

inline void check(const Case& test) {
  SCOPED_TRACE(test.body);
  std::vector<std::array<u64, 3>> in;
  std::vector<std::vector<u64>> values{{0}, {0}, {0}};
  for (std::size_t i = 1; i < test.kinds.size(); ++i) values[i - 1] = edge_values(test.kinds[i]);
  for (u64 first : values[0])
    for (u64 second : values[1])
      for (u64 third : values[2]) in.push_back({first, second, third});
  const std::size_t cases = in.size();
  const u32 blocks = static_cast<u32>((cases + 127) / 128);
  in.resize(blocks * 128);
  const u64 keep = 0x5aa55aa55aa55aa5ull;
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(kernel_of(test));
    const Address from = rig.upload(in);
    for (u32 mask : {~0u, 0x9c3f05a7u}) {
      const Address to = rig.upload(std::vector<u64>(in.size(), keep));
      rig.run("k", {blocks, 1, 1}, {128, 1, 1}, from, to, mask);
      const auto out = rig.download<u64>(to, in.size());
      const unsigned bytes = test.kinds[0] == 'h'                           ? 2
                             : test.kinds[0] == 'r' || test.kinds[0] == 'f' ? 4
                                                                            : 8;
      const u64 ones = ~0ull >> (64 - 8 * bytes);
      for (std::size_t i = 0; i < cases; ++i) {
        const bool on = (mask >> i % 32 & 1) != 0;
        const u64 want = on ? test.expected(in[i][0], in[i][1], in[i][2]) & ones : keep & ones;
        ASSERT_EQ(out[i] & ones, want) << lanes << " mask " << std::hex << mask << " a " << in[i][0]
                                       << " b " << in[i][1] << " c " << in[i][2];
      }
    }
  }
  unsetenv("RADDLE_LANES");
}

}  // namespace raddle::exec::test
