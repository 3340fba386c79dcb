/*
 * test_plan_api.c - plans for hosts: parsed, described, refused.
 */
#include "wend.h"

#include "base/json.h"
#include "fault.h"
#include "tap.h"

static const char text[] =
    "wend: plan/1\n"
    "name: \"a <b> & \\\"c\\\" \\e[31m\"\n"
    "max_parallel: auto\n"
    "on_failure: replan\n"
    "inputs: {topic: looms, n: 1}\n"
    "actions:\n"
    "  - {name: d, type: decision, cases: [{when: $n > 0, then: [x]}, {else: "
    "[y]}]}\n"
    "  - {name: x, type: tool, target: 'a\"<b>\\', estimate: 1.5s, fallback: "
    "z, output_key: o}\n"
    "  - {name: y, type: llm, prompt: $topic, when: $n == 1}\n"
    "  - {name: z, type: relic, target: r.get, mode: fire_and_forget}\n"
    "outputs: {first: $o}\n";

static bool knows_llm(void *ctx, wend_str type, wend_str target,
                      const char **near)
{
    ++*(int *)ctx;
    if (str_is(type, "llm"))
        return str_is(target, "default");
    *near = "what";
    return false;
}

static wend_str shown(wend_plan *p, wend_plan_format format)
{
    wend_str out = {NULL, 0};
    wend_error err = {0};

    tap_ok(!wend_plan_describe(p, format, &out, &err), "format %d %s", format,
           err.message);
    return out;
}

static bool has(wend_str s, const char *part)
{
    return s.ptr && memmem(s.ptr, s.len, part, strlen(part));
}

static void check_json(wend_str json)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct json *j = json_parse(json, &a, NULL);
    struct buf b = {.mem = &mem};

    tap_ok(j && j->kind == JSON_OBJECT, "it is an object");
    for (const struct json *e = json_get(j, "actions")->first; e; e = e->next) {
        buf_str(&b, json_str(json_get(e, "id")));
        buf_char(&b, '<');
        json_put(&b, json_get(e, "depends_on"));
        json_put(&b, json_get(e, "wave"));
        buf_cstr(&b, json_get(e, "conditional") ? "? " : " ");
    }
    tap_is_str(buf_view(&b), "d<[]1 x<[\"d\"]2 y<[\"d\"]2? z<[]3 ",
               "actions, whom they wait for, waves, conditions");
    buf_clear(&b);
    for (const struct json *e = j->first; e; e = e->next)
        if (!str_is(e->key, "actions") && !str_is(e->key, "name")) {
            buf_str(&b, e->key);
            buf_char(&b, '=');
            json_put(&b, e);
            buf_char(&b, ' ');
        }
    tap_is_str(buf_view(&b),
               "max_parallel=\"auto\" fail_fast=false on_failure=\"replan\" "
               "inputs={\"topic\":\"cats\",\"n\":1} outputs=[\"first\"] "
               "count=4 edges=2 types={\"tool\":1,\"llm\":1,\"relic\":1,"
               "\"decision\":1} modes={\"sync\":3,\"fire_and_forget\":1} "
               "waves=3 sequential_ms=1500 critical_path_ms=1500 speedup=1 "
               "critical_path=[\"d\",\"x\"] ",
               "the rest");
    buf_free(&b);
    arena_free(&a);
}

static void test_shown(void)
{
    const char *sets[] = {"topic=cats"};
    wend_plan_options o = {.size = sizeof o, .sets = sets, .sets_count = 1};
    wend_plan *p = NULL;
    wend_error err = {0};
    wend_str out;

    if (!tap_ok(!wend_plan_parse(str_of(text), &o, &p, &err), "parsed %s",
                err.message))
        return;
    out = shown(p, WEND_PLAN_JSON);
    check_json(out);
    tap_ok(shown(p, WEND_PLAN_JSON).ptr == out.ptr, "made once");
    out = shown(p, WEND_PLAN_DOT);
    tap_ok(has(out, "digraph \"a <b> & \\\"c\\\"  [31m\" {") &&
               has(out, "a\\\"<b>\\\\") && has(out, "n1 -> n3 [style=dotted"),
           "dot: quotes, backslashes, a fallback");
    out = shown(p, WEND_PLAN_SVG);
    tap_ok(has(out, "<title>a &lt;b&gt; &amp; &quot;c&quot;") &&
               has(out, "tool a&quot;&lt;b&gt;\\") && !has(out, "\x1b"),
           "svg: nothing is markup or a control");
    out = shown(p, WEND_PLAN_HTML);
    tap_ok(has(out, "<h1>a &lt;b&gt;") && !has(out, "<b>") && !has(out, "\x1b"),
           "html: the same");
    tap_is_i64(wend_plan_describe(p, (wend_plan_format)4, &out, &err),
               WEND_E_INVAL, "no such format");
    wend_plan_free(p);
}

static void test_refused(void)
{
    const char *bad[] = {"topic"}, *unknown[] = {"tobic=x"};
    wend_plan_options o = {.size = sizeof o};
    wend_plan *p = NULL;
    wend_error err = {0};
    int asked = 0;

    tap_is_i64(wend_plan_parse((wend_str){NULL, 0}, NULL, &p, &err),
               WEND_E_INVAL, "no text");
    tap_is_i64(wend_plan_parse(str_of(text), NULL, NULL, &err), WEND_E_INVAL,
               "no place for it");
    o.sets_count = 1;
    tap_is_i64(wend_plan_parse(str_of(text), &o, &p, &err), WEND_E_INVAL,
               "no sets");
    o.sets = bad;
    tap_is_i64(wend_plan_parse(str_of(text), &o, &p, &err), WEND_E_INVAL,
               "a set without a value: %s", err.message);
    o.sets = unknown;
    tap_ok(wend_plan_parse(str_of(text), &o, &p, &err) == WEND_E_INVAL &&
               strstr(err.message, "did you mean 'topic'?"),
           "an unknown input: %s", err.message);
    o.sets_count = 0;
    o.knows = knows_llm;
    o.ctx = &asked;
    tap_ok(wend_plan_parse(str_of(text), &o, &p, &err) == WEND_E_PARSE &&
               err.line == 8 && asked == 1 &&
               strstr(err.message, "did you mean 'what'?"),
           "an unknown target: %u: %s", err.line, err.message);
    tap_ok(!p, "nothing is handed over");
    tap_ok(wend_plan_parse(str_of("a: ["), NULL, &p, NULL), "err may be NULL");
    wend_plan_free(NULL);
}

static void test_fault(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        wend_plan_options o = {
            .size = sizeof o, .alloc = fault_alloc, .alloc_ctx = &f};
        wend_plan *p = NULL;
        wend_str out;
        wend_status s = wend_plan_parse(str_of(text), &o, &p, NULL);

        for (int i = 0; !s && i <= WEND_PLAN_HTML; i++)
            s = wend_plan_describe(p, (wend_plan_format)i, &out, NULL);
        wend_plan_free(p);
        bad += f.live != 0 || (s == WEND_OK) == f.hit;
    }
    tap_is_i64(bad, 0, "every allocation may fail (%d)", (int)f.fail_at);
}

int main(void)
{
    test_shown();
    test_refused();
    test_fault();
    return tap_done();
}
