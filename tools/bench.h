/* SPDX-License-Identifier: BSD-3-Clause
 * apexshim bench and apexshim report. Both return the command's exit status. */
#ifndef APEXSHIM_TOOLS_BENCH_H
#define APEXSHIM_TOOLS_BENCH_H

/* object: the path of libapexshim.so. Arguments are those behind the word. */
int bench_main(int argc, char **argv, const char *object);
int report_main(int argc, char **argv);

#endif
