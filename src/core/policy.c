/*
 * policy.c - may this call run?
 *
 * Rules first (first match wins): they allow, deny or ask. Without one,
 * reading in category general is allowed and everything else is asked; the
 * agent's approve mode says what asking means. Each layer names a risk; the
 * highest counts.
 */
#include "core/policy.h"

#include <string.h>

#include "core/event.h"

enum { PATH_BYTES = 4096 }; /* the kernel takes no longer ones */

/* A call as rules see it. */
struct asked {
    const struct tool *tool;
    const struct json *args; /* NULL: none that could be looked at */
    wend_str subject;        /* the main argument; absent: there is none */
};

/* Without a main argument, as the tool's options and its schema say it, any
 * string may be what matters: the model orders them as it likes. */
static bool any_string(const struct asked *q, wend_str glob)
{
    const struct json *m =
        q->args && !q->tool->subject.ptr ? q->args->first : NULL;

    while (m && (m->kind != JSON_STRING || !str_glob(glob, json_str(m))))
        m = m->next;
    return m != NULL;
}

static void find_subject(struct asked *q)
{
    size_t strings = 0;

    if (q->args && q->args->kind != JSON_OBJECT)
        q->args = NULL;
    for (const struct json *m = q->args ? q->args->first : NULL; m; m = m->next)
        if (q->tool->subject.ptr ? str_eq(m->key, q->tool->subject)
                                 : m->kind == JSON_STRING) {
            q->subject = json_str(m);
            strings++;
        }
    if (strings > 1)
        q->subject = STR_NONE;
}

wend_str policy_path(wend_str path, wend_str root, char *out, size_t size)
{
    size_t len = 0, at = 0;

    if (path.len && path.ptr[0] == '/') {
        if (root.len && path.len >= root.len &&
            !memcmp(path.ptr, root.ptr, root.len) &&
            (path.len == root.len || path.ptr[root.len] == '/'))
            at = root.len;
        else
            out[len++] = '/';
    }
    while (at < path.len) {
        const char *slash = memchr(path.ptr + at, '/', path.len - at);
        wend_str part = {path.ptr + at, slash ? (size_t)(slash - path.ptr) - at
                                              : path.len - at};

        at += part.len + 1;
        if (!part.len || str_is(part, "."))
            continue;
        if (str_is(part, "..") && len && out[len - 1] != '/' &&
            !(len >= 2 && !memcmp(out + len - 2, "..", 2) &&
              (len == 2 || out[len - 3] == '/'))) {
            while (len && out[len - 1] != '/')
                len--;
            len -= len > 1;
            continue;
        }
        if (len + part.len + 2 > size)
            return STR_NONE;
        if (len && out[len - 1] != '/')
            out[len++] = '/';
        memcpy(out + len, part.ptr, part.len);
        len += part.len;
    }
    if (!len)
        out[len++] = '.';
    return (wend_str){out, len};
}

static bool rule_fits(const struct rule *r, const struct asked *q)
{
    if (!str_glob(r->tool, q->tool->name))
        return false;
    if (!r->subject.ptr)
        return true;
    if (q->subject.ptr)
        return str_glob(r->subject, q->subject);
    return r->decision != WEND_DECISION_ALLOW && any_string(q, r->subject);
}

static const struct rule *first_fit(const struct rule *rules, size_t count,
                                    const struct asked *q)
{
    for (size_t i = 0; i < count; i++)
        if (rule_fits(&rules[i], q))
            return &rules[i];
    return NULL;
}

/* *said: whoever approves made it, in this run. */
static const struct rule *find_rule(const struct turn *t, const struct asked *q,
                                    bool *said)
{
    for (const struct remembered *r = t->rules; r; r = r->prev)
        if (rule_fits(&r->rule, q)) {
            *said = true;
            return &r->rule;
        }
    return first_fit(t->config->rules, t->config->rules_count, q);
}

/* The rule for this very subject. None if it would fit others, too. */
static wend_str rule_for(const struct asked *q, struct arena *a)
{
    struct buf b = {.mem = a->mem};

    if (!q->subject.ptr && any_string(q, STR("*")))
        return STR_NONE;
    for (size_t i = 0; i < q->subject.len; i++)
        if (q->subject.ptr[i] == '*' || q->subject.ptr[i] == '?')
            return STR_NONE;
    buf_str(&b, q->tool->name);
    if (q->subject.ptr) {
        buf_char(&b, '(');
        buf_str(&b, q->subject);
        buf_char(&b, ')');
    }
    return buf_keep(&b, a);
}

static bool is_outside(wend_str path)
{
    return path.ptr[0] == '/' || str_is(path, "..") || str_starts(path, "../");
}

/* Files that decide what else is trusted. */
static wend_risk path_risk(wend_str path)
{
    static const char *const grave[] = {".git", ".hg", ".svn", ".ssh",
                                        ".gnupg"};

    if (is_outside(path))
        return WEND_RISK_HIGH;
    for (size_t at = 0; at < path.len;) {
        const char *slash = memchr(path.ptr + at, '/', path.len - at);
        size_t end = slash ? (size_t)(slash - path.ptr) : path.len;
        wend_str part = {path.ptr + at, end - at};

        if (str_index(part, grave, 5) >= 0 || str_starts(part, ".env"))
            return WEND_RISK_HIGH;
        at = end + 1;
    }
    return WEND_RISK_LOW;
}

/* The plan is a model's, and what it says not the user's word. */
static bool by_model(const struct turn *t)
{
    return t->plan.plan && t->plan.plan->written;
}

static wend_decision decide(enum approve approve, bool own,
                            const struct tool *tool, const struct rule *rule,
                            wend_str *name)
{
    static const wend_decision by_mode[] = {
        [APPROVE_ASK] = WEND_DECISION_ASK,
        [APPROVE_DENY] = WEND_DECISION_DENY,
        [APPROVE_ALL] = WEND_DECISION_ALLOW,
    };

    if (rule) {
        *name = rule->text;
        return rule->decision == WEND_DECISION_ASK ? by_mode[approve]
                                                   : rule->decision;
    }
    if (tool->own && own) {
        *name = STR("plan"); /* the user's own words */
        return WEND_DECISION_ALLOW;
    }
    if (tool->call_class == WEND_CLASS_READ &&
        tool->category == WEND_CATEGORY_GENERAL) {
        *name = STR("default read");
        return WEND_DECISION_ALLOW;
    }
    *name = approve == APPROVE_ALL    ? STR("approve all")
            : approve == APPROVE_DENY ? STR("approve deny")
                                      : STR("default ask");
    return by_mode[approve];
}

/* Why it is asked or denied; absent if it is allowed. */
static wend_str reason(wend_decision decision, const struct rule *rule)
{
    bool asks = rule && rule->decision == WEND_DECISION_ASK;

    switch (decision) {
    case WEND_DECISION_ALLOW: return STR_NONE;
    case WEND_DECISION_ASK:
        return asks ? STR("a rule asks before this call")
                    : STR("no rule allows or denies this call");
    case WEND_DECISION_DENY:
        if (asks)
            return STR("a rule asks before this call and nobody is there to "
                       "ask");
        return rule ? STR("a rule denies this call")
                    : STR("no rule allows this call and nobody is there to "
                          "ask");
    }
    return STR_NONE;
}

static wend_str layers_text(const struct tool *tool, bool permitted,
                            bool path_ok, wend_risk path, struct arena *a)
{
    struct buf b = {.mem = a->mem};

    if (path == WEND_RISK_LOW)
        return permitted ? tool->layers_ok : tool->layers_denied;
    layers_put(&b, tool, permitted, path_ok, path);
    return buf_keep(&b, a);
}

/* What a child may bring is not here yet; what it brings comes with its end,
 * and what we have goes with it when it begins. */
uint32_t policy_taint(const struct turn *t)
{
    uint32_t taint = t->taint, i, place = 0;
    const struct tool *tool;

    for (const struct call *c = t->calls; c; c = c->prev)
        if (turn_call_runs(t, c->index) &&
            (tool = config_tool(t->config, c->name)))
            taint |= tool->labels;
    while (t->plan.started &&
           (i = plan_marked(&t->plan, MARK_RUNS, &place)) != PLAN_NONE)
        if ((tool = turn_action_tool(t, i)))
            taint |= tool->labels;
    return taint;
}

/* Text of strangers, data that must not get out, and a way out: together
 * they let the strangers have the data, so that a person must look. */
static bool combines(const struct turn *t, const struct tool *tool)
{
    const uint32_t all = WEND_LABEL_UNTRUSTED_SOURCE | WEND_LABEL_SENSITIVE |
                         WEND_LABEL_EXTERNAL_EFFECT;

    return tool->labels && (policy_taint(t) | tool->labels) == all;
}

static void check_labels(const struct turn *t, const struct tool *tool,
                         struct verdict *out)
{
    bool asks = t->config->approve == APPROVE_ASK;

    if (out->policy.decision == WEND_DECISION_DENY || !combines(t, tool))
        return;
    out->policy.decision = asks ? WEND_DECISION_ASK : WEND_DECISION_DENY;
    out->policy.rule = STR("labels");
    out->policy.risk = WEND_RISK_CRITICAL;
    out->reason =
        asks ? STR("with this call the run has text of strangers, sensitive "
                   "data and a way out; no rule allows all three")
             : STR("with this call the run has text of strangers, sensitive "
                   "data and a way out; that needs approval and nobody is "
                   "there to ask");
}

/* Nobody may do what those above it may not; what they would be asked about
 * is asked, unless that was answered in this run. */
static void check_bounds(const struct turn *t, const struct asked *q, bool said,
                         struct verdict *out)
{
    const struct within *w = &t->config->within;

    for (size_t i = 0; i < w->bounds_count; i++) {
        const struct restraint *b = &w->bounds[i];
        const struct rule *rule = first_fit(b->rules, b->rules_count, q);
        wend_str name;
        wend_decision d =
            decide(b->approve, !by_model(t), q->tool, rule, &name);

        if (d == WEND_DECISION_ALLOW ||
            out->policy.decision == WEND_DECISION_DENY ||
            (d == WEND_DECISION_ASK &&
             (said || out->policy.decision == WEND_DECISION_ASK)))
            continue;
        out->policy.decision = d;
        out->policy.rule = name;
        out->reason = reason(d, rule);
    }
}

void policy_check(const struct turn *t, const struct tool *tool,
                  const struct json *args, struct arena *a, struct verdict *out)
{
    char path[PATH_BYTES];
    struct asked q = {.tool = tool, .args = args};
    wend_risk risk = WEND_RISK_LOW;
    const struct rule *rule;
    wend_ev_policy *p = &out->policy;
    bool outside = false, said = false;

    memset(out, 0, sizeof *out);
    find_subject(&q);
    if (tool->subject_is_path && !q.subject.ptr)
        q.subject = STR("."); /* leaving it out must not get round a rule */
    if (tool->subject_is_path)
        q.subject = policy_path(q.subject, t->config->root, path, sizeof path);
    if (tool->subject_is_path && q.subject.ptr) {
        risk = path_risk(q.subject);
        outside = is_outside(q.subject);
    }
    rule = find_rule(t, &q, &said);
    p->decision =
        decide(t->config->approve, !by_model(t), tool, rule, &p->rule);
    p->risk = tool->risk > risk ? tool->risk : risk;
    out->reason = reason(p->decision, rule);
    check_bounds(t, &q, said, out);
    out->rule = rule_for(&q, a);
    p->layers_json =
        layers_text(tool, p->decision != WEND_DECISION_DENY, !outside, risk, a);
    if (outside && p->decision != WEND_DECISION_DENY) {
        p->decision = WEND_DECISION_DENY;
        p->rule = STR("path");
        out->reason = STR("the path leads out of the working directory");
    }
    check_labels(t, tool, out);
}
