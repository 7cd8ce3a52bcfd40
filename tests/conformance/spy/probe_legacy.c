/* SPDX-License-Identifier: BSD-3-Clause
 * Probes of the functions without a handle. */
#include "conformance/spy/probe.h"
#include "conformance/spy/spy.h"

#include <cublas.h>

#define KIND(_argument)   OTHER
#define ENTRY(_name, ...) PROBE(void, _name, , __VA_ARGS__)
#include "conformance/spy/legacy.def"
#undef ENTRY

const struct probe legacy_probes[] = {
#define ENTRY(_name, ...) {#_name, probe_##_name},
#include "conformance/spy/legacy.def"
#undef ENTRY
};
const size_t legacy_probe_count = sizeof legacy_probes / sizeof legacy_probes[0];
