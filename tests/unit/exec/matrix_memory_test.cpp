// wmma from memory to memory, whatever its fragments' layout; ldmatrix, stmatrix, movmatrix lane by
// lane; what all of them leave in the op stream.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "instruction_case.h"

namespace raddle::exec::test::matrix_memory_test {
namespace {

struct Wmma {
  std::string shape, operand, result;  ///< elements
  unsigned m, n, k;
  std::string types;  ///< of wmma.mma
  unsigned a_registers, b_registers, c_registers;
};

u16 half_of(int x) {  // |x| < 2048
  if (x == 0) return 0;
  const unsigned magnitude = static_cast<unsigned>(x < 0 ? -x : x);
  const unsigned e = 31 - static_cast<unsigned>(__builtin_clz(magnitude));
  return static_cast<u16>((x < 0 ? 0x8000u : 0) | (e + 15) << 10 | (magnitude << (10 - e) & 1023));
}
std::vector<u8> encoded(const std::vector<int>& values, const std::string& element) {
  std::vector<u8> bytes;
  unsigned nibble = 0, bit = 0;
  const auto put = [&](auto v) {
    const auto* p = reinterpret_cast<const u8*>(&v);
    bytes.insert(bytes.end(), p, p + sizeof v);
  };
  for (int v : values) {
    if (element == "f16") put(half_of(v));
    else if (element == "bf16")
      put(static_cast<u16>(std::bit_cast<u32>(static_cast<float>(v)) >> 16));
    else if (element == "f32" || element == "tf32") put(static_cast<float>(v));
    else if (element == "f64") put(static_cast<double>(v));
    else if (element == "s32") put(v);
    else if (element == "s8" || element == "u8") put(static_cast<u8>(v));
    else if (element == "b1") {
      if (bit++ % 8 == 0) bytes.push_back(0);
      bytes.back() = static_cast<u8>(bytes.back() | (v & 1) << (bit - 1) % 8);
    } else if (nibble++ % 2 == 0) {
      bytes.push_back(static_cast<u8>(v & 15));
    } else {
      bytes.back() = static_cast<u8>(bytes.back() | (v & 15) << 4);
    }
  }
  return bytes;
}
std::string registers(const std::string& element, unsigned first, unsigned count) {
  const char* letter = element == "f64" ? "d" : element == "f32" ? "f" : "r";
  std::vector<std::string> names;
  for (unsigned i = 0; i < count; ++i) names.push_back(fmt::format("%{}{}", letter, first + i));
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

/// Rows or columns of `pitch` elements in memory.
std::vector<int> laid_out(const std::vector<int>& m, unsigned rows, unsigned columns, bool row,
                          unsigned pitch) {
  std::vector<int> out((row ? rows : columns) * pitch);
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; ++j)
      out[row ? i * pitch + j : j * pitch + i] = m[i * columns + j];
  return out;
}

/// `space`: "global", "shared" or "" (generic). Matrices lie apart from one another with a pitch.
void check_wmma(const Wmma& wmma, bool a_row, bool b_row, bool d_row, const std::string& space) {
  SCOPED_TRACE(wmma.shape + " " + wmma.types + (a_row ? " row" : " col") +
               (b_row ? " row" : " col") + (d_row ? " row " : " col ") + space);
  std::mt19937 random(5);
  const bool bits = wmma.operand == "b1", is_unsigned = wmma.operand[0] == 'u';
  const auto made = [&](unsigned count) {
    std::vector<int> values(count);
    for (int& x : values) x = static_cast<int>(random() % 15) - (is_unsigned || bits ? 0 : 7);
    if (bits)
      for (int& x : values) x &= 1;
    return values;
  };
  const std::vector<int> left = made(wmma.m * wmma.k), right = made(wmma.k * wmma.n),
                         added = made(wmma.m * wmma.n);
  const unsigned pad = bits ? 128 : 32;
  const unsigned a_pitch = (a_row ? wmma.k : wmma.m) + pad,
                 b_pitch = (b_row ? wmma.n : wmma.k) + pad, c_pitch = (d_row ? wmma.n : wmma.m) + 8;
  const auto layout = [](bool row) { return row ? "row" : "col"; };
  const std::string dot = space.empty() ? "" : "." + space;
  const std::string at = space == "shared" ? "%r" : "%q";
  std::string copies;
  const unsigned kShared = 24576;
  if (space == "shared")  // one lane copies everything in, and the result out at the end
    copies = fmt::format(
        "mov.u32 %r8, 0; IN: add.u32 %r9, %r8, 0; cvt.u64.u32 %q6, %r8; "
        "add.u64 %q7, %q1, %q6; ld.global.u32 %r10, [%q7]; st.shared.u32 [%r8], "
        "%r10; add.u32 %r8, %r8, 4; setp.lt.u32 %p1, %r8, {}; @%p1 bra IN;",
        kShared);
  const std::string out = fmt::format(
      "mov.u32 %r8, {0}; OUT: cvt.u64.u32 %q6, %r8; add.u64 %q7, %q1, %q6; ld.shared.u32 %r10, "
      "[%r8]; st.global.u32 [%q7], %r10; add.u32 %r8, %r8, 4; setp.lt.u32 %p1, %r8, {1}; @%p1 bra "
      "OUT;",
      18432, kShared);
  const auto address = [&](unsigned n) {
    if (space == "shared") return fmt::format("%r{}", n);
    return fmt::format("%q{}", n);
  };
  const std::string text = fmt::format(
      R"(
.visible .entry k(.param .u64 base)
{{
  .reg .pred %p<4>; .reg .b32 %r<90>; .reg .f32 %f<90>; .reg .f64 %d<90>; .reg .b64 %q<20>;
  .shared .align 16 .b8 s[{}];
  ld.param.u64 %q1, [base];
  {}
  mov.u64 %q2, %q1; add.u64 %q3, %q1, 8192; add.u64 %q4, %q1, 16384; add.u64 %q5, %q1, 18432;
  mov.u32 %r2, 0; mov.u32 %r3, 8192; mov.u32 %r4, 16384; mov.u32 %r5, 18432;
  wmma.load.a.sync.aligned.{}.{}{}.{} {}, [{}], {};
  wmma.load.b.sync.aligned.{}.{}{}.{} {}, [{}], {};
  wmma.load.c.sync.aligned.{}.{}{}.{} {}, [{}], {};
  wmma.mma{}.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};
  wmma.store.d.sync.aligned.{}.{}{}.{} [{}], {}, {};
  {}
  ret;
}}
)",
      kShared, copies, layout(a_row), wmma.shape, dot, wmma.operand,
      registers(wmma.operand, 10, wmma.a_registers), address(2), a_pitch, layout(b_row), wmma.shape,
      dot, wmma.operand, registers(wmma.operand, 20, wmma.b_registers), address(3), b_pitch,
      layout(d_row), wmma.shape, dot, wmma.result, registers(wmma.result, 30, wmma.c_registers),
      address(4), c_pitch, bits ? ".xor.popc" : "", layout(a_row), layout(b_row), wmma.shape,
      wmma.types, registers(wmma.result, 40, wmma.c_registers),
      registers(wmma.operand, 10, wmma.a_registers), registers(wmma.operand, 20, wmma.b_registers),
      registers(wmma.result, 30, wmma.c_registers), layout(d_row), wmma.shape, dot, wmma.result,
      address(5), registers(wmma.result, 40, wmma.c_registers), c_pitch,
      space == "shared" ? out : "");
  std::vector<u8> memory(kShared);
  const auto place = [&](std::size_t where, const std::vector<int>& values,
                         const std::string& element) {
    const auto bytes = encoded(values, element);
    ASSERT_LE(where + bytes.size(), where + 8192);
    std::copy(bytes.begin(), bytes.end(), memory.begin() + static_cast<std::ptrdiff_t>(where));
  };
  place(0, laid_out(left, wmma.m, wmma.k, a_row, a_pitch), wmma.operand);
  place(8192, laid_out(right, wmma.k, wmma.n, b_row, b_pitch), wmma.operand);
  place(16384, laid_out(added, wmma.m, wmma.n, d_row, c_pitch), wmma.result);
  Rig rig(text);
  const Address base = rig.upload(memory);
  rig.run("k", {1, 1, 1}, {32, 1, 1}, base);
  std::vector<int> product(wmma.m * wmma.n);
  for (unsigned i = 0; i < wmma.m; ++i)
    for (unsigned j = 0; j < wmma.n; ++j) {
      int sum = added[i * wmma.n + j];
      for (unsigned k = 0; k < wmma.k; ++k) {
        const int x = left[i * wmma.k + k], y = right[k * wmma.n + j];
        sum += bits ? x ^ y : x * y;
      }
      product[i * wmma.n + j] = sum;
    }
  const auto want = encoded(laid_out(product, wmma.m, wmma.n, d_row, c_pitch), wmma.result);
  const auto got = rig.download<u8>(base + 18432, want.size());
  ASSERT_THAT(got, testing::ElementsAreArray(want));
}

TEST(Wmma, EveryShapeAndType) {
  std::vector<Wmma> all;
  const struct {
    const char* shape;
    unsigned m, n;
  } kShapes[] = {{"m16n16k16", 16, 16}, {"m32n8k16", 32, 8}, {"m8n32k16", 8, 32}};
  for (const auto& s : kShapes) {
    all.push_back({s.shape, "f16", "f32", s.m, s.n, 16, "f32.f32", 8, 8, 8});
    all.push_back({s.shape, "f16", "f16", s.m, s.n, 16, "f16.f16", 8, 8, 4});
    all.push_back({s.shape, "bf16", "f32", s.m, s.n, 16, "f32.bf16.bf16.f32", s.m / 4, s.n / 4, 8});
    for (const std::string t : {"s8", "u8"})
      all.push_back(
          {s.shape, t, "s32", s.m, s.n, 16, "s32." + t + "." + t + ".s32", s.m / 8, s.n / 8, 8});
  }
  all.push_back({"m16n16k8", "tf32", "f32", 16, 16, 8, "f32.tf32.tf32.f32", 4, 4, 8});
  all.push_back({"m8n8k4", "f64", "f64", 8, 8, 4, "f64.f64.f64.f64.rn", 1, 1, 2});
  for (const Wmma& w : all)
    for (int layouts = 0; layouts < 8; ++layouts)
      check_wmma(w, (layouts & 1) != 0, (layouts & 2) != 0, (layouts & 4) != 0, "global");
}
TEST(Wmma, SharedAndGenericMemory) {
  const Wmma w{"m16n16k16", "f16", "f32", 16, 16, 16, "f32.f32", 8, 8, 8};
  check_wmma(w, true, false, true, "shared");
  check_wmma(w, true, false, true, "");
  const Wmma bytes{"m16n16k16", "u8", "s32", 16, 16, 16, "s32.u8.u8.s32", 2, 2, 8};
  check_wmma(bytes, true, false, true, "shared");
}
TEST(Wmma, NibblesAndBits) {
  const Wmma nibbles{"m8n8k32", "s4", "s32", 8, 8, 32, "s32.s4.s4.s32", 1, 1, 2};
  const Wmma unsigned_ones{"m8n8k32", "u4", "s32", 8, 8, 32, "s32.u4.u4.s32", 1, 1, 2};
  const Wmma bits{"m8n8k128", "b1", "s32", 8, 8, 128, "s32.b1.b1.s32", 1, 1, 2};
  for (const Wmma* w : {&nibbles, &unsigned_ones, &bits})
    for (bool d_row : {true, false}) check_wmma(*w, true, false, d_row, "global");
}

// --- ldmatrix, stmatrix, movmatrix ---------------------------------------------------------------
/// Shared memory holds 16-bit elements 0, 1, 2, ...; lane l's row address is given by `row`.
std::vector<u32> run_rows(const std::string& body, const std::vector<u32>& row, unsigned words) {
  Rig rig(fmt::format(R"(
.visible .entry k(.param .u64 rows, .param .u64 out)
{{
  .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .b64 %q<9>;
  .shared .align 16 .b8 s[4096];
  ld.param.u64 %q1, [rows]; ld.param.u64 %q2, [out]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %q3, %r1, 4; add.u64 %q1, %q1, %q3; ld.global.u32 %r2, [%q1];
  mul.wide.u32 %q3, %r1, {}; add.u64 %q2, %q2, %q3; mul.lo.u32 %r3, %r1, 2; mov.u32 %r4, %r1;
L: cvt.u16.u32 %h1, %r4; st.shared.u16 [%r3], %h1; add.u32 %r3, %r3, 64; add.u32 %r4, %r4, 32;
  setp.lt.u32 %p1, %r3, 4096; @%p1 bra L;
  bar.sync 0;
  {}
  ret;
}}
)",
                      4 * words, body));
  const Address out = rig.zeros(128 * words);
  rig.run("k", {1, 1, 1}, {32, 1, 1}, rig.upload(row), out);
  return rig.download<u32>(out, 32 * words);
}
std::vector<u32> scattered_rows() {
  std::vector<u32> row;
  for (u32 i = 0; i < 32; ++i) row.push_back(16 * (i * 13 % 32 * 8));
  return row;
}
TEST(Ldmatrix, EachLaneGetsItsPair) {
  const auto row = scattered_rows();
  for (unsigned count : {1u, 2u, 4u})
    for (bool transposed : {false, true}) {
      std::string list, stores;
      for (unsigned n = 0; n < count; ++n) {
        list += (n == 0 ? "%r1" : ", %r1") + std::to_string(n);
        stores += fmt::format("st.global.u32 [%q2+{}], %r1{}; ", 4 * n, n);
      }
      const auto got =
          run_rows(fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {{{}}}, [%r2]; {}",
                               count, transposed ? ".trans" : "", list, stores),
                   row, count);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned n = 0; n < count; ++n) {
          const auto element = [&](unsigned r, unsigned c) { return row[8 * n + r] / 2 + c; };
          const unsigned x = lane / 4, y = lane % 4 * 2;
          const u32 want = transposed ? element(y, x) | element(y + 1, x) << 16
                                      : element(x, y) | element(x, y + 1) << 16;
          ASSERT_EQ(got[lane * count + n], want) << "lane " << lane << " matrix " << n;
        }
    }
}
TEST(Stmatrix, IsTheWayBack) {
  const auto row = scattered_rows();
  const std::string load = "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r2]; ";
  for (const char* trans : {"", ".trans"}) {
    const auto got = run_rows(
        load + fmt::format("add.u32 %r12, %r2, 128; stmatrix.sync.aligned.m8n8.x2{0}.shared.b16 "
                           "[%r12], {{%r10, %r11}}; bar.sync 0; "
                           "ldmatrix.sync.aligned.m8n8.x2{0}.shared.b16 {{%r13, %r14}}, [%r12]; "
                           "xor.b32 %r13, %r13, %r10; xor.b32 %r14, %r14, %r11; or.b32 %r13, %r13, "
                           "%r14; st.global.u32 [%q2], %r13;",
                           trans),
        std::vector<u32>{0, 16, 32, 48, 64, 80, 96, 112, 256, 272, 288, 304, 320, 336, 352, 368,
                         0, 0,  0,  0,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0},
        1);
    for (u32 v : got) EXPECT_EQ(v, 0u);
  }
}
TEST(Movmatrix, Transposes) {
  const auto got = run_rows(
      "shl.b32 %r5, %r1, 1; add.u32 %r6, %r5, 1; shl.b32 %r6, %r6, 16; or.b32 "
      "%r5, %r5, %r6; movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r5; "
      "st.global.u32 [%q2], %r7;",
      scattered_rows(), 1);
  // Element (r, c) holds 8 r + c: lane l has row l / 4, columns 2 (l % 4) and the next.
  for (u32 lane = 0; lane < 32; ++lane) {
    const u32 row = lane / 4, column = lane % 4 * 2;
    EXPECT_EQ(got[lane], (8 * column + row) | (8 * (column + 1) + row) << 16);
  }
}

// --- op stream, faults ---------------------------------------------------------------------------
const char* const kLoadKernel = R"(
.visible .entry k(.param .u64 p)
{ .reg .b32 %r<20>; .reg .b64 %q<9>; .reg .f32 %f<20>; .shared .align 16 .b8 s[1024];
  ld.param.u64 %q1, [p]; mov.u32 %r9, 0;
  wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%q1], 64;
  mov.u32 %r10, %tid.x; shl.b32 %r10, %r10, 4;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r10];
  ret; }
)";
TEST(MatrixStream, LinesAndBankPasses) {
  Rig rig(kLoadKernel);
  const Address p = rig.zeros(4096);
  const auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1}, p);
  const auto& code = trace->code();
  unsigned loads = 0, rows = 0;
  for (const Op& op : ops_of(*trace, 0, 0)) {
    const auto& inst = code.instructions.at(op.inst);
    if (inst.kind == trace::OpKind::LoadGlobal) {  // 16 rows of 32 bytes, 128 apart
      ++loads;
      ASSERT_EQ(op.transactions.size(), 16u);
      for (const trace::Transaction& transaction : op.transactions)
        EXPECT_EQ(transaction.words, 0xffu);
    }
    if (inst.kind == trace::OpKind::LoadShared) {
      ++rows;
      EXPECT_EQ(op.transactions_field, 4u);  // 512 bytes in a row
    }
  }
  EXPECT_EQ(loads, 1u);
  EXPECT_EQ(rows, 1u);
}
TEST(MatrixStream, ProductsAreForTheTensorUnit) {
  Rig rig(R"(
.visible .entry k() { .reg .b32 %r<20>;
  mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6}; ret; }
)");
  const auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1});
  const auto& inst = trace->code().instructions.at(0);
  EXPECT_EQ(inst.op_class, trace::OpClass::Tensor);
  EXPECT_EQ(inst.bytes, 8 * 8 * 16 / 2 * trace::kTensorParts / 4096);
}
TEST(MatrixFaults, NameTheInstruction) {
  Rig rig(kLoadKernel);
  const Address p = rig.zeros(64);
  EXPECT_THAT(run_error([&] {
                rig.run("k", {1, 1, 1}, {32, 1, 1}, p);
              }),
              testing::AllOf(testing::HasSubstr("out-of-bounds"),
                             testing::HasSubstr("wmma.load.a.sync.aligned.row.m16n16k16")));
  EXPECT_THAT(run_error([&] {
                rig.run("k", {1, 1, 1}, {32, 1, 1}, p + 1);
              }),
              testing::HasSubstr("misaligned"));
}
std::string refused(const std::string& instruction) {
  const auto all = unsupported(ptx::parse(
      kHeader + ".visible .entry k() { .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %q<9>;\n" +
          instruction + " ret; }",
      "t.ptx"));
  return all.empty() ? "" : all[0].instruction;
}
TEST(MatrixFaults, WhatPtxDoesNotHaveIsRefused) {
  EXPECT_NE(refused("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%f1,%f2,%f3,%f4}, "
                    "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};"),
            "");
  EXPECT_NE(refused("mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, "
                    "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};"),
            "");
  EXPECT_NE(refused("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, "
                    "{%r1,%r2}, {%r5,%r6}, {%f1,%f2,%f3,%f4};"),
            "");
  EXPECT_NE(refused("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, "
                    "{%r1,%r2}, {%r5,%r6}, {%f1,%f2,%f3,%f4}, %r7, 0;"),
            "");
  EXPECT_NE(refused("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2}, [%r3];"), "");
}

}  // namespace
}  // namespace raddle::exec::test::matrix_memory_test
