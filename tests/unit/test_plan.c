/*
 * test_plan.c - plans: every field, every refusal, the numbers.
 */
#include "wire/plan_file.h"

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

static void test_manual(void)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct plan *p = NULL;
    wend_error err = {0};

    if (tap_ok(!plan_file_parse(str_of(manual), NULL, &a, &p, &err),
               "the manual's plan: %u:%u: %s", err.line, err.column,
               err.message)) {
        tap_is_i64(p->count, 3, "three actions");
        tap_is_i64(p->graph.waves, 3, "three waves");
    }
    arena_free(&a);
}

int main(void)
{
    test_manual();
    return tap_done();
}
