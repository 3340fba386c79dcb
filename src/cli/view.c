/*
 * view.c - where events go, and in which shape.
 */
#include "cli/view.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/term.h"

enum { LINE_MAX_PIPED = 200 }; /* columns of a line that goes to a program */

const char *const dialect_words[] = {
    [DIALECT_NATIVE] = "native", [DIALECT_LOOM] = "loom",
    [DIALECT_AGIO] = "agio",     [DIALECT_CORTEX] = "cortex",
    [DIALECT_AG_UI] = "ag-ui",   NULL,
};

enum look view_look(const struct settings *set)
{
    if (set->events == DIALECT_LOOM)
        return LOOK_LOOM;
    if (set->events == DIALECT_AGIO)
        return LOOK_AGIO;
    return wants_json(set) ? LOOK_JSON : LOOK_ANSWER;
}

static bool open_log(struct view *v, const char *path)
{
    v->log_fd = -1;
    if (!path)
        return true;
    v->log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (v->log_fd < 0)
        complain(0, "cannot open the log file %s: %s", path, strerror(errno));
    return v->log_fd >= 0;
}

bool view_open(struct view *v, const struct settings *set, enum look look)
{
    bool shows = look == LOOK_ANSWER && !set->quiet;

    memset(v, 0, sizeof *v);
    v->look = look;
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
    loom_init(&v->loom, &v->mem);
    agio_init(&v->agio, &v->mem);
    v->agio.verbose = set->verbose;
    if (set->events <= DIALECT_AGIO)
        return open_log(v, set->log_file);
    complain(0, "--events %s is not available in this version",
             dialect_words[set->events]);
    return false;
}

void view_free(struct view *v)
{
    if (v->log_fd >= 0)
        close(v->log_fd);
    loom_free(&v->loom);
    agio_free(&v->agio);
    waterfall_free(v->waterfall);
    buf_free(&v->results.text);
    buf_free(&v->talk.text);
}

struct buf *view_talk(struct view *v)
{
    if (!v->together)
        return &v->talk.text;
    if (v->text_open)
        buf_char(&v->results.text, '\n');
    v->text_open = false;
    return &v->results.text;
}

/* A file that fails is said once and then left alone: the events are in
 * the store. */
static void log_line(struct view *v, wend_str line)
{
    while (line.len) {
        ssize_t n = write(v->log_fd, line.ptr, line.len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            complain(0, "cannot write to the log file: %s", strerror(errno));
            close(v->log_fd);
            v->log_fd = -1;
            return;
        }
        line = (wend_str){line.ptr + n, line.len - (size_t)n};
    }
}

static void show_json(struct view *v, const wend_event *ev)
{
    struct buf *out = &v->results.text;
    char *line;
    size_t len;

    if (v->look != LOOK_JSON && v->log_fd < 0)
        return;
    if (wend_event_to_json(ev, &line, &len) != WEND_OK) {
        out->failed = true;
        return;
    }
    if (v->look == LOOK_JSON) {
        if (v->safe_only)
            term_json(out, (wend_str){line, len});
        else
            buf_add(out, line, len);
        buf_char(out, '\n');
    }
    if (v->log_fd >= 0) {
        line[len] = '\n'; /* where its NUL was */
        log_line(v, (wend_str){line, len + 1});
    }
    wend_string_free(line);
}

static void put_dialect(struct view *v, const wend_event *ev, struct buf *out)
{
    if (v->look == LOOK_LOOM)
        loom_event(&v->loom, ev, out);
    else
        agio_event(&v->agio, ev, out);
}

static void show_dialect(struct view *v, const wend_event *ev)
{
    struct buf *out = &v->results.text, lines = {.mem = &v->mem};

    if (!v->safe_only) {
        put_dialect(v, ev, out);
        return;
    }
    put_dialect(v, ev, &lines);
    term_json(out, buf_view(&lines));
    out->failed |= lines.failed;
    buf_free(&lines);
}

static void drop_unread(struct out *o)
{
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
    show_json(v, ev);
    if (v->look == LOOK_ANSWER)
        render_event(v, ev);
    else if (v->look == LOOK_LINES)
        gist_event(v, ev);
    else if (v->look == LOOK_LOOM || v->look == LOOK_AGIO)
        show_dialect(v, ev);
    drop_unread(&v->results);
    drop_unread(&v->talk);
}

void view_end(struct view *v)
{
    if (v->text_open)
        buf_char(&v->results.text, '\n');
    v->text_open = false;
}
