/*
 * approval.c - approval of calls, on the terminal or from elsewhere.
 */
#include "cli/ask/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/ask/question.h"
#include "cli/ask/remember.h"
#include "cli/keys.h"
#include "cli/term.h"

enum { END_OF_FILE = 4, ESC = 033 }; /* keys */

bool approvals_here(const struct settings *set)
{
    return keys_present() && !set->quiet && !wants_json(set);
}

void approvals_open(struct approvals *a, struct cli *cli)
{
    const struct settings *set = &cli->set;

    memset(a, 0, sizeof *a);
    a->cli = cli;
    a->tty = approvals_here(set) ? keys_open() : -1;
    a->store = question_store(set);
    a->lock =
        a->tty >= 0 && ttyname(STDERR_FILENO)
            ? open(ttyname(STDERR_FILENO), O_RDONLY | O_CLOEXEC | O_NOCTTY)
            : -1;
    a->changed.mem = a->typed.mem = a->origin.mem = &cli_mem;
}

void approvals_close(struct approvals *a)
{
    for (size_t i = 0; i < a->count; i++)
        wend_event_free(a->queue[i]);
    a->count = 0;
    if (a->lock >= 0)
        close(a->lock);
    a->tty = a->lock = -1;
    lend_close(&a->lend);
    buf_free(&a->changed);
    buf_free(&a->typed);
    buf_free(&a->origin);
}

bool approvals_wait(const struct approvals *a)
{
    return a->tty >= 0 &&
           (a->lent == SCREEN_TYPE || (a->shown && a->lent == SCREEN_OURS));
}

bool approvals_held(const struct approvals *a)
{
    return a->lent != SCREEN_OURS || (a->count && !a->shown);
}

void approvals_lay(const struct approvals *a, struct view *v,
                   const wend_run *run)
{
    struct preview p;

    preview_make(&p, &v->mem, a->queue[0]->u.approval_ask.name,
                 approvals_args(a));
    if (v->paints)
        question_paint(a, v, run, &p);
    else
        question_print(a, v, run, &p);
    preview_free(&p);
}

/* Whether something was typed that nobody has read. */
static bool keys_pending(const struct approvals *a)
{
    struct pollfd fd = {.fd = a->tty, .events = POLLIN};

    return poll(&fd, 1, 0) == 1;
}

void approvals_show(struct approvals *a, struct view *v, const wend_run *run)
{
    if (a->shown || !a->count || a->lent != SCREEN_OURS || !keys_present() ||
        (a->lock >= 0 && flock(a->lock, LOCK_EX | LOCK_NB)))
        return;
    question_origin(a, run);
    live_lift(v); /* a question is painted once */
    approvals_lay(a, v, run);
    /* Input typed before the question does not answer it. */
    if (a->beside)
        a->late = keys_pending(a);
    else
        keys_drop();
    a->line_len = 0;
    a->busy_us = steady_us();
    a->shown = true;
}

static void unask(struct approvals *a, struct view *v)
{
    a->shown = false;
    v->prompt = PROMPT_NONE;
    buf_clear(&v->question);
    if (a->lock >= 0)
        flock(a->lock, LOCK_UN);
}

void approvals_repeat(const struct approvals *a, struct view *v)
{
    enum { QUIET_US = 300000 }; /* between the pieces of a text that streams */

    if (!a->shown || v->lent || v->prompt != PROMPT_LOST ||
        steady_us() - v->lost_us < QUIET_US)
        return;
    question_put(a, view_talk(v), v->keys);
    v->prompt = PROMPT_OPEN;
}

static void drop(struct approvals *a, struct view *v, size_t i)
{
    wend_event_free(a->queue[i]);
    a->count--;
    memmove(a->queue + i, a->queue + i + 1, (a->count - i) * sizeof *a->queue);
    if (i == 0) {
        a->stale = true;
        a->wanted = SCREEN_OURS;
        buf_clear(&a->changed);
        unask(a, v);
    }
}

/* Asks again, from the beginning. */
static void ask_again(struct approvals *a, struct view *v, const wend_run *run)
{
    buf_clear(&v->question);
    a->shown = false;
    approvals_show(a, v, run);
}

static void settled(struct approvals *a, struct view *v, const wend_event *ev,
                    wend_str call)
{
    for (size_t i = a->count; i-- > 0 && call.ptr;)
        if (str_eq(a->queue[i]->run, ev->run) &&
            str_eq(approval_subject(a->queue[i]), call)) {
            if (i == 0 && a->shown && !v->paints && !v->lent)
                view_talk(v); /* leaves the question's line */
            drop(a, v, i);
        }
}

/* The run that asks: this one or a descendant; NULL if it is over. */
static wend_run *asking(const wend_event *ask, wend_run *run)
{
    wend_run *child, *found = NULL;

    if (str_is(ask->run, wend_run_id(run)))
        return run;
    for (size_t i = 0; !found && (child = wend_run_child(run, i)); i++)
        found = asking(ask, child);
    return found;
}

void approvals_event(struct approvals *a, struct view *v, const wend_event *ev)
{
    const wend_ev_approval_answer *answer = &ev->u.approval_answer;

    if (a->tty < 0) {
        if (ev->type == WEND_APPROVAL_ASK)
            question_way(a, v, ev);
        return;
    }
    if (ev->type == WEND_APPROVAL_ASK && a->count < APPROVALS_MAX &&
        wend_event_clone(ev, &a->queue[a->count]) == WEND_OK)
        a->count++;
    else if (ev->type == WEND_APPROVAL_ANSWER)
        settled(a, v, ev, answer->call.ptr ? answer->call : answer->action);
    else if (ev->type == WEND_CALL_END)
        settled(a, v, ev, ev->u.call_end.call);
    else if (ev->type == WEND_ACTION_END)
        settled(a, v, ev, ev->u.action_end.action);
}

/* ---- Answers ------------------------------------------------------------- */

enum answer {
    ANSWER_NONE,
    ANSWER_VIEW,
    ANSWER_CHANGE,
    ANSWER_NO,
    ANSWER_YES,
    ANSWER_NEVER,
    ANSWER_ALWAYS,
};

static enum answer read_answer(wend_str line)
{
    static const struct {
        const char *word;
        enum answer answer;
    } words[] = {
        {"n", ANSWER_NO},     {"no", ANSWER_NO},
        {"N", ANSWER_NO},     {"No", ANSWER_NO},
        {"NO", ANSWER_NO},    {"y", ANSWER_YES},
        {"yes", ANSWER_YES},  {"Y", ANSWER_YES},
        {"Yes", ANSWER_YES},  {"YES", ANSWER_YES},
        {"e", ANSWER_NEVER},  {"never", ANSWER_NEVER},
        {"a", ANSWER_ALWAYS}, {"always", ANSWER_ALWAYS},
        {"c", ANSWER_CHANGE}, {"change", ANSWER_CHANGE},
        {"v", ANSWER_VIEW},   {"view", ANSWER_VIEW},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(line, words[i].word))
            return words[i].answer;
    return ANSWER_NONE;
}

/* Remember the answer for later runs; on failure it still applies to this
 * one. */
static void keep_rule(struct view *v, wend_str rule, bool yes)
{
    struct buf text = {.mem = view_talk(v)->mem};
    wend_error err = {0};

    if (!yes)
        buf_char(&text, '!');
    buf_str(&text, rule);
    if (text.failed || remember_add(buf_view(&text), &err) != WEND_OK) {
        buf_cstr(view_talk(v), "not remembered: ");
        term_line(view_talk(v), str_of(err.message), 300);
        buf_char(view_talk(v), '\n');
    }
    buf_free(&text);
}

static void refuse(struct view *v, const char *why)
{
    buf_cstr(view_talk(v), "wend: not changed: ");
    term_line(view_talk(v), str_of(why), 500);
    buf_char(view_talk(v), '\n');
}

/* False: it is asked again. Approving fails otherwise only if it was settled
 * meanwhile: nothing to do. */
static bool tell(struct approvals *a, struct view *v, wend_run *run,
                 enum answer answer)
{
    const wend_ev_approval_ask *e = &a->queue[0]->u.approval_ask;
    wend_run *asks = asking(a->queue[0], run);
    wend_str call = approval_subject(a->queue[0]);
    bool yes = answer == ANSWER_YES || answer == ANSWER_ALWAYS;

    if (answer >= ANSWER_NEVER) {
        keep_rule(v, e->rule, yes);
        wend_run_approve_always(asks, call, yes, "terminal");
    } else if (!yes || !a->changed.len) {
        wend_run_approve(asks, call, yes, "terminal");
    } else if (wend_run_approve_changed(asks, call, buf_view(&a->changed),
                                        "terminal") == WEND_E_INVAL) {
        refuse(v, wend_run_error(asks)->message);
        buf_clear(&a->changed);
        return false;
    }
    return true;
}

/* ---- The screen is lent -------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes other arguments; none, or the same, change nothing. */
static void take_changed(struct approvals *a, struct view *v, wend_str text)
{
    struct arena arena = {.mem = &v->mem};
    wend_error why = {0};
    struct json *j = text.len ? json_parse(text, &arena, &why) : NULL;
    struct buf line = {.mem = &v->mem};

    if (j)
        json_put(&line, j);
    if (text.len && !j) {
        buf_fmt(&line, "not valid JSON: line %u, column %u: %s", why.line,
                why.column, why.message);
        buf_char(&line, '\0');
        refuse(v, line.failed ? "out of memory" : line.ptr);
    } else if (j && !line.failed &&
               !str_eq(buf_view(&line), approvals_args(a))) {
        buf_clear(&a->changed);
        buf_str(&a->changed, buf_view(&line));
    }
    buf_free(&line);
    arena_free(&arena);
}

/* The question may have been settled meanwhile. */
static void screen_back(struct approvals *a, struct view *v, wend_str text)
{
    if (a->lent != SCREEN_PAGE && !a->stale)
        take_changed(a, v, text);
    a->lent = SCREEN_OURS;
    a->shown = false;
    v->lent = false;
    buf_clear(&v->question);
    buf_clear(&a->typed);
    lend_close(&a->lend);
}

void approvals_away(struct approvals *a, struct view *v)
{
    if (a->lent == SCREEN_TYPE) /* the line that was typed is gone */
        screen_back(a, v, STR_NONE);
    unask(a, v);
}

static bool start_pager(struct approvals *a, struct view *v)
{
    const char *pager = lend_pager();
    struct buf text = {.mem = &v->mem};
    struct preview p;
    bool ok;

    preview_make(&p, &v->mem, a->queue[0]->u.approval_ask.name,
                 approvals_args(a));
    question_text(a, &text, &p, v, v->colour && lend_colour(pager));
    ok = !text.failed && lend_page(&a->lend, pager, buf_view(&text));
    preview_free(&p);
    buf_free(&text);
    return ok;
}

static bool start_editor(struct approvals *a, struct view *v)
{
    struct buf text = {.mem = &v->mem};
    bool ok;

    lend_put_args(&text, approvals_args(a));
    ok = !text.failed &&
         lend_edit(&a->lend, lend_editor(), buf_view(&text), a->tty);
    buf_free(&text);
    return ok;
}

static bool start_typing(struct approvals *a, struct view *v)
{
    struct buf text = {.mem = &v->mem};
    bool ok;

    buf_cstr(&text, "now: ");
    term_text(&text, approvals_args(a));
    buf_cstr(&text, "\nnew arguments as JSON, or nothing: ");
    keys_drop(); /* before the prompt, which may be answered at once */
    ok = !text.failed && write_all(STDERR_FILENO, buf_view(&text));
    buf_free(&text);
    return ok;
}

bool approvals_want_screen(const struct approvals *a)
{
    return a->wanted != SCREEN_OURS;
}

void approvals_lend(struct approvals *a, struct view *v)
{
    static bool (*const starts[])(struct approvals * a, struct view * v) = {
        [SCREEN_PAGE] = start_pager,
        [SCREEN_EDIT] = start_editor,
        [SCREEN_TYPE] = start_typing,
    };

    keys_restore();
    a->lent = a->wanted;
    a->wanted = SCREEN_OURS;
    a->stale = false;
    v->lent = true;
    if (!starts[a->lent](a, v)) {
        refuse(v, strerror(errno));
        screen_back(a, v, STR_NONE);
    }
}

void approvals_look(struct approvals *a, struct view *v, const wend_run *run)
{
    struct buf text = {.mem = &v->mem};
    bool ok = false;

    if (a->lent == SCREEN_TYPE
            ? !a->stale
            : a->lent == SCREEN_OURS || !lend_over(&a->lend, &ok))
        return;
    if (a->lent == SCREEN_TYPE)
        buf_char(view_talk(v), '\n'); /* leaves the line that was typed */
    if (a->lent == SCREEN_EDIT && ok && !lend_read(&a->lend, &text)) {
        v->lent = false;
        refuse(v, strerror(errno));
        ok = false;
    }
    screen_back(a, v, ok ? str_trim(buf_view(&text), is_blank) : STR_NONE);
    buf_free(&text);
    approvals_show(a, v, run);
}

/* ---- Keys ---------------------------------------------------------------- */

/* What the question leaves out, where there is no pager. */
static void show_all(struct approvals *a, struct view *v, const wend_run *run)
{
    struct preview p;

    preview_make(&p, &v->mem, a->queue[0]->u.approval_ask.name,
                 approvals_args(a));
    question_text(a, view_talk(v), &p, v, v->colour);
    preview_free(&p);
    ask_again(a, v, run);
}

static void view_all(struct approvals *a, struct view *v, const wend_run *run)
{
    if (v->keys && lend_pager())
        a->wanted = SCREEN_PAGE;
    else
        show_all(a, v, run);
}

/* A line is an answer where keys do not come one by one. */
static bool take_line(struct approvals *a, wend_str *line)
{
    char *end = memchr(a->line, '\n', a->line_len);

    *line = (wend_str){a->line, end ? (size_t)(end - a->line) : a->line_len};
    return end || a->line_len == sizeof a->line;
}

/* A line of arguments, or a part of it. */
static void read_typed(struct approvals *a, struct view *v, wend_run *run)
{
    char room[4096];
    ssize_t n = read(a->tty, room, sizeof room);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0)
        buf_add(&a->typed, room, (size_t)n);
    if (n > 0 && !memchr(room, '\n', (size_t)n))
        return;
    screen_back(a, v, str_trim(buf_view(&a->typed), is_blank));
    approvals_show(a, v, run);
}

/* The user types, or cannot have read the question yet: neither the rest of a
 * text nor a second press for the question before it is an answer. */
static bool is_early(struct approvals *a)
{
    enum { READ_US = 700000 };
    int64_t now = steady_us();
    bool early = a->late || now - a->busy_us < READ_US;

    a->late = false;
    a->busy_us = now;
    return early;
}

static void act(struct approvals *a, struct view *v, wend_run *run,
                enum answer answer)
{
    if (answer == ANSWER_VIEW) {
        view_all(a, v, run);
    } else if (answer == ANSWER_CHANGE) {
        a->wanted = v->keys && lend_editor() ? SCREEN_EDIT : SCREEN_TYPE;
    } else if (answer == ANSWER_NONE) {
        if (v->paints)
            live_lift(v); /* it is asked again */
        else
            v->prompt = PROMPT_LOST; /* the same, as a line */
    } else if (tell(a, v, run, answer)) {
        drop(a, v, 0);
        approvals_show(a, v, run);
    } else {
        ask_again(a, v, run);
    }
}

static enum answer possible(const struct approvals *a, enum answer answer)
{
    return answer >= ANSWER_NEVER && !approvals_rule(a) ? ANSWER_NONE : answer;
}

/* A key, perhaps held down, or a word with Enter; other keys are a text. */
static enum answer key_answer(const struct approvals *a, wend_str keys)
{
    wend_str word = str_trim(keys, is_blank);
    size_t same = 0;

    if (keys.ptr[0] == END_OF_FILE || (keys.len == 1 && keys.ptr[0] == ESC))
        return ANSWER_NO;
    while (same < word.len && word.ptr[same] == word.ptr[0])
        same++;
    if (same && same == word.len)
        word.len = 1;
    return possible(a, read_answer(word));
}

/* Keys come one by one. What is no answer belongs to the text that the user
 * types besides, if there is one; Esc alone says no where there is none. */
static void read_key(struct approvals *a, struct view *v, wend_run *run)
{
    char room[4096];
    ssize_t n = read(a->tty, room, sizeof room);
    enum answer answer = ANSWER_NO;
    bool early;

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    early = is_early(a);
    if (n > 0)
        answer = key_answer(a, (wend_str){room, (size_t)n});
    if (n > 0 && a->beside &&
        (early || n > 1 || answer == ANSWER_NONE || room[0] == ESC))
        a->beside(a->ctx, (wend_str){room, (size_t)n});
    else if (n <= 0 || !early)
        act(a, v, run, answer);
}

void approvals_read(struct approvals *a, struct view *v, wend_run *run)
{
    enum answer answer;
    wend_str line = STR_NONE;
    ssize_t n;

    if (a->lent == SCREEN_TYPE) {
        read_typed(a, v, run);
        return;
    }
    if (v->keys) {
        read_key(a, v, run);
        return;
    }
    n = read(a->tty, a->line + a->line_len, sizeof a->line - a->line_len);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0)
        a->line_len += (size_t)n;
    if (n > 0 && !take_line(a, &line))
        return;
    panel_entered(&v->panel);
    v->prompt = PROMPT_NONE; /* its line is over */
    answer =
        n <= 0 || line.ptr[0] == END_OF_FILE ? ANSWER_NO : read_answer(line);
    a->line_len = 0;
    act(a, v, run, possible(a, answer));
}
