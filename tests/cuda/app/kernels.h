// Device code of the test program.
#pragma once

inline constexpr const char* kPtx = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .global .align 4 .u32 counter = 5;
.visible .const .align 4 .b8 table[16];

// out[i] = a[i] + b[i], for i < n
.visible .entry add(.param .u64 out, .param .u64 a, .param .u64 b, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [a];
  ld.param.u64 %rd3, [b];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra done;
  mul.wide.s32 %rd4, %r5, 4;
  add.s64 %rd5, %rd2, %rd4;
  add.s64 %rd6, %rd3, %rd4;
  add.s64 %rd7, %rd1, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
done:
  ret;
}

// *out += value, by one thread; spins first so that it takes a while
.visible .entry bump(.param .u64 out, .param .u32 value, .param .u32 spins)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  ld.param.u32 %r2, [spins];
  mov.u32 %r3, 0;
loop:
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, %r2;
  @%p1 bra loop;
  ld.global.u32 %r4, [%rd1];
  add.u32 %r5, %r4, %r1;
  st.global.u32 [%rd1], %r5;
  ret;
}

// counter += table[0]
.visible .entry count()
{
  .reg .b32 %r<4>;
  ld.const.u32 %r1, [table];
  ld.global.u32 %r2, [counter];
  add.u32 %r3, %r1, %r2;
  st.global.u32 [counter], %r3;
  ret;
}

.visible .entry stop()
{
  trap;
  ret;
}
)";

inline constexpr const char* kOddPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry odd()
{
  .reg .b32 %r<2>;
  frobnicate.b32 %r1, 4;
  ret;
}
)";
