/*
 * lib_world.h - what is around the library: clock, models, tools, hooks.
 *
 * Models are scripts, made up from the seed. Whoever is asked or called
 * looks first whether that is on record.
 */
#ifndef SIM_LIB_WORLD_H
#define SIM_LIB_WORLD_H

#include "lib_reader.h"

/* The simulator whose library is running: a driver has no context. */
static struct sim *sim_now;

/* ---- Clock and dice ------------------------------------------------------ */

/* A look at the clock takes a microsecond, or a loop that waits for time to
 * pass would never end. */
static int64_t env_clock(void *ctx)
{
    return ((struct sim *)ctx)->clock_us++;
}

static int64_t env_wall(void *ctx)
{
    struct sim *s = ctx;

    if (s->bug && s->bug->flush_always && s->rt && s->in_pump)
        rt_flush(s->rt);
    return 1763171411123456 + s->clock_us++ + s->wall_skew_us;
}

static void env_chance(void *ctx, void *out, size_t len)
{
    struct sim *s = ctx;
    unsigned char *p = out;

    while (len--)
        *p++ = (unsigned char)chance_next(&s->ids);
}

/* ---- On record? ---------------------------------------------------------- */

/* Whatever happens outside the library: is the run still its own? */
static void check_acts(struct sim *s, const struct known *k, const char *what)
{
    if (s->down)
        broken(s, LAW_FAILED, "run %u: %s after the store failed", k->place,
               what);
    if (k->stale_told)
        broken(s, LAW_STALE, "run %u: %s though it is stale", k->place, what);
    if (k->stop_acked)
        broken(s, LAW_AFTER, "run %u: %s", k->place, what);
}

static struct known *known_by_session(struct sim *s, const struct session *x)
{
    for (uint32_t i = 0; i < s->runs_count; i++)
        if (s->runs[i].handle && s->runs[i].handle->session == x)
            return &s->runs[i];
    abort();
}

static void spy_ask(struct session *x, const struct turn *t, int64_t ask)
{
    struct sim *s = sim_now;
    const struct known *k = known_by_session(s, x);

    trace(s, "run %u asks its model, attempt %lld", k->place, (long long)ask);
    if (k->asks < ask)
        broken(s, LAW_ACTED, "run %u: model asked %lld times, on record %lld",
               k->place, (long long)ask, (long long)k->asks);
    check_acts(s, k, "its model is asked");
    s->script_ops->ask(x, t, ask);
}

static void spy_on(struct sim *s, wend_agent *a)
{
    static struct driver_ops spy;

    s->script_ops = a->driver->ops;
    spy = *s->script_ops;
    spy.ask = spy_ask;
    a->driver->ops = &spy;
}

/* ---- Scripts ------------------------------------------------------------- */

static void put_text(struct sim *s, struct buf *b, const char *key,
                     uint32_t len)
{
    static const char *const words[] = {"so ", "many ", "words\\n", "\xc3\xa9",
                                        "x",   "0123",  "${turn}",  "a b c "};
    size_t end;

    buf_fmt(b, "\"%s\":\"", key);
    end = b->len + len;
    while (b->len < end)
        buf_cstr(b, chance_pick(&s->chance, words));
    buf_cstr(b, "\",");
}

static uint32_t some_length(struct sim *s)
{
    static const uint32_t lengths[] = {1, 5, 12, 30, 60, 60, 150, 700};

    if (s->mood.calm)
        return 20;
    if (chance_of(&s->chance, 30))
        return 3000;
    return chance_pick(&s->chance, lengths);
}

static void put_calls(struct sim *s, struct buf *b)
{
    uint32_t count = 1 + chance_below(&s->chance, 3);

    buf_cstr(b, "\"calls\":[");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t tool = chance_below(&s->chance, TOOLS);

        buf_fmt(b, "%s{\"name\":\"t%u\"", i ? "," : "",
                s->mood.calm ? 0 : tool);
        if (!s->mood.calm && chance_of(&s->chance, 40))
            buf_cstr(b, ",\"args_text\":\"{\\\"a\"}");
        else
            buf_fmt(b, ",\"args\":{\"a\":%u}}", chance_below(&s->chance, 9));
    }
    buf_cstr(b, "],");
}

/* `fast` for a long text, which would take for ever. */
static void put_pace(struct sim *s, struct buf *b, bool fast)
{
    static const char *const delays[] = {"0s",   "0s",   "1ms",  "3ms",
                                         "20ms", "60ms", "900ms"};
    static const char *const quick[] = {"0s", "0s", "1ms", "3ms"};
    static const char *const codes[] = {"service", "network", "invalid"};

    buf_fmt(b, "\"chunk\":%u,", 1 + chance_below(&s->chance, 6));
    if (s->mood.calm)
        return;
    buf_fmt(b, "\"delay\":\"%s\",",
            fast ? chance_pick(&s->chance, quick)
                 : chance_pick(&s->chance, delays));
    if (chance_of(&s->chance, 300))
        buf_fmt(b, "\"first_delay\":\"%s\",", chance_pick(&s->chance, delays));
    if (chance_of(&s->chance, 120))
        buf_fmt(b, "\"error\":{\"code\":\"%s\",\"after\":%u},",
                chance_pick(&s->chance, codes),
                chance_of(&s->chance, 500) ? 0 : chance_below(&s->chance, 30));
}

static void put_entry(struct sim *s, struct buf *b, bool calls)
{
    size_t began = b->len;

    buf_char(b, '{');
    if (!s->mood.calm && chance_of(&s->chance, 250))
        put_text(s, b, "thinking", some_length(s));
    if (!calls || chance_of(&s->chance, 600))
        put_text(s, b, "text", some_length(s));
    if (calls)
        put_calls(s, b);
    put_pace(s, b, b->len - began > 200);
    buf_fmt(b, "\"usage\":{\"input\":%u,\"output\":2}}",
            chance_below(&s->chance, 50));
}

/* More than the store can take at once, in a few large pieces. */
static void put_flood(struct buf *b)
{
    buf_cstr(b, "{\"delay\":\"1ms\",\"chunk\":16000,\"text\":\"");
    for (int i = 0; i < 4 << 20; i += 64)
        buf_cstr(b, "many words many words many words many words many words "
                    "many wrd");
    buf_cstr(b, "\"}");
}

static void put_script(struct sim *s, struct buf *b, bool repairs)
{
    uint32_t turns = s->mood.calm ? 3 : 1 + chance_below(&s->chance, 4);

    buf_cstr(b, "script:{\"turns\":[");
    for (uint32_t i = 0; i < turns; i++) {
        put_entry(s, b, s->mood.calm || chance_of(&s->chance, 750));
        buf_char(b, ',');
    }
    s->tool_turns = turns;
    if (s->mood.flood)
        put_flood(b);
    else
        put_entry(s, b, false);
    if (repairs) {
        buf_cstr(b, ",{\"purpose\":\"repair\",");
        put_pace(s, b, false);
        buf_fmt(b, "\"text\":\"%s\"}",
                chance_of(&s->chance, 500) ? "{}" : "not at all");
    }
    buf_cstr(b, "]}");
}

/* ---- Tools --------------------------------------------------------------- */

static void keep_call(struct sim *s, wend_call *call)
{
    struct kept_call *c = &s->kept[s->kept_count++];

    c->call = call;
    c->due_us = chance_of(&s->chance, s->mood.never)
                    ? INT64_MAX
                    : s->clock_us + chance_below(&s->chance, 3000) * 1000;
}

/* For a bug: as if it had not been answered. */
static void unanswer(wend_call *call)
{
    struct mailbox *b = call->mailbox;
    struct post **link = &b->first;

    while (*link && *link != &call->post)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = call->post.next;
    while (*link)
        link = &(*link)->next;
    b->tail = link;
    atomic_store(&call->answered, false);
}

/* The second answer must be told so; the call is there until the pump. */
static void answer(struct sim *s, wend_call *call)
{
    bool twice = chance_of(&s->chance, 200);
    wend_status st = chance_of(&s->chance, 800)
                         ? wend_call_return(call, STR("result"))
                         : wend_call_fail(call, "it broke");

    if (st != WEND_OK)
        broken(s, LAW_MISUSE, "an answer says %s", wend_status_name(st));
    if (s->rt && twice && s->bug && s->bug->answer_twice)
        unanswer(call);
    if (s->rt && twice && wend_call_fail(call, "again") != WEND_E_MISUSE)
        broken(s, LAW_MISUSE, "a second answer is taken");
}

static void act_inside(struct sim *s, struct known *k)
{
    const wend_event *ev;

    if (!chance_of(&s->chance, 60))
        return;
    if (wend_run_next(k->handle, &ev) != WEND_E_MISUSE ||
        wend_runtime_pump(s->rt) != WEND_E_MISUSE)
        broken(s, LAW_MISUSE, "a callback can wait");
    wend_run_free(k->handle);
    if (s->mood.say)
        wend_run_say(k->handle, STR("from inside"));
    if (s->mood.pause && chance_of(&s->chance, 300))
        wend_run_pause(k->handle);
}

static struct known *check_call(struct sim *s, const wend_call *call)
{
    wend_str key = wend_call_key(call);
    struct known *k = known_by_id(s, (wend_str){key.ptr, 36});

    trace(s, "run %u calls %.*s", k->place, (int)key.len, key.ptr);
    if (!set_count(&k->starts, hash_of(key)))
        broken(s, LAW_ACTED, "run %u: call %.*s is not on record", k->place,
               (int)key.len, key.ptr);
    /* Once for each call_start, of which a resume may write another. */
    if (set_count(&k->made, hash_of(key)) >=
        set_count(&k->starts, hash_of(key)))
        broken(s, LAW_MADE, "run %u: call %.*s", k->place, (int)key.len,
               key.ptr);
    s->counters->again += set_count(&k->made, hash_of(key)) > 0;
    set_add(&k->made, hash_of(key));
    check_acts(s, k, "a tool is called");
    return k;
}

static wend_status tool(void *ctx, wend_call *call)
{
    struct sim *s = ctx;

    act_inside(s, check_call(s, call));
    if (chance_of(&s->chance, s->mood.progress))
        wend_call_progress(call, "getting on");
    if (s->mood.calm || s->kept_count == KEPT_MAX ||
        chance_of(&s->chance, 500)) {
        if (!s->mood.calm && chance_of(&s->chance, 60))
            return WEND_E_IO; /* answers with a failure */
        answer(s, call);
    } else {
        keep_call(s, call);
    }
    return WEND_OK;
}

/* ---- Hooks --------------------------------------------------------------- */

static bool on_record(const struct known *k, const wend_hook *h)
{
    struct buf key = {.mem = &reader_mem};
    bool known = false;

    switch (h->point) {
    case WEND_HOOK_TURN_BEFORE:
    case WEND_HOOK_MODEL_BEFORE: return k->turns_begun > h->turn;
    case WEND_HOOK_MODEL_AFTER:
    case WEND_HOOK_CALL_BEFORE: return k->messages_begun > h->turn;
    case WEND_HOOK_TURN_AFTER: return k->turns_ended > h->turn;
    case WEND_HOOK_CALL_AFTER:
        buf_fmt(&key, "%s/%u/%.*s", k->id, h->turn, (int)h->call.len,
                h->call.ptr);
        known = set_count(&k->starts, hash_of(buf_view(&key))) == 1;
        buf_free(&key);
    }
    return known;
}

static wend_hook_answer hook(void *ctx, wend_hook *h)
{
    struct known *k = ctx;
    struct sim *s = k->reader->sim;
    uint32_t turn = h->turn % TURNS_KNOWN, dice;

    s->counters->hooks++;
    trace(s, "run %u hook %d turn %u", k->place, (int)h->point, h->turn);
    if (!on_record(k, h))
        broken(s, LAW_ACTED, "run %u: hook %d of turn %u is not on record",
               k->place, (int)h->point, h->turn);
    if (s->down)
        broken(s, LAW_FAILED, "run %u: a hook after the store failed",
               k->place);
    if ((h->point == WEND_HOOK_TURN_BEFORE && k->heard_before[turn]++) ||
        (h->point == WEND_HOOK_TURN_AFTER && k->heard_after[turn]++))
        broken(s, LAW_HOOK, "run %u: hook %d of turn %u comes twice", k->place,
               (int)h->point, h->turn);
    act_inside(s, k);
    if (k->handle->turn.paused)
        k->heard_before[turn] = 0; /* asked again when it goes on */
    dice = chance_below(&s->chance, 1000);
    if (dice > 60)
        return WEND_HOOK_GO;
    h->text = chance_of(&s->chance, 900) ? STR("{\"hook\":1}") : STR("{");
    return dice < 30   ? WEND_HOOK_CHANGE
           : dice < 50 ? WEND_HOOK_SKIP
                       : WEND_HOOK_STOP;
}

/* ---- Agents -------------------------------------------------------------- */

static void add_tools(struct sim *s, wend_agent *a)
{
    static const char *const names[TOOLS] = {"t0", "t1", "t2",
                                             "t3", "t4", "missing"};
    wend_tool_options t = {.size = sizeof t, .fn = tool, .ctx = s};

    for (int i = 0; i < TOOLS - 1; i++) {
        t.name = names[i];
        t.call_class =
            i ? (wend_class)chance_below(&s->chance, 3) : WEND_CLASS_READ;
        t.concurrent = chance_of(&s->chance, 200);
        t.timeout_ms = 100 + chance_below(&s->chance, 4000);
        if (wend_agent_add_tool(a, &t, NULL) != WEND_OK)
            abort();
    }
}

static wend_agent *make_agent(struct sim *s)
{
    wend_agent_options o = {.size = sizeof o};
    struct buf script = {.mem = &reader_mem};
    wend_agent *a = NULL;
    wend_error err = {0};

    if (!s->mood.calm && !s->mood.flood && chance_of(&s->chance, 250))
        o.schema = "{\"type\":\"object\"}";
    put_script(s, &script, o.schema != NULL);
    o.model = script.ptr;
    o.cwd = "/";
    o.limits.turns = s->mood.calm ? 50 : 1 + chance_below(&s->chance, 8);
    o.limits.parallel = s->mood.calm ? 4 : 1 + chance_below(&s->chance, 4);
    if (!s->mood.calm && chance_of(&s->chance, 100))
        o.limits.time_ms = 1 + chance_below(&s->chance, 3000);
    o.eager = (wend_eager)chance_below(&s->chance, 3);
    o.approve =
        chance_of(&s->chance, 700) ? WEND_APPROVE_ALL : WEND_APPROVE_ASK;
    if (wend_agent_new(s->rt, &o, &a, &err) != WEND_OK) {
        fprintf(stderr, "agent: %s\n", err.message);
        abort();
    }
    buf_free(&script);
    spy_on(s, a);
    add_tools(s, a);
    return a;
}

#endif
