// Instructions and their operands, one feature at a time.
#include <gmock/gmock.h>

#include <ostream>

#include "unit/ptx/support.h"

namespace raddle::ptx::test::instruction_test {
namespace {

using Kind = Operand::Kind;
using testing::ElementsAre;

TEST(Instruction, OpcodeIsSplitIntoModifiersAndTypes) {
  const One one = parse_one("ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];");
  EXPECT_EQ(one.instruction.opcode, "ld");
  EXPECT_THAT(one.instruction.modifiers, ElementsAre("global", "nc", "v4"));
  EXPECT_THAT(one.instruction.types, ElementsAre(Type::F32));
  EXPECT_TRUE(one.instruction.has("nc"));
  EXPECT_FALSE(one.instruction.has("v2"));
  EXPECT_EQ(one.instruction.text(), "ld.global.nc.v4.f32");
  EXPECT_EQ(one.instruction.line, 13u);
  EXPECT_EQ(one.instruction.column, 1u);
}

TEST(Instruction, TypesKeepTheirOrder) {
  const One one = parse_one("cvt.rn.f32.s32 %f1, %r1;");
  EXPECT_THAT(one.instruction.types, ElementsAre(Type::F32, Type::S32));
  EXPECT_THAT(one.instruction.modifiers, ElementsAre("rn"));
}

TEST(Instruction, ScopedModifiersStayWhole) {
  const One one = parse_one("ld.shared::cta.L2::128B.b32 %r1, [%r2];");
  EXPECT_THAT(one.instruction.modifiers, ElementsAre("shared::cta", "L2::128B"));
  EXPECT_EQ(one.instruction.text(), "ld.shared::cta.L2::128B.b32");
}

TEST(Instruction, OpcodeMayBeSpacedOut) {
  const One one = parse_one("ld .global .f32 %f1, [%rd1];");
  EXPECT_EQ(one.instruction.opcode, "ld");
  EXPECT_THAT(one.instruction.modifiers, ElementsAre("global"));
  EXPECT_THAT(one.instruction.types, ElementsAre(Type::F32));
  EXPECT_EQ(one.instruction.text(), "ld .global .f32");
}

TEST(Instruction, TextIsThatOfThePlaceNotOfTheFirstUse) {
  const Module module = parse_kernel(
      "ld .global .f32 %f1, [%rd1];\nld .shared .u32 %r1, [%r2];\n"
      "bar.sync .aligned 0;\nbar.sync 0;");
  const std::vector<Instruction>& all = module.functions[0].instructions;
  EXPECT_EQ(all[1].text(), "ld .shared .u32");
  EXPECT_EQ(all[3].text(), "bar.sync");
}

TEST(Instruction, OpcodesUsedAgainAreTheSame) {
  const Module module = parse_kernel("add.s32 %r1, %r2, 1;\nadd.s32 %r3, %r4, 2;");
  const Function& f = module.functions[0];
  EXPECT_EQ(f.instructions[0].types, f.instructions[1].types);
  EXPECT_EQ(f.instructions[1].text(), "add.s32");
  EXPECT_EQ(f.instructions[1].line, 14u);
}

TEST(Instruction, GuardsMayBeNegated) {
  const Module module =
      parse_kernel("@%p1 mov.u32 %r1, 1;\n  @!%p2 mov.u32 %r1, 1;\nmov.u32 %r1, 1;");
  const Function& f = module.functions[0];
  EXPECT_EQ(f.registers[f.instructions[0].guard].name, "%p1");
  EXPECT_FALSE(f.instructions[0].guard_negated);
  EXPECT_EQ(f.registers[f.instructions[1].guard].name, "%p2");
  EXPECT_TRUE(f.instructions[1].guard_negated);
  EXPECT_EQ(f.instructions[1].column, 9u) << "the opcode's place";
  EXPECT_EQ(f.instructions[2].guard, kNoIndex);
}

TEST(Instruction, WithoutOperands) {
  for (const std::string text : {"ret;", "exit;", "trap;", "membar.gl;", "barrier.cluster.arrive;"})
    EXPECT_TRUE(parse_one(text).instruction.operands.empty()) << text;
}

TEST(Operands, RegistersAreNumberedByFirstUse) {
  const One one = parse_one("add.s32 %r7, %r3, %r7;");
  EXPECT_EQ(one.operand(0).kind, Kind::Register);
  EXPECT_EQ(one.register_name(one.operand(0).reg), "%r7");
  EXPECT_EQ(one.register_name(one.operand(1).reg), "%r3");
  EXPECT_EQ(one.operand(2).reg, one.operand(0).reg);
  EXPECT_EQ(one.function.registers.size(), 2u) << "declared but unused ones are left out";
  EXPECT_EQ(one.function.registers[0].type, Type::B32);
}

struct ImmediateCase {
  std::string text;
  Kind kind;
  std::uint64_t bits;
  bool is_unsigned;
};
void PrintTo(const ImmediateCase& c, std::ostream* out) { *out << '"' << c.text << '"'; }
class Immediates : public testing::TestWithParam<ImmediateCase> {};
TEST_P(Immediates, AreEvaluated) {
  const One one = parse_one("mov.b64 %rd1, " + GetParam().text + ";");
  EXPECT_EQ(one.operand(1).kind, GetParam().kind);
  EXPECT_EQ(one.operand(1).bits, GetParam().bits);
  EXPECT_EQ(one.operand(1).is_unsigned, GetParam().is_unsigned);
}
INSTANTIATE_TEST_SUITE_P(
    All, Immediates,
    testing::Values(ImmediateCase{"5", Kind::Integer, 5, false},
                    ImmediateCase{"-5", Kind::Integer, static_cast<std::uint64_t>(-5), false},
                    ImmediateCase{"0x1FU", Kind::Integer, 31, true},
                    ImmediateCase{"0b11", Kind::Integer, 3, false},
                    ImmediateCase{"010", Kind::Integer, 8, false},
                    ImmediateCase{"(4+4)*2", Kind::Integer, 16, false},
                    ImmediateCase{"4+4", Kind::Integer, 8, false},
                    ImmediateCase{"!0", Kind::Integer, 1, false},
                    ImmediateCase{"0xFFFFFFFFFFFFFFFF", Kind::Integer, ~std::uint64_t{0}, true},
                    ImmediateCase{"0f40490FDB", Kind::Float32, 0x40490fdb, false},
                    ImmediateCase{"0d7FF0000000000000", Kind::Float64, 0x7ff0000000000000, false},
                    ImmediateCase{"1.0", Kind::Float64, 0x3ff0000000000000, false}));

TEST(Operands, SpecialRegisters) {
  const std::pair<std::string, Special> all[] = {{"%tid.x", Special::TidX},
                                                 {"%ntid.z", Special::NtidZ},
                                                 {"%nctaid.y", Special::NctaidY},
                                                 {"%laneid", Special::LaneId},
                                                 {"%lanemask_lt", Special::LanemaskLt},
                                                 {"%clock64", Special::Clock64},
                                                 {"%globaltimer", Special::GlobalTimer},
                                                 {"%cluster_ctarank", Special::ClusterCtarank},
                                                 {"%dynamic_smem_size", Special::DynamicSmemSize}};
  for (const auto& [name, special] : all) {
    const One one = parse_one("mov.u32 %r1, " + name + ";");
    EXPECT_EQ(one.operand(1).kind, Kind::Special) << name;
    EXPECT_EQ(one.operand(1).special, special) << name;
  }
  const One one = parse_one("mov.u32 %r1, %envreg17;");
  EXPECT_EQ(one.operand(1).special, Special::Envreg);
  EXPECT_EQ(one.operand(1).special_index, 17u);
  EXPECT_EQ(parse_one("mov.u32 %r1, WARP_SZ;").operand(1).special, Special::WarpSize);
}

TEST(Operands, Addresses) {
  const Module module = parse_module(
      ".global .u32 g[4];\n.entry k(.param .u64 a) { .reg .b64 d; .reg .b32 r; .shared .b8 s[8];\n"
      "ld.global.u32 r, [d+16]; ld.global.u32 r, [d+-4]; ld.global.u32 r, [d-4];\n"
      "ld.param.u64 d, [a]; ld.global.u32 r, [g+4]; ld.shared.u32 r, [s]; ld.u32 r, [64]; }");
  const std::vector<Instruction>& all = module.functions[0].instructions;
  const auto address = [&](std::size_t i) -> const Operand& { return all.at(i).operands.at(1); };
  for (const Instruction& instruction : all) EXPECT_EQ(instruction.operands[1].kind, Kind::Address);
  EXPECT_NE(address(0).reg, kNoIndex);
  EXPECT_EQ(address(0).offset, 16);
  EXPECT_EQ(address(1).offset, -4);
  EXPECT_EQ(address(2).offset, -4);
  EXPECT_EQ(address(3).symbol.scope, SymbolRef::Scope::Parameter);
  EXPECT_EQ(address(3).symbol.index, 0u);
  EXPECT_EQ(address(4).symbol.scope, SymbolRef::Scope::Module);
  EXPECT_EQ(address(4).offset, 4);
  EXPECT_EQ(address(5).symbol.scope, SymbolRef::Scope::Function);
  EXPECT_EQ(address(6).symbol.scope, SymbolRef::Scope::None);
  EXPECT_EQ(address(6).reg, kNoIndex);
  EXPECT_EQ(address(6).offset, 64);
}

TEST(Operands, SymbolAddressesAsValues) {
  const Module module = parse_module(
      ".global .u32 g[4];\n.func f;\n.entry k() { .reg .b64 d; .local .b8 depot[8];\n"
      "mov.u64 d, g+8; mov.u64 d, depot; mov.u64 d, f; }");
  const std::vector<Instruction>& all = module.functions[1].instructions;
  EXPECT_EQ(all[0].operands[1].kind, Kind::Symbol);
  EXPECT_EQ(all[0].operands[1].offset, 8);
  EXPECT_EQ(all[1].operands[1].symbol.scope, SymbolRef::Scope::Function);
  EXPECT_EQ(all[2].operands[1].symbol.scope, SymbolRef::Scope::Code);
}

TEST(Operands, PredicatePairsAndSinks) {
  const One both = parse_one("setp.lt.and.f32 %p1|%p2, %f1, %f2, !%p3;");
  EXPECT_EQ(both.operand(0).kind, Kind::Predicates);
  EXPECT_EQ(both.register_name(both.operand(0).reg), "%p1");
  EXPECT_EQ(both.register_name(both.operand(0).reg2), "%p2");
  EXPECT_TRUE(both.operand(3).negated);
  const One shuffle = parse_one("shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;");
  EXPECT_EQ(shuffle.operand(0).kind, Kind::Predicates);
  EXPECT_EQ(shuffle.instruction.operands.size(), 5u);
  const One first_sunk = parse_one("setp.eq.s32 _|%p2, %r1, 3;");
  EXPECT_EQ(first_sunk.operand(0).reg, kNoIndex);
  EXPECT_NE(first_sunk.operand(0).reg2, kNoIndex);
  const One second_sunk = parse_one("shfl.sync.up.b32 %r1|_, %r2, 1, 0, -1;");
  EXPECT_EQ(second_sunk.operand(0).reg2, kNoIndex);
  EXPECT_EQ(parse_one("atom.global.add.u32 _, [%rd1], 1;").operand(0).kind, Kind::Sink);
}

TEST(Operands, VectorsPackAndUnpack) {
  const One unpack = parse_one("mov.b64 {%r1, %r2}, %rd1;");
  EXPECT_EQ(unpack.operand(0).kind, Kind::Vector);
  EXPECT_EQ(unpack.operand(0).elements.size(), 2u);
  const One pack = parse_one("mov.b32 %r1, {%rs1, 7};");
  EXPECT_EQ(pack.operand(1).elements[1].bits, 7u);
  const One sink = parse_one("mov.b64 {_, %r2}, %rd1;");
  EXPECT_EQ(sink.operand(0).elements[0].kind, Kind::Sink);
  const One store = parse_one("st.shared.v2.f64 [%r1+16], {%fd1, 0d0000000000000000};");
  EXPECT_EQ(store.operand(1).elements[1].kind, Kind::Float64);
}

TEST(Operands, TextureAddressesCarryCoordinates) {
  const One one = parse_one("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];");
  EXPECT_EQ(one.operand(1).kind, Kind::Address);
  EXPECT_EQ(one.register_name(one.operand(1).reg), "%rd1");
  ASSERT_EQ(one.operand(1).elements.size(), 1u);
  EXPECT_EQ(one.operand(1).elements[0].kind, Kind::Vector);
  EXPECT_EQ(one.operand(1).elements[0].elements.size(), 2u);
  const Module module = parse_module(
      ".global .texref t; .global .samplerref s;\n.entry k() { .reg .f32 f<9>; .reg .pred p;\n"
      "tex.1d.v4.f32.s32 {f0,f1,f2,f3}|p, [t, s, {f4}]; }");
  const Operand& address = module.functions[0].instructions[0].operands[1];
  EXPECT_EQ(address.elements.size(), 2u);
  EXPECT_EQ(address.elements[0].kind, Kind::Symbol);
  EXPECT_NE(module.functions[0].instructions[0].operands[0].reg2, kNoIndex);
}

TEST(Operands, VideoSelectorsAreMarked) {
  const One one = parse_one("vadd.u32.u32.u32 %r1, %r2.b3, %r3.h1;");
  EXPECT_FALSE(one.operand(0).has_selector);
  EXPECT_TRUE(one.operand(1).has_selector);
  EXPECT_EQ(one.register_name(one.operand(1).reg), "%r2");
}

// Forms that exec may or may not run, but that are PTX.
class OtherForms : public testing::TestWithParam<std::pair<const char*, unsigned>> {};
TEST_P(OtherForms, ParseWithThisManyOperands) {
  const One one = parse_one(GetParam().first);
  EXPECT_EQ(one.instruction.operands.size(), GetParam().second) << GetParam().first;
}
INSTANTIATE_TEST_SUITE_P(
    All, OtherForms,
    testing::Values(
        std::pair{"bar.sync 0;", 1u}, std::pair{"barrier.sync 1, 64;", 2u},
        std::pair{"bar.red.popc.u32 %r1, 0, !%p1;", 3u}, std::pair{"bar.warp.sync -1;", 1u},
        std::pair{"vote.sync.ballot.b32 %r1, %p1, -1;", 3u},
        std::pair{"match.any.sync.b32 %r1, %r2, -1;", 3u},
        std::pair{"match.all.sync.b32 %r1|%p1, %r2, -1;", 3u}, std::pair{"activemask.b32 %r1;", 1u},
        std::pair{"nanosleep.u32 100;", 1u},
        std::pair{"atom.global.cas.b32 %r1, [%rd1], %r2, %r3;", 4u},
        std::pair{"red.and.release.cta.b32 [%rd1], %r2;", 2u},
        std::pair{"atom.add.noftz.f16x2 %r1, [%rd1], %r2;", 3u},
        std::pair{"ld.volatile.global.v2.u32 {%r1, %r2}, [%rd1];", 2u},
        std::pair{"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];", 2u},
        std::pair{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1,%fd2}, {%fd3}, {%fd4}, "
                  "{%fd1,%fd2};",
                  4u},
        std::pair{"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f1,%f2,%f3,%f4,"
                  "%f5,%f6,%f7,%f8}, %r1;",
                  3u},
        std::pair{"cp.async.cg.shared.global [%r1], [%rd1], 16;", 3u},
        std::pair{"cp.async.wait_group 0;", 1u},
        std::pair{"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                  "[%r1], [%rd1, {%r2, %r3}], [%r4];",
                  3u},
        std::pair{"mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2, 0x989680;", 4u},
        std::pair{"lop3.b32 %r1, %r2, %r3, %r4, 0x96;", 5u},
        std::pair{"sust.b.2d.v4.b8.trap [%rd1, {%r1, %r2}], {%rs1, %rs2, %rs3, %rs4};", 2u},
        std::pair{"ld.global.L2::cache_hint.b32 %r1, [%rd1], %rd2;", 3u},
        std::pair{"createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;", 2u},
        std::pair{"isspacep.shared %p1, %rd1;", 2u}, std::pair{"prefetch.global.L2 [%rd1];", 1u},
        std::pair{"st.global.v8.f32 [%rd1], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};", 2u},
        std::pair{"vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;", 4u},
        std::pair{"elect.sync %r1|%p1, -1;", 2u}));

}  // namespace
}  // namespace raddle::ptx::test::instruction_test
