/*
 * plan_state_json.c - how far a plan is, as JSON and back.
 *
 * Equal bytes mean equal states, as for the turn that it is part of.
 */
#include "state/state.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum kind { K_I64, K_U32, K_BOOL, K_STR, K_ENUM };

struct member {
    const char *name;
    enum kind kind;
    size_t offset;
};

static const struct member plan_members[] = {
    {"started", K_BOOL, offsetof(struct plan_state, started)},
    {"ended", K_BOOL, offsetof(struct plan_state, ended)},
    {"started_us", K_I64, offsetof(struct plan_state, started_us)},
    {"running", K_U32, offsetof(struct plan_state, running)},
    {"holding", K_U32, offsetof(struct plan_state, holding)},
    {"approvals", K_U32, offsetof(struct plan_state, approvals)},
    {"left", K_U32, offsetof(struct plan_state, left)},
    {"ok", K_U32, offsetof(struct plan_state, ok)},
    {"failed", K_U32, offsetof(struct plan_state, failed)},
    {"skipped", K_U32, offsetof(struct plan_state, skipped)},
    {"canceled", K_U32, offsetof(struct plan_state, canceled)},
    {"unknown", K_U32, offsetof(struct plan_state, unknown)},
    {"broken", K_BOOL, offsetof(struct plan_state, broken)},
    {"why", K_STR, offsetof(struct plan_state, why)},
    {"cause", K_STR, offsetof(struct plan_state, cause)},
    {"wrong", K_STR, offsetof(struct plan_state, wrong)},
    {"pace_slots", K_U32, offsetof(struct plan_state, pace.slots)},
    {"pace_ended", K_U32, offsetof(struct plan_state, pace.ended)},
    {"pace_last_ended", K_U32, offsetof(struct plan_state, pace.last_ended)},
    {"pace_from_us", K_I64, offsetof(struct plan_state, pace.from_us)},
    {"pace_last_us", K_I64, offsetof(struct plan_state, pace.last_us)},
};

static const struct member action_members[] = {
    {"at", K_ENUM, offsetof(struct action_state, at)},
    {"outcome", K_ENUM, offsetof(struct action_state, outcome)},
    {"counts", K_ENUM, offsetof(struct action_state, counts)},
    {"triggered", K_BOOL, offsetof(struct action_state, triggered)},
    {"answered", K_BOOL, offsetof(struct action_state, answered)},
    {"approved", K_BOOL, offsetof(struct action_state, approved)},
    {"refused", K_BOOL, offsetof(struct action_state, refused)},
    {"asking", K_BOOL, offsetof(struct action_state, asking)},
    {"allowed", K_I64, offsetof(struct action_state, allowed.tokens)},
    {"allowed_limit", K_STR, offsetof(struct action_state, allowed.limit)},
    {"superseded", K_BOOL, offsetof(struct action_state, superseded)},
    {"again", K_BOOL, offsetof(struct action_state, again)},
    {"attempt", K_I64, offsetof(struct action_state, attempt)},
    {"began_us", K_I64, offsetof(struct action_state, began_us)},
    {"waits", K_U32, offsetof(struct action_state, waits)},
    {"oks", K_U32, offsetof(struct action_state, oks)},
    {"fails", K_U32, offsetof(struct action_state, fails)},
    {"values", K_U32, offsetof(struct action_state, values)},
    {"reason", K_STR, offsetof(struct action_state, reason)},
    {"params", K_STR, offsetof(struct action_state, params)},
    {"output", K_STR, offsetof(struct action_state, output)},
    {"child", K_STR, offsetof(struct action_state, child)},
    {"left", K_BOOL, offsetof(struct action_state, left)},
    {"key", K_STR, offsetof(struct action_state, key)},
};

/* All enums here are small and start at 0. */
_Static_assert(sizeof(enum action_at) == sizeof(uint32_t) &&
                   sizeof(wend_outcome) == sizeof(uint32_t),
               "written as numbers");

/* ---- Writing ------------------------------------------------------------- */

static void put_str(struct buf *b, wend_str s)
{
    if (s.ptr)
        json_put_str(b, s);
    else
        buf_cstr(b, "null");
}

static void put_members(struct buf *b, const void *from, const struct member *m,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const void *at = (const char *)from + m[i].offset;

        buf_fmt(b, "%s\"%s\":", i ? "," : "", m[i].name);
        switch (m[i].kind) {
        case K_I64: buf_i64(b, *(const int64_t *)at); break;
        case K_ENUM:
        case K_U32: buf_i64(b, *(const uint32_t *)at); break;
        case K_BOOL: buf_cstr(b, *(const bool *)at ? "true" : "false"); break;
        case K_STR: put_str(b, *(const wend_str *)at); break;
        }
    }
}

/* Files of a result. */
static void put_parts(struct buf *b, const struct plan_parts *with)
{
    json_open(b, "parts", '[');
    for (size_t i = 0; with && i < with->count; i++) {
        json_key(b, NULL);
        part_write(b, &with->list[i]);
    }
    json_close(b, ']');
}

/* What a model has written, as it was handed over. */
static void put_written(struct buf *b, const struct plan *p)
{
    const char *before = "";

    buf_cstr(b, ",\"written\":{\"name\":");
    put_str(b, p->name);
    buf_fmt(b, ",\"open\":%s,\"max_parallel\":%lld,\"inputs\":{",
            p->open ? "true" : "false", (long long)p->max_parallel);
    for (uint32_t i = 0; i < p->keys.count; i++) {
        if (!p->inputs[i].ptr)
            continue;
        buf_cstr(b, before);
        json_put_str(b, p->keys.list[i]);
        buf_char(b, ':');
        json_put_str(b, p->inputs[i]);
        before = ",";
    }
    buf_cstr(b, "},\"actions\":[");
    for (uint32_t i = 0; i < p->count; i++) {
        if (i)
            buf_char(b, ',');
        json_put_str(b, p->actions[i]->json);
    }
    buf_cstr(b, "],\"learned\":[");
    for (uint32_t i = 0; i < p->count; i++) {
        if (i)
            buf_char(b, ',');
        buf_i64(b, p->actions[i]->learned_ms);
    }
    buf_cstr(b, "]}");
}

void plan_state_write(struct buf *b, const struct plan_state *p)
{
    if (!p->plan) {
        buf_cstr(b, "null");
        return;
    }
    buf_char(b, '{');
    put_members(b, p, plan_members, COUNT(plan_members));
    if (p->plan->written) {
        put_written(b, p->plan);
    } else {
        buf_cstr(b, ",\"json\":");
        put_str(b, p->plan->json);
    }
    for (uint32_t i = 0; p->learned_ms && i < p->plan->count; i++) {
        buf_cstr(b, i ? "," : ",\"learned\":[");
        buf_i64(b, p->learned_ms[i]);
        buf_cstr(b, i + 1 < p->plan->count ? "" : "]");
    }
    buf_cstr(b, ",\"actions\":[");
    for (uint32_t i = 0; p->started && i < p->plan->count; i++) {
        buf_cstr(b, i ? ",{" : "{");
        put_members(b, plan_action_state(p, i), action_members,
                    COUNT(action_members));
        put_parts(b, plan_action_state(p, i)->parts);
        buf_char(b, '}');
    }
    buf_cstr(b, "],\"files\":[");
    for (uint32_t i = 0; p->started && i < p->parts.count; i++) {
        json_open(b, NULL, '{');
        put_parts(b, plan_parts_of(p, i));
        json_close(b, '}');
    }
    buf_cstr(b, "],\"values\":[");
    for (uint32_t i = 0; p->started && i < p->values.count; i++) {
        const wend_str *v = pvec_get(&p->values, i);

        if (i)
            buf_char(b, ',');
        put_str(b, v ? *v : STR_NONE);
    }
    buf_cstr(b, "]}");
}

/* ---- Reading ------------------------------------------------------------- */

static bool read_members(const struct json *j, void *to, struct arena *a,
                         const struct member *m, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct json *e = json_get(j, m[i].name);
        void *at = (char *)to + m[i].offset;
        int64_t n = 0;

        if (!e)
            return false;
        switch (m[i].kind) {
        case K_I64:
            if (!json_i64(e, at))
                return false;
            break;
        case K_ENUM:
        case K_U32:
            if (!json_i64(e, &n) || n < 0 ||
                n > (m[i].kind == K_ENUM ? WEND_OUTCOME_SKIPPED : UINT32_MAX))
                return false;
            *(uint32_t *)at = (uint32_t)n;
            break;
        case K_BOOL: *(bool *)at = e->kind == JSON_TRUE; break;
        case K_STR: *(wend_str *)at = arena_str(a, json_str(e)); break;
        }
    }
    return true;
}

static const struct plan_parts *read_parts(const struct json *j,
                                           struct arena *a)
{
    struct plan_parts *with = arena_alloc(a, sizeof *with);

    if (with)
        with->list = parts_of(j, a, &with->count);
    return with && with->count ? with : NULL;
}

static bool read_actions(const struct json *list, struct arena *a,
                         struct plan_state *p)
{
    const struct json *e = list ? list->first : NULL;

    for (uint32_t i = 0; i < p->plan->count; i++, e = e->next) {
        struct action_state *s = arena_alloc(a, sizeof *s);

        if (!s || !e ||
            !read_members(e, s, a, action_members, COUNT(action_members)) ||
            s->at >= ACTION_ATS)
            return false;
        s->parts = read_parts(e, a);
        plan_keep_state(p, i, s, NULL);
    }
    return !e;
}

/* Empty, or of each slot. */
static bool read_files(const struct json *list, struct arena *a,
                       struct plan_state *p)
{
    const struct json *e = json_items(list);

    for (uint32_t i = 0; e && i < p->values.count; i++, e = e->next)
        plan_set_parts(p, i, read_parts(e, a), a);
    return !e && !a->failed;
}

static bool read_values(const struct json *list, struct arena *a,
                        struct plan_state *p)
{
    const struct json *e = list ? list->first : NULL;

    for (uint32_t i = 0; i < p->values.count; i++, e = e->next) {
        wend_str *v;

        if (!e)
            return false;
        if (e->kind == JSON_NULL)
            continue;
        v = arena_alloc(a, sizeof *v);
        if (!v)
            return false;
        *v = arena_str(a, json_str(e));
        pvec_set(&p->values, i, v, 0, NULL);
    }
    return !e;
}

static wend_status add_written(const struct json *j, const struct json *learned,
                               struct arena *a, struct plan **plan)
{
    int64_t ms = -1;
    struct plan_options o = {.learned_ms = &ms};

    if (!json_i64(learned, &ms) || ms < -1 || ms > LEARNED_MS_MAX)
        return WEND_E_PARSE;
    return plan_add(*plan, json_str(j), &o, a, plan, NULL);
}

static const struct plan *read_written(const struct json *j, bool wrong,
                                       struct arena *a)
{
    const struct json *inputs = json_get(j, "inputs");
    const struct json *actions = json_get(j, "actions");
    const struct json *learned = json_get(j, "learned");
    size_t count = inputs ? inputs->count : 0, n = 0;
    struct plan_set *sets = arena_alloc(a, (count + 1) * sizeof *sets);
    struct plan *plan = NULL;
    wend_status s;

    if (!sets)
        return NULL;
    for (const struct json *e = inputs ? inputs->first : NULL; e; e = e->next)
        sets[n++] = (struct plan_set){.name = e->key, .value = json_str(e)};
    s = plan_open(json_str(json_get(j, "name")), sets, count, a, &plan, NULL);
    if (!s && !json_i64(json_get(j, "max_parallel"), &plan->max_parallel))
        s = WEND_E_PARSE;
    learned = learned ? learned->first : NULL;
    for (const struct json *e = actions ? actions->first : NULL; e && !s;
         e = e->next, learned = learned ? learned->next : NULL)
        s = add_written(e, learned, a, &plan);
    if (s || !json_get(j, "open"))
        return NULL;
    if (json_get(j, "open")->kind == JSON_TRUE)
        return plan;
    if (wrong)
        return plan_close(plan, a);
    return plan_finish(plan, a, &plan, NULL) ? NULL : plan;
}

/* Durations by action, -1: nothing is known. */
static const int64_t *read_learned(const struct plan *p,
                                   const struct json *list, struct arena *a)
{
    int64_t *ms = arena_alloc(a, ((size_t)p->count + 1) * sizeof *ms);
    const struct json *j = list->first;

    for (uint32_t i = 0; ms && i < p->count; i++, j = j ? j->next : NULL)
        if (!json_i64(j, &ms[i]) || ms[i] < 0 || ms[i] > LEARNED_MS_MAX)
            ms[i] = -1;
    return ms;
}

bool plan_state_read(const struct json *j, struct arena *a,
                     struct plan_state *p)
{
    struct plan *plan = NULL;

    memset(p, 0, sizeof *p);
    if (!j || j->kind == JSON_NULL)
        return true;
    if (json_get(j, "written"))
        p->plan = read_written(json_get(j, "written"),
                               json_str(json_get(j, "wrong")).ptr, a);
    else if (!plan_parse(json_str(json_get(j, "json")), NULL, a, &plan, NULL))
        p->plan = plan;
    if (!p->plan)
        return false;
    if (!read_members(j, p, a, plan_members, COUNT(plan_members)))
        return false;
    if (json_get(j, "learned"))
        p->learned_ms = read_learned(p->plan, json_get(j, "learned"), a);
    return !p->started ||
           (plan_room(p, a) && read_actions(json_get(j, "actions"), a, p) &&
            read_files(json_get(j, "files"), a, p) &&
            read_values(json_get(j, "values"), a, p));
}
