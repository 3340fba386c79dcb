/*
 * world.c - what is around the library: models, tools, hooks, agents.
 *
 * Models are scripts or talk over a network (net.c), tools are functions
 * or programs (program.c). Each question and each call is first
 * looked up in the record.
 */
#include "lib/plan/action.h"
#include "reader.h"
#include "record.h"
#include "script.h"
#include "world.h"

/* The simulator whose library is running: a driver has no context. */
struct sim *sim_now;

/* ---- The clock ----------------------------------------------------------- */

/* A bug hands everything to the store whenever it can. */
int64_t env_clock(void *ctx)
{
    struct sim *s = sim_of_world(ctx);
    int64_t now_us = s->world.clock_us++;

    if (s->head.bug && s->head.bug->flush_always && s->rt && s->in_pump &&
        !s->in_flush) {
        s->in_flush = true;
        rt_flush(s->rt);
        s->in_flush = false;
    }
    return now_us;
}

int64_t env_wall(void *ctx)
{
    struct sim *s = sim_of_world(ctx);

    return s->world.clock_us++ + s->world.ahead_us;
}

/* Nothing here waits without a limit. */
void on_stuck(struct world *w)
{
    (void)w;
    abort();
}

/* ---- Models -------------------------------------------------------------- */

static struct wend_run *run_of_session(struct sim *s, const struct session *x)
{
    for (struct wend_run *r = s->rt->runs; r; r = r->next) {
        if (r->session == x)
            return r;
        for (const struct action_ask *a = r->asks; a; a = a->next)
            if (a->session == x)
                return r;
    }
    abort();
}

struct known *known_by_session(struct sim *s, const struct session *x)
{
    return known_by_id(s, str_of(run_of_session(s, x)->id));
}

static void spy_ask(struct session *x, const struct turn *t, int64_t ask)
{
    struct sim *s = sim_now;
    struct known *k = known_by_session(s, x);
    const struct spy *spy = (const struct spy *)(const void *)x->ops;
    bool of_turn = run_of_session(s, x)->session == x;
    int64_t asked = of_turn ? ask : ++k->action_asks;

    trace(s, "run %u asks its model, attempt %lld", k->place, (long long)ask);
    s->head.counters->action_asks += !of_turn;
    if (k->asks < asked)
        broken(s, LAW_ACTED, "run %u: model asked %lld times, on record %lld",
               k->place, (long long)asked, (long long)k->asks);
    check_acts(s, k, "its model is asked");
    spy->real->ask(x, t, ask);
}

static void spy_on(struct spy *spy, wend_agent *a)
{
    spy->real = a->driver->ops;
    spy->ops = *spy->real;
    spy->ops.ask = spy_ask;
    a->driver->ops = &spy->ops;
}

/* ---- Tools --------------------------------------------------------------- */

static void keep_call(struct sim *s, wend_call *call)
{
    struct kept_call *c = &s->kept[s->kept_count++];

    c->call = call;
    c->due_us = chance_of(&s->chance, s->mood.never)
                    ? INT64_MAX
                    : s->world.clock_us + chance_below(&s->chance, 3000) * 1000;
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
void answer(struct sim *s, wend_call *call)
{
    bool twice = chance_of(&s->chance, 200);
    wend_status st = chance_of(&s->chance, 800)
                         ? wend_call_return(call, STR("result"))
                         : wend_call_fail(call, "it broke");

    if (st != WEND_OK)
        broken(s, LAW_MISUSE, "an answer says %s", wend_status_name(st));
    if (s->rt && twice && s->head.bug && s->head.bug->answer_twice)
        unanswer(call);
    if (s->rt && twice && wend_call_fail(call, "again") != WEND_E_MISUSE)
        broken(s, LAW_MISUSE, "a second answer is taken");
}

static void act_inside(struct sim *s, struct known *k)
{
    const wend_event *ev;

    if (!k->handle || !chance_of(&s->chance, 60))
        return;
    if (wend_run_next(k->handle, &ev) != WEND_E_MISUSE ||
        wend_runtime_pump(s->rt) != WEND_E_MISUSE)
        broken(s, LAW_MISUSE, "a callback can wait");
    if (s->mood.say)
        wend_run_say(k->handle, STR("from inside"));
    if (s->mood.pause && chance_of(&s->chance, 300))
        wend_run_pause(k->handle);
}

wend_status tool(void *ctx, wend_call *call)
{
    struct sim *s = ctx;

    act_inside(s, check_call(s, wend_call_key(call)));
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
    struct buf key = {.mem = &libc_mem};
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
        known = set_count(&k->starts, hash_of(buf_view(&key))) == 1 ||
                set_count(&k->act_ids, hash_of(h->call)) > 0;
        buf_free(&key);
    }
    return known;
}

wend_hook_answer hook(void *ctx, wend_hook *h)
{
    struct known *k = ctx;
    struct sim *s = k->reader->sim;
    uint32_t turn = h->turn % TURNS_KNOWN, dice;

    s->head.counters->hooks++;
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

/* As if on a worker: from there nothing but its own call can be reached. */
static wend_status tool_on_worker(void *ctx, wend_call *call)
{
    struct sim *s = ctx;

    check_call(s, wend_call_key(call));
    wend_call_progress(call, "at work");
    answer(s, call);
    return WEND_OK;
}

static void add_program(struct sim *s, wend_agent *a,
                        const wend_tool_options *t)
{
    static const char *const argv[] = {"program"};
    wend_command_options o = {.size = sizeof o,
                              .name = t->name,
                              .argv = argv,
                              .argv_count = 1,
                              .call_class = t->call_class,
                              .concurrent = t->concurrent,
                              .timeout_ms = t->timeout_ms,
                              .sandbox_off = true};

    o.output_json = chance_of(&s->chance, 100);
    if (wend_agent_add_command(a, &o, NULL) != WEND_OK)
        abort();
}

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
        t.threaded = !s->mood.calm && chance_of(&s->chance, 150);
        t.fn = t.threaded ? tool_on_worker : tool;
        if (chance_of(&s->chance, s->mood.programs)) {
            add_program(s, a, &t);
            continue;
        }
        if (wend_agent_add_tool(a, &t, NULL) != WEND_OK)
            abort();
    }
}

/* Where it is remembered which tools a server may have. */
char pins_file[256];

static void add_server(wend_agent *a)
{
    static const char *const command[] = {"server", NULL};
    wend_mcp_options o = {.size = sizeof o,
                          .name = "srv",
                          .command = command,
                          .sandbox_off = true,
                          .trust = true,
                          .timeout_ms = 5000,
                          .pins_file = pins_file};
    wend_error err = {0};

    if (wend_agent_add_mcp(a, &o, &err) != WEND_OK) {
        fprintf(stderr, "server: %s\n", err.message);
        abort();
    }
}

static void add_web(wend_agent *a)
{
    static const char relic[] =
        "wend: relic/1\nname: svc\nkind: http\nbase_url: http://api.test/v\n"
        "timeout: 3s\nendpoints:\n"
        "  get: {path: \"/${key}\", output: json}\n"
        "  put: {method: POST, path: \"/${key}\"}\n";
    wend_error err = {0};

    if (wend_agent_add_relic(a, str_of(relic), NULL, &err) != WEND_OK ||
        wend_agent_add_kv(a, "kv", 0, &err) != WEND_OK ||
        wend_agent_add_builtin(a, "http_request", &err) != WEND_OK) {
        fprintf(stderr, "web: %s\n", err.message);
        abort();
    }
}

static void pick_model(struct sim *s, wend_agent_options *o, struct buf *script)
{
    if (chance_of(&s->chance, s->mood.wired)) {
        o->model = chance_of(&s->chance, 500) ? "openai:sim" : "anthropic:sim";
        o->base_url = "http://sim.test/v1";
        return;
    }
    if (!s->mood.calm && !s->mood.flood && chance_of(&s->chance, 250))
        o->schema = "{\"type\":\"object\"}";
    put_script(s, script, o->schema != NULL);
    o->model = script->ptr;
}

static wend_agent *agent_new(struct sim *s, struct spy *spy)
{
    wend_agent_options o = {.size = sizeof o};
    struct buf script = {.mem = &libc_mem};
    wend_agent *a = NULL;
    wend_error err = {0};

    pick_model(s, &o, &script);
    o.cwd = "/";
    o.limits.turns = s->mood.calm ? 50 : 1 + chance_below(&s->chance, 8);
    o.limits.parallel = s->mood.calm ? 4 : 1 + chance_below(&s->chance, 4);
    if (!s->mood.calm && chance_of(&s->chance, 100))
        o.limits.time_ms = 1 + chance_below(&s->chance, 3000);
    o.eager = (wend_eager)chance_below(&s->chance, 3);
    o.approve =
        chance_of(&s->chance, 700) ? WEND_APPROVE_ALL : WEND_APPROVE_ASK;
    o.on_unknown = (wend_unknown)chance_below(&s->chance, 4);
    if (!s->mood.calm && !s->mood.flood && chance_of(&s->chance, 250))
        o.context_tokens = 300 + chance_below(&s->chance, 3000);
    if (wend_agent_new(s->rt, &o, &a, &err) != WEND_OK) {
        fprintf(stderr, "agent: %s\n", err.message);
        abort();
    }
    buf_free(&script);
    spy_on(spy, a);
    add_tools(s, a);
    if (s->mood.web)
        add_web(a);
    if (s->mood.served)
        add_server(a);
    return a;
}

static void add_child(wend_agent *a, wend_agent *child)
{
    wend_child_options o = {.size = sizeof o, .name = "kid", .agent = child};
    wend_error err = {0};

    if (wend_agent_add_agent(a, &o, &err) != WEND_OK ||
        wend_agent_add_builtin(a, "task", &err) != WEND_OK) {
        fprintf(stderr, "kid: %s\n", err.message);
        abort();
    }
}

/* The programs of two processes are the same one. */
void make_agents(struct sim *s)
{
    struct chance was = s->chance;
    uint64_t fail_at = s->head.fault.fail_at;

    s->head.fault.fail_at = 0;
    for (int i = 2; i--;) {
        s->chance.state = s->agent_seeds[i];
        s->agents[i] = agent_new(s, &s->spies[i]);
    }
    if (s->mood.children)
        add_child(s->agents[0], s->agents[1]);
    s->chance = was;
    s->head.fault.fail_at = fail_at;
}
