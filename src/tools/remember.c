/*
 * remember.c - remember and recall: facts that outlive a run, in the store.
 *
 * They belong to the user and the agent of the run. What is recalled is what
 * an earlier run was told to keep, maybe by a stranger's text: it is data.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/limits.h"
#include "store/store.h"
#include "tools/tools.h"

enum { WORDS_MAX = 16, NAME_BYTES = 12 };

/* agent/USER/AGENT; lengths, so that no name can look like two. */
static void put_space(struct buf *b, const wend_call *call)
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
    unsigned char digest[SHA256_BYTES];
    char name[2 * NAME_BYTES / 2 + 1];
    struct sha256 sha;

    sha256_init(&sha);
    sha256_add(&sha, text.ptr, text.len);
    sha256_end(&sha, digest);
    hex_text(name, digest, NAME_BYTES / 2);
    return arena_str(a, str_of(name));
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

static wend_status keep_fact(struct tool_job *j, wend_call *call, wend_str text,
                             wend_str name)
{
    struct buf space = {.mem = &j->mem};
    struct store_fact f = {
        .key = name.len ? name : name_of(&j->arena, text),
        .text = text.len ? text : STR_NONE,
        .time_us = call_time_us(call),
    };
    wend_status s;

    put_space(&space, call);
    f.space = buf_view(&space);
    s = space.failed || j->arena.failed
            ? fail_nomem(&j->err)
            : tool_keep(j, call, &f, text.len ? "remembered" : "forgotten");
    buf_free(&space);
    return s;
}

wend_status tool_remember(void *env, wend_call *call)
{
    struct tool_job j;
    wend_str text = STR_NONE, name = STR("");
    wend_status s = tool_begin(&j, call);

    (void)env;
    if (s == WEND_OK)
        s = tool_str(&j, "text", &text);
    if (s == WEND_OK)
        s = tool_str(&j, "name", &name);
    if (s == WEND_OK)
        s = check_fact(&j, text, name);
    if (s == WEND_OK)
        s = keep_fact(&j, call, text, name);
    if (s != WEND_OK)
        return tool_end(&j, call, s);
    arena_free(&j.arena); /* the answer comes from the store */
    return WEND_OK;
}

/* ---- recall -------------------------------------------------------------- */

struct found {
    wend_str key, text;
    int64_t seen; /* how many were seen before it: newest first */
    int score;
};

struct search {
    struct arena *arena;
    wend_str words[WORDS_MAX];
    size_t words_count;
    struct found best[FACTS_TOLD_MAX];
    size_t count, limit;
    int64_t seen;
};

static void take_words(struct search *x, wend_str query)
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

static int score(const struct search *x, const struct store_fact *f)
{
    int points = 0;

    for (size_t i = 0; i < x->words_count; i++)
        points +=
            contains(f->text, x->words[i]) || contains(f->key, x->words[i]);
    return points;
}

/* Keeps the best, in order; among equals those that were told first. */
static bool on_fact(void *ctx, const struct store_fact *f)
{
    struct search *x = ctx;
    struct found n = {.seen = x->seen++, .score = score(x, f)};
    size_t at = x->count;

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
    return x->seen < FACTS_SEEN_MAX && !x->arena->failed;
}

static wend_status search(struct tool_job *j, wend_call *call, wend_str query,
                          int64_t limit)
{
    struct search x = {.arena = &j->arena};
    struct buf space = {.mem = &j->mem};
    wend_store *store = call_store(call);
    wend_status s;

    x.limit = limit < FACTS_TOLD_MAX ? (size_t)limit : FACTS_TOLD_MAX;
    take_words(&x, query);
    put_space(&space, call);
    s = space.failed
            ? fail_nomem(&j->err)
            : store->ops->facts(store, buf_view(&space), STR_NONE,
                                call_time_us(call), on_fact, &x, &j->err);
    buf_free(&space);
    if (s == WEND_OK && j->arena.failed)
        s = fail_nomem(&j->err);
    for (size_t i = 0; s == WEND_OK && i < x.count; i++) {
        buf_cstr(&j->out, "- ");
        buf_str(&j->out, x.best[i].key);
        buf_cstr(&j->out, ": ");
        buf_str(&j->out, x.best[i].text);
        buf_char(&j->out, '\n');
    }
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
    wend_status s = tool_begin(&j, call);

    (void)env;
    if (s == WEND_OK)
        s = tool_str(&j, "query", &query);
    if (s == WEND_OK)
        s = tool_i64(&j, "limit", 1, &limit);
    if (s == WEND_OK)
        s = search(&j, call, query, limit);
    return tool_end(&j, call, s);
}
