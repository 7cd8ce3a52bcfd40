/* SPDX-License-Identifier: BSD-3-Clause
 * The description of the simulated GPU and the roofline that turns counted work into modelled
 * seconds. Pure but for reading the file named by SOFTGPU_GPU. */
#include "tests/softgpu/driver/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The keys of a description file, in the form "key value" a line, '#' starts a comment. */
static const char built_in[] =
    "name NVIDIA H200 (software GPU)\ncompute_capability 9.0\nmultiprocessors 132\n"
    "clock_mhz 1830\nmemory_gib 8\nbandwidth_gbs 4800\nlaunch_us 2.2\npcie_gbs 50\n"
    "tflops_f32 67\ntflops_tf32 494.7\ntflops_f16 989.4\ntflops_bf16 989.4\ntflops_f64 34\n"
    "tflops_fp8 1978.9\ntflops_i8 1978.9\nshared_per_block 49152\n"
    "shared_per_block_optin 232448\nshared_per_sm 233472\nregisters_per_sm 65536\n"
    "threads_per_sm 2048\nblocks_per_sm 32\nl2_mib 50\n";

static void fail(const char *path, unsigned line, const char *what)
{
    fprintf(stderr, "softgpu: %s:%u: %s\n", path, line, what);
    exit(1);
}

static bool set_number(struct model *m, const char *key, double value)
{
    static const char *const rates[SOFTGPU_TYPES] = {"tflops_f32", "tflops_tf32", "tflops_f16",
                                                     "tflops_bf16", "tflops_f64", "tflops_fp8",
                                                     "tflops_i8"};
    const struct {
        const char *key;
        int *field;
    } integers[] = {
        {"multiprocessors", &m->multiprocessors},
        {"clock_mhz", &m->clock_mhz},
        {"shared_per_block", &m->shared_per_block},
        {"shared_per_block_optin", &m->shared_per_block_optin},
        {"shared_per_sm", &m->shared_per_sm},
        {"registers_per_sm", &m->registers_per_sm},
        {"threads_per_sm", &m->threads_per_sm},
        {"blocks_per_sm", &m->blocks_per_sm},
    };
    for (int i = 0; i < SOFTGPU_TYPES; i++)
        if (strcmp(key, rates[i]) == 0) {
            m->flops[i] = value * 1e12;
            return true;
        }
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        if (strcmp(key, integers[i].key) == 0) {
            *integers[i].field = (int)value;
            return true;
        }
    if (strcmp(key, "memory_gib") == 0)
        m->memory_bytes = (uint64_t)(value * 1073741824.0);
    else if (strcmp(key, "bandwidth_gbs") == 0)
        m->bandwidth = value * 1e9;
    else if (strcmp(key, "launch_us") == 0)
        m->launch_seconds = value * 1e-6;
    else if (strcmp(key, "pcie_gbs") == 0)
        m->copy_bandwidth = value * 1e9;
    else if (strcmp(key, "l2_mib") == 0)
        m->l2_bytes = (int)(value * 1048576.0);
    else
        return false;
    return true;
}

static void parse_line(struct model *m, const char *path, unsigned number, char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    char *key = line + strspn(line, " \t");
    size_t n = strcspn(key, " \t");
    if (n == 0)
        return;
    char *value = key + n + strspn(key + n, " \t");
    key[n] = '\0';
    for (size_t end = strlen(value); end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t');)
        value[--end] = '\0';
    if (strcmp(key, "name") == 0) {
        snprintf(m->name, sizeof m->name, "%s", value);
        return;
    }
    char *end;
    errno = 0;
    double x = strtod(value, &end);
    if (strcmp(key, "compute_capability") == 0) {
        if (sscanf(value, "%d.%d", &m->major, &m->minor) != 2)
            fail(path, number, "compute_capability must be like 9.0");
        return;
    }
    if (end == value || *end != '\0' || errno != 0 || x <= 0)
        fail(path, number, "a positive number is expected");
    if (!set_number(m, key, x))
        fail(path, number, "unknown key");
}

void model_load(struct model *model)
{
    char line[256], text[sizeof built_in];
    unsigned number = 0;
    memset(model, 0, sizeof *model);
    memcpy(text, built_in, sizeof text);
    char *save = NULL;
    for (char *l = strtok_r(text, "\n", &save); l != NULL; l = strtok_r(NULL, "\n", &save)) {
        snprintf(line, sizeof line, "%s", l);
        parse_line(model, "built-in description", ++number, line);
    }
    const char *path = getenv("SOFTGPU_GPU");
    if (path != NULL && path[0] != '\0') {
        FILE *file = fopen(path, "r");
        if (file == NULL)
            fail(path, 0, strerror(errno));
        for (number = 1; fgets(line, sizeof line, file) != NULL; number++)
            parse_line(model, path, number, line);
        fclose(file);
    }
    const char *memory = getenv("SOFTGPU_MEMORY");
    if (memory != NULL && memory[0] != '\0')
        model->memory_bytes = strtoull(memory, NULL, 10);
}

double model_seconds(const struct model *model, const struct softgpu_cost *cost)
{
    double memory = (double)cost->bytes / model->bandwidth;
    double arithmetic = (double)cost->flop / model->flops[cost->type];
    return (memory > arithmetic ? memory : arithmetic) + model->launch_seconds;
}
