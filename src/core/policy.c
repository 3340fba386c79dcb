/*
 * policy.c - may this call run?
 *
 * Rules first (first match wins). Without one, reading in category general
 * is allowed and everything else is asked; the agent's approve mode says
 * what asking means. Each layer names a risk; the highest counts.
 */
#include "core/policy.h"

#include <string.h>

#include "core/event.h"

/* The argument that rules look at: the named one, else the first string. */
static wend_str subject_of(const struct tool *tool, const struct json *args)
{
    if (!args || args->kind != JSON_OBJECT)
        return STR_NONE;
    for (const struct json *m = args->first; m; m = m->next)
        if (tool->subject.ptr ? str_eq(m->key, tool->subject)
                              : m->kind == JSON_STRING)
            return json_str(m);
    return STR_NONE;
}

static const struct rule *find_rule(const struct config *c,
                                    const struct tool *tool, wend_str subject)
{
    for (size_t i = 0; i < c->rules_count; i++) {
        const struct rule *r = &c->rules[i];

        if (!str_glob(r->tool, tool->name))
            continue;
        if (!r->subject.ptr || (subject.ptr && str_glob(r->subject, subject)))
            return r;
    }
    return NULL;
}

static wend_decision decide(const struct config *c, const struct tool *tool,
                            const struct rule *rule, wend_str *name)
{
    static const wend_decision by_mode[] = {
        [APPROVE_ASK] = WEND_DECISION_ASK,
        [APPROVE_DENY] = WEND_DECISION_DENY,
        [APPROVE_ALL] = WEND_DECISION_ALLOW,
    };

    if (rule) {
        *name = rule->text;
        return rule->deny ? WEND_DECISION_DENY : WEND_DECISION_ALLOW;
    }
    if (tool->call_class == WEND_CLASS_READ &&
        tool->category == WEND_CATEGORY_GENERAL) {
        *name = STR("default read");
        return WEND_DECISION_ALLOW;
    }
    *name = c->approve == APPROVE_ALL    ? STR("approve all")
            : c->approve == APPROVE_DENY ? STR("approve deny")
                                         : STR("default ask");
    return by_mode[c->approve];
}

void policy_check(const struct config *c, const struct tool *tool,
                  const struct json *args, struct verdict *out)
{
    const struct rule *rule = find_rule(c, tool, subject_of(tool, args));
    wend_ev_policy *p = &out->policy;

    memset(out, 0, sizeof *out);
    p->decision = decide(c, tool, rule, &p->rule);
    p->risk = tool->risk;
    p->layers_json = p->decision == WEND_DECISION_DENY ? tool->layers_denied
                                                       : tool->layers_ok;
    if (p->decision == WEND_DECISION_ASK)
        out->reason = STR("no rule allows or denies this call");
    else if (p->decision == WEND_DECISION_DENY)
        out->reason = rule ? STR("a rule denies this call")
                           : STR("no rule allows this call and nobody is "
                                 "there to ask");
}
