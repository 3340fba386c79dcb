/*
 * test_action_cache.c - answers of actions that are given again bring what
 * they brought the first time.
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
    wend_kid_options k = {.size = sizeof k, .name = "kid"};

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
            if (seen.cached)
                keep(seen.labels, ev->u.action_end.labels_json);
        } else if (ev->type == WEND_RUN_END) {
            keep(seen.text, ev->u.run_end.text);
        }
    }
    wend_run_free(run);
    return seen;
}

int main(void)
{
    static const char labels[] = "[\"untrusted_source\",\"sensitive\"]";
    static const char text[] = "{\"got\":[1,{\"a\":\"b\"}]}";
    struct seen first, again;
    wend_agent *kid = NULL;
    wend_plan *plan = NULL;
    struct rig r;

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
