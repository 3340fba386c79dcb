/*
 * tags.c - the tag protocol: a model's text in, thinking, text and a plan out.
 *
 * What is held back is bounded: TAG_BYTES_MAX of a tag and of spaces,
 * ARGS_BYTES_MAX of an action. So is the work: a byte is read again at most
 * MISREAD_MAX times. Nothing that is decided depends on where a piece ends.
 */
#include "wire/plan/tags.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "wire/plan/tags_action.h"

enum { MISREAD_MAX = 16 }; /* then quotes are not believed any more */

/* ---- Words --------------------------------------------------------------- */

struct word {
    const char *tag; /* up to its name's end */
    enum tags_at at; /* that it opens or closes */
    bool closes;
    unsigned attrs; /* that it may have */
};

enum {
    OF_ACTION = 1 << TAGS_TYPE | 1 << TAGS_MODE | 1 << TAGS_ID,
    OF_RESPONSE = 1 << TAGS_FINAL,
};

static const struct word words[] = {
    {"<thought", TAGS_THOUGHT, false, 0},
    {"<action", TAGS_ACTION, false, OF_ACTION},
    {"<response", TAGS_RESPONSE, false, OF_RESPONSE},
    {"</thought", TAGS_THOUGHT, true, 0},
    {"</action", TAGS_ACTION, true, 0},
    {"</response", TAGS_RESPONSE, true, 0},
};

enum { WORDS = sizeof words / sizeof *words };

/* Whether the word means something where the reading is. */
static bool is_meant(const struct tags *t, const struct word *w)
{
    return t->at == TAGS_OUTSIDE || (w->closes && w->at == t->at);
}

static bool is_in_action(const struct tags *t)
{
    return t->at == TAGS_ACTION || t->at == TAGS_SKIPPED;
}

/* ---- Telling ------------------------------------------------------------- */

static void tell_said(struct tags *t)
{
    wend_str said = buf_view(&t->said);

    t->failed |= t->said.failed;
    if (said.len && !t->failed) {
        if (t->saying == TAGS_THINKING)
            t->sink->thinking(t->ctx, said);
        else
            t->sink->text(t->ctx, said);
    }
    buf_clear(&t->said);
    t->saying = TAGS_NOTHING;
}

/* Told when the piece is read, or before something else is. */
static void say(struct tags *t, wend_str text)
{
    enum tags_said kind = t->at == TAGS_THOUGHT ? TAGS_THINKING : TAGS_TEXT;
    bool *has = kind == TAGS_THINKING ? &t->has_thinking : &t->has_text;

    if (!text.len)
        return;
    if (t->saying != kind)
        tell_said(t);
    t->saying = kind;
    if (t->fresh && *has)
        buf_char(&t->said, '\n');
    buf_str(&t->said, text);
    t->fresh = false;
    *has = true;
}

__attribute__((format(printf, 2, 3))) static void warn(struct tags *t,
                                                       const char *fmt, ...)
{
    char message[sizeof((wend_error){0}).message + 80];
    va_list ap;

    if (t->warnings == TAGS_WARNINGS_MAX)
        return;
    va_start(ap, fmt);
    utf8_vfmt(message, sizeof message, fmt, ap);
    va_end(ap);
    tell_said(t);
    if (t->failed)
        return;
    if (++t->warnings < TAGS_WARNINGS_MAX)
        t->sink->warn(t->ctx, str_of(message));
    else
        t->sink->warn(t->ctx, STR("more is wrong with the tags than is told"));
}

/* ---- Actions ------------------------------------------------------------- */

static int next_number(const struct tags *t)
{
    return (int)(t->actions + t->actions_bad + 1);
}

/* Whether the text is an action: then it is in `out`. */
static bool read_action(struct tags *t, wend_str text, struct buf *out,
                        wend_error *err)
{
    unsigned differs;
    bool ok = tags_action(t, text, out, &differs, err) == WEND_OK;

    t->failed |= t->scratch.failed || out->failed;
    for (int i = 0; ok && i < TAGS_ATTRS; i++)
        if (differs & 1u << i)
            warn(t, "action %d: its %s is that of the tag, not of its JSON",
                 next_number(t), tags_attr_names[i]);
    arena_reset(&t->scratch);
    return ok;
}

static void tell_action(struct tags *t, wend_str json)
{
    struct buf args = {.mem = t->body.mem};

    tell_said(t);
    buf_cstr(&args, t->actions ? "," : "{\"actions\":[");
    buf_str(&args, json);
    t->failed |= args.failed;
    if (!t->failed && !t->actions)
        t->sink->plan(t->ctx);
    if (!t->failed)
        t->sink->args(t->ctx, buf_view(&args));
    t->args_len += args.len;
    t->actions++;
    buf_free(&args);
}

static void leave_action(struct tags *t)
{
    buf_clear(&t->body);
    t->at = TAGS_OUTSIDE;
    t->in_string = t->escaped = false;
}

static void refuse_action(struct tags *t, const wend_error *why)
{
    if (why->line)
        warn(t, "action %d is left out: line %u, column %u: %s", next_number(t),
             why->line, why->column, why->message);
    else
        warn(t, "action %d is left out: %s", next_number(t), why->message);
    t->actions_bad++;
    leave_action(t);
}

/* A closing tag was taken for text, wrongly: the action ends there, and what
 * follows is read again. */
static void cut_action(struct tags *t, size_t at, size_t end)
{
    struct buf rest = {.mem = t->body.mem}, out = {.mem = t->body.mem};
    wend_error err = {0};

    buf_add(&rest, t->body.ptr + end, t->body.len - end);
    if (t->again_at < t->again.len)
        buf_add(&rest, t->again.ptr + t->again_at, t->again.len - t->again_at);
    t->failed |= rest.failed;
    buf_free(&t->again);
    t->again = rest;
    t->again_at = 0;
    t->misread++;
    read_action(t, (wend_str){t->body.ptr, at}, &out, &err);
    refuse_action(t, &err);
    buf_free(&out);
}

/* The action is the first `len` bytes of the body, then its closing tag. */
static void end_action(struct tags *t, size_t len)
{
    struct buf out = {.mem = t->body.mem};
    wend_error err = {0};
    size_t at, end;

    if (t->at == TAGS_SKIPPED) {
        leave_action(t);
    } else if (read_action(t, (wend_str){t->body.ptr, len}, &out, &err)) {
        tell_action(t, buf_view(&out));
        leave_action(t);
    } else if (err.status != WEND_E_LIMIT &&
               tags_find_close(buf_view(&t->body), &at, &end) && at < len) {
        cut_action(t, at, end);
    } else {
        refuse_action(t, &err);
    }
    buf_free(&out);
}

/* Drops the body, except a last part that may begin its closing tag. */
static void skip_action(struct tags *t)
{
    char *open = memrchr(t->body.ptr, '<', t->body.len);
    size_t len = open ? (size_t)(t->body.ptr + t->body.len - open) : 0;
    wend_error why = {0};

    fail(&why, WEND_E_LIMIT, "it is longer than %d bytes", ARGS_BYTES_MAX);
    refuse_action(t, &why);
    if (len && len <= TAG_BYTES_MAX)
        buf_add(&t->body, open, len); /* from behind itself */
    t->at = TAGS_SKIPPED;
}

static void too_long(struct tags *t)
{
    size_t at, end;

    if (tags_find_close(buf_view(&t->body), &at, &end) && end < t->body.len)
        cut_action(t, at, end);
    else
        skip_action(t);
}

static void on_action_byte(struct tags *t, char c)
{
    size_t len;

    if (t->at == TAGS_SKIPPED && (c == '<' || t->body.len > TAG_BYTES_MAX))
        buf_clear(&t->body);
    buf_char(&t->body, c);
    t->failed |= t->body.failed;
    if (t->at == TAGS_ACTION && t->body.len > ARGS_BYTES_MAX)
        too_long(t);
    if (t->failed || t->at == TAGS_OUTSIDE)
        return;
    if (t->escaped)
        t->escaped = false;
    else if (t->in_string && c == '\\')
        t->escaped = true;
    else if (c == '"')
        t->in_string =
            !t->in_string && t->at == TAGS_ACTION && t->misread < MISREAD_MAX;
    else if (c == '>' && !t->in_string &&
             tags_ends_closed(buf_view(&t->body), &len))
        end_action(t, len);
}

/* ---- Tags ---------------------------------------------------------------- */

static void take_attr(struct tags *t, const struct word *w, wend_str name,
                      wend_str value)
{
    int i = str_index(name, tags_attr_names, TAGS_ATTRS);

    if (i < 0 || !(w->attrs & 1u << i))
        warn(t, "%s> has an attribute that is not known: it is ignored",
             w->tag);
    else if (utf8_valid_len(value) != value.len)
        warn(t, "%s> has a %s that is not UTF-8: it is ignored", w->tag,
             tags_attr_names[i]);
    else if (t->attrs[i].ptr)
        warn(t, "%s> has %s twice: the first counts", w->tag,
             tags_attr_names[i]);
    else
        t->attrs[i] = value;
}

static const char *skip_spaces(const char *p, const char *end)
{
    while (p < end && is_space(*p))
        p++;
    return p;
}

/* One attribute of a head, which ends before `>`. */
static const char *read_attr(struct tags *t, const struct word *w,
                             const char *p, const char *end)
{
    wend_str name = {p, 0}, value;
    char quote;

    while (p < end && *p != '=' && !is_space(*p))
        p++;
    name.len = (size_t)(p - name.ptr);
    p = skip_spaces(p, end);
    if (p == end || *p != '=') {
        take_attr(t, w, name, STR(""));
        return p;
    }
    p = skip_spaces(p + 1, end);
    quote = p < end && (*p == '"' || *p == '\'') ? *p++ : 0;
    value = (wend_str){p, 0};
    while (p < end && (quote ? *p != quote : !is_space(*p)))
        p++;
    value.len = (size_t)(p - value.ptr);
    take_attr(t, w, name, value);
    return p + (quote && p < end);
}

static bool is_empty(const struct tags *t) /* <x/> */
{
    assert(t->tag.len > 2); /* a name and its brackets */
    return t->tag.ptr[t->tag.len - 2] == '/';
}

/* The head stays as long as its attributes are wanted. */
static void read_attrs(struct tags *t, const struct word *w)
{
    const char *p, *end;

    memset(t->attrs, 0, sizeof t->attrs);
    buf_clear(&t->head);
    buf_str(&t->head, buf_view(&t->tag));
    t->failed |= t->head.failed;
    if (t->failed)
        return;
    end = t->head.ptr + t->head.len - (is_empty(t) ? 2 : 1);
    p = skip_spaces(t->head.ptr + strlen(w->tag), end);
    while (p < end)
        p = skip_spaces(read_attr(t, w, p, end), end);
}

static void read_final(struct tags *t)
{
    wend_str said = t->attrs[TAGS_FINAL];

    t->has_response = true;
    t->final = !str_is(said, "false");
    if (said.ptr && t->final && !str_is(said, "true"))
        warn(t, "<response> has a final that is neither true nor false: it "
                "counts as true");
}

static void on_open(struct tags *t, const struct word *w)
{
    read_attrs(t, w);
    if (w->at == TAGS_RESPONSE)
        read_final(t);
    t->at = w->at;
    if (!is_empty(t))
        return;
    if (w->at == TAGS_ACTION)
        end_action(t, 0);
    t->at = TAGS_OUTSIDE;
}

static void on_close(struct tags *t, const struct word *w)
{
    if (t->at == TAGS_OUTSIDE)
        warn(t, "%s> closes nothing", w->tag);
    t->at = TAGS_OUTSIDE;
}

static void on_tag(struct tags *t)
{
    const struct word *w = &words[t->tag_known];

    assert(is_meant(t, w));
    t->any = true;
    buf_clear(&t->spaces);
    t->spaces_told = false;
    if (w->closes)
        on_close(t, w);
    else
        on_open(t, w);
    buf_clear(&t->tag);
    t->fresh = true;
}

/* ---- Reading ------------------------------------------------------------- */

static void say_with_spaces(struct tags *t, wend_str text)
{
    say(t, buf_view(&t->spaces));
    buf_clear(&t->spaces);
    t->spaces_told = false;
    say(t, text);
}

/* What was held back is text. */
static void not_a_tag(struct tags *t)
{
    say_with_spaces(t, buf_view(&t->tag));
    buf_clear(&t->tag);
}

/* Which tag has this name; -1: its name is not complete. */
static int find_word(const struct tags *t)
{
    for (int i = 0; i < WORDS; i++)
        if (is_meant(t, &words[i]) && str_is(buf_view(&t->tag), words[i].tag))
            return i;
    return -1;
}

static bool name_goes_on(const struct tags *t, char c)
{
    for (int i = 0; i < WORDS; i++)
        if (is_meant(t, &words[i]) && t->tag.len < strlen(words[i].tag) &&
            !memcmp(t->tag.ptr, words[i].tag, t->tag.len) &&
            words[i].tag[t->tag.len] == c)
            return true;
    return false;
}

/* After the name. A quote is one only where a value begins. */
static bool tag_goes_on(struct tags *t, char c)
{
    const struct word *w = &words[t->tag_known];

    if (w->closes)
        return c == '>' || is_space(c);
    if (t->tag.len == strlen(w->tag) && c != '>' && c != '/' && !is_space(c))
        return false;
    if (t->tag_quote)
        t->tag_quote = c == t->tag_quote ? 0 : t->tag_quote;
    else if (t->tag_last == '=' && (c == '"' || c == '\''))
        t->tag_quote = c;
    if (!is_space(c))
        t->tag_last = c;
    return true;
}

/* Adds c to what may be a tag; false: it is text, and c is not added. */
static bool on_tag_byte(struct tags *t, char c)
{
    if (c == '<' || t->tag.len == TAG_BYTES_MAX)
        return false;
    if (t->tag_known < 0)
        t->tag_known = find_word(t);
    if (t->tag_known < 0 ? !name_goes_on(t, c) : !tag_goes_on(t, c))
        return false;
    buf_char(&t->tag, c);
    t->failed |= t->tag.failed;
    if (c == '>' && !t->tag_quote && !t->failed)
        on_tag(t);
    return true;
}

static void on_space(struct tags *t, wend_str space)
{
    if (t->fresh)
        return;
    if (t->spaces_told) {
        say(t, space);
        return;
    }
    buf_str(&t->spaces, space);
    t->failed |= t->spaces.failed;
    if (t->spaces.len > TAG_BYTES_MAX) {
        say_with_spaces(t, STR(""));
        t->spaces_told = true;
    }
}

/* Up to where a tag may begin; returns how much it took. */
static size_t on_text(struct tags *t, wend_str in)
{
    const char *open = memchr(in.ptr, '<', in.len);
    size_t end = open ? (size_t)(open - in.ptr) : in.len, n = end, i = 0;

    if (!end) {
        buf_char(&t->tag, '<');
        t->failed |= t->tag.failed;
        t->tag_known = -1;
        t->tag_quote = t->tag_last = 0;
        return 1;
    }
    while (n && is_space(in.ptr[n - 1]))
        n--;
    for (; i < n && is_space(in.ptr[i]); i++)
        on_space(t, (wend_str){in.ptr + i, 1});
    if (i < n)
        say_with_spaces(t, (wend_str){in.ptr + i, n - i});
    for (; n < end; n++)
        on_space(t, (wend_str){in.ptr + n, 1});
    return end;
}

/* Returns how much it took; 0: look at it again, the state is another. */
static size_t take(struct tags *t, wend_str in)
{
    if (is_in_action(t)) {
        on_action_byte(t, *in.ptr);
        return 1;
    }
    if (!t->tag.len)
        return on_text(t, in);
    if (on_tag_byte(t, *in.ptr))
        return 1;
    not_a_tag(t);
    return 0;
}

/* What is to be read again comes before the piece. */
static void read_all(struct tags *t, wend_str piece)
{
    while (!t->failed) {
        if (t->again_at < t->again.len) {
            wend_str in = str_skip(buf_view(&t->again), t->again_at);

            /* One by one: it may be replaced on the way. */
            in.len = is_in_action(t) ? 1 : in.len;
            t->again_at += in.len;
            t->again_at -= in.len - take(t, in);
        } else if (piece.len) {
            piece = str_skip(piece, take(t, piece));
        } else {
            break;
        }
    }
    tell_said(t);
}

bool tags_text(struct tags *t, wend_str piece)
{
    read_all(t, piece);
    return !t->failed;
}

/* No more comes: what was held is text, what is open ends here. */
bool tags_end(struct tags *t)
{
    size_t at, end;

    while (t->at == TAGS_ACTION && !t->failed &&
           tags_find_close(buf_view(&t->body), &at, &end)) {
        cut_action(t, at, end);
        read_all(t, STR(""));
    }
    if (t->tag.len)
        not_a_tag(t);
    if (!t->any)
        say_with_spaces(t, STR(""));
    if (t->at == TAGS_ACTION)
        refuse_action(t, &(wend_error){.message = "it is not closed"});
    else if (t->at == TAGS_THOUGHT || t->at == TAGS_RESPONSE)
        warn(t, "<%s> is not closed",
             t->at == TAGS_THOUGHT ? "thought" : "response");
    t->at = TAGS_OUTSIDE;
    tell_said(t);
    if (t->actions && !t->failed) {
        t->sink->args(t->ctx, STR("]}"));
        t->sink->seal(t->ctx);
    }
    return !t->failed;
}

bool tags_is_final(const struct tags *t)
{
    return t->has_response ? t->final : !t->actions && !t->actions_bad;
}

void tags_init(struct tags *t, const struct mem *m,
               const struct tags_sink *sink, void *ctx)
{
    memset(t, 0, sizeof *t);
    t->sink = sink;
    t->ctx = ctx;
    t->tag.mem = t->spaces.mem = t->said.mem = m;
    t->head.mem = t->body.mem = t->again.mem = t->scratch.mem = m;
}

void tags_free(struct tags *t)
{
    buf_free(&t->tag);
    buf_free(&t->spaces);
    buf_free(&t->said);
    buf_free(&t->head);
    buf_free(&t->body);
    buf_free(&t->again);
    arena_free(&t->scratch);
}
