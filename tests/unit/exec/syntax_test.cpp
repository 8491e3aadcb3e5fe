// What PTX does not allow is refused with what was expected and what was found; what it allows,
// close by, is taken. Every line of both tables has been put to ptxas 13 (sm_90a and sm_100a).
#include <gmock/gmock.h>

#include "raddle/exec/decode/syntax.h"
#include "syntax_lines.h"

namespace raddle::exec::test::syntax_test {
namespace {

using ptx::Type;
using testing::HasSubstr;

struct Refused {
  std::string body;
  std::string why;
};

void expect_refused(const std::vector<Refused>& table) {
  for (const Refused& line : table) {
    const std::string found = refusal_of(line.body);
    EXPECT_THAT(found, HasSubstr(line.why)) << line.body;
    EXPECT_THAT(found, testing::StartsWith("11: ")) << line.body;
  }
}

TEST(Syntax, RegistersOfAnotherClassOrSize) {
  expect_refused({
      {"setp.lt.u32 r2,r6,r5;",
       "operand 1: expected a predicate register, found 'r2' of type .b32"},
      {"add.u64 d1,r1,1;",
       "add.u64 (operand 2: expected a register or constant for .u64, found 'r1' of type .b32)"},
      {"add.u32 d1,r1,1;", "operand 1: expected a register for .u32, found 'd1' of type .b64"},
      {"add.u32 r1,f1,r1;", "operand 2: expected a register or constant for .u32, found 'f1'"},
      {"add.u32 f1,r1,r1;", "operand 1"},
      {"add.f32 f1,ru1,f1;", "operand 2"},
      {"add.f16 h1,hu1,h1;", "operand 2"},
      {"add.f32 f1,f1,1;", "operand 3: expected a register or constant for .f32, found 1"},
      {"mov.f32 f1,1;", "expected a value for .f32, found 1"},
      {"add.u32 r1,r1,1.0;", "found a floating-point number"},
      {"mov.u64 d1,%tid.x;", "operand 2: expected a value for .u64, found a special register"},
      {"mov.u32 r1,%clock64;", "found a special register"},
      {"add.u32 r1,%tid.x,1;", "found a special register"},
      {"add.u64 d1,gv,1;", "found a symbol"},
      {"set.lt.u32.u32 f1,r1,r2;", "operand 1"},
      {"selp.u32 r1,r1,r1,r1;", "operand 4: expected a predicate, found 'r1'"},
      {"selp.u32 r1,q1,r1,q1;", "operand 2"},
      {"and.pred q1,q2,r1;", "operand 3: expected a predicate"},
      {"and.b32 r1,q2,r1;", "operand 2"},
      {"mov.b16 h1,{q1,q2};", "operand 2"},
      {"ld.global.s8 q1,[d1];", "operand 1"},
      {"ld.global.u32 h1,[d1];",
       "operand 1: expected a register for .u32, found 'h1' of type .b16"},
      {"ld.global.u32 f1,[d1];", "operand 1"},
      {"ld.global.f32 e1,[d1];", "operand 1"},
      {"ld.global.v2.u32 {f2,f1},[d1];", "operand 1: expected a vector of 2 for .u32"},
      {"st.global.u32 [d1],f1;", "operand 2"},
      {"cvt.rzi.u32.f32 f1,f1;", "operand 1"},
      {"cvt.u32.u64 r1,r2;", "operand 2"},
      {"cvt.rna.tf32.f32 f1,f2;", "operand 1: expected a register for .tf32"},
      {"mul.wide.u32 r1,r1,r1;", "operand 1: expected a register for .u64"},
      {"mad.wide.u32 d1,r1,r1,r1;", "operand 4: expected a register or constant for .u64"},
      {"shl.b64 d1,d1,d2;", "operand 3: expected a register or constant for .u32"},
      {"popc.b64 d1,d1;", "operand 1: expected a register for .u32"},
      {"atom.global.add.u32 f1,[d1],r1;", "operand 1"},
      {"atom.global.add.f32 f1,[d1],ru1;", "operand 3"},
      {"shfl.sync.idx.b32 d1,r1,0,31,-1;", "operand 1"},
      {"discard.global.L2 [d1],64;", "operand 2: expected 128, found 64"},
      {"bar.sync 16;", "expected a barrier from 0 to 15, found 16"},
      {"bar.sync 0,33;", "expected a multiple of 32 threads, found 33"},
      {"setmaxnreg.inc.sync.aligned.u32 100;", "expected a multiple of 8 registers"},
      {"createpolicy.fractional.L2::evict_last.b64 d2,2.0;", "expected a fraction above 0"},
  });
}

TEST(Syntax, OperandsThatAreMissingOrTooMany) {
  expect_refused({
      {"setp.lt.and.u32 q1,r1,r2;", "expected 4 operands, found 3"},
      {"setp.lt.u32 q1,r1,r2,q2;", "expected 3 operands, found 4"},
      {"shfl.sync.idx.b32 r1,r1,0,31;", "expected 5 operands, found 4"},
      {"prmt.b32 r1,r1,r2,r3,r4;", "expected 4 operands, found 5"},
      {"add.u32 r1,r1;", "expected 3 operands, found 2"},
      {"add.u32 r1,r1,r2,r3;", "expected 3 operands, found 4"},
      {"ret r1;", "expected 0 operands, found 1"},
      {"vote.sync.all.pred q1,q2;", "expected 3 operands, found 2"},
      {"bar.arrive 0;", "expected 2 operands, found 1"},
      {"ld.global.L2::cache_hint.u32 r1,[d1];", "expected 3 operands, found 2"},
      {"ld.global.u32 r1,[d1],d2;", "expected 2 operands, found 3"},
      {"atom.global.add.u32 r1,[d1];", "expected 3 operands, found 2"},
      {"elect.sync r1,-1;", "operand 1: expected a register for .b32 with a predicate"},
  });
}

TEST(Syntax, ModifiersThatAreUnknownOrDoNotGoTogether) {
  expect_refused({
      {"membar.xyz;", "expected modifier .cta, .gl or .sys, found .xyz"},
      {"fence.foo;", "found .foo"},
      {"ld.global.L2::512B.u32 r1,[d1];", "found .L2::512B"},
      {"add.rn.u32 r1,r1,1;", "expected modifiers none; found .rn"},
      {"add.sat.u32 r1,r1,1;", "found .sat"},
      {"min.ftz.s32 r1,r1,1;", "found .ftz"},
      {"fma.rn.ftz.f64 e1,e1,e1,e1;", "expected modifiers .rn, .rz, .rm or .rp; found .ftz"},
      {"mul.u32 r1,r1,2;", "expected modifier .hi or .lo, found none"},
      {"div.f32 f1,f1,f1;", "expected modifier .approx, .full, .rn, .rz, .rm or .rp, found none"},
      {"rcp.f32 f1,f1;", "expected modifier .approx, .rn, .rz, .rm or .rp, found none"},
      {"ex2.f32 f1,f1;", "expected modifier .approx, found none"},
      {"tanh.f32 f1,f1;", "expected modifier .approx, found none"},
      {"fma.f32 f1,f1,f1,f1;", "expected modifier .rn, .rz, .rm or .rp, found none"},
      {"cvt.f32.s32 f1,r1;", "expected modifier .rn, .rz, .rm or .rp, found none"},
      {"cvt.rni.f32.s32 f1,r1;", "expected modifier .rn, .rz, .rm or .rp, found .rni"},
      {"cvt.u32.f32 r1,f1;", "expected modifier .rni, .rzi, .rmi or .rpi, found none"},
      {"cvt.rn.f16.f16 h1,h2;", "found .rn"},
      {"shf.l.b32 r1,r1,r2,r3;", "expected modifier .clamp or .wrap, found none"},
      {"bmsk.b32 r1,r1,r2;", "expected modifier .clamp or .wrap, found none"},
      {"setp.lo.s32 q1,r1,r2;", "expected modifier .eq, .ne, .lt, .le, .gt or .ge, found .lo"},
      {"setp.num.u32 q1,r1,r2;", "found .num"},
      {"red.global.exch.b32 [d1],r1;", "expected modifier .and, .or or .xor, found .exch"},
      {"ld.volatile.global.ca.u32 r1,[d1];", "found .volatile"},
      {"ld.relaxed.u32 r1,[d1];", "expected modifier .cta, .cluster, .gpu or .sys, found none"},
      {"st.global.nc.u32 [d1],r1;", "found .nc"},
  });
}

TEST(Syntax, AKernelThatNeedsItDoesNotRun) {
  Rig rig(".visible .entry k() { .reg .b32 r<9>; shl.u32 r1,r1,1; ret; }");
  try {
    rig.run("k", {1, 1, 1}, {32, 1, 1});
    FAIL() << "it ran";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "test.ptx:4:39: kernel k needs 'shl.u32' (expected type .b16, .b32 or .b64, found "
              ".u32), which is not supported (in function k)");
  }
}

TEST(Syntax, TypesThatAnInstructionDoesNotHave) {
  expect_refused({
      {"shl.u32 r1,r1,1;", "expected type .b16, .b32 or .b64, found .u32"},
      {"and.u32 r1,r1,1;", "expected type .b16, .b32, .b64 or .pred, found .u32"},
      {"not.u32 r1,r1;", "found .u32"},
      {"neg.u32 r1,r1;", "found .u32"},
      {"abs.u32 r1,r1;", "found .u32"},
      {"bfind.b32 r1,r1;", "found .b32"},
      {"mul.wide.u64 d1,d1,d1;", "found .wide"},
      {"atom.global.inc.s32 r1,[d1],r2;", "found .inc"},
      {"atom.global.add.s64 d2,[d1],1;", "found .add"},
      {"atom.global.and.u32 r1,[d1],r2;", "found .and"},
      {"atom.global.min.f32 f1,[d1],f2;", "found .min"},
      {"redux.sync.add.u64 d1,d1,-1;", "expected type .b32, .u32, .s32 or .f32, found .u64"},
      {"match.any.sync.b16 r1,h1,-1;", "expected type .b32 or .b64, found .b16"},
      {"nanosleep.u64 d1;", "expected type .u32, found .u64"},
      {"slct.u32.u32 r1,r1,r2,r3;", "expected second type .s32 or .f32, found .u32.u32"},
      {"st.global.pred [d1],q1;", "found .pred"},
      {"ld.global.f16 h1,[d1];", "found .f16"},
      {"add.u32.u32 r1,r1,r1;", "expected one type, found .u32.u32"},
      {"add r1,r1,r1;", "found none"},
      {"add.u24 r1,r1,r1;", "unknown type .u24"},
      {"bar.sync.u32 0;", "expected modifier .red, found .sync"},
  });
}

constexpr const char* kAllowed[] = {
    "setp.lt.u32 q1,r6,r5;",
    "setp.lt.u32 q1|q2,r6,5;",
    "setp.lt.u32 _|q2,r1,r2;",
    "setp.lt.and.u32 q1,r1,r2,!q3;",
    "setp.eq.b32 q1,f1,r1;",
    "setp.lt.f16x2 q1|q2,r1,rh2;",
    "add.u32 r1,ru1,-1;",
    "add.u32 rh1,r1,1;",
    "add.s32.sat r1,r1,1;",
    "add.f32 f1,r1,0f3f800000;",
    "add.ftz.rn.f32 f1,f1,1.0;",
    "add.f16 h1,hf1,h2;",
    "add.u64 d1,d1,gv+4;",
    "add.u16 h1,hu1,70000;",
    "and.b32 r1,f1,1;",
    "and.b16 h1,hf1,1;",
    "and.pred q1,!q2,1;",
    "mov.u32 r1,%tid.x;",
    "mov.u16 h1,%tid.x;",
    "mov.u64 d1,%clock64;",
    "mov.u64 d1,gv;",
    "mov.u32 r1,sh;",
    "mov.f64 e1,0f3f800000;",
    "mov.b32 f1,%laneid;",
    "mov.b32 f1,{hf1,h2};",
    "mov.b32 {h1,_},r1;",
    "mov.b64 {r1,f2},e1;",
    "mov.b128 x1,{d1,d2};",
    "ld.global.s8 r1,[d1];",
    "ld.global.u8 d1,[d2];",
    "ld.global.b16 f1,[d1];",
    "ld.global.f32 r1,[d1];",
    "ld.global.b64 e1,[d1];",
    "ld.u32.global r1,[d1];",
    "ld.global.volatile.u32 r1,[d1];",
    "ld.global.ca.nc.u32 r1,[d1];",
    "ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {r1,r2,r3,_},[d1];",
    "ld.global.L2::cache_hint.u32 r1,[d1],d2;",
    "ld.acquire.cta.shared.u32 r1,[sh];",
    "ld.relaxed.gpu.u32 r1,[d1];",
    "ld.mmio.relaxed.sys.global.u32 r1,[d1];",
    "st.global.v2.u32 [d1],{1,r2};",
    "ld.global.v2.u32 {r1,f1},[d1];",
    "ld.global.v2.f32 {ru1,f1},[d1];",
    "st.global.u8 [d1],r1;",
    "st.release.gpu.global.u32 [d1],7;",
    "cvt.u64.u16 d1,r1;",
    "cvt.u16.u64 r1,d1;",
    "cvt.s32.s8 r1,c1;",
    "cvt.rn.f32.s32 f1,r1;",
    "cvt.rzi.s16.f32 h1,f1;",
    "cvt.f64.f32 e1,f1;",
    "cvt.rn.f16.f32 h1,f1;",
    "cvt.f32.f16 f1,hf1;",
    "cvt.rni.f32.f32 f1,f1;",
    "cvt.rn.f16x2.f32 r1,f1,f2;",
    "cvt.rna.tf32.f32 r1,f1;",
    "cvt.rn.satfinite.e4m3x2.f32 h1,f1,f2;",
    "cvt.pack.sat.u8.s32.b32 r1,r2,r3,r4;",
    "cvt.u64.u32 d1,%laneid;",
    "mul.lo.u16 h1,h1,3;",
    "mul.wide.u16 r1,h1,h2;",
    "mad.wide.s32 d1,r1,r2,d2;",
    "mad.hi.sat.s32 r1,r1,r2,r3;",
    "mad.lo.cc.u32 r1,r1,r2,r3;",
    "madc.hi.u64 d1,d1,d2,d3;",
    "mad.rn.f32 f1,f1,f1,f1;",
    "div.full.f32 f1,f1,f2;",
    "rcp.approx.ftz.f64 e1,e2;",
    "min.NaN.xorsign.abs.f32 f1,f2,f3;",
    "min.relu.s32 r1,r1,r2;",
    "sub.f32.f16 f1,h1,f2;",
    "shl.b64 d1,d1,r1;",
    "shr.u16 h1,h1,1;",
    "shf.r.clamp.b32 r1,r1,r2,40;",
    "popc.b64 r1,d1;",
    "bfe.s64 d1,d1,r1,3;",
    "lop3.b32 r1,r1,f2,3,0x1e;",
    "set.lt.f32.s32 f1,r1,r2;",
    "set.eq.and.u32.f64 r1,e1,e2,q1;",
    "selp.b32 f1,f1,r1,!q1;",
    "slct.ftz.f32.f32 f1,f1,f2,f3;",
    "testp.finite.f32 q1,f1;",
    "atom.global.add.u64 d2,[d1],1;",
    "atom.shared.cas.b32 _,[sh],r1,r2;",
    "atom.acq_rel.gpu.global.exch.b32 f1,[d1],f2;",
    "atom.global.add.noftz.f16x2 r1,[d1],r2;",
    "red.global.add.f32 [d1],f1;",
    "red.relaxed.gpu.global.inc.u32 [d1],r1;",
    "shfl.sync.bfly.b32 f1,f1,1,31,-1;",
    "shfl.sync.up.b32 r1|q1,r1,r2,r3,r4;",
    "vote.sync.ballot.b32 r1,!q1,-1;",
    "match.all.sync.b64 r1|q1,d1,-1;",
    "redux.sync.and.b32 r1,r1,-1;",
    "elect.sync _|q1,-1;",
    "nanosleep.u32 100;",
    "bar.sync r1;",
    "bar.sync 15,96;",
    "barrier.cta.sync.aligned 0;",
    "bar.red.popc.u32 r1,0,32,!q1;",
    "bar.warp.sync -1;",
    "barrier.cluster.arrive.relaxed;",
    "membar.gl;",
    "fence.acq_rel.gpu;",
    "fence.proxy.async.shared::cta;",
    "fence.mbarrier_init.release.cluster;",
    "prefetch.global.L2::evict_last [d1];",
    "discard.global.L2 [d1],128;",
    "cvta.to.shared.u64 d1,d2;",
    "cvta.global.u64 d1,gv;",
    "isspacep.shared::cta q1,d1;",
    "griddepcontrol.wait;",
};

TEST(Syntax, WhatPtxAllowsIsTaken) {
  for (const char* body : kAllowed) EXPECT_EQ(refusal_of(body), "") << body;
}

// Table 27 of the ISA's section on operand sizes: the rows are types of instructions.
TEST(Syntax, RegistersForTypes) {
  struct Row {
    Type type;
    std::vector<Type> same, wider;
  };
  const std::vector<Type> registers = {Type::B8,  Type::B16, Type::U16, Type::F16,
                                       Type::B32, Type::U32, Type::S32, Type::F32,
                                       Type::B64, Type::U64, Type::F64, Type::Pred};
  const Row rows[] = {
      {Type::B32, {Type::B32, Type::U32, Type::S32, Type::F32}, {Type::B64, Type::U64, Type::F64}},
      {Type::U32, {Type::B32, Type::U32, Type::S32}, {Type::B64, Type::U64}},
      {Type::F32, {Type::B32, Type::F32}, {Type::B64}},
      {Type::U16, {Type::B16, Type::U16}, {Type::B32, Type::U32, Type::S32, Type::B64, Type::U64}},
      {Type::F16, {Type::B16, Type::F16}, {Type::B32, Type::B64}},
      {Type::F64, {Type::B64, Type::F64}, {}},
      {Type::F16x2, {Type::B32}, {Type::B64}},
      {Type::Pred, {Type::Pred}, {}},
  };
  const auto holds = [](const std::vector<Type>& all, Type type) {
    return std::find(all.begin(), all.end(), type) != all.end();
  };
  for (const Row& row : rows)
    for (const Type found : registers) {
      const bool same = holds(row.same, found);
      EXPECT_EQ(register_fits(found, row.type, false), same)
          << ptx::name_of(row.type) << ' ' << ptx::name_of(found);
      EXPECT_EQ(register_fits(found, row.type, true), same || holds(row.wider, found))
          << ptx::name_of(row.type) << ' ' << ptx::name_of(found);
    }
}

std::string call_refusal(const std::string& formal, const std::string& actual) {
  const std::string text =
      ".version 8.6\n.target sm_90a\n.address_size 64\n"
      ".func f(.param " +
      formal +
      ") { ret; }\n"
      ".visible .entry k() { .reg .b64 d1; .reg .f32 f1; .reg .u32 r1;\n" +
      actual + " ret; }\n";
  const auto all = unsupported(ptx::parse(text, "k.ptx"));
  return all.empty() ? "" : all[0].instruction;
}

TEST(Syntax, ArgumentsAreWhatTheCalleeDeclares) {
  EXPECT_EQ(call_refusal(".b64 a", ".param .b64 x; call f, (x);"), "");
  EXPECT_EQ(call_refusal(".b64 a", "call f, (d1);"),
            "call (argument in another space than the parameter)");
  EXPECT_EQ(call_refusal(".f32 a", ".param .b32 x; call f, (x);"), "");
  EXPECT_EQ(call_refusal(".u32 a", ".param .s32 x; call f, (x);"), "");
  EXPECT_EQ(call_refusal(".align 8 .b8 a[8]", ".param .align 8 .b8 x[8]; call f, (x);"), "");
  EXPECT_EQ(call_refusal(".b64 a", ".param .b32 x; call f, (x);"),
            "call (argument 1: expected .b64, found .b32)");
  EXPECT_EQ(call_refusal(".b32 a", ".param .b64 x; call f, (x);"),
            "call (argument 1: expected .b32, found .b64)");
  EXPECT_EQ(call_refusal(".f32 a", ".param .u32 x; call f, (x);"),
            "call (argument 1: expected .f32, found .u32)");
  EXPECT_EQ(call_refusal(".align 8 .b8 a[16]", ".param .align 8 .b8 x[8]; call f, (x);"),
            "call (argument 1: expected 16 bytes of .b8, found 8 bytes of .b8)");
  EXPECT_EQ(call_refusal(".b64 a", ".param .align 8 .b8 x[8]; call f, (x);"),
            "call (argument 1: expected .b64, found 8 bytes of .b8)");
}

TEST(Syntax, ReturnValuesAndPrototypesAreCompared) {
  const std::string head = ".version 8.6\n.target sm_90a\n.address_size 64\n";
  const auto refusal = [&](const std::string& text) {
    const auto all = unsupported(ptx::parse(head + text, "k.ptx"));
    return all.empty() ? "" : all[0].instruction;
  };
  EXPECT_EQ(refusal(".func (.param .b32 r) f() { ret; }\n"
                    ".visible .entry k() { .param .b64 x; call (x), f; ret; }\n"),
            "call (return value 1: expected .b32, found .b64)");
  EXPECT_EQ(refusal(".visible .entry k() { .reg .b64 d; .param .b32 a;\n"
                    "pr: .callprototype _ (.param .b64 _); call d, (a), pr; ret; }\n"),
            "call (argument 1: expected .b64, found .b32)");
  EXPECT_EQ(refusal(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                    ".visible .entry k() { .param .b32 r; .param .b32 a; .param .b64 b;\n"
                    "call (r), vprintf, (a, b); ret; }\n"),
            "call (argument 1: expected .b64, found .b32)");
}

}  // namespace
}  // namespace raddle::exec::test::syntax_test
