/*
 * test_answer.c - answers with a schema: what fits, what is repaired, what
 * ends the run. The words are those of tt_help.h.
 */
#include "core/config/config.h"
#include "tt_help.h"

#define SCHEMA "\"schema\":{\"type\":\"object\",\"required\":[\"n\"]}"
#define PLAIN "{" TOOLS ",\"eager\":\"off\"," SCHEMA "}"
#define HOOKED "{" TOOLS ",\"hooks\":true," SCHEMA "}"
#define FREE "{" TOOLS "}"
#define BROKEN "{" TOOLS ",\"schema\":{\"type\":\"nothing\"}}"
#define GOOD "text:{\"n\":1}"

#define CONTEXT "context_start context_end "
#define WRONG "model_end warning message " END
#define REPAIR WRONG "turn_start " CONTEXT "model_start(repair) +ask "
#define GIVEN_UP "turn_end(failed) metrics run_end(failed)"

static const struct {
    const char *why, *config, *inputs, *wanted;
    wend_ev_limits limits;
} rows[] = {
    {.why = "an answer that fits",
     .config = PLAIN,
     .inputs = "start " GOOD " done",
     .wanted = BEGIN "model_end " END "run_end(ok)"},
    {.why = "what is paused is no answer yet",
     .config = PLAIN,
     .inputs = "start text halt done " GOOD " done",
     .wanted = BEGIN "model_end " NEXT "model_end " END "run_end(ok)"},
    {.why = "without a schema anything fits",
     .config = FREE,
     .inputs = "start text done",
     .wanted = BEGIN "model_end " END "run_end(ok)"},
    {.why = "as it does with one that came from elsewhere and is wrong",
     .config = BROKEN,
     .inputs = "start text done",
     .wanted = BEGIN "model_end " END "run_end(ok)"},
    {.why = "repaired",
     .config = PLAIN,
     .inputs = "start text done " GOOD " done",
     .wanted = BEGIN REPAIR "model_end " END "run_end(ok)"},
    {.why = "an empty answer is one, too",
     .config = PLAIN,
     .inputs = "start done " GOOD " done",
     .wanted = BEGIN REPAIR "model_end " END "run_end(ok)"},
    {.why = "wrong again",
     .config = PLAIN,
     .inputs = "start text:{} done text:[] done",
     .wanted = BEGIN REPAIR "model_end " GIVEN_UP},
    {.why = "text beside calls is no answer",
     .config = PLAIN,
     .inputs = "start text call:r done ok:call_1 " GOOD " done",
     .wanted = BEGIN "model_end call_start(call_1) +run(call_1) "
                     "call_end(call_1) " END "turn_start " CONTEXT
                     "model_start +ask model_end " END "run_end(ok)"},
    {.why = "nor is what was interrupted",
     .config = PLAIN,
     .inputs = "start text say done " GOOD " done",
     .wanted = BEGIN "message model_end " END "turn_start " CONTEXT
                     "model_start +ask model_end " END "run_end(ok)"},
    {.why = "calls in place of a repair; then it is the answer that counts",
     .config = PLAIN,
     .inputs = "start text done call:r done ok:call_1 text done",
     .wanted = BEGIN REPAIR
     "model_end call_start(call_1) +run(call_1) call_end(call_1) " END
     "turn_start " CONTEXT "model_start +ask model_end " GIVEN_UP},
    {.why = "a repair that fails before its first piece is tried again",
     .config = PLAIN,
     .inputs = "start text done fail:network retry " GOOD " done",
     .wanted =
         BEGIN REPAIR "model_retry +retry +ask model_end " END "run_end(ok)"},
    {.why = "one that was cut off is asked for again as a repair",
     .config = PLAIN,
     .inputs = "start text done resume " GOOD " done",
     .wanted = BEGIN REPAIR
     "run_resume model_end(superseded) model_start(repair) +ask model_end " END
     "run_end(ok)"},
    {.why = "a dead model is the reason then",
     .config = PLAIN,
     .inputs = "start text done fail:auth",
     .wanted = BEGIN REPAIR "model_end(failed) " GIVEN_UP},
    {.why = "no turn is left for a repair",
     .config = PLAIN,
     .limits.turns = 1,
     .inputs = "start text done",
     .wanted = BEGIN WRONG "run_end(limit)"},
    {.why = "canceled while it is repaired",
     .config = PLAIN,
     .inputs = "start text done text cancel",
     .wanted = BEGIN REPAIR
     "control(cancel) model_end(canceled) turn_end(canceled) metrics "
     "run_end(canceled) +stop_model"},
    {.why = "paused before a repair: it is still one afterwards",
     .config = PLAIN,
     .inputs = "start pause text done continue " GOOD " done",
     .wanted =
         BEGIN "control(pause) " WRONG "turn_start control(continue) " CONTEXT
               "model_start(repair) +ask model_end " END "run_end(ok)"},
    {.why = "said while it is repaired: another turn, another answer",
     .config = PLAIN,
     .inputs = "start text done text say done text done",
     .wanted = BEGIN REPAIR "message model_end " END "turn_start " CONTEXT
                            "model_start +ask model_end " GIVEN_UP},
    {.why = "a hook goes before the repair, and may answer in its place",
     .config = HOOKED,
     .inputs = "start hook text done hook=skip",
     .wanted =
         "run_start turn_start +hook " CONTEXT "model_start +ask " WRONG
         "turn_start +hook " CONTEXT "model_start(repair) model_end " GIVEN_UP},
};

static void test_orders(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_str wanted = str_of(rows[i].wanted);
        struct world w;

        world_init(&w, &plain, rows[i].config);
        if (rows[i].limits.turns)
            w.start.limits.turns = rows[i].limits.turns;
        play(&w, rows[i].inputs);
        wanted.len -= wanted.ptr[wanted.len - 1] == ' ';
        tap_is_str(buf_view(&w.said), wanted, "%s", rows[i].why);
        tap_is_i64(w.broken, 0, "%s: no law is broken", rows[i].why);
        world_free(&w);
    }
}

/* What the model reads is in the conversation, and the last thing there. */
static void test_told(void)
{
    struct world w;

    world_init(&w, &plain, PLAIN);
    play(&w, "start text:{} done");
    tap_is_i64(w.turn.history->role, ROLE_USER, "told as by the user");
    tap_is_str(
        w.turn.history->text,
        "the answer does not fit its schema: the value lacks the "
        "required property 'n'\nAnswer again, with nothing but JSON that fits "
        "this JSON Schema:\n"
        "{\"type\":\"object\",\"required\":[\"n\"]}",
        "told what is wrong and what is wanted");
    tap_is_i64(w.turn.purpose, WEND_PURPOSE_REPAIR, "the purpose");
    tap_ok(w.turn.repair && w.turn.repair_used, "once and no more");
    play(&w, "text:[] done");
    tap_is_str(w.turn.answer, "[]", "the last answer stays");
    world_free(&w);
}

static const struct {
    const char *why, *text, *json;
} fences[] = {
    {"as it is", "{}", "{}"},
    {"white space", " \r\n\t{} \n", "{}"},
    {"a fence", "```json\n{}\n```", "{}"},
    {"in capitals", "```JSON\n{}\n```\n", "{}"},
    {"without a language", "```\n[1]\n```", "[1]"},
    {"on one line", "```{}```", "{}"},
    {"nothing in it", "``````", ""},
    {"half a fence", "```json\n{}", "```json\n{}"},
    {"too short to be one", "`````", "`````"},
    {"another language stays, and is no JSON", "```xml\n<a/>```", "xml\n<a/>"},
    {"text around it stays", "Here: ```{}```", "Here: ```{}```"},
    {"empty", "", ""},
};

static void test_fences(void)
{
    for (size_t i = 0; i < tap_count(fences); i++)
        tap_is_str(answer_json(str_of(fences[i].text)), fences[i].json, "%s",
                   fences[i].why);
}

/* A step that is out of memory is thrown away, wherever it happens. */
static void test_memory(void)
{
    struct fault f = {0};
    int rounds = 0, bad = 0;

    while (fault_next(&f)) {
        const struct mem m = fault_mem(&f);
        struct world w;

        world_init(&w, &m, PLAIN);
        play(&w, "start text done text done");
        bad += w.failed != f.hit || (w.turn.phase == PH_END) == f.hit;
        world_free(&w);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(rounds > 10, "memory: %d rounds", rounds);
    tap_is_i64(bad, 0, "memory: no half of a step counts");
}

int main(void)
{
    test_orders();
    test_told();
    test_fences();
    test_memory();
    return tap_done();
}
