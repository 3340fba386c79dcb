/*
 * view.c - writes events to the outputs in the chosen format.
 */
#include "cli/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/term.h"

enum { LINE_MAX_PIPED = 200 }; /* columns of a line that goes to a program */

/* ---- Output -------------------------------------------------------------- */

bool out_full(const struct out *o)
{
    return !o->error && o->text.len - o->at >= OUT_PENDING_MAX;
}

bool out_pending(const struct out *o)
{
    return !o->error && o->text.len > o->at;
}

void out_close(struct out *o, int error)
{
    if (!o->error)
        o->error = error;
}

/* Drop written text when it is everything, or most of the buffer. */
static void shrink(struct out *o)
{
    if (o->at < o->text.len && o->at < OUT_PENDING_MAX)
        return;
    memmove(o->text.ptr, o->text.ptr + o->at, o->text.len - o->at);
    o->text.len -= o->at;
    o->at = 0;
}

void out_write(struct out *o)
{
    size_t piece = o->text.len - o->at;
    ssize_t n;

    if (!out_pending(o))
        return;
    if (piece > PIPE_BUF)
        piece = PIPE_BUF; /* a pipe that polls writable accepts this much */
    n = write(o->fd, o->text.ptr + o->at, piece);
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
        out_close(o, errno);
        return;
    }
    if (n > 0)
        o->at += (size_t)n;
    shrink(o);
}

/* ---- The view ------------------------------------------------------------ */

enum look view_look(const struct settings *set)
{
    if (set->events > DIALECT_NATIVE)
        return LOOK_DIALECT;
    return wants_json(set) ? LOOK_JSON : LOOK_ANSWER;
}

static bool shows_lines(const struct view *v)
{
    return v->look == LOOK_JSON || v->look == LOOK_DIALECT;
}

static bool open_log(struct view *v, const char *path)
{
    if (!path)
        return true;
    v->log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (v->log_fd < 0)
        complain(0, "cannot open the log file %s: %s", path, strerror(errno));
    return v->log_fd >= 0;
}

void view_free(struct view *v)
{
    if (v->log_fd >= 0)
        close(v->log_fd);
    wend_dialect_free(v->dialect);
    wend_dialect_free(v->native);
    v->dialect = v->native = NULL;
    waterfall_free(v->waterfall);
    buf_free(&v->panel.shown);
    buf_free(&v->question);
    buf_free(&v->typed);
    buf_free(&v->thought);
    buf_free(&v->answer);
    buf_free(&v->wrap.word);
    buf_free(&v->results.text);
    buf_free(&v->talk.text);
}

static bool open_dialect(struct view *v, const struct settings *set,
                         const char *name, wend_dialect **out)
{
    wend_dialect_options o = {.size = sizeof o, .verbose = set->verbose};
    wend_error err;

    if (wend_dialect_new(name, &o, out, &err) == WEND_OK)
        return true;
    complain(0, "%s", err.message);
    view_free(v);
    return false;
}

/* A pager may read the pipe: the keyboard and its modes are the pager's. */
static bool is_pipe(int fd)
{
    struct stat s;

    return !fstat(fd, &s) && S_ISFIFO(s.st_mode);
}

bool view_open(struct view *v, const struct settings *set, enum look look)
{
    bool shows = look == LOOK_ANSWER && !set->quiet;

    *v = (struct view){.look = look, .log_fd = -1};
    v->quiet = set->quiet;
    v->verbose = set->verbose;
    v->safe_only = isatty(STDOUT_FILENO);
    v->together = term_same(STDOUT_FILENO, STDERR_FILENO);
    v->talks = shows && (isatty(STDERR_FILENO) || set->verbose);
    v->colour = term_colour(STDERR_FILENO);
    v->width = term_width(STDERR_FILENO);
    if (look == LOOK_LINES)
        v->width = v->safe_only ? term_width(STDOUT_FILENO) : LINE_MAX_PIPED;
    v->results.fd = STDOUT_FILENO;
    v->talk.fd = STDERR_FILENO;
    v->results.text.mem = v->talk.text.mem = &v->mem;
    v->panel.shown.mem = v->question.mem = v->thought.mem = &v->mem;
    v->typed.mem = &v->mem;
    v->answer.mem = v->wrap.word.mem = &v->mem;
    v->wrap.width = v->width;
    v->keeps = set->output && strcmp(set->output, "-") != 0;
    v->final = !set->stream && (v->keeps || set->quiet || !v->safe_only);
    v->stored = !set->store || !strstr(set->store, "memory:");
    v->paints = shows && term_moves(STDERR_FILENO);
    v->keys = v->paints && !is_pipe(STDOUT_FILENO);
    panel_resize(&v->panel, v->width, term_height(STDERR_FILENO), false);
    if (!open_log(v, set->log_file)) {
        view_free(v);
        return false;
    }
    return (!shows_lines(v) ||
            open_dialect(v, set,
                         dialect_names[set->events > 0 ? set->events : 0],
                         &v->dialect)) &&
           (v->log_fd < 0 || look == LOOK_JSON ||
            open_dialect(v, set, dialect_names[DIALECT_NATIVE], &v->native));
}

/* Text does not continue the line of a question, which is asked again below. */
static void leave_prompt(struct view *v, struct buf *out)
{
    if (v->prompt == PROMPT_NONE)
        return;
    if (v->prompt == PROMPT_OPEN)
        buf_char(out, '\n');
    v->prompt = PROMPT_LOST;
    v->lost_us = steady_us();
}

struct buf *view_results(struct view *v)
{
    if (v->together) {
        live_lift(v);
        leave_prompt(v, &v->results.text);
    }
    return &v->results.text;
}

struct buf *view_talk(struct view *v)
{
    live_lift(v);
    leave_prompt(v, v->together ? &v->results.text : &v->talk.text);
    if (!v->together)
        return &v->talk.text;
    if (v->text_open) {
        buf_char(&v->results.text, '\n');
        wrap_moved(&v->wrap, 0);
    }
    v->text_open = false;
    v->column = v->line = 0;
    return &v->results.text;
}

void view_paint(struct view *v, const char *how)
{
    if (v->colour)
        buf_cstr(view_talk(v), how);
}

/* Report a failing file once and stop using it: the events are in the store. */
static void log_line(struct view *v, wend_str line)
{
    if (write_all(v->log_fd, line))
        return;
    complain(0, "cannot write to the log file: %s", strerror(errno));
    close(v->log_fd);
    v->log_fd = -1;
}

static wend_str feed(struct view *v, wend_dialect *d, const wend_event *ev)
{
    wend_str lines;

    if (wend_dialect_feed(d, ev, &lines) != WEND_OK)
        v->results.text.failed = true;
    return lines;
}

/* The records of an event, and its line in the log file. */
static void show_lines(struct view *v, const wend_event *ev)
{
    wend_str lines = v->dialect ? feed(v, v->dialect, ev) : STR_NONE;
    wend_str line = v->native ? feed(v, v->native, ev) : lines;

    if (v->safe_only)
        term_json(&v->results.text, lines);
    else
        buf_str(&v->results.text, lines);
    if (v->log_fd >= 0 && line.ptr)
        log_line(v, line);
}

/* After a failed allocation the text is lost, and so is everything after it. */
static void drop_unread(struct out *o)
{
    if (o->text.failed)
        out_close(o, ENOMEM);
    if (!o->error)
        return;
    buf_clear(&o->text);
    o->at = 0;
}

void view_event(struct view *v, const wend_event *ev)
{
    if (ev->type == WEND_RUN_END)
        v->outcome = ev->u.run_end.outcome;
    if (v->types && !(v->types >> ev->type & 1))
        return;
    show_lines(v, ev);
    if (v->paints)
        live_event(v, ev);
    if (v->look == LOOK_ANSWER)
        render_event(v, ev);
    else if (v->look == LOOK_LINES)
        gist_event(v, ev);
    drop_unread(&v->results);
    drop_unread(&v->talk);
}

uint64_t view_past_types(const struct view *v)
{
    if (v->look == LOOK_DIALECT)
        return UINT64_MAX;
    if (v->paints)
        return TYPE(RUN_START) | TYPE(MODEL_START) | TYPE(MODEL_END) |
               TYPE(PLAN_START) | TYPE(PLAN_ACTION) | TYPE(ACTION_START) |
               TYPE(ACTION_END) | TYPE(PLAN_END) | TYPE(RUN_RESUME) |
               TYPE(RUN_FORK);
    return v->look == LOOK_ANSWER
               ? TYPE(RUN_START) | TYPE(RUN_FORK) | TYPE(MODEL_START)
               : 0;
}

void view_past(void *view, const wend_event *ev)
{
    struct view *v = view;

    if (v->paints)
        live_event(v, ev);
    if (v->look == LOOK_ANSWER)
        render_past(v, ev);
    if (v->look == LOOK_DIALECT &&
        wend_dialect_feed(v->dialect, ev, NULL) != WEND_OK)
        v->results.text.failed = true;
}

void view_end(struct view *v)
{
    live_lift(v);
    v->paints = false;
    if (v->text_open)
        buf_char(&v->results.text, '\n');
    v->text_open = false;
    drop_unread(&v->results);
}
