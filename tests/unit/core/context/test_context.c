/*
 * test_context.c - how a conversation becomes shorter: room, cuts, what stays.
 */
#include <stdlib.h>

#include "core/context/context.h"
#include "tap.h"

static const struct mem plain;
static const struct token_map average = {.scale = 1000};

/* A conversation in words: u user, a answer, c message with calls whose results
 * follow as digits (bytes: 1 = 10, 2 = 100, ... 5 = 100,000), p a pinned
 * message, s a summary, n a note of the runtime. */
struct talk {
    struct arena a;
    const struct msg *newest;
};

static void add(struct talk *k, struct msg *m)
{
    msg_seal(m);
    msg_link(m, k->newest, 7);
    k->newest = m;
}

static wend_str text_of(struct talk *k, size_t bytes, char fill)
{
    char *p = arena_chars(&k->a, bytes);

    for (size_t i = 0; i < bytes; i++) /* a word is a token */
        p[i] = i % 4 == 3 ? ' ' : i % 4 ? 'x' : fill;
    return (wend_str){p, bytes};
}

static void add_calls(struct talk *k, struct msg *m, const char *results)
{
    static const size_t sizes[] = {0, 10, 100, 1000, 10000, 100000};
    size_t n = strspn(results, "12345");

    for (size_t i = 0; i < n; i++) {
        struct call *c = arena_alloc(&k->a, sizeof *c);
        char id[24];

        snprintf(id, sizeof id, "c%zu", i);
        c->prev = m->calls;
        c->index = (uint32_t)i;
        c->id = arena_str(&k->a, str_of(id));
        c->name = STR("t");
        c->args = STR("{}");
        m->calls = c;
    }
    add(k, m);
    for (size_t i = 0; i < n; i++) {
        struct msg *r = arena_alloc(&k->a, sizeof *r);
        char id[24];

        snprintf(id, sizeof id, "c%zu", i);
        r->role = ROLE_TOOL;
        r->call = arena_str(&k->a, str_of(id));
        r->name = STR("t");
        r->turn = m->index;
        r->text = text_of(k, sizes[results[i] - '0'], 'r');
        add(k, r);
    }
}

static void talk(struct talk *k, const char *words)
{
    *k = (struct talk){.a.mem = &plain};
    for (; *words; words++) {
        struct msg *m = arena_alloc(&k->a, sizeof *m);

        if (strchr(" 12345", *words))
            continue;
        m->role = strchr("ac", *words) ? ROLE_ASSISTANT : ROLE_USER;
        m->pinned = *words == 'p';
        m->summary = *words == 's';
        m->own = strchr("sn", *words);
        m->text = text_of(k, 40, *words);
        if (*words == 'c')
            add_calls(k, m, words + 1);
        else
            add(k, m);
    }
}

/* The same words of a list; a result that was cut is `-`. */
static wend_str words_of(const struct msg *newest, struct arena *a)
{
    size_t n = newest ? (size_t)newest->index + 1 : 0;
    char *p = arena_chars(a, n);

    for (const struct msg *m = newest; m; m = m->prev)
        p[m->index] = m->role == ROLE_TOOL ? (m->whole.ptr ? '-' : 'r')
                      : m->summary         ? 's'
                      : m->calls           ? 'c'
                      : m->own             ? 'n'
                                           : m->text.ptr[0];
    return (wend_str){p, n};
}

static struct model_use model(int64_t window, int64_t output)
{
    return (struct model_use){.context_tokens = window,
                              .window_known = window > 0,
                              .output_tokens = output};
}

static void test_room(void)
{
    static const struct {
        const char *why;
        int64_t window, output, refused, most, known;
    } rows[] = {
        {"92 % if the answer is short", 100000, 1000, 0, 92000, 100000},
        {"room for the answer", 100000, 20000, 0, 80000, 100000},
        {"but no more than a quarter", 100000, 64000, 0, 75000, 100000},
        {"an unknown length of the answer", 100000, 0, 0, 83616, 100000},
        {"an unknown one, a small window", 8000, 0, 0, 6000, 8000},
        {"an unknown window", 0, 1000, 0, 0, 0},
        {"unknown, but a request was refused", 0, 1000, 50000, 45000, 50000},
        {"refused below the window", 100000, 0, 60000, 54000, 60000},
        {"refused above it", 100000, 0, 200000, 83616, 100000},
        {"refused within the reserve: a summary", 3000, 0, 2600, 2250, 2600},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct model_use m = model(rows[i].window, rows[i].output);
        struct context_room r = room_of(&m, 0, rows[i].refused, &average);

        tap_is_i64(r.most, rows[i].most, "%s", rows[i].why);
        tap_is_i64(r.window, rows[i].known, "%s: the window", rows[i].why);
    }
}

static void test_trim(void)
{
    static const struct {
        const char *why, *words, *wanted; /* NULL: it is not worth it */
        int64_t window;
    } rows[] = {
        {"old results are cut, newer ones stay", "u c44 c44 c44 a u",
         "uc--c--crrau", 16000},
        {"short ones stay", "u c22 c22 a u", NULL, 200},
        {"a huge one is cut wherever it is", "u c5", "uc-", 8000},
        {"the newest results stay", "u c4", NULL, 16000},
        {"nothing to cut", "u a u a", NULL, 100},
        {"no message", "", NULL, 100},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct model_use m = model(rows[i].window, 0);
        struct context_room r = room_of(&m, 0, 0, &average);
        struct compaction c = {.readable = true};
        struct talk k;
        bool yes;

        talk(&k, rows[i].words);
        yes = compact_trim(k.newest, &r, &k.a, &c);
        tap_ok(yes == (rows[i].wanted != NULL), "trim: %s", rows[i].why);
        if (yes && rows[i].wanted)
            tap_is_str(words_of(compact_build(k.newest, &c, 7, &k.a), &k.a),
                       rows[i].wanted, "  which");
        arena_free(&k.a);
    }
}

static void test_tail(void)
{
    static const struct {
        const char *why, *words;
        bool summary;
        const char *wanted; /* NULL: it cannot be shorter */
        int64_t window;
    } rows[] = {
        {"the first, the summary, the newest", "u c3 c3 c3 c3 a u c3", true,
         "usucr", 1400},
        {"a summary takes the place of the last one", "u s c3 c3 c3 a u c3",
         true, "usucr", 1000},
        {"without one the last one stays", "u s c3 c3 c3 a u c3", false,
         "usnaucr", 1000},
        {"the newest of the user, not a note", "u c3 u c3 c3 n c3", true,
         "usucr", 1000},
        {"pinned ones stay", "u p c3 p c3 a c3 a u c3", true, "usppucr", 1000},
        {"only one message of the user", "u c3 c3 c3 c3", true, "uscr", 1000},
        {"a batch is never cut in two", "u c3 c3 c222222", true, "uscrrrrrr",
         700},
        {"its results are cut instead", "u c3 c3 c44", true, "usc--", 1000},
        {"a window of 20",
         "u a u a u a u a u a u a u a u a u a u a u a u a "
         "u a u a u a",
         false, "unuauauauauauauauauaua", 800},
        {"one note stands for all", "u n c3 c3 c3 a u c3", false, "unaucr",
         1000},
        {"the user alone", "u", false, NULL, 100},
        {"all of it must stay", "u p p p", true, NULL, 100},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct model_use m = model(rows[i].window, 0);
        struct context_room r = room_of(&m, 0, 0, &average);
        struct compaction c = {.readable = true};
        const struct msg *built;
        struct talk k;
        bool yes;

        talk(&k, rows[i].words);
        yes = compact_tail(k.newest, &r,
                           rows[i].summary ? STR("what was") : STR_NONE, &k.a,
                           &c);
        tap_ok(yes == (rows[i].wanted != NULL), "tail: %s", rows[i].why);
        if (yes && rows[i].wanted) {
            built = compact_build(k.newest, &c, 7, &k.a);
            tap_is_str(words_of(built, &k.a), rows[i].wanted, "  which");
            tap_ok(built->tokens < r.most, "  it fits");
        }
        arena_free(&k.a);
    }
}

static const struct msg *at(const struct msg *m, int64_t index)
{
    while (m->index > index)
        m = m->prev;
    return m;
}

/* What stays has the bytes that it had; what is before the first change is the
 * same message, with the same hash. */
static void test_bytes(void)
{
    struct model_use m = model(16000, 0);
    struct context_room r = room_of(&m, 0, 0, &average);
    struct compaction c = {.readable = true}, again;
    const struct msg *built;
    wend_ev_compacted e;
    struct talk k;

    talk(&k, "u a c44 c44 c44 a u");
    tap_ok(compact_trim(k.newest, &r, &k.a, &c), "bytes: results are cut");
    built = compact_build(k.newest, &c, 7, &k.a);
    tap_ok(at(built, 2) == at(k.newest, 2) && at(built, 3) != at(k.newest, 3),
           "  messages before the first change are shared");
    for (const struct msg *b = built, *o = k.newest; b;
         b = b->prev, o = o->prev)
        if (!b->whole.ptr &&
            (b->text.ptr != o->text.ptr || b->calls != o->calls))
            tap_ok(false, "  message %d has other bytes", (int)b->index);
    e = (wend_ev_compacted){.from = c.from,
                            .kept_json = compaction_kept(&c, &k.a),
                            .results_json =
                                compaction_cuts(&c, k.newest, &k.a)};
    tap_ok(compaction_read(&e, &k.a, &again), "  the event says it all");
    again.readable = true;
    tap_ok(compact_build(k.newest, &again, 7, &k.a)->prefix == built->prefix,
           "  a log gives the same list");
    arena_free(&k.a);
}

/* A log may say anything. */
static void test_forged(void)
{
    static const struct {
        const char *why;
        int64_t from;
        const char *kept, *results;
    } rows[] = {
        {"a message that is not there", 99, "[]", "[]"},
        {"one before the first", -1, "[]", "[]"},
        {"the tail begins with a result", 2, "[0]", "[]"},
        {"a kept one that is not there", 4, "[7]", "[]"},
        {"a kept result", 4, "[2]", "[]"},
        {"a kept message without its results", 4, "[1]", "[]"},
        {"not in order", 4, "[3,0]", "[]"},
        {"no list", 4, "7", "[]"},
        {"a message that is no result is cut", 0, "[]",
         "[{\"message\":0,\"head\":1,\"tail\":1}]"},
        {"less than nothing stays", 0, "[]",
         "[{\"message\":2,\"head\":-1,\"tail\":1}]"},
        {"more than there is stays", 0, "[]",
         "[{\"message\":2,\"head\":900,\"tail\":900}]"},
        {"more than fits 64 bits", 0, "[]",
         "[{\"message\":2,\"head\":9223372036854775807,"
         "\"tail\":9223372036854775807}]"},
        {"no numbers", 0, "[]", "[{\"message\":2,\"head\":\"a\",\"tail\":1}]"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_ev_compacted e = {.from = rows[i].from,
                               .kept_json = str_of(rows[i].kept),
                               .results_json = str_of(rows[i].results)};
        struct compaction c;
        struct talk k;

        talk(&k, "u c3 a u a");
        tap_ok(!compaction_read(&e, &k.a, &c) ||
                   !compact_build(k.newest, &c, 7, &k.a),
               "forged: %s", rows[i].why);
        arena_free(&k.a);
    }
}

static void test_read(void)
{
    static const struct {
        const char *why, *args;
        bool ok;
        const char *begins, *ends;
        int64_t most;
    } rows[] = {
        {"a page that a small window has room for", "{\"call\":\"1/c0\"}", true,
         "rxx", "[bytes 0 to 256 of 10000; the next offset is 256]", 100},
        {"a window without room", "{\"call\":\"1/c0\"}", true, "rxx",
         "[bytes 0 to 64 of 10000; the next offset is 64]", 1},
        {"one that was left out", "{\"call\":\"0/gone\"}", true, "rxx",
         "[bytes 0 to 1000 of 1000]", INT64_MAX},
        {"a page", "{\"call\":\"1/c0\",\"offset\":1024}", true, "rxx",
         "[bytes 1024 to 9216 of 10000; the next offset is 9216]", INT64_MAX},
        {"the last page", "{\"call\":\"1/c0\",\"offset\":9216}", true, "rxx",
         "[bytes 9216 to 10000 of 10000]", INT64_MAX},
        {"from the start", "{\"call\":\"c0\"}", true, "rxx",
         "the next offset is 8192]", INT64_MAX},
        {"beyond its end", "{\"call\":\"c0\",\"offset\":10000}", false,
         "read_result: the offset is beyond", "", INT64_MAX},
        {"another turn", "{\"call\":\"2/c0\"}", false, "read_result: no result",
         "", INT64_MAX},
        {"a result that is whole", "{\"call\":\"c1\"}", false,
         "read_result: no result", "", INT64_MAX},
        {"no call", "{}", false, "read_result needs", "", INT64_MAX},
        {"no number", "{\"call\":\"c0\",\"offset\":\"x\"}", false,
         "read_result: \"offset\" must", "", INT64_MAX},
        {"below 0", "{\"call\":\"c0\",\"offset\":-1}", false,
         "read_result: \"offset\" must", "", INT64_MAX},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct result_cut cut = {2, 100, 100};
        struct compaction c = {.cuts = &cut, .cuts_count = 1, .readable = true};
        const struct msg *list;
        struct msg gone = {.role = ROLE_TOOL, .call = STR("gone")};
        struct talk k;
        wend_str out;
        bool ok;

        talk(&k, "u c42");
        gone.text = text_of(&k, 1000, 'r');
        list = compact_build(k.newest, &c, 7, &k.a);
        ok = result_read(list, &gone, str_of(rows[i].args), rows[i].most, &k.a,
                         &out);
        tap_ok(ok == rows[i].ok && str_starts(out, rows[i].begins) &&
                   str_ends(out, rows[i].ends),
               "read: %s: %.*s", rows[i].why, (int)(out.len % 200), out.ptr);
        arena_free(&k.a);
    }
}

/* Reading on from page to page comes to the end, in any window. */
static void test_read_all(void)
{
    static const int64_t rooms[] = {1, 20, 100, 1000, 100000};

    for (size_t i = 0; i < tap_count(rooms); i++) {
        struct result_cut cut = {2, 64, 32};
        struct compaction c = {.cuts = &cut, .cuts_count = 1, .readable = true};
        int64_t offset = 0, pages = 0, most = 0;
        const struct msg *list;
        char args[64];
        struct talk k;
        wend_str out;
        const char *next = NULL;

        talk(&k, "u c5");
        list = compact_build(k.newest, &c, 7, &k.a);
        do {
            snprintf(args, sizeof args, "{\"call\":\"1/c0\",\"offset\":%lld}",
                     (long long)offset);
            if (!result_read(list, NULL, str_of(args), rooms[i], &k.a, &out))
                break;
            most = msg_tokens(out) > most ? msg_tokens(out) : most;
            next = memmem(out.ptr, out.len, "next offset is ", 15);
            if (next)
                offset = strtoll(next + 15, NULL, 10);
            pages++;
        } while (next && pages < 5000);
        tap_ok(pages < 5000 && !next && most <= rooms[i] + 100,
               "read: %lld pages of at most %lld tokens", (long long)pages,
               (long long)most);
        arena_free(&k.a);
    }
}

static void test_topics(void)
{
    static const struct {
        const char *why, *summary, *topics;
    } rows[] = {
        {"headings with something below them",
         "# Task\ncount\n# Decisions\nnone\n\n## Next steps:\n- one\n- two",
         "[\"Task\",\"Next steps\"]"},
        {"no headings", "just a text", "[]"},
        {"no summary", NULL, "[]"},
        {"nothing below it", "# Task\n\n# Blockers\n", "[]"},
        {"quotes", "# \"Task\"\nx", "[\"\\\"Task\\\"\"]"},
    };
    struct arena a = {.mem = &plain};

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_str(summary_topics(str_of(rows[i].summary), &a), rows[i].topics,
                   "topics: %s", rows[i].why);
    arena_free(&a);
}

/* A result that goes is named where the summary is. */
static void test_gone(void)
{
    struct model_use m = model(3000, 0);
    struct context_room r = room_of(&m, 0, 0, &average);
    struct compaction c = {.readable = true};
    const struct msg *built;
    struct talk k;

    talk(&k, "u c4 c21 c3 c3 c3 c3 c3 c3 u c1");
    tap_ok(compact_tail(k.newest, &r, STR("what was"), &k.a, &c),
           "gone: folded");
    built = at(compact_build(k.newest, &c, 7, &k.a), 1);
    tap_ok(str_has(built->text, STR("{\"call\":\"1/c0\"} (t, 10000 bytes)")) &&
               !str_has(built->text, STR("3/c0")),
           "gone: a long one is named, short ones are not: %.*s",
           STR_ARGS(built->text));
    arena_free(&k.a);
}

#define FIVE "# Task\nall\n# Decisions\n# Progress\n# Blockers\n# Context\n"
#define EIGHT FIVE "# Open items\n# Next steps\n# Metadata\nnone\n"

static void test_summary(void)
{
    static const struct {
        const char *why, *text, *finish;
        bool calls, ok;
    } rows[] = {
        {"a summary", EIGHT, "stop", false, true},
        {"other marks and cases",
         "1. **TASK**\n- Decisions: none\n__Progress__\r\n**Blockers:** x\n"
         "   ## open items ##",
         "stop", false, true},
        {"some of its headings", FIVE, "stop", false, true},
        {"too few", "# Task\n# Decisions\n# Progress\n# Metadata", "stop",
         false, false},
        {"one of them five times",
         "# Task\n# Task\n# Task\n# Task\n# Task\n# Task", "stop", false,
         false},
        {"without the task",
         "# Decisions\n# Progress\n# Blockers\n# Open items\n# Context\n"
         "# Next steps\n# Metadata",
         "stop", false, false},
        {"words that begin sentences",
         "Task done.\nProgress is good.\nContext is lost.\nBlockers exist.\n"
         "Decisions were made.",
         "stop", false, false},
        {"a refusal", "I am sorry, I cannot.", "stop", false, false},
        {"a word", "ok", "stop", false, false},
        {"an error", "Error: 502 Bad Gateway", "stop", false, false},
        {"nothing", "", "stop", false, false},
        {"white space", " \n\t", "stop", false, false},
        {"a call", EIGHT, "tool_calls", true, false},
        {"cut at the limit", EIGHT, "length", false, false},
        {"too long", EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT, "stop", false, false},
    };
    struct model_use m = model(400, 0);
    struct context_room r = room_of(&m, 0, 0, &average);

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_ok(!summary_wrong(str_of(rows[i].text), rows[i].calls,
                              str_of(rows[i].finish), &r) == rows[i].ok,
               "summary: %s", rows[i].why);
    for (const char *const *h =
             (const char *const[]){"# Task", "# Decisions", "# Progress",
                                   "# Blockers", "# Open items", "# Context",
                                   "# Next steps", "# Metadata", NULL};
         *h; h++)
        tap_ok(memmem(summary_ask.ptr, summary_ask.len, *h, strlen(*h)),
               "  %s is asked for", *h);
}

/* In the words of servers. */
static void test_overflow(void)
{
    static const struct {
        const char *words;
        int64_t limit, counted;
    } rows[] = {
        {"This model's maximum context length is 3000 tokens. However, your "
         "messages resulted in 3544 tokens.",
         3000, 3544},
        {"This model's maximum context length is 4,097 tokens. However, you "
         "requested 5000 tokens (1000 in the messages, 4000 in the "
         "completion).",
         4097, 1000},
        {"HTTP 400: prompt is too long: 210000 tokens > 200000 maximum", 200000,
         210000},
        {"The input token count (1200000) exceeds the maximum number of tokens "
         "allowed (1048576).",
         1048576, 1200000},
        {"request (5000 tokens) exceeds the available context size (4096 "
         "tokens), try increasing it",
         4096, 5000},
        {"Prompt contains 40000 tokens and 0 draft tokens, too large for model "
         "with 32768 maximum context length",
         32768, 40000},
        {"This model's maximum prompt length is 131072 but the request "
         "contains 200000 tokens.",
         131072, 200000},
        {"the prompt is over the limit of 8192 tokens", 8192, 0},
        {"exceeds n_ctx = 512", 512, 0},
        {"the body is over the limit of 20 MB", 0, 0},
        {"Your input exceeds the context window of this model.", 0, 0},
        {"maximum context length is 0 tokens", 0, 0},
        {"maximum context length is 99999999999999999999999 tokens", 0, 0},
        {"maximum context length is ", 0, 0},
        {"", 0, 0},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct overflow o = overflow_read(str_of(rows[i].words));

        tap_ok(o.limit == rows[i].limit && o.counted == rows[i].counted,
               "overflow: %lld of %lld: %s", (long long)o.counted,
               (long long)o.limit, rows[i].words);
    }
}

int main(void)
{
    test_overflow();
    test_room();
    test_trim();
    test_tail();
    test_bytes();
    test_forged();
    test_read();
    test_read_all();
    test_topics();
    test_gone();
    test_summary();
    return tap_done();
}
