/*
 * lib_plan.h - runs that are plans, made up from the seed.
 */
#ifndef SIM_LIB_PLAN_H
#define SIM_LIB_PLAN_H

#include "lib_world.h"

enum { ACTIONS_MAX = 10 };

static void put_waits(struct sim *s, struct buf *b, uint32_t i)
{
    bool any = false;

    for (uint32_t d = 0; d < i; d++)
        if (chance_of(&s->chance, 250)) {
            buf_fmt(b, "%s\"a%u\"", any ? "," : ",\"depends_on\":[", d);
            any = true;
        }
    if (any)
        buf_char(b, ']');
}

static void put_action(struct sim *s, struct buf *b, uint32_t i, uint32_t count)
{
    static const char *const modes[] = {"async", "async", "sync",
                                        "fire_and_forget"};
    static const char *const whens[] = {"$on", "not $on"};

    buf_fmt(b, "%s{\"name\":\"a%u\",\"output_key\":\"k%u\"", i ? "," : "", i,
            i);
    if (chance_of(&s->chance, 200))
        buf_cstr(b, ",\"type\":\"llm\",\"target\":\"default\",\"prompt\":"
                    "\"say it\"");
    else
        buf_fmt(
            b, ",\"type\":\"tool\",\"target\":\"t%u\",\"params\":{\"a\":%u}",
            chance_below(&s->chance, TOOLS - 1), chance_below(&s->chance, 9));
    buf_fmt(b, ",\"mode\":\"%s\"", chance_pick(&s->chance, modes));
    put_waits(s, b, i);
    if (chance_of(&s->chance, 150))
        buf_fmt(b, ",\"when\":\"%s\"", chance_pick(&s->chance, whens));
    if (chance_of(&s->chance, 150))
        buf_cstr(b, ",\"wait_for_all\":false");
    if (chance_of(&s->chance, 100))
        buf_cstr(b, ",\"skip_on_error\":true");
    if (chance_of(&s->chance, 300))
        buf_fmt(b, ",\"retry\":{\"max\":%u,\"delay\":\"5ms\",\"backoff\":2.0}",
                1 + chance_below(&s->chance, 2));
    buf_fmt(b, ",\"timeout\":\"%ums\"", /* the default is five minutes */
            50 + chance_below(&s->chance, 3000));
    if (chance_of(&s->chance, 100) && i + 1 < count)
        buf_fmt(b, ",\"fallback\":\"a%u\"", i + 1);
    buf_char(b, '}');
}

static void put_plan(struct sim *s, struct buf *b)
{
    uint32_t count = 1 + chance_below(&s->chance, ACTIONS_MAX);

    buf_cstr(b, "{\"wend\":\"plan/1\",\"name\":\"p\"");
    if (chance_of(&s->chance, 700))
        buf_fmt(b, ",\"max_parallel\":%u", 1 + chance_below(&s->chance, 5));
    if (chance_of(&s->chance, 150))
        buf_cstr(b, ",\"fail_fast\":true");
    buf_cstr(b, ",\"inputs\":{\"on\":true},\"actions\":[");
    for (uint32_t i = 0; i < count; i++)
        put_action(s, b, i, count);
    buf_cstr(b, "]}");
}

static wend_status start_plan(struct sim *s, struct known *k,
                              const wend_run_options *o)
{
    struct buf text = {.mem = &reader_mem};
    wend_plan *plan = NULL;
    wend_error err = {0};
    wend_status st = WEND_E_PARSE;

    for (int tries = 0; tries < 20 && st == WEND_E_PARSE; tries++) {
        buf_clear(&text);
        put_plan(s, &text);
        st = wend_plan_parse(buf_view(&text), NULL, &plan, &err);
    }
    if (st != WEND_OK) {
        fprintf(stderr, "plan: %s: %s\n", err.message, text.ptr);
        abort();
    }
    trace(s, "run %u is a plan: %s", k->place, text.ptr);
    s->counters->plans++;
    st = wend_run_start_plan(s->agents[k->agent], plan, NULL, o, &k->handle,
                             &err);
    if (st == WEND_E_INVAL || st == WEND_E_NOTFOUND) {
        fprintf(stderr, "plan: %s: %s\n", err.message, text.ptr);
        abort();
    }
    wend_plan_free(plan);
    buf_free(&text);
    return st;
}

#endif
