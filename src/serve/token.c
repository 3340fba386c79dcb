/*
 * token.c - who may ask: tokens by their hash, with a user and rights.
 */
#include "serve/serve.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "host/file.h"

enum {
    TOKEN_MIN = 16, /* bytes; shorter ones can be guessed */
    TOKEN_MAX = 512,
    TOKENS_FILE_MAX = 4 << 20,
};

static const char *const right_names[] = {"read", "run", "approve", "admin"};
enum { RIGHTS = sizeof right_names / sizeof *right_names };

static void token_hash(wend_str token, unsigned char out[SHA256_BYTES])
{
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, token.ptr, token.len);
    sha256_end(&h, out);
}

static bool hex_read(wend_str text, unsigned char out[SHA256_BYTES])
{
    if (text.len != SHA256_HEX)
        return false;
    for (size_t i = 0; i < text.len; i += 2) {
        int high = hex_value(text.ptr[i]), low = hex_value(text.ptr[i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i / 2] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* read,run: bits. 0: one of them is wrong. */
static unsigned rights_read(wend_str text)
{
    unsigned rights = 0;
    wend_str word;

    while (str_take(&text, ',', &word)) {
        int i = str_index(word, right_names, RIGHTS);

        if (i < 0)
            return 0;
        rights |= 1U << i;
    }
    return rights;
}

static wend_str next_word(wend_str *line)
{
    wend_str word;

    *line = str_trim(*line, is_space);
    word = (wend_str){line->ptr, 0};
    while (word.len < line->len && !is_space(line->ptr[word.len]))
        word.len++;
    *line = str_skip(*line, word.len);
    return word;
}

static struct serve_holder *add(struct serve_tokens *t, const struct mem *m)
{
    return mem_add(m, &t->list, &t->count, &t->cap, sizeof *t->list);
}

static wend_status read_line(struct serve_tokens *t, const struct mem *m,
                             wend_str line, wend_error *err)
{
    wend_str hash = next_word(&line), user = next_word(&line);
    wend_str rights = next_word(&line);
    struct serve_holder h = {.rights = rights_read(rights)};
    struct serve_holder *to;

    if (!hex_read(hash, h.hash))
        return fail(err, WEND_E_PARSE,
                    "the first word must be the SHA-256 of a token, 64 hex "
                    "digits (printf %%s TOKEN | sha256sum)");
    if (!user.len || user.len > SERVE_USER_MAX)
        return fail(err, WEND_E_PARSE, "the second word must be a user");
    if (!h.rights || str_trim(line, is_space).len)
        return fail(err, WEND_E_PARSE,
                    "the third word must be rights: read, run, approve, admin, "
                    "with commas between them");
    h.user = arena_str(&t->arena, user);
    if (t->count == SERVE_TOKENS_MAX)
        return fail(err, WEND_E_LIMIT, "more than %d tokens", SERVE_TOKENS_MAX);
    to = add(t, m);
    if (!to || t->arena.failed)
        return fail_nomem(err);
    *to = h;
    return WEND_OK;
}

/* Who can write the file can give themselves a token. */
static wend_status check_file(const char *path, wend_error *err)
{
    struct stat st;

    if (stat(path, &st))
        return fail(err, errno == ENOENT ? WEND_E_NOTFOUND : WEND_E_IO,
                    "tokens: cannot open '%s': %s", path, strerror(errno));
    if ((st.st_uid != geteuid() && st.st_uid) || st.st_mode & 022)
        return fail(err, WEND_E_INVAL,
                    "tokens: '%s' can be written by others; chmod go-w it",
                    path);
    return WEND_OK;
}

static wend_status read_file(struct serve_tokens *t, const struct mem *m,
                             const char *path, wend_error *err)
{
    struct buf text = {.mem = m};
    wend_status s = check_file(path, err);
    wend_error why = {0};
    wend_str rest, line;
    uint32_t at = 0;

    if (s == WEND_OK)
        s = file_read(path, TOKENS_FILE_MAX, &text, err);
    rest = buf_view(&text);
    while (s == WEND_OK && str_line(&rest, &line)) {
        at++;
        line = str_trim(line, is_space);
        if (!line.len || line.ptr[0] == '#')
            continue;
        s = read_line(t, m, line, &why);
        if (s != WEND_OK) {
            why.line = at;
            why.column = 1;
            s = fail_in(err, path, &why);
        }
    }
    buf_free(&text);
    return s;
}

static wend_status own_token(struct serve_tokens *t,
                             const struct wend_server *server, wend_error *err)
{
    const wend_server_options *o = &server->options;
    wend_str token = str_of(o->token);
    struct serve_holder *h;

    if (!token.ptr)
        return WEND_OK;
    if (token.len < TOKEN_MIN || token.len > TOKEN_MAX)
        return fail(err, WEND_E_INVAL,
                    "the token has %zu bytes; it must have %d to %d", token.len,
                    TOKEN_MIN, TOKEN_MAX);
    for (size_t i = 0; i < token.len; i++)
        if (token.ptr[i] <= ' ' || token.ptr[i] > '~')
            return fail(err, WEND_E_INVAL,
                        "byte %zu of the token is no printable character, so "
                        "that no client could send it",
                        i + 1);
    h = add(t, &server->mem);
    if (!h)
        return fail_nomem(err);
    token_hash(token, h->hash);
    h->user = str_of(o->token_user);
    h->rights = (1U << RIGHTS) - 1;
    return WEND_OK;
}

void holders_free(struct serve_tokens *t, const struct mem *m)
{
    arena_free(&t->arena);
    mem_free(m, t->list);
    memset(t, 0, sizeof *t);
}

wend_status holders_read(struct wend_server *server, wend_error *err)
{
    struct serve_tokens t = {.arena = {.mem = &server->mem}};
    wend_status s = own_token(&t, server, err);

    if (s == WEND_OK && server->options.tokens)
        s = read_file(&t, &server->mem, server->options.tokens, err);
    if (s == WEND_OK) {
        holders_free(&server->tokens, &server->mem);
        server->tokens = t;
    } else {
        holders_free(&t, &server->mem);
    }
    return s;
}

const struct serve_holder *holders_of(const struct serve_tokens *t,
                                      const unsigned char hash[SHA256_BYTES])
{
    for (size_t i = 0; i < t->count; i++)
        if (!memcmp(t->list[i].hash, hash, SHA256_BYTES))
            return &t->list[i];
    return NULL;
}

const struct serve_holder *holders_find(const struct serve_tokens *t,
                                        wend_str token)
{
    unsigned char hash[SHA256_BYTES];

    if (!token.len || token.len > TOKEN_MAX)
        return NULL;
    token_hash(token, hash);
    return holders_of(t, hash);
}
