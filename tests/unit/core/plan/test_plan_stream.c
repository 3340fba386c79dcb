/*
 * test_plan_stream.c - the arguments of a `plan` call, cut in any way, are
 * the same plan: the same actions are found, and the same events follow.
 */
#include "tt_help.h"

static const char config[] =
    "{\"tools\":[{\"name\":\"plan\",\"class\":\"read\"},"
    "{\"name\":\"r\",\"class\":\"read\"},{\"name\":\"u\"}],"
    "\"planner\":\"plan!\"," POLICY("all") "}";

/* ---- What is found ------------------------------------------------------- */

static const struct {
    const char *why, *text;
    const char *found; /* each with a line end */
} rows[] = {
    {"nothing yet", "", ""},
    {"no list yet", "{\"actions\":", ""},
    {"an open action", "{\"actions\":[{\"a\":1", ""},
    {"one, and a second that is open",
     "{\"actions\":[{\"a\":1},{\"b\":", "{\"a\":1}\n"},
    {"spaces", " { \"actions\" : [ { } , {\"b\":{}} ] } ", "{ }\n{\"b\":{}}\n"},
    {"braces in strings", "{\"actions\":[{\"a\":\"}{][\\\"}\"}]}",
     "{\"a\":\"}{][\\\"}\"}\n"},
    {"lists and objects inside", "{\"actions\":[{\"a\":[{},[{}]]}]}",
     "{\"a\":[{},[{}]]}\n"},
    {"another member before", "{\"x\":[{\"no\":1}],\"actions\":[{}]}", "{}\n"},
    {"another member that ends in the name",
     "{\"x\":\"actions\",\"y\":[{}],\"actions\":[{\"a\":1}]}", "{\"a\":1}\n"},
    {"members of actions are no lists of actions",
     "{\"actions\":[{\"actions\":[{}]}]}", "{\"actions\":[{}]}\n"},
    {"deeper ones are not it", "{\"x\":{\"actions\":[{}]}}", ""},
    {"after something that is no object nothing is one",
     "{\"actions\":[{\"a\":1},2,{\"b\":1}]}", "{\"a\":1}\n"},
    {"so after a list", "{\"actions\":[[{}],{\"b\":1}]}", ""},
    {"the list has ended", "{\"actions\":[{\"a\":1}],\"z\":[{}]}",
     "{\"a\":1}\n"},
    {"an object in its place", "{\"actions\":{\"a\":{}}}", ""},
    {"a list as the whole", "[{\"actions\":[{}]}]", ""},
    {"an action that ends as a list does", "{\"actions\":[{},{\"b\"]}", "{}\n"},
    {"no JSON", "]]}}{{\"actions\":[{}]}", ""},
};

/* All pieces have so many bytes. */
static void find(struct buf *out, wend_str text, size_t piece)
{
    struct plan_scan s = {.actions = {.mem = &plain}};

    for (size_t at = 0; at < text.len; at += piece)
        plan_scan(&s, (wend_str){text.ptr, at + piece < text.len ? at + piece
                                                                 : text.len});
    for (size_t i = 0; i < plan_scan_count(&s); i++) {
        buf_str(out, plan_scan_get(&s, text, i));
        buf_char(out, '\n');
    }
    buf_free(&s.actions);
}

static void test_found(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_str text = str_of(rows[i].text);
        size_t differ = 0;

        for (size_t piece = 1; piece <= text.len; piece++) {
            struct buf b = {.mem = &plain};

            find(&b, text, piece);
            differ += !str_is(b.len ? buf_view(&b) : STR(""), rows[i].found);
            buf_free(&b);
        }
        tap_is_i64((int64_t)differ, 0, "%s", rows[i].why);
    }
}

/* ---- What follows -------------------------------------------------------- */

#define A(name, target, rest)                                       \
    "{\"name\":\"" name "\",\"type\":\"tool\",\"target\":\"" target \
    "\", \"mode\":\"async\"" rest "}"

#define DEP(list) ",\"depends_on\":[" list "]"
#define PLAIN(name) A(name, "r", "")
#define GIVES A("a", "r", ",\"output_key\":\"k\"")
#define TAKES A("c", "r", DEP("\"a\"") ",\"params\":{\"x\":\"}${k}{\"}")
#define DECIDES                                          \
    "{\"name\":\"q\",\"type\":\"decision\",\"cases\":["  \
    "{\"when\":\"1 == 1\",\"then\":[\"a\"]},{\"else\":[" \
    "\"b\"]}]}"
#define FALLS A("b", "r", ",\"fallback\":\"c\"")
#define LIST(actions) "{\"actions\":[" actions "]"

static const char *const plans[] = {
    LIST(GIVES " ,\n" A("b", "u", "") "," TAKES "," A(
        "d", "r", DEP("\"e\"")) "," PLAIN("e")) "}",
    LIST(DECIDES "," PLAIN("a") "," FALLS "," PLAIN("c")) "}",
    LIST(PLAIN("a") "," A("b", "nope", "") "," PLAIN("c")) "}",
    LIST(PLAIN("a") ",5," PLAIN("c")) "}",
    LIST(A("a", "r", DEP("\"z\""))) ",\"x\":1}",
    LIST(PLAIN("a")),
};

/* Effects stand after all events of their step: how many a step has is what
 * the cutting changes. */
static void put_events(struct buf *out, wend_str said)
{
    while (said.len) {
        const char *space = memchr(said.ptr, ' ', said.len);
        size_t len = space ? (size_t)(space - said.ptr) : said.len;

        if (said.ptr[0] != '+') {
            buf_add(out, said.ptr, len);
            buf_char(out, ' ');
        }
        said.ptr += len + (space != NULL);
        said.len -= len + (space != NULL);
    }
}

static void end_running(struct world *w)
{
    uint32_t place = 0, i;

    while ((i = plan_marked(&w->turn.plan, MARK_RUNS, &place)) != PLAN_NONE) {
        do_action(w, w->turn.plan.plan->actions[i]->id, WEND_OUTCOME_OK);
        place = 0;
    }
}

static uint32_t random_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* piece 0: of any size, by the seed. */
static void play_plan(struct buf *out, wend_str text, size_t piece,
                      uint32_t seed)
{
    struct world w;

    world_init(&w, &plain, config);
    w.lawful = false;
    play(&w, "start text");
    while (text.len) {
        size_t n = piece ? piece : 1 + random_next(&seed) % 40;
        wend_str part = {text.ptr, n < text.len ? n : text.len};

        do_write(&w, part);
        text.ptr += part.len;
        text.len -= part.len;
    }
    play(&w, "seal done");
    if (w.turn.plan.started)
        end_running(&w);
    put_events(out, buf_view(&w.said));
    world_free(&w);
}

static void test_follows(void)
{
    for (size_t i = 0; i < tap_count(plans); i++) {
        wend_str text = str_of(plans[i]);
        struct buf whole = {.mem = &plain};
        size_t differ = 0;

        play_plan(&whole, text, text.len, 0);
        for (size_t k = 1; k < text.len + 200; k++) {
            struct buf cut = {.mem = &plain};

            play_plan(&cut, text, k < text.len ? k : 0, (uint32_t)k);
            if (!str_eq(buf_view(&whole), buf_view(&cut)) && !differ++)
                printf("# %zu: %s\n# %s\n", k, whole.ptr, cut.ptr);
            buf_free(&cut);
        }
        tap_ok(!differ && strstr(whole.ptr, "turn_end"),
               "plan %zu, cut in %zu ways", i, text.len + 199);
        buf_free(&whole);
    }
}

/* ---- Any plan, and whatever becomes of its actions ------------------------
 */

enum { COUNT_MAX = 7, SEEDS = 400 };

static bool one_in(uint32_t *seed, uint32_t n)
{
    return random_next(seed) % n == 0;
}

/* Names of others: mostly of those before it, or only of those after it. */
static void put_names(struct buf *b, uint32_t *seed, unsigned i, unsigned count,
                      bool later)
{
    const char *before = "";

    for (unsigned k = later ? i + 1 : 0; k < count; k++) {
        if (k == i || !one_in(seed, k < i || later ? 3 : 12))
            continue;
        buf_fmt(b, "%s\"n%u\"", before, k);
        before = ",";
    }
}

static void put_random(struct buf *b, uint32_t *seed, unsigned i,
                       unsigned count)
{
    bool decides = one_in(seed, 5) && i + 1 < count;

    buf_fmt(b, "{\"name\":\"n%u\",\"depends_on\":[", i);
    put_names(b, seed, i, count, false);
    if (decides) {
        buf_cstr(b, "],\"type\":\"decision\",\"cases\":[{\"when\":\"");
        buf_cstr(b, one_in(seed, 2) ? "true" : "false");
        buf_cstr(b, "\",\"then\":[");
        put_names(b, seed, i, count, true);
        buf_cstr(b, "]},{\"else\":[");
        put_names(b, seed, i, count, true);
        buf_cstr(b, "]}]}");
        return;
    }
    buf_fmt(b, "],\"type\":\"tool\",\"target\":\"%s\",\"mode\":\"%s\"",
            one_in(seed, 3) ? "u" : "r",
            one_in(seed, 4)   ? "sync"
            : one_in(seed, 4) ? "fire_and_forget"
                              : "async");
    if (one_in(seed, 4) && i + 1 < count)
        buf_fmt(b, ",\"fallback\":\"n%u\"",
                i + 1 + random_next(seed) % (count - i - 1));
    if (one_in(seed, 5))
        buf_cstr(b, ",\"wait_for_all\":false");
    if (one_in(seed, 5))
        buf_cstr(b, ",\"skip_on_error\":true");
    if (one_in(seed, 5))
        buf_fmt(b, ",\"when\":\"%s\"", one_in(seed, 2) ? "true" : "false");
    buf_char(b, '}');
}

/* Ends one that runs, if any does. */
static bool end_one(struct world *w, uint32_t *seed)
{
    uint32_t place = 0, i;

    if (!w->turn.plan.started)
        return false;
    i = plan_marked(&w->turn.plan, MARK_RUNS, &place);
    if (i == PLAN_NONE)
        return false;
    do_action(w, w->turn.plan.plan->actions[i]->id,
              one_in(seed, 4) ? WEND_OUTCOME_FAILED : WEND_OUTCOME_OK);
    return true;
}

/* Whether the next turn has begun. */
static bool play_random(uint32_t seed)
{
    unsigned count = 1 + random_next(&seed) % COUNT_MAX;
    struct world w;
    bool over;

    world_init(&w, &plain, config);
    play(&w, "start");
    do_write(&w, STR("{\"actions\":["));
    for (unsigned i = 0; i < count && w.turn.phase == PH_MODEL; i++) {
        struct buf b = {.mem = &plain};

        buf_cstr(&b, i ? "," : "");
        put_random(&b, &seed, i, count);
        do_write(&w, buf_view(&b));
        buf_free(&b);
        while (one_in(&seed, 2) && end_one(&w, &seed))
            continue;
        if (one_in(&seed, 40))
            do_resume(&w, STR_NONE);
    }
    if (w.turn.phase == PH_MODEL && w.asked && w.reply.calls_count)
        play(&w, "write:]} seal done");
    while (end_one(&w, &seed))
        continue;
    over = w.turn.counter >= 1 && !w.broken; /* a resume may cost a turn */
    world_free(&w);
    return over;
}

static void test_any(void)
{
    uint32_t bad = 0;

    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        if (!play_random(seed * 7919) && !bad++)
            printf("# seed %u\n", seed);
    tap_is_i64(bad, 0, "%d random plans come to their end, lawfully", SEEDS);
}

int main(void)
{
    test_found();
    test_follows();
    test_any();
    return tap_done();
}
