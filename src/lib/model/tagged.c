/*
 * tagged.c - the tag protocol between a driver and the shell.
 *
 * A model that writes plans may write them as tags in its text
 * (wire/plan/tags.h); the shell sees thoughts, text and a call of the tool
 * `plan`. A model that calls no tools gets its own messages back as tags, and
 * the results of its plans as messages of the user.
 */
#include "lib/run/shell.h"

#include <string.h>

#include "wire/plan/tags.h"

struct tagging {
    struct tags tags;
    struct wend_run *run;
    int64_t ask;
    int call; /* of the reply, that its actions are; -1: none */
    bool reading;
    struct turn turn; /* as a model without tools is asked */
    struct config config;
    const struct msg *seen; /* newest message that `turn` has, too */
};

/* ---- What it writes ------------------------------------------------------ */

static void on_text(void *ctx, wend_str piece)
{
    struct tagging *g = ctx;

    shell_plain(g->run, g->ask, piece);
}

static void on_thinking(void *ctx, wend_str piece)
{
    struct tagging *g = ctx;

    shell_thinking(g->run, g->ask, piece);
}

static void on_plan(void *ctx)
{
    struct tagging *g = ctx;

    g->call = shell_call(g->run, g->ask, STR_NONE, STR("plan"));
}

static void on_args(void *ctx, wend_str piece)
{
    struct tagging *g = ctx;

    shell_args(g->run, g->ask, g->call, piece);
}

static void on_seal(void *ctx)
{
    struct tagging *g = ctx;

    shell_seal(g->run, g->ask, g->call);
}

static void on_warn(void *ctx, wend_str message)
{
    struct tagging *g = ctx;
    struct input in = {.kind = IN_WARN, .ask = g->ask, .text = message};

    shell_input(g->run, &in);
}

static const struct tags_sink sink = {
    .text = on_text,
    .thinking = on_thinking,
    .plan = on_plan,
    .args = on_args,
    .seal = on_seal,
    .warn = on_warn,
};

static struct tagging *tagging_of(struct wend_run *r)
{
    if (!r->tagging) {
        r->tagging = mem_zalloc(&r->rt->mem, sizeof *r->tagging);
        if (r->tagging)
            r->tagging->run = r;
    }
    return r->tagging;
}

void tagged_again(struct wend_run *r)
{
    struct tagging *g = r->tagging;

    if (g && g->reading)
        tags_free(&g->tags);
    if (g)
        g->reading = false;
}

static struct tagging *reading_of(struct wend_run *r, int64_t ask)
{
    struct tagging *g = tagging_of(r);

    if (g && g->reading && g->ask != ask)
        tagged_again(r);
    if (g && !g->reading) {
        tags_init(&g->tags, &r->rt->mem, &sink, g);
        g->ask = ask;
        g->call = -1;
        g->reading = true;
    }
    return g;
}

void tagged_text(struct wend_run *r, int64_t ask, wend_str piece)
{
    struct tagging *g = reading_of(r, ask);

    if (!g || !tags_text(&g->tags, piece))
        shell_fail(r, WEND_E_NOMEM, "out of memory");
}

/* The reply says what the tags said: an answer that is not the last one, or
 * one that is, whatever its actions give. */
wend_str tagged_end(struct wend_run *r, int64_t ask, wend_str finish)
{
    struct tagging *g = r->tagging;

    if (!g || !g->reading || g->ask != ask)
        return finish;
    if (!tags_end(&g->tags))
        shell_fail(r, WEND_E_NOMEM, "out of memory");
    if (!tags_is_final(&g->tags))
        r->reply.more = true;
    else if (g->tags.has_response && g->call >= 0)
        finish = STR("final");
    tagged_again(r);
    return finish;
}

void tagged_free(struct wend_run *r)
{
    tagged_again(r);
    mem_free(&r->rt->mem, r->tagging);
    r->tagging = NULL;
}

/* ---- What it is asked with ----------------------------------------------- */

static void put_actions(struct buf *b, const struct call *c,
                        struct arena *scratch)
{
    const struct json *args = json_parse(c->args, scratch, NULL);
    const struct json *list = json_get(args, "actions");

    for (const struct json *a = list ? list->first : NULL; a; a = a->next) {
        buf_cstr(b, "<action>");
        json_put(b, a);
        buf_cstr(b, "</action>\n");
    }
}

static void put_said(struct buf *b, const struct msg *m, struct arena *scratch)
{
    if (m->thinking.len) {
        buf_cstr(b, "<thought>");
        buf_str(b, m->thinking);
        buf_cstr(b, "</thought>\n");
    }
    for (uint32_t i = 0; m->calls && i <= m->calls->index; i++)
        for (const struct call *c = m->calls; c; c = c->prev)
            if (c->index == i)
                put_actions(b, c, scratch);
    if (m->text.len) {
        buf_fmt(b, "<response final=\"%s\">", m->calls ? "false" : "true");
        buf_str(b, m->text);
        buf_cstr(b, "</response>");
    }
}

/* As a model that knows no tools would have said or heard it. */
static bool add_plain(struct tagging *g, const struct msg *m)
{
    struct wend_run *r = g->run;
    struct arena scratch = {.mem = &r->rt->mem};
    struct buf b = {.mem = &r->rt->mem};
    struct msg *plain = arena_alloc(&r->arena, sizeof *plain);

    if (plain) {
        plain->role = m->role == ROLE_TOOL ? ROLE_USER : m->role;
        plain->model = m->model;
        if (m->role == ROLE_ASSISTANT)
            put_said(&b, m, &scratch);
        else if (m->role == ROLE_TOOL)
            buf_fmt(&b, "What `%.*s` gave:\n", (int)m->name.len, m->name.ptr);
        if (m->role != ROLE_ASSISTANT)
            buf_str(&b, m->text);
        plain->text = arena_str(&r->arena, b.len ? buf_view(&b) : STR(""));
        turn_history_add(&g->turn, plain);
    }
    r->arena.failed |= b.failed || scratch.failed;
    arena_free(&scratch);
    buf_free(&b);
    return plain && !r->arena.failed;
}

/* Oldest first, those after the newest that is there already. A compaction
 * begins another conversation. */
static bool add_new(struct tagging *g, const struct msg *newest)
{
    if (g->seen && !msg_is_in(newest, g->seen)) {
        g->seen = NULL;
        g->turn.history = NULL;
    }
    while (g->seen != newest) {
        const struct msg *m = newest;

        while (m->prev != g->seen)
            m = m->prev;
        if (!add_plain(g, m))
            return false;
        g->seen = m;
    }
    return true;
}

const struct turn *tagged_turn(struct wend_run *r)
{
    const struct config *c = r->turn.config;
    const struct msg *history;
    struct tagging *g;

    tagged_again(r);
    if (!c->plan_tool || !c->no_tool_calls)
        return &r->turn;
    g = tagging_of(r);
    if (!g)
        return NULL;
    history = g->turn.history;
    if (!history) { /* once: a driver knows a config by its place */
        g->config = *c;
        g->config.tools = NULL;
        g->config.tools_count = 0;
    }
    g->turn = r->turn;
    g->turn.config = &g->config;
    g->turn.history = history;
    return add_new(g, r->turn.history) ? &g->turn : NULL;
}
