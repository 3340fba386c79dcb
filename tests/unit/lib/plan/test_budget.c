/*
 * test_budget.c - what the questions of a plan's actions may take.
 *
 * What happens is a line, as in test_plan_run.c.
 */
#include "plan_help.h"

#define PLAN(actions) \
    "{\"wend\":\"plan/1\",\"name\":\"p\",\"actions\":[" actions "]}"
#define RETRY ",\"retry\":{\"max\":2,\"delay\":\"10ms\"}"
#define READ \
    "{\"name\":\"a\",\"type\":\"tool\",\"mode\":\"async\",\"target\":\"r\"}"

/* A model that answers with 100 tokens at most, and one with 1000, each at
 * 10^-9 dollars a token. {"prompt":"x"} is estimated as 4, the prompt and
 * the tool of the run as 6. */
#define PRICED                                          \
    ",\"price\":{\"input\":1000000,\"cached\":1000000," \
    "\"output\":1000000}}"
#define MODELS                                                                \
    "{\"tools\":[{\"name\":\"r\",\"class\":\"read\"}],\"model\":\"m:small\"," \
    "\"output_tokens\":100,\"fallback\":[{"                                   \
    "\"name\":\"large\",\"model\":\"m:large\",\"output_tokens\":"             \
    "1000" PRICED "],\"policy\":{}" PRICED
#define ASK(name, model, rest)                                    \
    "{\"name\":\"" name "\",\"type\":\"llm\",\"mode\":\"async\"," \
    "\"target\":\"" model "\",\"prompt\":\"x\"" rest "}"

/* What is asked is reserved by the model that it is asked of, also when it
 * is asked once more. */
static void check_budgets(void)
{
    static const struct {
        const char *why, *plan;
        int64_t limit; /* of tokens; of cost in the next run */
        const char *order;
        struct deed deeds[2];
    } runs[] = {
        {"both fit",
         PLAN(ASK("a", "large", "") "," ASK("b", "default", "")),
         1108,
         " +a +b -a -b plan(ok) run(ok)",
         {{.ms = 10}, {.ms = 10}}},
        {"there is room for both if one answer is shorter",
         PLAN(ASK("a", "large", "") "," ASK("b", "default", "")),
         1107,
         " +a +b -a -b plan(ok) run(ok)",
         {{.ms = 10}, {.ms = 10}}},
        {"one waits until it is known what the other used",
         PLAN(ASK("a", "large", "") "," ASK("b", "default", "")),
         4 + ANSWER_TOKENS_MIN + 4,
         " +a -a +b -b plan(ok) run(ok)",
         {{.ms = 10}, {.ms = 10}}},
        {"and then there may be none",
         PLAN(ASK("a", "large", "") "," ASK("b", "default", "")),
         4 + ANSWER_TOKENS_MIN + 4,
         " +a -a -b(skipped,limit) plan(limit) run(limit)",
         {{.ms = 10, .tokens = 20}, {.ms = 10}}},
        {"the second attempt fits",
         PLAN(ASK("a", "default", RETRY)),
         164,
         " +a ~a(10) -a plan(ok) run(ok)",
         {{.ms = 10, .fails = 1, .tokens = 60}}},
        {"the second attempt fits with a shorter answer",
         PLAN(ASK("a", "default", RETRY)),
         163,
         " +a ~a(10) -a plan(ok) run(ok)",
         {{.ms = 10, .fails = 1, .tokens = 60}}},
        {"the second attempt does not",
         PLAN(ASK("a", "default", RETRY)),
         60 + 4 + ANSWER_TOKENS_MIN - 1,
         " +a -a(failed,failed) plan(limit) run(limit)",
         {{.ms = 10, .fails = 1, .tokens = 60}}},
    };

    for (size_t i = 0; i < 2 * tap_count(runs); i++) {
        struct deed deeds[DEEDS_MAX] = {runs[i / 2].deeds[0],
                                        runs[i / 2].deeds[1]};
        struct plan_world *w = plan_world_new(deeds);
        bool money = i % 2;

        w->lawful = true;
        w->config = MODELS;
        *(money ? &w->cost_nano : &w->tokens) = runs[i / 2].limit;
        plan_start_run(w, str_of(runs[i / 2].plan));
        plan_play(w);
        tap_is_str(buf_view(&w->order), runs[i / 2].order, "%s: %s",
                   money ? "cost" : "tokens", runs[i / 2].why);
        tap_is_i64(w->broken, 0, "%s: the log says the same", runs[i / 2].why);
        plan_world_free(w);
    }
}

/* Open model calls: the run's own and those of its plan are held back
 * together, for one of them must not spend what is the other's. */
static void check_reserved(void)
{
    static const struct {
        const char *why, *plan;
        enum phase phase;
        int64_t reserved; /* tokens, and what they cost */
    } opens[] = {
        {"none is open", PLAN(READ), PH_CALLS, 0},
        {"its own", PLAN(READ), PH_MODEL, 106},
        {"one of the plan", PLAN(ASK("a", "default", "")), PH_CALLS, 104},
        {"two of the plan",
         PLAN(ASK("a", "default", "") "," ASK("b", "large", "")), PH_CALLS,
         1108},
        {"its own and one of the plan", PLAN(ASK("a", "large", "")), PH_MODEL,
         1110},
    };

    for (size_t i = 0; i < tap_count(opens); i++) {
        struct deed deeds[DEEDS_MAX] = {{.ms = 10}, {.ms = 10}};
        struct plan_world *w = plan_world_new(deeds);
        struct budget p;

        w->config = MODELS;
        plan_start_run(w, str_of(opens[i].plan));
        w->turn.phase = opens[i].phase;
        turn_reserved(&w->turn, &p);
        tap_is_i64(p.tokens, opens[i].reserved, "tokens: %s", opens[i].why);
        tap_is_i64(p.cost_nano, opens[i].reserved, "cost: %s", opens[i].why);
        plan_world_free(w);
    }
}

/* The process dies while a model answers: what was reserved counts as spent,
 * so that crashes do not get a run beyond its budget. */
static void check_crashes(void)
{
    static const struct {
        const char *why;
        int64_t limit;  /* of tokens; of cost in the next run */
        int crashes;    /* until nothing more is asked */
        int64_t tokens; /* that are charged by then */
    } runs[] = {
        {"no room for a second question", 104, 1, 104},
        {"room for one more", 208, 2, 208},
        {"room for two, and a shorter answer", 311, 3, 311},
        {"room for two, and not for three", 208 + 4 + ANSWER_TOKENS_MIN - 1, 2,
         208},
        {"room for nine, and a shorter answer", 1000, 10, 1000},
    };

    for (size_t i = 0; i < 2 * tap_count(runs); i++) {
        struct deed deeds[DEEDS_MAX] = {{.ms = 10}};
        struct plan_world *w = plan_world_new(deeds);
        bool money = i % 2;
        int crashes = 0;

        w->lawful = true;
        w->config = MODELS;
        *(money ? &w->cost_nano : &w->tokens) = runs[i / 2].limit;
        plan_start_run(w, STR(PLAN(ASK("a", "default", ""))));
        while (w->turn.phase != PH_END && crashes < 20) {
            memset(w->dues, 0, sizeof w->dues); /* the process died */
            w->turn = w->folded;
            plan_say(w, IN_RESUME);
            crashes++;
        }
        tap_is_i64(crashes, runs[i / 2].crashes, "%s: %s: crashes",
                   money ? "cost" : "tokens", runs[i / 2].why);
        tap_is_i64(w->run_outcome, WEND_OUTCOME_LIMIT, "%s: it is the limit",
                   runs[i / 2].why);
        tap_is_i64(w->turn.metrics.tokens_in + w->turn.metrics.tokens_out,
                   runs[i / 2].tokens, "%s: charged", runs[i / 2].why);
        tap_is_i64(w->turn.metrics.cost_nano, runs[i / 2].tokens,
                   "%s: what that costs", runs[i / 2].why);
        tap_is_i64(w->broken, 0, "%s: the log says the same", runs[i / 2].why);
        plan_world_free(w);
    }
}

int main(void)
{
    check_budgets();
    check_reserved();
    check_crashes();
    return tap_done();
}
