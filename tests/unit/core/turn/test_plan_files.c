/*
 * test_plan_files.c - the files of actions: what an entry may be, and which
 * parts it means while a plan runs.
 */
#include "tt_help.h"

#include "core/plan/plan_state.h"

#define HASH(c)                                                               \
    c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c \
        c c c c c c c c c c c c c c c c c c c c c c c c c c c

#define PLAN(options, actions) \
    "{\"wend\":\"plan/1\"," options "\"actions\":[" actions "]}"
#define TOOL "{\"name\":\"t\",\"type\":\"tool\",\"target\":\"t\","
#define LLM(files)                                                            \
    "{\"name\":\"a\",\"type\":\"llm\",\"prompt\":\"p\",\"depends_on\":[\"t\"" \
    "],\"files\":" files "}"
#define SHOT TOOL "\"output_key\":\"k\"},"
#define FLOW(rest) \
    "{\"name\":\"t\",\"type\":\"workflow\",\"target\":\"w\",\"files\":" rest "}"
#define GIVEN                                                  \
    "\"inputs\":{\"f\":[{\"type\":\"image\",\"hash\":\"" HASH( \
        "1") "\"},{\"hash\":\"" HASH("9") "\"}],\"n\":null,\"s\":\"a.c\"},"

/* ---- What is refused ----------------------------------------------------- */

#define NOT_ONE "must be a path, $NAME of an input that is a path, or $KEY"

static void test_refusals(void)
{
    static const struct {
        const char *plan, *wanted;
    } rows[] = {
        {PLAN("", SHOT LLM("[\"$x\"]")), "$x is neither an input nor"},
        {PLAN("", SHOT LLM("[\"${k.x}\"]")), NOT_ONE},
        {PLAN("", SHOT LLM("[\"${k[0]}\"]")), NOT_ONE},
        {PLAN("", SHOT LLM("[\"${k.parts.x}\"]")), NOT_ONE},
        {PLAN("", SHOT LLM("[\"${k.parts[0].x}\"]")), NOT_ONE},
        {PLAN("", SHOT LLM("[\"$k and more\"]")), NOT_ONE},
        {PLAN("", SHOT LLM("[\"${k\"]")), "'}' is missing"},
        {PLAN("", SHOT LLM("[\"$\"]")), "a name must follow"},
        {PLAN("", SHOT LLM("{\"x\":\"$k\"}")), "files must be a list"},
        {PLAN(GIVEN, SHOT LLM("[\"${s.parts[0]}\"]")), NOT_ONE},
        {PLAN("\"inputs\":{\"f\":[{\"hash\":1}]},", SHOT LLM("[\"$f\"]")),
         NOT_ONE},
        {PLAN("\"inputs\":{\"f\":[\"x\"]},", SHOT LLM("[\"$f\"]")), NOT_ONE},
        {PLAN("\"inputs\":{\"f\":{}},", SHOT LLM("[\"$f\"]")), NOT_ONE},
        {PLAN("",
              TOOL "\"mode\":\"fire_and_forget\",\"output_key\":\"k\"}," LLM(
                  "[\"$k\"]")),
         "fire_and_forget"},
        {PLAN("", "{\"name\":\"t\",\"type\":\"llm\",\"prompt\":\"p\","
                  "\"output_key\":\"k\"}," LLM("[\"$k\"]")),
         "$k is the output of 't', which is no tool and gives no files"},
        {PLAN("", FLOW("[\"a\"]")), "must be a mapping from inputs of the"},
        {PLAN("", FLOW("{\"x\":\"a\"},\"params\":{\"x\":1}")),
         "the input 'x' is in files and in params"},
        {PLAN("", FLOW("{\"x\":1}")), "files.x must be a string"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct plan *p = NULL;
        wend_error err = {0};

        plan_parse(str_of(rows[i].plan), NULL, &a, &p, &err);
        tap_ok(!p && strstr(err.message, rows[i].wanted), "row %zu: %s", i,
               err.message);
        arena_free(&a);
    }
}

/* A model names results only, also those of its plans before. */
static void test_written(void)
{
    static const struct {
        const char *files, *wanted;
    } rows[] = {
        {"[\"$k\"]", ""},
        {"[\"${k.parts[1]}\"]", ""},
        {"[\"$later\"]", ""},
        {"[\"k\"]", "reads no files"},
        {"[\"/etc/passwd\"]", "reads no files"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct plan_set k = {.name = STR("k"), .value = STR("\"a.c\"")};
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        struct plan *p = NULL, *next = NULL;
        wend_error err = {0};

        buf_fmt(&b,
                "{\"name\":\"a\",\"type\":\"llm\",\"prompt\":\"p\","
                "\"files\":%s}",
                rows[i].files);
        plan_open(STR("p"), &k, 1, &a, &p, &err);
        plan_add(p, buf_view(&b), NULL, &a, &next, &err);
        tap_ok(!next == !!*rows[i].wanted &&
                   strstr(err.message, rows[i].wanted),
               "a model writes %s: %s", rows[i].files, err.message);
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- Which parts an entry means ------------------------------------------ */

static wend_ev_part part(const char *name, const char *hash)
{
    return (wend_ev_part){.type = STR("image"),
                          .media = STR("image/png"),
                          .bytes = 75,
                          .hash = str_of(hash),
                          .name = str_of(name)};
}

static void start(struct turn *t, const char *plan, struct arena *a)
{
    const wend_event ev = {.type = WEND_PLAN_START};
    struct plan *p = NULL;

    plan_parse(str_of(plan), NULL, a, &p, NULL);
    t->plan = (struct plan_state){.plan = p};
    plan_begin(&t->plan, &ev, a);
}

static void end(struct turn *t, const char *action, wend_outcome outcome,
                size_t parts, struct arena *a)
{
    const wend_ev_part list[] = {part("one", HASH("1")),
                                 part("two", HASH("2"))};
    const wend_event begun = {
        .type = WEND_ACTION_START,
        .u.action_start = {.action = str_of(action), .attempt = 1}};
    const wend_event ev = {.type = WEND_ACTION_END,
                           .u.action_end = {.action = str_of(action),
                                            .outcome = outcome,
                                            .output_json = STR("\"x\""),
                                            .parts = list,
                                            .parts_count = parts}};

    plan_evolve(&t->plan, &begun, a);
    plan_evolve(&t->plan, &ev, a);
}

/* The first letters of the names, in order. */
static void tap_is_files(const struct turn *t, const char *action,
                         const char *wanted, const char *why)
{
    uint32_t i = plan_find(t->plan.plan, str_of(action));
    struct action_files files = t->plan.plan->actions[i]->files;
    struct buf b = {.mem = &plain};
    const wend_ev_part *p;

    buf_cstr(&b, "");
    for (size_t f = 0; f < files.count; f++)
        for (size_t n = 0; (p = turn_file(t, &files.list[f], n)); n++)
            buf_char(&b, p->name.ptr[0]);
    tap_is_str(buf_view(&b), wanted, "%s", why);
    buf_free(&b);
}

static void test_meant(void)
{
    static const struct {
        const char *why, *plan;
        wend_outcome outcome;
        size_t parts;
        const char *wanted;
    } rows[] = {
        {"all of a result", PLAN("", SHOT LLM("[\"$k\"]")), WEND_OUTCOME_OK, 2,
         "ot"},
        {"in other words", PLAN("", SHOT LLM("[\"${k.parts}\",\"${k}\"]")),
         WEND_OUTCOME_OK, 1, "oo"},
        {"one of them", PLAN("", SHOT LLM("[\"${k.parts[1]}\"]")),
         WEND_OUTCOME_OK, 2, "t"},
        {"one that is not there", PLAN("", SHOT LLM("[\"${k.parts[2]}\"]")),
         WEND_OUTCOME_OK, 2, ""},
        {"a result without any", PLAN("", SHOT LLM("[\"$k\"]")),
         WEND_OUTCOME_OK, 0, ""},
        {"a failure", PLAN("", SHOT LLM("[\"$k\"]")), WEND_OUTCOME_FAILED, 2,
         ""},
        {"a path beside a result", PLAN("", SHOT LLM("[\"a.c\",\"$k\"]")),
         WEND_OUTCOME_OK, 1, "ao"},
        {"an input that is a path", PLAN(GIVEN, SHOT LLM("[\"$s\"]")),
         WEND_OUTCOME_OK, 0, "a"},
        {"an input that was given files: those that the run has",
         PLAN(GIVEN, SHOT LLM("[\"$f\"]")), WEND_OUTCOME_OK, 0, "g"},
        {"one of them, by its number",
         PLAN(GIVEN, SHOT LLM("[\"${f.parts[0]}\"]")), WEND_OUTCOME_OK, 0, "g"},
        {"no run can name the bytes of another one",
         PLAN(GIVEN, SHOT LLM("[\"${f.parts[1]}\"]")), WEND_OUTCOME_OK, 0, ""},
        {"an input that was given none", PLAN(GIVEN, SHOT LLM("[\"$n\"]")),
         WEND_OUTCOME_OK, 0, ""},
    };
    const wend_ev_part own[] = {part("a.c", HASH("a")),
                                part("given", HASH("1"))};
    struct msg first = {.parts = own, .parts_count = 2};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct turn t;

        turn_init(&t);
        t.first = &first;
        start(&t, rows[i].plan, &a);
        tap_is_files(&t, "a",
                     strchr(rows[i].wanted, 'a')   ? "a"
                     : strchr(rows[i].wanted, 'g') ? "g"
                                                   : "",
                     rows[i].why);
        end(&t, "t", rows[i].outcome, rows[i].parts, &a);
        tap_is_files(&t, "a", rows[i].wanted, rows[i].why);
        tap_ok(!a.failed, "%s: memory", rows[i].why);
        arena_free(&a);
    }
}

/* What a fallback gave is the value of its action, with its files. */
static void test_fallback(void)
{
    struct arena a = {.mem = &plain};
    struct turn t, before;

    turn_init(&t);
    start(&t,
          PLAN("",
               TOOL "\"output_key\":\"k\",\"fallback\":\"f\"},"
                    "{\"name\":\"f\",\"type\":\"tool\",\"target\":\"t\"}," LLM(
                        "[\"$k\"]")),
          &a);
    end(&t, "t", WEND_OUTCOME_FAILED, 0, &a);
    before = t;
    end(&t, "f", WEND_OUTCOME_OK, 2, &a);
    tap_is_files(&t, "a", "ot", "a fallback");
    tap_is_files(&before, "a", "", "an older state stays as it was");
    arena_free(&a);
}

/* A plan that grows, and the plan after it, keep the files of values. */
static void test_grows(void)
{
    const wend_event ev = {.type = WEND_PLAN_START};
    struct plan_set none[1];
    struct arena a = {.mem = &plain};
    struct keep k = {.arena = &a};
    struct plan *p = NULL, *more = NULL;
    wend_event next = {.type = WEND_PLAN_START,
                       .u.plan_start = {.plan = STR("p2"),
                                        .call = STR("c"),
                                        .max_parallel = 1}};
    struct turn t;

    turn_init(&t);
    plan_open(STR("p1"), none, 0, &a, &p, NULL);
    t.plan = (struct plan_state){.plan = p};
    plan_begin(&t.plan, &ev, &a);
    plan_add(p, STR(TOOL "\"output_key\":\"k\"}"), NULL, &a, &more, NULL);
    plan_grow(&t.plan, more, &a);
    end(&t, "t", WEND_OUTCOME_OK, 2, &a);
    plan_add(more, STR(LLM("[\"$k\"]")), NULL, &a, &p, NULL);
    plan_grow(&t.plan, p, &a);
    tap_is_files(&t, "a", "ot", "an action that is written later");
    turn_on_plan_start(&t, &next, &k);
    plan_add(t.plan.plan,
             STR("{\"name\":\"a\",\"type\":\"llm\",\"prompt\":\"p\",\"files\":["
                 "\"${k.parts[1]}\"]}"),
             NULL, &a, &p, NULL);
    plan_grow(&t.plan, p, &a);
    tap_is_files(&t, "a", "t", "an action of the next plan");
    plan_add(p, STR(TOOL "\"output_key\":\"k\"}"), NULL, &a, &more, NULL);
    plan_grow(&t.plan, more, &a);
    tap_is_files(&t, "a", "", "until an action takes the name");
    end(&t, "t", WEND_OUTCOME_OK, 0, &a);
    tap_is_files(&t, "a", "", "and gives none");
    tap_ok(!a.failed, "memory");
    arena_free(&a);
}

int main(void)
{
    test_refusals();
    test_written();
    test_meant();
    test_fallback();
    test_grows();
    return tap_done();
}
