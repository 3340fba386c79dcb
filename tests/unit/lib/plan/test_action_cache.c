/*
 * test_action_cache.c - answers of actions that are given again bring what
 * they brought the first time; so do values of relics.
 */
#include "run_help.h"

static const char plan_text[] =
    "wend: plan/1\nname: p\noutputs: {got: $x}\nactions: ["
    "{name: a, type: agent, target: kid, prompt: look, cache: {ttl: 1h}, "
    "output_key: x}]\n";

/* Its child reads what a stranger wrote. */
static bool open_family(struct rig *r, wend_agent **kid)
{
    wend_agent_options o = {
        .size = sizeof o,
        .approve = WEND_APPROVE_ALL,
        .model = "script:{\"turns\":[{\"calls\":[{\"name\":\"web\",\"args\":"
                 "{}}]},{\"text\":\"[1, {\\\"a\\\": \\\"b\\\"}]\"}]}"};
    wend_tool_options t = {.size = sizeof t,
                           .name = "web",
                           .call_class = WEND_CLASS_READ,
                           .labels = WEND_LABEL_UNTRUSTED_SOURCE |
                                     WEND_LABEL_SENSITIVE,
                           .fn = tool_echo};
    wend_child_options k = {.size = sizeof k, .name = "kid"};

    memset(r, 0, sizeof *r);
    if (!rig_open(r, "memory:", "script:{\"turns\":[{\"text\":\"x\"}]}") ||
        wend_agent_new(r->rt, &o, kid, &r->err) != WEND_OK ||
        wend_agent_add_tool(*kid, &t, &r->err) != WEND_OK)
        return tap_ok(false, "kid: %s", r->err.message);
    k.agent = *kid;
    return wend_agent_add_agent(r->agent, &k, &r->err) == WEND_OK;
}

struct seen {
    int children;
    bool cached;
    char labels[100], text[100];
};

static void keep(char out[100], wend_str s)
{
    snprintf(out, 100, "%.*s", (int)s.len, s.ptr ? s.ptr : "");
}

static struct seen run_once(struct rig *r, const wend_plan *plan)
{
    struct seen seen = {.labels = ""};
    wend_run *run = NULL;
    const wend_event *ev;

    wend_run_start_plan(r->agent, plan, NULL, NULL, &run, &r->err);
    while (run && wend_run_next(run, &ev) == WEND_OK) {
        if (ev->type == WEND_CHILD_END) {
            seen.children++;
            keep(seen.labels, ev->u.child_end.labels_json);
        } else if (ev->type == WEND_ACTION_END) {
            seen.cached = ev->u.action_end.cached;
            if (ev->u.action_end.labels_json.ptr)
                keep(seen.labels, ev->u.action_end.labels_json);
        } else if (ev->type == WEND_RUN_END) {
            keep(seen.text, ev->u.run_end.text);
        }
    }
    wend_run_free(run);
    return seen;
}

/* ---- Relics -------------------------------------------------------------- */

static const struct {
    const char *why, *actions, *labels, *text;
} kept[] = {
    {"put by a run that has read nothing",
     "{name: p, type: relic, target: notes.put, params: {key: k, value: 1}},"
     "{name: g, type: relic, target: notes.get, params: {key: k}, depends_on: "
     "[p], output_key: x}",
     "", "{\"got\":1}"},
    {"put by one that has read a stranger's text, and sent something",
     "{name: w, type: tool, target: web},"
     "{name: p, type: relic, target: notes.put, params: {key: k, value: [{a: "
     "b}]}, depends_on: [w]},"
     "{name: g, type: relic, target: notes.get, params: {key: other}, "
     "depends_on: [p], output_key: x}",
     "", "{\"got\":null}"},
    {"got by another run",
     "{name: g, type: relic, target: notes.get, params: {key: k}, output_key: "
     "x}",
     "[\"untrusted_source\"]", "{\"got\":[{\"a\":\"b\"}]}"},
};

static void test_relics(void)
{
    wend_tool_options t = {.size = sizeof t,
                           .name = "web",
                           .call_class = WEND_CLASS_READ,
                           .labels = WEND_LABEL_UNTRUSTED_SOURCE |
                                     WEND_LABEL_EXTERNAL_EFFECT,
                           .fn = tool_echo};
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};

    if (!rig_open(&r, "memory:", "script:{\"turns\":[{\"text\":\"x\"}]}"))
        return;
    wend_agent_add_tool(r.agent, &t, &r.err);
    wend_agent_add_kv(r.agent, "notes", 0, &r.err);
    for (size_t i = 0; i < tap_count(kept); i++) {
        struct buf text = {.mem = &rig_mem};
        wend_plan *plan = NULL;
        struct seen seen;

        buf_fmt(&text,
                "wend: plan/1\nname: p\noutputs: {got: $x}\nactions: [%s]\n",
                kept[i].actions);
        if (wend_plan_parse(buf_view(&text), NULL, &plan, &r.err) != WEND_OK)
            tap_ok(false, "%s", r.err.message);
        seen = run_once(&r, plan);
        tap_is_str(str_of(seen.labels), kept[i].labels, "%s: labels",
                   kept[i].why);
        tap_is_str(str_of(seen.text), kept[i].text, "%s", kept[i].why);
        wend_plan_free(plan);
        buf_free(&text);
    }
    rig_close(&r);
}

/* ---- Files --------------------------------------------------------------- */

static wend_status tool_attaches(void *ctx, wend_call *call)
{
    static const wend_part gif = {
        .name = {"a.gif", 5},
        .data = {"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1"
                 "\0\0\2\2D\1\0;",
                 35}};

    ++*(int *)ctx;
    wend_call_attach(call, &gif, NULL);
    return wend_call_return(call, STR("seen"));
}

/* The files of a result and what they bring come from the cache, too. */
static void test_files(void)
{
    static const char text[] =
        "wend: plan/1\nname: p\noutputs: {got: $x}\nactions: ["
        "{name: t, type: tool, target: web, cache: {ttl: 1h}, output_key: s},"
        "{name: a, type: llm, prompt: look, files: [$s], depends_on: [t], "
        "output_key: x}]\n";
    int calls = 0;
    wend_tool_options t = {.size = sizeof t,
                           .name = "web",
                           .call_class = WEND_CLASS_READ,
                           .labels = WEND_LABEL_UNTRUSTED_SOURCE,
                           .fn = tool_attaches,
                           .ctx = &calls};
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    wend_plan *plan = NULL;

    if (!rig_open(&r, "memory:", "script:{\"turns\":[{\"text\":\"x\"}]}"))
        return;
    wend_agent_add_tool(r.agent, &t, &r.err);
    wend_plan_parse(str_of(text), NULL, &plan, &r.err);
    for (int i = 0; i < 2; i++) {
        bool cached = false, labelled = false;
        const wend_event *ev;
        size_t given = 0, got = 0;
        wend_run *run = NULL;

        wend_run_start_plan(r.agent, plan, NULL, NULL, &run, &r.err);
        while (run && wend_run_next(run, &ev) == WEND_OK) {
            if (ev->type == WEND_ACTION_END &&
                str_is(ev->u.action_end.action, "t")) {
                given = ev->u.action_end.parts_count;
                cached = ev->u.action_end.cached;
                labelled = str_has(str_or(ev->u.action_end.labels_json, ""),
                                   STR("untrusted_source"));
            } else if (ev->type == WEND_ACTION_START) {
                got = str_has(ev->u.action_start.params_json,
                              STR("\"parts\":[{\"type\":\"image\""));
            }
        }
        tap_ok(given == 1 && got == 1, "run %d: the file is passed on", i);
        tap_ok(cached == (i == 1) && calls == 1, "run %d: the tool ran once",
               i);
        tap_ok(!cached || labelled, "run %d: it is still a stranger's", i);
        wend_run_free(run);
    }
    wend_plan_free(plan);
    rig_close(&r);
}

int main(void)
{
    static const char labels[] = "[\"untrusted_source\",\"sensitive\"]";
    static const char text[] = "{\"got\":[1,{\"a\":\"b\"}]}";
    struct seen first, again;
    wend_agent *kid = NULL;
    wend_plan *plan = NULL;
    struct rig r;

    test_relics();
    test_files();
    if (!open_family(&r, &kid))
        return tap_done();
    wend_plan_parse(str_of(plan_text), NULL, &plan, &r.err);
    first = run_once(&r, plan);
    tap_ok(first.children == 1 && !first.cached, "a child answers");
    tap_is_str(str_of(first.labels), labels, "and says what it brings");
    tap_is_str(str_of(first.text), text, "its answer");
    again = run_once(&r, plan);
    tap_ok(!again.children && again.cached, "then the answer is given again");
    tap_is_str(str_of(again.labels), labels, "and brings the same");
    tap_is_str(str_of(again.text), text, "it is the same answer");
    wend_plan_free(plan);
    wend_agent_free(kid);
    rig_close(&r);
    return tap_done();
}
