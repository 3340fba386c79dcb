/*
 * policy_words.c - commands as rules see them.
 */
#include "core/policy/policy.h"

#include <assert.h>
#include <string.h>

#include "base/ascii.h"

enum {
    CUT_DEPTH_MAX = 4,       /* commands in words of commands */
    CUT_WORK_MAX = 16 << 20, /* bytes that globs look at, some 20 ms */
};

static const char ends[] = ";&|<>$()`\n"; /* what a plain command has not */

/* ---- Splitting ----------------------------------------------------------- */

struct splitter {
    wend_str in;
    size_t at;
    const char *ends; /* outside of quotes they end a command */
    bool open;        /* a quote has no end */
};

enum token { TOKEN_WORD, TOKEN_END, TOKEN_LAST };

static void read_quoted(struct splitter *s, char quote, struct buf *word)
{
    while (s->at < s->in.len && s->in.ptr[s->at] != quote) {
        char c = s->in.ptr[s->at++];

        if (quote == '"' && c == '\\' && s->at < s->in.len &&
            strchr("$`\"\\\n", s->in.ptr[s->at]))
            c = s->in.ptr[s->at++];
        buf_char(word, c);
    }
    s->open = s->at == s->in.len;
    s->at += !s->open;
}

static bool ends_word(const struct splitter *s)
{
    char c = s->at < s->in.len ? s->in.ptr[s->at] : ' ';

    return is_space(c) || (c && strchr(s->ends, c));
}

/* The next word, without its quotes; or that a command is over. */
static enum token next_token(struct splitter *s, struct buf *word)
{
    buf_clear(word);
    while (s->at < s->in.len && is_space(s->in.ptr[s->at]) &&
           !strchr(s->ends, s->in.ptr[s->at]))
        s->at++;
    if (s->at == s->in.len)
        return TOKEN_LAST;
    if (ends_word(s)) {
        s->at++;
        return TOKEN_END;
    }
    while (!ends_word(s)) {
        char c = s->in.ptr[s->at++];

        if (c == '\'' || c == '"')
            read_quoted(s, c, word);
        else if (c != '\\')
            buf_char(word, c);
        else if (s->at < s->in.len)
            buf_char(word, s->in.ptr[s->at++]);
        else
            s->open = true;
    }
    return TOKEN_WORD;
}

/* Whether one of these bytes is in it; a zero byte always is one. */
static bool has_any(wend_str s, const char *bytes)
{
    for (size_t i = 0; i < s.len; i++)
        if (strchr(bytes, s.ptr[i]))
            return true;
    return false;
}

bool command_has_end(wend_str command)
{
    return has_any(command, ends);
}

/* What is wrong with its quotes; NULL: nothing. */
static const char *quotes_wrong(wend_str text)
{
    char quote = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '\\' && quote != '\'' && ++i == text.len)
            return "nothing follows its last backslash";
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
    }
    return quote ? "a quote in it has no end" : NULL;
}

bool command_is_plain(wend_str command)
{
    return !command_has_end(command) && !quotes_wrong(command);
}

/* ---- Cutting ------------------------------------------------------------- */

struct cutter {
    struct arena *arena;
    struct buf text, words; /* words: struct cut_word */
    size_t command;         /* index of the first word of this command */
};

static void end_command(struct cutter *c)
{
    struct cut_word *words = (struct cut_word *)(void *)c->words.ptr;
    size_t count = c->words.len / sizeof *words;

    assert(c->command <= count || c->words.failed);
    for (size_t i = c->command; i < count && !c->words.failed; i++)
        words[i].until = c->text.len;
    c->command = count;
}

static void add_word(struct cutter *c, wend_str word)
{
    struct cut_word w;

    if (c->text.len)
        buf_char(&c->text, ' ');
    w.start = c->text.len;
    buf_str(&c->text, word);
    w.end = w.until = c->text.len;
    buf_add(&c->words, (const char *)&w, sizeof w);
}

static struct cut *keep(struct cutter *c)
{
    struct cut *cut = arena_alloc(c->arena, sizeof *cut);
    struct cut_word *words =
        c->words.len ? arena_alloc(c->arena, c->words.len) : NULL;

    end_command(c);
    c->arena->failed |= c->text.failed || c->words.failed;
    if (cut && !c->arena->failed) {
        cut->text = arena_str(c->arena, buf_view(&c->text));
        cut->count = c->words.len / sizeof *words;
        if (words)
            memcpy(words, c->words.ptr, c->words.len);
        cut->words = words;
    }
    buf_free(&c->text);
    buf_free(&c->words);
    return c->arena->failed ? NULL : cut;
}

static struct cut *cut_text(wend_str text, struct arena *a)
{
    struct cutter c = {
        .arena = a, .text = {.mem = a->mem}, .words = {.mem = a->mem}};
    struct splitter s = {.in = text, .ends = ";&|<>$()`\n{}"};
    struct buf word = {.mem = a->mem};
    enum token t;

    while ((t = next_token(&s, &word)) != TOKEN_LAST && !c.words.failed &&
           !c.text.failed && !word.failed)
        if (t == TOKEN_END)
            end_command(&c);
        else
            add_word(&c, word.len ? buf_view(&word) : STR(""));
    a->failed |= word.failed;
    buf_free(&word);
    return keep(&c);
}

/* Words that a shell would split once more, if they are given to one. */
static bool is_command(wend_str word)
{
    return has_any(word, ends) || has_any(word, " \t\r");
}

/* Appends the cuts of its words to *tail. */
static void cut_words(const struct cut *c, int depth, const struct cut ***tail,
                      struct arena *a)
{
    for (size_t i = 0; depth && i < c->count && !a->failed; i++) {
        wend_str word = {c->text.ptr + c->words[i].start,
                         c->words[i].end - c->words[i].start};
        struct cut *inner = is_command(word) ? cut_text(word, a) : NULL;

        if (!inner)
            continue;
        **tail = inner;
        *tail = &inner->next;
        cut_words(inner, depth - 1, tail, a);
    }
}

static const struct cut *cut_all(struct cut *c, struct arena *a)
{
    const struct cut **tail;

    if (!c)
        return NULL;
    tail = &c->next;
    cut_words(c, CUT_DEPTH_MAX, &tail, a);
    return a->failed ? NULL : c;
}

const struct cut *command_cut(wend_str command, struct arena *a)
{
    return cut_all(cut_text(command, a), a);
}

const struct cut *words_cut(const struct json *argv, struct arena *a)
{
    struct cutter c = {
        .arena = a, .text = {.mem = a->mem}, .words = {.mem = a->mem}};

    if (!argv || argv->kind != JSON_ARRAY)
        return NULL;
    for (const struct json *w = argv->first; w; w = w->next)
        if (w->kind == JSON_STRING)
            add_word(&c, json_str(w));
    return cut_all(keep(&c), a);
}

/* ---- Denying ------------------------------------------------------------- */

static bool fits_at(wend_str glob, wend_str text, size_t *work)
{
    if (glob.len && text.len && glob.ptr[0] != '*' && glob.ptr[0] != '?' &&
        glob.ptr[0] != text.ptr[0])
        return false;
    *work += text.len + 1;
    return *work > CUT_WORK_MAX || str_glob(glob, text);
}

/* /bin/rm is rm, too. */
static size_t base_of(wend_str text, const struct cut_word *w)
{
    size_t at = w->end;

    while (at > w->start && text.ptr[at - 1] != '/')
        at--;
    return at < w->end ? at : w->start;
}

static bool word_has(const struct cut *c, size_t i, wend_str glob, size_t *work)
{
    const struct cut_word *w = &c->words[i];
    const size_t starts[] = {w->start, base_of(c->text, w)};
    const size_t stops[] = {w->end, w->until, c->text.len};

    for (size_t k = 0; k < (starts[0] == starts[1] ? 1 : 2); k++)
        for (size_t n = 0; n < 3; n++) {
            wend_str text = {c->text.ptr + starts[k], stops[n] - starts[k]};

            if ((!n || stops[n] != stops[n - 1]) && fits_at(glob, text, work))
                return true;
        }
    return false;
}

bool cut_has(const struct cut *c, wend_str glob)
{
    size_t work = 0;

    for (; c; c = c->next) {
        if (fits_at(glob, c->text, &work))
            return true;
        for (size_t i = 0; i < c->count; i++)
            if (word_has(c, i, glob, &work))
                return true;
    }
    return false;
}

/* ---- Allowing ------------------------------------------------------------ */

bool words_fit(wend_str rule, const struct json *argv, struct arena *a)
{
    struct splitter s = {.in = str_trim(rule, is_space), .ends = ""};
    struct buf word = {.mem = a->mem};
    const struct json *w = json_items(argv);
    bool fits = w != NULL, rest = false;

    while (fits && !rest && next_token(&s, &word) != TOKEN_LAST) {
        wend_str glob = word.len ? buf_view(&word) : STR("");

        rest = str_is(glob, "*") && s.at == s.in.len;
        fits = rest || (w && w->kind == JSON_STRING && !s.open &&
                        str_glob(glob, json_str(w)));
        w = w && !rest ? w->next : w;
    }
    a->failed |= word.failed;
    fits = fits && !word.failed && (rest || !w);
    buf_free(&word);
    return fits;
}

const char *words_wrong(wend_str rule)
{
    const char *wrong = quotes_wrong(rule);

    return wrong || str_trim(rule, is_space).len ? wrong
                                                 : "it names no program";
}

void words_put(struct buf *b, const struct json *argv)
{
    for (const struct json *w = argv->first; w; w = w->next) {
        wend_str s = json_str(w);
        bool quoted = !s.len || has_any(s, " \t\n\r'\"\\");

        buf_cstr(b, w == argv->first ? "" : " ");
        (quoted ? buf_quoted : buf_str)(b, s);
    }
}
