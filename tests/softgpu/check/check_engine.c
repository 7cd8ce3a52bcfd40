/* SPDX-License-Identifier: BSD-3-Clause
 * The engine beyond single instructions: control flow, barriers, memory, faults, loading, races,
 * arenas. --list prints the mnemonics of the hand-written sources. */
#include "engine_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int list(void)
{
    const struct engine_source *source;
    int status = EXIT_SUCCESS;

    for (size_t i = 0; (source = engine_source_at(i)); i++) {
        struct sg_arena *vars = sg_arena_new("variables", 1 << 20);
        char *text = engine_ptx(source->name), *error = NULL;
        const char *ptx = text;
        size_t length = strlen(text);
        struct sg_module *module = sg_module_load(&ptx, &length, 1, source->name, vars, &error);

        for (unsigned m = 0; module && m < sg_module_mnemonics(module); m++)
            printf("%s\n", sg_module_mnemonic(module, m));
        if (module) {
            sg_module_unload(module);
        } else {
            fprintf(stderr, "%s\n", error);
            status = EXIT_FAILURE;
        }
        free(error);
        free(text);
        sg_arena_delete(vars);
    }
    return status;
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("engine");
    SRunner *runner;
    int failed;

    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list();
    suite_add_tcase(suite, tcase_flow());
    suite_add_tcase(suite, tcase_warp());
    suite_add_tcase(suite, tcase_memory());
    suite_add_tcase(suite, tcase_fault());
    suite_add_tcase(suite, tcase_load());
    suite_add_tcase(suite, tcase_limits());
    suite_add_tcase(suite, tcase_mutate());
    suite_add_tcase(suite, tcase_race());
    suite_add_tcase(suite, tcase_arena());
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
