/* For the exports.S of our libraries for CUDA programs: the exported symbols, each a jump to its body. A program asks
 * for name and version; one shared library of ours answers for several versions of NVIDIA's.
 * The library defines the macro raddle_versions NAME, LIBRARY, of lines raddle_version, and the function raddle_lacks,
 * which gets the name of the function that was called. */
#ifndef __x86_64__
#error "The libraries for CUDA programs are for x86-64 (CMakeLists.txt leaves them out elsewhere)"
#endif
        .text

/* The entry made public under name@version, or name@@version where default is @@. */
.macro raddle_version name, library, version, default
        .globl  raddle_v\version\()_\name
        .type   raddle_v\version\()_\name, @function
        .set    raddle_v\version\()_\name, raddle_entry_\name
        .symver raddle_v\version\()_\name, \name\default\library\().so.\version
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
        jmp     raddle_lacks
        .size   raddle_entry_\name, . - raddle_entry_\name
        .pushsection .rodata
raddle_name_\name:
        .asciz  "\name"
        .popsection
        raddle_versions \name, \library
.endm

        .section .note.GNU-stack, "", @progbits
        .text
