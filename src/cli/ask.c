/*
 * ask.c - calls that wait for a yes or a no from the terminal.
 */
#include "cli/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/term.h"

enum { ARGS_SHOWN_MAX = 8 << 10 }; /* then it is said how much is missing */

void ask_open(struct ask *a)
{
    memset(a, 0, sizeof *a);
    a->tty = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

void ask_close(struct ask *a)
{
    for (size_t i = 0; i < a->count; i++)
        wend_event_free(a->queue[i]);
    a->count = 0;
    if (a->tty >= 0)
        close(a->tty);
    a->tty = -1;
}

bool ask_waits(const struct ask *a)
{
    return a->tty >= 0 && a->shown;
}

static void put_reasons(struct view *v, const wend_ev_approval_ask *e)
{
    struct buf *out = view_talk(v);

    buf_fmt(out, "  risk: %s", wend_risk_name(e->risk));
    if (e->reason.len) {
        buf_cstr(out, "; ");
        term_line(out, e->reason, 500);
    }
    if (v->verbose && e->layers_json.len) {
        buf_cstr(out, "\n  layers: ");
        term_text(out, e->layers_json);
    }
    buf_cstr(out, "\n");
}

/* Everything that is allowed by a yes is on the screen, or said to be
 * missing. */
static void show(struct ask *a, struct view *v)
{
    const wend_ev_approval_ask *e;
    struct buf *out;
    wend_str args;

    if (a->shown || !a->count)
        return;
    e = &a->queue[0]->u.approval_ask;
    out = view_talk(v);
    args = e->args_json;
    if (args.len > ARGS_SHOWN_MAX)
        args.len = ARGS_SHOWN_MAX;
    buf_cstr(out, "\nThe model wants to call ");
    term_line(out, e->name, 100);
    buf_cstr(out, " with\n  ");
    term_text(out, args);
    if (args.len < e->args_json.len)
        buf_fmt(out, "\n  ... and %zu bytes that are not shown",
                e->args_json.len - args.len);
    buf_char(out, '\n');
    put_reasons(v, e);
    buf_cstr(out, "allow? [y]es [n]o ");
    /* What was typed before the question is no answer to it. */
    tcflush(a->tty, TCIFLUSH);
    a->line_len = 0;
    a->shown = true;
}

static void drop(struct ask *a, size_t i)
{
    wend_event_free(a->queue[i]);
    a->count--;
    memmove(a->queue + i, a->queue + i + 1, (a->count - i) * sizeof *a->queue);
    if (i == 0)
        a->shown = false;
}

static void settled(struct ask *a, struct view *v, wend_str call)
{
    for (size_t i = a->count; i-- > 0;)
        if (str_eq(a->queue[i]->u.approval_ask.call, call)) {
            if (i == 0 && a->shown)
                buf_char(view_talk(v), '\n'); /* leaves the question's line */
            drop(a, i);
        }
}

void ask_event(struct ask *a, struct view *v, const wend_event *ev)
{
    if (a->tty < 0)
        return;
    if (ev->type == WEND_APPROVAL_ASK && a->count < ASKS_MAX &&
        wend_event_clone(ev, &a->queue[a->count]) == WEND_OK)
        a->count++;
    else if (ev->type == WEND_APPROVAL_ANSWER)
        settled(a, v, ev->u.approval_answer.call);
    else if (ev->type == WEND_CALL_END)
        settled(a, v, ev->u.call_end.call);
    show(a, v);
}

/* -1 = neither yes nor no. */
static int read_answer(wend_str line)
{
    static const char *const words[] = {"n", "no",  "N", "No",  "NO",
                                        "y", "yes", "Y", "Yes", "YES"};
    int i = str_index(line, words, 10);

    return i < 0 ? -1 : i >= 5;
}

void ask_read(struct ask *a, struct view *v, wend_run *run)
{
    ssize_t n =
        read(a->tty, a->line + a->line_len, sizeof a->line - a->line_len);
    wend_str call = a->queue[0]->u.approval_ask.call, line;
    char *end;
    int yes;

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0)
        a->line_len += (size_t)n;
    end = memchr(a->line, '\n', a->line_len);
    if (n > 0 && !end && a->line_len < sizeof a->line)
        return;
    line = (wend_str){a->line, end ? (size_t)(end - a->line) : a->line_len};
    yes = n <= 0 ? 0 : read_answer(line);
    a->line_len = 0;
    if (yes < 0) {
        buf_cstr(view_talk(v), "allow? [y]es [n]o ");
        return;
    }
    /* Refused only if it was settled meanwhile: nothing is left to do. */
    wend_run_approve(run, call, yes, "terminal");
    drop(a, 0);
    show(a, v);
}
