/*
 * test_facts.c - what is kept by name, on both engines, and the tools.
 */
#include <sys/stat.h>

#include "base/limits.h"
#include "run_help.h"
#include "store_help.h"

/* ---- The store ------------------------------------------------------------
 */

static void on_kept(void *ctx, wend_status s)
{
    struct wait *w = ctx;

    w->status = s;
    sem_post(&w->sem);
}

static wend_status keep(wend_store *s, const char *space, const char *key,
                        const char *text, int64_t time_us, int64_t until_us)
{
    struct wait w = {0};

    sem_init(&w.sem, 0, 0);
    s->ops->keep(s,
                 &(struct store_fact){.space = str_of(space),
                                      .key = str_of(key),
                                      .text = str_of(text),
                                      .time_us = time_us,
                                      .until_us = until_us},
                 on_kept, &w);
    return put_end(&w);
}

static bool on_fact(void *ctx, const struct store_fact *f)
{
    struct buf *b = ctx;

    buf_fmt(b, "%.*s=%.*s;", (int)f->key.len, f->key.ptr, (int)f->text.len,
            f->text.ptr);
    return !str_is(f->key, "stop");
}

static void told(wend_store *s, const char *space, const char *key,
                 int64_t now_us, const char *wanted, const char *why)
{
    struct buf b = {.mem = &rig_mem};
    wend_error err = {0};

    tap_ok(s->ops->facts(s, str_of(space), str_of(key), now_us, on_fact, &b,
                         &err) == WEND_OK,
           "%s: read (%s)", why, err.message);
    tap_is_str(b.len ? buf_view(&b) : STR(""), wanted, "%s", why);
    buf_free(&b);
}

static void test_store(const char *url)
{
    wend_store *s = NULL;

    if (!tap_ok(wend_store_open(url, &s, NULL) == WEND_OK, "%s", url))
        return;
    told(s, "a", NULL, 1, "", "nothing yet");
    tap_ok(s->ops->tidy(s, 1, &(int64_t){0}, NULL) == WEND_OK, "nor to tidy");
    tap_ok(keep(s, "a", "x", "one", 10, 0) == WEND_OK, "kept");
    keep(s, "a", "y", "two", 20, 0);
    keep(s, "b", "x", "other", 30, 0);
    told(s, "a", NULL, 1, "y=two;x=one;", "newest first");
    told(s, "a", "x", 1, "x=one;", "by key");
    told(s, "b", NULL, 1, "x=other;", "spaces are apart");
    keep(s, "a", "x", "three", 40, 0);
    told(s, "a", NULL, 1, "x=three;y=two;", "replaced, and the newest now");
    keep(s, "a", "y", NULL, 0, 0);
    keep(s, "a", "z", NULL, 0, 0);
    told(s, "a", NULL, 1, "x=three;", "forgotten");
    keep(s, "a", "short", "", 50, 100);
    told(s, "a", NULL, 99, "short=;x=three;", "until then");
    told(s, "a", NULL, 100, "x=three;", "and no longer");
    keep(s, "a", "long", "t", 50, 101);
    tap_ok(s->ops->tidy(s, 100, &(int64_t){0}, NULL) == WEND_OK, "tidied");
    told(s, "a", NULL, 1, "long=t;x=three;", "what is over is gone for good");
    keep(s, "a", "long", NULL, 0, 0);
    keep(s, "a", "stop", "here", 60, 0);
    told(s, "a", NULL, 200, "stop=here;", "stops when told to");
    keep(s, "q'\"", "k'", "t';--", 1, 0);
    told(s, "q'\"", "k'", 1, "k'=t';--;", "names are data");
    wend_store_free(s);
    if (strcmp(url, "memory:") &&
        tap_ok(wend_store_open(url, &s, NULL) == WEND_OK, "opened again")) {
        told(s, "a", "x", 1, "x=three;", "still there");
        wend_store_free(s);
    }
}

/* ---- The tools ------------------------------------------------------------
 */

#define CALL(name, args) "{\"name\":\"" name "\",\"args\":" args "}"

struct move {
    const char *why, *agent, *user, *call, *wanted;
};

static const struct move steps[] = {
    {"nothing yet", "a", NULL, CALL("recall", "{}"),
     "nothing is remembered yet"},
    {"one fact", "a", NULL,
     CALL("remember", "{\"text\":\"The user likes tea\",\"name\":\"taste\"}"),
     "remembered"},
    {"another", "a", NULL,
     CALL("remember",
          "{\"text\":\"Meetings are on Monday\",\"name\":\"week\"}"),
     "remembered"},
    {"without a name", "a", NULL,
     CALL("remember", "{\"text\":\"TEA is bought on Monday\"}"), "remembered"},
    {"the same again", "a", NULL,
     CALL("remember", "{\"text\":\"TEA is bought on Monday\"}"), "remembered"},
    {"the best first", "a", NULL,
     CALL("recall", "{\"query\":\"tea monday\",\"limit\":2}"),
     "- 06e961b0ded7: TEA is bought on Monday\n- week: Meetings are on "
     "Monday\n"},
    {"no match", "a", NULL, CALL("recall", "{\"query\":\"coffee\"}"),
     "nothing that is remembered fits"},
    {"another agent", "b", NULL, CALL("recall", "{}"),
     "nothing is remembered yet"},
    {"another user", "a", "ann", CALL("recall", "{}"),
     "nothing is remembered yet"},
    {"forget", "a", NULL, CALL("remember", "{\"text\":\"\",\"name\":\"week\"}"),
     "forgotten"},
    {"forgotten", "a", NULL, CALL("recall", "{\"query\":\"Meetings\"}"),
     "nothing that is remembered fits"},
    {"nothing to keep", "a", NULL, CALL("remember", "{\"text\":\"\"}"),
     "there is nothing to remember"},
    {"documents", "a", NULL, CALL("search_documents", "{\"query\":\"x\"}"),
     "no documents are indexed"},
    {"others", "a", NULL, CALL("task", "{\"agent\":\"x\",\"prompt\":\"y\"}"),
     "this agent has no other agents"},
};

/* memories: the agent's max_memories; `wanted` is the whole output then. */
static void one_step(wend_runtime *rt, const struct move *x, uint32_t memories)
{
    static const char *const tools[] = {"remember", "recall",
                                        "search_documents", "task"};
    wend_run_options ro = {.size = sizeof ro, .user = x->user};
    wend_agent_options o = {.size = sizeof o,
                            .name = x->agent,
                            .approve = WEND_APPROVE_ALL,
                            .max_memories = memories};
    struct buf script = {.mem = &rig_mem};
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    wend_error err = {0};
    const wend_event *ev;

    buf_fmt(&script, "script:{\"turns\":[{\"calls\":[%s]},{\"text\":\"ok\"}]}",
            x->call);
    o.model = script.ptr;
    if (wend_agent_new(rt, &o, &agent, &err) != WEND_OK)
        tap_ok(false, "%s", err.message);
    for (size_t i = 0; i < 4; i++)
        wend_agent_add_builtin(agent, tools[i], NULL);
    wend_run_start(agent, STR("go"), &ro, &run, &err);
    while (wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_CALL_END)
            tap_ok(!strncmp(ev->u.call_end.output.ptr, x->wanted,
                            strlen(x->wanted) + (memories > 0)),
                   "%s: %.*s", x->why,
                   (int)strcspn(ev->u.call_end.output.ptr, "\n"),
                   ev->u.call_end.output.ptr);
    wend_run_free(run);
    wend_agent_free(agent);
    buf_free(&script);
}

static void test_tools(const char *url)
{
    wend_runtime_options o = {.size = sizeof o};
    wend_runtime *rt = NULL;

    if (!tap_ok(wend_store_open(url, &o.store, NULL) == WEND_OK &&
                    wend_runtime_new(&o, &rt, NULL) == WEND_OK,
                "%s", url))
        return;
    for (size_t i = 0; i < tap_count(steps); i++)
        one_step(rt, &steps[i], 0);
    one_step(rt,
             &(struct move){"at most one", "a", NULL, CALL("recall", "{}"),
                            "- 06e961b0ded7: TEA is bought on Monday\n"},
             1);
    wend_runtime_free(rt);
    wend_store_free(o.store);
}

/* ---- Labels and folders ----------------------------------------------------
 */

static wend_status say_nothing(void *ctx, wend_call *call)
{
    (void)ctx;
    return wend_call_return(call, STR("said"));
}

/* One run: what each call gave and brought, `NAME: OUTPUT [LABELS]; `. */
struct visit {
    const char *why, *cwd;
    bool of_user;
    const char *calls; /* a message each */
    const char *wanted;
};

static const struct visit visits[] = {
    {"a fact of a run that read mail", "one", false,
     CALL("mail", "{}") "|" CALL("remember",
                                 "{\"text\":\"code 1\",\"name\":\"n\"}"),
     "mail: said [\"sensitive\"]; remember: remembered []; "},
    {"a fact of a run that read nothing", "one", false,
     CALL("remember", "{\"text\":\"plain 2\",\"name\":\"p\"}"),
     "remember: remembered []; "},
    {"what is recalled brings its labels", "one", false,
     CALL("recall", "{\"query\":\"code\"}"),
     "recall: - n: code 1\n [\"sensitive\"]; "},
    {"and nothing but its own", "one", false,
     CALL("recall", "{\"query\":\"2\"}"), "recall: - p: plain 2\n []; "},
    {"the guard fires", "one", false,
     CALL("recall", "{\"query\":\"code\"}") "|" CALL("web", "{}"),
     "recall: - n: code 1\n [\"sensitive\"]; web: denied; "},
    {"control: without it there is no need", "one", false, CALL("web", "{}"),
     "web: said [\"untrusted_source\",\"external_effect\"]; "},
    {"another folder", "two", false, CALL("recall", "{}"),
     "recall: - old: plain text\n [\"untrusted_source\"]; "},
    {"the user's, in a folder", "one", true,
     CALL("remember", "{\"text\":\"for all 3\",\"name\":\"u\"}"),
     "remember: remembered []; "},
    {"the user's, in another", "two", true,
     CALL("recall", "{\"query\":\"all\"}"), "recall: - u: for all 3\n []; "},
    {"which no folder has", "two", false, CALL("recall", "{\"query\":\"all\"}"),
     "recall: nothing that is remembered fits []; "},
    {"one of before is replaced", "two", false,
     CALL("remember", "{\"text\":\"new text\",\"name\":\"old\"}"),
     "remember: remembered []; "},
    {"and is gone", "two", false, CALL("recall", "{}"),
     "recall: - old: new text\n []; "},
    {"forgotten", "two", false,
     CALL("remember", "{\"text\":\"\",\"name\":\"old\"}") "|" CALL("recall",
                                                                   "{}"),
     "remember: forgotten []; recall: nothing is remembered yet []; "},
};

static void put_turns(struct buf *b, const char *calls)
{
    buf_cstr(b, "script:{\"turns\":[{\"calls\":[");
    for (; *calls; calls++)
        if (*calls == '|')
            buf_cstr(b, "]},{\"calls\":[");
        else
            buf_char(b, *calls);
    buf_cstr(b, "]},{\"text\":\"ok\"}]}");
}

static void put_call_end(struct buf *b, const wend_ev_call_end *e)
{
    buf_fmt(b, "%.*s: ", (int)e->name.len, e->name.ptr);
    if (e->outcome == WEND_OUTCOME_DENIED) {
        buf_cstr(b, "denied; ");
        return;
    }
    buf_str(b, e->output);
    buf_char(b, ' ');
    buf_str(b, e->labels_json.ptr ? e->labels_json : STR("[]"));
    buf_cstr(b, "; ");
}

static void one_visit(wend_runtime *rt, const struct visit *x, const char *dir)
{
    wend_tool_options mail = {.size = sizeof mail,
                              .name = "mail",
                              .labels = WEND_LABEL_SENSITIVE,
                              .fn = say_nothing};
    wend_tool_options web = mail;
    wend_agent_options o = {.size = sizeof o,
                            .name = "a",
                            .approve = WEND_APPROVE_ALL,
                            .memory_user = x->of_user};
    struct buf script = {.mem = &rig_mem}, got = {.mem = &rig_mem};
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    const wend_event *ev;
    char cwd[200];

    snprintf(cwd, sizeof cwd, "%s/%s", dir, x->cwd);
    mkdir(cwd, 0700);
    put_turns(&script, x->calls);
    o.model = script.ptr;
    o.cwd = cwd;
    web.name = "web";
    web.labels = WEND_LABEL_UNTRUSTED_SOURCE | WEND_LABEL_EXTERNAL_EFFECT;
    wend_agent_new(rt, &o, &agent, NULL);
    wend_agent_add_builtin(agent, "remember", NULL);
    wend_agent_add_builtin(agent, "recall", NULL);
    wend_agent_add_tool(agent, &mail, NULL);
    wend_agent_add_tool(agent, &web, NULL);
    wend_run_start(agent, STR("go"), NULL, &run, NULL);
    while (wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_CALL_END)
            put_call_end(&got, &ev->u.call_end);
    tap_is_str(buf_view(&got), x->wanted, "%s", x->why);
    wend_run_free(run);
    wend_agent_free(agent);
    buf_free(&script);
    buf_free(&got);
}

static void test_visits(const char *url, const char *dir)
{
    wend_runtime_options o = {.size = sizeof o};
    wend_runtime *rt = NULL;

    if (!tap_ok(wend_store_open(url, &o.store, NULL) == WEND_OK &&
                    wend_runtime_new(&o, &rt, NULL) == WEND_OK,
                "%s", url))
        return;
    /* As it was kept before facts had labels. */
    keep(o.store, "agent/0//a", "old", "plain text", 10, 0);
    for (size_t i = 0; i < tap_count(visits); i++)
        one_visit(rt, &visits[i], dir);
    wend_runtime_free(rt);
    wend_store_free(o.store);
}

int main(void)
{
    char *dir = dir_make(), file[128];

    test_store("memory:");
    test_tools("memory:");
    snprintf(file, sizeof file, "%s/a.db", dir);
    test_store(file);
    snprintf(file, sizeof file, "%s/b.db", dir);
    test_tools(file);
    test_visits("memory:", dir);
    snprintf(file, sizeof file, "%s/c.db", dir);
    test_visits(file, dir);
    dir_remove(dir);
    return tap_done();
}
