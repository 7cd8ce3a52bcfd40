/* SPDX-License-Identifier: BSD-3-Clause
 * Hand-written PTX for check_engine: variables, atomics, copies, faults, counts. No state. */
#include "engine_tests.h"

const struct engine_source engine_memory_sources[] = {
    {"initialisers",
     ".global .align 4 .u32 numbers[4] = {1, 0x20, 3};\n"
     ".global .align 8 .f64 halves[2] = {0d3FE0000000000000, 2.5};\n"
     ".global .align 8 .u64 pointers[3] = {generic(numbers), generic(numbers)+8, halves};\n"
     ".global .align 1 .b8 text[6] = {104, 101, 108, 108, 111, 0};\n"
     ".const .align 4 .f32 weights[2] = {0f3F800000, -0.5};\n"
     ".global .align 4 .b32 zeros[3];\n",
     "mov.u64 %q0, pointers; ld.global.u64 %q1, [%q0+8]; ld.u32 %r0, [%q1]; st.global.u32 [%qb], "
     "%r0;\n"
     "ld.global.u64 %q1, [pointers]; ld.u32 %r0, [%q1+4]; st.global.u32 [%qb+4], %r0;\n"
     "ld.global.u64 %q1, [pointers+16]; ld.global.f64 %q2, [%q1+8]; st.global.f64 [%qb+8], %q2;\n"
     "ld.global.u8 %h0, [text+1]; cvt.u32.u16 %r0, %h0; st.global.u32 [%qb+16], %r0;\n"
     "ld.const.f32 %r0, [weights+4]; st.global.f32 [%qb+20], %r0;\n"
     "ld.global.u32 %r0, [zeros+8]; st.global.u32 [%qb+24], %r0;\n"
     "ld.global.u32 %r0, [numbers+12]; st.global.u32 [%qb+28], %r0;\n"
     "ret;\n"},
    /* 16-, 8- and 4-byte copies to shared memory that the thread itself waits for */
    {"async_copy", ".shared .align 16 .b8 s[16384];\n",
     "mov.u32 %r0, s;\n"
     "mad.lo.u32 %r1, %t, 64, %r0;\n"
     "mad.wide.u32 %q0, %gid, 64, %qa;\n"
     "mad.wide.u32 %q1, %gid, 64, %qb;\n"
     "cp.async.ca.shared.global [%r1], [%q0], 16;\n"
     "cp.async.cg.shared.global [%r1+16], [%q0+16], 16;\n"
     "cp.async.commit_group;\n"
     "cp.async.ca.shared.global [%r1+32], [%q0+32], 8;\n"
     "cp.async.ca.shared.global [%r1+40], [%q0+40], 4;\n"
     "cp.async.commit_group;\n"
     "cp.async.ca.shared.global [%r1+44], [%q0+44], 4, 0;\n" /* nothing read, filled with zeros */
     "cp.async.cg.shared.global [%r1+48], [%q0+48], 16, %n;\n"
     "cp.async.wait_group 1;\n"
     "ld.shared.v2.b64 {%q2, %q3}, [%r1]; st.global.v2.b64 [%q1], {%q2, %q3};\n"
     "cp.async.wait_all;\n"
     "ld.shared.v2.b64 {%q2, %q3}, [%r1+16]; st.global.v2.b64 [%q1+16], {%q2, %q3};\n"
     "ld.shared.v2.b64 {%q2, %q3}, [%r1+32]; st.global.v2.b64 [%q1+32], {%q2, %q3};\n"
     "ld.shared.v2.b64 {%q2, %q3}, [%r1+48]; st.global.v2.b64 [%q1+48], {%q2, %q3};\n"
     "ret;\n"},
    /* one counter of each kind, all threads of all blocks */
    {"contention", "",
     "atom.global.add.u32 %r0, [%qa], 3;\n"
     "atom.global.min.s32 %r1, [%qa+4], %gid;\n"
     "atom.global.max.u32 %r1, [%qa+8], %gid;\n"
     "atom.global.inc.u32 %r1, [%qa+12], 99;\n"
     "atom.global.dec.u32 %r1, [%qa+16], 99;\n"
     "mov.u32 %r2, 1; and.b32 %r3, %gid, 31; shl.b32 %r2, %r2, %r3;\n"
     "atom.global.or.b32 %r1, [%qa+20], %r2;\n"
     "atom.global.xor.b32 %r1, [%qa+24], %gid;\n"
     "atom.global.add.f32 %r1, [%qa+28], 0f3F800000;\n"
     "cvt.u64.u32 %q0, %gid; red.global.add.u64 [%qa+32], %q0;\n"
     "atom.global.add.f64 %q1, [%qa+40], 0d3FE0000000000000;\n"
     "mov.b32 %r4, 0x3c003c00; red.global.add.noftz.f16x2 [%qa+48], %r4;\n"
     "AGAIN:\n"
     "ld.volatile.global.u32 %r5, [%qa+52];\n"
     "add.u32 %r6, %r5, 1;\n"
     "atom.global.cas.b32 %r7, [%qa+52], %r5, %r6;\n"
     "setp.ne.u32 %p0, %r7, %r5;\n"
     "@%p0 bra AGAIN;\n"
     "not.b32 %r8, %r2; red.global.and.b32 [%qa+56], %r8;\n"
     /* old values of the first one: each exactly once */
     "div.u32 %r0, %r0, 3;\n"
     "mad.wide.u32 %q2, %r0, 4, %qb;\n"
     "atom.global.exch.b32 %r1, [%q2], 1;\n"
     "setp.ne.u32 %p0, %r1, 0;\n"
     "@%p0 red.global.add.u32 [%qc], 1;\n"
     "ret;\n"},
    /* phases of an mbarrier that all pass, then one that half of the threads have left */
    {"mbarriers", ".shared .align 8 .b64 m;\n.shared .align 4 .b8 s[4096];\n",
     "mov.u32 %r8, m; mov.u32 %r9, s;\n"
     "mad.lo.u32 %r10, %t, 4, %r9;\n"
     "xor.b32 %r1, %t, 33; mad.lo.u32 %r11, %r1, 4, %r9;\n"
     "setp.eq.u32 %p0, %t, 0;\n"
     "@%p0 mbarrier.init.shared.b64 [%r8], %nt;\n"
     "bar.sync 0;\n"
     "ld.global.u32 %r0, [%qx];\n"
     "st.shared.u32 [%r10], %r0;\n"
     "mbarrier.arrive.shared.b64 %q0, [%r8];\n"
     "W0: mbarrier.test_wait.shared.b64 %p1, [%r8], %q0; @!%p1 bra W0;\n"
     "ld.shared.u32 %r0, [%r11]; add.u32 %r0, %r0, 1;\n"
     "mbarrier.arrive.shared::cta.b64 %q0, [%r8];\n"
     "W1: mbarrier.try_wait.shared.b64 %p1, [%r8], %q0; @!%p1 bra W1;\n"
     "st.shared.u32 [%r10], %r0;\n"
     "mbarrier.arrive.release.cta.shared::cta.b64 %q0, [%r8], 1;\n"
     "W2: mbarrier.test_wait.parity.shared.b64 %p1, [%r8], 0; @!%p1 bra W2;\n"
     "ld.shared.u32 %r0, [%r11]; add.u32 %r0, %r0, 1;\n"
     "mbarrier.arrive.shared.b64 _, [%r8];\n"
     "W3: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r8], 1; @!%p1 bra W3;\n"
     "st.shared.u32 [%r10], %r0;\n"
     "setp.ge.u32 %p2, %t, %n;\n"
     "@%p2 mbarrier.arrive_drop.shared.b64 %q0, [%r8];\n"
     "@!%p2 mbarrier.arrive.shared.b64 %q0, [%r8];\n"
     "W4: mbarrier.try_wait.shared::cta.b64 %p1, [%r8], %q0; @!%p1 bra W4;\n"
     "ld.shared.u32 %r0, [%r11]; add.u32 %r0, %r0, 1;\n"
     "@%p2 bra OUT;\n"
     "mbarrier.arrive.shared.b64 %q0, [%r8];\n"
     "W5: mbarrier.test_wait.shared::cta.b64 %p1, [%r8], %q0; @!%p1 bra W5;\n"
     "add.u32 %r0, %r0, 1000;\n"
     "OUT: bar.sync 0;\n"
     "st.global.u32 [%qy], %r0;\n"
     "@%p0 mbarrier.inval.shared.b64 [%r8];\n"
     "ret;\n"},
    {"shared_contention", ".shared .align 8 .b8 s[16];\n",
     "mov.u32 %r9, s;\n"
     "setp.eq.u32 %p0, %t, 0;\n"
     "@%p0 st.shared.v2.u32 [%r9], {0, 0};\n"
     "bar.sync 0;\n"
     "atom.shared.add.u32 %r0, [%r9], %t;\n"
     "red.shared.inc.u32 [%r9+4], 0xffffffff;\n"
     "bar.sync 0;\n"
     "ld.shared.v2.u32 {%r0, %r1}, [%r9];\n"
     "mad.lo.u32 %r0, %r1, 0x10000, %r0;\n"
     "st.global.u32 [%qy], %r0;\n"
     "ret;\n"},
    {"dynamic_shared", ".extern .shared .align 16 .b8 dyn[];\n",
     "mov.u32 %r9, dyn;\n"
     "mad.lo.u32 %r10, %t, 8, %r9;\n"
     "mov.u32 %r1, %dynamic_smem_size;\n"
     "cvt.u64.u32 %q0, %gid;\n"
     "st.shared.u64 [%r10], %q0;\n"
     "bar.sync 0;\n"
     "sub.u32 %r2, %r1, 8;\n"
     "mad.lo.u32 %r3, %t, -8, %r2;\n"
     "add.u32 %r3, %r3, %r9;\n"
     "ld.shared.u64 %q1, [%r3];\n"
     "cvt.u32.u64 %r4, %q1;\n"
     "st.global.u32 [%qy], %r4;\n"
     "ret;\n"},
    /* instructions that change nothing a program can see */
    {"hints", ".shared .align 4 .b8 s[128];\n",
     "membar.cta; membar.gl; membar.sys;\n"
     "fence.acq_rel.cta; fence.acq_rel.gpu; fence.acq_rel.sys; fence.sc.cta; fence.sc.gpu; "
     "fence.sc.sys;\n"
     "fence.proxy.async; fence.acq_rel.cluster;\n"
     "nanosleep.u32 10;\n"
     "prefetch.global.L1 [%qa]; prefetch.global.L2 [%qa]; prefetchu.L1 [%qa];\n"
     "griddepcontrol.wait; griddepcontrol.launch_dependents;\n"
     ".pragma \"nounroll\";\n"
     "pmevent 3; applypriority.global.L2::evict_normal [%qa], 128;\n"
     "createpolicy.fractional.L2::evict_last.b64 %q0, 0f3F800000;\n"
     "ld.global.L2::cache_hint.u32 %r0, [%qx], %q0;\n"
     "st.global.L2::cache_hint.u32 [%qy], %r0, %q0;\n"
     "mov.u32 %r1, %clusterid.x; mov.u32 %r2, %cluster_nctaid.x; mov.u32 %r3, %cluster_ctarank;\n"
     "ret;\n"},
    /* block b takes ticket number c: the order in which blocks ran */
    {"tickets", "",
     "setp.ne.u32 %p0, %t, 0;\n"
     "@%p0 ret;\n"
     "atom.global.add.u32 %r0, [%qa], 1;\n"
     "mad.wide.u32 %q0, %r0, 4, %qb;\n"
     "st.global.u32 [%q0], %cta;\n"
     "ret;\n"},
    /* a + n: read and written at the addresses that the test chooses */
    {"store_u8", "", "setp.ne.u32 %p0, %gid, %n;\n@%p0 ret;\nst.global.u8 [%qa], %h0;\nret;\n"},
    {"store_u32", "", "setp.ne.u32 %p0, %gid, %n;\n@%p0 ret;\nst.global.u32 [%qa], %t;\nret;\n"},
    {"load_u8", "", "setp.ne.u32 %p0, %gid, %n;\n@%p0 ret;\nld.global.u8 %h0, [%qa];\nret;\n"},
    {"load_u16", "", "setp.ne.u32 %p0, %gid, %n;\n@%p0 ret;\nld.global.u16 %h0, [%qa];\nret;\n"},
    {"load_u32", "", "setp.ne.u32 %p0, %gid, %n;\n@%p0 ret;\nld.u32 %r0, [%qa];\nret;\n"},
    {"load_u64", "", "setp.ne.u32 %p0, %gid, %n;\n@%p0 ret;\nld.global.u64 %q0, [%qa];\nret;\n"},
    {"load_v4", "",
     "setp.ne.u32 %p0, %gid, %n;\n@%p0 ret;\nld.global.v4.u32 {%r0, %r1, %r2, %r3}, "
     "[%qa];\nret;\n"},
    {"atom_u32", "",
     "setp.ne.u32 %p0, %gid, %n;\n@%p0 ret;\natom.global.add.u32 %r0, [%qa], 1;\nret;\n"},
    {"atom_u64", "", "setp.ne.u32 %p0, %gid, %n;\n@%p0 ret;\natom.add.u64 %q0, [%qa], 1;\nret;\n"},
    /* each thread by an offset of its own, after others have used the same allocation */
    {"gather_u8", "",
     "ld.global.s32 %r0, [%qy];\ncvt.s64.s32 %q0, %r0;\nadd.s64 %q0, %q0, %qa;\n"
     "ld.global.u8 %r1, [%q0];\nst.global.u32 [%qz], %r1;\nret;\n"},
    {"gather_u32", "",
     "ld.global.s32 %r0, [%qy];\ncvt.s64.s32 %q0, %r0;\nadd.s64 %q0, %q0, %qa;\n"
     "ld.u32 %r1, [%q0];\nst.global.u32 [%qz], %r1;\nret;\n"},
    {"scatter_u16", "",
     "ld.global.s32 %r0, [%qy];\ncvt.s64.s32 %q0, %r0;\nadd.s64 %q0, %q0, %qa;\n"
     "st.global.u16 [%q0], %gid;\nst.global.u32 [%qz], %gid;\nret;\n"},
    {"async_16", ".shared .align 16 .b8 s[16];\n",
     "setp.ne.u32 %p0, %gid, %n;\n@%p0 ret;\nmov.u32 %r0, s;\n"
     "cp.async.cg.shared.global [%r0], [%qa], 16;\ncp.async.wait_all;\nret;\n"},
    {"store_shared", ".shared .align 16 .b8 s[64];\n",
     "setp.ne.u32 %p0, %gid, 0;\n@%p0 ret;\nmov.u32 %r0, s;\nadd.u32 %r0, %r0, %n;\nst.shared.u32 "
     "[%r0], %t;\nret;\n"},
    {"load_shared_generic", ".shared .align 16 .b8 s[64];\n",
     "mov.u32 %r0, s;\nadd.u32 %r0, %r0, %n;\ncvt.u64.u32 %q0, %r0;\ncvta.shared.u64 %q0, "
     "%q0;\nld.u32 %r1, [%q0];\nret;\n"},
    {"store_local", "",
     ".local .align 16 .b8 frame[64];\nmov.u64 %q0, frame;\ncvt.u64.u32 %q1, %n;\nadd.u64 %q0, "
     "%q0, %q1;\n"
     "st.local.u32 [%q0], %t;\nret;\n"},
    {"load_const", ".const .align 4 .b32 table[4] = {1, 2, 3, 4};\n",
     "mov.u64 %q0, table;\ncvt.u64.u32 %q1, %n;\nadd.u64 %q0, %q0, %q1;\nld.const.u32 %r0, [%q0];\n"
     "st.global.u32 [%qb], %r0;\nret;\n"},
    {"plain_race", ".shared .align 4 .b8 s[4096];\n",
     "mov.u32 %r9, s;\nmad.lo.u32 %r10, %t, 4, %r9;\nst.shared.u32 [%r10], %t;\n"
     "setp.eq.u32 %p0, %n, 0;\n@%p0 bra NO;\nbar.sync 0;\nNO:\n"
     "xor.b32 %r1, %t, 32;\nmad.lo.u32 %r11, %r1, 4, %r9;\nld.shared.u32 %r0, [%r11];\n"
     "st.global.u32 [%qy], %r0;\nret;\n"},
    /* all threads write n's word: n = 0 different values, 1 the same, 2 by atomics */
    {"write_race", "",
     "setp.eq.u32 %p0, %n, 2;\n@%p0 bra ATOMIC;\nsetp.eq.u32 %p1, %n, 1;\nselp.u32 %r0, 7, %gid, "
     "%p1;\n"
     "st.global.u32 [%qa], %r0;\nret;\nATOMIC:\nred.global.add.u32 [%qa], 1;\nret;\n"},
    {"counts", ".shared .align 8 .b8 s[1024];\n",
     "mov.u32 %r9, s;\n"
     "mad.lo.u32 %r10, %t, 8, %r9;\n"
     "setp.ge.u32 %p0, %t, %n;\n"
     "@%p0 ret;\n"
     "ld.global.v2.u32 {%r0, %r1}, [%qa];\n" /* 8 bytes a lane */
     "st.global.u8 [%qy], %r0;\n"            /* 1 */
     "st.shared.u64 [%r10], %q0;\n"          /* 8 */
     "ld.shared.u16 %h0, [%r10];\n"          /* 2 */
     "fma.rn.f32 %r2, %r0, %r1, %r0;\n"      /* 2 */
     "add.rn.f32 %r2, %r0, %r1;\n"           /* 1 */
     "mul.rn.f64 %q1, %q0, %q0;\n"           /* 1 */
     "fma.rn.f16x2 %r3, %r0, %r0, %r0;\n"    /* 4 */
     "fma.rn.bf16 %h1, %h0, %h0, %h0;\n"     /* 2 */
     "red.global.add.u32 [%qc], 1;\n"
     "ret;\n"},
    {"wrong_block", ".shared .align 16 .b8 s[40000];\n",
     "mov.u32 %r0, s;\nst.shared.u32 [%r0], %t;\nret;\n"},
    {"heap",
     ".extern .func (.param .b64 r) malloc(.param .b64 size);\n.extern .func free(.param .b64 "
     "p);\n",
     "{\n.param .b64 size; .param .b64 r;\ncvt.u64.u32 %q0, %n;\nst.param.b64 [size], %q0;\n"
     "call.uni (r), malloc, (size);\nld.param.b64 %q1, [r];\n}\n"
     "mad.wide.u32 %q2, %gid, 8, %qa;\nst.global.u64 [%q2], %q1;\n"
     "{\n.param .b64 p;\nst.param.b64 [p], 0;\ncall.uni free, (p);\n}\n"
     "ret;\n"},
};

const size_t engine_memory_source_count =
    sizeof engine_memory_sources / sizeof engine_memory_sources[0];
