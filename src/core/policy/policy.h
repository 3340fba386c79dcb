/*
 * policy.h - rules: how they are read, and which calls they fit.
 */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "core/config/config.h"
#include "core/policy/policy_path.h"
#include "core/policy/policy_url.h"
#include "core/policy/policy_words.h"

/* Parses `tool(arg-glob)`, with `!` in front to deny, with `?` to ask; views
 * into text. */
wend_status rule_parse(wend_str text, struct rule *out, wend_error *err);

/* Whether a rule can fit a call at all; if not, err says what to write
 * instead. For what a user has written now: logs are read by rule_parse.
 * root: of the file tools, absent if it is not known. */
wend_status rule_check(wend_str text, wend_str root, wend_error *err);

/* What the main argument of the built-in tool of this name is; false if
 * there is no such tool, or rules see only its text. */
bool tool_kind(wend_str name, enum subject *kind, unsigned *access);

/* A call as rules see it. */
struct rule_subject {
    const struct tool *tool;
    const struct json *args; /* NULL: none that could be looked at */
    struct arena *arena;     /* of all that is found in them */
    const struct config *config;
    wend_str root;     /* of the file tools */
    wend_str subject;  /* the main argument, in its one spelling;
                          absent: there is none */
    wend_str path;     /* file or folder that is looked at; absent: none */
    struct spot place; /* what must be named by a rule that allows */
    bool outside;      /* a path leads out of the root */
    const struct json *argv;            /* of SUBJECT_WORDS */
    const struct cut *cut;              /* and of SUBJECT_COMMAND */
    const struct rule_request *request; /* of SUBJECT_URL */
};

/* Finds what rules look at; tool, args, arena, config and root are given. */
void subject_find(struct rule_subject *q);
/* Its place, from subject and path. */
void subject_find_place(struct rule_subject *q);
/* Without a main argument any string of the call may be what matters. */
bool rule_sees_string(const struct rule_subject *q);

bool rule_fits(const struct rule *r, const struct rule_subject *q);
/* Whether a rule that fits spells out what is special about the call's
 * path. */
bool rule_names(const struct rule *r, const struct rule_subject *q);

/* Rules of which each counts before the next. */
struct rule_set {
    const struct remembered *said; /* in this run, newest first */
    const struct rule *rules;
    size_t count;
};

const struct rule *rule_first(const struct rule_set *set,
                              const struct rule_subject *q);
/* A path that is kept from one file tool is kept from all that could open,
 * name or quote it. The rule that keeps it from a tool with this access: one
 * that denies, else one that asks; NULL: there is none. */
const struct rule *rule_keeps(const struct rule_set *set, wend_str root,
                              wend_str path, unsigned access);

/* ---- Rows that label calls without deciding about them ------------------- */

/* Parses `label,label=tool(arg-glob)`; views into text. */
wend_status label_row_parse(wend_str text, struct label_row *out,
                            wend_error *err);

/* wend_label of all rows that fit the call. A row about one file tool holds
 * for every tool that would read, name or write the same path. */
uint32_t label_rows_for(const struct label_rows *rows,
                        const struct rule_subject *q);

/* The list `labels` of a policy. */
wend_status label_rows_read(const struct json *list, struct arena *a,
                            struct label_rows *out, wend_error *err);
/* The same list, as a member that follows others; nothing for no rows. */
void label_rows_put(struct buf *b, const struct label_rows *rows);

#endif
