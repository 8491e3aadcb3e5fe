// Module variables, parameters, initialisers, function headers.
#include <gmock/gmock.h>

#include <bit>
#include <cstring>

#include "unit/ptx/support.h"

namespace raddle::ptx::test::declaration_test {
namespace {

using testing::ElementsAre;

TEST(Header, VersionTargetAndAddressSizeAreKept) {
  const Module module = parse(".version 8.5\n.target sm_90a, debug\n.address_size 64\n", "k.ptx");
  EXPECT_EQ(module.version_major, 8u);
  EXPECT_EQ(module.version_minor, 5u);
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.address_size, 64u);
  EXPECT_EQ(module.file, "k.ptx");
}

TEST(Variables, LinkageSpaceAlignmentAndSizeAreKept) {
  const Module module = parse_module(
      ".visible .global .align 16 .b8 a[24];\n.extern .shared .align 8 .b8 dynamic[];\n"
      ".weak .const .f32 c;\n.shared .v4 .f32 v[3];\n.common .global .u16 w, x[2][3];\n");
  ASSERT_EQ(module.variables.size(), 6u);
  const Variable& a = module.variables[0];
  EXPECT_TRUE(a.is_visible && a.is_array && !a.is_extern);
  EXPECT_EQ(a.space, Space::Global);
  EXPECT_EQ(a.align, 16u);
  EXPECT_EQ(a.size, 24u);
  EXPECT_EQ(a.line, 4u);
  const Variable& dynamic = module.variables[1];
  EXPECT_TRUE(dynamic.is_extern && dynamic.is_array);
  EXPECT_EQ(dynamic.size, 0u);
  EXPECT_TRUE(module.variables[2].is_weak);
  EXPECT_EQ(module.variables[2].align, 4u) << "natural";
  EXPECT_EQ(module.variables[3].align, 16u) << "natural for .v4 .f32";
  EXPECT_EQ(module.variables[3].size, 48u);
  EXPECT_EQ(module.variables[5].size, 12u);
  EXPECT_EQ(module.variables[5].name, "x");
}

TEST(Variables, ManagedAttributeIsKeptAndUnifiedAccepted) {
  const Module module = parse_module(
      ".global .attribute(.managed) .align 4 .u32 m = 5;\n.global .attribute(.unified(1, 2)) .u32 "
      "u;");
  EXPECT_TRUE(module.variables[0].is_managed);
  EXPECT_FALSE(module.variables[1].is_managed);
}

TEST(Variables, ExternDeclarationAndDefinitionAreOneVariable) {
  const Module module = parse_module(
      ".extern .global .u32 x;\n.visible .global .u32 x = 7;\n.extern .global .u32 x;\n");
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_FALSE(module.variables[0].is_extern);
  EXPECT_THAT(bytes_of(module.variables[0]), ElementsAre(7, 0, 0, 0));
}

template <class T>
T value_of(const Variable& variable, std::size_t index = 0) {
  T value{};
  std::memcpy(&value, variable.initial.data() + index * sizeof(T), sizeof(T));
  return value;
}

TEST(Initialisers, NumbersAreStoredLittleEndianInTheTypeOfTheElement) {
  const Module module = parse_module(
      ".global .u16 a[4] = {1, -2, 0x1234};\n.global .f32 f = 0f3F800000;\n"
      ".global .f64 d[2] = {0d400A000000000000, 1};\n.global .f32 g[2] = {2.5, -1};\n"
      ".const .b8 e[2] = {256+3, 1 ? 4 : 2};\n.global .u64 h = 0xFFFFFFFFFFFFFFFF;\n"
      ".global .b32 i[2] = {0fBF800000, -0f3F800000};\n");
  EXPECT_THAT(bytes_of(module.variables[0]), ElementsAre(1, 0, 0xfe, 0xff, 0x34, 0x12))
      << "the rest of the array is zero and not stored";
  EXPECT_EQ(value_of<float>(module.variables[1]), 1.0f);
  EXPECT_EQ(value_of<double>(module.variables[2], 0), 3.25);
  EXPECT_EQ(value_of<double>(module.variables[2], 1), 1.0);
  EXPECT_EQ(value_of<float>(module.variables[3], 0), 2.5f);
  EXPECT_EQ(value_of<float>(module.variables[3], 1), -1.0f);
  EXPECT_THAT(bytes_of(module.variables[4]), ElementsAre(3, 4));
  EXPECT_EQ(value_of<std::uint64_t>(module.variables[5]), ~std::uint64_t{0});
  EXPECT_EQ(value_of<float>(module.variables[6], 1), -1.0f);
}

TEST(Initialisers, HalfFloatsAreRounded) {
  const Module module = parse_module(
      ".global .f16 a[6] = {1.0, -2.5, 65504.0, 65520.0, 0.000000059604644775390625, 0x3C01};\n"
      ".global .f16 b[4] = {0.00006103515625, 1.00048828125, 0.0, -0.0};\n");
  const auto half = [&](std::size_t v, std::size_t i) {
    return value_of<std::uint16_t>(module.variables[v], i);
  };
  EXPECT_EQ(half(0, 0), 0x3c00);
  EXPECT_EQ(half(0, 1), 0xc100);
  EXPECT_EQ(half(0, 2), 0x7bff) << "the largest finite";
  EXPECT_EQ(half(0, 3), 0x7c00) << "overflows to infinity";
  EXPECT_EQ(half(0, 4), 0x0001) << "the smallest subnormal";
  EXPECT_EQ(half(0, 5), 0x3c01) << "an integer is a bit pattern";
  EXPECT_EQ(half(1, 0), 0x0400) << "the smallest normal";
  EXPECT_EQ(half(1, 1), 0x3c00) << "a tie goes to the even";
  EXPECT_EQ(half(1, 2), 0x0000);
  EXPECT_EQ(half(1, 3), 0x8000);
}

TEST(Initialisers, NestedBracesFollowTheExtents) {
  const Module module = parse_module(
      ".global .u8 a[2][3] = {{1, 2}, {4, 5, 6}};\n.global .u8 b[][2] = {{1, 2}, {3}};\n"
      ".global .v2 .u8 v[2] = {{1, 2}, {3, 4}};\n.global .u8 none[4] = {};\n");
  EXPECT_THAT(bytes_of(module.variables[0]), ElementsAre(1, 2, 0, 4, 5, 6));
  EXPECT_THAT(bytes_of(module.variables[1]), ElementsAre(1, 2, 3));
  EXPECT_EQ(module.variables[1].size, 4u) << "[] takes its extent from the initialiser";
  EXPECT_THAT(bytes_of(module.variables[2]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(bytes_of(module.variables[3]), ElementsAre());
}

TEST(Initialisers, AddressesBecomeRelocations) {
  const Module module = parse_module(
      ".func f;\n.global .u32 x[4];\n"
      ".global .u64 p[4] = {x, generic(x)+8, f, x-4};\n.global .u64 q = generic(x + 4) + 4;\n");
  const std::vector<Relocation>& all = module.variables[1].relocations;
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].offset, 0u);
  EXPECT_EQ(all[0].symbol.scope, SymbolRef::Scope::Module);
  EXPECT_EQ(all[0].symbol.index, 0u);
  EXPECT_FALSE(all[0].generic);
  EXPECT_EQ(all[0].size, 8u);
  EXPECT_EQ(all[1].offset, 8u);
  EXPECT_EQ(all[1].addend, 8);
  EXPECT_TRUE(all[1].generic);
  EXPECT_EQ(all[2].symbol.scope, SymbolRef::Scope::Code);
  EXPECT_EQ(all[3].addend, -4);
  EXPECT_EQ(module.variables[2].relocations.at(0).addend, 8);
}

TEST(Initialisers, AVariableMayHoldItsOwnAddress) {
  const Module module = parse_module(".global .u64 ring[2] = {generic(ring)+8, ring};\n");
  ASSERT_EQ(module.variables[0].relocations.size(), 2u);
  EXPECT_EQ(module.variables[0].relocations[1].symbol.index, 0u);
}

TEST(Initialisers, MasksSelectOneByteOfAnAddress) {
  const Module module = parse_module(
      ".global .u32 x;\n"
      ".global .b8 p[4] = {97, 0xFF(generic(x)+4), 0xFF00(x), 0xFF00000000000000(x)};\n");
  const std::vector<Relocation>& all = module.variables[1].relocations;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].offset, 1u);
  EXPECT_EQ(all[0].shift, 0u);
  EXPECT_EQ(all[0].size, 1u);
  EXPECT_EQ(all[0].addend, 4);
  EXPECT_EQ(all[1].shift, 8u);
  EXPECT_EQ(all[2].shift, 56u);
}

TEST(Initialisers, SamplerStatesAreSkipped) {
  const Module module = parse_module(
      ".global .samplerref s = { addr_mode_0 = wrap, filter_mode = nearest };\n"
      ".global .texref t;\n");
  EXPECT_EQ(module.variables[0].type, Type::SampRef);
  EXPECT_EQ(module.variables[1].size, 8u);
}

TEST(Functions, EntryParametersKeepTypeSizeAndAlignment) {
  const Module module = parse_module(
      ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24],\n"
      ".param .f32 f)\n{ ret; }\n.weak .entry empty() { }\n.entry bare { ret; }\n");
  ASSERT_EQ(module.functions.size(), 3u);
  const Function& k = module.functions[0];
  EXPECT_TRUE(k.is_entry && !k.is_extern && !k.is_weak);
  EXPECT_EQ(k.line, 4u);
  ASSERT_EQ(k.parameters.size(), 3u);
  EXPECT_EQ(k.parameters[0].align, 8u) << "16 is the alignment of what it points to";
  EXPECT_EQ(k.parameters[1].size, 24u);
  EXPECT_TRUE(k.parameters[1].is_array);
  EXPECT_EQ(k.parameters[2].type, Type::F32);
  EXPECT_TRUE(module.functions[1].is_weak);
  EXPECT_TRUE(module.functions[1].instructions.empty());
  EXPECT_EQ(module.find_entry("bare"), &module.functions[2]);
  EXPECT_EQ(module.find_entry("none"), nullptr);
}

TEST(Functions, PerformanceDirectivesAreKept) {
  const Module module = parse_module(
      ".entry k() .maxntid 128, 2 .minnctapersm 2 .maxnreg 64 { ret; }\n"
      ".entry l() .reqntid 32,1,1 .explicitcluster .reqnctapercluster 2, 1, 1 .maxclusterrank 8\n"
      ".pragma \"nounroll\"; { ret; }\n"
      ".func f() .noreturn .abi_preserve 3 { trap; }\n");
  const Function& k = module.functions[0];
  EXPECT_EQ(k.max_threads, (Dim3{128, 2, 1}));
  EXPECT_EQ(k.min_blocks_per_sm, 2u);
  EXPECT_EQ(k.max_registers, 64u);
  EXPECT_FALSE(k.required_threads.has_value());
  EXPECT_EQ(module.functions[1].required_threads, (Dim3{32, 1, 1}));
  EXPECT_EQ(module.functions[1].required_cluster, (Dim3{2, 1, 1}));
  EXPECT_TRUE(module.functions[2].is_noreturn);
}

TEST(Functions, DeclarationAndDefinitionAreOneFunction) {
  const Module module = parse_module(
      ".extern .func (.param .b32 r) printf_like(.param .b64 f, .param .b64 v);\n"
      ".func (.param .b32 r) f(.param .b32 x);\n"
      ".func (.param .b32 r) f(.param .b32 x)\n{\n ret;\n}\n");
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_TRUE(module.functions[0].is_extern);
  EXPECT_EQ(module.functions[0].parameters.size(), 2u);
  EXPECT_EQ(module.functions[0].returns.size(), 1u);
  EXPECT_FALSE(module.functions[1].is_extern);
  EXPECT_EQ(module.functions[1].line, 6u);
  EXPECT_EQ(module.functions[1].instructions.size(), 1u);
}

TEST(Functions, RegisterParametersAreTheFirstRegisters) {
  const Module module = parse_module(
      ".func (.reg .u32 rv) f (.reg .u32 x, .param .b64 y, .reg .pred z)\n"
      "{ .reg .b32 t; @z mov.u32 t, x; mov.u32 rv, t; ret; }\n");
  const Function& f = module.functions[0];
  ASSERT_EQ(f.registers.size(), 4u);
  EXPECT_EQ(f.registers[0].name, "rv");
  EXPECT_EQ(f.registers[1].name, "x");
  EXPECT_EQ(f.registers[2].name, "z");
  EXPECT_EQ(f.parameters[0].space, Space::Reg);
  EXPECT_EQ(f.instructions[0].guard, 2u);
  EXPECT_EQ(f.instructions[0].operands[1].reg, 1u);
}

TEST(Functions, AnAliasSharesTheBody) {
  const Module module = parse_module(
      ".func f(.param .b32 x) { membar.cta; ret; }\n"
      ".func g(.param .b32 y);\n.alias g, f;\n");
  EXPECT_EQ(module.functions[1].name, "g");
  EXPECT_FALSE(module.functions[1].is_extern);
  ASSERT_EQ(module.functions[1].instructions.size(), 2u);
  EXPECT_EQ(module.functions[1].instructions[0].text(), "membar.cta");
}

TEST(Module, DebugSectionsAndLineTablesAreSkipped) {
  const Module module = parse_module(
      ".file 1 \"a.cu\"\n.section .debug_str\n{\n$L__s:\n.b8 95, 90\n.b8 0 { nested }\n}\n"
      ".pragma \"x\";\n.entry k() {\n.loc 1 3 4, function_name $L__s, inlined_at 1 2 3\n"
      ".file 2 \"b.cu\"\nret;\n.section .debug_x { }\n}\n.file 3 \"c\"");
  EXPECT_EQ(module.functions.at(0).instructions.size(), 1u);
}

TEST(SourceLines, AreKeptWithTheInstructionsThatFollow) {
  const Module module = parse_module(
      ".file 3 \"/a b/x.cu\"\n.visible .entry k() {\n.reg .b32 %r<3>;\n"
      "mov.u32 %r1, 0;\n.loc 3 12 7\nmov.u32 %r1, 1; mov.u32 %r1, 2;\n"
      ".loc\t3 40 1, function_name $L__info_string0, inlined_at 3 9 1\nmov.u32 %r1, 3;\n"
      ".loc 3\nmov.u32 %r1, 4;\n.loc 3 99999999999 1\nret;\n}\n.file\n.file 4 x\n.loc 1 2 3\n"
      ".file 5 \"late.cu\"\n");
  using Lines = std::vector<SourceLine>;
  Lines found, inlined;
  for (const Instruction& i : module.functions[0].instructions) {
    found.push_back(i.source);
    inlined.push_back(i.inlined_at);
  }
  EXPECT_EQ(found, (Lines{{0, 0}, {3, 12}, {3, 12}, {3, 40}, {0, 0}, {3, 4294967295u}}));
  EXPECT_EQ(inlined, (Lines{{}, {}, {}, {3, 9}, {}, {}}));
  EXPECT_EQ(module.source_files, (SourceFiles{{3, "/a b/x.cu"}, {5, "late.cu"}}));
}

TEST(SourceLines, OfInlinedCodeLeadToTheOutermostCall) {
  const Module module = parse_module(
      ".entry k() {\n.loc 1 20 3\n.loc 2 489 9, function_name $L__1, inlined_at 1 20 3\n"
      ".loc 3 87 13, function_name $L__2 + 16, inlined_at 2 489 9\nbar.sync 0;\n"
      // The same line of a header, called from elsewhere; then what is no place.
      ".loc 2 489 9, function_name $L__1, inlined_at 1 33 1\nbar.sync 0;\n"
      ".loc 3 87 13, function_name $L__2, inlined_at 2 489 9\nbar.sync 0;\n"
      ".loc 3 88 1, function_name $L__2, inlined_at 2\nbar.sync 0;\n"
      ".loc 1 34 1\nret;\n}\n");
  std::vector<SourceLine> inlined;
  for (const Instruction& i : module.functions[0].instructions) inlined.push_back(i.inlined_at);
  EXPECT_EQ(inlined, (std::vector<SourceLine>{{1, 20}, {1, 33}, {1, 33}, {}, {}}));
}

}  // namespace
}  // namespace raddle::ptx::test::declaration_test
