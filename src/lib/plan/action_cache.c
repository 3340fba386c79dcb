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

struct cached {
    struct buf output;
    uint32_t labels;
    const wend_ev_part *parts;
    size_t parts_count;
    struct event_blobs blobs; /* of the parts */
};

/* The bytes join the log of this run, so that they stay as long as it does.
 * False: the run that had them is gone, and they are, too. */
static bool take_parts(wend_store *store, const struct json *fact,
                       struct cached *out)
{
    struct arena *a = out->blobs.arena;
    wend_str bytes;

    out->parts = parts_of(fact, a, &out->parts_count);
    for (size_t i = 0; i < out->parts_count; i++)
        if (log_blob(store, out->parts[i].hash, a, &bytes) != WEND_OK ||
            !event_blob_add(&out->blobs, bytes))
            return false;
    return !a->failed;
}

static bool read_answer(wend_store *store, wend_str text, struct cached *out)
{
    const struct json *j = json_parse_own(text, out->blobs.arena, NULL);
    const struct json *value = json_get(j, "output");

    out->labels = labels_read(json_get(j, "labels"));
    if (value)
        json_put(&out->output, value);
    return value && !out->output.failed && take_parts(store, j, out);
}

/* ---- Answers ------------------------------------------------------------- */

bool cache_answers(struct wend_run *r, const struct effect *fx)
{
    const struct plan_action *a = action_of(r, fx);
    struct arena arena = {.mem = &r->rt->mem};
    struct cached got = {.output.mem = &r->rt->mem, .blobs.arena = &arena};
    struct buf b = {.mem = &r->rt->mem};
    struct input in;
    wend_error err = {0};
    char key[SHA256_HEX + 1];
    bool found;

    if (!a->cache_ms)
        return false;
    key_of(a, fx->args, key);
    if (fact_text(r->rt, str_of(space), str_of(key), &b, &err) != WEND_OK)
        run_error(r, "cache",
                  "action %.*s is not answered from the cache, which cannot "
                  "be read: %s",
                  STR_ARGS(a->id), err.message);
    found = b.len && read_answer(r->rt->store, buf_view(&b), &got);
    if (found) {
        in = work_answer(fx, WEND_OUTCOME_OK, buf_view(&got.output), STR_NONE);
        in.done.json = in.done.cached = true;
        in.done.labels = got.labels;
        in.done.parts = got.parts;
        in.done.parts_count = got.parts_count;
        in.done.blobs = got.blobs.first;
        shell_input(r, &in);
    }
    buf_free(&got.output);
    arena_free(&arena);
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
    if (e->parts_count)
        json_open(&text, "parts", '[');
    for (size_t n = 0; n < e->parts_count; n++) {
        json_key(&text, NULL);
        part_write(&text, &e->parts[n]);
    }
    if (e->parts_count)
        json_close(&text, ']');
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
