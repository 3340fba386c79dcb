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

/* `a/./b//../c` as a/c, relative to the root if it lies beneath it: rules
 * look at the file that is meant, not at how its path is spelled. Absent if
 * it does not fit, which is longer than any file's path can be. */
static wend_str normal_path(wend_str path, wend_str root, char *out,
                            size_t size)
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
        return rule->decision == WEND_DECISION_ASK ? by_mode[c->approve]
                                                   : rule->decision;
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

void policy_check(const struct config *c, const struct tool *tool,
                  const struct json *args, struct verdict *out)
{
    char path[PATH_BYTES];
    wend_str subject = subject_of(tool, args);
    const struct rule *rule;
    wend_ev_policy *p = &out->policy;

    memset(out, 0, sizeof *out);
    if (tool->subject_is_path && subject.ptr)
        subject = normal_path(subject, c->root, path, sizeof path);
    rule = find_rule(c, tool, subject);
    p->decision = decide(c, tool, rule, &p->rule);
    p->risk = tool->risk;
    p->layers_json = p->decision == WEND_DECISION_DENY ? tool->layers_denied
                                                       : tool->layers_ok;
    out->reason = reason(p->decision, rule);
}
