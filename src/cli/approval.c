/*
 * approval.c - approval of calls on the terminal.
 */
#include "cli/approval.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/config.h"
#include "cli/keys.h"
#include "cli/term.h"
#include "wire/file/manifest.h"

enum {
    ARGS_SHOWN_MAX = 8 << 10, /* the rest is counted */
    RULE_BYTES_MAX = 4096,
    BEGINNING_LINES = 3,  /* of the arguments, repeated next to the question */
    BEGINNING_SPARE = 10, /* columns of each line that precede the text */
    ROWS_BESIDE = 9,      /* of a screen, that the arguments leave free */
    END_OF_FILE = 4,      /* the key */
};

/* ---- Answers that apply to later runs ------------------------------------ */

/* A name, or a name with a part in parentheses. */
static bool is_rule(wend_str line)
{
    const char *name = line.ptr + (line.ptr[0] == '!' || line.ptr[0] == '?');
    const char *open = strchr(name, '(');

    return *name && open != name && (!open || line.ptr[line.len - 1] == ')');
}

/* An answer from an older version may no longer be a valid rule: report and
 * skip it, so that the question is asked again. */
static bool still_holds(wend_str rule, const char *path)
{
    wend_error why = {0};

    if (manifest_rule_check(rule, &why) == WEND_OK)
        return true;
    complain(EXIT_DONE, "%.200s: skipped: %s", path, why.message);
    return false;
}

/* The rule of a line, absent if it is for another directory. */
static wend_str rule_of(wend_str line, const char *here)
{
    const char *tab = line.ptr[0] == '/' ? strchr(line.ptr, '\t') : NULL;
    wend_str folder = {line.ptr, tab ? (size_t)(tab - line.ptr) : 0};

    if (!tab)
        return line;
    return here && str_is(folder, here) ? str_of(tab + 1) : STR_NONE;
}

/* From the end: the last answer applies. */
static wend_status take_lines(wend_str text, const char *path,
                              struct words *out, struct arena *a,
                              wend_error *err)
{
    char room[PATH_MAX];
    const char *here = getcwd(room, sizeof room);
    size_t end = text.len;

    while (end) {
        size_t begin = end;
        wend_str line, rule;

        while (begin && text.ptr[begin - 1] != '\n')
            begin--;
        line = arena_str(a, (wend_str){text.ptr + begin, end - begin});
        end = begin ? begin - 1 : 0;
        if (!line.len || line.ptr[0] == '#')
            continue;
        rule = rule_of(line, here);
        if (rule.ptr && !is_rule(rule))
            return fail(err, WEND_E_PARSE,
                        "%.200s: '%.100s' is not a valid rule", path, rule.ptr);
        if (rule.ptr && still_holds(rule, path))
            words_add(out, rule.ptr, a);
    }
    return WEND_OK;
}

wend_status remember_rules(struct words *out, struct arena *a, wend_error *err)
{
    struct buf path = {.mem = &cli_mem}, text = {.mem = &cli_mem};
    wend_status s;

    if (!data_folder(&path))
        return WEND_OK;
    buf_cstr(&path, "/approvals");
    s = data_file_read(path.ptr, &text, err);
    if (!s)
        s = take_lines(buf_view(&text), path.ptr, out, a, err);
    return s == WEND_E_NOTFOUND ? WEND_OK : s;
}

static bool is_plain(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)s[i] < ' ')
            return false;
    return true;
}

/* Whether the file can hold a rule. */
static bool remember_can(wend_str rule)
{
    char here[PATH_MAX];

    return rule.len && rule.ptr[0] != '#' && rule.len <= RULE_BYTES_MAX &&
           is_plain(rule.ptr, rule.len) && getcwd(here, sizeof here) &&
           is_plain(here, strlen(here));
}

static wend_status remember_add(wend_str rule, wend_error *err)
{
    struct buf path = {.mem = &cli_mem}, line = {.mem = &cli_mem};
    char here[PATH_MAX];
    wend_status s;
    int fd = -1;

    if (!data_folder(&path))
        return fail(err, WEND_E_NOTFOUND,
                    "neither XDG_DATA_HOME nor HOME is set");
    buf_fmt(&line, "%s\t", getcwd(here, sizeof here) ? here : "");
    buf_str(&line, rule);
    buf_char(&line, '\n');
    s = data_folder_make(&path, err);
    if (s)
        return s;
    buf_cstr(&path, "/approvals");
    fd = open(path.ptr, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    /* One write keeps the lines of two runs apart. */
    if (fd < 0 || write(fd, line.ptr, line.len) != (ssize_t)line.len)
        s = fail(err, WEND_E_IO, "%.200s: %s", path.ptr, strerror(errno));
    if (fd >= 0)
        close(fd);
    return s;
}

/* ---- Questions ----------------------------------------------------------- */

void approvals_open(struct approvals *a)
{
    memset(a, 0, sizeof *a);
    a->tty = keys_open();
    a->lock =
        a->tty >= 0 && ttyname(STDERR_FILENO)
            ? open(ttyname(STDERR_FILENO), O_RDONLY | O_CLOEXEC | O_NOCTTY)
            : -1;
}

void approvals_close(struct approvals *a)
{
    for (size_t i = 0; i < a->count; i++)
        wend_event_free(a->queue[i]);
    a->count = 0;
    if (a->lock >= 0)
        close(a->lock);
    a->tty = a->lock = -1;
}

bool approvals_wait(const struct approvals *a)
{
    return a->tty >= 0 && a->shown;
}

/* The subject of the approval: a call, or an action of a plan. */
static wend_str subject(const wend_event *ask)
{
    const wend_ev_approval_ask *e = &ask->u.approval_ask;

    return e->call.ptr ? e->call : e->action;
}

static void put_reasons(const struct view *v, struct buf *out,
                        const wend_ev_approval_ask *e)
{
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

/* A long argument scrolls its own start, which often matters most, off the
 * screen: repeat it next to the question. */
static void put_beginning(const struct view *v, struct buf *out,
                          const wend_ev_approval_ask *e)
{
    size_t room = v->width > BEGINNING_SPARE ? v->width - BEGINNING_SPARE : 1;

    if (v->paints || e->args_json.len <= BEGINNING_LINES * v->width)
        return;
    buf_cstr(out, "  starts with: ");
    term_line(out, e->name, 100);
    buf_char(out, ' ');
    term_line(out, e->args_json, BEGINNING_LINES * room);
    buf_char(out, '\n');
}

/* Offer always and never only if a rule can express the call. */
static void put_question(const struct approvals *a, struct buf *out)
{
    wend_str rule = a->queue[0]->u.approval_ask.rule;

    buf_cstr(out, "allow? [y]es [n]o");
    if (remember_can(rule)) {
        buf_cstr(out, ", or [a]lways n[e]ver here for every ");
        term_line(out, rule, 200);
    }
    buf_char(out, ' ');
}

static void put_subject(const struct approvals *a, struct buf *out,
                        const wend_run *run)
{
    const wend_ev_approval_ask *e = &a->queue[0]->u.approval_ask;

    buf_cstr(out, e->action.ptr ? "Action " : "The model ");
    if (e->action.ptr) {
        term_line(out, e->action, 60);
        buf_char(out, ' ');
    }
    if (!str_is(a->queue[0]->run, wend_run_id(run))) {
        buf_cstr(out, "of run ");
        term_line(out, a->queue[0]->run, 40);
        buf_char(out, ' ');
    }
    buf_cstr(out, "wants to call ");
    term_line(out, e->name, 100);
    buf_cstr(out, " with\n");
}

/* Everything that a yes allows is on the screen, or reported as omitted. */
static void put_arguments(const struct view *v, struct buf *out, wend_str args)
{
    wend_str shown = args;
    size_t room =
        v->panel.height > ROWS_BESIDE ? v->panel.height - ROWS_BESIDE : 1;
    size_t more;

    if (shown.len > ARGS_SHOWN_MAX)
        shown.len = ARGS_SHOWN_MAX;
    if (v->paints) {
        more = term_rows(out, shown, v->width, room);
        if (more)
            buf_fmt(out, "  ... and %zu more lines\n", more);
    } else {
        buf_cstr(out, "  ");
        term_text(out, shown);
        buf_char(out, '\n');
    }
    if (shown.len < args.len)
        buf_fmt(out, "  ... and %zu more bytes\n", args.len - shown.len);
}

static void put_ask(const struct approvals *a, const struct view *v,
                    const wend_run *run, struct buf *out)
{
    const wend_ev_approval_ask *e = &a->queue[0]->u.approval_ask;

    put_subject(a, out, run);
    put_arguments(v, out, e->args_json);
    put_reasons(v, out, e);
    put_beginning(v, out, e);
    put_question(a, out);
}

void approvals_show(struct approvals *a, struct view *v, const wend_run *run)
{
    struct buf text = {.mem = &v->mem};

    if (a->shown || !a->count ||
        (a->lock >= 0 && flock(a->lock, LOCK_EX | LOCK_NB)))
        return;
    if (v->paints) {
        put_ask(a, v, run, &text);
        live_lift(v); /* a question is painted once */
        buf_clear(&v->question);
        term_rows(&v->question, buf_view(&text), v->width, SIZE_MAX);
        v->question.failed |= text.failed;
        buf_free(&text);
    } else {
        buf_char(view_talk(v), '\n');
        put_ask(a, v, run, view_talk(v));
    }
    /* Input typed before the question does not answer it. */
    keys_drop();
    a->line_len = 0;
    a->shown = true;
}

static void drop(struct approvals *a, struct view *v, size_t i)
{
    wend_event_free(a->queue[i]);
    a->count--;
    memmove(a->queue + i, a->queue + i + 1, (a->count - i) * sizeof *a->queue);
    if (i == 0) {
        a->shown = false;
        buf_clear(&v->question);
        if (a->lock >= 0)
            flock(a->lock, LOCK_UN);
    }
}

bool approvals_held(const struct approvals *a)
{
    return a->count && !a->shown;
}

static void settled(struct approvals *a, struct view *v, const wend_event *ev,
                    wend_str call)
{
    for (size_t i = a->count; i-- > 0 && call.ptr;)
        if (str_eq(a->queue[i]->run, ev->run) &&
            str_eq(subject(a->queue[i]), call)) {
            if (i == 0 && a->shown && !v->paints)
                buf_char(view_talk(v), '\n'); /* leaves the question's line */
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

void approvals_event(struct approvals *a, struct view *v, wend_run *run,
                     const wend_event *ev)
{
    const wend_ev_approval_answer *answer = &ev->u.approval_answer;

    if (a->tty < 0) {
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_approve(asking(ev, run), subject(ev), false, "nobody");
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
    approvals_show(a, v, run);
}

enum answer { ANSWER_NONE, ANSWER_NO, ANSWER_YES, ANSWER_NEVER, ANSWER_ALWAYS };

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

static void tell(struct approvals *a, struct view *v, wend_run *run,
                 enum answer answer)
{
    const wend_ev_approval_ask *e = &a->queue[0]->u.approval_ask;
    bool yes = answer == ANSWER_YES || answer == ANSWER_ALWAYS;

    /* Fails only if the approval was settled meanwhile: nothing to do. */
    if (answer < ANSWER_NEVER) {
        wend_run_approve(asking(a->queue[0], run), subject(a->queue[0]), yes,
                         "terminal");
        return;
    }
    keep_rule(v, e->rule, yes);
    wend_run_approve_always(asking(a->queue[0], run), subject(a->queue[0]), yes,
                            "terminal");
}

/* A key is an answer where keys come one by one, else a line is. */
static bool take_line(struct approvals *a, bool keys, wend_str *line)
{
    char *end = memchr(a->line, '\n', a->line_len);
    bool whole = keys || end || a->line_len == sizeof a->line;

    *line = (wend_str){a->line, keys  ? 1
                                : end ? (size_t)(end - a->line)
                                      : a->line_len};
    return whole;
}

void approvals_read(struct approvals *a, struct view *v, wend_run *run)
{
    ssize_t n =
        read(a->tty, a->line + a->line_len, sizeof a->line - a->line_len);
    enum answer answer;
    wend_str line;

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0)
        a->line_len += (size_t)n;
    if (n > 0 && !take_line(a, v->keys, &line))
        return;
    if (!v->keys)
        panel_entered(&v->panel);
    answer =
        n <= 0 || line.ptr[0] == END_OF_FILE ? ANSWER_NO : read_answer(line);
    a->line_len = 0;
    if (answer == ANSWER_NONE ||
        (answer >= ANSWER_NEVER &&
         !remember_can(a->queue[0]->u.approval_ask.rule))) {
        if (v->paints)
            live_lift(v); /* it is asked again */
        else
            put_question(a, view_talk(v));
        return;
    }
    tell(a, v, run, answer);
    drop(a, v, 0);
    approvals_show(a, v, run);
}
