/*
 * plan.c - runs that are plans, made up from the seed.
 */
#include "plan.h"
#include "reader.h"
#include "script.h"

static void put_plan(struct sim *s, struct buf *b)
{
    buf_cstr(b, "{\"wend\":\"plan/1\",\"name\":\"p\"");
    if (chance_of(&s->chance, 700))
        buf_fmt(b, ",\"max_parallel\":%u", 1 + chance_below(&s->chance, 5));
    if (chance_of(&s->chance, 150))
        buf_cstr(b, ",\"fail_fast\":true");
    buf_cstr(b, ",\"inputs\":{\"on\":true},");
    put_actions(s, b);
    buf_char(b, '}');
}

wend_status start_plan(struct sim *s, struct known *k,
                       const wend_run_options *o)
{
    struct buf text = {.mem = &libc_mem};
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
    s->head.counters->plans++;
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
