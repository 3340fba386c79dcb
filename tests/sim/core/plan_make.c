/*
 * plan_make.c - random plans: what a run starts with that is one.
 */
#include "plan_book.h"
#include "plan_make.h"

/* ---- What is written ----------------------------------------------------- */

static void make_target(struct sim *s, struct made_action *m)
{
    static const enum action_type types[] = {
        ACTION_TOOL, ACTION_TOOL,  ACTION_TOOL,     ACTION_TOOL,
        ACTION_LLM,  ACTION_AGENT, ACTION_WORKFLOW, ACTION_DECISION};
    uint32_t tools = (uint32_t)s->config->tools_count;

    m->type = chance_pick(&s->chance, types);
    if (m->type == ACTION_TOOL && tools && chance_of(&s->chance, 950))
        m->tool = &s->config->tools[chance_below(&s->chance, tools)];
    m->cached = m->type != ACTION_DECISION && chance_of(&s->chance, 150);
    m->class_ = m->type != ACTION_DECISION && chance_of(&s->chance, 200)
                    ? (int)chance_below(&s->chance, 3)
                    : -1;
}

static void make_action(struct sim *s, struct made_plan *p, uint32_t i)
{
    static const enum action_mode modes[] = {ACTION_ASYNC, ACTION_ASYNC,
                                             ACTION_SYNC, ACTION_FORGET};
    struct made_action *m = &p->a[i];

    m->fallback = m->fallback_of = m->chosen = m->other = m->of = m->files =
        NO_ACTION;
    make_target(s, m);
    m->mode = m->type == ACTION_DECISION ? ACTION_SYNC
                                         : chance_pick(&s->chance, modes);
    for (uint32_t d = 0; d < i; d++)
        if (chance_of(&s->chance, 250))
            m->deps |= 1U << d;
    m->any = chance_of(&s->chance, 150);
    m->skip_on_error = chance_of(&s->chance, 100);
    m->never = chance_of(&s->chance, 80);
    if (m->type != ACTION_DECISION && chance_of(&s->chance, 300))
        m->retry_max = 1 + chance_below(&s->chance, 2);
}

/* A later action that is not named yet and waits for none after i. */
static int make_name(struct sim *s, const struct made_plan *p, uint32_t i)
{
    uint32_t at = i + 1 + chance_below(&s->chance, 3);
    const struct made_action *m = at < p->count ? &p->a[at] : NULL;

    if (!m || m->fallback_of != NO_ACTION || m->type == ACTION_DECISION ||
        (m->deps >> i) != 0)
        return NO_ACTION;
    return (int)at;
}

/* What an action or a decision names comes after it. */
static void make_names(struct sim *s, struct made_plan *p, uint32_t i)
{
    struct made_action *m = &p->a[i];

    if (m->type == ACTION_DECISION) {
        m->chosen = make_name(s, p, i);
        m->other = make_name(s, p, i);
        if (m->chosen == m->other)
            m->other = NO_ACTION;
        if (m->chosen != NO_ACTION)
            p->a[m->chosen].deps |= 1U << i;
        if (m->other != NO_ACTION)
            p->a[m->other].deps |= 1U << i;
    } else if (m->mode != ACTION_FORGET && chance_of(&s->chance, 150)) {
        m->fallback = make_name(s, p, i);
        if (m->fallback != NO_ACTION)
            p->a[m->fallback].fallback_of = (int)i;
    }
}

/* ---- As JSON ------------------------------------------------------------- */

static void put_deps(struct buf *b, const struct made_plan *p, uint32_t i)
{
    bool any = false;

    for (uint32_t d = 0; d < i; d++) {
        const struct made_action *m = &p->a[d];

        if (!(p->a[i].deps >> d & 1) || m->chosen == (int)i ||
            m->other == (int)i) /* the decision says so */
            continue;
        buf_fmt(b, "%s\"a%u\"", any ? "," : ",\"depends_on\":[", d);
        any = true;
    }
    if (any)
        buf_char(b, ']');
}

static void put_cases(struct buf *b, const struct made_action *m)
{
    buf_cstr(b, ",\"cases\":[");
    if (m->chosen != NO_ACTION)
        buf_fmt(b, "{\"when\":\"$on\",\"then\":[\"a%d\"]}", m->chosen);
    else
        buf_cstr(b, "{\"when\":\"not $on\",\"then\":[]}");
    if (m->other != NO_ACTION)
        buf_fmt(b, ",{\"else\":[\"a%d\"]}", m->other);
    buf_char(b, ']');
}

/* An action that i waits for, directly or not; or NO_ACTION. */
static int make_of(struct sim *s, const struct made_plan *p, uint32_t i)
{
    int of = NO_ACTION;

    for (uint32_t at = i; p->a[at].deps;) {
        uint32_t d = chance_below(&s->chance, i);

        if (!(p->a[at].deps >> d & 1))
            continue;
        at = d;
        if (p->a[d].mode != ACTION_FORGET && p->a[d].type != ACTION_DECISION)
            of = (int)d;
        if (chance_of(&s->chance, 500))
            break;
    }
    return of;
}

/* The first tool that it waits for, whose files it gets. */
static int first_tool(const struct made_plan *p, uint32_t i)
{
    for (uint32_t d = 0; d < i; d++)
        if (p->a[i].deps >> d & 1 && p->a[d].type == ACTION_TOOL &&
            p->a[d].mode != ACTION_FORGET)
            return (int)d;
    return NO_ACTION;
}

/* What its target gets: now and then what one before it gave. */
static void put_given(struct sim *s, struct buf *b, struct made_plan *p,
                      uint32_t i)
{
    struct made_action *m = &p->a[i];

    if (chance_of(&s->chance, 500))
        m->of = make_of(s, p, i);
    if (m->type == ACTION_TOOL || m->type == ACTION_WORKFLOW)
        buf_cstr(b, ",\"params\":{\"n\":\"");
    else
        buf_cstr(b, ",\"prompt\":\"say ");
    if (m->of != NO_ACTION)
        buf_fmt(b, "${k%d}", m->of);
    else
        buf_cstr(b, "$on");
    buf_cstr(b, m->type == ACTION_TOOL || m->type == ACTION_WORKFLOW ? "\"}"
                                                                     : "\"");
    m->files = m->type == ACTION_TOOL ? NO_ACTION : first_tool(p, i);
    if (m->files == NO_ACTION)
        return;
    buf_fmt(b,
            m->type == ACTION_WORKFLOW ? ",\"files\":{\"f\":\"$k%d\"}"
                                       : ",\"files\":[\"$k%d\"]",
            m->files);
}

static void put_target(struct sim *s, struct buf *b, struct made_plan *p,
                       uint32_t i)
{
    static const char *const classes[] = {
        [WEND_CLASS_UNSAFE] = "unsafe",
        [WEND_CLASS_IDEMPOTENT] = "idempotent",
        [WEND_CLASS_READ] = "read",
    };
    const struct made_action *m = &p->a[i];
    wend_str target = m->type == ACTION_TOOL
                          ? (m->tool ? m->tool->name : STR("nothing"))
                      : m->type == ACTION_LLM ? STR("default")
                                              : STR("kid");

    buf_fmt(b, ",\"target\":\"%.*s\",\"output_key\":\"k%u\"", (int)target.len,
            target.ptr, i);
    put_given(s, b, p, i);
    if (m->class_ >= 0)
        buf_fmt(b, ",\"class\":\"%s\"", classes[m->class_]);
    if (m->cached)
        buf_cstr(b, ",\"cache\":{\"ttl\":\"1h\"}");
    if (m->retry_max)
        buf_fmt(b, ",\"retry\":{\"max\":%lld,\"delay\":\"5ms\"}",
                (long long)m->retry_max);
    buf_fmt(b, ",\"mode\":\"%s\"", action_mode_names[m->mode]);
}

static void put_made(struct sim *s, struct buf *b, struct made_plan *p,
                     uint32_t i)
{
    const struct made_action *m = &p->a[i];

    buf_fmt(b, "%s{\"name\":\"a%u\",\"type\":\"%s\"", i ? "," : "", i,
            action_type_names[m->type]);
    if (m->type == ACTION_DECISION)
        put_cases(b, m);
    else
        put_target(s, b, p, i);
    put_deps(b, p, i);
    if (m->any)
        buf_cstr(b, ",\"wait_for_all\":false");
    if (m->skip_on_error)
        buf_cstr(b, ",\"skip_on_error\":true");
    if (m->never)
        buf_cstr(b, ",\"when\":\"not $on\"");
    if (m->fallback != NO_ACTION)
        buf_fmt(b, ",\"fallback\":\"a%d\"", m->fallback);
    buf_char(b, '}');
}

static void make_plan(struct sim *s, struct buf *b)
{
    struct made_plan *p = &s->made;

    memset(p, 0, sizeof *p);
    p->count = 1 + chance_below(&s->chance, ACTIONS_MAX);
    p->slots = chance_of(&s->chance, 150) ? 0 : 1 + chance_below(&s->chance, 4);
    p->fail_fast = chance_of(&s->chance, 200);
    p->continues = chance_of(&s->chance, 200);
    for (uint32_t i = 0; i < p->count; i++)
        make_action(s, p, i);
    for (uint32_t i = 0; i < p->count; i++)
        make_names(s, p, i);
    buf_clear(b);
    buf_cstr(b, "{\"wend\":\"plan/1\",\"name\":\"p\",\"missing_ref\":\"null\"");
    if (p->slots)
        buf_fmt(b, ",\"max_parallel\":%lld", (long long)p->slots);
    else
        buf_cstr(b, ",\"max_parallel\":\"auto\"");
    if (p->fail_fast)
        buf_cstr(b, ",\"fail_fast\":true");
    if (p->continues)
        buf_cstr(b, ",\"on_failure\":\"continue\"");
    buf_cstr(b, ",\"inputs\":{\"on\":true},\"actions\":[");
    for (uint32_t i = 0; i < p->count; i++)
        put_made(s, b, p, i);
    buf_cstr(b, "]}");
}

/* Of a run that is a plan: the start says so. */
void start_with_plan(struct sim *s)
{
    struct buf b = {.mem = &s->mem};
    struct plan *plan = NULL;
    wend_error err = {0};

    for (int tries = 0; tries < 40 && !plan; tries++) {
        make_plan(s, &b);
        if (plan_parse(buf_view(&b), NULL, &s->world, &plan, &err) != WEND_OK)
            plan = NULL;
    }
    if (!plan)
        broken(s, "the simulator's own", "its plan does not parse: %s: %.200s",
               err.message, b.ptr);
    else
        s->start.plan_json = plan->json;
    s->book.plan.made = &s->made;
    buf_free(&b);
}
