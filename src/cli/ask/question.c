/*
 * question.c - how an approval is asked for.
 */
#include "cli/ask/question.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/ask/remember.h"
#include "cli/term.h"

enum {
    TEXT_SHOWN_MAX = 8 << 10, /* without a cursor; the rest is counted */
    BEGINNING_LINES = 3,  /* of the arguments, repeated next to the question */
    BEGINNING_SPARE = 10, /* columns of each line that precede the text */
    ROWS_BESIDE = 4,      /* of a screen: the text above, a bar, "more" */
    ROWS_BESIDE_LOW = 2,  /* of a low one: the text above, "more" */
    ROWS_MIN = 3,         /* of the call, or the screen is low */
    INDENT = 2,           /* columns before a row that continues another */
};

wend_str approval_subject(const wend_event *ask)
{
    const wend_ev_approval_ask *e = &ask->u.approval_ask;

    return e->call.ptr ? e->call : e->action;
}

wend_str approvals_args(const struct approvals *a)
{
    return a->changed.len ? buf_view(&a->changed)
                          : a->queue[0]->u.approval_ask.args_json;
}

bool approvals_rule(const struct approvals *a)
{
    return !a->changed.len && remember_can(a->queue[0]->u.approval_ask.rule);
}

/* ---- Which child asks -----------------------------------------------------
 */

struct origin {
    const char *run; /* the child */
    struct buf *out;
};

static void put_origin(void *ctx, const wend_event *ev)
{
    const wend_ev_child_start *e = &ev->u.child_start;
    const struct origin *o = ctx;
    bool first = !o->out->len;

    if (!str_is(e->run, o->run))
        return;
    if (e->action.ptr) {
        buf_cstr(o->out, first ? "Action " : "action ");
        term_name(o->out, e->action, 60);
        buf_cstr(o->out, ": ");
    } else {
        buf_cstr(o->out, first ? "Agent " : "agent ");
        term_name(o->out, e->agent, 60);
        buf_cstr(o->out, " (");
        term_name(o->out, e->call, 60);
        buf_cstr(o->out, "): ");
    }
}

/* From the top down. The logs know it also after a resume. */
static void put_origins(struct cli *cli, const char *top, const char *id,
                        int left, struct buf *out)
{
    const wend_replay_options o = {.size = sizeof o,
                                   .filter.types = TYPE(CHILD_START)};
    char parent[40] = "";

    if (!left || !strcmp(id, top))
        return;
    run_state(cli, id, parent);
    if (!*parent)
        return;
    put_origins(cli, top, parent, left - 1, out);
    each_event(cli, parent, &o, put_origin, &(struct origin){id, out});
}

void question_origin(struct approvals *a, const wend_run *run)
{
    char id[40];

    str_copy(id, sizeof id, a->queue[0]->run);
    buf_clear(&a->origin);
    put_origins(a->cli, wend_run_id(run), id, ANCESTORS_MAX, &a->origin);
}

/* ---- On the terminal ------------------------------------------------------
 */

void question_reasons(struct buf *out, const wend_ev_approval_ask *e,
                      bool layers)
{
    buf_fmt(out, "  risk: %s", wend_risk_name(e->risk));
    if (e->reason.len) {
        buf_cstr(out, "; ");
        term_line(out, e->reason, 500);
    }
    if (layers && e->layers_json.len) {
        buf_cstr(out, "\n  layers: ");
        term_text(out, e->layers_json);
    }
    buf_cstr(out, "\n");
}

/* A long argument scrolls its own start, which often matters most, off the
 * screen: repeat it next to the question. */
static void put_beginning(const struct view *v, struct buf *out,
                          const wend_ev_approval_ask *e, wend_str args)
{
    size_t room = v->width > BEGINNING_SPARE ? v->width - BEGINNING_SPARE : 1;

    if (v->paints || args.len <= BEGINNING_LINES * v->width)
        return;
    buf_cstr(out, "  starts with: ");
    term_line(out, e->name, 100);
    buf_char(out, ' ');
    term_line(out, args, BEGINNING_LINES * room);
    buf_char(out, '\n');
}

/* What always and never add, exactly as they add it. */
static void put_rule(const struct approvals *a, struct buf *out)
{
    wend_str rule = a->queue[0]->u.approval_ask.rule;

    if (!approvals_rule(a))
        return;
    buf_cstr(out, "  always allows ");
    term_text(out, rule);
    buf_cstr(out, " here, never denies it\n");
}

void question_put(const struct approvals *a, struct buf *out, bool keys)
{
    buf_fmt(out, "allow? [y]es [n]o%s [c]hange [v]iew%s ",
            approvals_rule(a) ? " [a]lways n[e]ver" : "",
            keys ? "" : ", then Enter:");
}

static void put_asker(const struct approvals *a, struct buf *out,
                      const wend_run *run)
{
    static const char *const words[2][2] = {{"The model ", "Action "},
                                            {"its model ", "its action "}};
    wend_str action = a->queue[0]->u.approval_ask.action;

    buf_str(out, buf_view(&a->origin));
    buf_cstr(out, words[a->origin.len > 0][action.ptr != NULL]);
    if (action.ptr) {
        term_name(out, action, 60);
        buf_char(out, ' ');
    }
    if (!a->origin.len && !str_is(a->queue[0]->run, wend_run_id(run))) {
        buf_cstr(out, "of run ");
        term_line(out, a->queue[0]->run, 40);
        buf_char(out, ' ');
    }
}

static void put_subject(const struct approvals *a, struct buf *out,
                        const wend_run *run, const struct preview *p)
{
    const wend_ev_approval_ask *e = &a->queue[0]->u.approval_ask;

    put_asker(a, out, run);
    buf_cstr(out, a->changed.len ? "would call " : "wants to call ");
    term_line(out, e->name, 100);
    if (p->head.len) {
        buf_cstr(out, ", which ");
        term_line(out, buf_view(&p->head), 300);
    } else {
        buf_cstr(out, " with");
    }
    buf_cstr(out, a->changed.len ? ", as you changed it\n" : "\n");
}

/* Wrapped between words, and within a word that is wider than the screen. */
static void put_rows(struct buf *out, wend_str text, size_t width)
{
    struct buf wrapped = {.mem = out->mem};
    wend_str line;

    while (text.len && str_line(&text, &line)) {
        term_words(&wrapped, line, 0, INDENT, width);
        buf_char(&wrapped, '\n');
    }
    term_rows(out, buf_view(&wrapped), width, SIZE_MAX);
    out->failed |= wrapped.failed;
    buf_free(&wrapped);
}

/* A row each, cut: what is left out stands in the text that [v]iew shows. */
static void put_short(struct buf *out, wend_str text, size_t width)
{
    wend_str line;

    while (text.len && str_line(&text, &line)) {
        term_line(out, line, width - 1);
        buf_char(out, '\n');
    }
}

/* Appends the rows of the call between its head, which is there, and the rows
 * at the end; `beside`: rows of the screen for other things. */
static void put_call(struct view *v, const struct preview *p, wend_str end,
                     size_t beside)
{
    struct buf *out = &v->question;
    size_t used = str_count(buf_view(out), '\n') + str_count(end, '\n') +
                  (v->typed_any ? str_count(buf_view(&v->typed), '\n') : 0) +
                  beside;
    size_t room = v->panel.height > used ? v->panel.height - used : 1;
    size_t more = preview_rows(p, out, v->width, room, v->colour);

    if (more)
        buf_fmt(out, "  ... and %zu more line%s\n", more, more == 1 ? "" : "s");
    buf_str(out, end);
}

/* On a screen that can be painted: everything that a yes allows is on it, or
 * reported as omitted. On a low one the reasons and the rule are cut, so that
 * the subject and the keys are there. */
void question_paint(const struct approvals *a, struct view *v,
                    const wend_run *run, const struct preview *p)
{
    struct buf head = {.mem = &v->mem}, tail = {.mem = &v->mem};
    struct buf keys = {.mem = &v->mem}, end = {.mem = &v->mem};
    struct buf *out = &v->question;
    bool low;

    buf_clear(out);
    put_subject(a, &head, run, p);
    put_rows(out, buf_view(&head), v->width);
    question_reasons(&tail, &a->queue[0]->u.approval_ask, v->verbose);
    put_rule(a, &tail);
    question_put(a, &keys, v->keys);
    put_rows(&end, buf_view(&tail), v->width);
    put_rows(&end, buf_view(&keys), v->width);
    low = str_count(buf_view(out), '\n') + str_count(buf_view(&end), '\n') +
              ROWS_BESIDE + ROWS_MIN >
          v->panel.height;
    if (low) {
        buf_clear(&end);
        put_short(&end, buf_view(&tail), v->width);
        put_rows(&end, buf_view(&keys), v->width);
    }
    put_call(v, p, buf_view(&end), low ? ROWS_BESIDE_LOW : ROWS_BESIDE);
    out->failed |= head.failed || tail.failed || keys.failed || end.failed ||
                   p->body.failed;
    buf_free(&head);
    buf_free(&tail);
    buf_free(&keys);
    buf_free(&end);
}

void question_text(const struct approvals *a, struct buf *out,
                   const struct preview *p, const struct view *v, bool colour)
{
    preview_text(p, out, colour);
    question_reasons(out, &a->queue[0]->u.approval_ask, v->verbose);
    put_rule(a, out);
}

/* As lines, where nothing can be painted. */
void question_print(const struct approvals *a, struct view *v,
                    const wend_run *run, const struct preview *p)
{
    const wend_ev_approval_ask *e = &a->queue[0]->u.approval_ask;
    struct buf text = {.mem = &v->mem}, *out = view_talk(v);
    wend_str shown;

    preview_text(p, &text, false);
    shown = buf_view(&text);
    if (shown.len > TEXT_SHOWN_MAX)
        shown.len = utf8_cut(shown, TEXT_SHOWN_MAX);
    buf_char(out, '\n');
    put_subject(a, out, run, p);
    buf_str(out, shown);
    if (shown.len < text.len)
        buf_fmt(out, "\n  ... and %zu more bytes\n", text.len - shown.len);
    question_reasons(out, e, v->verbose);
    put_beginning(v, out, e, approvals_args(a));
    put_rule(a, out);
    question_put(a, out, false);
    v->prompt = PROMPT_OPEN;
    out->failed |= text.failed || p->body.failed;
    buf_free(&text);
}

/* ---- From elsewhere -------------------------------------------------------
 */

const char *question_store(const struct settings *set)
{
    const char *usual = getenv("WEND_STORE");

    return set->store && !(usual && !strcmp(set->store, usual)) ? set->store
                                                                : NULL;
}

static void put_command(struct buf *out, const char *store, const char *run,
                        wend_str subject, const char *more)
{
    buf_cstr(out, "'wend approve ");
    if (store) {
        buf_cstr(out, "--store ");
        term_line(out, str_of(store), 500);
        buf_char(out, ' ');
    }
    term_line(out, str_of(run), 60);
    buf_char(out, ' ');
    term_line(out, subject, 200);
    buf_fmt(out, "%s'", more);
}

void question_commands(struct buf *out, const char *store, const char *run,
                       wend_str subject)
{
    put_command(out, store, run, subject, "");
    buf_cstr(out, " approves it, ");
    put_command(out, store, run, subject, " no");
    buf_cstr(out, " denies it");
}

/* How another process can answer. Also with -q: the run waits. */
void question_way(const struct approvals *a, struct view *v,
                  const wend_event *ask)
{
    const wend_ev_approval_ask *e = &ask->u.approval_ask;
    struct buf text = {.mem = &v->mem};
    char run[40];

    buf_cstr(&text, "waiting for approval of ");
    term_line(&text, e->name, 100);
    buf_char(&text, ' ');
    term_line(&text, e->args_json, 200);
    buf_cstr(&text, ": ");
    str_copy(run, sizeof run, ask->run);
    question_commands(&text, a->store, run, approval_subject(ask));
    if (v->look == LOOK_ANSWER && !text.failed)
        buf_fmt(view_talk(v), "wend: %s\n", text.ptr);
    else if (!text.failed)
        complain(0, "%s", text.ptr); /* never between lines of JSON */
    buf_free(&text);
}
