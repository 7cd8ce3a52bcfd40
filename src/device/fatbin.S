/* SPDX-License-Identifier: BSD-3-Clause
 * Embeds the kernels (KERNELS_FATBIN, a path given by the makefile) under one hidden symbol. */
    .section .rodata
    .balign 64
    .global apex_fatbin
    .hidden apex_fatbin
    .type apex_fatbin, %object
apex_fatbin:
    .incbin KERNELS_FATBIN
    .size apex_fatbin, . - apex_fatbin
    .section .note.GNU-stack, "", %progbits
