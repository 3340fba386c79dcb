/*
 * test_run_life.c - what outlives what, and what comes late: stores that
 * answer when they like, tools at work when all else is gone, stores that
 * several runtimes share.
 */
#include "run_help.h"
#include "store/store.h"

static char folder[] = "/tmp/wend-life-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- A store that answers when told --------------------------------------
 */

enum { HELD_MAX = 64 };

struct late {
    wend_store base;
    wend_store *inner;
    struct store_batch *held[HELD_MAX];
    int count, appends;
    bool hold;
};

static void late_append(wend_store *s, struct store_batch *b)
{
    struct late *l = (struct late *)s;

    l->appends++;
    if (l->hold && l->count < HELD_MAX)
        l->held[l->count++] = b;
    else
        l->inner->ops->append(l->inner, b);
}

static wend_status late_read(wend_store *s, wend_str run,
                             struct store_place from, uint32_t max,
                             store_item_fn fn, void *ctx, wend_error *err)
{
    wend_store *inner = ((struct late *)s)->inner;

    return inner->ops->read(inner, run, from, max, fn, ctx, err);
}

static wend_status late_take(wend_store *s, store_request_fn fn, void *ctx,
                             wend_error *err)
{
    wend_store *inner = ((struct late *)s)->inner;

    return inner->ops->take(inner, fn, ctx, err);
}

static wend_status late_failure(wend_store *s, wend_error *err)
{
    wend_store *inner = ((struct late *)s)->inner;

    return inner->ops->failure(inner, err);
}

static void late_free(wend_store *s)
{
    wend_store_free(((struct late *)s)->inner);
}

static const struct store_ops late_ops = {
    .free = late_free,
    .append = late_append,
    .read = late_read,
    .take = late_take,
    .failure = late_failure,
};

static bool late_rig(struct rig *r, struct late *l, const char *script)
{
    wend_runtime_options o = {.size = sizeof o, .store = &l->base};

    store_init(&l->base, &late_ops);
    r->agent_options.size = sizeof r->agent_options;
    r->agent_options.model = script;
    r->store = &l->base;
    return wend_store_open("memory:", &l->inner, &r->err) == WEND_OK &&
           wend_runtime_new(&o, &r->rt, &r->err) == WEND_OK &&
           wend_agent_new(r->rt, &r->agent_options, &r->agent, &r->err) ==
               WEND_OK;
}

static void late_release(struct late *l)
{
    l->hold = false;
    for (int i = 0; i < l->count; i++)
        if (l->held[i])
            l->inner->ops->append(l->inner, l->held[i]);
    l->count = 0;
}

static bool late_holds(const struct late *l, wend_event_type type)
{
    for (int i = 0; i < l->count; i++)
        for (size_t e = 0; e < l->held[i]->events_count; e++)
            if (l->held[i]->events[e].type == type)
                return true;
    return false;
}

static wend_status tool_count(void *ctx, wend_call *call)
{
    ++*(int *)ctx;
    return wend_call_return(call, STR("done"));
}

/* call_start is on its way to the disk when the run is canceled. */
static void test_cancel_on_the_way(void)
{
    struct rig r = {.err = {0}};
    struct late l = {.count = 0};
    struct buf names = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;
    int calls = 0;

    r.agent_options.approve = WEND_APPROVE_ALL;
    late_rig(&r, &l,
             "script:{\"turns\":[{\"first_delay\":\"20ms\",\"calls\":[{"
             "\"name\":\"count\"}]},{\"text\":\"end\"}]}");
    rig_add(&r, "count", tool_count, WEND_CLASS_UNSAFE, &calls);
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_MODEL_START)
        continue;
    l.hold = true;
    while (!late_holds(&l, WEND_CALL_START))
        wend_runtime_pump(r.rt);
    wend_run_cancel(run);
    while (!late_holds(&l, WEND_CONTROL))
        wend_runtime_pump(r.rt);
    late_release(&l);
    read_all(run, &names, NULL);
    tap_is_str(buf_view(&names),
               "args_delta* model_end(ok) call_start control "
               "call_end(canceled) turn_end metrics run_end(canceled)",
               "cancel: a call that has not begun ends as canceled");
    tap_is_i64(calls, 0, "cancel: no tool starts after it");
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

/* The run goes when the answer to its second batch has come, and the one to
 * its first has not. */
static void test_answers_out_of_order(void)
{
    struct rig r = {.err = {0}};
    struct late l = {.count = 0};
    struct buf script = {.mem = &rig_mem};
    struct store_batch *second;
    const wend_event *ev;
    wend_run *run;

    buf_cstr(&script, "script:{\"turns\":[{\"chunk\":9000,\"delay\":\"1ms\","
                      "\"text\":\"");
    for (int i = 0; i < 40000; i++)
        buf_char(&script, 'x');
    buf_cstr(&script, "\"}]}");
    late_rig(&r, &l, script.ptr);
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_MODEL_START)
        continue;
    l.hold = true;
    while (l.count < 2)
        wend_runtime_pump(r.rt);
    second = l.held[1];
    l.held[1] = NULL;
    second->done(second, WEND_E_NOMEM);
    while (wend_run_poll(run, &ev) >= WEND_OK)
        wend_runtime_pump(r.rt);
    wend_run_free(run);
    late_release(&l);
    tap_ok(wend_runtime_pump(r.rt) == WEND_OK,
           "store: answers in any order, also after the run");
    buf_free(&script);
    rig_close(&r);
}

/* A run that only waits writes nothing. */
static void test_waiting_is_free(void)
{
    struct rig r = {.err = {0}};
    struct late l = {.count = 0};
    const wend_event *ev;
    wend_run *run;
    int before;

    late_rig(&r, &l,
             "script:{\"turns\":[{\"error\":{\"code\":\"network\"}},"
             "{\"text\":\"end\"}]}");
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_MODEL_RETRY)
        continue;
    wend_run_pause(run);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_CONTROL)
        continue;
    before = l.appends;
    for (int i = 0; i < 1000; i++) {
        wend_runtime_pump(r.rt);
        usleep(1000);
    }
    tap_is_i64(l.appends - before, 0, "a paused retry leaves the store alone");
    wend_run_continue(run);
    tap_ok(read_all(run, NULL, NULL) == WEND_END, "and goes on");
    wend_run_free(run);
    rig_close(&r);
}

/* ---- Tools at work --------------------------------------------------------
 */

/* A built-in tool is still reading its arguments when its run, its agent and
 * its runtime go. */
static void test_builtin_alone(const char *script, unsigned later_us)
{
    struct rig r = {.err = {0}};
    const wend_event *ev = NULL;
    wend_run *run;

    rig_open(&r, NULL, script);
    wend_agent_add_builtin(r.agent, "read_file", &r.err);
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_CALL_START)
        continue;
    usleep(later_us);
    wend_run_free(run);
    rig_close(&r);
    usleep(20000); /* what it does now, it does alone */
}

static void test_builtins_alone(void)
{
    struct buf script = {.mem = &rig_mem};

    buf_cstr(&script, "script:{\"turns\":[{\"chunk\":1000000,\"calls\":[{"
                      "\"name\":\"read_file\",\"args_text\":\"{\\\"path\\\":"
                      "\\\"");
    for (int i = 0; i < 150000; i++)
        buf_cstr(&script, "\\\\u0001");
    buf_cstr(&script, "\\\"}\"}]}]}");
    for (unsigned i = 0; i < 20; i++)
        test_builtin_alone(script.ptr, i * 100);
    tap_ok(true, "a tool at work keeps what it works with");
    buf_free(&script);
}

static wend_status tool_long(void *ctx, wend_call *call)
{
    struct buf *text = ctx;

    wend_call_progress(call, text->ptr);
    return wend_call_return(call, STR("done"));
}

/* No delta is so long that it would need a blob, which no log would have. */
static void test_long_progress(void)
{
    struct rig r = {.err = {0}};
    struct buf text = {.mem = &rig_mem}, heard = {.mem = &rig_mem},
               lines = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;

    for (int i = 0; i < 100000; i++)
        buf_cstr(&text, "\xE2\x82\xAC");
    rig_open(&r, NULL,
             "script:{\"turns\":[{\"calls\":[{\"name\":\"long\"}]},"
             "{\"text\":\"end\"}]}");
    rig_add(&r, "long", tool_long, WEND_CLASS_READ, &text);
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_CALL_OUTPUT) {
            buf_str(&heard, ev->u.call_output.text);
            put_line(&lines, ev);
        }
    tap_ok(str_eq(buf_view(&heard), buf_view(&text)), "progress: all of it");
    tap_ok(lines.ptr && !strstr(lines.ptr, "\"blob\""),
           "progress: in lines that stand for themselves");
    wend_run_free(run);
    buf_free(&text);
    buf_free(&heard);
    buf_free(&lines);
    rig_close(&r);
}

/* ---- Work -----------------------------------------------------------------
 */

static void *count_alloc(void *ctx, void *p, size_t size)
{
    *(size_t *)ctx += size;
    if (size)
        return realloc(p, size);
    free(p);
    return NULL;
}

/* Bytes asked for by a run with so many calls, one after the other. */
static size_t bytes_of(int calls)
{
    struct rig r = {.err = {0}};
    struct buf script = {.mem = &rig_mem};
    size_t bytes = 0;
    wend_runtime_options o = {
        .size = sizeof o, .alloc = count_alloc, .alloc_ctx = &bytes};
    wend_str text;
    wend_run *run;

    buf_cstr(&script, "script:{\"turns\":[{\"calls\":[");
    for (int i = 0; i < calls; i++) {
        buf_fmt(&script, "%s{\"name\":\"write\",\"args\":{\"x\":[0",
                i ? "," : "");
        for (int k = 0; k < 1000; k++)
            buf_cstr(&script, ",1");
        buf_cstr(&script, "]}}");
    }
    buf_cstr(&script, "]},{\"text\":\"end\"}]}");
    r.agent_options.size = sizeof r.agent_options;
    r.agent_options.model = script.ptr;
    r.agent_options.approve = WEND_APPROVE_ALL;
    wend_runtime_new(&o, &r.rt, &r.err);
    wend_agent_new(r.rt, &r.agent_options, &r.agent, &r.err);
    rig_add(&r, "write", tool_echo, WEND_CLASS_UNSAFE, NULL);
    run = rig_start(&r, NULL);
    bytes = 0;
    wend_run_wait(run, &text);
    wend_run_free(run);
    rig_close(&r);
    buf_free(&script);
    return bytes;
}

static void test_work(void)
{
    size_t some = bytes_of(50), twice = bytes_of(100);

    tap_ok(twice < 3 * some,
           "twice the calls, twice the work: %zu and %zu bytes", some, twice);
}

/* ---- Time -----------------------------------------------------------------
 */

static void test_time(void)
{
    struct rig r = {.err = {0}};
    wend_replay_options o = {.size = sizeof o, .speed = 1e-300};
    wend_run *run, *replay = NULL;
    wend_outcome outcome = WEND_OUTCOME_NONE;
    const wend_event *ev;
    wend_str text;

    r.agent_options.limits.time_ms = INT64_MAX;
    rig_open(&r, NULL,
             "script:{\"turns\":[{\"text\":\"some text\",\"delay\":\"2ms\"}]}");
    run = rig_start(&r, NULL);
    wend_run_wait(run, &text);
    wend_run_outcome(run, &outcome);
    tap_is_i64(outcome, WEND_OUTCOME_OK, "time: the longest limit is no limit");
    wend_store_replay(r.rt, wend_run_id(run), &o, &replay, &r.err);
    tap_ok(wend_run_poll(replay, &ev) == WEND_OK, "time: the first is due");
    while (wend_run_poll(replay, &ev) == WEND_OK)
        continue;
    tap_ok(wend_run_poll(replay, &ev) == WEND_AGAIN,
           "time: at no speed at all the rest never is");
    wend_run_free(replay);
    wend_run_free(run);
    rig_close(&r);
}

/* ---- Shared stores ---------------------------------------------
 */

static void end_by_request(struct rig *r, struct rig *other, bool sqlite)
{
    wend_run *run = rig_start(r, NULL), *bystander = rig_start(other, NULL);
    wend_outcome outcome = WEND_OUTCOME_NONE;
    const wend_event *ev;

    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_MODEL_START)
        continue;
    while (wend_run_next(bystander, &ev) == WEND_OK &&
           ev->type != WEND_MODEL_START)
        continue;
    r->store->ops->post(r->store, str_of(wend_run_id(run)), "cancel", STR("{}"),
                        NULL, NULL);
    for (int i = 0; i < 300; i++) { /* it looks first, and again */
        wend_runtime_pump(other->rt);
        usleep(1000);
    }
    for (int i = 0; i < 30000 && wend_run_outcome(run, &outcome); i++) {
        wend_runtime_pump(r->rt);
        usleep(1000);
    }
    tap_is_i64(outcome, WEND_OUTCOME_CANCELED,
               "a request reaches its run past another runtime (%s)",
               sqlite ? "sqlite" : "memory");
    wend_run_free(run);
    wend_run_free(bystander);
}

static void test_shared(const char *url, bool sqlite)
{
    static const char script[] =
        "script:{\"turns\":[{\"text\":\"so slow\",\"delay\":\"60s\"}]}";
    struct rig r = {.err = {0}}, other = {.err = {0}};
    wend_runtime_options o = {.size = sizeof o};

    rig_open(&r, url, script);
    o.store = r.store;
    other.agent_options = r.agent_options;
    wend_runtime_new(&o, &other.rt, &r.err);
    wend_agent_new(other.rt, &other.agent_options, &other.agent, &r.err);
    end_by_request(&r, &other, sqlite);
    rig_close(&other);
    rig_close(&r);
}

/* ---- A key of a provider --------------------------------------------------
 */

static const char key[] = "sk-life-0123456789";

static wend_status tool_leaks(void *ctx, wend_call *call)
{
    (void)ctx;
    wend_call_progress(call, "it is sk-life-01");
    wend_call_progress(call, "23456789, you see");
    return wend_call_return(call, (wend_str){key, sizeof key - 1});
}

static wend_hook_answer hook_leaks(void *ctx, wend_hook *h)
{
    (void)ctx;
    if (h->point != WEND_HOOK_TURN_BEFORE)
        return WEND_HOOK_GO;
    h->text = (wend_str){key, sizeof key - 1};
    return WEND_HOOK_CHANGE;
}

/* What models say is the drivers' business; here it is everybody else. */
static void test_key(void)
{
    static const char *const fallbacks[] = {"openai:x@http://127.0.0.1:1/v1"};
    struct rig r = {
        .agent_options = {.fallbacks = fallbacks, .fallbacks_count = 1}};
    wend_run_options o = {.size = sizeof o, .hook = hook_leaks};
    struct buf lines = {.mem = &rig_mem};
    wend_str said = {key, sizeof key - 1};
    wend_run *run = NULL;

    setenv("OPENAI_API_KEY", key, 1);
    if (rig_open(&r, NULL,
                 "script:{\"turns\":[{\"calls\":[{\"name\":\"leak\","
                 "\"args\":{}}]},{\"text\":\"saw ${tool_result}\"}]}")) {
        rig_add(&r, "leak", tool_leaks, WEND_CLASS_READ, NULL);
        wend_run_start(r.agent, said, &o, &run, &r.err);
        wend_run_say(run, said);
        read_all(run, NULL, &lines);
    }
    buf_char(&lines, 0);
    tap_ok(strstr(lines.ptr, "\"outcome\":\"ok\",\"text\":\"saw ****"),
           "a key: the run goes on without it");
    tap_ok(!strstr(lines.ptr, key), "a key: in no event");
    tap_ok(strstr(lines.ptr, "\"text\":\"********, you see\""),
           "a key: cut in two, its second half is in no event");
    wend_run_free(run);
    buf_free(&lines);
    rig_close(&r);
    unsetenv("OPENAI_API_KEY");
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    test_cancel_on_the_way();
    test_answers_out_of_order();
    test_waiting_is_free();
    test_builtins_alone();
    test_long_progress();
    test_key();
    test_work();
    test_time();
    test_shared("memory:", false);
    test_shared(path_of("shared.db"), true);
    unlink(path_of("shared.db"));
    unlink(path_of("shared.db-lock"));
    rmdir(folder);
    return tap_done();
}
