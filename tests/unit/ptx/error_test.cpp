// Every complaint of the parser, word for word, with line and column.
#include <chrono>

#include "unit/ptx/support.h"

namespace raddle::ptx::test::error_test {
namespace {

TEST(ModuleErrors, WhatIsNotPtx) {
  EXPECT_EQ(error_of(""), "k.ptx:1:1: no .version: PTX begins with it, found nothing");
  EXPECT_EQ(error_of("// only a comment\n"),
            "k.ptx:2:1: no .version: PTX begins with it, found nothing");
  EXPECT_EQ(error_of("int main() {}"), "k.ptx:1:1: no .version: PTX begins with it, found 'int'");
  EXPECT_EQ(error_of(std::string("\x7f"
                                 "ELF\0\0",
                                 6)),
            "k.ptx: not PTX text: byte 4 is zero; is this a binary file?");
  EXPECT_EQ(error_of(kHeader + std::string(1, '\0')),
            "k.ptx: not PTX text: byte 44 is zero; is this a binary file?");
}

TEST(ModuleErrors, VersionTargetAndAddressSize) {
  EXPECT_EQ(error_of(".version 5.0"),
            "k.ptx:1:10: PTX version 5.0 is not supported: expected 6.0 to 9.0");
  EXPECT_EQ(error_of(".version 9.1"),
            "k.ptx:1:10: PTX version 9.1 is not supported: expected 6.0 to 9.0");
  EXPECT_EQ(error_of(".version seven"),
            "k.ptx:1:10: expected a version such as 7.2, found 'seven'");
  EXPECT_EQ(error_of(".version 7"), "k.ptx:1:10: expected a version such as 7.2, found '7'");
  EXPECT_EQ(error_of(".version"), "k.ptx:1:9: expected a version such as 7.2, found ''");
  EXPECT_EQ(error_of(".version 7.2\n.target sm_20"),
            "k.ptx:2:9: target 'sm_20' is not supported: expected sm_30 to sm_121");
  EXPECT_EQ(error_of(".version 7.2\n.target gfx90"),
            "k.ptx:2:9: target 'gfx90' is not supported: expected sm_30 to sm_121");
  EXPECT_EQ(error_of(".version 7.2\n.target sm_70, map_f64_to_f32"),
            "k.ptx:2:16: target option 'map_f64_to_f32' is not supported");
  EXPECT_EQ(error_of(".version 7.2\n.target sm_70\n.address_size 32"),
            "k.ptx:3:15: expected .address_size 64, found '32'");
  EXPECT_EQ(error_of(".version 7.2\n"), "k.ptx: no .target: PTX names the GPU it is for");
}

TEST(ModuleErrors, Declarations) {
  EXPECT_EQ(module_error("ret;"),
            "k.ptx:4:1: expected a variable, .entry, .func or another directive, found 'ret'");
  EXPECT_EQ(module_error(".global x;"), "k.ptx:4:9: expected a type such as .b32, found 'x'");
  EXPECT_EQ(module_error(".global .int x;"),
            "k.ptx:4:9: expected a type such as .b32, found '.int'");
  EXPECT_EQ(module_error(".global .u32 7;"), "k.ptx:4:14: expected a name, found '7'");
  EXPECT_EQ(module_error(".global .u32 x"), "k.ptx:4:15: expected ';', found end of file");
  EXPECT_EQ(module_error(".global .align 3 .u32 x;"),
            "k.ptx:4:16: expected an alignment that is a power of two, found 3");
  EXPECT_EQ(module_error(".global .align x .u32 x;"),
            "k.ptx:4:16: expected an alignment, found 'x'");
  EXPECT_EQ(module_error(".global .u32 x[-1];"),
            "k.ptx:4:16: expected an array extent that is not negative, found -1");
  EXPECT_EQ(module_error(".global .u32 x[1.5];"),
            "k.ptx:4:16: expected an array extent, found a floating-point number");
  EXPECT_EQ(module_error(".global .u32 x[2][];"),
            "k.ptx:4:19: expected an array extent, found ']'");
  EXPECT_EQ(module_error(".global .u32 x[0x10000000000];"),
            "k.ptx:4:14: 'x' is larger than 2^40 bytes");
  EXPECT_EQ(module_error(".global .u32 x;\n.global .u32 x;"), "k.ptx:5:14: 'x' is already defined");
  EXPECT_EQ(module_error(".func x;\n.global .u32 x;"), "k.ptx:5:14: 'x' is already defined");
  EXPECT_EQ(module_error(".global .u32 x;\n.func x { ret; }"), "k.ptx:5:7: 'x' is already defined");
  EXPECT_EQ(module_error(".global .attribute .u32 x;"), "k.ptx:4:20: expected '(', found '.u32'");
}

TEST(ModuleErrors, Initialisers) {
  EXPECT_EQ(module_error(".global .u32 x[2] = {1, 2, 3};"),
            "k.ptx:4:28: expected at most 2 initialisers here, found more");
  EXPECT_EQ(module_error(".shared .u32 s[2] = {11, 22};"),
            "k.ptx:4:19: only .global and .const variables have an initial value, 's' is another");
  EXPECT_EQ(module_error(".entry k() { .local .u32 s = 1; ret; }"),
            "k.ptx:4:28: only .global and .const variables have an initial value, 's' is another");
  EXPECT_EQ(module_error(".global .u32 x[2][2] = {1, 2};"), "k.ptx:4:25: expected '{', found '1'");
  EXPECT_EQ(module_error(".global .u64 x = y;"), "k.ptx:4:18: undefined symbol 'y'");
  EXPECT_EQ(module_error(".global .u64 x = generic(y);"), "k.ptx:4:26: undefined symbol 'y'");
  EXPECT_EQ(module_error(".global .u64 x;\n.global .u64 y = x + 1.5;"),
            "k.ptx:5:22: expected a whole number");
  EXPECT_EQ(module_error(".global .u64 x;\n.global .b8 y = 0xFE(x);"),
            "k.ptx:5:17: expected a mask of one byte such as 0xFF00, found '0xFE'");
  EXPECT_EQ(module_error(".global .u64 x;\n.global .u32 y = 0xFF(x);"),
            "k.ptx:5:18: a byte of an address can initialise a .b8, not a .u32");
  EXPECT_EQ(module_error(".extern .global .u32 x = 1;"),
            "k.ptx:4:24: expected ',' or ';' after an .extern variable, found '='");
  EXPECT_EQ(module_error(".global .u32 x = {;"), "k.ptx:4:18: expected a constant, found '{'");
  EXPECT_EQ(module_error(".global .texref x = 5;"), "k.ptx:4:21: expected '{', found '5'");
  EXPECT_EQ(module_error(".global .samplerref x = { a = b"), "k.ptx:4:25: '{' without its '}'");
}

TEST(ModuleErrors, Functions) {
  EXPECT_EQ(module_error(".entry {"), "k.ptx:4:8: expected a function name, found '{'");
  EXPECT_EQ(module_error(".entry k(.global .u32 x) { }"),
            "k.ptx:4:10: expected .param or .reg, found '.global'");
  EXPECT_EQ(module_error(".entry k() .fast { }"),
            "k.ptx:4:12: expected '{', ';' or a performance directive, found '.fast'");
  EXPECT_EQ(module_error(".entry k() .maxntid -1 { }"),
            "k.ptx:4:21: expected a number from 0 to 2147483647, found -1");
  EXPECT_EQ(module_error(".entry k() { ret; }\n.entry k() { ret; }"),
            "k.ptx:5:8: 'k' is already defined");
  EXPECT_EQ(module_error(".func f(.param .b32 x);\n.func f(.param .b64 x) { ret; }"),
            "k.ptx:5:7: 'f' was declared otherwise in line 4");
  EXPECT_EQ(module_error(".func f(.param .b32 x, .param .b32 x) { ret; }"),
            "k.ptx:4:36: 'x' is already declared in this block");
  EXPECT_EQ(module_error(".func f;\n.alias g, f;"), "k.ptx:5:8: undefined function 'g'");
  EXPECT_EQ(module_error(".func f;\n.func g;\n.alias g, f;"),
            "k.ptx:6:11: 'f' has no body to share");
  EXPECT_EQ(module_error(".func f { }\n.func g { }\n.alias g, f;"),
            "k.ptx:6:8: 'g' is already defined");
  EXPECT_EQ(module_error(".func .attribute f;"), "k.ptx:4:18: expected '(', found 'f'");
  EXPECT_EQ(module_error(".section .debug_x"), "k.ptx:4:18: expected '{', found end of file");
  EXPECT_EQ(module_error(".pragma \"x\""), "k.ptx:4:12: expected ';', found end of file");
}

TEST(BodyErrors, UndefinedNames) {
  EXPECT_EQ(kernel_error("mov.u32 %r1, %r200;"), "k.ptx:13:14: undefined register '%r200'");
  EXPECT_EQ(kernel_error("mov.u32 %r01, 1;"), "k.ptx:13:9: undefined register '%r01'");
  EXPECT_EQ(kernel_error("mov.u64 %rd1, nowhere;"), "k.ptx:13:15: undefined symbol 'nowhere'");
  EXPECT_EQ(kernel_error("ld.global.u32 %r1, [nowhere+4];"),
            "k.ptx:13:21: undefined symbol 'nowhere'");
  EXPECT_EQ(kernel_error("\n  bra NOWHERE;"), "k.ptx:14:7: undefined label 'NOWHERE'");
  EXPECT_EQ(kernel_error("brx.idx %r1, NOWHERE;"), "k.ptx:13:14: undefined label 'NOWHERE'");
  EXPECT_EQ(kernel_error("T: .branchtargets NOWHERE;"), "k.ptx:13:19: undefined label 'NOWHERE'");
  EXPECT_EQ(kernel_error("{ INNER: ret; }\nbra INNER;"), "k.ptx:14:5: undefined label 'INNER'");
  EXPECT_EQ(kernel_error("{ .reg .b32 t; }\nmov.b32 t, 1;"), "k.ptx:14:9: undefined symbol 't'");
  EXPECT_EQ(kernel_error("call nothing;"), "k.ptx:13:6: undefined symbol 'nothing'");
  EXPECT_EQ(kernel_error("T: .calltargets nothing;"), "k.ptx:13:17: undefined function 'nothing'");
  EXPECT_EQ(kernel_error("mov.u32 %r1, %envreg32;"), "k.ptx:13:14: undefined register '%envreg32'");
  EXPECT_EQ(kernel_error("mov.u32 %r1, %pm3;"),
            "k.ptx:13:14: special register '%pm3' is not supported");
  EXPECT_EQ(kernel_error("mov.v4.u32 %r1, %tid;"),
            "k.ptx:13:17: special register '%tid' is not supported");
  EXPECT_EQ(kernel_error("mov.u32 %r1, %reserved_smem_offset_end;"),
            "k.ptx:13:14: special register '%reserved_smem_offset_end' is not supported");
}

TEST(BodyErrors, DuplicateNames) {
  const std::string again = " is already declared in this block";
  EXPECT_EQ(kernel_error(".reg .b32 t, t;"), "k.ptx:13:14: 't'" + again);
  EXPECT_EQ(kernel_error(".reg .b32 %r<5>;"), "k.ptx:13:11: '%r'" + again);
  EXPECT_EQ(kernel_error(".reg .b32 %r7;"), "k.ptx:13:11: '%r7'" + again);
  EXPECT_EQ(kernel_error("L: ret;\nL: ret;"), "k.ptx:14:1: 'L'" + again);
  EXPECT_EQ(kernel_error(".shared .b8 a[4];"), "k.ptx:13:13: 'a'" + again);
}

TEST(BodyErrors, Statements) {
  EXPECT_EQ(kernel_error("42;"), "k.ptx:13:1: expected an instruction or '}', found '42'");
  EXPECT_EQ(kernel_error(".version 7.0"),
            "k.ptx:13:1: expected an instruction or a declaration, found '.version'");
  EXPECT_EQ(kernel_error(".branchtargets L;"),
            "k.ptx:13:1: '.branchtargets' needs a label before it");
  EXPECT_EQ(error_of(kHeader + ".entry k() { ret;"),
            "k.ptx:4:18: expected an instruction or '}', found end of file");
  EXPECT_EQ(kernel_error("mov.u32 %r1, 1"), "k.ptx:14:1: expected ';', found '}'");
  EXPECT_EQ(kernel_error("@%r1 bra L;"),
            "k.ptx:13:2: expected a predicate register, found '%r1' of type .b32");
  EXPECT_EQ(kernel_error("@a bra L;"), "k.ptx:13:2: expected a predicate register, found 'a'");
  EXPECT_EQ(kernel_error("@%p1;"), "k.ptx:13:5: expected an instruction, found ';'");
  EXPECT_EQ(kernel_error(".reg .foo t;"), "k.ptx:13:6: expected a type such as .b32, found '.foo'");
  EXPECT_EQ(kernel_error(".reg t;"), "k.ptx:13:6: expected a type such as .b32, found 't'");
  EXPECT_EQ(kernel_error(".reg .v4 .f32 t;"),
            "k.ptx:13:6: vector registers are not supported: declare one register per element");
  EXPECT_EQ(kernel_error(".reg .b32 t<x>;"),
            "k.ptx:13:13: expected a number of registers, found 'x'");
  EXPECT_EQ(kernel_error(".reg .b32 t<99999999999>;"),
            "k.ptx:13:13: expected a number of registers, found '99999999999'");
}

TEST(BodyErrors, Operands) {
  EXPECT_EQ(kernel_error("mov.u32 %r1, ;"), "k.ptx:13:14: expected an operand, found ';'");
  EXPECT_EQ(kernel_error("mov.u32 %r1, \"x\";"), "k.ptx:13:14: expected an operand, found '\"x\"'");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [];"), "k.ptx:13:14: expected an address, found ']'");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [%rd1;"), "k.ptx:13:18: expected ']', found ';'");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [%rd1+];"), "k.ptx:13:19: expected an offset, found ']'");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [%rd1+1.5];"),
            "k.ptx:13:19: expected an offset, found a floating-point number");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [%tid.x];"),
            "k.ptx:13:14: expected a register or symbol, found '%tid.x'");
  EXPECT_EQ(kernel_error("setp.eq.s32 %p1|%r1, %r2, 0;"),
            "k.ptx:13:17: expected a predicate register, found '%r1' of type .b32");
  EXPECT_EQ(kernel_error("L: mov.u64 %rd1, L;"),
            "k.ptx:13:18: expected an operand, found label 'L'");
  EXPECT_EQ(kernel_error("bra 5;"), "k.ptx:13:5: expected a label, found '5'");
  EXPECT_EQ(kernel_error("bra a;\na: ret;"), "k.ptx:14:1: 'a' is already declared in this block");
  EXPECT_EQ(kernel_error("bra b;"),
            "k.ptx:13:5: expected a label, found 'b', which is something else");
  EXPECT_EQ(kernel_error("brx.idx 3, T;"), "k.ptx:13:9: expected a register, found '3'");
  EXPECT_EQ(kernel_error("brx.idx %r1, a;"),
            "k.ptx:13:14: expected a .branchtargets list, found 'a', which is something else");
}

TEST(BodyErrors, Vectors) {
  EXPECT_EQ(kernel_error("ld.global.v4.f32 {%f1, %f2, %f3}, [%rd1];"),
            "k.ptx:13:1: 'ld.global.v4.f32' takes a vector of 4, found a vector of 3");
  EXPECT_EQ(kernel_error("ld.global.v2.f32 %f1, [%rd1];"),
            "k.ptx:13:1: 'ld.global.v2.f32' takes a vector of 2, found a single operand");
  EXPECT_EQ(kernel_error("st.global.f32 [%rd1], {%f1, %f2};"),
            "k.ptx:13:1: 'st.global.f32' takes a single operand, found a vector of 2");
  EXPECT_EQ(kernel_error("mov.b64 {%r1, %r2, %r3}, %rd1;"),
            "k.ptx:13:1: 'mov.b64' packs 2 or 4 elements that together have 64 bits, found "
            "something else");
  EXPECT_EQ(kernel_error("mov.b64 %rd1, {%rs1, %rs2};"),
            "k.ptx:13:1: 'mov.b64' packs 2 or 4 elements that together have 64 bits, found "
            "something else");
  EXPECT_EQ(kernel_error("mov.b64 {%r1, {%r2}}, %rd1;"),
            "k.ptx:13:15: expected a register or constant, found '{'");
  std::string many = "mov.b64 {%r1";
  for (int i = 0; i < 300; ++i) many += ",%r1";
  EXPECT_EQ(kernel_error(many + "}, %rd1;"), "k.ptx:13:9: vector of more than 256 elements");
}

TEST(BodyErrors, Calls) {
  const std::string head =
      ".func (.param .b32 r) f(.param .b32 x) { ret; }\n.entry k() {\n"
      ".reg .b64 d; .param .b32 a;\n";
  EXPECT_EQ(module_error(head + "call f, (a); }"), "k.ptx:7:6: 'f' has 1 return values, found 0");
  EXPECT_EQ(module_error(head + "call (a), f, (a, a); }"),
            "k.ptx:7:11: 'f' has 1 parameters, found 2");
  EXPECT_EQ(module_error(head + "call (a), d, (a); }"),
            "k.ptx:7:11: a call through 'd' needs a .callprototype or .calltargets");
  EXPECT_EQ(module_error(head + "call (a), a, (a); }"),
            "k.ptx:7:11: expected a function or a register, found 'a'");
  EXPECT_EQ(module_error(head + "call (a), d, (a), a; }"),
            "k.ptx:7:19: expected a .callprototype or .calltargets, found 'a', which is something "
            "else");
  EXPECT_EQ(module_error(head + "p: .callprototype (.param .b32 _) q (); }"),
            "k.ptx:7:35: expected '_', found 'q'");
}

// What a hostile file may ask for is bounded.
TEST(Limits, NestingTextAndMemory) {
  EXPECT_EQ(kernel_error(std::string(1'000'000, '{')), "k.ptx:13:64: blocks nested deeper than 64");
  EXPECT_EQ(module_error(".global .u32 x" +
                         [] {
                           std::string extents;
                           for (int i = 0; i < 20; ++i) extents += "[1]";
                           return extents;
                         }() +
                         ";"),
            "k.ptx:4:64: more than 16 array extents");
  EXPECT_EQ(module_error(".global .u8 x[2][8589934592] = {{1},{1}};"),
            "k.ptx:4:39: this module needs more than 3 GiB of memory to hold")
      << "8 GiB of zeros between the two";
  EXPECT_EQ(error_of(std::string((std::size_t{256} << 20) + 1, ' ')),
            "k.ptx: larger than 256 MiB: this is not a PTX module");
}

TEST(Limits, JunkIsRefusedQuickly) {
  constexpr std::size_t kBytes = 20'000'000;
  const std::string junk[] = {
      std::string(kBytes, 'x'),
      "/*" + std::string(kBytes, '*'),
      kHeader + std::string(kBytes, '('),
      kHeader + ".section .x {" + std::string(kBytes, '{'),
      kHeader + ".global .u32 x = " + std::string(kBytes, '-'),
      kHeader + ".pragma " + std::string(kBytes, '"'),
      kHeader + ".entry k() { " + std::string(kBytes, ';'),
  };
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& text : junk) EXPECT_FALSE(error_of(text).empty());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 20.0) << "a loose bound: sanitizers and busy machines are slow";
}

// Every prefix of a module either parses or is refused; none crashes.
TEST(Limits, EveryTruncationIsHandled) {
  const std::string text =
      kHeader +
      ".global .u64 x[2] = {generic(x)+8, 1};\n.func (.param .b32 r) f(.param .b32 a);\n"
      ".visible .entry k(.param .align 8 .b8 s[24]) .maxntid 32, 1, 1\n{\n.reg .b32 %r<4>;\n"
      ".reg .pred p;\nL: @!p ld.global.v2.b32 {%r1, _}, [x+8];\n{ .param .b32 a;\n"
      "call (a), f, (a);\n}\nT: .branchtargets L, M;\nbrx.idx %r1, T;\nM: ret;\n}\n";
  unsigned refused = 0;
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      parse(text.substr(0, length), "k.ptx");
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, text.size() / 2);
  EXPECT_NO_THROW(parse(text, "k.ptx"));
}

}  // namespace
}  // namespace raddle::ptx::test::error_test
