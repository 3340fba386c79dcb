/*
 * policy.h - rules: how they are read, and which calls they fit.
 */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "base/url.h"
#include "core/config/config.h"

/* ---- policy_path.c: one spelling, places that matter, patterns ----------- */

enum { PATH_BYTES = 4096 }; /* the kernel takes no longer ones */

/* `a/./b//../c` as a/c, relative to the root if it lies beneath it: rules
 * look at the file that is meant, not at how its path is spelled. Absent if
 * it does not fit into out, which is longer than any file's path can be. */
wend_str policy_path(wend_str path, wend_str root, char *out, size_t size);

/* Whether a path in that spelling leads out of the root. */
bool path_is_outside(wend_str path);

/* What is special about a path. */
enum place_kind {
    PLACE_CODE = 1,   /* what is written there runs later, unasked */
    PLACE_SECRET = 2, /* what is read there opens other doors */
};

struct spot {
    unsigned kinds;   /* of the table's rows that fit; 0: a path like others */
    const char *what; /* for people; of the first row that was asked for */
    size_t reach;     /* bytes that a rule must spell out to name the path */
};

/* What is special about a path that policy_path wrote; only these kinds are
 * looked for. Letter case does not matter; rows fit at any depth, and all that
 * lies beneath. */
struct spot path_place(wend_str path, unsigned kinds);

/* Does a pattern, spelled as policy_path writes it, fit the path? A star
 * stands for slashes, too, and a component of two stars for no folder as
 * well. `beneath`: or a folder that the path lies in, but for the root. */
bool path_fits(wend_str pattern, wend_str path, bool beneath);

/* How much of a pattern is literal: up to its first wildcard. */
size_t glob_literal(wend_str pattern);

/* ---- policy_url.c: a method and a URL in one spelling -------------------- */

struct rule_request {
    wend_str method; /* upper case, GET if none is given; `?`: not known */
    bool body;       /* it has one */
    wend_str scheme, authority; /* absent: the URL cannot be read */
    wend_str target[URL_FORMS]; /* path and query */
    wend_str whole[URL_FORMS];  /* URL */
    wend_str raw;               /* as it was given */
};

/* Reads the arguments url, method and body; NULL with a->failed. */
const struct rule_request *request_read(const struct json *args,
                                        struct arena *a);
/* As a rule writes it: without the method where GET and HEAD are meant. */
void request_put(struct buf *b, const struct rule_request *q);

/* `[METHOD ]scheme://authority/path`, of which only `*` is a wildcard; it
 * reaches from one part into the next only at the end of the rule. An allow
 * without method is for GET and HEAD without a body, and must fit every
 * spelling of the path; what denies or asks is for all methods and for all
 * beneath the path, in any spelling. */
bool request_fits(const struct rule_request *q, wend_str rule, bool allows,
                  struct arena *a);
/* What is wrong with a rule that can never fit; NULL: nothing. */
const char *request_rule_wrong(wend_str rule, bool allows);

/* ---- policy_words.c: words of commands, and commands in commands ---------
 *
 * A rule that allows covers one plain command; it does not cover what the
 * splitter does not understand. A rule that denies is tried wherever a command
 * or a word may begin: too often rather than too seldom. */

/* The words of a command, with one space between them, and of those that are
 * commands themselves (`sh -c '...'`). */
struct cut {
    const struct cut *next; /* of a word of this one, or of one before */
    wend_str text;
    const struct cut_word {
        size_t start, end; /* in text */
        size_t until;      /* where its simple command ends */
    } * words;
    size_t count;
};

/* Whether a shell runs this as one program: none of ; & | < > $ ( ) ` and
 * no line break in it, quotes in pairs. */
bool command_is_plain(wend_str command);
/* Whether one of these is in it. */
bool command_has_end(wend_str command);
/* NULL with a->failed; in the arena. */
const struct cut *command_cut(wend_str command, struct arena *a);
/* Cuts a list of strings; NULL also if it is not a list. */
const struct cut *words_cut(const struct json *argv, struct arena *a);
/* Does the glob fit the whole, a word, or what begins with one? Too much to
 * look at fits. */
bool cut_has(const struct cut *c, wend_str glob);

/* Does a rule's text fit these words, one by one? A last `*` stands for any
 * number of further words. */
bool words_fit(wend_str rule, const struct json *argv, struct arena *a);
/* What is wrong with a rule's text that fits no words; NULL: nothing. */
const char *words_wrong(wend_str rule);
/* As a rule writes them: in quotes where they need some. */
void words_put(struct buf *b, const struct json *argv);

/* ---- policy_rule.c, policy_subject.c: rules, and the calls they fit ------ */

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

/* The list `labels` of a policy, as a member that follows others; nothing for
 * no rows. */
void label_rows_put(struct buf *b, const struct label_rows *rows);

#endif
