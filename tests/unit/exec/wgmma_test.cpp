// wgmma: every element type, N, swizzle and order in shared memory against sums made here, the
// order of a warpgroup's warps, and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "instruction_case.h"
#include "raddle/exec/slow/shared_matrix.h"

namespace raddle::exec::test::wgmma_test {
namespace {

/// One product of 64 x N x 32 bytes.
struct Product {
  const char* types;      ///< "f32.f16.f16"
  const char* a = "f16";  ///< elements
  const char* b = "f16";
  const char* d = "f32";
  unsigned n = 8;
  unsigned swizzle = 0;  ///< as in descriptors: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32
  bool a_mn = false, b_mn = false, a_registers = false;
  int a_sign = 1, b_sign = 1;
  bool accumulates = true;
  unsigned step = 0;      ///< of 32 bytes along K within the swizzled row
  const char* more = "";  ///< ".satfinite"
  bool sparse = false;    ///< two of four elements of A are there, of tf32 one of two
  unsigned selector = 0;
};

/// Where the element of A that is there as number `k` of its row would stand in the whole row.
unsigned whole_place(const Product& p, unsigned row, unsigned k) {
  constexpr unsigned kPairs[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  if (!p.sparse) return k;
  if (std::string_view(p.a) == "tf32") return 2 * k + (row + k) % 2;
  return k / 2 * 4 + kPairs[(row * 5 + k / 2) % 6][k % 2];
}

unsigned bits_in(std::string_view element) {
  if (element == "tf32") return 32;
  if (element == "f16" || element == "bf16") return 16;
  return element == "b1" ? 1 : 8;
}
/// Small integers, as the element has them.
u32 encoded(std::string_view element, int value) {
  const auto single = std::bit_cast<u32>(static_cast<float>(value));
  if (element == "tf32") return single;
  if (element == "bf16") return single >> 16;
  if (element == "s8" || element == "u8") return static_cast<u8>(value);
  if (element == "b1") return value & 1;
  if (value == 0) return 0;
  // Exponent and mantissa cut to fit; small integers need no rounding.
  const unsigned exponents = element == "e4m3" ? 4 : 5;
  const unsigned mantissas = element == "f16" ? 10 : element == "e4m3" ? 3 : 2;
  const unsigned exponent = (single >> 23 & 255) - 127 + (1u << (exponents - 1)) - 1;
  const unsigned mantissa = (single & 0x7fffff) >> (23 - mantissas);
  return (single >> 31) << (exponents + mantissas) | exponent << mantissas | mantissa;
}
int value_at(std::string_view element, unsigned row, unsigned k, unsigned salt) {
  const int spread = static_cast<int>((row * 7 + k * 5 + row * k * 3 + salt) % 9);
  if (element == "b1") return spread & 1;
  if (element == "u8") return 200 + spread;
  if (element == "s8") return spread * 30 - 120;
  return spread - 4;
}

/// Where byte `kb` of the row's 32 lies in shared memory, from the ISA's figures: `size` is N or M.
struct Placing {
  unsigned swizzle;  // logarithm of the 16 bytes of a row
  bool mn;
  unsigned leading, stride, step;
  u32 of(unsigned row, unsigned kb) const {
    const unsigned width = 16u << swizzle;
    u32 at = 0;
    if (!mn && swizzle == 0) at = row / 8 * stride + kb / 16 * leading + row % 8 * 16 + kb % 16;
    if (!mn && swizzle != 0) at = row / 8 * stride + row % 8 * width + kb + 32 * step;
    if (mn) {  // elements of two bytes, neighbours along the row index
      const unsigned k = kb / 2, across = 2 * row + kb % 2;
      at = swizzle == 0
               ? across / 16 * stride + k / 8 * leading + k % 8 * 16 + across % 16
               : across / width * leading + k / 8 * stride + k % 8 * width + across % width;
    }
    if (swizzle == 0) return at;
    const u32 pattern = at / 128 % (1u << swizzle);
    return (at & ~(width - 1)) + ((at % width / 16) ^ pattern) * 16 + at % 16;
  }
  u64 descriptor(u32 start) const {
    constexpr u64 kModes[] = {0, 3, 2, 1};
    return (start + (mn ? 0 : 32 * step)) / 16 | u64{leading / 16} << 16 | u64{stride / 16} << 32 |
           kModes[swizzle] << 62;
  }
};
Placing placing_of(const Product& p, bool mn, unsigned size) {
  constexpr unsigned kLogs[] = {0, 3, 2, 1};
  const unsigned swizzle = kLogs[p.swizzle], width = 16u << swizzle;
  if (!mn)
    return {swizzle, mn, swizzle == 0 ? size * 16 : 16, swizzle == 0 ? 128 : 8 * width, p.step};
  if (swizzle == 0) return {swizzle, mn, size * 16, 128, 0};
  return {swizzle, mn, 8 * width, std::max(1u, 2 * size / width) * 8 * width, 0};
}

constexpr u32 kStartB = 16384, kImage = 16384 + 65536;
std::string text_of(const Product& product, unsigned registers, unsigned deep) {
  std::string results, loads, stores;
  const bool halves = std::string_view(product.d) == "f16";
  for (unsigned i = 0; i < registers; ++i) {
    results += fmt::format("{}%d{}", i == 0 ? "" : ", ", i);
    loads += fmt::format("ld.global.b32 %d{}, [%q5+{}];\n", i, 4 * i);
    stores += fmt::format("st.global.b32 [%q6+{}], %d{};\n", 4 * i, i);
  }
  std::string tail;
  if (std::string_view(product.d) != "s32")
    tail = fmt::format(", {}, {}", product.a_sign, product.b_sign);
  if (bits_in(product.a) == 16) {
    if (!product.a_registers) tail += fmt::format(", {}", product.a_mn ? 1 : 0);
    tail += fmt::format(", {}", product.b_mn ? 1 : 0);
  }
  const std::string op = std::string_view(product.a) == "b1" ? ".and.popc" : "";
  return fmt::format(
             R"(
.visible .entry k(.param .u64 image, .param .u64 out, .param .u64 da, .param .u64 db, .param .u64 c,
                  .param .u64 areg, .param .u32 scale)
{{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %q<20>; .reg .b32 %d<{0}>; .reg .b32 %a<4>;
  .shared .align 1024 .b8 s[{1}];
  ld.param.u64 %q1, [image]; ld.param.u64 %q6, [out]; ld.param.u64 %q3, [da];
  ld.param.u64 %q4, [db];
  ld.param.u64 %q5, [c]; ld.param.u64 %q7, [areg]; ld.param.u32 %r9, [scale];
  mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 4;
COPY:
  cvt.u64.u32 %q8, %r3; add.u64 %q8, %q1, %q8; ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%q8];
  add.u32 %r8, %r2, %r3; st.shared.v4.u32 [%r8], {{%r4, %r5, %r6, %r7}};
  add.u32 %r3, %r3, 2048; setp.lt.u32 %p1, %r3, {1}; @%p1 bra COPY;
  shr.u32 %r10, %r2, 4; cvt.u64.u32 %q9, %r10; add.u64 %q3, %q3, %q9; add.u64 %q4, %q4, %q9;
  mul.wide.u32 %q10, %r1, {2}; add.u64 %q5, %q5, %q10; add.u64 %q6, %q6, %q10;
  {3}
  mul.wide.u32 %q10, %r1, 4; add.u64 %q11, %q7, %q10; ld.global.b32 %r20, [%q11+2048];
  mul.wide.u32 %q10, %r1, 16; add.u64 %q7, %q7, %q10;
  ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%q7];
  setp.ne.u32 %p2, %r9, 0;
  fence.proxy.async; bar.sync 0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async{13}.sync.aligned.m64n{4}k{5}.{6}{7}{8} {{{9}}}, {10}, %q4,{14} %p2{11};
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  {12}
  ret;
}}
)",
             registers, kImage, 4 * registers, loads, product.n, deep, product.types, op,
             product.more, results, product.a_registers ? "{%a0, %a1, %a2, %a3}" : "%q3", tail,
             stores, product.sparse ? ".sp" : "",
             product.sparse ? fmt::format(" %r20, {},", product.selector) : "") +
         (halves ? "" : "");
}

/// Behind the registers of A: of the threads that do not have any, what must not be read.
void put_metadata(const Product& p, unsigned deep, std::vector<u8>& areg) {
  const unsigned bits = bits_in(p.a);
  std::vector<u32> words(128, p.selector == 0 && bits != 8 ? 0x1b1b1b1b : 0);
  for (unsigned thread = 0; thread < 128 && p.sparse; ++thread)
    if (bits == 8 || thread / 2 % 2 == p.selector) words[thread] = 0;
  for (unsigned row = 0; row < 64 && p.sparse; ++row)
    for (unsigned k = 0; k < deep; ++k) {
      const unsigned quad = row / 16 * 32 + row % 8 * 4, upper = row / 8 % 2;
      const unsigned place = whole_place(p, row, k);
      if (bits == 8) {
        words[quad + upper + place / 32 * 2] |= place % 4 << (place % 32 / 4 * 4 + k % 2 * 2);
      } else if (bits == 16) {
        words[quad + p.selector * 2 + place / 16] |=
            place % 4 << (upper * 16 + place % 16 / 4 * 4 + k % 2 * 2);
      } else {
        words[quad + p.selector * 2 + place / 8] |= (place % 2 != 0 ? 0b1110u : 0b0100u)
                                                    << (upper * 16 + place % 8 / 2 * 4);
      }
    }
  std::memcpy(&areg[2048], words.data(), 512);
}

void check(const Product& product) {
  SCOPED_TRACE(fmt::format("{} n{} swizzle {} a {}{} b {} signs {} {} accumulates {} step {}",
                           product.types, product.n, product.swizzle, product.a_mn ? "mn" : "k",
                           product.a_registers ? " registers" : "", product.b_mn ? "mn" : "k",
                           product.a_sign, product.b_sign, product.accumulates, product.step));
  const unsigned bits = bits_in(product.a), deep = 256 / bits;
  const bool halves = std::string_view(product.d) == "f16",
             whole = std::string_view(product.d) == "s32";
  const unsigned registers = product.n / (halves ? 4 : 2);
  const unsigned all = product.sparse ? 2 * deep : deep;  // along K
  Rig rig(text_of(product, registers, all));
  // Operands.
  const Placing left = placing_of(product, product.a_mn, 64),
                right = placing_of(product, product.b_mn, product.n);
  std::vector<u8> image(kImage, 0x55), areg(128 * 16 + 128 * 4);
  put_metadata(product, deep, areg);
  const auto put = [&](std::vector<u8>& to, auto byte_of, std::string_view element, unsigned row,
                       unsigned k, unsigned salt) {
    const u32 word = encoded(element, value_at(element, row, k, salt));
    if (bits == 1) {
      u8& byte = to[byte_of(row, k / 8)];
      byte = static_cast<u8>((byte & ~(1u << k % 8)) | word << k % 8);
    }
    for (unsigned i = 0; i < bits / 8; ++i)
      to[byte_of(row, k * bits / 8 + i)] = static_cast<u8>(word >> 8 * i);
  };
  for (unsigned k = 0; k < deep; ++k) {
    for (unsigned i = 0; i < 64; ++i) {
      put(
          image, [&](unsigned row, unsigned kb) { return left.of(row, kb); }, product.a, i, k, 1);
      const auto in_register = [](unsigned row, unsigned kb) {
        const unsigned lane = row % 8 * 4 + kb % 16 / 4, reg = row / 8 % 2 + kb / 16 * 2;
        return ((row / 16 * 32 + lane) * 4 + reg) * 4 + kb % 4;
      };
      put(areg, in_register, product.a, i, k, 1);
    }
  }
  for (unsigned k = 0; k < all; ++k) {
    for (unsigned j = 0; j < product.n; ++j)
      put(
          image, [&](unsigned row, unsigned kb) { return kStartB + right.of(row, kb); }, product.b,
          j, k, 2);
  }
  // Accumulators and results.
  std::vector<u32> before_all(128 * registers), expected(before_all.size());
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned j = 0; j < product.n; ++j) {
      const int before =
          whole && *product.more != 0 ? INT32_MAX - 1000 : static_cast<int>(i + j) % 32;
      s64 sum = product.accumulates ? before : 0;
      for (unsigned k = 0; k < deep; ++k) {
        const s64 x = value_at(product.a, i, k, 1),
                  y = value_at(product.b, j, whole_place(product, i, k), 2);
        sum += product.a_sign * product.b_sign * x * y;
      }
      if (*product.more != 0) sum = std::clamp<s64>(sum, INT32_MIN, INT32_MAX);
      const unsigned thread = i / 16 * 32 + i % 8 * 4 + j % 8 / 2;
      const unsigned at = j / 8 * 4 + i / 8 % 2 * 2 + j % 2;
      const auto word = [&](s64 value) {
        if (whole) return static_cast<u32>(value);
        if (halves) return encoded("f16", static_cast<int>(value)) << 16 * (at % 2);
        return std::bit_cast<u32>(static_cast<float>(value));
      };
      before_all[thread * registers + at / (halves ? 2 : 1)] |= word(before);
      expected[thread * registers + at / (halves ? 2 : 1)] |= word(sum);
    }
  const Address out = rig.zeros(4 * before_all.size());
  rig.run("k", {1, 1, 1}, {128, 1, 1}, rig.upload(image), out, left.descriptor(0),
          right.descriptor(kStartB), rig.upload(before_all), rig.upload(areg),
          u32{product.accumulates ? 1u : 0u});
  ASSERT_EQ(rig.download<u32>(out, before_all.size()), expected);
}

TEST(Wgmma, EveryNumberOfColumns) {
  for (unsigned n = 8; n <= 256; n += 8) check({.types = "f32.f16.f16", .n = n, .swizzle = 1});
  for (unsigned n = 8; n <= 256; n += n < 32 ? 8 : 16)
    check({.types = "s32.s8.s8", .a = "s8", .b = "s8", .d = "s32", .n = n, .swizzle = 1});
}
TEST(Wgmma, EverySwizzleAndStepAlongK) {
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
    const unsigned steps = swizzle == 1 ? 4 : swizzle == 2 ? 2 : 1;
    for (unsigned step = 0; step < steps; ++step)
      for (unsigned n : {8u, 24u, 64u, 200u})
        check({.types = "f32.bf16.bf16",
               .a = "bf16",
               .b = "bf16",
               .n = n,
               .swizzle = swizzle,
               .step = step});
  }
}
TEST(Wgmma, EveryOrderInSharedMemory) {
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
    for (unsigned order = 0; order < 4; ++order) {
      // Along N a swizzled row is full.
      const unsigned n = swizzle == 1 ? 128 : 96;
      check({.types = "f32.f16.f16",
             .n = n,
             .swizzle = swizzle,
             .a_mn = (order & 1) != 0,
             .b_mn = (order & 2) != 0});
      check({.types = "f16.f16.f16",
             .d = "f16",
             .n = 64,
             .swizzle = swizzle,
             .a_mn = (order & 1) != 0,
             .b_mn = (order & 2) != 0});
    }
}
TEST(Wgmma, EveryElement) {
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
    for (bool in_registers : {false, true}) {
      const auto both = [&](Product p) {
        p.n = 32;
        p.swizzle = swizzle;
        p.a_registers = in_registers;
        check(p);
      };
      both({.types = "f32.f16.f16"});
      both({.types = "f16.f16.f16", .d = "f16"});
      both({.types = "f32.bf16.bf16", .a = "bf16", .b = "bf16"});
      both({.types = "f32.tf32.tf32", .a = "tf32", .b = "tf32"});
      for (const char* a : {"e4m3", "e5m2"})
        for (const char* b : {"e4m3", "e5m2"})
          for (const char* d : {"f32", "f16"})
            both({.types = fmt::format("{}.{}.{}", d, a, b).c_str(), .a = a, .b = b, .d = d});
      for (const char* a : {"s8", "u8"})
        for (const char* b : {"s8", "u8"}) {
          both({.types = fmt::format("s32.{}.{}", a, b).c_str(), .a = a, .b = b, .d = "s32"});
          both({.types = fmt::format("s32.{}.{}", a, b).c_str(),
                .a = a,
                .b = b,
                .d = "s32",
                .more = ".satfinite"});
        }
      both({.types = "s32.b1.b1", .a = "b1", .b = "b1", .d = "s32"});
    }
}
TEST(Wgmma, SignsAndAccumulators) {
  for (int a : {1, -1})
    for (int b : {1, -1})
      for (bool accumulates : {false, true})
        for (bool in_registers : {false, true})
          check({.types = "f32.f16.f16",
                 .n = 16,
                 .swizzle = 1,
                 .a_registers = in_registers,
                 .a_sign = a,
                 .b_sign = b,
                 .accumulates = accumulates});
}
TEST(Wgmma, Sparse) {
  for (const unsigned selector : {0u, 1u})
    for (const bool in_registers : {false, true})
      for (const unsigned swizzle : {0u, 1u, 2u}) {
        Product product{.types = "f32.f16.f16",
                        .n = 32,
                        .swizzle = swizzle,
                        .a_registers = in_registers,
                        .sparse = true,
                        .selector = selector};
        check(product);
        product.b_mn = true;
        check(product);
        check({.types = "f32.tf32.tf32",
               .a = "tf32",
               .b = "tf32",
               .n = 16,
               .swizzle = swizzle,
               .a_registers = in_registers,
               .sparse = true,
               .selector = selector});
        check({.types = "f16.e4m3.e5m2",
               .a = "e4m3",
               .b = "e5m2",
               .d = "f16",
               .n = 8,
               .swizzle = swizzle,
               .a_registers = in_registers,
               .sparse = true});
        check({.types = "s32.s8.u8",
               .a = "s8",
               .b = "u8",
               .d = "s32",
               .n = 256,
               .swizzle = swizzle,
               .a_registers = in_registers,
               .sparse = true});
      }
}

TEST(SharedMatrix, ABaseOffsetTurnsThePattern) {
  // A pattern of 128 bytes that starts at row 3 of its eight.
  const u64 plain = u64{1} << 62 | u64{64} << 32, start = 3 * 128;
  const SharedMatrix m = SharedMatrix::of(plain | u64{3} << 49 | start / 16);
  for (unsigned row = 0; row < 8; ++row)
    EXPECT_EQ(m.along_k(row, 1), start + row * 128 + ((1u ^ row % 8) * 16)) << row;
}

/// Warp 0 tells the others' producer that all is read, as soon as it has waited for its product.
TEST(Wgmma, WhoeverWaitsKnowsThatAllFourWarpsHaveRead) {
  // Warps 0 to 3 multiply; warp 4 waits for warp 0's arrival and then overwrites A and B.
  Rig rig(R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %q<20>; .reg .f32 %f<9>;
  .shared .align 1024 .b8 s[8192]; .shared .align 8 .b64 bar;
  ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, bar; mov.u32 %r3, 0x3c003c00;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra READY; mbarrier.init.shared.b64 [%r2], 1;
READY:
  shl.b32 %r4, %r1, 2; mov.u32 %r20, s; add.u32 %r4, %r4, %r20; mov.u32 %r5, 0;
FILL:
  st.shared.u32 [%r4], %r3; add.u32 %r4, %r4, 640; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 12;
  @%p2 bra FILL;
  fence.proxy.async; bar.sync 0; setp.ge.u32 %p3, %r1, 128; @%p3 bra PRODUCER;
  shr.u32 %r6, %r20, 4; cvt.u64.u32 %q2, %r6; add.u64 %q2, %q2, 0x4000000800400000;
  mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %q2, %q2, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
  @%p1 bra WRITE; mbarrier.arrive.shared.b64 _, [%r2];
WRITE:
  mul.wide.u32 %q3, %r1, 16; add.u64 %q3, %q1, %q3; st.global.v4.f32 [%q3], {%f1, %f2, %f3, %f4};
  ret;
PRODUCER:
  mbarrier.try_wait.parity.shared.b64 %p4, [%r2], 0; @!%p4 bra PRODUCER;
  sub.u32 %r7, %r1, 128; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r20; mov.u32 %r5, 0;
CLEAR:
  st.shared.u32 [%r7], 0; add.u32 %r7, %r7, 128; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 60;
  @%p2 bra CLEAR; ret;
}
)");
  const Address out = rig.zeros(128 * 16);
  rig.run("k", {1, 1, 1}, {160, 1, 1}, out);
  for (float x : rig.download<float>(out, 512)) ASSERT_EQ(x, 16.0F);
}

TEST(Wgmma, ToTheTimingModelATensorOperationByItsSize) {
  for (unsigned n : {8u, 64u, 256u}) {
    const Product p{.types = "f32.f16.f16", .n = n};
    const auto module = ptx::parse(kHeader + text_of(p, n / 2, 16), "t.ptx");
    Rig rig(module);
    bool found = false;
    for (const auto& inst : code_of(rig.program.kernel("k"))->instructions)
      if (inst.op_class == trace::OpClass::Tensor) {
        found = true;
        // 16 rows: in parts of 1/64 of 4096 multiply-adds.
        EXPECT_EQ(inst.bytes, 16 * n * 16 / (4096 / trace::kTensorParts) |
                                  trace::kWarpgroupProduct | trace::kSharedA);
      }
    EXPECT_TRUE(found);
  }
}

TEST(Wgmma, FaultsAndRefusals) {
  const Product product{.types = "f32.f16.f16", .swizzle = 1};
  const auto fault = [&](u64 da, unsigned threads) {
    Rig rig(text_of(product, 4, 16));
    const Address image = rig.zeros(kImage), out = rig.zeros(4096);
    return run_error([&] {
      rig.run("k", {1, 1, 1}, {threads, 1, 1}, image, out, da, u64{0}, out, out, u32{1});
    });
  };
  EXPECT_THAT(fault(u64{1} << 46, 128), testing::HasSubstr("bits that must be zero"));
  EXPECT_THAT(fault(0x3ff0, 128), testing::AllOf(testing::HasSubstr("of A leads to shared address"),
                                                 testing::HasSubstr("block (0,0,0) warp")));
  EXPECT_THAT(fault(0, 96), testing::HasSubstr("without all four warps"));
  const std::string head =
      ".visible .entry k() { .reg .f32 %f<9>; .reg .b64 %q<9>; .reg .b32 %r<9>; ";
  for (const char* text : {"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f1, %f2, %f3, "
                           "%f4}, %q1, %q2, 1, 1, 1, 0, 0;",
                           "wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {%f1, %f2, %f3, %f4}, "
                           "%q1, %q2, 1, 1, 1, 0, 0;",
                           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%f1, %f2, %f3, "
                           "%f4}, %q1, %q2, 1, 1, 1, 0, 0;",
                           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3}, "
                           "%q1, %q2, 1, 1, 1, 0, 0;",
                           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, "
                           "%f4}, %q1, %q2, 1, 2, 1, 0, 0;",
                           "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1, %f2, %f3, "
                           "%f4}, %q1, %q2, 1, 1, 1, 0, 0;",
                           "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, "
                           "%f4}, %q1, %q2, %r1, 0, 1, 1, 1, 0, 0;",
                           "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r1, %r2, %r3, "
                           "%r4}, %q1, %q2, %r1, 1, 1;",
                           "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, "
                           "%f4}, %q1, %q2, %r1, 2, 1, 1, 1, 0, 0;"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(unsupported(ptx::parse(kHeader + head + text + " ret; }", "t.ptx")).size(), 1u);
  }
}

}  // namespace
}  // namespace raddle::exec::test::wgmma_test
