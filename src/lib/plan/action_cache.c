/*
 * action_cache.c - what actions with a cache gave, kept for a while.
 *
 * The key is what is asked: type, target and resolved values. The same question
 * to the same store within the time is answered from there. What
 * cannot be kept is only slower the next time. The labels of the run that got
 * an answer first, and what the answer brought into it, are kept with it.
 */
#include "base/label.h"
#include "lib/plan/action.h"
#include "lib/run/call.h"
#include "lib/run/child.h"
#include "lib/run/shell.h"

static const char space[] = "plan/cache";

/* Lengths, so that no target can look like another with values. */
static void key_of(const struct plan_action *a, wend_str params,
                   char out[SHA256_HEX + 1])
{
    struct sha256 sha;
    uint64_t head[2] = {(uint64_t)a->type, a->target.len};

    sha256_init(&sha);
    sha256_add(&sha, (const char *)head, sizeof head);
    sha256_add(&sha, a->target.ptr, a->target.len);
    sha256_add(&sha, params.ptr, params.len);
    sha256_end_hex(&sha, out);
}

/* ---- What a fact says ---------------------------------------------------- */

static bool read_answer(wend_str text, const struct mem *m, struct buf *output,
                        uint32_t *labels)
{
    struct arena a = {.mem = m};
    const struct json *j = json_parse_own(text, &a, NULL);
    const struct json *value = json_get(j, "output");

    *labels = labels_read(json_get(j, "labels"));
    if (value)
        json_put(output, value);
    arena_free(&a);
    return value && !output->failed;
}

/* ---- Answers ------------------------------------------------------------- */

bool cache_answers(struct wend_run *r, const struct effect *fx)
{
    const struct plan_action *a = action_of(r, fx);
    struct buf b = {.mem = &r->rt->mem}, output = {.mem = &r->rt->mem};
    struct input in;
    wend_error err = {0};
    char key[SHA256_HEX + 1];
    uint32_t labels = 0;
    bool found;

    if (!a->cache_ms)
        return false;
    key_of(a, fx->args, key);
    if (fact_text(r->rt, str_of(space), str_of(key), &b, &err) != WEND_OK)
        run_error(r, "cache",
                  "action %.*s is not answered from the cache, which cannot "
                  "be read: %s",
                  STR_ARGS(a->id), err.message);
    found = b.len && read_answer(buf_view(&b), &r->rt->mem, &output, &labels);
    if (found) {
        in = work_answer(fx, WEND_OUTCOME_OK, buf_view(&output), STR_NONE);
        in.done.json = in.done.cached = true;
        in.done.labels = labels;
        shell_input(r, &in);
    }
    buf_free(&output);
    buf_free(&b);
    return found;
}

/* ---- Keeping ------------------------------------------------------------- */

/* What the child brings that answers the action; a tool's are its own. */
static uint32_t labels_of(const struct wend_run *r, uint32_t action)
{
    for (const struct child *c = r->children; c; c = c->next)
        if (!c->fx.call && c->fx.action == action && c->run)
            return c->run->turn.labels;
    return 0;
}

void cache_keep(struct wend_run *r, const wend_event *ev)
{
    const struct plan_state *p = &r->turn.plan;
    const wend_ev_action_end *e = &ev->u.action_end;
    uint32_t i = p->started && ev->type == WEND_ACTION_END
                     ? plan_find(p->plan, e->action)
                     : PLAN_NONE;
    struct buf text = {.mem = &r->rt->mem};
    const struct action_state *s;
    char key[SHA256_HEX + 1];

    if (i == PLAN_NONE || !p->plan->actions[i]->cache_ms || e->cached ||
        e->outcome != WEND_OUTCOME_OK)
        return;
    s = plan_action_state(p, i);
    if (s->at != AT_RUNS)
        return;
    key_of(p->plan->actions[i], s->params, key);
    json_open(&text, NULL, '{');
    labels_add(&text, "labels", labels_of(r, i) | run_labels(r));
    json_add_raw(&text, "output", e->output_json);
    json_close(&text, '}');
    if (!text.failed)
        fact_keep(r->rt, &(struct store_fact){
                             .space = str_of(space),
                             .key = str_of(key),
                             .text = buf_view(&text),
                             .time_us = rt_wall(r->rt),
                             .until_us = rt_wall(r->rt) +
                                         p->plan->actions[i]->cache_ms * 1000,
                         });
    buf_free(&text);
}
