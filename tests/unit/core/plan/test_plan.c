/*
 * test_plan.c - plans: every field, every refusal, the numbers.
 */
#include "wire/plan/plan.h"

#include "fault.h"
#include "tap.h"

static const char manual[] =
    "wend: plan/1\n"
    "name: example\n"
    "max_parallel: 4\n"
    "fail_fast: false\n"
    "on_failure: stop\n"
    "missing_ref: error\n"
    "inputs: {topic: \"looms\", deep: true}\n"
    "actions:\n"
    "  - name: fetch_wiki\n"
    "    type: tool\n"
    "    target: read_file\n"
    "    mode: async\n"
    "    params: {path: \"corpus/${topic}/wiki.md\"}\n"
    "    output_key: wiki\n"
    "    timeout: 30s\n"
    "    retry: {max: 2, delay: 1s, backoff: 2.0, max_delay: 30s}\n"
    "    estimate: 30s\n"
    "    priority: 0\n"
    "    cache: {ttl: 1h}\n"
    "    class: read\n"
    "  - name: analyze\n"
    "    type: llm\n"
    "    target: default\n"
    "    prompt: \"Summarise: $wiki\"\n"
    "    depends_on: [fetch_wiki]\n"
    "    wait_for_all: true\n"
    "    when: \"len($wiki) > 0 and $deep\"\n"
    "    skip_on_error: false\n"
    "    fallback: short_analyze\n"
    "    output_key: analysis\n"
    "  - name: short_analyze\n"
    "    type: tool\n"
    "    target: calculator\n"
    "    params: {expression: \"1\"}\n"
    "outputs: {report: \"$analysis\"}\n";

/* ---- What is read -------------------------------------------------------- */

static void tap_is_template(const struct plan *p, const struct template *t,
                            const char *wanted, const char *what)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct buf b = {.mem = &mem};
    wend_error err = {0};
    struct scope s = {.values = p->inputs, .arena = &a, .missing_null = true};

    s.trees = arena_alloc(&a, (p->keys.count + 1) * sizeof *s.trees);
    if (tap_ok(!template_put(t, &s, 1000, &b, &err), "%s: %s", what,
               err.message))
        tap_is_str(buf_view(&b), wanted, "%s", what);
    buf_free(&b);
    arena_free(&a);
}

static void check_fetch(const struct plan *p)
{
    const struct plan_action *f = p->actions[0];

    tap_is_str(f->name, "fetch_wiki", "name");
    tap_is_str(f->id, "fetch_wiki", "id is the name");
    tap_is_i64(f->type, ACTION_TOOL, "type");
    tap_is_str(f->target, "read_file", "target");
    tap_is_i64(f->mode, ACTION_ASYNC, "mode");
    tap_is_template(p, f->params, "{\"path\":\"corpus/looms/wiki.md\"}",
                    "params");
    tap_is_str(f->output_key, "wiki", "output_key");
    tap_is_str(p->keys.list[f->output_slot], "wiki", "its slot");
    tap_is_i64(f->timeout_ms, 30000, "timeout");
    tap_is_i64(f->retry.max, 2, "retry.max");
    tap_is_i64(f->retry.delay_ms, 1000, "retry.delay");
    tap_ok(f->retry.backoff == 2, "retry.backoff");
    tap_is_i64(f->retry.delay_max_ms, 30000, "retry.max_delay");
    tap_is_i64(f->estimate_ms, 30000, "estimate");
    tap_is_i64(f->priority, 0, "priority");
    tap_is_i64(f->cache_ms, 3600000, "cache.ttl");
    tap_is_i64(f->call_class, WEND_CLASS_READ, "class");
    tap_ok(f->line == 9 && f->column == 5, "where it stands");
}

static void check_rest(const struct plan *p)
{
    const struct plan_action *a = p->actions[1], *s = p->actions[2];

    tap_is_str(a->target, "default", "the run's model");
    tap_is_i64(a->mode, ACTION_SYNC, "sync by default");
    tap_is_template(p, a->prompt, "Summarise: null", "prompt");
    tap_ok(!a->wait_for_any && a->when && !a->skip_on_error,
           "wait_for_all, when, skip_on_error");
    tap_is_i64(p->graph.deps_at[2] - p->graph.deps_at[1], 1, "depends_on");
    tap_is_i64(p->graph.deps[p->graph.deps_at[1]], 0, "... the first");
    tap_is_i64(p->graph.fallback[1], 2, "fallback");
    tap_is_i64(p->graph.fallback_of[2], 1, "... of the second");
    tap_is_i64(s->timeout_ms, 300000, "timeout by default");
    tap_is_i64(s->retry.max, 0, "no retry by default");
    tap_is_i64(s->estimate_ms, -1, "no estimate by default");
    tap_is_i64(s->call_class, -1, "the target's class by default");
    tap_is_i64(s->cache_ms, 0, "no cache by default");
    tap_is_i64(p->graph.wave[2], 3, "a fallback comes after whom it is for");
    tap_is_i64(p->graph.sequential_ms, 30000, "sequential time");
    tap_is_i64(p->outputs_count, 1, "outputs");
    tap_is_str(p->outputs[0].name, "report", "... by name");
}

static void test_manual(void)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct plan *p = NULL, *again = NULL;
    wend_error err = {0};

    if (tap_ok(!plan_file_parse(str_of(manual), NULL, &a, &p, &err),
               "the manual's plan: %u:%u: %s", err.line, err.column,
               err.message)) {
        tap_is_str(p->name, "example", "name of the plan");
        tap_is_i64(p->max_parallel, 4, "max_parallel");
        tap_is_i64(p->on_failure, FAILURE_STOP, "on_failure");
        tap_ok(!p->fail_fast && !p->missing_null && !p->open, "the rest");
        tap_is_i64(p->count, 3, "three actions");
        check_fetch(p);
        check_rest(p);
        if (tap_ok(!plan_parse(p->json, NULL, &a, &again, &err),
                   "from the log: %s", err.message)) {
            tap_is_str(again->json, p->json, "the same bytes again");
            check_fetch(p);
        }
    }
    arena_free(&a);
}

static const struct {
    const char *why, *head;
    int64_t parallel;
    int failure;
    bool fail_fast, missing_null;
} heads[] = {
    {"nothing said", "", 5, FAILURE_STOP, false, false},
    {"auto", "max_parallel: auto\n", 0, FAILURE_STOP, false, false},
    {"least", "max_parallel: 1\n", 1, FAILURE_STOP, false, false},
    {"most", "max_parallel: 64\n", 64, FAILURE_STOP, false, false},
    {"continue", "on_failure: continue\n", 5, FAILURE_CONTINUE, false, false},
    {"replan", "on_failure: replan\n", 5, FAILURE_REPLAN, false, false},
    {"fail_fast", "fail_fast: true\n", 5, FAILURE_STOP, true, false},
    {"null", "missing_ref: null\n", 5, FAILURE_STOP, false, true},
    {"quoted null", "missing_ref: \"null\"\n", 5, FAILURE_STOP, false, true},
};

static void test_heads(void)
{
    for (size_t i = 0; i < tap_count(heads); i++) {
        struct mem mem = {0};
        struct arena a = {.mem = &mem};
        struct plan *p = NULL;
        wend_error err = {0};
        char text[400];

        snprintf(text, sizeof text,
                 "wend: plan/1\nname: x\n%sactions: [{name: a, type: tool, "
                 "target: t}]\n",
                 heads[i].head);
        tap_ok(!plan_file_parse(str_of(text), NULL, &a, &p, &err) &&
                   p->max_parallel == heads[i].parallel &&
                   p->on_failure == heads[i].failure &&
                   p->fail_fast == heads[i].fail_fast &&
                   p->missing_null == heads[i].missing_null,
               "%s %s", heads[i].why, err.message);
        arena_free(&a);
    }
}

/* ---- What is refused ----------------------------------------------------- */

#define HEAD "wend: plan/1\nname: x\n"
#define L1 "actions:\n  - {name: a, type: llm, prompt: p"
#define A1 "actions:\n  - {name: a, type: tool, target: t"

static const struct {
    const char *text;
    uint32_t line, column;
    const char *says;
} refusals[] = {
    {"name: x\nactions: []\n", 1, 1, "needs 'wend: plan/1'"},
    {"wend: plan/2\n", 1, 7, "wend must be plan/1"},
    {HEAD, 1, 1, "needs 'actions'"},
    {HEAD "actions: []\n", 3, 10, "no actions"},
    {HEAD "actions: {}\n", 3, 10, "must be a list"},
    {HEAD "actoins: []\n", 3, 1, "did you mean 'actions'?"},
    {HEAD "max_parallel: 0\n" A1 "}\n", 3, 15, "from 1 to 64"},
    {HEAD "max_parallel: 65\n" A1 "}\n", 3, 15, "from 1 to 64"},
    {HEAD "max_parallel: some\n" A1 "}\n", 3, 15, "auto or a whole"},
    {HEAD "fail_fast: 1\n" A1 "}\n", 3, 12, "true or false"},
    {HEAD "on_failure: stap\n" A1 "}\n", 3, 13, "did you mean 'stop'?"},
    {HEAD "missing_ref: eror\n" A1 "}\n", 3, 14, "did you mean 'error'?"},
    {HEAD "inputs: [a]\n" A1 "}\n", 3, 9, "must be a mapping"},
    {HEAD "inputs: {a-b: 1}\n" A1 "}\n", 3, 10, "not 'a-b'"},
    {HEAD "inputs: {1a: 1}\n" A1 "}\n", 3, 10, "not '1a'"},
    /* keys of an action */
    {HEAD "actions: [1]\n", 3, 11, "actions[0] must be a mapping"},
    {HEAD "actions: [{type: tool, target: t}]\n", 3, 11, "needs 'name'"},
    {HEAD "actions: [{name: a, target: t}]\n", 3, 11, "needs 'type'"},
    {HEAD A1 ", dependson: []}\n", 4, 38, "did you mean 'depends_on'?"},
    {HEAD "actions: [{name: 1a, type: tool, target: t}]\n", 3, 18, "a letter"},
    {HEAD "actions: [{name: a b, type: tool, target: t}]\n", 3, 18, "a letter"},
    {HEAD "actions: [{name: a, type: tol, target: t}]\n", 3, 27,
     "did you mean 'tool'?"},
    {HEAD "actions: [{name: a, type: tool}]\n", 3, 11, "needs 'target'"},
    {HEAD "actions: [{name: a, type: llm}]\n", 3, 11, "needs 'prompt'"},
    {HEAD "actions: [{name: a, type: agent, target: x.yaml}]\n", 3, 11,
     "needs 'prompt' or 'params'"},
    {HEAD "actions: [{name: a, type: relic, target: cache}]\n", 3, 42,
     "relic.endpoint"},
    {HEAD "actions: [{name: a, type: decision}]\n", 3, 11, "needs 'cases'"},
    {HEAD A1 ", prompt: hm}\n", 4, 38, "type tool has no 'prompt'"},
    {HEAD A1 ", cases: []}\n", 4, 38, "type tool has no 'cases'"},
    {HEAD A1 ", files: [a]}\n", 4, 38, "type tool has no 'files'"},
    {HEAD L1 ", files: a}\n", 4, 44, "must be a list"},
    {HEAD L1 ", files: [1]}\n", 4, 45, "a string"},
    {HEAD L1 ", files: [\"\"]}\n", 4, 45, "files[0] must"},
    {HEAD L1 ", files: [a, $b]}\n", 4, 48, "$b is neither an input nor"},
    {HEAD "inputs: {b: 1}\n" L1 ", files: [$b]}\n", 5, 45, "$NAME of an input"},
    {HEAD "actions:\n  - {name: a, type: agent, target: e, files: [a], params: "
          "{parts: 1}}\n",
     4, 46, "as 'parts'"},
    {HEAD A1 ", mode: asink}\n", 4, 44, "did you mean 'async'?"},
    {HEAD A1 ", params: [1]}\n", 4, 46, "must be a mapping"},
    {HEAD A1 ", output_key: a-b}\n", 4, 50, "a letter"},
    {HEAD A1 ", timeout: 0s}\n", 4, 47, "at least 1ms, not '0s'"},
    {HEAD A1 ", timeout: soon}\n", 4, 47, "a duration"},
    {HEAD A1 ", retry: 2}\n", 4, 45, "must be a mapping"},
    {HEAD A1 ", retry: {}}\n", 4, 45, "needs 'max'"},
    {HEAD A1 ", retry: {max: 101}}\n", 4, 51, "from 0 to 100"},
    {HEAD A1 ", retry: {max: 1, backoff: 0.5}}\n", 4, 63, "from 1 to 100"},
    {HEAD A1 ", retry: {max: 1, tries: 2}}\n", 4, 54, "unknown key 'tries'"},
    {HEAD A1 ", estimate: -1s}\n", 4, 48, "a duration"},
    {HEAD A1 ", priority: 1.5}\n", 4, 48, "whole number"},
    {HEAD A1 ", cache: {}}\n", 4, 45, "needs 'ttl'"},
    {HEAD A1 ", cache: {ttl: 0}}\n", 4, 51, "a duration"},
    {HEAD A1 ", class: sure}\n", 4, 45, "one of unsafe, idempotent, read"},
    {HEAD A1 ", wait_for_all: no}\n", 4, 52, "true or false"},
    {HEAD A1 ", skip_on_error: 0}\n", 4, 53, "true or false"},
    {HEAD A1 ", depends_on: b}\n", 4, 50, "must be a list"},
    {HEAD A1 ", depends_on: [1]}\n", 4, 51, "a string"},
    {HEAD A1 ", fallback: [b]}\n", 4, 48, "a string"},
    /* names */
    {HEAD A1 "}\n  - {name: a, type: tool, target: t}\n", 5, 12,
     "'a' is already the name of the action in line 4"},
    {HEAD A1 ", id: b}\n  - {name: b, type: tool, target: t}\n", 5, 12,
     "'b' is already"},
    {HEAD A1 "}\n  - {name: b, id: a, type: tool, target: t}\n", 5, 19,
     "'a' is already"},
    {HEAD A1 ", depends_on: [fetsh]}\n"
             "  - {name: fetch, type: tool, target: t}\n",
     4, 51,
     "'a' names the unknown action 'fetsh'; did you mean "
     "'fetch'?"},
    {HEAD A1 ", depends_on: [zebra]}\n", 4, 51, "the unknown action 'zebra'"},
    {HEAD A1 ", fallback: zebra}\n", 4, 48, "the unknown action 'zebra'"},
    {HEAD A1 "}\n  - {name: b, type: tool, target: t, depends_on: [a, a]}\n", 5,
     54, "'b' depends on 'a' twice"},
    {HEAD A1 ", fallback: c}\n  - {name: b, type: tool, target: t, fallback: c"
             "}\n  - {name: c, type: tool, target: t}\n",
     5, 48, "'c' is the fallback of 'a' already"},
    /* cycles */
    {HEAD A1 ", depends_on: [a]}\n", 4, 5, "1 action in a cycle: a -> a"},
    {HEAD A1 ", fallback: a}\n", 4, 5, "1 action in a cycle: a -> a"},
    {HEAD A1 ", depends_on: [c]}\n"
             "  - {name: b, type: tool, target: t, depends_on: [a]}\n"
             "  - {name: c, type: tool, target: t, depends_on: [b, d]}\n"
             "  - {name: d, type: tool, target: t}\n"
             "  - {name: e, type: tool, target: t, depends_on: [c]}\n",
     4, 5, "3 actions in a cycle: a -> b -> c -> a"},
    {HEAD A1 ", fallback: f}\n"
             "  - {name: b, type: tool, target: t, depends_on: [a]}\n"
             "  - {name: f, type: tool, target: t, depends_on: [b]}\n",
     4, 5, "in a cycle"},
    {HEAD
     "actions:\n"
     "  - {name: d, type: decision, depends_on: [a], cases: [{else: [a]}]}\n"
     "  - {name: a, type: tool, target: t}\n",
     4, 5, "2 actions in a cycle: d -> a -> d"},
    /* decisions */
    {HEAD "actions: [{name: d, type: decision, cases: [{when: \"1\"}]}]\n", 3,
     45, "needs 'then'"},
    {HEAD "actions: [{name: d, type: decision, cases: [{then: []}]}]\n", 3, 45,
     "needs 'when' and 'then', or 'else'"},
    {HEAD "actions: [{name: d, type: decision, cases: [{else: [], when: "
          "\"1\"}]}]\n",
     3, 45, "stands alone"},
    {HEAD "actions: [{name: d, type: decision, cases: [{else: []}, {else: "
          "[]}]}]\n",
     3, 45, "comes last"},
    {HEAD "actions: [{name: d, type: decision, cases: [{else: [zz]}]}]\n", 3,
     53, "'d' names the unknown action 'zz'"},
    {HEAD "actions: [{name: d, type: decision, target: x, cases: []}]\n", 3, 37,
     "type decision has no 'target'"},
    {HEAD "actions: [{name: d, type: decision, class: read, cases: []}]\n", 3,
     37, "type decision has no 'class'"},
    /* references */
    {HEAD "inputs: {topic: 1}\n" A1 ", params: {p: \"in $topik\"}}\n", 5, 54,
     "$topik is neither an input nor an output_key; did you mean $topic?"},
    {HEAD A1 ", params: {p: $zebra}}\n", 4, 50, "$zebra is neither"},
    {HEAD A1 ", params: {p: $a}}\n", 4, 50, "$a is the name of an action"},
    {HEAD A1 ", output_key: o, params: {p: $o}}\n", 4, 65,
     "$o is the output of 'a' itself"},
    {HEAD A1
     ", output_key: out}\n"
     "  - {name: b, type: tool, target: t, params: {p: [\"${out.x}\"]}}\n",
     5, 52, "${out.x} is the output of 'a', for which 'b' does not wait"},
    {HEAD A1
     ", mode: fire_and_forget, output_key: out}\n"
     "  - {name: b, type: tool, target: t, depends_on: [a], params: {p: "
     "$out}}\n",
     5, 67, "fire_and_forget"},
    {HEAD A1 "}\noutputs: {r: $zebra}\n", 5, 14, "$zebra is neither"},
    {HEAD A1 ", mode: fire_and_forget, output_key: out}\n"
             "outputs: {r: $out}\n",
     5, 14, "fire_and_forget"},
    {HEAD A1 ", params: {p: \"${x\"}}\n", 4, 54, "'}' is missing"},
    {HEAD A1 ", params: {p: \"costs $5\"}}\n", 4, 57, "$$ is a dollar"},
    {HEAD A1 ", output_key: o}\n"
             "  - {name: b, type: tool, target: t, output_key: o}\n",
     5, 5, "'a' and 'b' both have the output_key 'o', and both may run"},
    {HEAD A1 ", output_key: o, when: \"1\"}\n"
             "  - {name: b, type: tool, target: t, output_key: o}\n",
     5, 5, "'a' and 'b' both have the output_key 'o', and both may run"},
    {HEAD "inputs: {o: 1}\n" A1 ", output_key: o}\n", 5, 5,
     "the output_key 'o' of 'a' is an input already"},
    /* conditions */
    {HEAD A1 ", when: \"1 <\"}\n", 4, 48,
     "actions[0].when: a value is missing"},
    {HEAD A1 ", when: 1 = 2}\n", 4, 46, "write =="},
    {HEAD A1 ", when: $zebra}\n", 4, 44, "$zebra is neither"},
    {HEAD A1 ", when: 3}\n", 4, 44, "must be a string in quotes"},
    {HEAD "actions: [{name: d, type: decision, cases: [{when: \"(\", then: "
          "[]}]}]\n",
     3, 54, "a value is missing"},
    /* YAML and JSON */
    {"wend: plan/1\nname: [\n", 3, 1, ""},
    {"{\"wend\":\"plan/1\",\n \"name\":\"x\",\n \"actions\":[{\"name\":\"a\","
     "\"type\":\"tool\",\"target\":\"t\",\n  \"modus\":\"sync\"}]}",
     4, 3, "unknown key 'modus'"},
    {"{\"wend\":\"plan/1\",\"name\":\"x\",\"actions\":[{\"name\":\"a\",\"type\""
     ":\"tool\",\n\"target\":\"t\",\"when\":\"1 +\"}]}",
     2, 25, "a value is missing"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < tap_count(refusals); i++) {
        struct mem mem = {0};
        struct arena a = {.mem = &mem};
        struct plan *p = NULL;
        wend_error err = {0};
        wend_status s =
            plan_file_parse(str_of(refusals[i].text), NULL, &a, &p, &err);

        if (!tap_ok(s == WEND_E_PARSE && err.line == refusals[i].line &&
                        err.column == refusals[i].column &&
                        strstr(err.message, refusals[i].says),
                    "refused: %s", refusals[i].says))
            printf("# %u:%u: %s\n# wanted %u:%u\n%s", err.line, err.column,
                   err.message, refusals[i].line, refusals[i].column,
                   refusals[i].text);
        arena_free(&a);
    }
}

/* What looks like a mistake and is none. */
static const struct {
    const char *why, *text;
} accepted[] = {
    {"a reference to somebody two steps before",
     HEAD A1 ", output_key: o}\n"
             "  - {name: b, type: tool, target: t, depends_on: [a]}\n"
             "  - {name: c, type: tool, target: t, depends_on: [b], params: "
             "{p: $o}}\n"},
    {"a fallback knows what was before whom it is for",
     HEAD A1 ", output_key: o}\n"
             "  - {name: b, type: tool, target: t, depends_on: [a], fallback: "
             "f}\n"
             "  - {name: f, type: tool, target: t, params: {p: $o}}\n"},
    {"its own key may be known to who comes after both",
     HEAD A1 ", fallback: f, output_key: o}\n"
             "  - {name: f, type: tool, target: t, output_key: q}\n"
             "  - {name: b, type: tool, target: t, depends_on: [a], params: "
             "{p: $q, o: $o}}\n"},
    {"a fallback with the same key",
     HEAD A1 ", fallback: f, output_key: o}\n"
             "  - {name: f, type: tool, target: t, output_key: o}\n"},
    {"the same key in two cases of a decision",
     HEAD "actions:\n"
          "  - {name: d, type: decision, cases: [{when: \"1\", then: [x]}, "
          "{else: [y]}]}\n"
          "  - {name: x, type: tool, target: t, output_key: o}\n"
          "  - {name: y, type: tool, target: t, output_key: o}\n"
          "  - {name: z, type: tool, target: t, depends_on: [x, y], params: "
          "{p: $o}}\n"},
    {"the same key under two conditions",
     HEAD "inputs: {deep: true}\n"
          "actions:\n"
          "  - {name: x, type: tool, target: t, output_key: o, when: $deep}\n"
          "  - {name: y, type: tool, target: t, output_key: o, when: not "
          "$deep}\n"},
    {"a name in two cases, and in depends_on",
     HEAD "actions:\n"
          "  - {name: d, type: decision, cases: [{when: \"1\", then: [x]}, "
          "{else: [x]}]}\n"
          "  - {name: x, type: tool, target: t, depends_on: [d]}\n"},
    {"names below, ids, and a name that is its own id",
     HEAD A1 ", id: a, depends_on: [two]}\n"
             "  - {name: b, id: two, type: tool, target: t}\n"},
    {"a class of whatever can be done again",
     HEAD "actions:\n"
          "  - {name: a, type: agent, target: a.yaml, prompt: x, class: read}\n"
          "  - {name: m, type: llm, prompt: x, class: idempotent}\n"},
    {"a key that looks like a reference", HEAD A1 ", params: {\"$x\": 1}}\n"},
    {"an id alone", HEAD "actions: [{id: a, type: tool, target: t}]\n"},
    {"a fire_and_forget action as a dependency",
     HEAD A1 ", mode: fire_and_forget}\n"
             "  - {name: b, type: tool, target: t, depends_on: [a]}\n"},
};

static void test_accepted(void)
{
    for (size_t i = 0; i < tap_count(accepted); i++) {
        struct mem mem = {0};
        struct arena a = {.mem = &mem};
        struct plan *p = NULL;
        wend_error err = {0};

        tap_ok(!plan_file_parse(str_of(accepted[i].text), NULL, &a, &p, &err),
               "%s %s", accepted[i].why, err.message);
        arena_free(&a);
    }
}

/* ---- Inputs, targets ----------------------------------------------------- */

static const struct {
    const char *name, *value;
    bool json;
    const char *result; /* of the inputs; "!" and what is wrong */
} sets[] = {
    {"s", "5", false, "5"},
    {"s", "5", false, "5"},
    {"n", "5", false, "5"},
    {"n", "five", false, "!input 'n': it must be of the kind number"},
    {"b", "false", false, "false"},
    {"b", "0", false, "!input 'b': it must be of the kind true or false"},
    {"z", "text", false, "text"},
    {"z", "[1]", false, "[1]"},
    {"l", "[3]", true, "[3]"},
    {"l", "{}", true, "!input 'l': it must be of the kind array"},
    {"s", "\"q\"", true, "q"},
    {"s", "7", true, "!input 's': it must be of the kind string"},
    {"lo", "1", false, "!the plan has no input 'lo'; did you mean 'l'?"},
    {"zebra", "1", false, "!the plan has no input 'zebra'"},
};

static void test_sets(void)
{
    for (size_t i = 0; i < tap_count(sets); i++) {
        struct mem mem = {0};
        struct arena a = {.mem = &mem};
        struct plan_set set = {str_of(sets[i].name), str_of(sets[i].value),
                               sets[i].json};
        struct plan_options o = {.sets = &set, .sets_count = 1};
        struct plan *p = NULL;
        wend_error err = {0};
        char text[300];

        snprintf(text, sizeof text,
                 HEAD "inputs: {s: t, n: 1, b: true, z: null, l: [1]}\n"
                      "actions: [{name: a, type: llm, prompt: $%s}]\n",
                 sets[i].result[0] == '!' ? "s" : sets[i].name);
        if (plan_file_parse(str_of(text), &o, &a, &p, &err))
            tap_ok(sets[i].result[0] == '!' &&
                       !strcmp(err.message, sets[i].result + 1),
                   "set %s=%s: %s", sets[i].name, sets[i].value, err.message);
        else
            tap_is_template(p, p->actions[0]->prompt, sets[i].result,
                            "set an input");
        arena_free(&a);
    }
}

static bool knows(void *ctx, const struct plan_action *a, struct buf *hint)
{
    (void)ctx;
    buf_cstr(hint, "; did you mean 'read_file'?");
    return a->type == ACTION_LLM || str_is(a->target, "read_file");
}

static void test_targets(void)
{
    static const char text[] =
        HEAD "actions:\n"
             "  - {name: m, type: llm, prompt: x}\n"
             "  - {name: d, type: decision, cases: []}\n"
             "  - {name: a, type: tool, target: read_file}\n"
             "  - {name: b, type: tool, target: reed_file}\n";
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct plan_options o = {.knows = knows};
    struct plan *p = NULL;
    wend_error err = {0};

    tap_ok(plan_file_parse(str_of(text), &o, &a, &p, &err) == WEND_E_PARSE &&
               err.line == 7 && err.column == 35,
           "an unknown target at %u:%u", err.line, err.column);
    tap_is_str(err.message,
               "unknown tool 'reed_file'; did you mean 'read_file'?",
               "... by its name");
    arena_free(&a);
}

static void test_fault(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 64};
        struct plan *p = NULL;
        wend_error err = {0};
        wend_status s = plan_file_parse(str_of(manual), NULL, &a, &p, &err);

        arena_free(&a);
        bad +=
            f.live != 0 || (s == WEND_OK) == f.hit || (s && s != WEND_E_NOMEM);
    }
    tap_is_i64(bad, 0, "every allocation may fail (%d)", (int)f.fail_at);
}

int main(void)
{
    test_manual();
    test_heads();
    test_refusals();
    test_accepted();
    test_sets();
    test_targets();
    test_fault();
    return tap_done();
}
