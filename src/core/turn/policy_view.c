/*
 * policy_view.c - which files a tool may tell about.
 */
#include "core/turn/verdict.h"

static bool is_of_files(const struct rule *r)
{
    static const char *const names[] = {"read_file", "grep", "list_dir",
                                        "glob"};
    bool fits = false;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fits |= str_glob(r->tool, str_of(names[i]));
    return fits;
}

/* False: it is not about files. */
static bool copy_rule(const struct rule *r, struct rule *to, struct arena *a)
{
    if (!is_of_files(r))
        return false;
    *to = (struct rule){.tool = arena_str(a, r->tool),
                        .subject = arena_str(a, r->subject),
                        .decision = r->decision};
    return true;
}

static bool copy_set(const struct rule_set *from, struct path_view *v,
                     struct rule_set *to, struct arena *a)
{
    size_t count = from->count;
    struct rule *list;

    for (const struct remembered *r = from->said; r; r = r->prev)
        count++;
    if (!count)
        return true;
    list = arena_alloc(a, count * sizeof *list);
    if (!list)
        return false;
    for (const struct remembered *r = from->said; r; r = r->prev)
        to->count += copy_rule(&r->rule, &list[to->count], a);
    for (size_t i = 0; i < from->count; i++)
        to->count += copy_rule(&from->rules[i], &list[to->count], a);
    for (size_t i = 0; i < to->count; i++)
        v->hides |=
            list[i].subject.ptr && list[i].decision != WEND_DECISION_ALLOW;
    to->rules = list;
    return !a->failed;
}

/* A row without a subject labels its tool as a whole. */
static bool copy_rows(const struct label_rows *from, struct label_rows *to,
                      struct arena *a)
{
    struct label_row *list =
        from->count ? arena_alloc(a, from->count * sizeof *list) : NULL;

    for (size_t i = 0; list && i < from->count; i++) {
        list[to->count].labels = from->list[i].labels;
        to->count += from->list[i].rule.subject.ptr &&
                     copy_rule(&from->list[i].rule, &list[to->count].rule, a);
    }
    to->list = list;
    return !a->failed;
}

const struct path_view *policy_view(const struct turn *t, struct arena *a)
{
    const struct config *c = t->config;
    struct path_view *v = arena_alloc(a, sizeof *v);

    if (!v)
        return NULL;
    v->root = arena_str(a, c->root);
    v->count = config_restraints(c);
    v->sets = arena_alloc(a, v->count * sizeof *v->sets);
    v->rows = arena_alloc(a, v->count * sizeof *v->rows);
    for (size_t i = 0; !a->failed && i < v->count; i++) {
        const struct rule_set set = turn_rules(t, i);

        if (!copy_set(&set, v, &v->sets[i], a) ||
            !copy_rows(&config_restraint(c, i)->label_rows, &v->rows[i], a))
            return NULL;
    }
    return a->failed ? NULL : v;
}

/* The strictest that any list of rules says of a path. */
static wend_decision strictest(const struct path_view *v, wend_str path,
                               unsigned access)
{
    wend_decision worst = WEND_DECISION_ALLOW;

    for (size_t i = 0; v->hides && i < v->count; i++) {
        const struct rule *r = rule_keeps(&v->sets[i], v->root, path, access);

        if (r && r->decision == WEND_DECISION_DENY)
            return WEND_DECISION_DENY;
        worst = r ? WEND_DECISION_ASK : worst;
    }
    return worst;
}

bool view_names(const struct path_view *v, wend_str path)
{
    char room[PATH_BYTES];
    wend_str p = policy_path(path, v->root, room, sizeof room);

    return p.ptr && strictest(v, p, ACCESS_NAMES) != WEND_DECISION_DENY;
}

bool view_opens(const struct path_view *v, wend_str start, wend_str path)
{
    char room[PATH_BYTES], begin[PATH_BYTES];
    wend_str p = policy_path(path, v->root, room, sizeof room);
    wend_str s = policy_path(start, v->root, begin, sizeof begin);
    wend_decision d;

    if (!p.ptr || !s.ptr)
        return false;
    d = strictest(v, p, ACCESS_READ);
    if (d == WEND_DECISION_DENY)
        return false;
    if (d == WEND_DECISION_ASK &&
        strictest(v, s, ACCESS_READ) == WEND_DECISION_ALLOW)
        return false;
    return !path_place(p, PLACE_SECRET).kinds ||
           path_place(s, PLACE_SECRET).kinds;
}

/* ---- Programs ------------------------------------------------------------ */

static bool keeps_from_reading(const struct rule *r)
{
    return r->decision == WEND_DECISION_DENY && r->subject.ptr &&
           is_of_files(r);
}

/* The file or folder that a rule covers as a whole: one without a wildcard, or
 * all that lies in a folder. Absent: it covers some of many, which a sandbox
 * cannot hide, or the working directory itself. */
static wend_str whole(const struct rule *r, wend_str root, char *room,
                      size_t size)
{
    wend_str p = policy_path(r->subject, root, room, size), rest;
    size_t literal = p.ptr ? glob_literal(p) : 0;

    if (!literal || path_is_outside(p))
        return STR_NONE;
    rest = (wend_str){p.ptr + literal, p.len - literal};
    if (rest.len && !str_is(rest, "*") && !str_is(rest, "**"))
        return STR_NONE;
    if (rest.len && p.ptr[literal - 1] != '/')
        return STR_NONE;
    p.len = literal - (p.ptr[literal - 1] == '/');
    return str_is(p, ".") || !p.len ? STR_NONE : p;
}

/* The first program that no rule denies as a whole, also one that only plans
 * can use; exposed: among those from which no sandbox hides anything. A server
 * is started without the rules of a run. */
static const struct tool *program(const struct config *c, bool exposed)
{
    const struct restraint *own = &c->own;

    for (size_t i = 0; i < c->tools_count + c->endpoints_count; i++) {
        const struct tool *t = i < c->tools_count
                                   ? &c->tools[i]
                                   : &c->endpoints[i - c->tools_count];
        size_t k = 0;

        while (k < own->rules_count && (own->rules[k].subject.ptr ||
                                        !str_glob(own->rules[k].tool, t->name)))
            k++;
        if (t->program && (!exposed || t->unprotected || t->server) &&
            (k == own->rules_count ||
             own->rules[k].decision != WEND_DECISION_DENY))
            return t;
    }
    return NULL;
}

bool policy_programs(const struct config *c)
{
    return program(c, false) != NULL;
}

/* The first of these rules that a program gets round; *by is that program. */
static const struct rule *gap_of(const struct config *c, bool hides,
                                 const struct restraint *bound,
                                 const struct tool **by)
{
    char room[PATH_BYTES];

    for (size_t i = 0; i < bound->rules_count; i++) {
        const struct rule *r = &bound->rules[i];

        if (!keeps_from_reading(r))
            continue;
        *by = program(c, hides && whole(r, c->root, room, sizeof room).ptr);
        if (*by)
            return r;
    }
    return NULL;
}

wend_str policy_gap(const struct config *c, bool hides, struct arena *a)
{
    const struct tool *t = NULL;
    const struct rule *r = NULL;
    struct buf b = {.mem = a->mem};

    for (size_t i = 0; !r && i < config_restraints(c); i++)
        r = gap_of(c, hides, config_restraint(c, i), &t);
    if (!r)
        return STR_NONE;
    buf_fmt(&b,
            "the rule '%.*s' holds for the file tools, but not for programs: "
            "'%.*s' can read what lies in the working directory",
            (int)r->text.len, r->text.ptr, (int)t->name.len, t->name.ptr);
    return buf_keep(&b, a);
}

/* NULL if a rule before it allows the same: looked up by the path itself, or by
 * a name in the folder that no other rule spells out. */
static const char *hidden_by(const struct rule *r, const struct rule_set *set,
                             wend_str root, struct arena *a)
{
    char room[PATH_BYTES];
    struct buf b = {.mem = a->mem};
    wend_str p =
        keeps_from_reading(r) ? whole(r, root, room, sizeof room) : STR_NONE;
    const struct rule *keeper;

    if (!p.ptr)
        return NULL;
    buf_str(&b, p);
    if (glob_literal(r->subject) < r->subject.len)
        buf_cstr(&b, "/\x7f");
    keeper = b.failed ? r : rule_keeps(set, root, buf_view(&b), ACCESS_READ);
    buf_free(&b);
    if (!keeper || keeper->decision != WEND_DECISION_DENY)
        return NULL;
    buf_str(&b, root);
    buf_char(&b, '/');
    buf_str(&b, p);
    return buf_keep(&b, a).ptr;
}

const char *const *policy_hidden(const struct turn *t, struct arena *a)
{
    const struct config *c = t->config;
    size_t count = 1, n = 0;
    const char **list;

    for (size_t i = 0; i < config_restraints(c); i++)
        count += config_restraint(c, i)->rules_count;
    list = arena_alloc(a, count * sizeof *list);
    if (!list || !c->root.len)
        return NULL;
    for (size_t i = 0; i < config_restraints(c); i++) {
        const struct rule_set set = turn_rules(t, i);

        for (size_t k = 0; k < set.count; k++)
            if ((list[n] = hidden_by(&set.rules[k], &set, c->root, a)))
                n++;
    }
    list[n] = NULL;
    return a->failed ? NULL : list;
}

/* ---- Labels -------------------------------------------------------------- */

uint32_t view_labels(const struct path_view *v, wend_str path)
{
    char room[PATH_BYTES];
    wend_str p = policy_path(path, v->root, room, sizeof room);
    uint32_t labels = 0;

    for (size_t i = 0; p.ptr && i < v->count; i++)
        for (size_t k = 0; k < v->rows[i].count; k++) {
            const struct label_row *r = &v->rows[i].list[k];
            const struct rule_set alone = {NULL, &r->rule, 1};

            if (rule_keeps(&alone, v->root, p, ACCESS_READ))
                labels |= r->labels;
        }
    return labels;
}
