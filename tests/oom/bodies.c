/*
 * bodies.c - scenarios that are more than runs from their start to their end.
 */
#include "bodies.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "wire/file/manifest.h"
#include "wire/file/script.h"

enum { EVENTS_BEFORE = 8, FILE_MAX = 256 << 10 };

bool stage_find(struct stage *st, struct tale *t, char id[40])
{
    wend_runs *list = NULL;
    const wend_run_info *info;
    wend_status s = wend_store_list(st->store, NULL, &list, &st->err);

    id[0] = 0;
    if (!step_ok(t, "list", s, &st->err))
        return false;
    s = wend_runs_next(list, &info);
    if (s == WEND_OK)
        snprintf(id, 40, "%.*s", (int)info->run.len, info->run.ptr);
    wend_runs_free(list);
    return step_ok(t, "runs_next", s, NULL) && id[0];
}

/* ---- Before a round, with memory ----------------------------------------- */

bool left_run(const struct scenario *sc)
{
    struct stage st = {0};
    struct tale t = {0};
    wend_run *run = NULL;
    const wend_event *ev;
    bool ok = stage_open(&st, sc, &t) && stage_start(&st, sc, &t, &run);

    for (int i = 0; ok && i < EVENTS_BEFORE; i++)
        ok = wend_run_next(run, &ev) == WEND_OK;
    wend_run_free(run);
    stage_close(&st);
    return ok;
}

bool ended_run(const struct scenario *sc)
{
    static struct tale t;

    memset(&t, 0, sizeof t);
    play_runs(sc, &t);
    return t.status == WEND_OK;
}

static bool to_file(void *ctx, wend_str bytes)
{
    return write(*(int *)ctx, bytes.ptr, bytes.len) == (ssize_t)bytes.len;
}

bool exported_run(const struct scenario *sc)
{
    struct stage st = {0};
    struct tale t = {0};
    int fd =
        open("export.jsonl", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char id[40];
    bool ok = ended_run(sc) && stage_open(&st, sc, &t) &&
              stage_find(&st, &t, id) &&
              wend_store_export(st.store, id, 0, to_file, &fd, NULL) == WEND_OK;
    wend_prune_options all = {.size = sizeof all, .ended_before_us = INT64_MAX};

    ok = ok && wend_store_prune(st.store, &all, NULL, NULL) == WEND_OK;
    close(fd);
    stage_close(&st);
    return ok;
}

/* ---- Runs ---------------------------------------------------------------- */

void play_resume(const struct scenario *sc, struct tale *t)
{
    struct stage st = {0};
    wend_run *run = NULL;
    char id[40];

    if (stage_open(&st, sc, t) && stage_find(&st, t, id) &&
        step_ok(t, "resume", wend_run_resume(st.agent, id, NULL, &run, &st.err),
                &st.err)) {
        t->count = 1;
        stage_watch(run, sc, t, &t->runs[0]);
    }
    wend_run_free(run);
    stage_close(&st);
}

/* The agent of the run is made again from its log. */
void play_of_run(const struct scenario *sc, struct tale *t)
{
    struct stage st = {0};
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    char id[40];

    if (stage_open(&st, sc, t) && stage_find(&st, t, id) &&
        step_ok(t, "of_run",
                wend_agent_of_run(st.rt, id, NULL, &agent, &st.err), &st.err) &&
        step_ok(t, "resume", wend_run_resume(agent, id, NULL, &run, &st.err),
                &st.err)) {
        t->count = 1;
        stage_watch(run, sc, t, &t->runs[0]);
    }
    wend_run_free(run);
    wend_agent_free(agent);
    stage_close(&st);
}

static bool put_file(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    close(fd);
    return ok;
}

bool agent_files(const struct scenario *sc)
{
    (void)sc;
    return put_file("agent.yaml",
                    "wend: agent/1\nmodel: script:model.yaml\n"
                    "tools: [calculator, tool.yaml]\nagents: [in.yaml]\n"
                    "policy: [{tool: count, do: deny}]\n") &&
           put_file("model.yaml", "wend: script/1\nturns: [{text: done}]\n") &&
           put_file("tool.yaml", "wend: tool/1\nname: count\ndescription: d\n"
                                 "command: [./count.sh]\n") &&
           put_file("count.sh", "#!/bin/sh\n") &&
           put_file("in.yaml", "wend: agent/1\ntools: [glob]\n");
}

bool plan_files(const struct scenario *sc)
{
    mkdir("tools", 0700);
    mkdir("relics", 0700);
    return agent_files(sc) &&
           put_file(
               "plan.yaml",
               "wend: plan/1\nname: p\nactions:\n"
               "  - {name: a, type: workflow, target: w.yaml}\n"
               "  - {name: b, type: agent, target: agent.yaml, prompt: x}\n"
               "  - {name: c, type: tool, target: say, when: 'false'}\n") &&
           put_file("w.yaml", "wend: plan/1\nname: w\nactions:\n"
                              "  - {name: a, type: relic, target: kv.get,\n"
                              "     params: {key: k}}\n") &&
           put_file("relics/kv.yaml", "wend: relic/1\nname: kv\nkind: kv\n") &&
           put_file("tools/say.yaml", "wend: tool/1\nname: say\n"
                                      "description: d\ncommand: [echo]\n");
}

/* An agent of a file, with a tool and an agent of files. */
void play_load(const struct scenario *sc, struct tale *t)
{
    wend_load_options o = {.size = sizeof o, .trust = "any"};
    struct stage st = {0};
    wend_agent *agent = NULL;
    wend_run *run = NULL;

    if (stage_open(&st, sc, t) &&
        step_ok(t, "load",
                wend_agent_load(st.rt, "agent.yaml", &o, &agent, &st.err),
                &st.err) &&
        step_ok(t, "start",
                wend_run_start(agent, STR("x"), NULL, &run, &st.err),
                &st.err)) {
        t->count = 1;
        stage_watch(run, sc, t, &t->runs[0]);
    }
    wend_run_free(run);
    wend_agent_free(agent);
    stage_close(&st);
}

/* A plan of a file, with a tool, a relic, an agent and a plan of files. */
static void on_verdict(void *ctx, const wend_plan_verdict *v)
{
    (void)ctx;
    (void)v;
}

void play_plan_file(const struct scenario *sc, struct tale *t)
{
    const wend_manifest_options mo = {.size = sizeof mo, .plan = true};
    const wend_agent_options model = {
        .size = sizeof model,
        .model = "script:{\"turns\":[{\"text\":\"done\"}]}"};
    wend_load_options o = {
        .size = sizeof o, .plan_trust = "any", .agent = &model};
    struct stage st = {0};
    wend_manifest *m = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;

    if (stage_open(&st, sc, t) &&
        step_ok(t, "open", wend_manifest_open("plan.yaml", &mo, &m, &st.err),
                &st.err)) {
        o.plan = m;
        if (step_ok(t, "load",
                    wend_agent_load(st.rt, NULL, &o, &agent, &st.err),
                    &st.err) &&
            step_ok(
                t, "preview",
                wend_plan_preview(agent, m->plan, on_verdict, NULL, &st.err),
                &st.err) &&
            step_ok(
                t, "start",
                wend_run_start_plan(agent, m->plan, NULL, NULL, &run, &st.err),
                &st.err)) {
            t->count = 1;
            stage_watch(run, sc, t, &t->runs[0]);
        }
    }
    wend_run_free(run);
    wend_agent_free(agent);
    wend_manifest_free(m);
    stage_close(&st);
}

void play_replay(const struct scenario *sc, struct tale *t)
{
    wend_replay_options o = {.size = sizeof o};
    struct stage st = {0};
    wend_run *run = NULL;
    char id[40];

    if (stage_open(&st, sc, t) && stage_find(&st, t, id) &&
        step_ok(t, "replay", wend_store_replay(st.rt, id, &o, &run, &st.err),
                &st.err)) {
        t->count = 1;
        stage_watch(run, sc, t, &t->runs[0]);
    }
    wend_run_free(run);
    stage_close(&st);
}

void play_fork(const struct scenario *sc, struct tale *t)
{
    wend_fork_options o = {.size = sizeof o, .say = STR("and now?")};
    struct stage st = {0};
    wend_run *run = NULL;
    char id[40];

    if (stage_open(&st, sc, t) && stage_find(&st, t, id) &&
        step_ok(t, "fork", wend_run_fork(st.agent, id, &o, NULL, &run, &st.err),
                &st.err)) {
        t->count = 1;
        stage_watch(run, sc, t, &t->runs[0]);
    }
    wend_run_free(run);
    stage_close(&st);
}

/* ---- The store ----------------------------------------------------------- */

static bool count_bytes(void *ctx, wend_str bytes)
{
    *(size_t *)ctx += bytes.len;
    return true;
}

/* A run ends with a call of its caller, and another one has the result. */
void play_client(const struct scenario *sc, struct tale *t)
{
    wend_run_options o = {
        .size = sizeof o,
        .client_tools =
            "[{\"name\":\"pick\",\"schema\":{\"type\":\"object\"}}]"};
    struct stage st = {0};
    wend_run *run = NULL, *next = NULL;

    if (stage_open(&st, sc, t) &&
        step_ok(t, "start",
                wend_run_start(st.agent, STR("go"), &o, &run, &st.err),
                &st.err)) {
        t->count = 1;
        stage_watch(run, sc, t, &t->runs[0]);
    }
    o = (wend_run_options){.size = sizeof o,
                           .messages = "[{\"role\":\"tool\",\"call\":"
                                       "\"call_1\",\"text\":\"red\"}]"};
    if (t->count && t->runs[0].status == WEND_END &&
        t->runs[0].outcome == WEND_OUTCOME_OK &&
        step_ok(t, "follow",
                wend_run_follow(st.agent, wend_run_id(run), STR_NONE, &o, &next,
                                &st.err),
                &st.err)) {
        t->count = 2;
        stage_watch(next, sc, t, &t->runs[1]);
    }
    wend_run_free(next);
    wend_run_free(run);
    stage_close(&st);
}

void play_export(const struct scenario *sc, struct tale *t)
{
    struct stage st = {0};
    size_t n = 0;
    char id[40];

    if (stage_open(&st, sc, t) && stage_find(&st, t, id) &&
        step_ok(t, "export",
                wend_store_export(st.store, id, 0, count_bytes, &n, &st.err),
                &st.err))
        snprintf(t->said, sizeof t->said, "%zu bytes", n);
    stage_close(&st);
}

static void count_events(void *ctx, const char *run, int64_t events)
{
    (void)run;
    *(int64_t *)ctx += events;
}

void play_import(const struct scenario *sc, struct tale *t)
{
    static char file[FILE_MAX];
    struct stage st = {0};
    int fd = open("export.jsonl", O_RDONLY | O_CLOEXEC);
    ssize_t len = read(fd, file, sizeof file);
    int64_t events = 0;

    close(fd);
    if (len > 0 && stage_open(&st, sc, t) &&
        step_ok(t, "import",
                wend_store_import(st.store, (wend_str){file, (size_t)len},
                                  count_events, &events, &st.err),
                &st.err))
        snprintf(t->said, sizeof t->said, "%lld events", (long long)events);
    stage_close(&st);
}

void play_verify(const struct scenario *sc, struct tale *t)
{
    wend_verdict v = {.size = sizeof v};
    struct stage st = {0};
    char id[40];

    if (stage_open(&st, sc, t) && stage_find(&st, t, id) &&
        step_ok(t, "check", wend_store_check(st.store, &st.err), &st.err) &&
        step_ok(t, "verify", wend_store_verify(st.store, id, NULL, &v, &st.err),
                &st.err))
        snprintf(t->said, sizeof t->said, "good to %lld, bad at %lld",
                 (long long)v.seq, (long long)v.bad_seq);
    stage_close(&st);
}

void play_prune(const struct scenario *sc, struct tale *t)
{
    wend_prune_options o = {.size = sizeof o, .ended_before_us = INT64_MAX};
    wend_pruned p = {.size = sizeof p};
    struct stage st = {0};

    if (stage_open(&st, sc, t) &&
        step_ok(t, "prune", wend_store_prune(st.store, &o, &p, &st.err),
                &st.err))
        snprintf(t->said, sizeof t->said, "%lld runs", (long long)p.runs);
    stage_close(&st);
}

/* ---- Files --------------------------------------------------------------- */

static const char agent_file[] =
    "wend: agent/1\nname: a\nmodel: script:s.yaml\ninstructions: Be brief.\n"
    "tools: [calculator, read_file]\nlimits: {turns: 3}\n";
static const char tool_file[] =
    "wend: tool/1\nname: t\ndescription: d\ncommand: [./t.sh, one]\n"
    "class: read\nschema: {type: object, properties: {n: {type: integer}}}\n";
static const char script_file[] =
    "wend: script/1\nmodel: m\nturns:\n- text: hello\n  thinking: hm\n"
    "  calls: [{name: calculator, args: {expression: \"6*7\"}}]\n"
    "- {when: \"42\", text: it is, repeat: forever}\n";

static void parse_files(struct tale *t)
{
    static const struct mem plain;
    struct arena a = {.mem = &plain};
    struct agent_manifest *agent = NULL;
    struct tool_manifest *tool = NULL;
    struct script *script = NULL;
    wend_error err = {0};
    wend_status s;

    s = agent_manifest_parse(str_of(agent_file), &a, &agent, &err);
    if (step_ok(t, "agent", s, &err))
        s = tool_manifest_parse(str_of(tool_file), &a, &tool, &err);
    if (step_ok(t, "tool", s, &err))
        s = script_parse(str_of(script_file), &a, &script, &err);
    if (step_ok(t, "script", s, &err))
        snprintf(t->said, sizeof t->said, "%zu turns", script->count);
    arena_free(&a);
}

void play_parse(const struct scenario *sc, struct tale *t)
{
    static const wend_plan_format formats[] = {WEND_PLAN_JSON, WEND_PLAN_DOT,
                                               WEND_PLAN_SVG, WEND_PLAN_HTML};
    wend_plan *plan = NULL;
    wend_error err = {0};
    wend_status s = wend_plan_parse(str_of(sc->plan), NULL, &plan, &err);
    wend_str text = STR_NONE;
    size_t all = 0, at;

    for (size_t i = 0; i < 4 && step_ok(t, "plan_parse", s, &err); i++) {
        s = wend_plan_describe(plan, formats[i], &text, &err);
        all += text.len;
    }
    step_ok(t, "plan_describe", s, &err);
    wend_plan_free(plan);
    if (t->status == WEND_OK)
        parse_files(t);
    at = strlen(t->said);
    snprintf(t->said + at, sizeof t->said - at, ", %zu bytes", all);
}

/* One dialect from its start to its end; how many bytes its records have. */
static size_t feed_all(const char *name, struct tale *t)
{
    static const wend_event_type types[] = {
        WEND_RUN_START,  WEND_TURN_START, WEND_MODEL_START,
        WEND_TEXT_DELTA, WEND_CALL_START, WEND_MODEL_END,
        WEND_CALL_END,   WEND_TURN_END,   WEND_RUN_END};
    wend_dialect *d = NULL;
    wend_error err = {0};
    wend_status s = wend_dialect_new(name, NULL, &d, &err);
    size_t all = 0;

    for (size_t i = 0; s == WEND_OK && i < sizeof types / sizeof *types; i++) {
        wend_event ev = {.type = types[i], .run = STR("r"), .seq = 1};
        wend_str lines = STR_NONE;

        if (ev.type == WEND_CALL_START)
            ev.u.call_start.call = STR("c");
        else if (ev.type == WEND_CALL_END)
            ev.u.call_end.call = STR("c");
        s = wend_dialect_feed(d, &ev, &lines);
        all += lines.len;
    }
    step_ok(t, "dialect", s, d ? NULL : &err);
    if (s == WEND_E_NOMEM && d &&
        wend_dialect_feed(d, &(wend_event){.type = WEND_METRICS}, NULL) !=
            WEND_E_NOMEM)
        flaw(t, "%s goes on after a gap", name);
    wend_dialect_free(d);
    return all;
}

void play_dialects(const struct scenario *sc, struct tale *t)
{
    size_t all = 0;

    (void)sc;
    for (size_t i = 0; t->status == WEND_OK && wend_dialect_name(i); i++)
        all += feed_all(wend_dialect_name(i), t);
    snprintf(t->said, sizeof t->said, "%zu bytes", all);
}

/* A page of a list, as the server is told to answer. */
#define PAGE(rest)                                                           \
    "bytes:%7B%22data%22%3A%5B%7B%22id%22%3A%22one%22%2C%22max_input_tokens" \
    "%22%3A9%7D%2C%7B%22id%22%3A%22two%22%7D%5D" rest "%7D"

void play_models(const struct scenario *sc, struct tale *t)
{
    struct stage st = {0};
    wend_model_list *list = NULL;
    struct timespec now;
    char url[600];
    const wend_agent_options o = {
        .size = sizeof o, .model = "anthropic:", .base_url = url};

    /* The server counts the requests of each round apart. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(url, sizeof url, "%.*s/=%s;%s%%23%lld-%ld/v1",
             (int)(strlen(servers.http) - strlen("/v1")), servers.http,
             PAGE("%2C%22has_more%22%3Atrue%2C%22last_id%22%3A%22two%22"),
             PAGE(""), (long long)now.tv_sec, now.tv_nsec);
    if (stage_open(&st, sc, t) &&
        step_ok(t, "models_ask", wend_models_ask(st.rt, &o, &list, &st.err),
                &st.err))
        snprintf(t->said, sizeof t->said, "%zu models", list->count);
    wend_models_free(list);
    stage_close(&st);
}
