/*
 * test_facts.c - what is kept by name, on both engines, and the tools.
 */
#include "base/limits.h"
#include "run_help.h"
#include "store_help.h"

/* ---- The store ------------------------------------------------------------
 */

struct keeping {
    struct store_keep keep;
    struct wait wait;
};

static void on_kept(struct store_keep *k, wend_status s)
{
    struct keeping *x = (struct keeping *)(void *)k;

    x->wait.status = s;
    sem_post(&x->wait.sem);
}

static wend_status keep(wend_store *s, const char *space, const char *key,
                        const char *text, int64_t time_us, int64_t until_us)
{
    struct keeping x = {.keep = {.done = on_kept,
                                 .fact = {.space = str_of(space),
                                          .key = str_of(key),
                                          .text = str_of(text),
                                          .time_us = time_us,
                                          .until_us = until_us}}};

    sem_init(&x.wait.sem, 0, 0);
    s->ops->keep(s, &x.keep);
    return put_end(&x.wait);
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

static void one_step(wend_runtime *rt, const struct move *x)
{
    static const char *const tools[] = {"remember", "recall",
                                        "search_documents", "task"};
    wend_run_options ro = {.size = sizeof ro, .user = x->user};
    wend_agent_options o = {
        .size = sizeof o, .name = x->agent, .approve = WEND_APPROVE_ALL};
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
                            strlen(x->wanted)),
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
        one_step(rt, &steps[i]);
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
    dir_remove(dir);
    return tap_done();
}
