/*
 * facts.c - values that outlive a run, by name in the store: what remember and
 * recall keep for an agent, and relics of the kind kv for the actions of plans.
 *
 * Facts belong to the user, the agent and the folder of the run, or to all
 * folders if the agent says so; the names of a relic are shared by all runs of
 * the store. A value is kept with the labels of the run that stored it, and a
 * run that reads it gets them. Facts of older versions have a space of their
 * own, without folder and labels: they count as text from an untrusted source.
 */
#include <ctype.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/label.h"
#include "base/limits.h"
#include "store/store.h"
#include "tools/tools.h"

enum { WORDS_MAX = 16, NAME_DIGITS = 12 };

/* ---- Keeping ------------------------------------------------------------- */

struct fact_waiter {
    wend_call *call;
    const char *answer;
};

/* It may outlive the runtime and its allocator. */
static const struct mem libc = {0};

/* On the store's thread, or from inside keep. */
static void on_kept(void *ctx, wend_status s)
{
    struct fact_waiter *w = ctx;

    if (s == WEND_OK)
        wend_call_return(w->call, str_of(w->answer));
    else
        wend_call_fail(w->call, s == WEND_E_NOMEM ? "out of memory"
                                                  : "the store failed");
    mem_free(&libc, w);
}

/* Keeps a fact, or forgets it if its text is absent, and then answers the call
 * with static text; answer NULL: the call does not wait. */
static wend_status keep(struct tool_job *j, wend_call *call,
                        const struct store_fact *fact, const char *answer)
{
    wend_store *store = call_store(call);
    struct fact_waiter *w = answer ? mem_alloc(&libc, sizeof *w) : NULL;

    if (answer && !w)
        return fail_nomem(&j->err);
    if (w)
        *w = (struct fact_waiter){call, answer};
    store->ops->keep(store, fact, w ? on_kept : NULL, w);
    return WEND_OK;
}

/* The text of a fact: a value, with the labels of the run that concern it. */
static wend_str with_labels(struct tool_job *j, const wend_call *call,
                            const struct json *value, wend_str text)
{
    struct buf b = {.mem = &j->mem};

    json_open(&b, NULL, '{');
    labels_add(&b, "labels",
               call_labels(call) & ~(uint32_t)WEND_LABEL_EXTERNAL_EFFECT);
    json_add(&b, "value", value);
    json_add_str(&b, "text", text);
    json_close(&b, '}');
    return buf_keep(&b, &j->arena);
}

static wend_status look(struct tool_job *j, const wend_call *call,
                        wend_str space, wend_str key, store_fact_fn fn,
                        void *ctx)
{
    wend_store *store = call_store(call);
    wend_status s = WEND_OK;

    if (!j->arena.failed)
        s = store->ops->facts(store, space, key, call_time_us(call), fn, ctx,
                              &j->err);
    return s == WEND_OK && j->arena.failed ? fail_nomem(&j->err) : s;
}

/* With lengths, so that no name can look like two. */
static wend_str space_of(struct tool_job *j, const wend_call *call)
{
    wend_str user = call_user(call), agent = call_agent(call);
    wend_str folder = call_folder(call);
    struct buf b = {.mem = &j->mem};

    buf_fmt(&b, "fact/%s/%zu/", folder.ptr ? "folder" : "user", user.len);
    buf_str(&b, user);
    buf_fmt(&b, "/%zu/", agent.len);
    buf_str(&b, agent);
    if (folder.ptr)
        buf_char(&b, '/');
    buf_str(&b, folder);
    return buf_keep(&b, &j->arena);
}

/* The space of older versions. */
static wend_str old_space_of(struct tool_job *j, const wend_call *call)
{
    wend_str user = call_user(call);
    struct buf b = {.mem = &j->mem};

    buf_fmt(&b, "agent/%zu/", user.len);
    buf_str(&b, user);
    buf_char(&b, '/');
    buf_str(&b, call_agent(call));
    return buf_keep(&b, &j->arena);
}

/* ---- remember ------------------------------------------------------------ */

/* The same text has the same name, so that it is kept once. */
static wend_str name_of(struct arena *a, wend_str text)
{
    char hex[SHA256_HEX + 1];

    sha256_hex(hex, text);
    return arena_str(a, (wend_str){hex, NAME_DIGITS});
}

static wend_status check_fact(struct tool_job *j, wend_str text, wend_str name)
{
    if (text.len > FACT_BYTES_MAX)
        return fail(&j->err, WEND_E_LIMIT,
                    "the text has %zu bytes, at most %d are remembered",
                    text.len, FACT_BYTES_MAX);
    if (name.len > FACT_NAME_MAX)
        return fail(&j->err, WEND_E_LIMIT, "the name is over %d bytes",
                    FACT_NAME_MAX);
    if (!text.len && !name.len)
        return fail(&j->err, WEND_E_INVAL,
                    "there is nothing to remember: give a text; to forget a "
                    "fact give its name and an empty text");
    return WEND_OK;
}

static bool on_old(void *ctx, const struct store_fact *f)
{
    (void)f;
    *(bool *)ctx = true;
    return false;
}

/* The same name also replaces, or forgets, a fact of an older version. */
static wend_status drop_old(struct tool_job *j, wend_call *call, wend_str key)
{
    struct store_fact old = {.space = old_space_of(j, call), .key = key};
    bool there = false;
    wend_status s = look(j, call, old.space, key, on_old, &there);

    return s == WEND_OK && there ? keep(j, call, &old, NULL) : s;
}

static wend_status keep_fact(struct tool_job *j, wend_call *call, wend_str text,
                             wend_str name)
{
    struct store_fact f = {
        .space = space_of(j, call),
        .key = name.len ? name : name_of(&j->arena, text),
        .text = text.len ? with_labels(j, call, NULL, text) : STR_NONE,
        .time_us = call_time_us(call),
    };
    wend_status s = drop_old(j, call, f.key);

    return s == WEND_OK
               ? keep(j, call, &f, text.len ? "remembered" : "forgotten")
               : s;
}

wend_status tool_remember(void *env, wend_call *call)
{
    struct tool_job j;
    wend_str text = STR_NONE, name = STR("");
    wend_status s = tool_begin(
        &j, call, TOOL_ARGS({"text", .str = &text}, {"name", .str = &name}));

    (void)env;
    if (s == WEND_OK)
        s = check_fact(&j, text, name);
    if (s == WEND_OK)
        s = keep_fact(&j, call, text, name);
    return tool_leave(&j, call, s); /* the answer comes from the store */
}

/* ---- recall -------------------------------------------------------------- */

struct found_fact {
    wend_str key, text;
    int score;
    uint32_t labels;
};

struct fact_search {
    struct arena *arena;
    wend_str words[WORDS_MAX];
    size_t words_count;
    struct found_fact best[FACTS_TOLD_MAX];
    size_t count, limit;
    int64_t seen;
    bool old; /* it looks at facts of older versions */
};

static void take_words(struct fact_search *x, wend_str query)
{
    size_t at = 0;

    while (at < query.len && x->words_count < WORDS_MAX) {
        size_t begin;

        while (at < query.len && isspace((unsigned char)query.ptr[at]))
            at++;
        begin = at;
        while (at < query.len && !isspace((unsigned char)query.ptr[at]))
            at++;
        if (at > begin)
            x->words[x->words_count++] =
                (wend_str){query.ptr + begin, at - begin};
    }
}

static bool contains(wend_str text, wend_str word)
{
    for (size_t i = 0; i + word.len <= text.len; i++)
        if (!strncasecmp(text.ptr + i, word.ptr, word.len))
            return true;
    return false;
}

static int score(const struct fact_search *x, const struct found_fact *f)
{
    int points = 0;

    for (size_t i = 0; i < x->words_count; i++)
        points +=
            contains(f->text, x->words[i]) || contains(f->key, x->words[i]);
    return points;
}

/* The text of what cannot be read is absent. */
static void read_fact(const struct fact_search *x, const struct store_fact *f,
                      struct arena *a, struct found_fact *out)
{
    const struct json *all;

    out->key = f->key;
    out->text = f->text;
    out->labels = WEND_LABEL_UNTRUSTED_SOURCE;
    if (x->old)
        return;
    all = json_parse_own(f->text, a, NULL);
    out->text = json_str(json_get(all, "text"));
    out->labels = labels_read(json_get(all, "labels"));
}

/* Keeps the best, in order; among equals those that were told first. */
static void take(struct fact_search *x, const struct found_fact *f)
{
    size_t at = x->count;
    struct found_fact n = *f;

    while (at && x->best[at - 1].score < n.score)
        at--;
    if (at < x->limit && (n.score || !x->words_count)) {
        size_t moved = x->count < x->limit ? x->count : x->limit - 1;

        n.key = arena_str(x->arena, f->key);
        n.text = arena_str(x->arena, f->text);
        memmove(x->best + at + 1, x->best + at, (moved - at) * sizeof *x->best);
        x->best[at] = n;
        x->count = moved + 1;
    }
}

static bool on_found(void *ctx, const struct store_fact *f)
{
    struct fact_search *x = ctx;
    struct arena room = {.mem = x->arena->mem};
    struct found_fact n = {0};

    x->seen++;
    read_fact(x, f, &room, &n);
    n.score = score(x, &n);
    if (n.text.ptr)
        take(x, &n);
    x->arena->failed |= room.failed;
    arena_free(&room);
    return x->seen < FACTS_SEEN_MAX && !x->arena->failed;
}

static wend_status search(struct tool_job *j, wend_call *call, wend_str query,
                          int64_t limit)
{
    struct fact_search x = {.arena = &j->arena};
    uint32_t labels = 0;
    wend_status s;

    x.limit = limit < call_memories(call) ? (size_t)limit : call_memories(call);
    take_words(&x, query);
    s = look(j, call, space_of(j, call), STR_NONE, on_found, &x);
    x.old = true;
    if (s == WEND_OK)
        s = look(j, call, old_space_of(j, call), STR_NONE, on_found, &x);
    for (size_t i = 0; s == WEND_OK && i < x.count; i++) {
        buf_cstr(&j->out, "- ");
        buf_str(&j->out, x.best[i].key);
        buf_cstr(&j->out, ": ");
        buf_str(&j->out, x.best[i].text);
        buf_char(&j->out, '\n');
        labels |= x.best[i].labels;
    }
    call_bring(call, labels);
    if (s == WEND_OK && !x.count)
        buf_cstr(&j->out, x.seen ? "nothing that is remembered fits"
                                 : "nothing is remembered yet");
    return s;
}

wend_status tool_recall(void *env, wend_call *call)
{
    struct tool_job j;
    wend_str query = STR("");
    int64_t limit = 20;
    wend_status s =
        tool_begin(&j, call,
                   TOOL_ARGS({"query", .str = &query},
                             {"limit", .number = &limit, .min = 1}));

    (void)env;
    if (s == WEND_OK)
        s = search(&j, call, query, limit);
    return tool_end(&j, call, s);
}

/* ---- Relics of the kind kv ----------------------------------------------- */

static wend_str relic_space_of(struct tool_job *j, const struct relic_kv *kv)
{
    struct buf b = {.mem = &j->mem};

    buf_cstr(&b, "relic/");
    buf_str(&b, kv->name);
    return buf_keep(&b, &j->arena);
}

static wend_status take_value(struct tool_job *j, wend_call *call,
                              wend_str text)
{
    const struct json *all = json_parse_own(text, &j->arena, NULL);
    const struct json *value = json_get(all, "value");

    if (j->arena.failed)
        return fail_nomem(&j->err);
    if (!value)
        return fail(&j->err, WEND_E_CORRUPT, "the value cannot be read");
    call_bring(call, labels_read(json_get(all, "labels")));
    json_put(&j->out, value);
    return WEND_OK;
}

/* value NULL: the name is forgotten. */
static wend_status relic_put(struct tool_job *j, wend_call *call,
                             const struct relic_kv *kv, wend_str key,
                             const struct json *value, int64_t ttl_ms)
{
    struct store_fact f = {
        .space = relic_space_of(j, kv),
        .key = key,
        .text = value ? with_labels(j, call, value, STR_NONE) : STR_NONE,
        .time_us = call_time_us(call),
    };

    if (ttl_ms)
        f.until_us = f.time_us + ttl_ms * 1000;
    return j->arena.failed ? fail_nomem(&j->err) : keep(j, call, &f, "true");
}

/* ttl may be NULL: then it is not an argument. */
static wend_status begin(struct tool_job *j, wend_call *call, wend_str *key,
                         wend_str *ttl)
{
    wend_status s = tool_begin(
        j, call,
        TOOL_ARGS({"key", .str = key}, {ttl ? "ttl" : NULL, .str = ttl}));

    if (s == WEND_OK && (!key->len || key->len > RELIC_KEY_MAX))
        s = fail(&j->err, WEND_E_LIMIT, "the key has %zu bytes, not 1 to %d",
                 key->len, RELIC_KEY_MAX);
    return s;
}

wend_status relic_kv_put(void *ctx, wend_call *call)
{
    const struct relic_kv *kv = ctx;
    int64_t ttl_ms = kv->ttl_ms;
    const struct json *value;
    struct tool_job j;
    wend_str key = STR_NONE, ttl = STR("");
    wend_status s = begin(&j, call, &key, &ttl);

    if (s == WEND_OK && ttl.len && !str_to_ms(ttl, &ttl_ms))
        s = fail(&j.err, WEND_E_INVAL,
                 "ttl is not a duration such as 90s or 2h");
    value = s == WEND_OK ? json_get(j.args, "value") : NULL;
    if (s == WEND_OK && !value)
        s = fail(&j.err, WEND_E_INVAL, "there is no value");
    if (s == WEND_OK)
        s = relic_put(&j, call, kv, key, value, ttl_ms);
    return tool_leave(&j, call, s); /* the answer comes from the store */
}

wend_status relic_kv_delete(void *ctx, wend_call *call)
{
    struct tool_job j;
    wend_str key = STR_NONE;
    wend_status s = begin(&j, call, &key, NULL);

    if (s == WEND_OK)
        s = relic_put(&j, call, ctx, key, NULL, 0);
    return tool_leave(&j, call, s);
}

static bool on_value(void *ctx, const struct store_fact *f)
{
    buf_str(ctx, f->text);
    return false;
}

wend_status relic_kv_get(void *ctx, wend_call *call)
{
    struct tool_job j;
    wend_str key = STR_NONE;
    wend_status s = begin(&j, call, &key, NULL);
    struct buf text = {.mem = &j.mem};

    if (s == WEND_OK)
        s = look(&j, call, relic_space_of(&j, ctx), key, on_value, &text);
    if (s == WEND_OK && text.failed)
        s = fail_nomem(&j.err);
    if (s == WEND_OK && text.len)
        s = take_value(&j, call, buf_view(&text));
    else if (s == WEND_OK)
        buf_cstr(&j.out, "null");
    buf_free(&text);
    return tool_end(&j, call, s);
}
