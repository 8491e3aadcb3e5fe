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

/* Argument registers, with the stack aligned for a call. */
.macro raddle_keep
        push    %rdi
        push    %rsi
        push    %rdx
        push    %rcx
        push    %r8
        push    %r9
        sub     $8, %rsp
.endm
.macro raddle_restore
        add     $8, %rsp
        pop     %r9
        pop     %r8
        pop     %rcx
        pop     %rdx
        pop     %rsi
        pop     %rdi
.endm

/* Tells the body that stream 0 is the thread's own; all argument registers stay as they are. */
.macro raddle_per_thread name, body, first, last
        raddle_entry \name, \first
        raddle_keep
        call    raddle_per_thread
        raddle_restore
        jmp     \body
        .size   raddle_entry_\name\()_\first, . - raddle_entry_\name\()_\first
        raddle_versions \name, \first, \last
.endm

.macro raddle_text name, first
        .pushsection .rodata
raddle_name_\name\()_\first:
        .asciz  "\name"
        .popsection
.endm

.macro raddle_lack name, first, last, told=raddle_unsupported
        raddle_entry \name, \first
        lea     raddle_name_\name\()_\first(%rip), %rdi
        jmp     \told
        .size   raddle_entry_\name\()_\first, . - raddle_entry_\name\()_\first
        raddle_text \name, \first
        raddle_versions \name, \first, \last
.endm

/* A call of the driver interface that does what one of the runtime's does: the body runs between raddle_driver_enter,
 * which may refuse with a code, and raddle_driver_leave, which gives the driver's code for the runtime's. Bodies have
 * six arguments at most: those on the stack would not be where the body looks. */
.macro raddle_driver name, body, needs
        raddle_entry \name, 13
        raddle_keep
        lea     raddle_name_\name\()_13(%rip), %rdi
        mov     $\needs, %esi
        call    raddle_driver_enter
        raddle_restore
        test    %eax, %eax
        jne     1f
        sub     $8, %rsp
        call    \body
        add     $8, %rsp
        mov     %eax, %edi
        jmp     raddle_driver_leave
1:      ret
        .size   raddle_entry_\name\()_13, . - raddle_entry_\name\()_13
        raddle_text \name, 13
        raddle_versions \name, 13, 13
.endm

#define HAVE(name, first, last) raddle_have name, raddle_##name, first, last;
#define HAVE_AS(name, body, first, last) raddle_have name, raddle_##body, first, last;
#define PTDS(name, first, last) raddle_per_thread name##_ptds, raddle_##name, first, last;
#define PTSZ(name, first, last) raddle_per_thread name##_ptsz, raddle_##name, first, last;
#define PTSZ_AS(name, body, first, last) raddle_per_thread name##_ptsz, raddle_##body, first, last;
#define LACK(name, first, last) raddle_lack name, first, last;
#include "raddle/cudart/api.inc"

/* As libcuda.so.1 (driver.inc); its names carry no versions of their own. The numbers are those of driver.h. */
#define DRIVER(name, body, since) raddle_have name, raddle_##body, 13, 13;
#define DRIVER_PT(name, body, since) raddle_per_thread name, raddle_##body, 13, 13;
#define DRIVER_ANY(name, body, since) raddle_driver name, raddle_##body, 1;
#define DRIVER_SAME(name, body, since) raddle_driver name, raddle_##body, 2;
#define DRIVER_SAME_PT(name, body, since) raddle_driver name, raddle_##body, 6;
#define DRIVER_LACK(name, since) raddle_lack name, 13, 13, raddle_driver_lacks;
#include "raddle/cudart/driver.inc"
#include "raddle/cudart/driver_lack.inc"
        .section .note.GNU-stack, "", @progbits
