/*
 * script_driver.c - a model that answers from a file, at its own pace.
 *
 * The file is read by wire/file/script; here answers are cut into pieces and
 * given out one by one, so that the code behind it meets a real stream.
 */

#include "lib/run/shell.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "host/file.h"
#include "wire/file/script.h"

enum {
    BURST = 64,   /* pieces without delay before others get a turn */
    STALL_MS = 1, /* look again when the log's writer is behind */
};

/* Entries of the script that a run has used; its sessions share it. */
struct script_use {
    struct script_use *next;
    struct wend_run *run;
    unsigned sessions;
    size_t first; /* entries before it are used up */
    uint32_t used[];
};

struct script_driver {
    struct driver base;
    struct script_use *uses;
    struct mem mem;
    struct arena arena;
    struct script *script;
};

enum stage { ST_IDLE, ST_THINKING, ST_TEXT, ST_CALLS, ST_DONE };

struct script_session {
    struct session base;
    struct script_driver *driver;
    struct wend_run *run;
    struct timer_node timer;
    struct script_use *use;
    int64_t ask, turn, pieces;
    const struct script_entry *entry;
    enum stage stage;
    struct buf text; /* what this stage streams, templates filled */
    size_t at;       /* how much of it is out */
    size_t call;     /* which call, in ST_CALLS */
    int handle;      /* of that call in the reply; -1 = not opened */
};

/* ---- Choosing ------------------------------------------------------------ */

static wend_str last_message(const struct turn *t)
{
    return t->history && t->history->text.ptr ? t->history->text : STR("");
}

static wend_str last_result(const struct turn *t)
{
    const struct msg *m = t->history;

    while (m && m->role != ROLE_TOOL)
        m = m->prev;
    return m && m->text.ptr ? m->text : STR("");
}

static bool used_up(const struct script_session *s, size_t i)
{
    const struct script_entry *e = &s->driver->script->entries[i];

    return e->repeat && s->use->used[i] >= (uint64_t)e->repeat;
}

static const struct script_entry *choose(struct script_session *s,
                                         const struct turn *t)
{
    const struct script *all = s->driver->script;
    struct script rest = *all;
    struct script_use *use = s->use;
    int i;

    while (use->first < all->count && used_up(s, use->first))
        use->first++;
    rest.entries += use->first;
    rest.repeats += use->first;
    rest.count -= use->first;
    i = script_pick(&rest, use->used + use->first,
                    script_purpose(all, t->purpose), last_message(t));
    if (i < 0)
        return NULL;
    use->used[use->first + (size_t)i]++;
    return &rest.entries[i];
}

/* ---- Streaming ----------------------------------------------------------- */

static void enter(struct script_session *s, enum stage stage)
{
    const struct script_entry *e = s->entry;
    wend_str result = last_result(&s->run->turn);

    s->stage = stage;
    s->at = 0;
    buf_clear(&s->text);
    if (stage == ST_THINKING)
        script_fill(&s->text, e->thinking, s->turn, result, false);
    else if (stage == ST_TEXT)
        script_fill(&s->text, e->text, s->turn, result, false);
    else if (stage == ST_CALLS && s->call < e->calls_count) {
        script_fill(&s->text, e->calls[s->call].args, s->turn, STR_NONE, true);
        s->handle = -1;
    }
    if (s->text.failed)
        shell_fail(s->run, WEND_E_NOMEM, "out of memory");
}

static void fail_now(struct script_session *s, const struct model_error *e)
{
    s->stage = ST_IDLE;
    shell_model_fail(s->run, s->ask, e);
}

static void fail_as_told(struct script_session *s)
{
    struct model_error e = {.code = s->entry->error.code,
                            .message = s->entry->error.message};

    fail_now(s, &e);
}

static void finish(struct script_session *s)
{
    const struct script_entry *e = s->entry;

    if (e->error.code.ptr) {
        fail_as_told(s);
        return;
    }
    s->stage = ST_IDLE;
    shell_done(s->run, s->ask,
               e->finish.ptr    ? e->finish
               : e->calls_count ? STR("tool_calls")
                                : STR("stop"),
               &e->usage);
}

static void open_call(struct script_session *s)
{
    const struct script_call *c = &s->entry->calls[s->call];
    struct model_error e = {.code = STR("invalid"),
                            .message = STR("too many calls in one message"),
                            .retry_never = true};

    s->handle = shell_call(s->run, s->ask, c->id, c->name);
    if (s->handle < 0)
        fail_now(s, &e);
}

/* Gives out one piece of the current stage. */
static void give(struct script_session *s)
{
    wend_str rest = {s->text.ptr + s->at, s->text.len - s->at}, piece;

    assert(s->at < s->text.len);
    piece.ptr = rest.ptr;
    piece.len = utf8_take(rest, (size_t)s->entry->chunk);
    s->at += piece.len;
    s->pieces++;
    if (s->stage == ST_THINKING)
        shell_thinking(s->run, s->ask, piece);
    else if (s->stage == ST_TEXT)
        shell_text(s->run, s->ask, piece);
    else
        shell_args(s->run, s->ask, s->handle, piece);
}

/* The stage has been streamed: on to the next one. */
static void advance(struct script_session *s)
{
    switch (s->stage) {
    case ST_THINKING: enter(s, ST_TEXT); break;
    case ST_TEXT:
        s->call = 0;
        enter(s, s->entry->calls_count ? ST_CALLS : ST_DONE);
        break;
    case ST_CALLS:
        shell_seal(s->run, s->ask, s->handle);
        s->call++;
        enter(s, s->call < s->entry->calls_count ? ST_CALLS : ST_DONE);
        break;
    case ST_IDLE:
    case ST_DONE: break;
    }
}

/* Advances until a piece is ready to be given; false if the answer is over.
 * Sealing a call and ending need no piece, and no delay. */
static bool piece_ready(struct script_session *s)
{
    while (s->stage != ST_IDLE && shell_open(s->run, s->ask)) {
        if (s->stage == ST_DONE) {
            finish(s);
            return false;
        }
        if (s->stage == ST_CALLS && s->handle < 0) {
            open_call(s);
            continue;
        }
        if (s->at == s->text.len) {
            advance(s);
            continue;
        }
        if (!s->entry->error.code.ptr || s->pieces < s->entry->error.after)
            return true;
        fail_as_told(s);
    }
    s->stage = ST_IDLE;
    return false;
}

static void wait_ms(struct script_session *s, int64_t ms)
{
    wend_runtime *rt = s->run->rt;

    if (!timer_set(&rt->timers, &s->timer, rt_after(rt, ms)))
        shell_fail(s->run, WEND_E_NOMEM, "out of memory");
}

static void on_timer(struct timer_node *t)
{
    struct script_session *s = container_of(t, struct script_session, timer);
    int burst = s->entry->delay_ms ? 1 : BURST;

    if (!shell_may_read(s->run)) {
        wait_ms(s, STALL_MS);
        return;
    }
    for (int i = 0; i < burst && piece_ready(s); i++)
        give(s);
    if (piece_ready(s))
        wait_ms(s, s->entry->delay_ms);
}

/* ---- The driver ---------------------------------------------------------- */

static struct script_use *use_of(struct script_driver *d, struct wend_run *run)
{
    struct script_use *u = d->uses;

    while (u && u->run != run)
        u = u->next;
    if (!u)
        u = mem_zalloc(&d->mem, sizeof *u + d->script->count * sizeof *u->used);
    if (u && !u->sessions++) {
        u->run = run;
        u->next = d->uses;
        d->uses = u;
    }
    return u;
}

static void use_drop(struct script_driver *d, struct script_use *u)
{
    struct script_use **link = &d->uses;

    assert(u->sessions);
    if (--u->sessions)
        return;
    while (*link != u)
        link = &(*link)->next;
    *link = u->next;
    mem_free(&d->mem, u);
}

static struct session *session_open(struct driver *d, struct wend_run *run)
{
    struct script_driver *sd = (struct script_driver *)(void *)d;
    struct script_session *s = mem_zalloc(&run->rt->mem, sizeof *s);

    if (s)
        s->use = use_of(sd, run);
    if (!s || !s->use) {
        mem_free(&run->rt->mem, s);
        return NULL;
    }
    s->base.ops = d->ops;
    s->driver = sd;
    s->run = run;
    s->timer.fire = on_timer;
    s->text.mem = &run->rt->mem;
    return &s->base;
}

static void session_ask(struct session *base, const struct turn *t, int64_t ask)
{
    struct script_session *s = (struct script_session *)(void *)base;
    static const struct script_entry nothing_left = {
        .error = {{"invalid", 7}, {"script: no turn left", 20}, 0},
        .chunk = 1,
        .first_delay_ms = -1,
    };
    bool any;

    s->ask = ask;
    s->turn = t->counter;
    s->pieces = 0;
    s->entry = choose(s, t);
    if (!s->entry)
        s->entry = &nothing_left;
    enter(s, ST_THINKING);
    any = s->entry->thinking.len || s->entry->text.len || s->entry->calls_count;
    wait_ms(s, s->entry->first_delay_ms >= 0 ? s->entry->first_delay_ms
               : any                         ? s->entry->delay_ms
                                             : 0);
}

/* The answer in the log used up its entry. */
static int64_t session_recall(struct session *base, const struct turn *t)
{
    struct script_session *s = (struct script_session *)(void *)base;
    const struct script_entry *e = choose(s, t);

    return e ? e - s->driver->script->entries : -1;
}

static void session_give_back(struct session *base, const struct turn *t,
                              int64_t taken)
{
    struct script_use *use = ((struct script_session *)(void *)base)->use;

    (void)t;
    assert(taken >= 0 && use->used[taken]);
    use->used[taken]--;
    if (use->first > (size_t)taken)
        use->first = (size_t)taken;
}

static void session_stop(struct session *base)
{
    struct script_session *s = (struct script_session *)(void *)base;

    s->stage = ST_IDLE;
    timer_clear(&s->run->rt->timers, &s->timer);
}

static void session_close(struct session *base)
{
    struct script_session *s = (struct script_session *)(void *)base;

    session_stop(base);
    buf_free(&s->text);
    use_drop(s->driver, s->use);
    mem_free(&s->run->rt->mem, s);
}

static void driver_free(struct driver *d)
{
    struct script_driver *sd = (struct script_driver *)(void *)d;
    struct mem m = sd->mem;

    arena_free(&sd->arena);
    mem_free(&m, sd);
}

static const struct driver_ops script_ops = {
    .open = session_open,
    .ask = session_ask,
    .recall = session_recall,
    .give_back = session_give_back,
    .stop = session_stop,
    .close = session_close,
    .free = driver_free,
};

wend_status script_driver_open(const struct driver_options *o,
                               const struct mem *m, struct driver **out,
                               wend_error *err)
{
    struct script_driver *d = mem_zalloc(m, sizeof *d);
    wend_str spec = o->spec;
    bool is_inline = spec.len && spec.ptr[0] == '{';
    struct buf text = {.mem = m};
    wend_error why = {0};
    wend_status s = WEND_OK;

    if (!d)
        return fail_nomem(err);
    d->base.ops = &script_ops;
    d->mem = *m;
    d->arena.mem = &d->mem;
    if (is_inline)
        buf_str(&text, spec);
    else
        s = file_read(spec.ptr, SCRIPT_BYTES_MAX, &text, err);
    if (s == WEND_OK) {
        wend_str kept = buf_keep(&text, &d->arena);

        s = kept.ptr ? script_parse(kept, &d->arena, &d->script, &why)
                     : fail_nomem(&why);
        if (s != WEND_OK)
            s = fail_in(err, is_inline ? "script" : spec.ptr, &why);
    }
    buf_free(&text);
    if (s != WEND_OK) {
        driver_free(&d->base);
        return s;
    }
    d->base.model = d->script->model;
    *out = &d->base;
    return WEND_OK;
}
