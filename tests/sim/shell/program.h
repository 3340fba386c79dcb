/*
 * program.h - programs that only act as if: output, exit codes, signals,
 * some that never end, some that do not even hear SIGTERM.
 */
#ifndef SIM_SHELL_PROGRAM_H
#define SIM_SHELL_PROGRAM_H

#include "sim.h"
#include "stage.h"

bool say(struct act *a, size_t len);
wend_status stage_new(void *ctx, const struct mem *m, struct loop *loop,
                      struct procs **out, wend_error *err);
void check_programs(struct sim *s);

#endif
