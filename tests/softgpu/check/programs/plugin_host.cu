// SPDX-License-Identifier: BSD-3-Clause
// Loads a plugin that brings kernels, closes it, and loads it again: its variables start anew.
#include "check.h"

#include <dlfcn.h>

__global__ void store(int *p)
{
    *p = 11;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    for (int round = 0; round < 2; round++) {
        void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (plugin == nullptr)
            std::fprintf(stderr, "%s\n", dlerror());
        CHECK(plugin != nullptr);
        int (*run)() = (int (*)())dlsym(plugin, "plugin_run");
        CHECK(run != nullptr);
        CHECK(run() == 1);
        CHECK(run() == 2);
        CHECK(dlclose(plugin) == 0);
        int value = 0, *p;
        OK(cudaMalloc(&p, sizeof *p));
        store<<<1, 1>>>(p);
        OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
        CHECK(value == 11);
        OK(cudaFree(p));
    }
    return 0;
}
