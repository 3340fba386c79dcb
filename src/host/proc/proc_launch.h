/*
 * proc_launch.h - starting a supervisor: descriptors, the spec, the spawn.
 */
#ifndef HOST_PROC_LAUNCH_H
#define HOST_PROC_LAUNCH_H

#include <sys/types.h>

#include "base/str.h"
#include "host/proc/proc.h"
#include "super/spec.h"

/* What the host holds of a running program; -1 = closed. */
struct launched {
    pid_t pid;  /* the supervisor's */
    int pid_fd; /* -1: it is over, and not there to be waited for */
    int control, in, out, err;
};

/* The supervisor's program in memory, ready to be run; its fd. */
wend_status launch_image(int *fd, wend_error *err);
/* The spec as the supervisor reads it. */
wend_status launch_pack(const struct proc_spec *spec, struct buf *out,
                        wend_error *err);
wend_status launch(int image_fd, wend_str packed, wend_str input,
                   bool input_open, struct launched *out, wend_error *err);
/* Why it did not start, for the user. */
void launch_say(const struct super_report *r, const char *program,
                const char *cwd, char *out, size_t size);

/* Whether programs can have their own mounts here; waits for the answer. */
bool launch_can_hide(int image_fd);

#endif
