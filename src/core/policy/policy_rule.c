/*
 * policy_rule.c - rules: how they are read, and which calls they fit.
 */
#include "core/policy/policy.h"

#include <string.h>

#include "base/fail.h"
#include "base/label.h"
#include "base/utf8.h"

enum { RULE_SHOWN_MAX = 120 }; /* bytes of one in a message */

/* ---- Reading ------------------------------------------------------------- */

wend_status rule_parse(wend_str text, struct rule *out, wend_error *err)
{
    wend_str rest = text;
    const char *open;

    memset(out, 0, sizeof *out);
    out->text = text;
    if (rest.len && (rest.ptr[0] == '!' || rest.ptr[0] == '?')) {
        out->decision =
            rest.ptr[0] == '!' ? WEND_DECISION_DENY : WEND_DECISION_ASK;
        rest = str_skip(rest, 1);
    }
    open = rest.len ? memchr(rest.ptr, '(', rest.len) : NULL;
    out->tool = rest;
    if (open) {
        if (rest.ptr[rest.len - 1] != ')')
            return fail(err, WEND_E_INVAL, "rule '%.*s' has no closing )",
                        (int)text.len, text.ptr);
        out->tool.len = (size_t)(open - rest.ptr);
        out->subject.ptr = open + 1;
        out->subject.len = rest.len - out->tool.len - 2;
    }
    if (!out->tool.len)
        return fail(err, WEND_E_INVAL,
                    "rule '%.*s' names no tool; write tool or "
                    "tool(arg-glob), with ! in front to deny, ? to ask",
                    (int)text.len, text.ptr);
    return WEND_OK;
}

/* ---- Tools --------------------------------------------------------------- */

static const struct known_tool {
    const char *name;
    enum subject kind;
    unsigned access;
} known[] = {
    {"read_file", SUBJECT_PATH, ACCESS_READ},
    {"grep", SUBJECT_PATH, ACCESS_READ},
    {"list_dir", SUBJECT_PATH, ACCESS_NAMES},
    {"glob", SUBJECT_PATTERN, ACCESS_NAMES},
    {"write_file", SUBJECT_PATH, ACCESS_WRITE},
    {"edit_file", SUBJECT_PATH, ACCESS_READ_WRITE},
    {"shell", SUBJECT_COMMAND, 0},
    {"exec", SUBJECT_WORDS, 0},
    {"http_request", SUBJECT_URL, 0},
};
enum { KNOWN = sizeof known / sizeof *known };

bool tool_kind(wend_str name, enum subject *kind, unsigned *access)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (str_is(name, known[i].name)) {
            *kind = known[i].kind;
            *access = known[i].access;
            return true;
        }
    return false;
}

/* ---- Rules that can never fit -------------------------------------------- */

/* Rules do not know the patterns of the tool glob. */
static bool has_alternatives(wend_str glob)
{
    const char *open = glob.len ? memchr(glob.ptr, '{', glob.len) : NULL;
    const char *comma =
        open ? memchr(open, ',', glob.len - (size_t)(open - glob.ptr)) : NULL;

    return comma &&
           memchr(comma, '}', glob.len - (size_t)(comma - glob.ptr)) != NULL;
}

static const char *path_wrong(const struct rule *r, wend_str root)
{
    char room[PATH_BYTES];
    wend_str glob = policy_path(r->subject, root, room, sizeof room);

    if (!glob.ptr)
        return "no path is as long";
    if (has_alternatives(glob))
        return "rules know * and ?, but no {a,b}; write a rule for each";
    if (r->decision != WEND_DECISION_ALLOW || !path_is_outside(glob) ||
        (glob.ptr[0] == '/' && !root.ptr))
        return NULL;
    return "no rule allows a path outside of the working directory; write one "
           "relative to it";
}

static const char *command_wrong(const struct rule *r)
{
    if (!r->subject.len)
        return "no command is empty";
    if (r->decision == WEND_DECISION_ALLOW &&
        glob_literal(r->subject) < r->subject.len &&
        command_has_end(r->subject))
        return "an allow with * or ? is for one plain command, without ; & | "
               "< > $ ( ) ` and line breaks; write a rule for each command, or "
               "the whole without a wildcard";
    return NULL;
}

static const char *subject_wrong(const struct rule *r, wend_str root)
{
    enum subject kind = SUBJECT_TEXT;
    unsigned access;

    tool_kind(r->tool, &kind, &access); /* others see a text */
    switch (kind) {
    case SUBJECT_PATH:
    case SUBJECT_PATTERN: return path_wrong(r, root);
    case SUBJECT_COMMAND: return command_wrong(r);
    case SUBJECT_WORDS: return words_wrong(r->subject);
    case SUBJECT_URL:
        return request_rule_wrong(r->subject,
                                  r->decision == WEND_DECISION_ALLOW);
    case SUBJECT_TEXT: break;
    }
    return NULL;
}

/* A name with the wildcards of rules in it. */
static bool tool_glob_ok(wend_str glob)
{
    for (size_t i = 0; i < glob.len; i++)
        if (glob.ptr[i] != '*' && glob.ptr[i] != '?' &&
            !tool_name_ok((wend_str){glob.ptr + i, 1}))
            return false;
    return true;
}

wend_status rule_check(wend_str text, wend_str root, wend_error *err)
{
    struct rule r;
    wend_status s = rule_parse(text, &r, err);
    const char *wrong;

    if (s != WEND_OK)
        return s;
    wrong = !tool_glob_ok(r.tool) ? "no tool has a name with such characters"
            : r.subject.ptr       ? subject_wrong(&r, root)
                                  : NULL;
    return wrong
               ? fail(err, WEND_E_INVAL, "rule '%.*s' can never fit a call: %s",
                      (int)utf8_cut(text, RULE_SHOWN_MAX), text.ptr, wrong)
               : WEND_OK;
}

/* ---- Fitting ------------------------------------------------------------- */

/* Without a main argument, as the tool's options and its schema say it, any
 * string may be what matters: the model orders them as it likes. */
static bool any_string(const struct rule_subject *q, wend_str glob)
{
    const struct json *m =
        q->args && !q->tool->subject.ptr ? q->args->first : NULL;

    while (m && (m->kind != JSON_STRING || !str_glob(glob, json_str(m))))
        m = m->next;
    return m != NULL;
}

/* An allow covers what it shows; what denies or asks holds for all that lies
 * beneath. */
static bool fits_path(const struct rule *r, wend_str root, wend_str path)
{
    char room[PATH_BYTES];
    wend_str glob = policy_path(r->subject, root, room, sizeof room);

    return glob.ptr &&
           path_fits(glob, path, r->decision != WEND_DECISION_ALLOW);
}

bool rule_sees_string(const struct rule_subject *q)
{
    return any_string(q, STR("*"));
}

/* An allow with a wildcard covers one plain command for a shell. */
static bool fits_command(const struct rule *r, const struct rule_subject *q)
{
    bool fits = str_glob(r->subject, q->subject);

    if (r->decision != WEND_DECISION_ALLOW)
        return fits || !q->cut || cut_has(q->cut, r->subject);
    return fits && (glob_literal(r->subject) == r->subject.len ||
                    command_is_plain(q->subject));
}

static bool fits_words(const struct rule *r, const struct rule_subject *q)
{
    return words_fit(r->subject, q->argv, q->arena) ||
           (r->decision != WEND_DECISION_ALLOW &&
            (!q->cut || cut_has(q->cut, r->subject)));
}

/* A rule that denies or asks holds for both tools that run programs. */
static bool is_about(const struct rule *r, const struct tool *t)
{
    bool runs = t->kind == SUBJECT_COMMAND || t->kind == SUBJECT_WORDS;

    return str_glob(r->tool, t->name) ||
           (runs && r->subject.ptr && r->decision != WEND_DECISION_ALLOW &&
            (str_glob(r->tool, STR("shell")) ||
             str_glob(r->tool, STR("exec"))));
}

bool rule_fits(const struct rule *r, const struct rule_subject *q)
{
    bool allows = r->decision == WEND_DECISION_ALLOW;

    if (!is_about(r, q->tool))
        return false;
    if (!r->subject.ptr)
        return true;
    if (!q->subject.ptr)
        return !allows && any_string(q, r->subject);
    switch (q->tool->kind) {
    case SUBJECT_PATH:
    case SUBJECT_PATTERN: return fits_path(r, q->root, q->subject);
    case SUBJECT_COMMAND: return fits_command(r, q);
    case SUBJECT_WORDS: return fits_words(r, q);
    case SUBJECT_URL:
        return !q->request
                   ? !allows
                   : request_fits(q->request, r->subject, allows, q->arena);
    case SUBJECT_TEXT: break;
    }
    return str_glob(r->subject, q->subject);
}

/* Said ones first; NULL after the last. */
static const struct rule *next_rule(const struct rule_set *set,
                                    const struct remembered **said, size_t *i)
{
    const struct rule *r;

    if (*said) {
        r = &(*said)->rule;
        *said = (*said)->prev;
        return r;
    }
    return *i < set->count ? &set->rules[(*i)++] : NULL;
}

const struct rule *rule_first(const struct rule_set *set,
                              const struct rule_subject *q)
{
    const struct remembered *said = set->said;
    const struct rule *r;
    size_t i = 0;

    while ((r = next_rule(set, &said, &i)) && !rule_fits(r, q))
        continue;
    return r;
}

bool rule_names(const struct rule *r, const struct rule_subject *q)
{
    char room[PATH_BYTES];
    wend_str glob;

    if (!q->place.kinds)
        return true;
    glob = r->subject.ptr ? policy_path(r->subject, q->root, room, sizeof room)
                          : STR_NONE;
    return glob.ptr && glob_literal(glob) >= q->place.reach;
}

/* ---- What other tools may not see ---------------------------------------- */

/* Does a rule for one of two tools that touch the same file concern the other?
 * A folder that may not be listed may not be read either. */
static bool concerns(unsigned access, unsigned other)
{
    const unsigned sees = ACCESS_NAMES | ACCESS_READ;

    return ((access & sees) && (other & sees) && !(other & ACCESS_WRITE)) ||
           (access & other & ACCESS_WRITE);
}

/* The first rule for the known tool of this row; NULL if none fits. */
static const struct rule *first_for(const struct rule_set *set,
                                    const struct known_tool *tool,
                                    wend_str root, wend_str path)
{
    const struct remembered *said = set->said;
    const struct rule *r;
    size_t i = 0;

    while ((r = next_rule(set, &said, &i)))
        if (str_glob(r->tool, str_of(tool->name)) &&
            (!r->subject.ptr || fits_path(r, root, path)))
            break;
    return r;
}

const struct rule *rule_keeps(const struct rule_set *set, wend_str root,
                              wend_str path, unsigned access)
{
    const struct rule *asks = NULL;

    for (size_t i = 0; i < KNOWN; i++) {
        const struct rule *r = concerns(access, known[i].access)
                                   ? first_for(set, &known[i], root, path)
                                   : NULL;

        if (!r || !r->subject.ptr)
            continue; /* a rule for a whole tool is about the tool */
        if (r->decision == WEND_DECISION_DENY)
            return r;
        if (r->decision == WEND_DECISION_ASK &&
            (access & known[i].access & ACCESS_READ_WRITE))
            asks = r;
    }
    return asks;
}

/* ---- Rows that label calls without deciding about them ------------------- */

static wend_status no_row(wend_str text, const char *why, wend_error *err)
{
    return fail(err, WEND_E_INVAL,
                "'%.*s' %s; write labels and a tool, such as "
                "sensitive=read_file(.env*); labels are untrusted_source, "
                "sensitive and external_effect",
                (int)(text.len < 100 ? text.len : 100), text.ptr, why);
}

wend_status label_row_parse(wend_str text, struct label_row *out,
                            wend_error *err)
{
    wend_str rule = text, names, name;
    wend_status s;

    memset(out, 0, sizeof *out);
    if (!text.len || !memchr(text.ptr, '=', text.len))
        return no_row(text, "has no =", err);
    str_take(&rule, '=', &names);
    while (str_take(&names, ',', &name)) {
        uint32_t label = label_of(name);

        if (!label)
            return no_row(text, "names a label that there is not", err);
        out->labels |= label;
    }
    if (!out->labels)
        return no_row(text, "names no label", err);
    if (rule.len && (rule.ptr[0] == '!' || rule.ptr[0] == '?'))
        return no_row(text, "decides", err);
    s = rule_parse(rule, &out->rule, err);
    /* It holds for all that lies beneath, as what denies does. */
    out->rule.decision = WEND_DECISION_DENY;
    out->text = text;
    return s;
}

static bool row_fits(const struct label_row *row, const struct rule_subject *q)
{
    const struct rule_set alone = {NULL, &row->rule, 1};

    return rule_fits(&row->rule, q) ||
           (q->path.ptr && q->tool->access &&
            rule_keeps(&alone, q->root, q->path, q->tool->access));
}

uint32_t label_rows_for(const struct label_rows *rows,
                        const struct rule_subject *q)
{
    uint32_t labels = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (row_fits(&rows->list[i], q))
            labels |= rows->list[i].labels;
    return labels;
}

void label_rows_put(struct buf *b, const struct label_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        buf_cstr(b, i ? "," : ",\"labels\":[");
        json_put_str(b, rows->list[i].text);
    }
    buf_cstr(b, rows->count ? "]" : "");
}
