/* SPDX-License-Identifier: BSD-3-Clause
 * One exported entry for each SEEN function of symbols.def: saves the argument registers, asks
 * thunk_target (hook/thunk.c) for the real function, and jumps there with everything as it was. So
 * no prototype is needed, no argument is lost, and the callee sees the program as its caller. */
#if defined(__x86_64__)

    .macro SEEN_ENTRY name, common
    .globl \name
    .type \name, @function
    .balign 16
\name:
    .cfi_startproc
    endbr64
    movl $thunk_index, %eax
    jmp \common
    .cfi_endproc
    .size \name, . - \name
    .set thunk_index, thunk_index + 1
    .endm

    .macro THUNK_COMMON common, floats
    .type \common, @function
    .balign 16
\common:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $176, %rsp
    movq %rdi, (%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    .if \floats
    movups %xmm0, 48(%rsp)
    movups %xmm1, 64(%rsp)
    movups %xmm2, 80(%rsp)
    movups %xmm3, 96(%rsp)
    movups %xmm4, 112(%rsp)
    movups %xmm5, 128(%rsp)
    movups %xmm6, 144(%rsp)
    movups %xmm7, 160(%rsp)
    .endif
    movl %eax, %edi
    movq 8(%rbp), %rsi
    movq %rsp, %rdx
    leaq 16(%rbp), %rcx
    call thunk_target
    movq %rax, %r11
    movq (%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    .if \floats
    movups 48(%rsp), %xmm0
    movups 64(%rsp), %xmm1
    movups 80(%rsp), %xmm2
    movups 96(%rsp), %xmm3
    movups 112(%rsp), %xmm4
    movups 128(%rsp), %xmm5
    movups 144(%rsp), %xmm6
    movups 160(%rsp), %xmm7
    .endif
    leave
    .cfi_def_cfa %rsp, 8
    jmp *%r11
    .cfi_endproc
    .size \common, . - \common
    .endm

#elif defined(__aarch64__)

    .macro SEEN_ENTRY name, common
    .globl \name
    .type \name, %function
    .balign 16
\name:
    .cfi_startproc
    hint #34 /* bti c */
    mov w16, #thunk_index
    b \common
    .cfi_endproc
    .size \name, . - \name
    .set thunk_index, thunk_index + 1
    .endm

    .macro THUNK_COMMON common, floats
    .type \common, %function
    .balign 16
\common:
    .cfi_startproc
    stp x29, x30, [sp, #-224]!
    .cfi_adjust_cfa_offset 224
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x8, [sp, #80]
    .if \floats
    stp q0, q1, [sp, #96]
    stp q2, q3, [sp, #128]
    stp q4, q5, [sp, #160]
    stp q6, q7, [sp, #192]
    .endif
    mov w0, w16
    mov x1, x30
    add x2, sp, #16
    add x3, sp, #224
    bl thunk_target
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldr x8, [sp, #80]
    .if \floats
    ldp q0, q1, [sp, #96]
    ldp q2, q3, [sp, #128]
    ldp q4, q5, [sp, #160]
    ldp q6, q7, [sp, #192]
    .endif
    ldp x29, x30, [sp], #224
    br x16
    .cfi_endproc
    .size \common, . - \common
    .endm

#else
#error "the thunks need an entry for this architecture"
#endif

    .text
    .hidden thunk_target
    /* No function of the driver takes a floating-point number by value. */
    THUNK_COMMON thunk_words, 0
    THUNK_COMMON thunk_all, 1
#define COMMON_CUDA thunk_words
#define COMMON_CUBLAS thunk_all
#define COMMON_CUBLASLT thunk_all
#define COMMON_CUDNN thunk_all
    .set thunk_index, 0
/* clang-format off */
#define HOOK(lib, sym)
#define SEEN(lib, sym, kind) SEEN_ENTRY sym, COMMON_##lib
#define WRAP(lib, sym, kind) .set thunk_index, thunk_index + 1
#include "symbols.def"
    .section .note.GNU-stack, "", %progbits
