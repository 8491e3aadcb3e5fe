// Several modules into one: which definition a name means, and what is refused.
#include "raddle/ptx/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"

namespace raddle::ptx::link_test {
namespace {

using raddle::test::input_error_of;
using testing::HasSubstr;

const std::string kHead = ".version 8.0\n.target sm_75\n.address_size 64\n";

Module linked(const std::vector<std::string>& bodies) {
  std::vector<SourceText> sources;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    sources.push_back({kHead + bodies[i], std::string(1, static_cast<char>('a' + i)) + ".ptx"});
  return parse_and_link(std::move(sources));
}
std::string refusal(const std::vector<std::string>& bodies) {
  return input_error_of([&] { linked(bodies); });
}
const Function& function(const Module& module, std::string_view name, std::size_t nth = 0) {
  for (const Function& f : module.functions)
    if (f.name == name && nth-- == 0) return f;
  throw std::runtime_error("no function");
}
const Function& callee(const Module& module, const Function& f, std::size_t call = 0) {
  return module.functions.at(f.calls.at(call).callee.symbol.index);
}

const char* const kExternF = ".extern .func (.param .b32 r) f(.param .b32 a);\n";
const char* const kVisibleF =
    ".visible .func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %r<2>;\n"
    "ld.param.b32 %r1, [a];\nst.param.b32 [r], %r1;\nret;\n}\n";
const char* const kEntryThatCallsF =
    ".visible .entry k()\n{\n.param .b32 x;\n.param .b32 y;\ncall (y), f, (x);\nret;\n}\n";

TEST(Link, OneModuleIsItself) {
  const Module module = linked({kVisibleF});
  EXPECT_EQ(module.functions.size(), 1u);
  EXPECT_TRUE(module.linked.empty());
}

TEST(Link, ExternFunctionsBecomeTheirDefinitionWhicheverComesFirst) {
  const std::string user = std::string(kExternF) + kEntryThatCallsF;
  for (const auto& bodies :
       {std::vector<std::string>{user, kVisibleF}, std::vector<std::string>{kVisibleF, user}}) {
    const Module module = linked(bodies);
    EXPECT_EQ(module.functions.size(), 2u);
    const Function& f = callee(module, function(module, "k"));
    EXPECT_EQ(f.name, "f");
    EXPECT_FALSE(f.is_extern);
    EXPECT_EQ(f.instructions.size(), 3u);
    EXPECT_EQ(f.instructions[0].opcode, "ld");  // the view's text still lives
    EXPECT_EQ(module.source_of(f).file, bodies[0] == user ? "b.ptx" : "a.ptx");
  }
}

TEST(Link, FunctionsOfNobodyStayExtern) {
  const Module module = linked({std::string(kExternF) + kEntryThatCallsF, kExternF});
  EXPECT_TRUE(function(module, "f").is_extern);
  EXPECT_EQ(module.functions.size(), 2u);
}

TEST(Link, LocalFunctionsOfOneNameStayApart) {
  const std::string local = ".func f()\n{\nret;\n}\n.visible .entry ";
  const Module module = linked(
      {local + "k1()\n{\ncall f, ();\nret;\n}\n", local + "k2()\n{\ncall f, ();\nret;\n}\n"});
  EXPECT_EQ(module.functions.size(), 4u);
  const Function& f1 = callee(module, function(module, "k1"));
  const Function& f2 = callee(module, function(module, "k2"));
  EXPECT_NE(&f1, &f2);
  EXPECT_EQ(module.source_of(f1).file, "a.ptx");
  EXPECT_EQ(module.source_of(f2).file, "b.ptx");
}

TEST(Link, ALocalFunctionIsNotWhatAnotherModuleDeclares) {
  std::string local = kVisibleF;
  local.erase(0, std::string(".visible ").size());
  const Module module = linked({std::string(kExternF) + kEntryThatCallsF, local});
  EXPECT_TRUE(callee(module, function(module, "k")).is_extern);
}

TEST(Link, WeakGivesWayToVisibleAndToTheFirstWeak) {
  const auto with = [](const char* linkage, const char* n) {
    return std::string(linkage) + " .global .u32 x = " + n + ";\n";
  };
  const auto value = [](const Module& m) { return m.variables.at(0).initial.at(0); };
  EXPECT_EQ(value(linked({with(".weak", "1"), with(".weak", "2")})), 1);
  EXPECT_EQ(value(linked({with(".weak", "1"), with(".visible", "2")})), 2);
  EXPECT_EQ(value(linked({with(".visible", "1"), with(".weak", "2")})), 1);
  const std::string entry = ".weak .entry t()\n{\nret;\n}\n";
  EXPECT_EQ(linked({entry, entry, entry}).functions.size(), 1u);
}

TEST(Link, VariablesAcrossModulesAndTheirAddresses) {
  const Module module =
      linked({".extern .global .align 4 .u32 x;\n.visible .global .u64 p = generic(x) ;\n"
              ".visible .entry k()\n{\n.reg .b64 %rd<2>;\nmov.u64 %rd1, x;\nret;\n}\n",
              ".global .u32 filler = 5;\n.visible .global .align 4 .u32 x = 7;\n"});
  const auto index = function(module, "k").instructions.at(0).operands.at(1).symbol.index;
  EXPECT_EQ(module.variables.at(index).name, "x");
  EXPECT_EQ(module.variables.at(index).initial.at(0), 7);
  for (const Variable& v : module.variables)
    if (v.name == "p") {
      EXPECT_EQ(v.relocations.at(0).symbol.index, index);
    }
}

TEST(Link, LocalVariablesStayApart) {
  const std::string body = ".global .u32 x = 1;\n";
  EXPECT_EQ(linked({body, body}).variables.size(), 2u);
}

TEST(Link, FunctionAddressesAndCallTargets) {
  const Module module = linked(
      {".extern .func g();\n.visible .global .u64 table[2] = {g, g};\n.visible .entry k()\n{\n"
       ".reg .b64 %rd<2>;\nmov.u64 %rd1, g;\ntargets: .calltargets g;\n"
       "call %rd1, (), targets;\nret;\n}\n",
       ".func before()\n{\nret;\n}\n.visible .func g()\n{\nret;\n}\n"});
  const Function& k = function(module, "k");
  const auto name = [&](std::uint32_t i) { return module.functions.at(i).name; };
  EXPECT_EQ(name(k.instructions.at(0).operands.at(1).symbol.index), "g");
  EXPECT_EQ(name(k.calls.at(0).targets.at(0)), "g");
  EXPECT_EQ(name(module.variables.at(0).relocations.at(1).symbol.index), "g");
}

TEST(Link, DynamicSharedMemoryIsOneVariable) {
  const Module module =
      linked({".extern .shared .align 4 .b8 all[];\n", ".extern .shared .align 16 .f64 all[];\n"});
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.variables[0].align, 16u);
}

TEST(Link, RefusalsNameBothPlaces) {
  EXPECT_THAT(refusal({kVisibleF, kVisibleF}),
              HasSubstr("b.ptx:4: 'f' is defined in a.ptx:4 already"));
  EXPECT_THAT(refusal({kVisibleF, ".extern .func f(.param .b32 a);\n"}),
              HasSubstr("b.ptx:4: 'f' is declared otherwise in a.ptx:4"));
  const std::string entry = ".visible .entry k()\n{\nret;\n}\n";
  EXPECT_THAT(refusal({entry, entry}), HasSubstr("'k' is defined in a.ptx:4 already"));
  EXPECT_THAT(refusal({".visible .global .u32 x;\n", ".visible .global .u32 x;\n"}),
              HasSubstr("'x' is defined in a.ptx:4 already"));
  EXPECT_THAT(refusal({".visible .global .u32 x;\n", ".extern .global .u64 x;\n"}),
              HasSubstr("b.ptx:4: 'x' is declared otherwise in a.ptx:4"));
  EXPECT_THAT(refusal({".extern .global .u32 x;\n", ".extern .global .u32 x;\n"}),
              HasSubstr("a.ptx:4: variable 'x' is defined in none of the modules"));
}

TEST(Link, AllRefusalsAtOnce) {
  const std::string both = ".visible .global .u32 x;\n.visible .global .u32 y;\n";
  const std::string why = refusal({both, both});
  EXPECT_THAT(why, HasSubstr("b.ptx:4: 'x'"));
  EXPECT_THAT(why, HasSubstr("b.ptx:5: 'y'"));
}

TEST(Link, TheDeviceRuntimeIsLeftOut) {
  const std::string runtime =
      ".visible .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b)\n"
      "{\nret;\n}\n.visible .global .u32 cudartErrorTable;\n";
  const Module module = linked({kVisibleF, runtime});
  EXPECT_EQ(module.functions.size(), 1u);
  EXPECT_TRUE(module.variables.empty());
  EXPECT_THAT(refusal({runtime, runtime}), HasSubstr("nothing to link"));
}

}  // namespace
}  // namespace raddle::ptx::link_test
