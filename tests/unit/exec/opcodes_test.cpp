// Every opcode that was counted in programs of others (tests/data/ptx_opcodes.csv: opcode, base,
// applications that use it, suites, count) is accepted, by name.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "raddle_paths.h"
#include "rig.h"

namespace raddle::exec::test::opcodes_test {
namespace {

using Words = std::vector<std::string>;

Words split(const std::string& text, char at) {
  Words all{""};
  for (char c : text) {
    if (c == at) all.emplace_back();
    else all.back() += c;
  }
  return all;
}
bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
Words types_of(const Words& words) {
  static const Words kTypes = {"b8",   "b16", "b32", "b64",  "u8",   "u16", "u32",
                               "u64",  "s8",  "s16", "s32",  "s64",  "f16", "bf16",
                               "tf32", "f32", "f64", "pred", "f16x2"};
  Words found;
  for (const std::string& w : words)
    if (has(kTypes, w)) found.push_back(w);
  return found;
}
/// Register number n that holds a value of the type.
std::string reg(const std::string& type, int n) {
  const char* letter = type == "pred"                         ? "p"
                       : type == "f32"                        ? "f"
                       : type == "f64"                        ? "d"
                       : type == "f16x2" || type == "tf32"    ? "r"
                       : type.find("64") != std::string::npos ? "q"
                       : type.find("32") != std::string::npos ? "r"
                                                              : "h";
  return fmt::format("%{}{}", letter, n);
}
std::string list(const std::string& type, int first, int count) {
  Words all;
  for (int i = 0; i < count; ++i) all.push_back(reg(type, first + i));
  return fmt::format("{{{}}}", fmt::join(all, ", "));
}

/// Registers of a wmma fragment: PTX ISA 9.7.14.5, "Matrix fragments for WMMA".
std::string fragment(const Words& words, char which, int first) {
  const std::string type = types_of(words).back();
  const bool ab = which == 'a' || which == 'b';
  if (type == "f64") return list("f64", first, ab ? 1 : 2);
  if (type == "tf32") return list("b32", first, 4);
  if (type == "bf16") return list("b32", first, 4);
  if (type == "u8" || type == "s8") return list("b32", first, 2);
  if (ab) return list("b32", first, 8);
  return type == "f16" ? list("b32", first, 4) : list(type == "f32" ? "f32" : "b32", first, 8);
}
std::string wmma(const Words& w) {
  if (w[1] == "load") return fmt::format("{}, [%q1], %r1", fragment(w, w[2][0], 10));
  if (w[1] == "store") return fmt::format("[%q1], {}, %r1", fragment(w, w[2][0], 10));
  const Words t = types_of(w);
  if (t.size() == 2)
    return fmt::format("{}, {}, {}, {}", list(t[0], 1, 8), list("b32", 1, 8), list("b32", 10, 8),
                       list(t[1], 20, 8));
  return fmt::format("{}, {}, {}, {}", fragment({t[0]}, 'd', 1), fragment({t[1]}, 'a', 10),
                     fragment({t[2]}, 'b', 20), fragment({t[3]}, 'c', 30));
}
std::string texture(const Words& w) {
  const std::string type = w.back();
  std::string at;
  if (has(w, "1d")) at = reg(type, 20);
  if (has(w, "a1d")) at = list("b32", 20, 2);
  if (has(w, "2d")) at = list(type, 20, 2);
  if (has(w, "a2d")) at = fmt::format("{{%r1, {0}, {1}, {1}}}", reg(type, 20), reg(type, 21));
  if (has(w, "3d") || has(w, "cube")) at = list(type, 20, 4);
  if (at[0] != '{') at = "{" + at + "}";
  const Words t = types_of(w);
  return fmt::format("{}, [%q1, {}]{}", list(t[t.size() - 2], 10, 4), at,
                     has(w, "level") ? ", %f1" : "");
}
std::string surface(const Words& w) {
  const std::string type = types_of(w).back();
  const std::string at = has(w, "1d")   ? "{%r1}"
                         : has(w, "2d") ? "{%r1, %r2}"
                                        : "{%r1, %r2, %r3, %r3}";
  return fmt::format("[%q1, {}], {}", at,
                     has(w, "v4") ? list(type == "b8" ? "b16" : type, 10, 4) : reg(type, 10));
}
/// The data operand of a load or store: a vector where the opcode says so.
std::string data(const Words& w) {
  const std::string type = types_of(w).back();
  return has(w, "v4") ? list(type, 10, 4) : has(w, "v2") ? list(type, 10, 2) : reg(type, 10);
}

const std::map<std::string, std::string>& fixed() {
  static const std::map<std::string, std::string> kOperands = {
      {"ret", ""},
      {"exit", ""},
      {"trap", ""},
      {"bra", "L"},
      {"bar.sync", "0"},
      {"barrier.sync", "%r1"},
      {"bar.warp.sync", "-1"},
      {"bar.red.or.pred", "%p1, 0, %p2"},
      {"membar", ""},
      {"fence", ""},
      {"call", "(%r1), f, (%r2)"},
      {"nanosleep", "%r1"},
      {"activemask", "%r1"},
      {"prefetch", "[%q1]"},
      {"copysign.f32", "%f1, %f2, %f3"},
      {"selp", "D, A, A, %p1"},
      {"cp.async.commit_group", ""},
      {"cp.async.wait_group", "1"},
      {"cp.async.ca", "[%r1], [%q1], 4"},
      {"cp.async.cg", "[%r1], [%q1], 16"},
      {"cp.async.mbarrier.arrive", "[%r1]"},
      {"mbarrier.init", "[%r1], %r2"},
      {"mbarrier.inval", "[%r1]"},
      {"mbarrier.arrive", "%q1, [%r1]"},
      {"mbarrier.test_wait", "%p1, [%r1], %q1"},
      {"mbarrier.test_wait.parity", "%p1, [%r1], %r2"},
      {"vote.sync.ballot", "%r1, %p1, -1"},
      {"vote.ballot", "%r1, %p1"},
      {"vote.ballot.sync", "%r1, %p1, -1"},
      {"vote", "%p1, %p2, -1"},
      {"match.any", "%r1, A, -1"},
      {"shfl", "%r1|%p1, %r2, 1, 31, -1"},
      {"clz", "%r1, A"},
      {"popc", "%r1, A"},
      {"bfind", "%r1, A"},
      {"bfi", "D, A, A, %r1, %r2"},
      {"bmsk", "%r1, %r2, %r3"},
      {"lop3", "%r1, %r2, %r3, %r4, 0x96"},
      {"prmt", "%r1, %r2, %r3, 0x5410"},
      {"shf", "%r1, %r2, %r3, %r4"},
      {"shl", "D, A, %r1"},
      {"shr", "D, A, %r1"},
      {"dp4a", "%r1, %r2, %r3, %r4"},
      {"vabsdiff4", "%r1, %r2, %r3, %r4"},
      {"vabsdiff2", "%r1, %r2, %r3, %r4"},
      {"cvta", "%q1, %q2"},
      {"set", "D, A, A"},
      {"setp", "%p1, A, A"},
      {"mad", "D, A, A, W"},
      {"madc", "D, A, A, W"},
      {"fma", "D, A, A, W"},
      {"mul.wide", "W, A, A"},
      {"mad.wide", "W, A, A, W"},
  };
  return kOperands;
}
void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at; (at = text.find(from)) != std::string::npos;)
    text.replace(at, from.size(), to);
}

/// A text of the instruction with operands that fit it.
std::string operands_of(const std::string& opcode) {
  static const std::map<std::string, std::string> kWide = {
      {"s16", "s32"}, {"u16", "u32"}, {"s32", "s64"}, {"u32", "u64"}};
  const Words words = split(opcode, '.');
  const Words types = types_of(words);
  if (words[0] == "wmma") return wmma(words);
  if (words[0] == "tex") return texture(words);
  if (words[0] == "sust") return surface(words);
  if (words[0] == "ld") return data(words) + (has(words, "param") ? ", [P]" : ", [%q1]");
  if (words[0] == "st") return (has(words, "param") ? "[Q], " : "[%q1], ") + data(words);
  const std::string last = types.empty() ? "" : types.back();
  if (words[0] == "atom")
    return fmt::format("{0}, [%q1], {1}{2}", reg(last, 1), reg(last, 2),
                       has(words, "cas") ? ", " + reg(last, 3) : "");
  if (words[0] == "red") return "[%q1], " + reg(last, 1);
  if (words[0] == "cvt") return reg(types[0], 1) + ", " + reg(types[1], 2);
  std::string text, found;
  for (const auto& [name, operands] : fixed())  // the longest name that begins the opcode
    if ((opcode + ".").substr(0, name.size() + 1) == name + "." && name.size() > found.size()) {
      found = name;
      text = operands;
    }
  if (!found.empty()) {
    const bool wide = has(words, "wide");
    if (!types.empty()) {
      replace_all(text, "D", reg(types[0], 1));
      replace_all(text, "A", reg(last, 2));
      replace_all(text, "W", reg(wide ? kWide.at(last) : last, 3));
    }
    return text;
  }
  static const Words kUnary = {"mov",   "neg", "abs", "not", "rcp",  "sqrt", "ex2",
                               "rsqrt", "lg2", "cos", "sin", "brev", "tanh"};
  return reg(last, 1) + ", " + reg(last, 2) + (has(kUnary, words[0]) ? "" : ", " + reg(last, 3));
}

std::string module_of(const std::string& opcode) {
  const bool in_function = opcode.rfind("st.param", 0) == 0;
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.func (.reg .b32 %x) f(.reg .b32 %y) {{ mov.b32 %x, %y; ret; }}
.visible .entry k(.param .align 16 .b8 P[16])
{{
  .reg .pred %p<9>; .reg .b16 %h<60>; .reg .b32 %r<60>; .reg .b64 %q<60>; .reg .f32 %f<60>;
  .reg .f64 %d<60>;
  {}
L:
  {} {};
  ret;
}}
)",
                     in_function ? ".param .align 16 .b8 Q[16];" : "", opcode, operands_of(opcode));
}

/// Refusals of a module's instruction, or why the text is not PTX.
std::string refusal_of(const std::string& module) {
  try {
    const auto refused = unsupported(ptx::parse(module, "t.ptx"));
    return refused.empty() ? "" : refused.front().instruction;
  } catch (const InputError& e) {
    return e.what();
  }
}

std::string refusal(const std::string& opcode) { return refusal_of(module_of(opcode)); }

TEST(Opcodes, EveryCountedOneIsAccepted) {
  std::ifstream file(RADDLE_SOURCE_DIR "/tests/data/ptx_opcodes.csv");
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line, "opcode,base,apps,suites,static_count");
  unsigned read = 0;
  for (; std::getline(file, line); ++read) {
    const Words columns = split(line, ',');
    const std::string why = refusal(columns.at(0));
    EXPECT_EQ(why, "") << columns[0] << ", used by " << columns.at(2)
                       << " applications: " << operands_of(columns[0]);
  }
  EXPECT_EQ(read, 703u);
}
// The test above can fail.
TEST(Opcodes, WhatDoesNotExistIsRefused) {
  EXPECT_EQ(refusal("add.s32"), "");
  EXPECT_NE(refusal("frobnicate.s32"), "");
  EXPECT_NE(refusal("wmma.load.a.sync.aligned.row.m7n7k7.f16"), "");
}
// Found by the fuzzer of linked modules: a number for a register, and bytes before the first.
TEST(Opcodes, AParameterIsLoadedIntoARegisterAndFromWithinTheParameters) {
  const auto load = [](const std::string& text) {
    return refusal_of(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 P)\n"
        "{ .reg .b32 %r<3>; " +
        text + " ret; }");
  };
  EXPECT_EQ(load("ld.param.u32 %r1, [P+4];"), "");
  EXPECT_EQ(load("ld.param.v2.u32 {%r1, _}, [P];"), "");
  for (const char* bad :
       {"ld.param.u32 0x7f1, [P];", "ld.param.v2.u32 {%r1, 5}, [P];", "ld.param.u32 %r1, [P-4];",
        "ld.param.u32 %r1, [P+8];", "ld.param.v2.u32 {%r1, %r2}, [P-8];"})
    EXPECT_NE(load(bad), "") << bad;
}

}  // namespace
}  // namespace raddle::exec::test::opcodes_test
