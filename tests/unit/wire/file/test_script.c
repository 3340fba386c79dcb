/*
 * test_script.c - scripted models: what is read, refused, picked, filled in.
 */
#include "wire/file/script.h"

#include "base/code.h"
#include "base/limits.h"
#include "fault.h"
#include "host/fetch/fetch.h"
#include "tap.h"

/* The example of the manual, word for word. */
static const char manual[] =
    "wend: script/1\n"
    "model: demo\n"
    "turns:\n"
    "  - text: \"Let me compute.\"\n"
    "    thinking: \"Two numbers.\"\n"
    "    calls:\n"
    "      - {name: calculator, args: {expression: \"6*7\"}}\n"
    "      - {name: read_file, args_text: '{\"path\": \"a'}\n"
    "    usage: {input: 12, output: 5, cached: 0}\n"
    "    chunk: 4\n"
    "    delay: 20ms\n"
    "    first_delay: 200ms\n"
    "    finish: stop\n"
    "    error: {code: rate_limit, message: \"slow down\", after: 3}\n"
    "  - when: \"42\"\n"
    "    text: \"The answer is 42.\"\n"
    "  - purpose: summary\n"
    "    text: \"So far: ...\"\n"
    "  - text: \"Done.\"\n"
    "    repeat: forever\n";

static void check_first(const struct script_entry *e)
{
    tap_is_str(e->text, "Let me compute.", "text");
    tap_is_str(e->thinking, "Two numbers.", "thinking");
    tap_ok(!e->when.ptr, "no condition");
    tap_is_i64((int64_t)e->calls_count, 2, "two calls");
    tap_ok(!e->calls[0].id.ptr, "ids come by place");
    tap_is_str(e->calls[0].name, "calculator", "name");
    tap_is_str(e->calls[0].args, "{\"expression\":\"6*7\"}", "canonical args");
    tap_is_str(e->calls[1].args, "{\"path\": \"a", "broken args as written");
    tap_is_i64(e->usage.input, 12, "usage input");
    tap_is_i64(e->usage.output, 5, "usage output");
    tap_is_i64(e->usage.cost_nano, -1, "cost is not known");
    tap_is_i64(e->chunk, 4, "chunk");
    tap_is_i64(e->delay_ms, 20, "delay");
    tap_is_i64(e->first_delay_ms, 200, "first delay");
    tap_is_str(e->finish, "stop", "finish");
    tap_is_str(e->error.code, "rate_limit", "error code");
    tap_is_str(e->error.message, "slow down", "error message");
    tap_is_i64(e->error.after, 3, "error after");
    tap_is_i64(e->repeat, 1, "once");
}

static void test_manual(void)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    struct script *s = NULL;
    wend_error err = {0};

    if (!tap_ok(!script_parse(str_of(manual), &a, &s, &err),
                "the manual's example: %s", err.message)) {
        arena_free(&a);
        return;
    }
    tap_is_str(s->model, "demo", "model");
    tap_is_i64((int64_t)s->count, 4, "four entries");
    check_first(&s->entries[0]);
    tap_is_str(s->entries[1].when, "42", "condition");
    tap_ok(!s->entries[1].error.code.ptr, "no error");
    tap_ok(!s->entries[1].finish.ptr, "finish left out");
    tap_is_i64(s->entries[2].purpose, WEND_PURPOSE_SUMMARY, "purpose");
    tap_is_i64(s->entries[3].repeat, 0, "forever");
    arena_free(&a);
}

/* ---- What is accepted ---------------------------------------------------- */

static const struct {
    const char *why, *text;
} accepted[] = {
    {"no turns", "turns: []"},
    {"a turn that says nothing", "turns: [{}]\n"},
    {"JSON", "{\"turns\":[{\"text\":\"hi\"}]}"},
    {"a bare number is seconds", "turns:\n- delay: 0.5"},
    {"a long delay", "turns:\n- first_delay: 1h"},
    {"chunk at its least", "turns:\n- chunk: 1"},
    {"chunk at its most", "turns:\n- chunk: 1000000"},
    {"repeat at its most", "turns:\n- repeat: 2147483648"},
    {"a whole number may be written 2.0", "turns:\n- repeat: 2.0"},
    {"an error without a message", "turns:\n- error: {code: auth}"},
    {"every purpose", "turns:\n- purpose: answer\n- purpose: summary\n"
                      "- purpose: repair\n- purpose: plan\n"
                      "- purpose: judge\n- purpose: memory"},
    {"every finish", "turns:\n- finish: stop\n- finish: length\n"
                     "- finish: content_filter\n- finish: tool_calls"},
    {"a call without arguments", "turns:\n- calls: [{name: now}]"},
    {"no calls", "turns:\n- calls: []"},
    {"reasoning tokens", "turns:\n- usage: {reasoning: 9}"},
};

/* Whatever a model call can fail with, also one over a network. */
static void test_codes(void)
{
    struct mem m = {0};

    for (int i = 0; i < CODES; i++) {
        struct arena a = {.mem = &m};
        struct script *s = NULL;
        wend_error err = {0};
        char text[100];

        snprintf(text, sizeof text, "turns:\n- error: {code: %s}",
                 code_names[i]);
        tap_ok(script_parse(str_of(text), &a, &s, &err) == WEND_OK &&
                   str_is(s->entries[0].error.code, code_names[i]),
               "the error %s: %s", code_names[i], err.message);
        arena_free(&a);
    }
    for (int how = FETCH_HTTP2_ONLY; how < FETCH_ENDS; how++)
        tap_ok(str_index(str_of(fetch_codes[how]), code_names, CODES) >=
                   CODES_PASSING,
               "%s is a code, of what is not tried again", fetch_codes[how]);
}

static void test_accepted(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(accepted); i++) {
        struct arena a = {.mem = &m};
        struct script *s = NULL;
        wend_error err = {0};

        tap_ok(!script_parse(str_of(accepted[i].text), &a, &s, &err) && s,
               "accepted: %s %s", accepted[i].why, err.message);
        arena_free(&a);
    }
}

static const struct {
    const char *why, *text, *args;
} args_kept[] = {
    {"the order of keys", "{z: 1, a: 2}", "{\"z\":1,\"a\":2}"},
    {"number text", "{n: 1.50, m: 1e3}", "{\"n\":1.50,\"m\":1e3}"},
    {"everything inside", "{a: [null, true, {b: \"c\\n\"}]}",
     "{\"a\":[null,true,{\"b\":\"c\\n\"}]}"},
    {"nothing", "{}", "{}"},
};

static void test_args(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(args_kept); i++) {
        struct arena a = {.mem = &m};
        struct buf b = {.mem = &m};
        struct script *s = NULL;

        buf_fmt(&b, "turns:\n- calls:\n  - {name: t, id: c9, args: %s}\n",
                args_kept[i].text);
        script_parse(buf_view(&b), &a, &s, NULL);
        tap_is_str(s ? s->entries[0].calls[0].args : STR_NONE,
                   args_kept[i].args, "args keep %s", args_kept[i].why);
        tap_is_str(s ? s->entries[0].calls[0].id : STR_NONE, "c9",
                   "  and the id");
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- What is refused ----------------------------------------------------- */

static const struct {
    const char *why, *text;
    uint32_t line, column;
    const char *message;
} refused[] = {
    {"misspelt in a turn", "turns:\n  - txt: hi\n", 2, 5,
     "unknown key 'txt' in turns[0]; did you mean 'text'?"},
    {"nothing near", "turns:\n  - colour: red\n", 2, 5,
     "unknown key 'colour' in turns[0]"},
    {"misspelt in the script", "turn: []\n", 1, 1,
     "unknown key 'turn' in the script; did you mean 'turns'?"},
    {"misspelt in a call", "turns:\n- calls: [{nme: x}]\n", 2, 12,
     "unknown key 'nme' in turns[0].calls[0]; did you mean 'name'?"},
    {"misspelt in usage", "turns:\n- usage: {inputs: 5}\n", 2, 11,
     "unknown key 'inputs' in turns[0].usage; did you mean 'input'?"},
    {"misspelt in an error", "turns:\n- error: {cod: auth}\n", 2, 11,
     "unknown key 'cod' in turns[0].error; did you mean 'code'?"},
    {"misspelt in JSON", "{\"turns\": [\n {\"txt\" : 1}]}", 2, 3,
     "unknown key 'txt' in turns[0]; did you mean 'text'?"},
    {"misspelt in JSON, with an escape", "{\"turns\": [{\"tx\\u0074\" : 1}]}",
     1, 26, "unknown key 'txt' in turns[0]; did you mean 'text'?"},
    {"a list for a duration", "turns:\n- {}\n- {}\n- delay: [1]\n", 4, 10,
     "turns[2].delay must be a duration such as 20ms, not a list"},
    {"the same in JSON", "{\"turns\": [{\"delay\": []}]}", 1, 22,
     "turns[0].delay must be a duration such as 20ms, not a list"},
    {"a unit that is none", "turns:\n- delay: 20years\n", 2, 10,
     "turns[0].delay must be a duration such as 20ms, not '20years'"},
    {"a duration below zero", "turns:\n- first_delay: -1\n", 2, 16,
     "turns[0].first_delay must be a duration such as 20ms, not -1"},
    {"a number for text", "turns:\n- text: 42\n", 2, 9,
     "turns[0].text must be a string in quotes, not 42"},
    {"text left out", "turns:\n- text:\n", 2, 8,
     "turns[0].text must be a string, not nothing"},
    {"a mapping for text", "turns:\n- when: {a: 1}\n", 2, 9,
     "turns[0].when must be a string, not a mapping"},
    {"another version", "wend: script/2\nturns: []\n", 1, 7,
     "wend must be script/1, not 'script/2'"},
    {"no turns", "model: m\n", 1, 1, "the script needs 'turns'"},
    {"turns not a list", "turns: 1\n", 1, 8, "turns must be a list, not 1"},
    {"a turn that is text", "turns:\n- hello\n", 2, 3,
     "turns[0] must be a mapping, not 'hello'"},
    {"a list for a script", "- a\n", 1, 1,
     "the script must be a mapping, not a list"},
    {"a model without a name", "model: ''\nturns: []\n", 1, 8,
     "model must be a string that is not empty, not ''"},
    {"finish, nearly", "turns:\n- finish: stp\n", 2, 11,
     "turns[0].finish is 'stp'; did you mean 'stop'?"},
    {"finish, not at all", "turns:\n- finish: because\n", 2, 11,
     "turns[0].finish must be one of stop, length, content_filter, "
     "tool_calls, not 'because'"},
    {"purpose", "turns:\n- purpose: 3\n", 2, 12,
     "turns[0].purpose must be one of answer, summary, repair, plan, judge, "
     "memory, not 3"},
    {"error code", "turns:\n- error: {code: ratelimit}\n", 2, 17,
     "turns[0].error.code is 'ratelimit'; did you mean 'rate_limit'?"},
    {"error without a code", "turns:\n- error: {after: 1}\n", 2, 10,
     "turns[0].error needs 'code'"},
    {"error before the start", "turns:\n- error: {code: auth, after: -1}\n", 2,
     30,
     "turns[0].error.after must be a whole number from 0 to 2147483648, "
     "not -1"},
    {"chunk under its least", "turns:\n- chunk: 0\n", 2, 10,
     "turns[0].chunk must be a whole number from 1 to 1000000, not 0"},
    {"chunk over its most", "turns:\n- chunk: 1000001\n", 2, 10,
     "turns[0].chunk must be a whole number from 1 to 1000000, not 1000001"},
    {"chunk in parts", "turns:\n- chunk: 1.5\n", 2, 10,
     "turns[0].chunk must be a whole number from 1 to 1000000, not 1.5"},
    {"repeat never", "turns:\n- repeat: 0\n", 2, 11,
     "turns[0].repeat must be forever or a whole number from 1 to "
     "2147483648, not 0"},
    {"repeat over its most", "turns:\n- repeat: 2147483649\n", 2, 11,
     "turns[0].repeat must be forever or a whole number from 1 to "
     "2147483648, not 2147483649"},
    {"repeat by another word", "turns:\n- repeat: always\n", 2, 11,
     "turns[0].repeat must be forever or a whole number from 1 to "
     "2147483648, not 'always'"},
    {"usage below zero", "turns:\n- usage: {input: -1}\n", 2, 18,
     "turns[0].usage.input must be a whole number from 0 to "
     "9007199254740992, not -1"},
    {"a call without a name", "turns:\n- calls:\n  - {args: {}}\n", 3, 5,
     "turns[0].calls[0] needs 'name'"},
    {"both kinds of arguments",
     "turns:\n- calls:\n  - {name: a}\n"
     "  - {name: a, args: {}, args_text: ''}\n",
     4, 5, "turns[0].calls[1] has both 'args' and 'args_text'"},
    {"args that are text", "turns:\n- calls: [{name: a, args: '{}'}]\n", 2, 27,
     "turns[0].calls[0].args must be a mapping (args_text takes any text), "
     "not '{}'"},
    {"calls not a list", "turns:\n- calls: {name: a}\n", 2, 10,
     "turns[0].calls must be a list, not a mapping"},
    {"YAML that is none", "turns: [\n", 2, 1,
     "did not find expected node content while parsing a flow node"},
    {"long values are not repeated",
     "turns:\n- finish: "
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
     2, 11,
     "turns[0].finish must be one of stop, length, content_filter, "
     "tool_calls, not a string of 59 characters"},
};

static void test_refused(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(refused); i++) {
        struct arena a = {.mem = &m};
        struct script *s = NULL;
        wend_error err = {0};
        wend_status st = script_parse(str_of(refused[i].text), &a, &s, &err);

        tap_ok(st == WEND_E_PARSE && !s, "refused: %s", refused[i].why);
        tap_is_str(err.message, refused[i].message, "  says what");
        tap_is_i64(err.line, refused[i].line, "  line");
        tap_is_i64(err.column, refused[i].column, "  column");
        arena_reset(&a);
        tap_is_i64(script_parse(str_of(refused[i].text), &a, &s, NULL), st,
                   "  and without a place for the message");
        arena_free(&a);
    }
}

static void test_turn_limit(void)
{
    struct mem m = {0};

    for (int n = SCRIPT_TURNS_MAX - 1; n <= SCRIPT_TURNS_MAX + 1; n++) {
        struct arena a = {.mem = &m};
        struct buf b = {.mem = &m};
        struct script *s = NULL;
        wend_error err = {0};
        wend_status st;

        buf_cstr(&b, "{\"turns\":[{}");
        for (int i = 1; i < n; i++)
            buf_cstr(&b, ",{}");
        buf_cstr(&b, "]}");
        st = script_parse(buf_view(&b), &a, &s, &err);
        tap_is_i64(st, n > SCRIPT_TURNS_MAX ? WEND_E_LIMIT : WEND_OK,
                   "%d turns %s", n, err.message);
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_byte_limit(void)
{
    struct mem m = {0};
    char *text = mem_alloc(&m, SCRIPT_BYTES_MAX + 1);

    if (!tap_ok(text, "memory for a script at its limit"))
        return;
    memset(text, ' ', SCRIPT_BYTES_MAX + 1);
    memcpy(text, "{\"turns\":[]}", 12);
    for (size_t len = SCRIPT_BYTES_MAX - 1; len <= SCRIPT_BYTES_MAX + 1;
         len++) {
        struct arena a = {.mem = &m};
        struct script *s = NULL;
        wend_status st = script_parse((wend_str){text, len}, &a, &s, NULL);

        tap_is_i64(st, len > SCRIPT_BYTES_MAX ? WEND_E_LIMIT : WEND_OK,
                   "%zu bytes", len);
        arena_free(&a);
    }
    mem_free(&m, text);
}

/* ---- Picking and filling in ---------------------------------------------- */

static const struct {
    const char *why;
    wend_purpose purpose;
    const char *last;
    int entry;
} picks[] = {
    {"first from the top", WEND_PURPOSE_ANSWER, "hello", 0},
    {"used up, the condition fails", WEND_PURPOSE_ANSWER, "hello", 3},
    {"the condition holds", WEND_PURPOSE_ANSWER, "is it 42?", 1},
    {"but that was once", WEND_PURPOSE_ANSWER, "is it 42?", 3},
    {"a purpose of its own", WEND_PURPOSE_SUMMARY, "42", 2},
    {"and that was once, too", WEND_PURPOSE_SUMMARY, "42", -1},
    {"nothing for this purpose", WEND_PURPOSE_JUDGE, "42", -1},
    {"forever is forever", WEND_PURPOSE_ANSWER, NULL, 3},
};

static void test_pick(void)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    struct script *s = NULL;
    uint32_t used[4] = {0};

    if (tap_ok(!script_parse(str_of(manual), &a, &s, NULL), "script to pick"))
        for (size_t i = 0; i < tap_count(picks); i++) {
            int n =
                script_pick(s, used, picks[i].purpose, str_of(picks[i].last));

            tap_is_i64(n, picks[i].entry, "pick: %s", picks[i].why);
            if (n >= 0)
                used[n]++;
        }
    arena_free(&a);
}

static const struct {
    const char *why, *text, *result;
    bool as_json;
    const char *filled;
} fills[] = {
    {"plain", "hello", NULL, false, "hello"},
    {"nothing", "", NULL, false, ""},
    {"the turn", "n ${turn}, ${turn}", NULL, false, "n 7, 7"},
    {"the result", "[${tool_result}]", "a\"b", false, "[a\"b]"},
    {"the result inside JSON", "{\"x\":\"${tool_result}\"}", "a\"b\n", true,
     "{\"x\":\"a\\\"b\\n\"}"},
    {"an empty result", "[${tool_result}]", "", true, "[]"},
    {"no result yet", "[${tool_result}]", NULL, false, "[${tool_result}]"},
    {"unknown names stay", "${turns} ${x} $turn $", NULL, false,
     "${turns} ${x} $turn $"},
    {"not closed", "${turn ${", NULL, false, "${turn ${"},
    {"one inside another", "${${turn}}", NULL, false, "${7}"},
    {"what was filled in is not read again", "${tool_result}", "${turn}", false,
     "${turn}"},
};

static void test_fill(void)
{
    struct mem m = {0};
    struct buf b = {.mem = &m};

    for (size_t i = 0; i < tap_count(fills); i++) {
        buf_clear(&b);
        script_fill(&b, str_of(fills[i].text), 7, str_of(fills[i].result),
                    fills[i].as_json);
        tap_is_str(buf_view(&b), fills[i].filled, "fill: %s", fills[i].why);
    }
    buf_free(&b);
    script_fill(&b, STR_NONE, 0, STR_NONE, false);
    tap_is_str(buf_view(&b), "", "fill: an absent text");
    buf_free(&b);
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int rounds = 0, bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 16};
        struct script *s = NULL;
        wend_error err = {0}; /* fail_in takes the status from it */
        wend_status st = script_parse(str_of(manual), &a, &s, &err);

        bad += st != (f.hit ? WEND_E_NOMEM : WEND_OK) || !s != f.hit ||
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
    test_accepted();
    test_codes();
    test_args();
    test_refused();
    test_turn_limit();
    test_byte_limit();
    test_pick();
    test_fill();
    test_no_memory();
    return tap_done();
}
