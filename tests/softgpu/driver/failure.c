/* SPDX-License-Identifier: BSD-3-Clause
 * A device that fails on demand: SOFTGPU_BREAK=device:nth:error[,...] lets the nth kernel or
 * library operation on a device fail, and from then on every call to that device, with the given
 * error. A reset does not help. Owns the list of such failures; driver_lock guards it. */
#include "tests/softgpu/driver/stream.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
    bool read;
    struct {
        long nth, seen;
        int error;
    } device[MAX_DEVICES];
} state;

static void read_setting(void)
{
    const char *text = getenv("SOFTGPU_BREAK");
    int used = 0;
    state.read = true;
    while (text != NULL && *text != '\0') {
        int device, error;
        long nth;
        if (sscanf(text, "%d:%ld:%d%n", &device, &nth, &error, &used) != 3 || device < 0 ||
            device >= MAX_DEVICES || nth < 1 || error < 1 ||
            (text[used] != '\0' && text[used] != ',')) {
            fprintf(stderr, "softgpu: SOFTGPU_BREAK=%s: device:nth:error is expected\n", text);
            exit(1);
        }
        state.device[device].nth = nth;
        state.device[device].error = error;
        text += used + (text[used] == ',');
    }
}

bool device_breaks_now(struct device *device)
{
    if (!state.read)
        read_setting();
    long nth = state.device[device->ordinal].nth;
    if (nth == 0 || ++state.device[device->ordinal].seen != nth)
        return false;
    device->broken = (CUresult)state.device[device->ordinal].error;
    for (int i = 0; i < context_count(); i++)
        if (context_at(i)->device == device)
            context_at(i)->sticky = device->broken;
    driver_message("device %d fails with error %d, as SOFTGPU_BREAK says", device->ordinal,
                   (int)device->broken);
    return true;
}
