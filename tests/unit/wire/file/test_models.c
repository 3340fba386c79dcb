/*
 * test_models.c - files about models: what is read, refused and found; what
 * tokens cost.
 */
#include "wire/file/models.h"

#include <string.h>

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

/* The example of the manual, word for word. */
static const char manual[] =
    "wend: models/1\n"
    "models:\n"
    "  - name: \"openai:my-model\"\n"
    "    window: 128000\n"
    "    output: 8192\n"
    "    price: {input: 2.5, cached: 0.25, output: 10}\n"
    "  - {name: \"ollama:*\", window: 32768, price: {input: 0, output: 0}}\n";

/* Rows that wend comes with: nothing without a source and a date. */
static void test_known(void)
{
    static const char own[] = "wend: models/1\nmodels:\n"
                              "- {name: \"openai:gpt-4o\", window: 9}\n";
    struct mem m = {0};
    struct arena a = {.mem = &m};
    struct models *all = NULL;
    const struct model *x;
    int bad = 0;

    for (size_t i = 0; (x = models_known_at(i)); i++) {
        const struct price *p = &x->price;

        if (!x->source || !str_starts(str_of(x->source), "https://") ||
            !x->date || strlen(x->date) != 10 || x->window <= 0 ||
            x->output <= 0 || models_look_up(NULL, x->name) != x ||
            (p->known && (p->input <= 0 || p->input > PRICE_NANO_MAX ||
                          p->cached > p->input || p->output <= p->input)))
            bad++;
    }
    tap_is_i64(bad, 0, "known rows have a source, a date and sane numbers");
    x = models_look_up(NULL, STR("responses:gpt-4o"));
    tap_ok(x && str_is(x->name, "openai:gpt-4o") &&
               x->price.input == 2500000000,
           "the models of responses are those of openai");
    tap_ok(!models_look_up(NULL, STR("openai:gpt-4o-of-mine")) &&
               !models_look_up(NULL, STR("gpt-4o")),
           "other names are not known");
    models_parse(str_of(own), &a, &all, NULL);
    x = models_look_up(all, STR("openai:gpt-4o"));
    tap_ok(x && x->window == 9 && !x->price.known && !x->source,
           "a file replaces all of a row");
    tap_ok(models_look_up(all, STR("openai:gpt-4.1")) != NULL,
           "and leaves the others");
    arena_free(&a);
}

static void test_manual(void)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    struct models *all = NULL;
    wend_error err = {0};
    const struct model *x;

    if (!tap_ok(!models_parse(str_of(manual), &a, &all, &err),
                "the manual's example: %s", err.message)) {
        arena_free(&a);
        return;
    }
    tap_is_i64((int64_t)all->count, 2, "two entries");
    x = &all->list[0];
    tap_is_str(x->name, "openai:my-model", "name");
    tap_is_i64(x->window, 128000, "window");
    tap_is_i64(x->output, 8192, "output");
    tap_ok(x->price.known, "a price");
    tap_is_i64(x->price.input, INT64_C(2500000000), "price of input");
    tap_is_i64(x->price.cached, 250000000, "price of cached input");
    tap_is_i64(x->price.output, INT64_C(10000000000), "price of output");
    tap_is_i64(x->price.cache_write, -1, "no price of writing a cache");
    tap_ok(all->list[1].price.known && !all->list[1].price.output,
           "for nothing is a price");
    tap_is_i64(all->list[1].output, 0, "output left out");
    arena_free(&a);
}

/* ---- Prices -------------------------------------------------------------- */

static const struct {
    const char *why, *text;
    int64_t nano; /* -1 = refused */
} prices[] = {
    {"nothing", "0", 0},
    {"nothing, with decimals", "0.000", 0},
    {"a whole number", "15", INT64_C(15000000000)},
    {"decimals", "0.075", 75000000},
    {"zeros behind", "1.50", 1500000000},
    {"with an exponent", "1e-2", 10000000},
    {"the smallest", "0.000000001", 1},
    {"smaller than that", "0.0000000001", -1},
    {"the largest", "2000", INT64_C(2000000000000)},
    {"larger than that", "2000.000000001", -1},
    {"far larger", "1e300", -1},
    {"very many digits", "99999999999999999999999999999999", -1},
    {"below nothing", "-1", -1},
    {"a text", "\"3\"", -1},
    {"a list", "[3]", -1},
};

static void test_prices(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(prices); i++) {
        struct arena a = {.mem = &m};
        struct buf b = {.mem = &m};
        struct models *all = NULL;

        buf_fmt(&b,
                "wend: models/1\nmodels:\n- name: 'a:b'\n"
                "  price: {input: %s, cache_write: %s, output: 0}\n",
                prices[i].text, prices[i].text);
        models_parse(buf_view(&b), &a, &all, NULL);
        tap_is_i64(all ? all->list[0].price.input : -1, prices[i].nano,
                   "price: %s", prices[i].why);
        tap_is_i64(all ? all->list[0].price.cache_write : -1, prices[i].nano,
                   "  of writing a cache");
        tap_is_i64(all ? all->list[0].price.cached : -1, prices[i].nano,
                   "  cached is like input");
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- What is refused ----------------------------------------------------- */

#define TOP "wend: models/1\nmodels:\n"

static const struct {
    const char *why, *text;
    uint32_t line, column;
    const char *message;
} refused[] = {
    {"no version", "models: []", 1, 1, "the file needs 'wend: models/1'"},
    {"another version", "wend: models/2\nmodels: []", 1, 7,
     "wend must be models/1, not 'models/2'"},
    {"no models", "wend: models/1", 1, 1, "the file needs 'models'"},
    {"a list", "- a", 1, 1, "the file must be a mapping, not a list"},
    {"models that are none", "wend: models/1\nmodels: {}", 2, 9,
     "models must be a list, not a mapping"},
    {"a misspelled key", TOP "- {name: 'a:b', windw: 5}", 3, 17,
     "unknown key 'windw' in models[0]; did you mean 'window'?"},
    {"a misspelled price", TOP "- name: 'a:b'\n  price: {inptu: 1}", 4, 11,
     "unknown key 'inptu' in models[0].price; did you mean 'input'?"},
    {"a key like no other", "wend: models/1\nzzz: 1", 2, 1,
     "unknown key 'zzz' in the file"},
    {"no name", TOP "- {window: 5}", 3, 3, "models[0] needs 'name'"},
    {"a name without a provider", TOP "- name: gpt", 3, 9,
     "models[0].name must be provider:model, such as openai:*, not 'gpt'"},
    {"a name that is empty", TOP "- name: ''", 3, 9,
     "models[0].name must be provider:model, such as openai:*, not ''"},
    {"a window of nothing", TOP "- {name: 'a:b', window: 0}", 3, 25,
     "models[0].window must be a whole number from 1 to 1073741824, not 0"},
    {"half a token", TOP "- {name: 'a:b', output: 1.5}", 3, 25,
     "models[0].output must be a whole number from 1 to 1073741824, not 1.5"},
    {"a price that is one number", TOP "- {name: 'a:b', price: 3}", 3, 24,
     "models[0].price must be a mapping, not 3"},
    {"no price of output", TOP "- name: 'a:b'\n  price: {input: 1}", 4, 10,
     "models[0].price needs 'output'"},
    {"no price of input", TOP "- name: 'a:b'\n  price: {output: 1}", 4, 10,
     "models[0].price needs 'input'"},
    {"a price below nothing", TOP "- name: 'a:b'\n  price: {input: -1}", 4, 18,
     "models[0].price.input must be USD for a million tokens, from 0 to "
     "2000, with at most 9 decimals, not -1"},
    {"the second is wrong", TOP "- name: 'a:b'\n- name: 5", 4, 9,
     "models[1].name must be provider:model, such as openai:*, not 5"},
};

static void test_refused(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(refused); i++) {
        struct arena a = {.mem = &m};
        struct models *all = NULL;
        wend_error err = {0};
        wend_status st = models_parse(str_of(refused[i].text), &a, &all, &err);

        tap_ok(st == WEND_E_PARSE && !all, "refused: %s", refused[i].why);
        tap_is_str(str_of(err.message), refused[i].message, "  says what");
        tap_is_i64(err.line, refused[i].line, "  line");
        tap_is_i64(err.column, refused[i].column, "  column");
        tap_is_i64(models_parse(str_of(refused[i].text), &a, &all, NULL), st,
                   "  and without a place for the message");
        arena_free(&a);
    }
}

/* ---- Limits -------------------------------------------------------------- */

static void test_count(void)
{
    struct mem m = {0};

    for (int n = MODELS_MAX - 1; n <= MODELS_MAX + 1; n++) {
        struct arena a = {.mem = &m};
        struct buf b = {.mem = &m};
        struct models *all = NULL;

        buf_cstr(&b, "{\"wend\":\"models/1\",\"models\":[");
        for (int i = 0; i < n; i++)
            buf_cstr(&b, i ? ",{\"name\":\"a:b\"}" : "{\"name\":\"a:b\"}");
        buf_cstr(&b, "]}");
        tap_is_i64(models_parse(buf_view(&b), &a, &all, NULL),
                   n <= MODELS_MAX ? WEND_OK : WEND_E_LIMIT, "%d models", n);
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_bytes(void)
{
    struct mem m = {0};

    for (int n = MODELS_BYTES_MAX - 1; n <= MODELS_BYTES_MAX + 1; n++) {
        struct arena a = {.mem = &m};
        struct buf b = {.mem = &m};
        struct models *all = NULL;

        buf_cstr(&b, "{\"wend\":\"models/1\",\"models\":[]}");
        while (b.len < (size_t)n)
            buf_char(&b, '\n');
        tap_is_i64(models_parse(buf_view(&b), &a, &all, NULL),
                   n <= MODELS_BYTES_MAX ? WEND_OK : WEND_E_LIMIT, "%d bytes",
                   n);
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_tokens(void)
{
    struct mem m = {0};

    for (int64_t n = MODEL_TOKENS_MAX - 1; n <= MODEL_TOKENS_MAX + 1; n++) {
        struct arena a = {.mem = &m};
        struct buf b = {.mem = &m};
        struct models *all = NULL;

        buf_fmt(&b, TOP "- {name: 'a:b', window: %lld}", (long long)n);
        tap_is_i64(models_parse(buf_view(&b), &a, &all, NULL),
                   n <= MODEL_TOKENS_MAX ? WEND_OK : WEND_E_PARSE,
                   "a window of %lld", (long long)n);
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- Finding ------------------------------------------------------------- */

static void test_find(void)
{
    static const char text[] = TOP "- {name: 'openai:mini-*', window: 1}\n"
                                   "- {name: 'openai:*', window: 2}\n"
                                   "- {name: 'openai:late', window: 3}\n"
                                   "- {name: 'script:?', window: 4}\n";
    static const struct {
        const char *why, *name;
        int64_t window; /* 0 = none */
    } rows[] = {
        {"by a glob", "openai:mini-2", 1},
        {"by a wider one", "openai:other", 2},
        {"the first counts", "openai:late", 2},
        {"one character", "script:x", 4},
        {"one is not two", "script:xy", 0},
        {"another provider", "gemini:mini-2", 0},
        {"no name at all", "", 0},
    };
    struct mem m = {0};
    struct arena a = {.mem = &m};
    struct models *all = NULL;

    models_parse(str_of(text), &a, &all, NULL);
    for (size_t i = 0; all && i < tap_count(rows); i++) {
        const struct model *x = models_find(all, str_of(rows[i].name));

        tap_is_i64(x ? x->window : 0, rows[i].window, "find: %s", rows[i].why);
    }
    arena_free(&a);
}

static void test_path(void)
{
    static const struct {
        const char *why, *named, *xdg, *home, *path;
    } rows[] = {
        {"named", "m.yaml", "/x", "/h", "m.yaml"},
        {"an empty name is none", "", "/x", "/h", "/x/wend/models.yaml"},
        {"a relative folder is ignored", NULL, "x", "/h",
         "/h/.config/wend/models.yaml"},
        {"by the home", NULL, NULL, "/h", "/h/.config/wend/models.yaml"},
        {"a relative home is none", NULL, NULL, "h", ""},
        {"nothing says", NULL, NULL, NULL, ""},
    };
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &m};

        tap_is_i64(models_path(&b, rows[i].named, rows[i].xdg, rows[i].home),
                   rows[i].path[0] != 0, "path: %s", rows[i].why);
        tap_is_str(buf_view(&b), rows[i].path, "  where");
        buf_free(&b);
    }
}

/* ---- Cost ---------------------------------------------------------------- */

static void test_cost(void)
{
    const int64_t big = PRICE_NANO_MAX;
    const struct {
        const char *why;
        int64_t price[3], usage[3], cost; /* input, cached, output */
    } rows[] = {
        {"nothing counted is not known", {1, 1, 1}, {0, 0, 0}, -1},
        {"for nothing", {0, 0, 0}, {10, 5, 10}, 0},
        {"input", {3000000, 0, 0}, {100, 0, 0}, 300},
        {"cached input apart", {3000000, 1000000, 0}, {100, 40, 0}, 220},
        {"output", {0, 0, 5000000}, {0, 0, 7}, 35},
        {"rounded up", {1, 0, 0}, {1, 0, 0}, 1},
        {"rounded up once", {1, 1, 1}, {2, 1, 1}, 1},
        {"not rounded", {1, 0, 0}, {1000000, 0, 0}, 1},
        {"one above", {1, 0, 0}, {1000001, 0, 0}, 2},
        {"more cached than read", {9000000, 1000000, 0}, {10, 20, 0}, 10},
        {"counts below nothing", {1000000, 1, 1}, {10, -5, -5}, 10},
        {"the highest prices, just below a million",
         {big, big, big},
         {1999998, 999999, 999999},
         INT64_C(2000000000000) * 2999997 / 1000000},
        {"beyond all money", {big, big, big}, {INT64_MAX, 0, 1}, INT64_MAX},
        {"beyond it by a sum",
         {1000000, 0, 1000000},
         {INT64_MAX, 0, INT64_MAX},
         INT64_MAX},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct price p = {true, rows[i].price[0], rows[i].price[1],
                          rows[i].price[2], -1};
        wend_ev_usage u = {.input = rows[i].usage[0],
                           .cached = rows[i].usage[1],
                           .output = rows[i].usage[2]};

        tap_is_i64(price_of(&p, &u), rows[i].cost, "cost: %s", rows[i].why);
        p.known = false;
        tap_is_i64(price_of(&p, &u), -1, "  not known without a price");
    }
}

/* 100 tokens read at 3, 40 of them cached at 1; of those written at that. */
static void test_cost_written(void)
{
    static const struct {
        const char *why;
        int64_t price, written, cost;
    } rows[] = {
        {"at its own price", 4000000, 12, 232},
        {"without a price of its own", -1, 12, 220},
        {"for nothing", 0, 12, 184},
        {"nothing", 4000000, 0, 220},
        {"less than nothing", 4000000, -1, 220},
        {"more than was read", 4000000, 99, 280},
    };
    const struct price highest = {true, PRICE_NANO_MAX, PRICE_NANO_MAX,
                                  PRICE_NANO_MAX, PRICE_NANO_MAX};
    const wend_ev_usage most = {.input = 2999997,
                                .cached = 999999,
                                .cache_write = 999999,
                                .output = 999999};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct price p = {true, 3000000, 1000000, 0, rows[i].price};
        wend_ev_usage u = {
            .input = 100, .cached = 40, .cache_write = rows[i].written};

        tap_is_i64(price_of(&p, &u), rows[i].cost, "written: %s", rows[i].why);
    }
    tap_is_i64(price_of(&highest, &most),
               INT64_C(2000000000000) * 3999996 / 1000000,
               "the highest prices of all, just below a million");
}

static void test_cost_most(void)
{
    static const struct {
        const char *why;
        struct price price;
        int64_t cost;
    } rows[] = {
        {"no price", {.cache_write = -1}, -1},
        {"no cache", {true, 3000000, 3000000, 1000000, -1}, 310},
        {"all of it written", {true, 3000000, 0, 1000000, 4000000}, 410},
        {"writing is cheaper", {true, 3000000, 0, 1000000, 2000000}, 310},
        {"reading is dearer", {true, 3000000, 5000000, 1000000, -1}, 510},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_i64(price_most(&rows[i].price, 100, 10), rows[i].cost,
                   "the most: %s", rows[i].why);
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int rounds = 0, bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 16};
        struct models *all = NULL;
        wend_error err = {0}; /* fail_in takes the status from it */
        wend_status st = models_parse(str_of(manual), &a, &all, &err);

        bad += st != (f.hit ? WEND_E_NOMEM : WEND_OK) || !all != f.hit ||
               err.status != st;
        arena_free(&a);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(rounds > 3 && !bad, "no memory, at each of %d places", rounds - 1);
}

int main(void)
{
    test_manual();
    test_known();
    test_prices();
    test_refused();
    test_count();
    test_bytes();
    test_tokens();
    test_find();
    test_path();
    test_cost();
    test_cost_written();
    test_cost_most();
    test_no_memory();
    return tap_done();
}
