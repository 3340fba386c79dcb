/*
 * test_tokens.c - estimates of tokens: by text, by family, and corrected by
 * what a provider reports.
 */
#include <stdlib.h>

#include "core/turn/turn.h"
#include "tap.h"

static const struct mem plain;

/* Pieces of conversations, and what a public tokenizer (o200k) counts. */
static const struct {
    const char *what, *text;
    int64_t tokens;
} pieces[] = {
    {"a question",
     "Please look at the build of the project and find out"
     " why the tests of the parser fail on the second mach"
     "ine. I think that it has to do with the locale, sinc"
     "e everything works here.",
     39},
    {"an answer",
     "I ran the tests with both locales. The parser reads "
     "numbers with strtod, which takes a comma as the deci"
     "mal point in some locales, so \"1.5\" ends after the f"
     "irst digit. The fix is to parse numbers without the "
     "locale; I changed two functions and added a test for"
     " each.",
     61},
    {"C",
     "static int64_t whole_tokens(int64_t milli)\n{\n    ret"
     "urn (milli + 999) / 1000 + MESSAGE_TOKENS;\n}\n\nvoid m"
     "sg_link(struct msg *m, const struct msg *prev, uint6"
     "4_t first)\n{\n    m->prev = prev;\n    m->index = prev"
     " ? prev->index + 1 : 0;\n}\n",
     77},
    {"Python",
     "def read_rows(path, limit=100):\n    \"\"\"Reads at most"
     " limit rows.\"\"\"\n    rows = []\n    with open(path, en"
     "coding=\"utf-8\") as f:\n        for line in f:\n       "
     "     if len(rows) >= limit:\n                break\n  "
     "          rows.append([int(x) for x in line.split(\","
     "\")])\n    return rows\n",
     71},
    {"JSON",
     "{\"name\":\"read_file\",\"arguments\":{\"path\":\"src/core/co"
     "ntext/compact.c\",\"offset\":120,\"limit\":80},\"id\":\"call"
     "_7\",\"result\":{\"ok\":true,\"bytes\":2048,\"lines\":[1,2,3,"
     "4]}}",
     53},
    {"a listing",
     "-rw-r--r-- 1 root root  12288 Nov 16 18:21 compact.c"
     "\n-rw-r--r-- 1 root root   4096 Nov 16 18:22 context."
     "h\ndrwxr-xr-x 2 root root   4096 Nov 16 19:04 build\n-"
     "rwxr-xr-x 1 root root 872312 Nov 16 19:05 wend\n",
     94},
    {"hashes",
     "commit 4cfed8929058b297989cb56b67fccf4ba3dd3696\npare"
     "nt 5914c3f830551e946d8dbfd1e2371f49a1f99473\ntree   f"
     "c6e8db483c1b8faabe22d3821ece6324c774f58\n",
     77},
    {"German",
     "Bitte pruefe, ob die Zusammenfassung alle Entscheidu"
     "ngen enthaelt. Wenn etwas fehlt, ergaenze es, und sc"
     "hreibe danach die Aenderungen in das Protokoll der S"
     "itzung.",
     39},
    {"Russian",
     "Пожалуйста, проверьте, почему сборка проекта заверша"
     "ется с ошибкой, и напишите краткий отчёт о том, что "
     "нужно исправить.",
     33},
    {"Chinese",
     "请检查这个项目的构建为什么会失败,并写一份简短的报告,"
     "说明需要修改哪些文件以及原因。",
     28},
    {"an error",
     "error: /build/src/parser.c:214:18: implicit conversi"
     "on changes signedness: 'int' to 'size_t' (aka 'unsig"
     "ned long') [-Werror,-Wsign-conversion]\n    buf_add(b"
     ", p, n - 1);\n    ~~~~~~~       ~~^~~\n",
     62},
};

static void test_texts(void)
{
    for (size_t i = 0; i < tap_count(pieces); i++) {
        int64_t got = text_millitokens(str_of(pieces[i].text)) / 1000;
        int64_t off = (got - pieces[i].tokens) * 100 / pieces[i].tokens;

        tap_ok(off >= -30 && off <= 30, "%s: %lld for %lld, %lld %% off",
               pieces[i].what, (long long)got, (long long)pieces[i].tokens,
               (long long)off);
    }
}

static void test_families(void)
{
    static const struct {
        const char *spec;
        int64_t scale;
    } rows[] = {
        {"openai:gpt-5", 1000},
        {"anthropic:claude-3-5-sonnet-20241022", 1400},
        {"anthropic:claude-sonnet-4-5", 1400},
        {"anthropic:claude-opus-4-20250514", 1400},
        {"anthropic:claude-opus-4-7", 1750},
        {"anthropic:claude-opus-5", 1750},
        {"openrouter:anthropic/claude-sonnet-4.6", 1400},
        {"gemini:gemini-3-pro", 1100},
        {"script:x", 1000},
        {"", 1000},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_i64(family_scale(str_of(rows[i].spec)), rows[i].scale,
                   "family: %s", rows[i].spec);
}

/* A conversation that a provider counts by its own rule: `rate` of the true
 * count in hundredths, and the tokens around each message. */
static const struct provider {
    const char *why, *spec;
    int64_t rate, around, system;
} providers[] = {
    {"the tokenizer itself", "openai:gpt-5", 100, 3, 0},
    {"one that cuts finer", "anthropic:claude-sonnet-4-5", 138, 5, 300},
    {"much finer", "anthropic:claude-opus-5", 176, 5, 400},
    {"coarser than its family", "openai:other", 80, 4, 0},
    {"finer than its family", "ollama:llama", 130, 4, 60},
    {"the tokenizer, with items around it", "responses:gpt-5", 100, 6, 12},
    {"a little finer", "gemini:gemini-3-pro", 108, 2, 20},
};

static void add(struct turn *t, struct arena *a, size_t piece, enum role role)
{
    struct msg *m = arena_alloc(a, sizeof *m);

    m->role = role;
    m->text = str_of(pieces[piece].text);
    turn_history_add(t, m);
}

static void converse(const struct provider *p)
{
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain};
    struct config *c = NULL;
    struct turn t;
    int64_t truth = p->system, worst = 0;

    turn_init(&t);
    buf_fmt(&b, "{\"model\":\"%s\"}", p->spec);
    tap_ok(config_parse(buf_view(&b), &a, &c, NULL) == WEND_OK, "%s", p->why);
    t.config = c;
    t.frame = &c->frame;
    for (size_t i = 0; i < 3 * tap_count(pieces); i++) {
        size_t piece = i * 5 % tap_count(pieces);
        int64_t off;

        add(&t, &a, piece, i % 2 ? ROLE_ASSISTANT : ROLE_USER);
        truth += pieces[piece].tokens * p->rate / 100 + p->around;
        if (i % 2) /* the answer, which is not asked with */
            continue;
        off = (turn_tokens(&t) - truth) * 1000 / truth;
        if (i > 4 && llabs(off) > worst)
            worst = llabs(off);
        turn_on_usage(&t, &(wend_ev_usage){.input = truth, .output = 1},
                      t.history);
    }
    tap_ok(worst < 100, "  after three calls at most %lld.%lld %% off",
           (long long)worst / 10, (long long)worst % 10);
    buf_free(&b);
    arena_free(&a);
}

/* A provider's rule for images gives its own tokens: those of its family are
 * not finer. */
static void test_images(void)
{
    static const struct {
        const char *spec;
        int64_t side, tokens;
    } rows[] = {
        {"openai:gpt-4o", 1024, 765},
        {"responses:gpt-5.4", 4000, 2500},
        {"anthropic:claude-sonnet-4-5", 8000, 1568},
        {"anthropic:claude-opus-5", 8000, 4784},
        {"gemini:gemini-3-pro", 4000, 1120},
        {"ollama:llava", 100, 1500},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_ev_part image = {.type = STR("image"),
                              .media = STR("image/png"),
                              .width = rows[i].side,
                              .height = rows[i].side};
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        struct msg *m = arena_alloc(&a, sizeof *m);
        struct config *c = NULL;
        struct turn t;

        turn_init(&t);
        buf_fmt(&b, "{\"model\":\"%s\"}", rows[i].spec);
        config_parse(buf_view(&b), &a, &c, NULL);
        t.config = c;
        t.frame = &c->frame;
        m->parts = &image;
        m->parts_count = 1;
        turn_history_add(&t, m);
        tap_ok(llabs(turn_tokens(&t) - rows[i].tokens) * 50 < rows[i].tokens,
               "an image for %s: %lld tokens, it counts %lld", rows[i].spec,
               (long long)turn_tokens(&t), (long long)rows[i].tokens);
        buf_free(&b);
        arena_free(&a);
    }
}

/* A server that counts wrong must not hide that a request is too long, nor
 * make a short one seem so. */
static void test_wrong(void)
{
    static const int64_t counts[] = {1, 0, -5, INT64_MAX, 1 << 30, 100000000};

    for (size_t i = 0; i < tap_count(counts); i++) {
        struct arena a = {.mem = &plain};
        struct config *c = NULL;
        struct turn t;
        int64_t before, after;

        turn_init(&t);
        config_parse(STR("{}"), &a, &c, NULL);
        t.config = c;
        t.frame = &c->frame;
        for (size_t k = 0; k < 20; k++)
            add(&t, &a, k % tap_count(pieces), ROLE_USER);
        before = turn_tokens(&t);
        turn_on_usage(&t, &(wend_ev_usage){.input = counts[i]}, t.history);
        after = turn_tokens(&t);
        tap_ok(after == before, "%lld reported: %lld, then %lld",
               (long long)counts[i], (long long)before, (long long)after);
        arena_free(&a);
    }
}

/* A conversation that becomes much shorter is counted as its share of what was
 * reported, however finely the newest messages were cut. */
static void test_shorter(void)
{
    static const struct {
        const char *why;
        int64_t percent; /* that it reports of the newest message */
    } rows[] = {
        {"newest as the others", 100},
        {"newest finer", 190},
        {"newest much finer than anything", 900},
        {"newest coarser", 55},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct config *c = NULL;
        struct turn t;
        int64_t all, plainly;

        turn_init(&t);
        config_parse(STR("{\"context_tokens\":4000}"), &a, &c, NULL);
        t.config = c;
        t.frame = &c->frame;
        for (size_t k = 0; k < 40; k++)
            add(&t, &a, k % tap_count(pieces), ROLE_USER);
        all = turn_tokens(&t);
        turn_on_usage(&t, &(wend_ev_usage){.input = all}, t.history);
        add(&t, &a, 0, ROLE_USER);
        turn_on_usage(
            &t,
            &(wend_ev_usage){.input =
                                 all + t.history->size * rows[i].percent / 100},
            t.history);
        while (t.history->index > 3)
            t.history = t.history->prev;
        plainly = t.frame->tokens + t.history->tokens;
        tap_ok(llabs(turn_tokens(&t) - plainly) * 100 < plainly * 20,
               "shorter, %s: %lld tokens, estimated %lld", rows[i].why,
               (long long)turn_tokens(&t), (long long)plainly);
        tap_ok(llabs(turn_tokens_with(&t, turn_room(&t).most - plainly) -
                     3000) <= 2,
               "  the room is counted alike");
        arena_free(&a);
    }
}

int main(void)
{
    test_texts();
    test_shorter();
    test_families();
    for (size_t i = 0; i < tap_count(providers); i++)
        converse(&providers[i]);
    test_images();
    test_wrong();
    return tap_done();
}
