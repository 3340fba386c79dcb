/*
 * proc_pool.h - what proc.c and proc_line.c share.
 */
#ifndef HOST_PROC_POOL_H
#define HOST_PROC_POOL_H

#include "host/loop_uv.h"
#include "host/proc/proc_launch.h"

enum {
    READ_BYTES = 64 << 10,
    MESSAGE_MAX = 512,
    PROGRAM_MAX = 128, /* of its name, in messages */
};

enum proc_state { WAITING, RUNNING, ENDED };

/* A descriptor on the loop. */
struct proc_line {
    struct program *proc;
    uv_poll_t poll;
    int fd; /* -1 = not open */
};

/* The index of a stream is its number. */
enum { IN, OUT, ERR, CONTROL, PID, LINES };

struct program {
    struct proc base;
    struct programs *ps;
    struct program *next, *prev; /* all of ps */
    struct program *queue_next;  /* those that wait */
    struct proc_events events;
    void *ctx;
    enum proc_state state;
    bool counted; /* among those of PROC_RUNNING_MAX */
    bool stopped, told;
    bool freed; /* it has no listener */
    struct proc_line lines[LINES];
    int handles; /* of uv, not closed yet */
    pid_t pid, child;
    struct buf packed, input; /* until it starts; input: what waits */
    size_t input_at;
    bool input_open, input_ends;
    size_t got[3], bytes_max; /* of output, by stream */
    int over;                 /* the stream that was too long */
    struct proc_end end;
    char message[MESSAGE_MAX], program[PROGRAM_MAX], cwd[PROGRAM_MAX];
};

struct programs {
    struct procs base;
    struct mem mem;
    uv_loop_t *uv;
    uv_timer_t kick; /* for what must not happen from inside a call */
    uv_timer_cb on_kick;
    bool closing, kick_open;
    bool hide_asked, hides;
    int image_fd, running, count;
    struct program *all, *queue, **queue_end;
    struct program *stopped; /* while they waited; their ends are to be told */
    char *room;              /* READ_BYTES */
};

/* ---- proc_line.c --------------------------------------------------------- */
/* Free what is no longer held. */
void proc_release(struct program *p);
void procs_release(struct programs *ps);
/* Takes the fd in any case; -1 is no line. */
wend_status line_open(struct program *p, int i, int fd, int events,
                      uv_poll_cb fn);
void line_close(struct proc_line *l);
void line_order(struct program *p, enum super_order what);
/* One piece of a stream; false when there is none now. */
bool line_read(struct program *p, int i);
void on_line_output(uv_poll_t *poll, int status, int events);
void on_line_input(uv_poll_t *poll, int status, int events);

#endif
