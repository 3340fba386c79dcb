/*
 * test_frame_parts.c - which parts of a request give way when the window is too
 * small for all: rows with the numbers, then any parts with any budget.
 */
#include "core/config/frame_parts.h"

#include "base/json.h"
#include "base/utf8.h"
#include "core/config/config.h"
#include "tap.h"

static const struct mem plain;

enum { PARTS = 5 };

/* Instructions, looked up, tools, notes, environment. */
static const struct {
    const char *name;
    int64_t budget, tokens[PARTS], given[PARTS];
} rows[] = {
    {"all fit", 900, {100, 300, 200, 200, 100}, {100, 300, 200, 200, 100}},
    {"the optional one goes first",
     899,
     {100, 300, 200, 200, 100},
     {100, 300, 200, 200, 0}},
    {"then the low one is cut",
     799,
     {100, 300, 200, 200, 100},
     {100, 300, 200, 199, 0}},
    {"... as long as enough of it stays",
     620,
     {100, 300, 200, 200, 100},
     {100, 300, 200, 20, 0}},
    {"... else dropped", 619, {100, 300, 200, 200, 100}, {100, 300, 200, 0, 0}},
    {"then the tools", 500, {100, 300, 200, 200, 100}, {100, 300, 100, 0, 0}},
    {"then what was looked up",
     399,
     {100, 300, 200, 200, 100},
     {100, 299, 0, 0, 0}},
    {"instructions never are",
     50,
     {100, 300, 200, 200, 100},
     {100, 0, 0, 0, 0}},
    {"a small one does not slip through below a cut one",
     650,
     {100, 300, 200, 200, 1},
     {100, 300, 200, 50, 0}},
    {"nothing", 10, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
};

static void test_rows(void)
{
    static const struct frame_part kinds[PARTS] = {
        {.priority = PRIORITY_CRITICAL, .fit = FIT_WHOLE},
        {.priority = PRIORITY_HIGH, .fit = FIT_CUT, .least = 20},
        {.priority = PRIORITY_MEDIUM, .fit = FIT_CUT, .least = 20},
        {.priority = PRIORITY_LOW, .fit = FIT_CUT, .least = 20},
        {.priority = PRIORITY_OPTIONAL, .fit = FIT_DROP},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct frame_part list[PARTS];
        int good = 0;

        for (int k = 0; k < PARTS; k++) {
            list[k] = kinds[k];
            list[k].tokens = rows[i].tokens[k];
        }
        frame_parts_fit(list, PARTS, rows[i].budget);
        for (int k = 0; k < PARTS; k++)
            good += list[k].given == rows[i].given[k];
        if (!tap_ok(good == PARTS, "%s", rows[i].name))
            for (int k = 0; k < PARTS; k++)
                printf("# part %d gets %lld\n", k, (long long)list[k].given);
    }
}

static void test_rules(void)
{
    static const struct {
        enum frame_part_kind kind;
        int priority;
        enum frame_part_fit fit;
    } wanted[PART_KINDS] = {
        {PART_INSTRUCTIONS, 100, FIT_WHOLE}, {PART_TOOLS, 70, FIT_CUT},
        {PART_SCHEMA, 100, FIT_WHOLE},       {PART_NOTES, 50, FIT_CUT},
        {PART_ENVIRONMENT, 30, FIT_DROP},    {PART_READER, 70, FIT_WHOLE},
        {PART_HISTORY, 100, FIT_WHOLE},
    };

    for (int i = 0; i < PART_KINDS; i++)
        tap_ok((int)frame_part_rules[wanted[i].kind].priority ==
                       wanted[i].priority &&
                   frame_part_rules[wanted[i].kind].fit == wanted[i].fit,
               "%s", frame_part_rules[wanted[i].kind].name);
}

/* ---- Any parts ----------------------------------------------------------- */

static uint64_t seed = 1;

static int64_t any(int64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(seed >> 33) % below;
}

enum { ANY_MAX = 12, ROUNDS = 20000 };

static size_t any_parts(struct frame_part *list)
{
    static const enum frame_part_priority priorities[] = {
        PRIORITY_CRITICAL, PRIORITY_HIGH, PRIORITY_MEDIUM, PRIORITY_LOW,
        PRIORITY_OPTIONAL};
    size_t count = (size_t)any(ANY_MAX + 1);

    for (size_t i = 0; i < count; i++) {
        list[i] = (struct frame_part){.priority = priorities[any(5)],
                                      .fit = (enum frame_part_fit)(1 + any(2)),
                                      .tokens = any(any(2) ? 20 : 1000),
                                      .least = any(100)};
        if (list[i].priority == PRIORITY_CRITICAL)
            list[i].fit = FIT_WHOLE;
    }
    return count;
}

/* How many of the laws do not hold. */
static int wrongs(const struct frame_part *list, size_t count, int64_t budget)
{
    int64_t sum = 0, whole = 0;
    int wrong = 0;

    for (size_t i = 0; i < count; i++) {
        const struct frame_part *p = &list[i];
        bool is_cut = p->given < p->tokens;

        sum += p->given;
        whole += p->fit == FIT_WHOLE ? p->tokens : 0;
        wrong += p->given < 0 || p->given > p->tokens;
        wrong += p->fit == FIT_WHOLE && is_cut;
        wrong += p->fit == FIT_DROP && is_cut && p->given;
        wrong += p->fit == FIT_CUT && is_cut && p->given && p->given < p->least;
        for (size_t k = 0; is_cut && k < count; k++)
            wrong += list[k].priority < p->priority && list[k].given;
    }
    return wrong + (sum > (budget > whole ? budget : whole));
}

static void test_any(void)
{
    int wrong = 0, other = 0, cut = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct frame_part list[ANY_MAX], again[ANY_MAX];
        size_t count = any_parts(list);
        int64_t budget = any(3000) - 100;

        memcpy(again, list, sizeof list);
        frame_parts_fit(list, count, budget);
        frame_parts_fit(again, count, budget);
        wrong += wrongs(list, count, budget);
        for (size_t k = 0; k < count; k++) {
            other += list[k].given != again[k].given;
            cut += list[k].given && list[k].given < list[k].tokens;
        }
    }
    tap_is_i64(wrong, 0, "any parts: the laws hold");
    tap_is_i64(other, 0, "any parts: the same again");
    tap_ok(cut > ROUNDS / 10, "any parts: many are cut");
}

/* ---- Any texts: the frame that is made of them --------------------------- */

static void put_text(struct buf *b, int64_t words)
{
    static const char *const all[] = {"word ", "<notes> ", "</NOTES>",
                                      "\xc3\xa4\xc3\xb6 ", "longer-word "};

    while (words--)
        buf_cstr(b, all[any(5)]);
}

static void put_context(struct buf *b)
{
    struct buf text = {.mem = &plain};

    json_open(b, NULL, '{');
    json_add_str(b, "date", STR("2026-11-16"));
    json_open(b, "notes", '[');
    for (int64_t n = any(4); n > 0; n--) {
        buf_clear(&text);
        put_text(&text, any(400));
        json_open(b, NULL, '{');
        json_add_str(b, "path", STR("in/AGENTS.md"));
        json_add_str(b, "text", buf_view(&text));
        json_close(b, '}');
    }
    json_close(b, ']');
    json_close(b, '}');
    buf_free(&text);
}

static void put_config(struct buf *b, int64_t window)
{
    struct buf text = {.mem = &plain};

    put_text(&text, any(200));
    json_open(b, NULL, '{');
    json_add_str(b, "instructions", buf_view(&text));
    json_add_i64(b, "context_tokens", window);
    json_open(b, "tools", '[');
    for (int i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), 0};

        buf_clear(&text);
        put_text(&text, any(200));
        json_open(b, NULL, '{');
        json_add_str(b, "name", str_of(name));
        json_add_str(b, "description", buf_view(&text));
        json_close(b, '}');
    }
    json_close(b, ']');
    json_close(b, '}');
    buf_free(&text);
}

/* Elements of notes in the text: each begins and ends once. */
static int open_elements(wend_str s)
{
    int open = 0, wrong = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (str_starts(str_skip(s, i), "<notes"))
            wrong += ++open > 1;
        if (str_starts(str_skip(s, i), "</notes"))
            open--;
    }
    return wrong + (open != 0);
}

static void test_frames(void)
{
    enum { FRAMES = 500 };
    int over = 0, lost = 0, elements = 0, other = 0, invalid = 0;

    for (int i = 0; i < FRAMES; i++) {
        struct arena a = {.mem = &plain};
        struct buf config = {.mem = &plain}, context = {.mem = &plain};
        int64_t window = 200 + any(2000);
        const struct frame *f, *again;
        struct config *c = NULL;

        put_config(&config, window);
        put_context(&context);
        config_parse(buf_view(&config), &a, &c, NULL);
        f = frame_with(c, buf_view(&context), &a);
        again = frame_with(c, buf_view(&context), &a);
        over += f->tokens > window * 9 / 10 && f->tokens > c->frame.tokens;
        lost += f->system.len < c->instructions.len ||
                memcmp(f->system.ptr, c->instructions.ptr,
                       c->instructions.len) != 0;
        elements += open_elements(str_skip(f->system, c->instructions.len));
        other += !str_eq(f->system, again->system) ||
                 !str_eq(f->parts, again->parts) || f->prefix != again->prefix;
        invalid += utf8_valid_len(f->system) != f->system.len;
        buf_free(&config);
        buf_free(&context);
        arena_free(&a);
    }
    tap_is_i64(over, 0, "any texts: within the budget");
    tap_is_i64(lost, 0, "any texts: the instructions are whole, and first");
    tap_is_i64(elements, 0, "any texts: no note leaves its element");
    tap_is_i64(other, 0, "any texts: the same bytes again");
    tap_is_i64(invalid, 0, "any texts: whole characters");
}

int main(void)
{
    test_rows();
    test_rules();
    test_any();
    test_frames();
    return tap_done();
}
