/*
 * test_tt_allowed.c - how long an answer may be, so that a budget holds.
 */
#include "tt_help.h"

#define MAXIMUM(rest) \
    "{\"instructions\":\"\",\"tools\":[],\"policy\":{}" rest "}"
#define TWO_EACH                                        \
    ",\"price\":{\"input\":2000000,\"cached\":2000000," \
    "\"output\":2000000}"

enum { ASKED = 4 };

/* A question is estimated as 4 tokens, and a token costs 2 where it has a
 * price. What is reserved for the answer, and whether a budget cuts it. */
static const struct {
    const char *why, *config;
    int64_t tokens, cost; /* limits */
    int64_t allowed;      /* -1: it is not asked */
    const char *limit;
} allowed_rows[] = {
    {"no budget: nothing is reserved",
     MAXIMUM(",\"output_tokens\":100,\"output_max\":500"), 0, 0, 0, ""},
    {"room for the longest answer", MAXIMUM(",\"output_tokens\":100"),
     ASKED + 100, 0, 100, ""},
    {"room for a shorter one", MAXIMUM(",\"output_tokens\":100"), ASKED + 99, 0,
     99, "tokens"},
    {"the model's own maximum", MAXIMUM(",\"output_max\":500"), ASKED + 500, 0,
     500, ""},
    {"less than the model's own maximum", MAXIMUM(",\"output_max\":500"),
     ASKED + 499, 0, 499, "tokens"},
    {"the agent's maximum goes before the model's",
     MAXIMUM(",\"output_tokens\":100,\"output_max\":500"), ASKED + 300, 0, 100,
     ""},
    {"the smallest useful answer", MAXIMUM(",\"output_max\":500"),
     ASKED + ANSWER_TOKENS_MIN, 0, ANSWER_TOKENS_MIN, "tokens"},
    {"less than that", MAXIMUM(",\"output_max\":500"),
     ASKED + ANSWER_TOKENS_MIN - 1, 0, -1, "tokens"},
    {"answers that are shorter anyway", MAXIMUM(",\"output_tokens\":3"),
     ASKED + 3, 0, 3, ""},
    {"nothing is known, and there is much", MAXIMUM(""),
     ASKED + ANSWER_TOKENS_PLAIN + 1, 0, 0, ""},
    {"nothing is known, and there is little", MAXIMUM(""),
     ASKED + ANSWER_TOKENS_PLAIN, 0, ANSWER_TOKENS_PLAIN, "tokens"},
    {"money", MAXIMUM(",\"output_max\":500" TWO_EACH), 0, 2 * (ASKED + 100),
     100, "cost"},
    {"a part of a token does not count",
     MAXIMUM(",\"output_max\":500" TWO_EACH), 0, 2 * (ASKED + 100) + 1, 100,
     "cost"},
    {"money for all of it", MAXIMUM(",\"output_max\":500" TWO_EACH), 0,
     2 * (ASKED + 500), 500, ""},
    {"money for the question alone", MAXIMUM(",\"output_max\":500" TWO_EACH), 0,
     2 * ASKED, -1, "cost"},
    {"not even for that", MAXIMUM(",\"output_max\":500" TWO_EACH), 0,
     2 * ASKED - 1, -1, "cost"},
    {"the tighter of two", MAXIMUM(",\"output_max\":500" TWO_EACH), ASKED + 99,
     2 * (ASKED + 98), 98, "cost"},
    {"the other one", MAXIMUM(",\"output_max\":500" TWO_EACH), ASKED + 97,
     2 * (ASKED + 98), 97, "tokens"},
    {"answers that cost nothing",
     MAXIMUM(",\"output_max\":500,\"price\":{\"input\":2000000,\"cached\":"
             "0,\"output\":0}"),
     0, 2 * ASKED, 500, ""},
    {"no price is known", MAXIMUM(",\"output_max\":500"), 0, 1, 500, ""},
};

static void test_allowed(void)
{
    for (size_t i = 0; i < tap_count(allowed_rows); i++) {
        const struct allowance *a;
        struct world w;

        world_init(&w, &plain, allowed_rows[i].config);
        w.start.prompt = STR("");
        w.start.limits.tokens = allowed_rows[i].tokens;
        w.start.limits.cost_nano = allowed_rows[i].cost;
        play(&w, "start");
        a = &w.turn.allowed;
        tap_is_i64(w.turn.phase,
                   allowed_rows[i].allowed < 0 ? PH_END : PH_MODEL,
                   "allowed: %s: whether it is asked", allowed_rows[i].why);
        if (allowed_rows[i].allowed >= 0) {
            tap_is_i64(a->tokens, allowed_rows[i].allowed, "allowed: %s",
                       allowed_rows[i].why);
            tap_is_str(a->limit.ptr ? a->limit : STR(""), allowed_rows[i].limit,
                       "allowed: %s: which budget", allowed_rows[i].why);
            tap_is_i64(turn_answer_tokens(&w.turn, 7),
                       *allowed_rows[i].limit ? allowed_rows[i].allowed : 7,
                       "allowed: %s: what is sent", allowed_rows[i].why);
        }
        tap_is_i64(w.broken, 0, "allowed: %s: the log says the same",
                   allowed_rows[i].why);
        world_free(&w);
    }
}

/* An answer that a budget cut short is not the end of the work. */
static void test_cut_by_budget(void)
{
    static const struct row rows[] = {
        {.why = "an answer that the budget cut: the limit",
         .config = MAXIMUM(",\"output_max\":500"),
         .limits = {.turns = 50, .tokens = 100},
         .inputs = "start text length done",
         .wanted = BEGIN "model_end warning turn_end(limit) metrics "
                         "run_end(limit)"},
        {.why = "one that the model's own maximum cut: as ever",
         .config = MAXIMUM(",\"output_tokens\":10"),
         .limits = {.turns = 50, .tokens = 100},
         .inputs = "start text length done",
         .wanted = BEGIN "model_end warning " END "run_end(ok)"},
        {.why = "one that ended by itself",
         .config = MAXIMUM(",\"output_max\":500"),
         .limits = {.turns = 50, .tokens = 100},
         .inputs = "start text done",
         .wanted = BEGIN "model_end " END "run_end(ok)"},
    };

    check_rows(rows, tap_count(rows));
}

int main(void)
{
    test_allowed();
    test_cut_by_budget();
    return tap_done();
}
