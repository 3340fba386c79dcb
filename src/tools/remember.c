/*
 * remember.c - remember and recall: facts that outlive a run, in the store.
 *
 * They belong to the user, the agent and the folder of the run, or to all
 * folders if the agent says so. A fact is kept with the labels of the run that
 * stored it, and a run that recalls it gets them, too. Facts of older versions
 * have a space of their own, without folder and labels: they count as text from
 * an untrusted source.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/label.h"
#include "base/limits.h"
#include "store/store.h"
#include "tools/tools.h"

enum { WORDS_MAX = 16, NAME_DIGITS = 12 };

/* Lengths, so that no name can look like two. */
static void put_space(struct buf *b, const wend_call *call)
{
    wend_str user = call_user(call), agent = call_agent(call);
    wend_str folder = call_folder(call);

    buf_fmt(b, "fact/%s/%zu/", folder.ptr ? "folder" : "user", user.len);
    buf_str(b, user);
    buf_fmt(b, "/%zu/", agent.len);
    buf_str(b, agent);
    if (folder.ptr)
        buf_char(b, '/');
    buf_str(b, folder);
}

/* The space of older versions. */
static void put_old_space(struct buf *b, const wend_call *call)
{
    wend_str user = call_user(call), agent = call_agent(call);

    buf_fmt(b, "agent/%zu/", user.len);
    buf_str(b, user);
    buf_char(b, '/');
    buf_str(b, agent);
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

/* A name that is given again replaces, or forgets, one of an older version,
 * too. */
static wend_status drop_old(struct tool_job *j, wend_call *call, wend_str key)
{
    wend_store *store = call_store(call);
    struct buf space = {.mem = &j->mem};
    bool there = false;
    wend_status s;

    put_old_space(&space, call);
    s = space.failed
            ? fail_nomem(&j->err)
            : store->ops->facts(store, buf_view(&space), key,
                                call_time_us(call), on_old, &there, &j->err);
    if (s == WEND_OK && there)
        s = tool_keep(
            j, call,
            &(struct store_fact){.space = buf_view(&space), .key = key}, NULL);
    buf_free(&space);
    return s;
}

static wend_status keep_fact(struct tool_job *j, wend_call *call, wend_str text,
                             wend_str name)
{
    struct buf space = {.mem = &j->mem}, kept = {.mem = &j->mem};
    struct store_fact f = {
        .key = name.len ? name : name_of(&j->arena, text),
        .time_us = call_time_us(call),
    };
    wend_status s;

    put_space(&space, call);
    f.space = buf_view(&space);
    if (text.len) {
        json_open(&kept, NULL, '{');
        tool_put_labels(&kept, call);
        json_add_str(&kept, "text", text);
        json_close(&kept, '}');
        f.text = buf_view(&kept);
    }
    s = space.failed || kept.failed || j->arena.failed
            ? fail_nomem(&j->err)
            : drop_old(j, call, f.key);
    if (s == WEND_OK)
        s = tool_keep(j, call, &f, text.len ? "remembered" : "forgotten");
    buf_free(&space);
    buf_free(&kept);
    return s;
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
    int64_t seen; /* how many were seen before it: newest first */
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

static bool on_fact(void *ctx, const struct store_fact *f)
{
    struct fact_search *x = ctx;
    struct arena room = {.mem = x->arena->mem};
    struct found_fact n = {.seen = x->seen++};

    read_fact(x, f, &room, &n);
    n.score = score(x, &n);
    if (n.text.ptr)
        take(x, &n);
    x->arena->failed |= room.failed;
    arena_free(&room);
    return x->seen < FACTS_SEEN_MAX && !x->arena->failed;
}

static wend_status look_in(struct tool_job *j, const wend_call *call,
                           struct fact_search *x,
                           void (*put)(struct buf *b, const wend_call *call))
{
    wend_store *store = call_store(call);
    struct buf space = {.mem = &j->mem};
    wend_status s;

    put(&space, call);
    s = space.failed
            ? fail_nomem(&j->err)
            : store->ops->facts(store, buf_view(&space), STR_NONE,
                                call_time_us(call), on_fact, x, &j->err);
    buf_free(&space);
    return s == WEND_OK && j->arena.failed ? fail_nomem(&j->err) : s;
}

static wend_status search(struct tool_job *j, wend_call *call, wend_str query,
                          int64_t limit)
{
    struct fact_search x = {.arena = &j->arena};
    uint32_t labels = 0;
    wend_status s;

    x.limit = limit < FACTS_TOLD_MAX ? (size_t)limit : FACTS_TOLD_MAX;
    take_words(&x, query);
    s = look_in(j, call, &x, put_space);
    x.old = true;
    if (s == WEND_OK)
        s = look_in(j, call, &x, put_old_space);
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
