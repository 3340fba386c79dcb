/*
 * test_cut.c - an answer with a tool call that breaks off after each byte.
 *
 * The connection is closed or reset after N bytes of the body, for each N and
 * each protocol. Before the first piece the question is asked again; after
 * it the run fails or, if the call has begun, goes on with its result. The
 * call is made with all of its arguments or not at all.
 */
#include "run_help.h"
#include "server_help.h"

enum {
    AT_ONCE = 512,    /* runs: most wait for their second attempt */
    RESET_STEP = 8,   /* where it is reset as well: that is seen elsewhere */
    BODY_MAX = 65536, /* far above any */
};

static const struct {
    const char *provider, *path;
} rows[] = {
    {"openai", "/v1"},     {"responses", "/v1"}, {"anthropic", "/v1"},
    {"gemini", "/v1beta"}, {"ollama", ""},
};

struct one {
    wend_agent *agent;
    wend_run *run;
    const char *how; /* cut or reset ... */
    int at;          /* ... after so many bytes of the body */
    int calls, ends, retries, failures;
    bool wrong_args, over;
    wend_outcome outcome;
    char text[64];
};

static void see(struct one *o, const wend_event *ev)
{
    if (ev->type == WEND_CALL_START) {
        o->calls++;
        o->wrong_args |=
            !str_is(ev->u.call_start.args_json, "{\"turn\":0,\"i\":0}");
    } else if (ev->type == WEND_CALL_END) {
        o->ends += ev->u.call_end.outcome == WEND_OUTCOME_OK;
    } else if (ev->type == WEND_MODEL_RETRY) {
        o->retries++;
    } else if (ev->type == WEND_MODEL_END) {
        o->failures += ev->u.model_end.outcome != WEND_OUTCOME_OK;
    } else if (ev->type == WEND_RUN_END) {
        o->over = true;
        o->outcome = ev->u.run_end.outcome;
        snprintf(o->text, sizeof o->text, "%.*s", (int)ev->u.run_end.text.len,
                 ev->u.run_end.text.ptr);
    }
}

/* What is wrong with how it ended; NULL: nothing. */
static const char *wrong(const struct one *o)
{
    if (!o->over)
        return "no end";
    if (o->wrong_args)
        return "a call with other arguments";
    if (o->calls > 1 || o->calls != o->ends)
        return "calls and results do not match";
    if (o->outcome == WEND_OUTCOME_OK && !o->calls && !o->retries)
        return "the call is lost";
    if (o->outcome == WEND_OUTCOME_OK &&
        strcmp(o->text, "0000000 0000001 ") != 0)
        return "the text is not whole";
    if (o->outcome != WEND_OUTCOME_OK && o->outcome != WEND_OUTCOME_FAILED)
        return "another outcome";
    return NULL;
}

static void start(struct one *o, wend_runtime *rt, const char *provider,
                  const char *url)
{
    char model[128];
    wend_agent_options ao = {
        .size = sizeof ao, .model = model, .base_url = url};
    wend_tool_options to = {.size = sizeof to,
                            .name = "noop",
                            .description = "nothing",
                            .call_class = WEND_CLASS_READ,
                            .fn = tool_echo};

    snprintf(model, sizeof model, "%s:tools:1,eof,%s=%d;text:2:8#%s", provider,
             o->how, o->at, provider);
    if (wend_agent_new(rt, &ao, &o->agent, NULL) == WEND_OK &&
        wend_agent_add_tool(o->agent, &to, NULL) == WEND_OK)
        wend_run_start(o->agent, STR("go"), NULL, &o->run, NULL);
}

static void end(struct one *o)
{
    const wend_event *ev;

    while (o->run && wend_run_next(o->run, &ev) == WEND_OK)
        see(o, ev);
    wend_run_free(o->run);
    wend_agent_free(o->agent);
}

static bool is_whole(const struct one *o)
{
    return o->calls == 1 && !o->retries && !o->failures &&
           o->outcome == WEND_OUTCOME_OK;
}

/* Starts as many as may be at once; returns where to go on. */
static int start_some(struct one *all, wend_runtime *rt, size_t row,
                      const char *url, int at)
{
    bool again = false;

    memset(all, 0, AT_ONCE * sizeof *all);
    for (int k = 0; k < AT_ONCE; k++) {
        all[k].at = at;
        all[k].how = again ? "reset" : "cut";
        start(&all[k], rt, rows[row].provider, url);
        again = !again && at % RESET_STEP == 0;
        at += !again;
    }
    return at;
}

/* Until the whole answer comes before the cut. */
static void test_row(size_t row, wend_runtime *rt, const char *url)
{
    static struct one all[AT_ONCE];
    int at = 0, bad = 0, whole = 0, cut = 0;

    while (!whole && at < BODY_MAX) {
        at = start_some(all, rt, row, url, at);
        for (int k = 0; k < AT_ONCE; k++) {
            const char *what;

            end(&all[k]);
            whole += is_whole(&all[k]);
            cut += !is_whole(&all[k]);
            what = wrong(&all[k]);
            if (what && bad++ < 10)
                printf("# %s after %d bytes: %s\n", all[k].how, all[k].at,
                       what);
        }
    }
    tap_ok(whole && cut && !bad, "%s: %d breaks", rows[row].provider, cut);
}

int main(void)
{
    wend_runtime_options ro = {.size = sizeof ro};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct test_server server;
        wend_runtime *rt = NULL;
        char url[64];

        if (tap_ok(server_start(&server, false) &&
                       wend_runtime_new(&ro, &rt, NULL) == WEND_OK,
                   "%s: a server", rows[i].provider)) {
            snprintf(url, sizeof url, "http://127.0.0.1:%d%s", server.port,
                     rows[i].path);
            test_row(i, rt, url);
        }
        wend_runtime_free(rt);
        server_stop(&server);
    }
    return tap_done();
}
