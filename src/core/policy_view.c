/*
 * policy_view.c - which files a tool may tell about.
 */
#include "core/policy_view.h"

static bool is_of_files(const struct rule *r)
{
    static const char *const names[] = {"read_file", "grep", "list_dir",
                                        "glob"};
    bool fits = false;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fits |= str_glob(r->tool, str_of(names[i]));
    return fits;
}

static void take(const struct rule *r, struct path_view *v,
                 struct rule_set *set, struct rule *list, struct arena *a)
{
    struct rule *to = &list[set->count];

    if (!is_of_files(r))
        return;
    *to = *r;
    to->text = STR_NONE;
    to->tool = arena_str(a, r->tool);
    if (r->subject.ptr)
        to->subject = arena_str(a, r->subject);
    v->hides |= r->subject.ptr && r->decision != WEND_DECISION_ALLOW;
    set->count++;
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
        take(&r->rule, v, to, list, a);
    for (size_t i = 0; i < from->count; i++)
        take(&from->rules[i], v, to, list, a);
    to->rules = list;
    return !a->failed;
}

static bool copy_rows(const struct label_rows *from, struct label_rows *to,
                      struct arena *a)
{
    struct label_row *list =
        from->count ? arena_alloc(a, from->count * sizeof *list) : NULL;

    for (size_t i = 0; list && i < from->count; i++) {
        const struct label_row *r = &from->list[i];

        if (!r->rule.subject.ptr || !is_of_files(&r->rule))
            continue; /* the tool as a whole has the labels */
        list[to->count] = *r;
        list[to->count].text = list[to->count].rule.text = STR_NONE;
        list[to->count].rule.tool = arena_str(a, r->rule.tool);
        list[to->count++].rule.subject = arena_str(a, r->rule.subject);
    }
    to->list = list;
    return !a->failed;
}

const struct path_view *policy_view(const struct turn *t, struct arena *a)
{
    const struct config *c = t->config;
    struct rule_set own = {t->rules, c->rules, c->rules_count};
    struct path_view *v = arena_alloc(a, sizeof *v);

    if (!v)
        return NULL;
    v->root = arena_str(a, c->root);
    v->count = 1 + c->within.bounds_count;
    v->sets = arena_alloc(a, v->count * sizeof *v->sets);
    v->rows = arena_alloc(a, v->count * sizeof *v->rows);
    if (!v->sets || !v->rows || !copy_set(&own, v, &v->sets[0], a) ||
        !copy_rows(&c->label_rows, &v->rows[0], a))
        return NULL;
    for (size_t i = 0; i < c->within.bounds_count; i++) {
        const struct restraint *b = &c->within.bounds[i];

        own = (struct rule_set){NULL, b->rules, b->rules_count};
        if (!copy_set(&own, v, &v->sets[i + 1], a) ||
            !copy_rows(&b->label_rows, &v->rows[i + 1], a))
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

/* The first program that no rule takes away as a whole. */
static const struct tool *program(const struct config *c)
{
    for (size_t i = 0; i < c->tools_count; i++) {
        const struct tool *t = &c->tools[i];
        size_t k = 0;

        while (k < c->rules_count && (c->rules[k].subject.ptr ||
                                      !str_glob(c->rules[k].tool, t->name)))
            k++;
        if (t->program &&
            (k == c->rules_count || c->rules[k].decision != WEND_DECISION_DENY))
            return t;
    }
    return NULL;
}

wend_str policy_gap(const struct config *c, struct arena *a)
{
    const struct tool *t = program(c);
    struct buf b = {.mem = a->mem};
    size_t i = 0;

    while (i < c->rules_count &&
           (c->rules[i].decision != WEND_DECISION_DENY ||
            !c->rules[i].subject.ptr || !is_of_files(&c->rules[i])))
        i++;
    if (!t || i == c->rules_count)
        return STR_NONE;
    buf_fmt(&b,
            "the rule '%.*s' holds for the file tools, but not for programs: "
            "'%.*s' can read what lies in the working directory",
            (int)c->rules[i].text.len, c->rules[i].text.ptr, (int)t->name.len,
            t->name.ptr);
    return buf_keep(&b, a);
}

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
