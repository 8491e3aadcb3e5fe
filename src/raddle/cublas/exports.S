/* The exported symbols: one per function of cublas.inc and cublas_lt.inc, each a jump to its body (room cublas). A
 * program asks for name and version; one shared library answers for both of NVIDIA's and for their three versions. */
#ifndef __x86_64__
#error "The libraries for CUDA programs are for x86-64 (CMakeLists.txt leaves them out elsewhere)"
#endif
        .text

/* The entry made public under name@version. */
.macro raddle_version name, library, version, default
        .globl  raddle_v\version\()_\name
        .type   raddle_v\version\()_\name, @function
        .set    raddle_v\version\()_\name, raddle_entry_\name
        .symver raddle_v\version\()_\name, \name\default\library\().so.\version
.endm
.macro raddle_versions name, library
        raddle_version \name, \library, 11, @
        raddle_version \name, \library, 12, @
        raddle_version \name, \library, 13, @@
.endm

.macro raddle_have library, name, body
        .p2align 4
        .type   raddle_entry_\name, @function
raddle_entry_\name:
        jmp     \body
        .size   raddle_entry_\name, . - raddle_entry_\name
        raddle_versions \name, \library
.endm

.macro raddle_lack library, name
        .p2align 4
        .type   raddle_entry_\name, @function
raddle_entry_\name:
        lea     raddle_name_\name(%rip), %rdi
        jmp     raddle_cublas_lacks
        .size   raddle_entry_\name, . - raddle_entry_\name
        .pushsection .rodata
raddle_name_\name:
        .asciz  "\name"
        .popsection
        raddle_versions \name, \library
.endm

#define HAVE(name) raddle_have libcublas, name, raddle_##name;
#define HAVE_AS(name, body) raddle_have libcublas, name, raddle_##body;
#define LACK(name) raddle_lack libcublas, name;
#include "raddle/cublas/cublas.inc"
#undef HAVE
#undef HAVE_AS
#undef LACK
#define HAVE(name) raddle_have libcublasLt, name, raddle_##name;
#define HAVE_AS(name, body) raddle_have libcublasLt, name, raddle_##body;
#define LACK(name) raddle_lack libcublasLt, name;
#include "raddle/cublas/cublas_lt.inc"
        .section .note.GNU-stack, "", @progbits
