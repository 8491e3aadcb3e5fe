// Matrices, textures, asynchronous copies, barrier objects, and where addresses lie: what ptxas 13
// (sm_90a) takes of each line is what is taken here.
#include <gmock/gmock.h>

#include "syntax_lines.h"

namespace raddle::exec::test::syntax_units_test {
namespace {

using testing::HasSubstr;

constexpr const char* kTaken[] = {
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 {r1,r2,r3,r4,r5,r6,r7,r8},[d1],r2;",
    "wmma.load.a.sync.aligned.row.m8n32k16.bf16 {r1,r2},[d1],r2;",
    "wmma.load.b.sync.aligned.row.m8n32k16.bf16 {r1,r2,r3,r4,r5,r6,r7,r8},[d1];",
    "wmma.load.b.sync.aligned.row.m16n16k16.s8 {r1,r2},[d1];",
    "wmma.load.b.sync.aligned.row.m32n8k16.s8 {r1},[d1];",
    "wmma.load.b.sync.aligned.row.m16n16k8.tf32 {r1,r2,r3,r4},[d1];",
    "wmma.load.c.sync.aligned.row.m8n8k4.f64 {d1,d2},[d1];",
    "wmma.load.c.sync.aligned.row.m16n16k16.f32 {r1,r2,r3,r4,r5,r6,r7,r8},[d1],4;",
    "wmma.load.a.sync.aligned.row.m8n8k32.s4 {r1},[d1],4;",
    "wmma.load.b.sync.aligned.col.m8n8k128.b1 {r1},[d1],4;",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared::cta.f16 {r1,r2,r3,r4,r5,r6,r7,r8},[r1],r2;",
    "wmma.store.d.sync.aligned.row.m16n16k16.f16 [d1],{r1,r2,r3,r4},r2;",
    "wmma.mma.sync.aligned.row.col.m8n8k4.rm.f64.f64.f64.f64 {e1,e2},{e1},{e2},{e3,e4};",
    "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {r1,r2},{r1},{r2},{r3,r4};",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32 "
    "{r1,r2,r3,r4},{r1,r2},{r1},{r1,r2,r3,r4};",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 "
    "{f1,f2,f3,f4},{r1,r2,r3,r4},{r1,r2},{f1,f2,f3,f4};",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{f1,f2,f3,f4},{r1,r2,r3,r4},{r1,r2},{1.0,f2,f3,f4};",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r1},[r2];",
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {r1,f2,r3,ru4},[sh];",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [r2],{r1,r3,r4,1};",
    "movmatrix.sync.aligned.m8n8.trans.b16 r1,r2;",
    "tex.1d.v4.f32.s32 {f1,_,f3,f4},[d5,r6];",
    "tex.1d.v4.f32.f32 {f1,f2,f3,f4}|q1,[d5,{f6}];",
    "tex.2d.v4.f32.f32 {f1,f2,f3,f4},[d5,{f6,f7,f8,f8}];",
    "tex.a2d.v4.s32.s32 {r1,r2,r3,r4},[d5,{r6,r7,r8,r8}];",
    "tex.base.2d.v4.f32.f32 {f1,f2,f3,f4},[d5,{f6,f7}];",
    "tex.level.2d.v4.f32.s32 {f1,f2,f3,f4},[d5,{r6,r7}],r8;",
    "tex.grad.3d.v4.f32.f32 {f1,f2,f3,f4},[d5,{f6,f7,f8,f8}],{f8,f8,f8,f8},{f1,f1,f1,f1};",
    "tld4.a.a2d.v4.f32.f32 {f1,f2,f3,f4},[d5,{r6,f7,f8,f8}];",
    "suld.b.2d.v4.b8.clamp {h1,h2,h3,h4},[d5,{r6,r7}];",
    "suld.b.a2d.b16.clamp.ca {h1},[d5,{r6,r7,r8,r8}];",
    "sust.b.2d.wb.v2.b32.zero [d5,{r6,r7}],{r1,r2};",
    "txq.normalized_coords.b32 r1,[d1];",
    "cp.async.ca.shared::cta.global.L2::128B [r1],[d2],16;",
    "cp.async.ca.shared.global.L2::cache_hint.L2::128B [r1],[d2],16,r3,d3;",
    "cp.async.cg.shared.global [r1],[d2],16,!q3;",
    "cp.async.wait_all;",
    "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [r1];",
    "cp.async.bulk.wait_group.read 2;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
    "[r1],[d1],512,[r2],h1;",
    "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [d1],[r1],512,d3;",
    "cp.async.bulk.prefetch.L2.global [d1],512;",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.inc.u32 "
    "[r1],[r2],512,[r3];",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [d1],[r2],512;",
    "mbarrier.init.b64 [d1],1;",
    "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [r2],r1;",
    "mbarrier.arrive.shared::cluster.b64 _,[r2],r1;",
    "mbarrier.arrive.relaxed.cluster.shared::cta.b64 d1,[r2],r1;",
    "mbarrier.arrive.expect_tx.b64 d1,[d2],r1;",
    "mbarrier.arrive.noComplete.b64 d1,[d2],r1;",
    "mbarrier.arrive_drop.expect_tx.shared::cta.b64 d1,[r2],r1;",
    "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 q1,[r2],r1;",
    "mbarrier.try_wait.parity.shared::cta.acquire.cta.b64 q1,[r2],r1,r1;",
    "mbarrier.pending_count.b64 r1,d1;",
    "mapa.shared::cluster.u32 r1,sh+8,0;",
    "getctarank.shared::cluster.u64 r1,d2;",
    "vabsdiff4.u32.s32.u32 r1,r2,r3,r1;",
    "ld.shared::cluster.u32 r1,[sh];",
    "ld.u32 r1,[gv];",
};

constexpr const char* kRefused[] = {
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 {r1,r2,r3,r4},[d1],r2;",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 {f1,f2,f3,f4,f5,f6,f7,f8},[d1],r2;",
    "wmma.load.b.sync.aligned.row.m16n16k16.u8 {r1,r2,r3,r4},[d5],r6;",
    "wmma.load.b.sync.aligned.row.m32n8k16.s8 r1,[d1];",
    "wmma.load.a.sync.aligned.col.m8n8k32.s4 {r1},[d1],4;",
    "wmma.load.d.sync.aligned.row.m16n16k16.f32 {r1,r2,r3,r4,r5,r6,r7,r8},[d1],r2;",
    "wmma.load.b.aligned.row.m16n16k8.tf32 {r1,r2,r3,r4},[d5],r6;",
    "wmma.load.a.sync.aligned.row.row.m16n16k8.tf32 {r1,r2,r3,r4},[d5],r6;",
    "wmma.store.c.sync.aligned.row.m8n8k4.f64 [d1],{e1,e2},r2;",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 "
    "{r1,r2,r3,r4,r5,r6,r7,r8},{r1,r2},{r1,r2},{r1,r2,r3,r4,r5,r6,r7,r8};",
    "wmma.mma.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {r1,r2},{r1},{r2},{r3,r4};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {e1,e2},e1,e2,{e1,e2};",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {f1,f2,f3,f4},{r1,r2},{r1},{r1,r2};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{f1,f2,f3,f4},{f1,f2,f3,f4},{r1,r2},{f1,f2,f3,f4};",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 r1,[r2];",
    "ldmatrix.aligned.m8n8.x4.shared.b16 {r1,r2,r3,r4},[r5];",
    "ldmatrix.sync.aligned.m8n8.x4.x4.shared.b16 {r1,r2,r3,r4},[r5];",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [r2],r1;",
    "movmatrix.sync.aligned.m8n8.trans.b16 r1,3;",
    "tex.1d.v4.f32.s32 {ru1,ru2,ru3,ru4},[d5,{r6}];",
    "tex.1d.v4.f32.s32 {f1,f2,f3,f4},[d5,{f6}];",
    "tex.3d.v4.f32.f32 {f1,f2,f3,f4},[d5,{f6,f7,f8}];",
    "tex.cube.v4.u32.s32 {r1,r2,r3,r4},[d5,{r6,r7,r8,r8}];",
    "tex.2d.level.v4.f32.f32 {f1,f2,f3,f4},[d5,{f6,f7}],f8;",
    "tex.grad.2d.v4.f32.f32 {f1,f2,f3,f4},[d5,{f6,f7}],{f8,f1},{f1};",
    "tld4.x4.2d.v4.u32.f32 {r1,r2,r3,r4},[d5,{f6,f7}];",
    "suld.b.2d.b32 {r1},[d2,{r3,r4}];",
    "sust.b.2d.b32.trap.trap [d1,{r2,r3}],{r4};",
    "txq.width r1,[d1];",
    "cp.async.ca.shared::cluster.global [r1],[d2],8;",
    "cp.ca.async.shared.global [r1],[d2],4;",
    "cp.async.wait_all 3;",
    "cp.async.mbarrier.arrive.noinc.shared::cluster.b64 [r1];",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.L2::cache_hint "
    "[r1],[r1],512,[r2],d1;",
    "cp.async.bulk.prefetch.L2 [d1],512;",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and.b64 "
    "[r1],[r2],512,[r3];",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [d1],[r2],512;",
    "mbarrier.init.shared::cluster.b64 [r1],1;",
    "mbarrier.init.shared.b64 [gv],1;",
    "mbarrier.init.b64 [gv],1;",
    "mbarrier.expect_tx.relaxed.b64 [d1],r1;",
    "mbarrier.arrive.shared::cluster.b64 d1,[r2],r1;",
    "mbarrier.arrive.release.gpu.shared::cta.b64 d1,[r2],r1;",
    "mbarrier.arrive.release.cta.expect_tx.shared::cta.b64 _,[r2],r1;",
    "mbarrier.arrive.noComplete.b64 d1,[d2];",
    "mbarrier.test_wait.acquire.shared::cta.b64 q1,[r2],d1;",
    "mbarrier.try_wait.parity.shared.b64 q1,[r2],d1;",
    "mbarrier.pending_count.shared.b64 r1,d1;",
    "mapa.u64.u64 d1,d2,r3;",
    "vabsdiff4.bf16.u32.u32 r1,r2,r3,r1;",
    "vabsdiff4.u32.u32.u32 r1,r2,r3,f7;",
    "ld.shared.u32 r1,[gv];",
    "ld.global.u32 r1,[sh];",
    "ld.const.u32 r1,[gv];",
    "ld.param.u32 r1,[sh];",
    "cp.async.ca.global.shared [r1],[d2],4;",
    "ld.local.u32 r1,[sh];",
    "ld.global.f32 f1,[p];",
    "st.global.u32 [sh],r1;",
    "st.volatile.shared.u32 [n],r2;",
    "atom.global.add.u32 r1,[sh],r2;",
    "cp.async.cg.shared.global [gv],[d2],16;",
    "ld.u32 r1,[f1];",
    "ld.nc.u32 r1,[d2];",
    "ld.local.v4.u8 {c1,h2,h3,h4},[d5];",
    "mul.u32.wide d1,r2,4;",
    "madc.cc.lo.u32 r1,r1,r2,r3;",
    "shf.wrap.l.b32 r1,r2,r2,4;",
    "bar.sync.warp -1;",
    "cvta.shared.to.u64 d1,d2;",
    "clz.b32 rh6,r1;",
    "match.any.sync.b32 f7,r1,r2;",
    "cvt.u64.u32 d1,sh;",
};

TEST(SyntaxOfUnits, WhatPtxAllowsIsTaken) {
  for (const char* body : kTaken) EXPECT_EQ(refusal_of(body), "") << body;
}
TEST(SyntaxOfUnits, OldPtxHasNoAlignedInWmma) {
  EXPECT_EQ(refusal_of("wmma.load.a.sync.row.m16n16k16.f16 {r1,r2,r3,r4,r5,r6,r7,r8},[d1];"), "");
}
TEST(SyntaxOfUnits, WhatPtxHasNotIsRefused) {
  for (const char* body : kRefused) EXPECT_NE(refusal_of(body), "") << body;
}
TEST(SyntaxOfUnits, MessagesSayWhatWasExpected) {
  EXPECT_THAT(refusal_of("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {r1},[r2];"),
              HasSubstr("operand 1: expected a vector of 2 for .b32, found a vector of 1"));
  EXPECT_THAT(refusal_of("mbarrier.arrive.shared::cluster.b64 d1,[r2],r1;"),
              HasSubstr("operand 1: expected '_', found 'd1' of type .b64"));
  EXPECT_THAT(refusal_of("ld.shared.u32 r1,[gv];"),
              HasSubstr("the variable lies in another state space"));
  EXPECT_THAT(refusal_of("cp.async.wait_all 3;"), HasSubstr("expected 0 operands, found 1"));
}

}  // namespace
}  // namespace raddle::exec::test::syntax_units_test
