/* SPDX-License-Identifier: BSD-3-Clause
 * Tests of device/graph against a model that is nothing but a list: thousands of random steps with
 * few handles, so that they come back often. And what happens when there is no more room. */
#include "device/graph.h"

#include <check.h>
#include <stdlib.h>
#include <time.h>

enum { HANDLES = 12, STEPS = 200000 };

/* Handle 0 stands for none. */
static struct {
    struct graph_work work;
    int parent; /* of a child graph */
    int known;  /* it has a parent, or GEMMs */
} model[HANDLES];
static struct graph_work model_exec[HANDLES];
static int child_of_exec[HANDLES][HANDLES];
static struct graph_work replaced[HANDLES][HANDLES];

static CUgraph graph(int i)
{
    return (CUgraph)(uintptr_t)(4096 * i);
}

static CUgraphExec exec(int i)
{
    return (CUgraphExec)(uintptr_t)(4096 * i);
}

static CUgraphNode node(int i)
{
    return (CUgraphNode)(uintptr_t)(64 * i);
}

static int any(void)
{
    return 1 + rand() % (HANDLES - 1);
}

static struct graph_work some_work(void)
{
    struct graph_work w = {(uint64_t)(rand() % 4), 0};
    w.converted = w.gemms == 0 ? 0 : (uint64_t)rand() % (w.gemms + 1);
    return w;
}

static int same(struct graph_work a, struct graph_work b)
{
    return a.gemms == b.gemms && a.converted == b.converted;
}

static void model_add(int i, struct graph_work w, int sign)
{
    for (; i != 0; i = model[i].parent) {
        model[i].work.gemms += (uint64_t)sign * w.gemms;
        model[i].work.converted += (uint64_t)sign * w.converted;
    }
}

static void model_forget(int i)
{
    model[i].work = (struct graph_work){0, 0};
    model[i].parent = 0;
    for (int c = 1; c < HANDLES; c++)
        if (model[c].parent == i)
            model_forget(c);
}

static int is_below(int i, int ancestor)
{
    for (; i != 0; i = model[i].parent)
        if (i == ancestor)
            return 1;
    return 0;
}

static int has_children(int i)
{
    for (int c = 1; c < HANDLES; c++)
        if (model[c].parent == i)
            return 1;
    return 0;
}

static void step(void)
{
    const int i = any(), j = any();
    const struct graph_work w = some_work();
    switch (rand() % 8) {
    case 0:
        graph_add_work(graph(i), w);
        model_add(i, w, 1);
        break;
    case 1: /* a new handle: of no graph that is alive */
        if (model[i].parent != 0 || has_children(i))
            break;
        graph_set(graph(i), w);
        model[i].work = w;
        break;
    case 2: /* as a driver would: the child's handle is new */
        if (w.gemms == 0 || is_below(j, i) || model[i].parent != 0 || has_children(i))
            break;
        graph_embed(graph(j), graph(i), w);
        model[i].work = w;
        model_add(j, w, 1);
        model[i].parent = j;
        break;
    case 3:
        if (model[i].parent == 0)
            break;
        graph_unembed(graph(i));
        model_add(model[i].parent, model[i].work, -1);
        model_forget(i);
        break;
    case 4:
        if (model[i].parent != 0)
            break;
        ck_assert(same(graph_forget(graph(i)), model[i].work));
        model_forget(i);
        break;
    case 5:
        exec_set(exec(i), w);
        model_exec[i] = w;
        for (int n = 0; n < HANDLES; n++)
            child_of_exec[i][n] = 0;
        break;
    case 6:
        ck_assert(same(exec_forget(exec(i)), model_exec[i]));
        model_exec[i] = (struct graph_work){0, 0};
        for (int n = 0; n < HANDLES; n++)
            child_of_exec[i][n] = 0;
        break;
    default: {
        const struct graph_work was = {0, 0};
        const struct graph_work old = child_of_exec[i][j] ? replaced[i][j] : was;
        exec_set_child(exec(i), node(j), was, w);
        model_exec[i].gemms += w.gemms - old.gemms;
        model_exec[i].converted += w.converted - old.converted;
        child_of_exec[i][j] = 1;
        replaced[i][j] = w;
        break;
    }
    }
}

START_TEST(agrees_with_a_list)
{
    const unsigned seed = (unsigned)time(NULL);
    srand(seed);
    for (int n = 0; n < STEPS; n++) {
        step();
        const int i = any();
        ck_assert_msg(same(graph_work(graph(i)), model[i].work) &&
                          same(exec_work(exec(i)), model_exec[i]),
                      "seed %u step %d: handle %d", seed, n, i);
    }
}
END_TEST

/* More graphs than there is room for: none has a number that is wrong, and room comes back. */
START_TEST(room_comes_back)
{
    const struct graph_work w = {3, 1};
    int followed = 0;
    for (int round = 0; round < 3; round++) {
        followed = 0;
        for (int i = 1; i <= 20000; i++)
            exec_set(exec(i), w);
        for (int i = 1; i <= 20000; i++) {
            const struct graph_work got = exec_work(exec(i));
            ck_assert(got.gemms == 0 || same(got, w));
            followed += got.gemms != 0;
        }
        ck_assert_int_gt(followed, 7000);
        for (int i = 1; i <= 20000; i++)
            exec_forget(exec(i));
    }
    for (int i = 1; i <= 20000; i++)
        ck_assert_uint_eq(exec_work(exec(i)).gemms, 0);
    graph_forget(NULL);
    graph_add_work(NULL, w);
    ck_assert_uint_eq(graph_work(NULL).gemms, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph");
    TCase *tests = tcase_create("graph");
    tcase_add_test(tests, agrees_with_a_list);
    tcase_add_test(tests, room_comes_back);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
