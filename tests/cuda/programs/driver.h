// What the programs of the driver interface share: a check, and a kernel as PTX text.
#pragma once
#include <cuda.h>

#include <cstdio>
#include <cstdlib>

inline void expect(bool holds, const char* what, int line) {
  if (holds) return;
  std::printf("line %d: %s\n", line, what);
  std::exit(1);
}
#define HOLDS(condition) expect((condition), #condition, __LINE__)

inline void returns(CUresult wanted, CUresult got, const char* what, int line) {
  if (wanted == got) return;
  const char* name = nullptr;
  cuGetErrorName(got, &name);
  std::printf("line %d: %s gives %s\n", line, what, name != nullptr ? name : "no known code");
  std::exit(1);
}
#define OK(call) returns(CUDA_SUCCESS, call, #call, __LINE__)
#define GIVES(code, call) returns(code, call, #call, __LINE__)

/// to[i] = from[i] * factor + bias, for i < count; `bias` is a variable of the module.
inline constexpr const char* kAffine = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 bias;
.visible .entry affine(.param .u64 to, .param .u64 from, .param .u32 factor, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %d<6>;
  ld.param.u64 %d0, [to];
  ld.param.u64 %d1, [from];
  ld.param.u32 %r0, [factor];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p ret;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d3, %d1, %d2;
  ld.global.u32 %r6, [%d3];
  ld.global.u32 %r7, [bias];
  mad.lo.u32 %r6, %r6, %r0, %r7;
  add.u64 %d4, %d0, %d2;
  st.global.u32 [%d4], %r6;
  ret;
}
)";
