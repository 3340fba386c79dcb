/*
 * verdict.c - may this call run?
 *
 * Rules first (first match wins): they allow, deny or ask for approval.
 * Without a rule, reading in category general is allowed and everything else
 * needs approval; the agent's approve mode says what that means. Each layer
 * names a risk; the highest counts.
 */
#include "core/turn/verdict.h"

#include <string.h>

#include "core/event/event.h"
#include "core/policy/policy.h"

struct rule_set turn_rules(const struct turn *t, size_t restraint)
{
    const struct restraint *r = config_restraint(t->config, restraint);

    return (struct rule_set){restraint ? NULL : t->rules, r->rules,
                             r->rules_count};
}

/* In a rule for URLs a question mark is no wildcard. */
static bool is_literal(const struct rule_subject *q)
{
    if (q->tool->kind == SUBJECT_URL)
        return q->request && q->request->scheme.ptr &&
               !str_is(q->request->method, "?") &&
               !memchr(q->subject.ptr, '*', q->subject.len);
    return glob_literal(q->subject) == q->subject.len;
}

/* The tool, with the main argument of the call if it has one. */
static wend_str rule_text(const struct rule_subject *q, struct arena *a)
{
    struct buf b = {.mem = a->mem};

    buf_str(&b, q->tool->name);
    if (q->subject.ptr) {
        buf_char(&b, '(');
        buf_str(&b, q->subject);
        buf_char(&b, ')');
    }
    return buf_keep(&b, a);
}

/* The rule for this subject alone; absent if it would fit others, too. */
static wend_str rule_for(const struct rule_subject *q, struct arena *a)
{
    struct rule rule;
    wend_str text;

    if (!q->subject.ptr && rule_sees_string(q))
        return STR_NONE;
    if (q->subject.ptr && !is_literal(q))
        return STR_NONE;
    text = rule_text(q, a);
    /* A text that reads back as another rule is not offered. */
    return text.ptr && rule_parse(text, &rule, NULL) == WEND_OK &&
                   rule_fits(&rule, q)
               ? text
               : STR_NONE;
}

static wend_risk path_risk(const struct rule_subject *q)
{
    const unsigned all = PLACE_CODE | PLACE_SECRET;

    return q->outside || (q->tool->access && q->subject.ptr &&
                          path_place(q->subject, all).kinds)
               ? WEND_RISK_HIGH
               : WEND_RISK_LOW;
}

/* The plan is a model's or an imported run's: the user did not write it. */
static bool by_others(const struct turn *t)
{
    return t->imported || (t->plan.plan && t->plan.plan->written);
}

/* What one list of rules says about a call. */
struct say {
    wend_decision decision;
    wend_str name;           /* of what decided */
    const struct rule *rule; /* NULL: none did */
    bool unnamed;            /* no rule names its path, so a person must */
};

static wend_decision by_mode(enum approve approve)
{
    static const wend_decision modes[] = {
        [APPROVE_ASK] = WEND_DECISION_ASK,
        [APPROVE_DENY] = WEND_DECISION_DENY,
        [APPROVE_ALL] = WEND_DECISION_ALLOW,
    };

    return modes[approve];
}

static void say_by_rule(enum approve approve, const struct rule *rule,
                        struct say *out)
{
    out->rule = rule;
    out->name = rule->text;
    out->decision =
        rule->decision == WEND_DECISION_ASK ? by_mode(approve) : rule->decision;
}

static void say_without_rule(enum approve approve, bool own,
                             const struct tool *tool, struct say *out)
{
    if (tool->own && own) {
        out->name = STR("plan"); /* the user's own words */
        out->decision = WEND_DECISION_ALLOW;
    } else if (tool->client) { /* the caller decides whether it executes it */
        out->name = STR("client");
        out->decision = WEND_DECISION_ALLOW;
    } else if (tool->call_class == WEND_CLASS_READ &&
               tool->category == WEND_CATEGORY_GENERAL) {
        out->name = STR("default read");
        out->decision = WEND_DECISION_ALLOW;
    } else {
        out->name = approve == APPROVE_ALL    ? STR("approve all")
                    : approve == APPROVE_DENY ? STR("approve deny")
                                              : STR("default ask");
        out->decision = by_mode(approve);
    }
}

/* A path that matters needs a rule that allows and names it: no mode, no rule
 * that asks, and no wildcard covers it. */
static bool must_be_named(const struct rule_subject *q, const struct say *say)
{
    const struct rule *r = say->rule;

    if (!q->place.kinds)
        return false;
    if (!r)
        return true;
    return say->decision == WEND_DECISION_ALLOW &&
           (r->decision != WEND_DECISION_ALLOW || !rule_names(r, q));
}

/* What one list of rules says: own rules for the tool, then those that keep its
 * path from others. `own`: the plan is the user's. */
static void decide_by(const struct rule_set *set, enum approve approve,
                      bool own, const struct rule_subject *q, struct say *out)
{
    const struct rule *rule = rule_first(set, q), *keeps = NULL;

    memset(out, 0, sizeof *out);
    if (rule)
        say_by_rule(approve, rule, out);
    else
        say_without_rule(approve, own, q->tool, out);
    if (out->decision != WEND_DECISION_DENY && q->path.ptr)
        keeps = rule_keeps(set, q->root, q->path, q->tool->access);
    if (keeps &&
        (keeps->decision == WEND_DECISION_DENY || !rule || !rule->subject.ptr))
        say_by_rule(approve, keeps, out);
    if (must_be_named(q, out)) {
        out->unnamed = true;
        out->name = STR("place");
        out->decision =
            approve == APPROVE_ASK ? WEND_DECISION_ASK : WEND_DECISION_DENY;
    }
}

static void decide(const struct turn *t, size_t restraint, enum approve approve,
                   bool own, const struct rule_subject *q, struct say *out)
{
    const struct rule_set set = turn_rules(t, restraint);

    decide_by(&set, approve, own, q, out);
}

/* Why a person must look at the path. */
static wend_str place_reason(const struct rule_subject *q, bool asks,
                             struct arena *a)
{
    struct buf b = {.mem = a->mem};
    bool writes = q->place.kinds & PLACE_CODE;

    buf_fmt(&b, "%s %s needs a person or a rule that names it",
            writes ? "writing" : "reading", q->place.what);
    if (!asks)
        buf_cstr(&b, ", and there is no person to ask");
    return buf_keep(&b, a);
}

/* Why it is asked or denied; absent if it is allowed. */
static wend_str reason(const struct say *say, const struct rule_subject *q,
                       struct arena *a)
{
    bool asks = say->rule && say->rule->decision == WEND_DECISION_ASK;

    if (say->unnamed)
        return place_reason(q, say->decision == WEND_DECISION_ASK, a);
    if (say->decision == WEND_DECISION_ALLOW)
        return STR_NONE;
    if (say->decision == WEND_DECISION_ASK)
        return asks ? STR("a rule asks before this call")
                    : STR("no rule allows or denies this call");
    return asks ? STR("a rule asks before this call, and there is no person to "
                      "ask")
           : say->rule ? STR("a rule denies this call")
                       : STR("no rule allows this call, and there is no person "
                             "to ask");
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

enum {
    LABELS_ALL = WEND_LABEL_UNTRUSTED_SOURCE | WEND_LABEL_SENSITIVE |
                 WEND_LABEL_EXTERNAL_EFFECT
};

/* Parents label what a child does, too. */
static uint32_t labels_for(const struct turn *t, const struct rule_subject *q)
{
    uint32_t labels = 0;

    for (size_t i = 0; i < config_restraints(t->config); i++)
        labels |=
            label_rows_for(&config_restraint(t->config, i)->label_rows, q);
    if (q->place.kinds & PLACE_SECRET)
        labels |= WEND_LABEL_SENSITIVE;
    return labels;
}

/* Whether its labels depend on the arguments of a call. */
static bool may_label(const struct turn *t, const struct tool *tool)
{
    size_t rows = 0;

    for (size_t i = 0; i < config_restraints(t->config); i++)
        rows += config_restraint(t->config, i)->label_rows.count;
    return rows || (tool->access & ACCESS_READ);
}

uint32_t policy_labels(const struct turn *t, const struct tool *tool,
                       wend_str args, const struct mem *m)
{
    struct arena a = {.mem = m};
    struct rule_subject q = {.tool = tool,
                             .arena = &a,
                             .config = t->config,
                             .root = t->config->root};
    uint32_t labels;

    if (!may_label(t, tool))
        return 0;
    q.args = args.len ? json_parse(args, &a, NULL) : NULL;
    subject_find(&q);
    labels = a.failed ? LABELS_ALL : labels_for(t, &q);
    arena_free(&a);
    return labels;
}

/* The arguments that it got, or will get as far as is known. */
static wend_str call_args(const struct turn *t, const struct call *c)
{
    const struct call_state *s = turn_call_state(t, c->index);

    return s->args.ptr ? s->args : c->args;
}

static uint32_t brought(const struct turn *t, const struct tool *tool,
                        wend_str args, const struct mem *m)
{
    return tool ? tool->labels | policy_labels(t, tool, args, m) : 0;
}

/* What a child may bring is not here yet; what it brings comes with its end,
 * and what we have goes with it when it begins. */
uint32_t turn_labels(const struct turn *t, const struct mem *m)
{
    uint32_t labels = t->labels, i, place = 0;

    for (const struct call *c = t->calls; c; c = c->prev)
        if (turn_call_runs(t, c->index))
            labels |=
                brought(t, config_tool(t->config, c->name), call_args(t, c), m);
    while (t->plan.started &&
           (i = plan_marked(&t->plan, MARK_RUNS, &place)) != PLAN_NONE)
        labels |= brought(t, turn_action_tool(t, i),
                          plan_action_state(&t->plan, i)->params, m);
    return labels;
}

static bool labels_meet(const struct turn *t, uint32_t labels,
                        const struct mem *m)
{
    return labels && (turn_labels(t, m) | labels) == LABELS_ALL;
}

/* Text of strangers, sensitive data, and a way out: together they let the
 * strangers have the data, so that a person must look. */
static void check_labels(const struct turn *t, const struct tool *tool,
                         const struct mem *m, struct verdict *out)
{
    bool asks = t->config->own.approve == APPROVE_ASK;

    if (out->policy.decision == WEND_DECISION_DENY ||
        !labels_meet(t, tool->labels | out->labels, m))
        return;
    out->policy.decision = asks ? WEND_DECISION_ASK : WEND_DECISION_DENY;
    out->policy.rule = STR("labels");
    out->policy.risk = WEND_RISK_CRITICAL;
    out->reason =
        asks ? STR("with this call the run has text of strangers, sensitive "
                   "data and a way out; no rule allows all three")
             : STR("with this call the run has text of strangers, sensitive "
                   "data and a way out; that needs approval, and there is "
                   "no person to ask");
}

/* A child may do no more than its parents; what needs approval in a parent
 * needs it here, unless it was given in this run. */
static void check_bounds(const struct turn *t, const struct rule_subject *q,
                         bool said, struct arena *a, struct verdict *out)
{
    for (size_t i = 1; i < config_restraints(t->config); i++) {
        struct say say;

        decide(t, i, config_restraint(t->config, i)->approve, !by_others(t), q,
               &say);
        if (say.decision == WEND_DECISION_ALLOW ||
            out->policy.decision == WEND_DECISION_DENY ||
            (say.decision == WEND_DECISION_ASK &&
             (said || out->policy.decision == WEND_DECISION_ASK)))
            continue;
        out->policy.decision = say.decision;
        out->policy.rule = say.name;
        out->reason = reason(&say, q, a);
    }
}

/* An approval in this run made the rule. */
static bool was_said(const struct turn *t, const struct rule *rule)
{
    const struct remembered *r = t->rules;

    while (r && &r->rule != rule)
        r = r->prev;
    return r != NULL;
}

/* ---- The rule that would allow it ---------------------------------------- */

enum { RULE_NAMED_MAX = 500 }; /* bytes; longer ones are not typed */

/* Whether a user can give it as it is: in one line, and it is accepted. */
static bool can_be_given(wend_str text, wend_str root)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ')
            return false;
    return text.len <= RULE_NAMED_MAX &&
           rule_check(text, root, NULL) == WEND_OK;
}

/* In front of all others, of this run and of those above: there the rules of
 * the host are. */
static bool would_allow(const struct turn *t, const struct rule_subject *q,
                        wend_str text)
{
    struct remembered front = {0};
    struct say say = {.decision = WEND_DECISION_ALLOW};

    if (!text.ptr || !can_be_given(text, q->root) ||
        rule_parse(text, &front.rule, NULL) != WEND_OK)
        return false;
    for (size_t i = 0; say.decision == WEND_DECISION_ALLOW &&
                       i < config_restraints(t->config);
         i++) {
        struct rule_set set = turn_rules(t, i);

        front.prev = set.said;
        set.said = &front;
        decide_by(&set, config_restraint(t->config, i)->approve, false, q,
                  &say);
    }
    return say.decision == WEND_DECISION_ALLOW;
}

/* One for this call if there is one, else one for the tool. */
static wend_str rule_allowing(const struct turn *t,
                              const struct rule_subject *q, uint32_t labels,
                              struct arena *a)
{
    wend_str text;

    if (q->outside || labels_meet(t, labels, a->mem))
        return STR_NONE;
    text = rule_text(q, a);
    if (would_allow(t, q, text))
        return text;
    return would_allow(t, q, q->tool->name) ? q->tool->name : STR_NONE;
}

bool policy_names(const struct turn *t, wend_str path)
{
    static const char *const writers[] = {"write_file", "edit_file"};
    char room[PATH_BYTES];

    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        const struct tool tool = {.name = str_of(writers[i]),
                                  .kind = SUBJECT_PATH,
                                  .access = ACCESS_WRITE};
        struct rule_subject q = {
            .tool = &tool, .config = t->config, .root = t->config->root};
        struct say say = {.decision = WEND_DECISION_ALLOW};

        q.subject = q.path = policy_path(path, q.root, room, sizeof room);
        if (!q.subject.ptr)
            return false;
        subject_find_place(&q);
        for (size_t k = 0; say.decision == WEND_DECISION_ALLOW &&
                           k < config_restraints(t->config);
             k++)
            decide(t, k, APPROVE_DENY, false, &q, &say);
        if (say.decision == WEND_DECISION_ALLOW)
            return true;
    }
    return false;
}

void policy_check(const struct turn *t, const struct tool *tool,
                  const struct json *args, struct arena *a, struct verdict *out)
{
    struct rule_subject q = {.tool = tool,
                             .args = args,
                             .arena = a,
                             .config = t->config,
                             .root = t->config->root};
    wend_ev_policy *p = &out->policy;
    wend_risk risk;
    struct say say;

    memset(out, 0, sizeof *out);
    subject_find(&q);
    risk = path_risk(&q);
    decide(t, 0, t->config->own.approve, !by_others(t), &q, &say);
    p->decision = say.decision;
    p->rule = say.name;
    p->risk = tool->risk > risk ? tool->risk : risk;
    out->reason = reason(&say, &q, a);
    check_bounds(t, &q, say.rule && was_said(t, say.rule), a, out);
    out->rule = rule_for(&q, a);
    out->labels = labels_for(t, &q);
    p->layers_json = layers_text(tool, p->decision != WEND_DECISION_DENY,
                                 !q.outside, risk, a);
    if (q.outside && p->decision != WEND_DECISION_DENY) {
        p->decision = WEND_DECISION_DENY;
        p->rule = STR("path");
        out->reason = STR("the path leads out of the working directory");
    }
    check_labels(t, tool, a->mem, out);
    if (p->decision != WEND_DECISION_ALLOW)
        out->allows = rule_allowing(t, &q, tool->labels | out->labels, a);
}
