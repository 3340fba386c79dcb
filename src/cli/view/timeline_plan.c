/*
 * timeline_plan.c - what the plan of a run declares about its actions.
 */
#include "base/json.h"
#include "cli/view/timeline_span.h"

struct action_note *timeline_note(const struct timeline *t, wend_str id)
{
    for (struct action_note *n = t->notes; n; n = n->next)
        if (str_eq(n->id, id)) {
            n->seen = true;
            return n;
        }
    return NULL;
}

static void put_list(struct buf *b, const struct json *list)
{
    for (const struct json *e = list ? list->first : NULL; e; e = e->next) {
        buf_cstr(b, b->len ? ", " : "");
        buf_str(b, json_str(e));
    }
}

static void note(struct timeline *t, const struct json *action)
{
    struct action_note *n = arena_alloc(&t->arena, sizeof *n);
    const struct json *id = json_get(action, "id");
    struct buf after = {.mem = t->arena.mem};

    n->name = keep_name(t, json_str(json_get(action, "name")));
    n->id = id ? keep_name(t, json_str(id)) : n->name;
    n->type = keep_name(t, json_str(json_get(action, "type")));
    n->target = keep_name(t, json_str(json_get(action, "target")));
    n->when = keep_name(t, json_str(json_get(action, "when")));
    put_list(&after, json_get(action, "depends_on"));
    n->after = keep_name(t, buf_view(&after));
    buf_free(&after);
    json_i64(json_get(json_get(action, "retry"), "max"), &n->retries);
    *t->notes_last = n;
    t->notes_last = &n->next;
}

void timeline_note_plan(struct timeline *t, wend_str plan_json)
{
    struct arena a = {.mem = t->arena.mem};
    const struct json *list =
        json_get(json_parse_own(plan_json, &a, NULL), "actions");

    for (const struct json *e = list ? list->first : NULL; e; e = e->next)
        note(t, e);
    arena_free(&a);
}

void timeline_note_action(struct timeline *t, wend_str action_json)
{
    struct arena a = {.mem = t->arena.mem};
    const struct json *action = json_parse_own(action_json, &a, NULL);

    if (action)
        note(t, action);
    arena_free(&a);
}

/* The order is that of the plan. */
void timeline_note_waves(struct timeline *t, wend_str actions_json)
{
    struct arena a = {.mem = t->arena.mem};
    const struct json *list = json_parse_own(actions_json, &a, NULL);
    const struct json *e = list ? list->first : NULL;

    for (struct action_note *n = t->notes; n && e; n = n->next, e = e->next)
        json_i64(json_get(e, "wave"), &n->wave);
    arena_free(&a);
}
