/*
 * program.c - programs that only act as if: output, exit codes, signals,
 * some that never end, some that do not even hear SIGTERM.
 */
#include <signal.h>

#include "net.h"
#include "program.h"
#include "record.h"
#include "served.h"

/* False: nothing listens any more. */
bool say(struct act *a, size_t len)
{
    static char text[32 << 10];
    uint32_t stream = 1 + chance_below(&a->stage->sim->chance, 2);

    memset(text, 'o', sizeof text);
    text[len - 1] = '\n';
    a->inside = true;
    a->events.out(a->ctx, (int)stream, text, len);
    a->inside = false;
    a->said += len;
    if (!a->freed)
        return true;
    act_gone(a);
    return false;
}

static void play_end(struct act *a)
{
    switch (a->kind) {
    case PROGRAM_GOOD: tell_exit(a, PROC_EXITED, 0, ""); break;
    case PROGRAM_FAILS: tell_exit(a, PROC_EXITED, 3, "p: exit code 3"); break;
    case PROGRAM_DIES:
        tell_exit(a, PROC_SIGNALED, SIGSEGV, "p: ended by signal 11");
        break;
    case PROGRAM_MISSING:
        tell_exit(a, PROC_NOT_STARTED, 0, "p: no such program");
        break;
    case PROGRAM_FLOODS:
    case PROGRAM_HANGS:
    case PROGRAM_STUBBORN:
    case PROGRAM_KINDS: break; /* it only goes when it is made to */
    }
}

static void on_act(struct world_event *e)
{
    struct act *a =
        (struct act *)(void *)((char *)e - offsetof(struct act, event));
    struct sim *s = a->stage->sim;

    if (a->stopped) {
        tell_exit(a, PROC_STOPPED, 0, "p: stopped");
        return;
    }
    if (!a->of) { /* a server: nothing writes to it any more */
        tell_exit(a, PROC_EXITED, 0, "");
        return;
    }
    if (a->kind == PROGRAM_FLOODS && a->said > 2 << 20) {
        tell_exit(a, PROC_OUTPUT, 0, "p: it wrote too much and was killed");
        return;
    }
    if (a->kind != PROGRAM_FLOODS && !a->pieces) {
        play_end(a);
        return;
    }
    a->pieces -= a->pieces > 0;
    if (say(a, a->kind == PROGRAM_FLOODS ? 32 << 10
                                         : 1 + chance_below(&s->chance, 80)))
        again_in(
            a, chance_below(&s->chance, a->kind == PROGRAM_FLOODS ? 10 : 200));
}

/* ---- As struct procs ----------------------------------------------------- */

static wend_str value_of(const char *const *env, const char *name)
{
    size_t len = strlen(name);

    for (; env && *env; env++)
        if (!strncmp(*env, name, len) && (*env)[len] == '=')
            return str_of(*env + len + 1);
    return STR_NONE;
}

static wend_status stage_start(struct procs *base, const struct proc_spec *spec,
                               const struct proc_events *events, void *ctx,
                               struct proc **out, wend_error *err)
{
    struct stage *stage = (struct stage *)(void *)base;
    struct sim *s = stage->sim;
    struct act *a = calloc(1, sizeof *a);
    wend_str key = value_of(spec->env, "WEND_IDEMPOTENCY_KEY");

    if (!a)
        abort();
    a->base.ops = base->ops;
    a->stage = stage;
    a->events = *events;
    a->ctx = ctx;
    a->event.fire = on_act;
    a->grace_ms = spec->grace_ms ? spec->grace_ms : PROC_GRACE_MS;
    a->next = stage->live;
    if (spec->input_open) {
        a->heard.mem = &libc_mem;
        stage->live = a;
        s->head.counters->servers++;
        *out = &a->base;
        return WEND_OK;
    }
    a->of = check_call(s, key);
    if (chance_of(&s->chance, s->mood.never))
        a->kind = 1 + chance_below(&s->chance, PROGRAM_KINDS - 1);
    s->head.counters->programs++;
    if (!s->draining && chance_of(&s->chance, s->mood.never / 8)) {
        free(a);
        if (err)
            snprintf(err->message, sizeof err->message, "p: no processes left");
        return WEND_E_IO;
    }
    a->pieces = chance_below(&s->chance, 5);
    stage->live = a;
    again_in(a, chance_below(&s->chance, 300));
    *out = &a->base;
    return WEND_OK;
}

static wend_status stage_write(struct proc *base, const char *bytes, size_t len,
                               wend_error *err)
{
    struct act *a = (struct act *)(void *)base;

    (void)err;
    if (a->of || a->ended || a->stopped)
        return WEND_E_IO;
    served_hears(a, bytes, len);
    return WEND_OK;
}

static void stage_close(struct proc *base)
{
    struct act *a = (struct act *)(void *)base;

    if (!a->of && !a->ended)
        again_in(a, chance_below(&a->stage->sim->chance, 50));
}

static void stage_stop(struct proc *base)
{
    struct act *a = (struct act *)(void *)base;

    if (a->stopped || a->ended)
        return;
    a->stopped = true;
    again_in(a, a->kind == PROGRAM_STUBBORN ? a->grace_ms : 1);
}

/* For a bug: it is not killed. */
static void stage_let_go(struct proc *base)
{
    struct act *a = (struct act *)(void *)base;
    const struct bug *bug = a->stage->sim->head.bug;

    a->freed = true;
    world_clear(&a->stage->sim->world, &a->event);
    if (!a->inside && !(bug && bug->program_stays && !a->ended))
        act_gone(a);
}

static void stage_end(struct procs *base)
{
    struct stage *stage = (struct stage *)(void *)base;

    for (const struct act *a = stage->live; a; a = a->next)
        if (!a->freed && a->of)
            broken(stage->sim, LAW_PROGRAM,
                   "run %u: one is left for the runtime", a->of->place);
    while (stage->live)
        act_gone(stage->live);
    stage->sim->stage = NULL;
    free(stage);
}

wend_status stage_new(void *ctx, const struct mem *m, struct loop *loop,
                      struct procs **out, wend_error *err)
{
    static const struct proc_ops ops = {stage_end,   stage_start, stage_write,
                                        stage_close, stage_stop,  stage_let_go,
                                        NULL};
    struct stage *stage = calloc(1, sizeof *stage);

    (void)m, (void)loop, (void)err;
    if (!stage)
        abort();
    stage->base.ops = &ops;
    stage->sim = sim_of_world(ctx);
    stage->sim->stage = stage;
    *out = &stage->base;
    return WEND_OK;
}

/* Nothing would stop a program of a run that is over. */
void check_programs(struct sim *s)
{
    for (const struct act *a = s->stage ? s->stage->live : NULL; a; a = a->next)
        if (!a->of || a->of->has_forks) /* whose calls have the same keys */
            continue;
        else if (a->of->parent ? a->of->end_acked
                               : !a->of->handle || a->of->handle->over)
            broken(s, LAW_PROGRAM, "run %u is over, its program is not",
                   a->of->place);
}
