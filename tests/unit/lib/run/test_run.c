/*
 * test_run.c - runs through the public interface: orders, answers, replay.
 *
 * Every scenario runs on the memory store and on SQLite, is replayed, and
 * must give the same bytes again.
 */
#include "run_help.h"

static const struct scenario {
    const char *why, *script, *wanted, *answer, *schema;
    wend_limits limits;
    wend_eager eager;
    wend_approve approve;
} scenarios[] = {
    {.why = "text run",
     .script = "script:{\"turns\":[{\"text\":\"Hello there.\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "text_delta* model_end(ok) turn_end metrics run_end(ok)",
     .answer = "Hello there."},
    {.why = "a read call starts before its message ends",
     .script = "script:{\"turns\":[{\"calls\":[{\"name\":\"echo\"}]},"
               "{\"text\":\"${tool_result}\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "args_delta* model_part call_start model_end(ok) "
               "call_end(ok) turn_end metrics turn_start context_start "
               "context_end model_start text_delta* model_end(ok) turn_end "
               "metrics run_end(ok)",
     .answer = "{}"},
    {.why = "with eager off it starts after",
     .script = "script:{\"turns\":[{\"calls\":[{\"name\":\"echo\"}]},"
               "{\"text\":\"done\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "args_delta* model_end(ok) call_start call_end(ok) turn_end "
               "metrics turn_start context_start context_end model_start "
               "text_delta* model_end(ok) turn_end metrics run_end(ok)",
     .answer = "done",
     .eager = WEND_EAGER_OFF},
    {.why = "an unsafe call never starts before",
     .script = "script:{\"turns\":[{\"calls\":[{\"name\":\"write\"}]},"
               "{\"text\":\"done\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "args_delta* model_end(ok) call_start call_end(ok) turn_end "
               "metrics turn_start context_start context_end model_start "
               "text_delta* model_end(ok) turn_end metrics run_end(ok)",
     .answer = "done",
     .approve = WEND_APPROVE_ALL},
    {.why = "nobody to ask means denied, and the run goes on",
     .script = "script:{\"turns\":[{\"calls\":[{\"name\":\"write\"}]},"
               "{\"text\":\"done\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "args_delta* model_end(ok) call_start call_end(denied) "
               "turn_end metrics turn_start context_start context_end "
               "model_start text_delta* model_end(ok) turn_end metrics "
               "run_end(ok)",
     .answer = "done",
     .approve = WEND_APPROVE_DENY},
    {.why = "tools that fail are told to the model",
     .script = "script:{\"turns\":[{\"calls\":[{\"name\":\"nope\"},"
               "{\"name\":\"broken\"},{\"name\":\"status\"},"
               "{\"name\":\"echo\",\"args_text\":\"{\\\"a\"}]},"
               "{\"text\":\"sorry\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "args_delta* model_end(ok) call_start call_end(failed) "
               "call_start call_end(failed) call_start call_start "
               "call_end(failed) call_end(failed) turn_end metrics "
               "turn_start context_start context_end model_start "
               "text_delta* model_end(ok) turn_end metrics run_end(ok)",
     .answer = "sorry"},
    {.why = "turn limit",
     .script = "script:{\"turns\":[{\"text\":\"more\",\"calls\":[{\"name\":"
               "\"echo\"}],\"repeat\":\"forever\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "text_delta* args_delta* model_part call_start "
               "model_end(ok) call_end(ok) turn_end metrics run_end(limit)",
     .answer = "more",
     .limits = {.turns = 1}},
    {.why = "token limit, reserved before the call",
     .script = "script:{\"turns\":[{\"text\":\"x\",\"usage\":{\"input\":90,"
               "\"output\":5},\"calls\":[{\"name\":\"echo\"}],\"repeat\":"
               "\"forever\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "text_delta* args_delta* model_part call_start "
               "model_end(ok) call_end(ok) turn_end metrics turn_start "
               "context_start context_end turn_end metrics run_end(limit)",
     .answer = "x",
     .limits = {.tokens = 100}},
    {.why = "time limit closes what is open",
     .script = "script:{\"turns\":[{\"text\":\"abcdefgh\",\"delay\":"
               "\"10s\",\"first_delay\":\"1ms\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "text_delta* control model_end(canceled) turn_end metrics "
               "run_end(limit)",
     .answer = "abcd",
     .limits = {.time_ms = 1000}},
    {.why = "a dead model: tried again before the first piece, then failed",
     .script = "script:{\"turns\":[{\"error\":{\"code\":\"service\"},"
               "\"repeat\":\"forever\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "model_retry model_retry model_end(failed) turn_end metrics "
               "run_end(failed)",
     .answer = ""},
    {.why = "no retry after a piece",
     .script = "script:{\"turns\":[{\"text\":\"half of it\",\"error\":"
               "{\"code\":\"service\",\"after\":1}}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "text_delta* model_end(failed) turn_end metrics "
               "run_end(failed)",
     .answer = "half"},
    {.why = "a message with a started call is never thrown away",
     .script = "script:{\"turns\":[{\"calls\":[{\"name\":\"echo\",\"args\":"
               "{\"a\":1}},{\"name\":\"echo\",\"args\":{\"b\":22222222}}],"
               "\"error\":{\"code\":\"service\",\"after\":4}},"
               "{\"text\":\"went on\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "args_delta* model_part call_start args_delta* "
               "model_end(failed) call_end(ok) turn_end metrics turn_start "
               "context_start context_end model_start text_delta* "
               "model_end(ok) turn_end metrics run_end(ok)",
     .answer = "went on"},
    {.why = "an answer that fits its schema",
     .schema = "{\"type\":\"object\"}",
     .script = "script:{\"turns\":[{\"text\":\" {}\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "text_delta* model_end(ok) turn_end metrics run_end(ok)",
     .answer = "{}"},
    {.why = "one that does not is repaired, which shows no deltas",
     .schema = "{\"type\":\"object\"}",
     .script = "script:{\"turns\":[{\"text\":\"[]\"},{\"text\":\"no\"},"
               "{\"purpose\":\"repair\",\"when\":\"not fit its schema\","
               "\"text\":\"{}\",\"thinking\":\"oh\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "text_delta* model_end(ok) warning message turn_end metrics "
               "turn_start context_start context_end model_start "
               "model_end(ok) turn_end metrics run_end(ok)",
     .answer = "{}"},
    {.why = "and given up if that does not fit either",
     .schema = "{\"type\":\"object\"}",
     .script = "script:{\"turns\":[{\"text\":\"[]\"},"
               "{\"purpose\":\"repair\",\"text\":\"sorry\"}]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "text_delta* model_end(ok) warning message turn_end metrics "
               "turn_start context_start context_end model_start "
               "model_end(ok) turn_end metrics run_end(failed)",
     .answer = "sorry"},
    {.why = "past the end of the script",
     .script = "script:{\"turns\":[]}",
     .wanted = "run_start turn_start context_start context_end model_start "
               "model_end(failed) turn_end metrics run_end(failed)",
     .answer = ""},
};

/* A call's end may come before or after the end of a message that streams
 * on; everything else is fixed. */
static void settle_order(struct buf *names)
{
    static const char early[] = "call_end(ok) model_end(ok)";
    static const char late[] = "model_end(ok) call_end(ok)";
    char *at;

    while ((at = strstr(names->ptr, early)))
        memcpy(at, late, sizeof late - 1);
}

static void check_replay(struct rig *r, const struct scenario *sc,
                         const char *id, wend_str lines)
{
    struct buf again = {.mem = &rig_mem};
    wend_run *run = NULL;

    if (wend_store_replay(r->rt, id, NULL, &run, &r->err) != WEND_OK) {
        tap_ok(false, "%s: replay: %s", sc->why, r->err.message);
        return;
    }
    tap_ok(read_all(run, NULL, &again) == WEND_END, "%s: replay ends", sc->why);
    tap_ok(str_eq(lines, buf_view(&again)), "%s: replay is byte-equal",
           sc->why);
    buf_free(&again);
    wend_run_free(run);
}

static void test_scenario(const struct scenario *sc, const char *url)
{
    struct rig r = {.agent_options = {.limits = sc->limits,
                                      .eager = sc->eager,
                                      .approve = sc->approve,
                                      .schema = sc->schema}};
    struct buf names = {.mem = &rig_mem}, lines = {.mem = &rig_mem};
    wend_str answer;
    wend_run *run;

    if (!rig_open(&r, url, sc->script) || !(run = rig_start(&r, NULL)))
        return;
    tap_ok(read_all(run, &names, &lines) == WEND_END, "%s: ends", sc->why);
    settle_order(&names);
    tap_is_str(buf_view(&names), sc->wanted, "%s: order", sc->why);
    tap_ok(wend_run_wait(run, &answer) == WEND_OK, "%s: wait", sc->why);
    tap_is_str(answer, sc->answer, "%s: answer", sc->why);
    check_replay(&r, sc, wend_run_id(run), buf_view(&lines));
    wend_run_free(run);
    buf_free(&names);
    buf_free(&lines);
    rig_close(&r);
}

/* ---- As deep as it may be --------------------------------------------- */

/* Arguments of every depth around the limit: what the log takes it gives
 * back. */
static void test_depth(int depth)
{
    struct rig r = {.err = {0}};
    struct buf script = {.mem = &rig_mem}, lines = {.mem = &rig_mem};
    struct scenario sc = {.why = "depth"};
    wend_run *run;

    buf_cstr(&script, "script:{\"turns\":[{\"calls\":[{\"name\":\"echo\","
                      "\"args_text\":\"{\\\"a\\\":");
    for (int i = 1; i < depth; i++)
        buf_char(&script, '[');
    for (int i = 1; i < depth; i++)
        buf_char(&script, ']');
    buf_cstr(&script, "}\"}]},{\"text\":\"end\"}]}");
    rig_open(&r, NULL, script.ptr);
    run = rig_start(&r, NULL);
    tap_ok(read_all(run, NULL, &lines) == WEND_END, "depth %d: ends", depth);
    check_replay(&r, &sc, wend_run_id(run), buf_view(&lines));
    wend_run_free(run);
    buf_free(&script);
    buf_free(&lines);
    rig_close(&r);
}

/* ---- Answers from elsewhere ------------------------------------------------
 */

static void *answer_thread(void *arg)
{
    wend_call *call = arg;

    usleep(20000);
    wend_call_progress(call, "halfway");
    wend_call_return(call, (wend_str){"late", 4});
    return NULL;
}

static void test_later(void)
{
    wend_call *calls[4] = {0};
    struct rig r = {.err = {0}};
    struct buf names = {.mem = &rig_mem};
    const wend_event *ev;
    pthread_t thread;
    wend_run *run;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"calls\":[{\"name\":\"later\"}]},"
             "{\"text\":\"${tool_result}\"}]}");
    rig_add(&r, "later", tool_later, WEND_CLASS_READ, calls);
    run = rig_start(&r, NULL);
    while (!calls[0] && wend_run_next(run, &ev) == WEND_OK)
        note(&names, ev);
    pthread_create(&thread, NULL, answer_thread, calls[0]);
    read_all(run, &names, NULL);
    pthread_join(thread, NULL);
    tap_ok(strstr(names.ptr, "call_output*") != NULL,
           "progress from another thread is shown");
    tap_ok(strstr(names.ptr, "call_end(ok)") &&
               strstr(names.ptr, "run_end(ok)"),
           "an answer from another thread ends the call");
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

/* A tool that talks faster than anybody reads is told to wait. */
static void test_flood(void)
{
    wend_call *calls[4] = {0};
    char text[1024];
    struct rig r = {.err = {0}};
    const wend_event *ev;
    wend_run *run;
    int taken = 0;

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    rig_open(&r, NULL,
             "script:{\"turns\":[{\"calls\":[{\"name\":\"later\"}]},"
             "{\"text\":\"end\"}]}");
    rig_add(&r, "later", tool_later, WEND_CLASS_READ, calls);
    run = rig_start(&r, NULL);
    while (!calls[0] && wend_run_next(run, &ev) == WEND_OK)
        continue;
    while (taken < 10000 && wend_call_progress(calls[0], text) == WEND_OK)
        taken++;
    tap_ok(taken > 500 && taken < 1100, "flood: %d KiB, then it waits", taken);
    wend_runtime_pump(r.rt);
    tap_ok(wend_call_progress(calls[0], text) == WEND_OK,
           "flood: once they are read it goes on");
    wend_call_return(calls[0], STR("done"));
    tap_ok(read_all(run, NULL, NULL) == WEND_END, "flood: ends");
    wend_run_free(run);
    rig_close(&r);
}

/* A call past its deadline ends; its late answer is dropped. */
static void test_deadline(void)
{
    wend_call *calls[4] = {0};
    struct rig r = {.err = {0}};
    struct buf names = {.mem = &rig_mem};
    wend_tool_options t = {.size = sizeof t,
                           .name = "slow",
                           .call_class = WEND_CLASS_READ,
                           .timeout_ms = 30,
                           .fn = tool_later,
                           .ctx = calls};
    wend_run *run;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"calls\":[{\"name\":\"slow\"}]},"
             "{\"text\":\"ok\"}]}");
    wend_agent_add_tool(r.agent, &t, &r.err);
    run = rig_start(&r, NULL);
    tap_ok(read_all(run, &names, NULL) == WEND_END, "deadline: ends");
    tap_ok(strstr(names.ptr, "call_end(timeout)") != NULL,
           "deadline: the call ends as timeout");
    tap_ok(wend_call_canceled(calls[0]), "deadline: the tool can see it");
    tap_ok(wend_call_return(calls[0], (wend_str){"x", 1}) == WEND_OK,
           "deadline: a late answer is taken and dropped");
    wend_runtime_pump(r.rt);
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

/* ---- Telling a run ---------------------------------------------------------
 */

static void test_approval(bool yes)
{
    struct rig r = {.err = {0}};
    struct buf names = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;
    wend_str id = STR("call_1");

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"calls\":[{\"name\":\"write\"}]},"
             "{\"text\":\"ok\"}]}");
    run = rig_start(&r, NULL);
    tap_ok(wend_run_approve(run, id, yes, NULL) == WEND_E_NOTFOUND,
           "approval: nothing to approve yet");
    while (wend_run_next(run, &ev) == WEND_OK) {
        note(&names, ev);
        if (ev->type != WEND_APPROVAL_ASK)
            continue;
        tap_ok(wend_run_approve(run, ev->u.approval_ask.call, yes, "test") ==
                   WEND_OK,
               "approval: answered");
        tap_ok(wend_run_approve(run, ev->u.approval_ask.call, !yes, "late") ==
                   WEND_E_NOTFOUND,
               "approval: the second to answer is told so");
    }
    tap_ok(strstr(names.ptr, yes ? "model_end(ok) approval_ask approval_answer "
                                   "call_start call_end(ok)"
                                 : "model_end(ok) approval_ask approval_answer "
                                   "call_start call_end(denied)") != NULL,
           "approval: %s decides", yes ? "yes" : "no");
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

static void test_say(void)
{
    struct rig r = {.err = {0}};
    struct buf names = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;
    bool said = false;
    wend_str answer;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"text\":\"first\",\"delay\":\"20ms\"},"
             "{\"when\":\"stop\",\"text\":\"second\"}]}");
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK) {
        note(&names, ev);
        if (ev->type == WEND_TEXT_DELTA && !said)
            said = wend_run_say(run, STR("please stop")) == WEND_OK;
    }
    wend_run_wait(run, &answer);
    tap_is_str(answer, "second",
               "what is said while it writes leads to another turn");
    tap_ok(wend_run_say(run, STR("too late")) == WEND_END,
           "a run that is over listens no more");
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

static wend_status tool_speaks(void *ctx, wend_call *call)
{
    (void)ctx;
    wend_call_progress(call, "halfway");
    return wend_call_return(call, STR("done"));
}

/* What a tool says is shown, whatever its message was for. */
static void test_repair(void)
{
    struct rig r = {.agent_options = {.schema = "{\"type\":\"object\"}",
                                      .eager = WEND_EAGER_OFF}};
    struct buf names = {.mem = &rig_mem};
    wend_run *run;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"text\":\"no\"},{\"purpose\":\"repair\","
             "\"text\":\"well\",\"calls\":[{\"name\":\"speaks\"}]},"
             "{\"text\":\"{}\"}]}");
    rig_add(&r, "speaks", tool_speaks, WEND_CLASS_READ, NULL);
    run = rig_start(&r, NULL);
    read_all(run, &names, NULL);
    tap_ok(strstr(names.ptr, "warning message turn_end metrics turn_start "
                             "context_start context_end model_start "
                             "model_end(ok) call_start call_output* "
                             "call_end(ok) turn_end metrics turn_start "
                             "context_start context_end model_start "
                             "text_delta* model_end(ok) turn_end metrics "
                             "run_end(ok)") != NULL,
           "repair: calls are made, and heard; then it answers");
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

static void test_pause(void)
{
    struct rig r = {.err = {0}};
    struct buf names = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;
    int quiet = 0;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"calls\":[{\"name\":\"echo\"}],"
             "\"first_delay\":\"20ms\"},{\"text\":\"end\"}]}");
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_MODEL_START)
        note(&names, ev);
    tap_ok(wend_run_pause(run) == WEND_OK, "pause");
    for (quiet = 0; quiet < 50; quiet++) {
        usleep(2000);
        wend_runtime_pump(r.rt);
        while (wend_run_poll(run, &ev) == WEND_OK)
            note(&names, ev);
    }
    tap_ok(!strstr(names.ptr, "call_start"), "nothing starts while paused");
    tap_ok(wend_run_continue(run) == WEND_OK, "continue");
    read_all(run, &names, NULL);
    tap_ok(strstr(names.ptr, "run_end(ok)") != NULL, "and it goes on");
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

int main(void)
{
    char dir[] = "/tmp/wend-run-XXXXXX", path[64];

    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/s.db", dir);
    for (size_t i = 0; i < tap_count(scenarios); i++) {
        test_scenario(&scenarios[i], NULL);
        test_scenario(&scenarios[i], path);
    }
    for (int depth = 58; depth <= 66; depth++)
        test_depth(depth);
    test_later();
    test_flood();
    test_deadline();
    test_approval(true);
    test_approval(false);
    test_say();
    test_repair();
    test_pause();
    for (const char *const *s =
             (const char *const[]){"", "-lock", "-wal", "-shm", NULL};
         *s; s++) {
        char file[96];

        snprintf(file, sizeof file, "%s%s", path, *s);
        unlink(file);
    }
    rmdir(dir);
    return tap_done();
}
