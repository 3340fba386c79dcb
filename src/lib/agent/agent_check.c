/*
 * agent_check.c - whether what an agent's file names exists.
 */
#include <string.h>

#include "base/fail.h"
#include "lib/agent/agent_file.h"

/* ---- Which there are ----------------------------------------------------- */

static const wend_tool_info *builtin(wend_str name)
{
    const wend_tool_info *t;

    for (size_t i = 0; (t = wend_builtin(i)); i++)
        if (str_eq(t->name, name))
            return t;
    return NULL;
}

static bool has_command(const struct agent_file *f, wend_str name)
{
    for (size_t i = 0; i < f->seen.commands_count; i++)
        if (str_is(name, f->seen.commands[i]->name))
            return true;
    return false;
}

void tool_names_add(struct tool_names *n, const char *name)
{
    if (n->count < (int)(sizeof n->list / sizeof *n->list))
        n->list[n->count++] = name;
}

void tool_names_fill(struct tool_names *n, const wend_manifest *m)
{
    const wend_tool_info *t;

    n->count = 0;
    for (size_t i = 0; (t = wend_builtin(i)); i++)
        tool_names_add(n, t->name.ptr);
    for (size_t i = 0; m && i < m->commands_count; i++)
        tool_names_add(n, m->commands[i]->name);
}

/* ---- An agent's file ----------------------------------------------------- */

static wend_status no_tool_at(const struct agent_file *f,
                              const struct manifest_word *w, wend_str name,
                              wend_error *err)
{
    struct tool_names n;
    const char *near;

    tool_names_fill(&n, &f->seen);
    near = str_near(name, n.list, n.count);
    return fail_at(err, WEND_E_PARSE, w->line, w->column,
                   "%.200s:%u:%u: there is no tool '%.*s'%s%s%s", f->seen.path,
                   w->line, w->column, (int)(name.len < 80 ? name.len : 80),
                   name.ptr, near ? "; did you mean '" : "",
                   near ? near : "; 'wend tools' lists them", near ? "'?" : "");
}

static wend_status uses_network(const struct agent_file *f,
                                const struct manifest_word *w, wend_str name,
                                wend_error *err)
{
    return fail_at(err, WEND_E_PARSE, w->line, w->column,
                   "%.200s:%u:%u: '%.*s' uses the network, but it, or an agent "
                   "above it, says 'network: off'",
                   f->seen.path, w->line, w->column, (int)name.len, name.ptr);
}

bool tool_networks(const struct tool_manifest *t)
{
    for (size_t i = 0; i < t->labels.count; i++)
        if (str_is(t->labels.list[i].text, "network"))
            return true;
    return t->category == WEND_CATEGORY_NETWORK;
}

/* Whether the tool that a rule names exists. */
static wend_status check_rule(const struct agent_file *f,
                              const struct manifest_word *w, const char *rule,
                              wend_error *err)
{
    wend_str name = manifest_rule_tool(str_of(rule));

    return !name.len || builtin(name) || has_command(f, name)
               ? WEND_OK
               : no_tool_at(f, w, name, err);
}

/* Without the network its children do not have it either. */
static wend_status check(const struct agent_file *f, bool offline,
                         wend_error *err)
{
    const struct agent_manifest *m = f->manifest;
    wend_status s = WEND_OK;
    size_t file = 0;

    offline |= m->network_off;
    for (size_t i = 0; i < m->tools.count; i++) {
        const struct manifest_word *w = &m->tools.list[i];
        bool is_file = manifest_is_file(w->text);
        const wend_tool_info *t = is_file ? NULL : builtin(w->text);
        const struct tool_manifest *p =
            is_file ? f->tools[file++].manifest : NULL;

        if (!t && !p)
            return no_tool_at(f, w, w->text, err);
        if (offline &&
            (p ? tool_networks(p) : t->category == WEND_CATEGORY_NETWORK))
            return uses_network(f, w, p ? p->name : t->name, err);
    }
    for (size_t i = 0; offline && i < m->servers_count; i++)
        if (m->servers[i].url.ptr || m->servers[i].network_on)
            return fail(err, WEND_E_PARSE,
                        "%.200s: the server '%s' uses the network, but it, "
                        "or an agent above it, says 'network: off'",
                        f->seen.path, m->servers[i].name.ptr);
    for (size_t i = 0; s == WEND_OK && i < m->rules.count; i++)
        s = check_rule(f, &m->rules.list[i], m->rules.list[i].text.ptr, err);
    for (size_t i = 0; s == WEND_OK && i < m->label_rows.count; i++)
        s = check_rule(f, &m->label_rows.list[i],
                       strchr(m->label_rows.list[i].text.ptr, '=') + 1, err);
    for (size_t i = 0; s == WEND_OK && i < m->agents.count; i++)
        s = check(&f->agents[i], offline, err);
    return s;
}

/* Recursion is bounded by CHILD_DEPTH_MAX. */
static wend_status check_any(const struct agent_file *f, wend_error *err)
{
    wend_status s = f->manifest ? check(f, false, err) : WEND_OK;

    for (size_t i = 0; !s && f->seen.plan && i < f->seen.agents_count; i++)
        s = check_any(&f->agents[i], err);
    return s;
}

wend_status wend_manifest_check(const wend_manifest *manifest, wend_error *err)
{
    if (!manifest)
        return fail(err, WEND_E_INVAL, "manifest: it is NULL");
    fail_clear(err);
    return check_any(agent_file_of(manifest), err);
}
