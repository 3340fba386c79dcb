/*
 * waiting.c - the calls and actions of a run that wait for approval, by its
 * log: for those who answer from another process.
 */
#include "cli/ask/waiting.h"

#include <string.h>
#include <unistd.h>

#include "cli/ask/question.h"
#include "cli/term.h"
#include "cli/view/grid.h"

/* ---- From the log -------------------------------------------------------- */

struct waiting_log {
    struct waiting *w;
    const char *id;
};

static void drop(struct waiting *w, wend_str subject)
{
    for (size_t i = w->from; i < w->count; i++)
        if (str_eq(approval_subject(w->list[i].ask), subject)) {
            wend_event_free(w->list[i].ask);
            w->count--;
            memmove(w->list + i, w->list + i + 1,
                    (w->count - i) * sizeof *w->list);
            return;
        }
}

static void add(struct waiting *w, const char *id, const wend_event *ask)
{
    struct waiting_call *c;

    drop(w, approval_subject(ask)); /* asked again after a resume */
    c = &w->list[w->count];
    if (w->count == WAITING_MAX || wend_event_clone(ask, &c->ask) != WEND_OK)
        return;
    str_copy(c->run, sizeof c->run, str_of(id));
    w->count++;
}

static void keep(struct buf *b, wend_str text)
{
    b->mem = &cli_mem;
    buf_clear(b);
    buf_str(b, text);
}

static void note(void *ctx, const wend_event *ev)
{
    const struct waiting_log *l = ctx;
    const wend_ev_approval_answer *answer = &ev->u.approval_answer;

    if (ev->type == WEND_APPROVAL_ASK) {
        add(l->w, l->id, ev);
    } else if (ev->type == WEND_APPROVAL_ANSWER) {
        drop(l->w, answer->call.ptr ? answer->call : answer->action);
    } else if (ev->type == WEND_CALL_END) {
        drop(l->w, ev->u.call_end.call);
    } else if (ev->type == WEND_ACTION_END) {
        drop(l->w, ev->u.action_end.action);
    } else if (ev->type == WEND_RUN_START) {
        keep(&l->w->cwd, ev->u.run_start.cwd);
    } else if (str_is(ev->u.warning.code, "arguments_refused")) {
        l->w->refused = ev->seq;
        keep(&l->w->why, ev->u.warning.message);
    }
}

static int read_log(struct cli *cli, const char *id, struct waiting *w)
{
    const wend_replay_options o = {.size = sizeof o,
                                   .filter.types =
                                       TYPE(RUN_START) | TYPE(APPROVAL_ASK) |
                                       TYPE(APPROVAL_ANSWER) | TYPE(CALL_END) |
                                       TYPE(ACTION_END) | TYPE(WARNING)};

    w->from = w->count;
    return each_event(cli, id, &o, note, &(struct waiting_log){w, id});
}

void waiting_free(struct waiting *w)
{
    while (w->count)
        wend_event_free(w->list[--w->count].ask);
}

int waiting_find(struct cli *cli, const char *id, struct waiting *w)
{
    waiting_free(w);
    return read_log(cli, id, w);
}

struct waiting_below {
    struct cli *cli;
    const char *top;
    struct waiting *w;
};

static int look_below(void *ctx, const wend_run_info *info)
{
    struct waiting_below *b = ctx;
    char id[40], parent[40];

    str_copy(id, sizeof id, info->run);
    for (int i = 0; i < ANCESTORS_MAX && *id; i++) {
        parent[0] = '\0';
        run_state(b->cli, id, parent);
        if (!strcmp(parent, b->top)) {
            str_copy(id, sizeof id, info->run);
            return read_log(b->cli, id, b->w);
        }
        memcpy(id, parent, sizeof id);
    }
    return EXIT_DONE;
}

int waiting_find_below(struct cli *cli, const char *id, struct waiting *w)
{
    const wend_list_options o = {.size = sizeof o, .status = "waiting"};

    return each_run(cli, &o, -1, look_below,
                    &(struct waiting_below){cli, id, w});
}

const wend_event *waiting_call(const struct waiting *w, const char *call)
{
    for (size_t i = 0; i < w->count; i++)
        if (str_is(approval_subject(w->list[i].ask), call))
            return w->list[i].ask;
    return NULL;
}

/* ---- For the user -------------------------------------------------------- */

/* The preview reads files as the run would. */
static int print_one(const struct cli *cli, const struct waiting *w)
{
    const wend_ev_approval_ask *e = &w->list[0].ask->u.approval_ask;
    struct buf text = {.mem = &cli_mem};
    bool colour = term_colour(STDOUT_FILENO);
    struct preview p;

    if (w->cwd.len && chdir(w->cwd.ptr))
        complain(0, "cannot read the files of the run in %s", w->cwd.ptr);
    preview_make(&p, &cli_mem, e->name, e->args_json);
    term_line(&text, approval_subject(w->list[0].ask), 100);
    buf_cstr(&text, ": ");
    term_line(&text, e->name, 100);
    if (p.head.len) {
        buf_cstr(&text, ", which ");
        term_line(&text, buf_view(&p.head), 300);
    }
    buf_cstr(&text, "; asked ");
    term_age(&text, wall_us() - w->list[0].ask->time_us);
    buf_cstr(&text, " ago\n");
    preview_text(&p, &text, colour);
    question_reasons(&text, e, cli->set.verbose);
    preview_free(&p);
    return print_buf(&text);
}

static int print_several(const struct waiting *w)
{
    static const struct grid_column columns[] = {
        {"CALL", 40, 0, false},
        {"TOOL", 40, 0, false},
        {"AGE", 6, 2, true},
        {"ARGUMENTS", 4096, 0, false},
    };
    struct buf text = {.mem = &cli_mem}, age = {.mem = &cli_mem};
    int64_t now_us = wall_us();
    struct grid t;

    grid_begin(&t, columns, 4, term_width(STDOUT_FILENO), &text);
    for (size_t i = 0; i < w->count; i++) {
        const wend_ev_approval_ask *e = &w->list[i].ask->u.approval_ask;

        buf_clear(&age);
        term_age(&age, now_us - w->list[i].ask->time_us);
        grid_cell(&t, approval_subject(w->list[i].ask));
        grid_cell(&t, e->name);
        grid_cell(&t, buf_view(&age));
        grid_cell(&t, e->args_json);
    }
    grid_end(&t);
    return print_buf(&text);
}

/* Those of a run stand together; each run has its own command. */
static void say_how(const struct cli *cli, const struct waiting *w)
{
    const char *store = question_store(&cli->set);
    struct buf text = {.mem = &cli_mem};

    for (size_t i = 0; i < w->count; i++) {
        const struct waiting_call *c = &w->list[i];
        bool alone = (!i || strcmp(c->run, c[-1].run) != 0) &&
                     (i + 1 == w->count || strcmp(c->run, c[1].run) != 0);

        if (i && !strcmp(c->run, c[-1].run))
            continue;
        buf_clear(&text);
        question_commands(&text, store, c->run,
                          alone ? approval_subject(c->ask) : STR("CALL"));
        complain(0, "%s", text.ptr);
    }
}

int waiting_print(const struct cli *cli, const struct waiting *w)
{
    int code = w->count == 1 ? print_one(cli, w) : print_several(w);

    if (!code)
        say_how(cli, w);
    return code;
}
