// 128-bit values: moves, loads and stores in every space, compare-and-swap and exchange.
#include "instruction_case.h"

namespace raddle::exec::test::wide_memory_test {
namespace {

using Value = std::array<u64, 2>;

std::string kernel(const std::string& body, const std::string& before = "") {
  return before + R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b128 %q<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 16; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
)" + body +
         "\n  ret;\n}\n";
}
std::vector<Value> known_values(std::size_t count) {
  std::vector<Value> values;
  for (u64 i = 0; i < count; ++i)
    values.push_back({0x0123456789abcdef * (i + 1), 0xfedcba9876543211 * (i + 3)});
  return values;
}
/// Runs 64 threads on known values and compares what they store, one value each.
template <class F>
void expect(const std::string& ptx, F f) {
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(ptx);
    const std::vector<Value> in = known_values(64);
    const Address from = rig.upload(in), to = rig.zeros(16 * 64);
    rig.run("k", {1, 1, 1}, {64, 1, 1}, from, to);
    const auto out = rig.download<Value>(to, 64);
    for (u32 t = 0; t < 64; ++t) ASSERT_EQ(out[t], f(t, in)) << lanes << " thread " << t;
  }
  unsetenv("RADDLE_LANES");
}

TEST(WideValues, MovesPackAndUnpack) {
  const auto swapped = [](u32 t, const std::vector<Value>& in) {
    return Value{in[t][1], in[t][0]};
  };
  expect(kernel("ld.global.v2.b64 {%d6, %d7}, [%d4]; mov.b128 %q1, {%d7, %d6}; mov.b128 %q2, %q1; "
                "mov.b128 {%d8, %d9}, %q2; st.global.v2.b64 [%d5], {%d8, %d9};"),
         swapped);
  expect(kernel("ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d4]; mov.b128 %q1, {%r4, %r5, %r2, "
                "%r3}; st.global.b128 [%d5], %q1;"),
         swapped);
  expect(kernel("ld.global.b128 %q1, [%d4]; mov.b128 {%r2, %r3, %r4, %r5}, %q1; st.global.v4.b32 "
                "[%d5], {%r4, %r5, %r2, %r3};"),
         swapped);
}
TEST(WideValues, LoadsAndStoresInEverySpace) {
  const auto same = [](u32 t, const std::vector<Value>& in) { return in[t]; };
  expect(kernel("ld.global.b128 %q1, [%d4]; st.global.b128 [%d5], %q1;"), same);
  expect(kernel("ld.volatile.b128 %q1, [%d4]; st.b128 [%d5], %q1;"), same);
  expect(kernel(".local .align 16 .b8 local[32]; mov.u64 %d6, local; ld.global.b128 %q1, [%d4]; "
                "st.local.b128 [%d6+16], %q1; "
                "ld.local.b128 %q2, [%d6+16]; st.global.b128 [%d5], %q2;"),
         same);
  expect(kernel("mov.u32 %r2, sh; mad.lo.u32 %r3, %r1, 16, %r2; ld.global.b128 %q1, [%d4]; "
                "st.shared.b128 [%r3], %q1; bar.sync 0; xor.b32 %r4, %r1, 63; mad.lo.u32 %r3, %r4, "
                "16, %r2; ld.shared.b128 %q2, [%r3]; st.global.b128 [%d5], %q2;",
                ".shared .align 16 .b8 sh[1024];\n"),
         [](u32 t, const std::vector<Value>& in) { return in[t ^ 63]; });
  expect(kernel("mov.u64 %d6, table; and.b32 %r2, %r1, 1; mul.wide.u32 %d7, %r2, 16; add.u64 %d6, "
                "%d6, %d7; ld.const.b128 %q1, [%d6]; st.global.b128 [%d5], %q1;",
                ".const .align 16 .b64 table[4] = {11, 12, 13, 14};\n"),
         [](u32 t, const std::vector<Value>&) {
           return t % 2 == 0 ? Value{11, 12} : Value{13, 14};
         });
  expect(kernel("setp.lt.u32 %p1, %r1, 40; mov.b128 %q1, {%d3, %d3}; @%p1 ld.global.b128 %q1, "
                "[%d4]; st.global.b128 [%d5], %q1;"),
         [](u32 t, const std::vector<Value>& in) {
           return t < 40 ? in[t] : Value{16 * t, 16 * t};
         });
}
TEST(WideValues, ExchangesPassOneValueOn) {
  // All threads exchange at one place: each gets what the one before brought.
  const auto previous = [](u32 t, const std::vector<Value>& in) {
    return t == 0 ? Value{0, 0} : in[t - 1];
  };
  const std::string bring = "ld.global.b128 %q1, [%d4]; ";
  const std::string after = " st.global.b128 [%d5], %q2;";
  const std::string global = ".global .align 16 .b8 place[16];\n";
  const std::string shared = ".shared .align 16 .b8 place[16];\n";
  const std::string clear =
      "mov.u64 %d7, 0; mov.b128 %q3, {%d7, %d7}; st.shared.b128 [place], %q3; bar.sync 0; ";
  expect(kernel(bring + "atom.global.exch.b128 %q2, [place], %q1;" + after, global), previous);
  expect(kernel(clear + bring + "atom.shared.exch.b128 %q2, [place], %q1;" + after, shared),
         previous);
  expect(
      kernel(bring + "cvta.global.u64 %d6, place; atom.exch.b128 %q2, [%d6], %q1;" + after, global),
      previous);
  expect(
      kernel(clear + bring + "cvta.shared.u64 %d6, place; atom.exch.b128 %q2, [%d6], %q1;" + after,
             shared),
      previous);
}
TEST(WideValues, CompareAndSwapComparesBothHalves) {
  // Thread t expects (t, 3t) and brings (t + 1, 3t + 3), but every eighth a wrong upper half: the
  // first of those ends the chain.
  const std::string body =
      "cvt.u64.u32 %d6, %r1; mul.lo.u64 %d7, %d6, 3; and.b32 %r2, %r1, 7; setp.eq.u32 %p1, %r2, 7; "
      "@%p1 add.u64 %d7, %d7, 1; mov.b128 %q1, {%d6, %d7}; add.u64 %d8, %d6, 1; mul.lo.u64 %d9, "
      "%d8, 3; mov.b128 %q2, {%d8, %d9}; atom.global.cas.b128 %q3, [place], %q1, %q2; "
      "st.global.b128 [%d5], %q3;";
  expect(kernel(body, ".global .align 16 .b8 place[16];\n"), [](u32 t, const std::vector<Value>&) {
    const u64 reached = std::min<u64>(t, 7);
    return Value{reached, 3 * reached};
  });
}
TEST(WideValues, TheOpStreamKnowsThem) {
  Rig rig(
      kernel("ld.global.b128 %q1, [%d4]; st.global.b128 [%d5], %q1; atom.global.exch.b128 %q2, "
             "[%d5], %q1; mov.b128 {%d6, %d7}, %q2; st.global.b64 [%d5], %d6;"));
  const Address in = rig.zeros(512), out = rig.zeros(512);
  const auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1}, in, out);
  unsigned accesses = 0;
  for (const Op& op : ops_of(*trace, 0, 0)) {
    const trace::StaticInst& inst = trace->code().instructions.at(op.inst);
    if (inst.bytes != 16) continue;
    ++accesses;
    u32 words = 0;
    for (const trace::Transaction& t : op.transactions)
      words += static_cast<u32>(__builtin_popcount(t.words));
    EXPECT_EQ(op.transactions.size(), 4u);  // 32 lanes of 16 bytes
    EXPECT_EQ(words, 128u);
    // Four registers of the scoreboard, at least, are the value's.
    EXPECT_GE(inst.kind == trace::OpKind::StoreGlobal ? inst.reads.size() : inst.writes.size(), 4u);
  }
  EXPECT_EQ(accesses, 3u);
}
TEST(WideValues, MisalignedOnesFault) {
  Rig rig(kernel("add.u64 %d4, %d4, 8; ld.global.b128 %q1, [%d4]; st.global.b128 [%d5], %q1;"));
  const Address in = rig.zeros(2048), out = rig.zeros(2048);
  EXPECT_THROW(rig.run("k", {1, 1, 1}, {32, 1, 1}, in, out), RunError);
}

}  // namespace
}  // namespace raddle::exec::test::wide_memory_test
