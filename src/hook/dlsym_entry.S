/* SPDX-License-Identifier: BSD-3-Clause
 * The exported dlsym and dlvsym. Each asks dlsym_route (hook/dlsym.c) what to do: return a hook, or
 * jump to the next dlsym as if the program had called it. The jump matters: RTLD_NEXT and
 * RTLD_DEFAULT mean "as seen by the caller", and the caller is known by the return address. */
#if defined(__x86_64__)

    .macro DL_ENTRY name, route
    .globl \name
    .type \name, @function
    .balign 16
\name:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    call \route
    /* rax: what to return; rdx: where to jump, 0 for nowhere */
    movq %rdx, %r11
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %r11, %r11
    jz 1f
    jmp *%r11
1:  ret
    .cfi_endproc
    .size \name, . - \name
    .endm

#elif defined(__aarch64__)

    .macro DL_ENTRY name, route
    .globl \name
    .type \name, %function
    .balign 16
\name:
    .cfi_startproc
    hint #34 /* bti c */
    stp x29, x30, [sp, #-48]!
    .cfi_adjust_cfa_offset 48
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    mov x29, sp
    stp x0, x1, [sp, #16]
    str x2, [sp, #32]
    bl \route
    /* x0: what to return; x1: where to jump, 0 for nowhere */
    cbz x1, 1f
    mov x16, x1
    ldp x0, x1, [sp, #16]
    ldr x2, [sp, #32]
    ldp x29, x30, [sp], #48
    .cfi_restore x29
    .cfi_restore x30
    .cfi_adjust_cfa_offset -48
    br x16
1:  ldp x29, x30, [sp], #48
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm

#else
#error "dlsym needs an entry for this architecture"
#endif

    .text
    DL_ENTRY dlsym, dlsym_route
    DL_ENTRY dlvsym, dlvsym_route
    .hidden dlsym_route
    .hidden dlvsym_route
    .section .note.GNU-stack, "", %progbits
