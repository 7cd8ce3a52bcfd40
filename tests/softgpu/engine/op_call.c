/* SPDX-License-Identifier: BSD-3-Clause
 * Calls of device functions and the parameter space; the functions that the device runtime has:
 * vprintf, malloc, free, __assertfail. A callee's frame lies behind the caller's; arguments and
 * results are copied between them row by row. */
#include "control.h"
#include "lanes.h"
#include "memory.h"
#include "print.h"
#include "ptx.h"
#include "sched.h"

/* Copies words of the lanes of `mask` from one frame to another. */
static void copy_words(char *to, const char *from, uint32_t words, uint32_t mask)
{
    for (uint32_t k = 0; k < words; k++) {
        uint32_t *d = (uint32_t *)(void *)(to + k * ROW);
        const uint32_t *s = (const uint32_t *)(const void *)(from + k * ROW);

        EACH_LANE d[l] = mask >> l & 1 ? s[l] : d[l];
    }
}

static const struct routine *callee_of(const struct warp *w, uint64_t handle)
{
    uint64_t index = (handle - (windows_at + (uint64_t)WINDOW_CODE * WINDOW_BYTES)) / 16 - 1;

    return index < w->program->nroutines && handle % 16 == 0 && w->program->routine[index].entry
               ? &w->program->routine[index] : NULL;
}

OP(call)
{
    const struct call *c = i->call;
    const struct routine *to = c->callee;
    char *frame = w->base[BASE_FRAME], *next = frame + c->caller->frame_bytes;
    uint64_t *ret = (uint64_t *)(void *)(next + FRAME_RETURN);
    uint32_t *local = (uint32_t *)(void *)(next + FRAME_LOCAL);
    uint32_t *stack = (uint32_t *)(void *)(next + FRAME_STACK);
    const uint32_t *own = (const uint32_t *)(const void *)(frame + FRAME_LOCAL);
    unsigned lead = (unsigned)__builtin_ctz(w->mask);

    if (!to) {
        const uint64_t *a = ROW_OF(uint64_t, 1);
        uint32_t same = 0;

        to = callee_of(w, a[lead]);
        if (!to)
            return fault(w, i, SG_FAULT_ADDRESS, lead, a[lead], 0, false,
                         "call of 0x%llx, which is no function", (unsigned long long)a[lead]);
        EACH_SET(w->mask) {
            if (a[l] == a[lead])
                same |= 1u << l;
        }
        if (same != w->mask) {
            uint32_t rest = w->mask & ~same;

            count_run(w, i);
            leave(w, rest, i);
        }
    }
    if (next + to->frame_bytes > w->frames_end)
        return fault(w, i, SG_FAULT_RESOURCES, lead, 0, 0, false, "stack overflow in %s", to->name);
    for (uint32_t k = 0; k < c->nargs && k < to->nparams; k++) {
        uint32_t words = c->arg_words[k] < to->param_words[k] ? c->arg_words[k] : to->param_words[k];

        copy_words(next + to->param_off[k], frame + c->arg_off[k], words, w->mask);
    }
    EACH_SET(w->mask) {
        ret[l] = (uintptr_t)(i + 1);
        local[l] = (frame == w->frames ? 0 : own[l]) + c->caller->local_bytes;
        stack[l] = w->stack[l];
        if (local[l] + to->local_bytes > w->program->local_bytes)
            return fault(w, i, SG_FAULT_RESOURCES, l, 0, 0, false, "local memory overflow in %s",
                         to->name);
    }
    count_run(w, i + 1);
    if (w->mask == w->alive && w->whole) {
        w->base[BASE_FRAME] = next;
        w->run = to->entry;
        return to->entry;
    }
    w->base[BASE_FRAME] = next;
    park(w, to->entry);
    return reselect(w);
}

OP(return_op)
{
    char *frame = w->base[BASE_FRAME];
    const uint64_t *ret = (const uint64_t *)(const void *)(frame + FRAME_RETURN);
    uint64_t pc = ret[__builtin_ctz(w->mask)];
    const struct insn *to = (const struct insn *)(uintptr_t)pc;
    const struct call *c = to[-1].call;
    const struct routine *from = c->callee;
    char *caller = frame - c->caller->frame_bytes;
    uint32_t same = 0;

    EACH_SET(w->mask) {
        if (ret[l] == pc)
            same |= 1u << l;
    }
    count_run(w, i + 1);
    w->run = i;
    if (same != w->mask) {
        uint32_t rest = w->mask & ~same;

        leave(w, rest, i);
    }
    if (!from) {
        const struct insn *call_insn = to - 1;
        const uint64_t *a = (const uint64_t *)(const void *)
                            ((call_insn->base[1] == BASE_FRAME ? caller : w->base[call_insn->base[1]]) +
                             call_insn->off[1]);

        from = callee_of(w, a[__builtin_ctz(w->mask)]);
    }
    for (uint32_t k = 0; from && k < c->nrets && k < from->nrets; k++) {
        uint32_t words = c->ret_words[k] < from->ret_words[k] ? c->ret_words[k] : from->ret_words[k];

        copy_words(caller + c->ret_off[k], frame + from->ret_off[k], words, w->mask);
    }
    EACH_SET(w->mask)
        w->stack[l] = ((const uint32_t *)(const void *)(frame + FRAME_STACK))[l];
    w->base[BASE_FRAME] = caller;
    if (w->mask == w->alive && w->whole) {
        w->run = to;
        return to;
    }
    park(w, to);
    return reselect(w);
}

/* Address of lane l's byte `at` of the frame's parameter words. */
static char *param_byte(const struct warp *w, uint64_t at, uint32_t l)
{
    return w->base[BASE_FRAME] + (at / 4) * ROW + 4 * l + at % 4;
}

static uint64_t param_address(const struct warp *w, const struct insn *i, uint32_t l)
{
    const char *row = w->base[i->base[1]] + i->off[1];

    if (i->kind & MEM_ADDRESS_32)
        return ((const uint32_t *)(const void *)row)[l] + (uint64_t)i->imm;
    return ((const uint64_t *)(const void *)row)[l] + (uint64_t)i->imm;
}

/* Behind the frame's header, and in the memory of this warp's frames to the last byte. */
static bool param_there(const struct warp *w, const struct insn *i, uint64_t at)
{
    uint64_t words = (uint64_t)(w->frames_end - w->base[BASE_FRAME]) / ROW;

    return at % (i->size < 4 ? i->size : 4) == 0 && at / 4 >= FRAME_HEADER / ROW && at / 4 < words &&
           (at + i->size - 1) / 4 < words;
}

OP(param_load)
{
    char *d = w->base[BASE_FRAME] + i->off[0];

    EACH_SET(w->mask) {
        uint64_t at = param_address(w, i, l), v = 0;

        if (!param_there(w, i, at))
            return fault(w, i, SG_FAULT_MISALIGNED, l, at, i->size, false, "bad parameter address");
        if (i->size == 8) {
            memcpy(&v, param_byte(w, at, l), 4);
            memcpy((char *)&v + 4, param_byte(w, at + 4, l), 4);
        } else {
            memcpy(&v, param_byte(w, at, l), i->size);
        }
        if (i->kind & MEM_SIGNED)
            v = (uint64_t)((int64_t)(v << (64 - 8 * i->size)) >> (64 - 8 * i->size));
        memcpy(d + l * i->n, &v, i->n);
    }
    return i + 1;
}

OP(param_store)
{
    const char *s = w->base[i->base[2]] + i->off[2];

    EACH_SET(w->mask) {
        uint64_t at = param_address(w, i, l), v = 0;

        if (!param_there(w, i, at))
            return fault(w, i, SG_FAULT_MISALIGNED, l, at, i->size, true, "bad parameter address");
        memcpy(&v, s + l * i->n, i->n);
        if (i->size == 8) {
            memcpy(param_byte(w, at, l), &v, 4);
            memcpy(param_byte(w, at + 4, l), (char *)&v + 4, 4);
        } else {
            memcpy(param_byte(w, at, l), &v, i->size);
        }
    }
    return i + 1;
}

/* Address of a local variable of a device function. */
OP(local_base)
{
    const uint32_t *own = (const uint32_t *)(const void *)(w->base[BASE_FRAME] + FRAME_LOCAL);

    EACH_SET(w->mask) {
        uint64_t v = own[l] + (uint64_t)i->imm;

        memcpy(w->base[BASE_FRAME] + i->off[0] + l * i->size, &v, i->size);
    }
    return i + 1;
}

/* alloca: source 1 the size, n the width of the address; imm the alignment */
OP(alloca_op)
{
    const uint64_t *bytes = ROW_OF(uint64_t, 1);
    const struct routine *at = i->data;
    const uint32_t *own = (const uint32_t *)(const void *)(w->base[BASE_FRAME] + FRAME_LOCAL);

    EACH_SET(w->mask) {
        uint64_t used = (w->base[BASE_FRAME] == w->frames ? 0 : own[l]) + at->local_bytes, to;

        if (bytes[l] > w->stack[l] || w->stack[l] - bytes[l] < used)
            return fault(w, i, SG_FAULT_RESOURCES, l, 0, 0, false, "alloca of %llu bytes overflows",
                         (unsigned long long)bytes[l]);
        to = (w->stack[l] - bytes[l]) & ~(uint64_t)(i->imm - 1);
        if (to < used)
            return fault(w, i, SG_FAULT_RESOURCES, l, 0, 0, false, "alloca of %llu bytes overflows",
                         (unsigned long long)bytes[l]);
        w->stack[l] = (uint32_t)to;
        memcpy(w->base[BASE_FRAME] + i->off[0] + l * i->n, &to, i->n);
    }
    return i + 1;
}

/* stacksave: where alloca has come to; stackrestore: back to there */
OP(stack_op)
{
    EACH_SET(w->mask) {
        uint64_t v = w->stack[l];

        if (i->kind) {
            v = 0;
            memcpy(&v, w->base[i->base[1]] + i->off[1] + l * i->n, i->n);
            w->stack[l] = v > w->program->local_bytes ? w->program->local_bytes : (uint32_t)v;
        } else {
            memcpy(w->base[BASE_FRAME] + i->off[0] + l * i->n, &v, i->n);
        }
    }
    return i + 1;
}

/* Argument k of a runtime function, as up to 8 bytes. */
static uint64_t argument(const struct warp *w, const struct call *c, uint32_t k, uint32_t l)
{
    uint64_t v = 0;

    if (k >= c->nargs)
        return 0;
    for (uint32_t n = 0; n < c->arg_words[k] && n < 2; n++)
        memcpy((char *)&v + 4 * n, w->base[BASE_FRAME] + c->arg_off[k] + n * ROW + 4 * l, 4);
    return v;
}

static void result(struct warp *w, const struct call *c, uint32_t l, uint64_t v)
{
    for (uint32_t n = 0; c->nrets && n < c->ret_words[0] && n < 2; n++)
        memcpy(w->base[BASE_FRAME] + c->ret_off[0] + n * ROW + 4 * l, (const char *)&v + 4 * n, 4);
}

OP(printf_op)
{
    EACH_SET(w->mask) {
        int n = device_print(w, i, l, argument(w, i->call, 0, l), argument(w, i->call, 1, l));

        if (w->event == EVENT_FAULT)
            return STOP;
        result(w, i->call, l, (uint64_t)(int64_t)n);
    }
    return i + 1;
}

OP(malloc_op)
{
    struct sg_arena *heap = w->worker->run->launch->heap;

    EACH_SET(w->mask) {
        uint64_t bytes = argument(w, i->call, 0, l);

        result(w, i->call, l, heap ? (uintptr_t)sg_arena_alloc(heap, bytes) : 0);
    }
    return i + 1;
}

OP(free_op)
{
    struct sg_arena *heap = w->worker->run->launch->heap;

    EACH_SET(w->mask) {
        uint64_t p = argument(w, i->call, 0, l);

        if (p && (!heap || sg_arena_free(heap, (void *)(uintptr_t)p)))
            return fault(w, i, SG_FAULT_ADDRESS, l, p, 0, true,
                         "free of 0x%llx, which malloc did not return", (unsigned long long)p);
    }
    return i + 1;
}

/* __assertfail(message, file, line, function, character size) */
OP(assert_op)
{
    uint32_t l = (uint32_t)__builtin_ctz(w->mask);
    char message[128], file[128], function[128];

    device_text(w, i, l, argument(w, i->call, 0, l), message, sizeof message);
    device_text(w, i, l, argument(w, i->call, 1, l), file, sizeof file);
    device_text(w, i, l, argument(w, i->call, 3, l), function, sizeof function);
    return fault(w, i, SG_FAULT_ASSERT, l, 0, 0, false, "%s:%u: %s: assertion `%s' failed", file,
                 (unsigned)argument(w, i->call, 2, l), function, message);
}

const op_fn op_call = call, op_return = return_op, op_printf = printf_op, op_malloc = malloc_op;
const op_fn op_free = free_op, op_assert = assert_op, op_param_load = param_load;
const op_fn op_param_store = param_store, op_local_base = local_base;
const op_fn op_alloca = alloca_op, op_stack = stack_op;
