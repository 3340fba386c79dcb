/*
 * summary.c - what a model is asked for a summary, and what counts as one.
 *
 * The request is the conversation as it was, with one message behind it: the
 * provider's cache of the conversation serves it.
 */
#include "core/context/context.h"

#include <string.h>

#include "base/utf8.h"

#define ASK                                                                   \
    "[The conversation becomes too long for the model's window. Write a "     \
    "summary of it now. It replaces all messages but the first and the "      \
    "newest ones, and another model may continue from it: what you leave "    \
    "out is lost. If the conversation contains an earlier summary, carry "    \
    "over what still holds; newer facts win. Do not answer the user, do not " \
    "continue the work and do not call tools. Write in the language of the "  \
    "conversation, but use exactly these eight headings as they are here, "   \
    "each of them, with \"none\" where there is nothing to say:]\n"           \
    "# Task\n"                                                                \
    "What the user wants, with all constraints and rules they gave.\n"        \
    "# Decisions\n"                                                           \
    "What was decided, and why.\n"                                            \
    "# Progress\n"                                                            \
    "What is done, with exact paths, commands, names and results.\n"          \
    "# Blockers\n"                                                            \
    "What failed or is in the way, with exact error messages.\n"              \
    "# Open items\n"                                                          \
    "What is begun or asked and not finished.\n"                              \
    "# Context\n"                                                             \
    "Facts that later work needs: files read and changed, data, numbers.\n"   \
    "# Next steps\n"                                                          \
    "What to do next, in order.\n"                                            \
    "# Metadata\n"                                                            \
    "Anything else: names of people, formats, preferences, dates."

const wend_str summary_ask = {ASK, sizeof ASK - 1};

wend_str summary_question(wend_str focus, struct arena *a)
{
    struct buf b = {.mem = a->mem};

    if (!focus.len)
        return summary_ask;
    buf_str(&b, summary_ask);
    buf_cstr(&b, "\n\n[The user asks for this summary. Keep above all: ");
    buf_str(&b, focus);
    buf_char(&b, ']');
    return buf_keep(&b, a);
}

/* The summary has room for an eighth, and in a large window for a long one: if
 * more were kept free for it, the conversation would never fit whole, and no
 * cache would have its beginning. */
int64_t summary_room(const struct context_room *r, int64_t question)
{
    enum { SUMMARY_TOKENS = 2048 };
    int64_t answer = r->most / 8;

    if (answer > SUMMARY_TOKENS)
        answer = SUMMARY_TOKENS;
    return r->window - question - answer;
}

static bool is_empty(wend_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!strchr(" \t\r\n", s.ptr[i]))
            return false;
    return true;
}

/* ---- Topics -------------------------------------------------------------- */

enum { TOPICS_MAX = 16, TOPIC_BYTES_MAX = 80 }; /* for a line in a log */

static wend_str trimmed(wend_str s)
{
    while (s.len && strchr(" \t\r\n#*", s.ptr[0]))
        s = str_skip(s, 1);
    while (s.len && strchr(" \t\r\n:*", s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* The next line; `rest` continues behind it. */
static wend_str next_line(wend_str *rest)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    wend_str line = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};

    *rest = str_skip(*rest, line.len + (end != NULL));
    return line;
}

wend_str summary_topics(wend_str summary, struct arena *a)
{
    struct buf b = {.mem = a->mem};
    wend_str heading = STR_NONE;
    int count = 0;

    json_open(&b, NULL, '[');
    while (summary.len && count < TOPICS_MAX) {
        wend_str line = next_line(&summary), text = trimmed(line);

        if (str_starts(line, "#")) {
            heading = text;
        } else if (text.len && heading.len) {
            if (!str_is(text, "none") && !str_is(text, "None") && ++count) {
                heading.len = utf8_cut(heading, TOPIC_BYTES_MAX);
                json_add_str(&b, NULL, heading);
            }
            heading = STR_NONE; /* its first line decides */
        }
    }
    json_close(&b, ']');
    return buf_keep(&b, a);
}

/* ---- What counts as one -------------------------------------------------- */

enum { HEADINGS_LEAST = 5, TASK = 1 << 0 };

/* Which of the headings begins this line, as a bit; 0: none. Models mark and
 * number them in their own ways, and write behind them. */
static unsigned heading_in(wend_str line)
{
    static const char *const headings[] = {
        "task",       "decisions", "progress",   "blockers",
        "open items", "context",   "next steps", "metadata"};

    while (line.len && strchr(" \t#*_->0123456789.)", line.ptr[0]))
        line = str_skip(line, 1);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        wend_str rest;

        if (!str_starts_nocase(line, headings[i]))
            continue;
        rest = str_skip(line, strlen(headings[i]));
        while (rest.len && strchr(" \t\r", rest.ptr[0]))
            rest = str_skip(rest, 1);
        if (!rest.len || strchr(":*_#-(", rest.ptr[0]))
            return 1U << i;
    }
    return 0;
}

/* A refusal or an error page in place of the conversation would lose it. */
static bool has_form(wend_str text)
{
    unsigned found = 0;
    int count = 0;

    while (text.len)
        found |= heading_in(next_line(&text));
    for (unsigned rest = found; rest; rest &= rest - 1)
        count++;
    return count >= HEADINGS_LEAST && (found & TASK);
}

const char *summary_wrong(wend_str text, bool calls, wend_str finish,
                          const struct context_room *r)
{
    if (calls)
        return "the model called a tool instead of writing a summary";
    if (is_empty(text))
        return "the model wrote an empty summary";
    if (str_is(finish, "length"))
        return "the summary reached the model's output limit";
    if (r->window && msg_tokens(text) > r->most / 4)
        return "the summary is longer than a quarter of the window";
    if (!has_form(text))
        return "the answer does not have the headings of a summary";
    return NULL;
}
