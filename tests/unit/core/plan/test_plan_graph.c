/*
 * test_plan_graph.c - waves, paths and who comes before whom, against a slow
 * oracle; limits; plans that are written action by action.
 *
 * The oracle knows nothing but edges: a matrix of who must end before whom,
 * closed by trying all, and numbers that grow until nothing changes.
 */
#include "wire/plan/plan.h"

#include <stdlib.h>

#include "base/limits.h"
#include "tap.h"

enum { MOST = 200 };

/* A plan as the oracle sees it. */
struct draw {
    int count;
    bool dep[MOST][MOST]; /* [i][k]: i depends on k */
    int fallback[MOST];   /* -1: none */
    int fallback_of[MOST];
    int estimate[MOST]; /* -1: none */
    bool forget[MOST];
    int order[MOST]; /* in which they are written */
    int ref_user, ref_provider;
    bool before[2 * MOST][2 * MOST]; /* starts and ends: the row's is later */
};

static uint64_t chance(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

static void draw_plan(struct draw *d, uint64_t *seed, int count, bool cyclic)
{
    memset(d, 0, sizeof *d);
    d->count = count;
    for (int i = 0; i < count; i++) {
        d->fallback[i] = d->fallback_of[i] = -1;
        d->order[i] = i;
    }
    for (int i = 0; i < count; i++) {
        int deps = (int)chance(seed, 4);

        for (int k = 0; k < deps; k++) {
            int to = (int)chance(seed, cyclic ? (uint64_t)count
                                              : (uint64_t)(i ? i : 1));

            if (cyclic || to < i)
                d->dep[i][to] = true;
        }
        d->estimate[i] = (int)chance(seed, 12) - 2;
        d->estimate[i] = d->estimate[i] < 0 ? -1 : d->estimate[i] * 1000;
        d->forget[i] = !chance(seed, 8);
    }
    for (int i = 0; i + 1 < count; i++) {
        int to = i + 1 + (int)chance(seed, (uint64_t)(count - i - 1));

        if (!chance(seed, 12) && d->fallback_of[to] < 0) {
            d->fallback[i] = to;
            d->fallback_of[to] = i;
        }
    }
    for (int i = count - 1; i > 0; i--) {
        int k = (int)chance(seed, (uint64_t)i + 1), t = d->order[i];

        d->order[i] = d->order[k];
        d->order[k] = t;
    }
    d->ref_user = (int)chance(seed, (uint64_t)count);
    d->ref_provider = (int)chance(seed, (uint64_t)count);
    d->forget[d->ref_provider] = false;
}

static void write_plan(const struct draw *d, bool ref, struct buf *b)
{
    buf_cstr(b, "{\"wend\":\"plan/1\",\"name\":\"x\",\"actions\":[");
    for (int n = 0; n < d->count; n++) {
        int i = d->order[n], deps = 0;

        buf_fmt(b, "%s{\"name\":\"a%d\",\"type\":\"tool\",\"target\":\"t\"",
                n ? "," : "", i);
        if (d->fallback[i] >= 0)
            buf_fmt(b, ",\"fallback\":\"a%d\"", d->fallback[i]);
        if (d->estimate[i] >= 0)
            buf_fmt(b, ",\"estimate\":\"%dms\"", d->estimate[i]);
        if (d->forget[i])
            buf_cstr(b, ",\"mode\":\"fire_and_forget\"");
        if (ref && i == d->ref_provider)
            buf_cstr(b, ",\"output_key\":\"out\"");
        if (ref && i == d->ref_user)
            buf_cstr(b, ",\"params\":{\"p\":\"$out\"}");
        buf_cstr(b, ",\"depends_on\":[");
        for (int k = 0; k < d->count; k++)
            if (d->dep[i][k])
                buf_fmt(b, "%s\"a%d\"", deps++ ? "," : "", k);
        buf_cstr(b, "]}");
    }
    buf_cstr(b, "]}");
}

/* ---- The oracle ---------------------------------------------------------- */

/* Node i is a start, MOST + i an end. */
static void close_all(struct draw *d)
{
    int n = 2 * MOST;

    for (int i = 0; i < d->count; i++) {
        d->before[MOST + i][i] = true;
        for (int k = 0; k < d->count; k++)
            if (d->dep[i][k])
                d->before[i][MOST + k] = true;
        if (d->fallback[i] >= 0) {
            d->before[d->fallback[i]][i] = true;
            d->before[MOST + i][MOST + d->fallback[i]] = true;
        }
    }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            if (d->before[i][k])
                for (int j = 0; j < n; j++)
                    d->before[i][j] |= d->before[k][j];
}

static bool has_cycle(const struct draw *d)
{
    for (int i = 0; i < 2 * MOST; i++)
        if (d->before[i][i])
            return true;
    return false;
}

static int slow_wave(const struct draw *d, int *wave)
{
    int most = 0;

    for (int i = 0; i < d->count; i++)
        wave[i] = 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < d->count; i++)
            for (int k = 0; k < d->count; k++)
                if ((d->dep[i][k] || d->fallback_of[i] == k) &&
                    wave[i] <= wave[k]) {
                    wave[i] = wave[k] + 1;
                    changed = true;
                }
    }
    for (int i = 0; i < d->count; i++)
        most = wave[i] > most ? wave[i] : most;
    return most;
}

/* When each would end if nothing but its dependencies held it up. */
static int64_t slow_critical(const struct draw *d)
{
    int64_t end[MOST] = {0}, most = 0;

    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < d->count; i++) {
            int64_t start = 0;

            for (int k = 0; k < d->count; k++)
                if (d->dep[i][k] && d->fallback_of[k] < 0 && end[k] > start)
                    start = end[k];
            start += d->forget[i] || d->estimate[i] < 0 ? 0 : d->estimate[i];
            changed = changed || start != end[i];
            end[i] = start;
        }
    }
    for (int i = 0; i < d->count; i++)
        if (d->fallback_of[i] < 0 && end[i] > most)
            most = end[i];
    return most;
}

/* ---- Properties ---------------------------------------------------------- */

static bool check_numbers(const struct plan *p, const struct draw *d)
{
    int wave[MOST], waves = slow_wave(d, wave);
    int64_t sum = 0, marked = 0;
    bool ok = (int)p->graph.waves == waves;

    for (int i = 0; i < d->count; i++) {
        char name[16];
        uint32_t at;

        snprintf(name, sizeof name, "a%d", i);
        at = plan_find(p, str_of(name));
        ok = ok && at != PLAN_NONE && (int)p->graph.wave[at] == wave[i];
        if (d->fallback_of[i] < 0 && d->estimate[i] > 0)
            sum += d->estimate[i];
        if (ok && p->graph.critical[at] && !d->forget[i] && d->estimate[i] > 0)
            marked += d->estimate[i];
    }
    return ok && p->graph.sequential_ms == sum &&
           p->graph.critical_ms == slow_critical(d) &&
           marked == p->graph.critical_ms;
}

/* Each node of the order comes after all that it must come after. */
static bool check_order(const struct plan *p, const struct draw *d)
{
    int seen[2 * MOST] = {0};

    for (uint32_t k = 0; k < p->count * 2; k++) {
        uint32_t node = p->graph.order[k];
        int i = atoi(p->actions[node % p->count]->name.ptr + 1);
        int me = node < p->count ? i : MOST + i;

        seen[me]++;
        for (int j = 0; j < 2 * MOST; j++)
            if (d->before[me][j] && !seen[j])
                return false;
        if (seen[me] != 1)
            return false;
    }
    return true;
}

/* All names behind the colon are on one cycle. */
static bool check_cycle(const char *message, const struct draw *d)
{
    const char *at = strstr(message, "in a cycle: ");
    int first = -1, last = -1, i = -1;

    for (; at && (at = strchr(at, 'a')); at++) {
        if (at[1] < '0' || at[1] > '9')
            continue;
        i = atoi(at + 1);
        first = first < 0 ? i : first;
        if (!d->before[i][i] && !d->before[MOST + i][MOST + i])
            return false;
        if (last >= 0 && !d->before[MOST + i][last])
            return false;
        last = i;
    }
    return first >= 0 && first == i;
}

static void test_random(void)
{
    static struct draw d;
    int numbers = 0, orders = 0, refs = 0, cycles = 0, cyclic = 0, before = 0;

    for (uint64_t round = 0; round < 200; round++) {
        struct mem mem = {0};
        struct arena a = {.mem = &mem};
        struct buf b = {.mem = &mem};
        struct plan *p = NULL;
        uint64_t seed = round * 7919 + 1;
        wend_error err = {0};
        wend_status s;

        draw_plan(&d, &seed, round < 180 ? 2 + (int)chance(&seed, 12) : MOST,
                  round % 4 == 3);
        close_all(&d);
        write_plan(&d, false, &b);
        s = plan_file_parse(buf_view(&b), NULL, &a, &p, &err);
        if (has_cycle(&d)) {
            cyclic++;
            cycles += s != WEND_E_PARSE || !check_cycle(err.message, &d);
        } else if (s) {
            printf("# %d: %s\n", (int)round, err.message);
            numbers++;
        } else {
            numbers += !check_numbers(p, &d);
            orders += !check_order(p, &d);
            buf_clear(&b);
            write_plan(&d, true, &b);
            s = plan_file_parse(buf_view(&b), NULL, &a, &p, &err);
            before += d.before[d.ref_user][MOST + d.ref_provider];
            refs += !s != d.before[d.ref_user][MOST + d.ref_provider];
        }
        buf_free(&b);
        arena_free(&a);
    }
    tap_ok(cyclic > 10 && before > 10, "%d cycles, %d references", cyclic,
           before);
    tap_is_i64(numbers, 0, "waves and paths are the oracle's");
    tap_is_i64(orders, 0, "the order is one");
    tap_is_i64(refs, 0, "a reference is accepted if its provider is before");
    tap_is_i64(cycles, 0, "a cycle is named by its members");
}

/* ---- Limits -------------------------------------------------------------- */

/* Each depends on up to `width` before it; at most `edges` in all. */
static void write_chain(struct buf *b, int count, int width, int edges)
{
    buf_cstr(b, "{\"wend\":\"plan/1\",\"name\":\"x\",\"actions\":[");
    for (int i = 0; i < count; i++) {
        bool joined = i && edges > 0;

        buf_fmt(b,
                "%s{\"name\":\"a%d\",\"type\":\"tool\",\"target\":\"t\","
                "\"mode\":\"async\",\"output_key\":\"k%d\",\"depends_on\":[",
                i ? "," : "", i, i);
        for (int k = 1; k <= width && k <= i && edges > 0; k++, edges--)
            buf_fmt(b, "%s\"a%d\"", k > 1 ? "," : "", i - k);
        buf_fmt(b, "],\"params\":{\"p\":\"%s%d\"}}", joined ? "$k" : "",
                i - joined);
    }
    buf_cstr(b, "]}");
}

struct chain {
    wend_status status;
    size_t held; /* bytes */
    uint32_t waves;
};

static struct chain parse_chain(int count, int width, int edges)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct buf b = {.mem = &mem};
    struct chain c = {.waves = 0};
    struct plan *p = NULL;

    write_chain(&b, count, width, edges);
    c.status = plan_file_parse(buf_view(&b), NULL, &a, &p, NULL);
    c.held = a.held;
    if (!c.status)
        c.waves = p->graph.waves;
    buf_free(&b);
    arena_free(&a);
    return c;
}

static void test_limits(void)
{
    struct chain most = parse_chain(PLAN_ACTIONS_MAX, 1, PLAN_EDGES_MAX);
    struct chain tenth = parse_chain(PLAN_ACTIONS_MAX / 10, 1, PLAN_EDGES_MAX);

    tap_ok(!most.status && most.waves == PLAN_ACTIONS_MAX, "a chain of %d",
           PLAN_ACTIONS_MAX);
    tap_ok(!tenth.status && most.held < 12 * tenth.held,
           "its memory is linear: %zu bytes, %zu for a tenth", most.held,
           tenth.held);
    tap_is_i64(parse_chain(PLAN_ACTIONS_MAX + 1, 1, PLAN_EDGES_MAX).status,
               WEND_E_LIMIT, "one action more");
    tap_is_i64(parse_chain(PLAN_ACTIONS_MAX, 11, PLAN_EDGES_MAX).status,
               WEND_OK, "%d dependencies", PLAN_EDGES_MAX);
    tap_is_i64(parse_chain(PLAN_ACTIONS_MAX, 11, PLAN_EDGES_MAX + 1).status,
               WEND_E_LIMIT, "one more");
}

/* Every action refers to the first ones of a long chain. */
static void test_far_refs(void)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct buf b = {.mem = &mem};
    struct plan *p = NULL;
    wend_error err = {0};

    buf_cstr(&b, "{\"wend\":\"plan/1\",\"name\":\"x\",\"actions\":[");
    for (int i = 0; i < 3000; i++) {
        buf_fmt(&b,
                "%s{\"name\":\"a%d\",\"type\":\"tool\",\"target\":\"t\","
                "\"output_key\":\"k%d\"",
                i ? "," : "", i, i);
        if (i)
            buf_fmt(&b, ",\"depends_on\":[\"a%d\"],\"params\":{\"p\":\"$k%d\"}",
                    i - 1, i / 2);
        buf_char(&b, '}');
    }
    buf_cstr(&b, "]}");
    tap_ok(!plan_file_parse(buf_view(&b), NULL, &a, &p, &err),
           "references over half of a chain %s", err.message);
    buf_free(&b);
    arena_free(&a);
}

/* No single one of more than 16 MiB. */
static void *small_alloc(void *ctx, void *p, size_t size)
{
    (void)ctx;
    if (!size)
        free(p);
    return size && size <= 16 << 20 ? realloc(p, size) : NULL;
}

/* Many that may provide a key, one of which is before many who refer to it
 * many times: what is kept of that is no product of them. */
static void test_many_providers(void)
{
    struct mem mem = {.fn = small_alloc};
    struct arena a = {.mem = &mem};
    struct buf b = {.mem = &mem};
    struct plan *p = NULL;
    wend_error err = {0};
    wend_status s;

    for (int last = 0; last < 2; last++) { /* who is before: first, or last */
        buf_clear(&b);
        buf_cstr(&b, "{\"wend\":\"plan/1\",\"name\":\"x\",\"actions\":[");
        for (int i = 0; i < 2000; i++)
            buf_fmt(&b,
                    "{\"name\":\"p%d\",\"type\":\"tool\",\"target\":\"t\","
                    "\"when\":\"1 == %d\",\"output_key\":\"k\"},",
                    i, i);
        buf_fmt(&b,
                "{\"name\":\"join\",\"type\":\"tool\",\"target\":\"t\","
                "\"depends_on\":[\"p%d\"]}",
                last ? 1999 : 0);
        for (int i = 0; i < 100; i++) {
            buf_fmt(&b,
                    ",{\"name\":\"u%d\",\"type\":\"tool\",\"target\":\"t\","
                    "\"depends_on\":[\"join\"],\"params\":{\"p\":\"",
                    i);
            for (int k = 0; k < 20; k++)
                buf_cstr(&b, "$k ");
            buf_cstr(&b, "\"}}");
        }
        buf_cstr(&b, "]}");
        s = plan_file_parse(buf_view(&b), NULL, &a, &p, &err);
        tap_ok(!s, "many who may provide, %s: %s",
               last ? "the last" : "the first", err.message);
    }
    buf_free(&b);
    arena_free(&a);
}

/* ---- Written action by action -------------------------------------------- */

static const struct {
    const char *action, *whole; /* by action; "!" and why it is refused */
} written[] = {
    {"{\"name\":\"a\",\"type\":\"tool\",\"target\":\"t\",\"output_key\":"
     "\"o\"}",
     "1"},
    {"{\"name\":\"b\",\"type\":\"tool\",\"target\":\"t\",\"depends_on\":"
     "[\"later\"]}",
     "10"},
    {"{\"name\":\"a\",\"type\":\"tool\",\"target\":\"t\"}",
     "!'a' is already the name"},
    {"{\"name\":\"c\",\"type\":\"tool\",\"target\":\"t\",\"depends_on\":"
     "[\"a\"],\"params\":{\"p\":\"$o\"}}",
     "101"},
    {"{\"name\":\"d\",\"type\":\"tool\",\"target\":\"t\",\"params\":{\"p\":"
     "\"$o\"}}",
     "1010"},
    {"{\"name\":\"e\",\"type\":\"decision\",\"cases\":[{\"else\":[\"a\"]}]}",
     "!'a' must be written after 'e', which names it"},
    {"{\"name\":\"e\",\"type\":\"tool\",\"target\":\"t\",\"fallback\":\"a\"}",
     "!'a' must be written after 'e', which names it"},
    {"{\"name\":\"e\",\"type\":\"tool\",\"target\":\"t\",\"depends_on\":"
     "[\"e\"]}",
     "!1 action in a cycle"},
    {"{\"name\":\"later\",\"type\":\"tool\",\"target\":\"t\"}", "11101"},
    {"nonsense", "!"},
};

static void test_written(void)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct plan *p = NULL, *next = NULL;
    wend_error err = {0};
    char whole[16];

    tap_ok(!plan_open(STR("x"), NULL, 0, &a, &p, &err) && p->open && !p->count,
           "an open plan");
    for (size_t i = 0; i < tap_count(written); i++) {
        wend_status s =
            plan_add(p, str_of(written[i].action), NULL, &a, &next, &err);
        uint32_t count = p->count;

        if (s) {
            tap_ok(written[i].whole[0] == '!' && p->count == count &&
                       strstr(err.message, written[i].whole + 1),
                   "refused: %s", err.message);
            continue;
        }
        p = next;
        for (uint32_t k = 0; k < p->count; k++)
            whole[k] = p->whole[k] ? '1' : '0';
        whole[p->count] = 0;
        tap_is_str(whole, written[i].whole, "%s", written[i].action);
    }
    tap_ok(plan_finish(p, &a, &next, &err) == WEND_E_PARSE &&
               strstr(err.message, "for which 'd' does not wait"),
           "finished, the rest is checked: %s", err.message);
    arena_free(&a);
}

static void test_written_limit(void)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct plan *p = NULL;
    wend_error err = {0};
    wend_status s = plan_open(STR("x"), NULL, 0, &a, &p, &err);
    char text[100];

    for (int i = 0; i <= PLAN_WRITTEN_MAX && !s; i++) {
        snprintf(text, sizeof text,
                 "{\"name\":\"a%d\",\"type\":\"tool\",\"target\":\"t\"}", i);
        s = plan_add(p, str_of(text), NULL, &a, &p, &err);
    }
    tap_ok(s == WEND_E_LIMIT && p->count == PLAN_WRITTEN_MAX,
           "%u actions are written, %zu bytes", p->count, a.held);
    tap_ok(!plan_finish(p, &a, &p, &err) && !p->open, "and finished");
    arena_free(&a);
}

/* ---- The plans of the manual --------------------------------------------- */

/* A plan where waves would hurt. */
static void test_barrier(void)
{
    static const char text[] =
        "wend: plan/1\nactions:\n"
        "  - {name: fast, type: tool, target: t, mode: async, estimate: "
        "0.1s}\n"
        "  - {name: slow, type: tool, target: t, mode: async, estimate: "
        "1.2s}\n"
        "  - {name: after_fast, type: tool, target: t, mode: async, estimate: "
        "1.2s, depends_on: [fast]}\n"
        "  - {name: join, type: tool, target: t, depends_on: [after_fast, "
        "slow]}\n";
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    int64_t estimate[] = {100, 5000, 100, 0};
    const int64_t *rank = NULL;
    struct plan *p = NULL;
    wend_error err = {0};

    if (tap_ok(!plan_file_parse(str_of(text), NULL, &a, &p, &err), "%s",
               err.message)) {
        tap_is_i64(p->graph.critical_ms, 1300, "ready-first needs 1.3 s");
        tap_ok(p->graph.critical[0] && !p->graph.critical[1] &&
                   p->graph.critical[2] && p->graph.critical[3],
               "the longest path, to its end that takes no time");
        tap_is_str(p->name, "plan", "the name of a plan without one");
        tap_is_i64(p->graph.rank[0], 1301, "what is left after fast begins");
        tap_ok((rank = plan_rank(p, estimate, &a)) && rank[0] == 200 &&
                   rank[1] == 5000,
               "ranks by other estimates");
    }
    arena_free(&a);
}

int main(void)
{
    test_random();
    test_limits();
    test_far_refs();
    test_many_providers();
    test_written();
    test_written_limit();
    test_barrier();
    return tap_done();
}
