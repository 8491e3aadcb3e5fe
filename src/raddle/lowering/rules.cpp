// Sources of the rows:
//   M  measured: the machine code that ptxas 13.0 makes for sm_75 and sm_90 of a kernel with one
//      and three such instructions (docs/lowering.md says how); what is skipped on the usual path
//      (slow paths of divisions, their call) is not counted
//   T  Turing's row, of the same instruction set, taken for Volta, where uniform registers make no
//      difference
//   R  reasoned from the instruction set, no measurement: Fermi and Kepler have 32-bit
//      multiply-add, bit-field extract and insert, no LOP3, no three-input add, no 64-bit products
#include "raddle/lowering/rules.h"

#include <array>

namespace raddle::lowering {

namespace {

constexpr std::string_view kDiv32 =
    "convert t=b;sfu t=t;int t=t;convert t=t;int u=t;int_mul u=u,b;int_mul t=t,u;int_mul t=t,a;"
    "int u=t;int_mul u=u,b,a;int p=u,b;int u=u,b;int t=t;int p=u,b;int t=t;int q=b;int d=t,b";
constexpr std::string_view kRem32 =
    "convert t=b;sfu t=t;int t=t;convert t=t;int u=t;int_mul u=u,b;int_mul t=t,u;int_mul t=t,a;"
    "int u=t;int_mul u=u,b,a;int p=u,b;int u=u,b;int p=u,b;int u=u,b;int q=b;int d=u,b";
constexpr std::string_view kDivS32 =
    "int v=b;int w=a;convert t=v;sfu t=t;int t=t;convert t=t;int u=t;int_mul u=u,v;int_mul t=t,u;"
    "int_mul t=t,w;int u=t;int_mul u=u,v,w;int p=u,v;int u=u,v;int t=t;int p=u,v;int t=t;int v=a,b;"
    "int q=v;int t=t;int q=b;int d=t,b";
constexpr std::string_view kRemS32 =
    "int v=b;int w=a;convert t=v;sfu t=t;int t=t;convert t=t;int u=t;int_mul u=u,v;int_mul t=t,u;"
    "int_mul t=t,w;int u=t;int_mul u=u,v,w;int p=u,v;int u=u,v;int p=u,v;int u=u,v;int q=a;int u=u;"
    "int q=b;int d=u,b";
constexpr std::string_view kDivImm =
    "int_mul t=a;int u=t;int_mul u=u,a;int p=u;int u=u;int p=u;int d=t,p";
constexpr std::string_view kDivSImm =
    "int w=a;int_mul t=w;int u=t;int_mul u=u,w;int p=u;int u=u;int t=t;int p=u;int t=t;int q=a;int "
    "d=t";
// A call of a routine that narrows by reciprocal: I2F.64, MUFU, F2I.64, two Newton steps of 64-bit
// products, quotient, two corrections.
constexpr std::string_view kDiv64 =
    "move t=a0;move u=b0;control ;convert t=b0,b1;sfu t=t;int t=t;convert t=t;int_mul u=t,b0;"
    "int_mul v=t,b1,u;int_mul w=t,b0,v;int u=u;int_mul v=t,u;int w=w,u;int_mul v=t,w,v;int_mul "
    "u=t,u;"
    "int_mul w=t,w;int v=v,u;int w=w,v;int t=t,w;int_mul u=t,b0;int_mul v=t,b1,u;int_mul w=t,b0,v;"
    "int u=u;int_mul v=t,u;int w=w,u;int_mul v=t,w,v;int_mul u=t,u;int_mul w=t,w;int v=v,u;int "
    "w=w,v;"
    "int t=t,w;int_mul u=t,a0;int_mul v=t,a1,u;int_mul w=t,a0,v;int u=u,v;int w=w,u;int_mul t=w,a1;"
    "int u=t,u;int w=w,u;int_mul v=u,b0;int_mul t=u,b1,v;int_mul t=w,b0,t;int v=v,a0;int t=t,a1,v;"
    "int p=v,b0;int p=t,b1,p;int w=v,b0;int v=w,p;int w=t,b1;int t=w,p;int u=u,p;int p=v,b0;"
    "int p=t,b1,p;int w=u,p;int u=u,w;int p=b0;int p=b1,p;int d0=u,p;int d1=w,p;control ;move d=d";

constexpr std::array kRules = {
    // copies that could not be folded into their readers
    Rule{"cvta.*", kAny, When::Narrow, "move d0=a0", "R"},
    Rule{"cvta.*", kAny, When::Always, "move d0=a0;move d1=a1", "R, moves are of 32 bits"},
    Rule{"mov.?64", kAny, When::Narrow, "move d0=a0", "R"},
    Rule{"mov.?64", kAny, When::Always, "move d0=a0;move d1=a1", "R, moves are of 32 bits"},
    Rule{"cvt.?64.s32", kAny, When::Narrow, "move d0=a", "R"},
    Rule{"cvt.?64.s32", kAny, When::Always, "int d=a",
         "M, SHF for the sign; the low word is the source"},
    Rule{"cvt.?64.u32", kAny, When::Narrow, "move d0=a", "R"},
    Rule{"cvt.?64.u32", kAny, When::Always, "move d0=a;move d1=", "R"},
    // pairs
    Rule{"mul.wide.?32 + add.?64", kAny, When::Narrow, "int_mul d0=a,b,c", "M, IMAD"},
    Rule{"mul.wide.?32 + add.?64", kNew, When::Always, "int_mul d=a,b,c", "M, IMAD.WIDE"},
    Rule{"mul.wide.?32 + add.?64", kOld, When::Always, "int_mul d0,p=a,b,c0;int_mul d1=a,b,c1,p",
         "R, IMAD.CC and IMAD.HI.X"},
    Rule{"shl.b64 + add.?64", kAny, When::Narrow, "int d0=a0,c0", "M, LEA"},
    Rule{"shl.b64 + add.?64", kNew, When::Always, "int d0,p=a0,c0;int d1=a,c1,p",
         "M, LEA, LEA.HI.X"},
    Rule{"shl.b32 + add.?32", kAny, When::Always, "int d=a,c", "M, LEA; Fermi, Kepler: R, ISCADD"},
    Rule{"mul.lo.?32 + add.?32", kAny, When::Always, "int_mul d=a,b,c", "M, IMAD"},
    Rule{"add.?32 + add.?32", kNew, When::Always, "int d=a,b,c", "M, IADD3"},
    Rule{"logic.b32 + logic.b32", kNew, When::Always, "int d=a,b,c", "M, LOP3"},
    Rule{"mul.f32 + add.f32", kAny, When::Always, "fp32 d=a,b,c",
         "M, FFMA where PTX leaves rounding open"},
    Rule{"mul.f64 + add.f64", kAny, When::Always, "fp64 d=a,b,c", "M, DFMA, likewise"},
    // 64-bit integers
    Rule{"add.?64", kAny, When::Narrow, "int d0=a0,b0", "M, IADD3"},
    Rule{"sub.?64", kAny, When::Narrow, "int d0=a0,b0", "M, IADD3"},
    Rule{"add.?64", kAny, When::Always, "int d0,p=a0,b0;int d1=a1,b1,p",
         "M; Fermi, Kepler: R, IADD.CC, IADD.X"},
    Rule{"sub.?64", kAny, When::Always, "int d0,p=a0,b0;int d1=a1,b1,p", "M; Fermi, Kepler: R"},
    Rule{"neg.s64", kAny, When::Always, "int d0,p=a0;int d1=a1,p", "M"},
    Rule{"abs.s64", kAny, When::Always,
         "int t,p=a0;int u=a1,p;int q=a1;int d0=a0,t,q;int d1=a1,u,q", "M"},
    Rule{"mul.lo.?64", kAny, When::Narrow, "int_mul d0=a0,b0", "M, IMAD"},
    Rule{"mul.lo.?64", kAny, When::Immediate, "int_mul d0,t=a0;int_mul u=a1;int d1=t,u", "M"},
    Rule{"mul.lo.?64", kAny, When::Always,
         "int_mul d0,t=a0,b0;int_mul u=a0,b1;int_mul u=a1,b0,u;int d1=t,u", "M; Fermi, Kepler: R"},
    Rule{"mad.lo.?64", kAny, When::Always,
         "int_mul d0,t=a0,b0,c0;int_mul u=a0,b1;int_mul u=a1,b0,u;int d1=t,u,c1", "M"},
    Rule{"mul.hi.u64", kAny, When::Always,
         "int_mul t=a0,b0;int_mul t,u=a0,b1,t;int_mul t,p=a1,b0,t;int v=u,p;int w=t;int_mul "
         "d=a1,b1,v;int d=d,w",
         "M"},
    Rule{"mul.hi.s64", kAny, When::Always,
         "int_mul t=a0,b0;int_mul t,u=a0,b1,t;int_mul t,p=a1,b0,t;int v=u,p;int w=t;int_mul "
         "v,w=a1,b1,v;int p=a1;"
         "int q=b1;int_mul t=a0,b0;int_mul t=b0;int_mul u=a0;int_mul u=b1;int t=t,p;int u=u,q;int "
         "v=v,t;int d0=v,u;int d1=w,u",
         "M"},
    Rule{"mul.wide.?32", kAny, When::Narrow, "int_mul d0=a,b", "M, IMAD"},
    Rule{"mul.wide.?32", kNew, When::Always, "int_mul d=a,b", "M, IMAD.WIDE"},
    Rule{"mul.wide.?32", kOld, When::Always, "int_mul d0=a,b;int_mul d1=a,b",
         "R, IMUL and IMUL.HI"},
    Rule{"mad.wide.?32", kNew, When::Always, "int_mul t,u=a,b;int d0,p=t,c0;int d1=u,c1,p", "M"},
    Rule{"mad.wide.?32", kOld, When::Always, "int_mul d0,p=a,b,c0;int_mul d1=a,b,c1,p", "R"},
    Rule{"shl.b64", kAny, When::Narrow, "int d0=a0,b", "M, SHF"},
    Rule{"shl.b64", kAny, When::Always, "int d1=a,b;int d0=a0,b", "M, SHF; Fermi, Kepler: R"},
    Rule{"shr.?64", kAny, When::Always, "int d0=a,b;int d1=a1,b", "M, SHF; Fermi, Kepler: R"},
    Rule{"and.b64", kAny, When::Always, "int d0=a0,b0;int d1=a1,b1", "M"},
    Rule{"or.b64", kAny, When::Always, "int d0=a0,b0;int d1=a1,b1", "M"},
    Rule{"xor.b64", kAny, When::Always, "int d0=a0,b0;int d1=a1,b1", "M"},
    Rule{"not.b64", kAny, When::Always, "int d0=a0;int d1=a1", "M"},
    Rule{"selp.?64", kAny, When::Always, "int d0=a0,b0,c;int d1=a1,b1,c", "M"},
    Rule{"setp.*.f64", kAny, When::Always, "fp64 d=a,b,c", "M, DSETP"},
    Rule{"setp.*.?64", kAny, When::Always, "int p=a0,b0;int d=a1,b1,p,c", "M, ISETP, ISETP.EX"},
    Rule{"min.f64", kAny, When::Always,
         "fp64 p=a,b;int d0=a0,b0,p;int t=a1,b1,p;int u=b1;int q=u;int d1=t,u,q", "M"},
    Rule{"max.f64", kAny, When::Always,
         "fp64 p=a,b;int d0=a0,b0,p;int t=a1,b1,p;int u=b1;int q=u;int d1=t,u,q", "M, as min"},
    Rule{"min.?64", kAny, When::Always, "int p=a0,b0;int p=a1,b1,p;int d0=a0,b0,p;int d1=a1,b1,p",
         "M"},
    Rule{"max.?64", kAny, When::Always, "int p=a0,b0;int p=a1,b1,p;int d0=a0,b0,p;int d1=a1,b1,p",
         "M"},
    Rule{"popc.b64", kAny, When::Always, "int t=a0;int u=a1;int d=t,u", "M"},
    Rule{"clz.b32", kAny, When::Always, "int t=a;int d=t", "M, FLO, IADD3"},
    Rule{"clz.b64", kAny, When::Always, "int p=a1;int t=a0,a1,p;int u=t;int v=p;int u=u,v;int d=u",
         "M"},
    Rule{"bfind.?64", kAny, When::Always, "int t=a0;int u=a1;int p=a1;int d=t,u,p", "M"},
    Rule{"brev.b64", kAny, When::Always, "int d0=a1;int d1=a0", "M"},
    Rule{"bfe.?32", kOld, When::Always, "int d=a,b,c", "R, BFE"},
    Rule{"bfe.?32", kNew, When::Immediate, "int t=a;int d=t", "M, SHF, SGXT"},
    Rule{"bfe.?32", kNew, When::Always, "int t=b;int u=c;int v=b,c;int t=a,t;int d=t,u,v", "M"},
    Rule{"bfe.u64", kAny, When::Always,
         "int t=b;int u=c;int v=a,t;int w=a1,t;int p=u;int q=u;int d0=v,p;int d1=w,q", "M"},
    Rule{"bfe.s64", kAny, When::Always,
         "int t=b;int u=c;int v=a,t;int w=a1,t;int p=u;int q=u;int v=v,p;int w=w,q;int t=u;int "
         "u=u;int p=t;"
         "int t=v,t;int u=w,u;int q=t,u;int v=v,q;int d0=v,p;int d1=w,u",
         "M, 16 or 17"},
    Rule{"bfi.b32", kOld, When::Always, "int d=a,b,c,e", "R, BFI"},
    Rule{"bfi.b32", kNew, When::Immediate, "int t=a;int d=t,b", "M, SHF, LOP3"},
    Rule{"bfi.b32", kNew, When::Always, "int t=c;int u=e;int v=t,u;int w=a,t;int v=v;int d=w,v,b",
         "M"},
    Rule{"bfi.b64", kAny, When::Always,
         "int t=c;int u=e;int v=u;int w=u;int v=v,t;int w=w,t;int t=a,c;int u=a1,c;int t=t,v;int "
         "u=u,w;"
         "int d0=t,b0,v;int d1=u,b1,w",
         "M"},
    Rule{"mul24.lo.?32", kNew, When::Always, "int t=a;int u=b;int_mul d=t,u", "M"},
    // division
    Rule{"div.u32", kAny, When::Immediate, kDivImm, "M; Fermi, Kepler: R"},
    Rule{"rem.u32", kAny, When::Immediate,
         "int_mul t=a;int t=t;int_mul u=t,a;int p=u;int u=u;int d=u,p", "M; Fermi, Kepler: R"},
    Rule{"div.s32", kAny, When::Immediate, kDivSImm, "M; Fermi, Kepler: R"},
    Rule{"rem.s32", kAny, When::Immediate,
         "int w=a;int_mul t=w;int t=t;int_mul u=t,w;int p=u;int u=u;int p=u;int u=u;int q=a;int "
         "d=u,q",
         "M; Fermi, Kepler: R"},
    Rule{"div.u32", kAny, When::Always, kDiv32, "M, 17-18; Fermi, Kepler: R"},
    Rule{"rem.u32", kAny, When::Always, kRem32, "M, 17; Fermi, Kepler: R"},
    Rule{"div.s32", kAny, When::Always, kDivS32, "M, 24 less two moves; Fermi, Kepler: R"},
    Rule{"rem.s32", kAny, When::Always, kRemS32, "M, 22 less two moves; Fermi, Kepler: R"},
    Rule{"div.?64", kAny, When::Always, kDiv64,
         "M, a routine of about 65 and its call; Fermi, Kepler: R"},
    Rule{"rem.?64", kAny, When::Always, kDiv64, "M, as div"},
    // floating point
    Rule{"div.rn*.f32", kAny, When::Always,
         "sfu t=b;control p=a,b;fp32 u=t,b;fp32 t=t,u;fp32 u=a,t;fp32 v=u,b,a;fp32 u=v,t,u;fp32 "
         "v=u,b,a;"
         "fp32 d=v,t,u;control p=p",
         "M, usual path: MUFU, FCHK, 7 FFMA, branch"},
    Rule{"div.full*.f32", kAny, When::Always,
         "fp32 p=b;fp32 q=b;fp32 t=b,p;fp32 t=t,q;sfu t=t;fp32 u=a,p;fp32 u=u,q;fp32 d=t,u", "M"},
    Rule{"div.approx.ftz.f32", kAny, When::Always, "sfu t=b;fp32 d=t,a", "M"},
    Rule{"div.approx.f32", kAny, When::Always, "fp32 p=b;fp32 t=b,p;sfu t=t;fp32 u=t,p;fp32 d=u,a",
         "M"},
    Rule{"rcp.rn*.f32", kAny, When::Always,
         "int t=a;int p=t;control p=p;sfu t=a;fp32 u=t,a;fp32 u=u;fp32 d=t,u", "M, usual path"},
    Rule{"rcp.approx.f32", kAny, When::Always,
         "fp32 p=a;fp32 q=a;fp32 t=p;fp32 u=q;fp32 v=a,t;sfu v=v;fp32 d=v,u", "M"},
    Rule{"sqrt.rn*.f32", kAny, When::Always,
         "sfu t=a;int u=a;int p=u;control p=p;fp32 u=a,t;fp32 t=t;fp32 v=u,a;fp32 d=v,t,u",
         "M, usual path"},
    Rule{"sqrt.approx.f32", kAny, When::Always, "fp32 p=a;fp32 t=a,p;sfu t=t;fp32 d=t,p", "M"},
    Rule{"rsqrt.approx.f32", kAny, When::Always, "fp32 p=a;fp32 t=a,p;sfu t=t;fp32 d=t,p", "M"},
    Rule{"ex2.approx.f32", kNew, When::Always, "fp32 p=a;fp32 t=a,p;sfu t=t;fp32 d=t,p", "M"},
    Rule{"ex2.approx.f32", kOld, When::Always, "fp32 p=a;fp32 t=a,p;fp32 t=t;sfu t=t;fp32 d=t,p",
         "R, with RRO"},
    Rule{"lg2.approx.f32", kAny, When::Always, "fp32 p=a;fp32 t=a,p;sfu t=t;fp32 d=t,p", "M"},
    Rule{"sin.approx*.f32", kAny, When::Always, "fp32 t=a;sfu d=t",
         "M; Fermi, Kepler: R, RRO and MUFU"},
    Rule{"cos.approx*.f32", kAny, When::Always, "fp32 t=a;sfu d=t",
         "M; Fermi, Kepler: R, RRO and MUFU"},
    Rule{"div.rn.f64", kAny, When::Always,
         "sfu t=b1;move u=b0;fp64 v=t,u,b;fp64 v=v;fp64 v=t,v;fp64 u=v,b;fp64 v=v,u;fp64 "
         "u=a,v;fp64 w=u,b,a;"
         "fp64 d=w,v,u;fp32 p=b1;fp32 q=d1;fp32 p=p,q;control p=p",
         "M, usual path"},
    Rule{"rcp.rn.f64", kAny, When::Always,
         "sfu t=a1;int u=a1;fp32 p=u;fp64 v=t,a;fp64 v=v;fp64 v=t,v;fp64 u=v,a;fp64 d=v,u;control "
         "p=p",
         "M, usual path"},
    Rule{"sqrt.rn.f64", kAny, When::Always,
         "sfu t=a1;int u=a1;int p=u;move w=t;fp64 v=t,t;fp64 v=v,a;fp64 u=v;fp64 v=v,t;fp64 "
         "t=u,v;fp64 u=t,a;"
         "fp64 v=u,a;fp64 d=v,t,u;control p=p",
         "M, usual path"},
    Rule{"rsqrt.approx.f64", kAny, When::Always,
         "sfu t=a1;int u=a1;int p=u;move w=t;fp64 v=t,t;fp64 v=v,a;fp64 u=v;fp64 v=v,t;fp64 "
         "d=u,v;control p=p",
         "M, usual path"},
    Rule{"rcp.approx.ftz.f64", kAny, When::Always, "sfu d1=a1;move d0=", "M"},
};

bool fits(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '*') {
      const std::string_view rest = pattern.substr(i + 1);
      for (std::size_t from = at; from <= text.size(); ++from) {
        if (fits(rest, text.substr(from))) return true;
        if (from < text.size() && text[from] == ' ') return false;  // stay within one opcode
      }
      return false;
    }
    if (at == text.size() || (pattern[i] != '?' && pattern[i] != text[at])) return false;
    ++at;
  }
  return at == text.size();
}

}  // namespace

std::span<const Rule> rules() { return kRules; }

const Rule* find_rule(std::string_view ptx, Generation generation, bool narrow, bool immediate) {
  for (const Rule& rule : kRules) {
    if ((rule.generations & set_of(generation)) == 0) continue;
    if (rule.when == When::Narrow && !narrow) continue;
    if (rule.when == When::Immediate && !immediate) continue;
    if (fits(rule.ptx, ptx)) return &rule;
  }
  return nullptr;
}

std::string rules_as_markdown() {
  std::string out =
      "| PTX | on | where | machine instructions | number | source |\n|---|---|---|---|---|---|\n";
  for (const Rule& rule : kRules) {
    std::string on;
    for (unsigned g = 0; g < kGenerations; ++g)
      if ((rule.generations >> g & 1) != 0)
        on += (on.empty() ? "" : ", ") + std::string(kGenerationNames[g]);
    if (rule.generations == kAny) on = "all";
    std::string steps;
    std::size_t count = 0;
    for (std::string_view rest = rule.steps; !rest.empty(); ++count) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view step = rest.substr(0, end);
      steps += (count == 0 ? "" : " ") + std::string(step.substr(0, step.find(' ')));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    constexpr std::array<std::string_view, 3> kWhen = {"", "32 bits needed",
                                                       "last operand constant"};
    out += "| `" + std::string(rule.ptx) + "` | " + on + " | " +
           std::string(kWhen[static_cast<unsigned>(rule.when)]) + " | " +
           (count == 0 ? "" : "`" + steps + "`") + " | " + std::to_string(count) + " | " +
           std::string(rule.source) + " |\n";
  }
  return out;
}

}  // namespace raddle::lowering
