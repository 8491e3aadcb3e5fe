/* The exported symbols: one per function of api.inc and version of libcudart, each a jump to its body (room cudart). A
 * program asks for name and version; one shared library answers for all of them. The versions are those of NVIDIA's
 * libraries: libcudart.so.11.0, libcudart.so.12, libcudart.so.13. On other hosts the build leaves this library out. */
#ifndef __x86_64__
#error "The drop-in CUDA runtime is for x86-64 (CMakeLists.txt leaves it out elsewhere)"
#endif
        .text

/* A local label for the body's jump, made public under name@version. */
.macro raddle_version name, version, node, first, last, default
  .if (\first <= \version) && (\version <= \last)
        .globl  raddle_v\version\()_\name
        .type   raddle_v\version\()_\name, @function
        .set    raddle_v\version\()_\name, raddle_entry_\name\()_\first
        .symver raddle_v\version\()_\name, \name\default\node
  .endif
.endm

.macro raddle_versions name, first, last
        raddle_version \name, 11, libcudart.so.11.0, \first, \last, @
        raddle_version \name, 12, libcudart.so.12, \first, \last, @
        raddle_version \name, 13, libcudart.so.13, \first, \last, @@
.endm

.macro raddle_entry name, first
        .p2align 4
        .type   raddle_entry_\name\()_\first, @function
raddle_entry_\name\()_\first:
.endm

.macro raddle_have name, body, first, last
        raddle_entry \name, \first
        jmp     \body
        .size   raddle_entry_\name\()_\first, . - raddle_entry_\name\()_\first
        raddle_versions \name, \first, \last
.endm

/* Tells the body that stream 0 is the thread's own; all argument registers stay as they are. */
.macro raddle_per_thread name, body, first, last
        raddle_entry \name, \first
        push    %rdi
        push    %rsi
        push    %rdx
        push    %rcx
        push    %r8
        push    %r9
        sub     $8, %rsp
        call    raddle_per_thread
        add     $8, %rsp
        pop     %r9
        pop     %r8
        pop     %rcx
        pop     %rdx
        pop     %rsi
        pop     %rdi
        jmp     \body
        .size   raddle_entry_\name\()_\first, . - raddle_entry_\name\()_\first
        raddle_versions \name, \first, \last
.endm

.macro raddle_lack name, first, last
        raddle_entry \name, \first
        lea     raddle_name_\name\()_\first(%rip), %rdi
        jmp     raddle_unsupported
        .size   raddle_entry_\name\()_\first, . - raddle_entry_\name\()_\first
        .pushsection .rodata
raddle_name_\name\()_\first:
        .asciz  "\name"
        .popsection
        raddle_versions \name, \first, \last
.endm

#define HAVE(name, first, last) raddle_have name, raddle_##name, first, last;
#define HAVE_AS(name, body, first, last) raddle_have name, raddle_##body, first, last;
#define PTDS(name, first, last) raddle_per_thread name##_ptds, raddle_##name, first, last;
#define PTSZ(name, first, last) raddle_per_thread name##_ptsz, raddle_##name, first, last;
#define PTSZ_AS(name, body, first, last) raddle_per_thread name##_ptsz, raddle_##body, first, last;
#define LACK(name, first, last) raddle_lack name, first, last;
#include "raddle/cudart/api.inc"
/* As libcuda.so.1, for libraries of machine code (driver.cpp). */
raddle_have cuInit, raddle_cuInit, 13, 13
raddle_have cuDriverGetVersion, raddle_cuDriverGetVersion, 13, 13
raddle_have cuGetProcAddress, raddle_cuGetProcAddress, 13, 13
raddle_have cuGetProcAddress_v2, raddle_cuGetProcAddress, 13, 13
        .section .note.GNU-stack, "", @progbits
