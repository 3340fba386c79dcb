/*
 * policy_words.h - commands as rules see them: words, and commands in
 * commands.
 *
 * A rule that allows covers one plain command; what the splitter does not
 * understand, it does not cover. A rule that denies is tried wherever a
 * command or a word may begin: too often rather than too seldom.
 */
#ifndef CORE_POLICY_WORDS_H
#define CORE_POLICY_WORDS_H

#include "base/json.h"

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

#endif
