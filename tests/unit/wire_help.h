/*
 * wire_help.h - what a decoder tells, as lines of text; golden streams.
 *
 * A sink writes down one line for each thing it is told:
 *
 *     text "Hel"            thinking "hm"          restart
 *     call 0 ID NAME        args 0 "{"             seal 0
 *     opaque JSON           finish REASON          fail CODE MESSAGE
 *     usage IN/OUT/CACHED/REASONING [cost NANO] [write TOKENS]
 *
 * and a line that begins with LAW when a decoder breaks the contract of
 * codec.h. A golden stream NAME.sse (NAME.ndjson, or NAME.json for a whole
 * answer) stands beside the lines it must give, NAME.txt. It is fed whole,
 * cut at every byte, byte by byte, with all three line ends, and ended at
 * every byte. With WIRE_GOLDEN_WRITE set, NAME.txt is written instead.
 */
#ifndef TESTS_WIRE_HELP_H
#define TESTS_WIRE_HELP_H

#include <dirent.h>
#include <stdlib.h>

#include "base/code.h"
#include "core/turn/turn.h"
#include "fault.h"
#include "tap.h"
#include "wire/model/model.h"

enum { WIRE_BYTES_MAX = 1 << 20 };

static const struct mem wire_plain;

/* ---- The sink ------------------------------------------------------------ */

struct told {
    struct buf lines;
    int calls;
    bool sealed[CALLS_MAX], finished, failed;
    int broken; /* laws: what is told may itself say LAW */
};

static inline void told_init(struct told *t)
{
    memset(t, 0, sizeof *t);
    t->lines.mem = &wire_plain;
}

static inline void told_free(struct told *t)
{
    buf_free(&t->lines);
}

static inline void told_law(struct told *t, bool holds, const char *what)
{
    if (holds)
        return;
    t->broken++;
    buf_fmt(&t->lines, "LAW %s\n", what);
}

static inline struct told *told_any(void *ctx)
{
    struct told *t = ctx;

    told_law(t, !t->failed, "nothing after a failure");
    return t;
}

static inline void told_piece(struct told *t, const char *what, wend_str piece)
{
    told_law(t, piece.len, "no empty piece");
    buf_cstr(&t->lines, what);
    json_put_str(&t->lines, piece);
    buf_char(&t->lines, '\n');
}

static inline void told_text(void *ctx, wend_str piece)
{
    told_piece(told_any(ctx), "text ", piece);
}

static inline void told_thinking(void *ctx, wend_str piece)
{
    told_piece(told_any(ctx), "thinking ", piece);
}

static inline int told_call(void *ctx, wend_str id, wend_str name)
{
    struct told *t = told_any(ctx);

    if (t->calls == CALLS_MAX)
        return -1;
    told_law(t, !t->finished, "no call after the end");
    buf_fmt(&t->lines, "call %d ", t->calls);
    buf_str(&t->lines, id.len ? id : STR("-"));
    buf_char(&t->lines, ' ');
    buf_str(&t->lines, name.len ? name : STR("-"));
    buf_char(&t->lines, '\n');
    return t->calls++;
}

static inline void told_args(void *ctx, int call, wend_str piece)
{
    struct told *t = told_any(ctx);
    char what[32];

    snprintf(what, sizeof what, "args %d ", call);
    if (call < 0 || call >= t->calls)
        told_law(t, false, "arguments of a call that was opened");
    else
        told_law(t, !t->sealed[call], "no arguments after the seal");
    told_piece(t, what, piece);
}

static inline void told_seal(void *ctx, int call)
{
    struct told *t = told_any(ctx);

    if (call < 0 || call >= t->calls) {
        told_law(t, false, "seals a call that was opened");
        return;
    }
    told_law(t, !t->sealed[call], "seals once");
    t->sealed[call] = true;
    buf_fmt(&t->lines, "seal %d\n", call);
}

static inline void told_opaque(void *ctx, wend_str json)
{
    struct told *t = told_any(ctx);
    struct arena a = {.mem = &wire_plain};

    told_law(t, json_parse(json, &a, NULL), "an opaque value is JSON");
    arena_free(&a);
    buf_cstr(&t->lines, "opaque ");
    buf_str(&t->lines, json);
    buf_char(&t->lines, '\n');
}

static inline void told_usage(void *ctx, const wend_ev_usage *u)
{
    struct told *t = told_any(ctx);

    told_law(t, i64_sum(u->cached, u->cache_write) <= u->input,
             "input includes what is cached, and what is written");
    told_law(t, u->reasoning <= u->output, "output includes reasoning");
    buf_fmt(&t->lines, "usage %" PRId64 "/%" PRId64 "/%" PRId64 "/%" PRId64,
            u->input, u->output, u->cached, u->reasoning);
    if (u->cost_nano >= 0)
        buf_fmt(&t->lines, " cost %" PRId64, u->cost_nano);
    if (u->cache_write)
        buf_fmt(&t->lines, " write %" PRId64, u->cache_write);
    buf_char(&t->lines, '\n');
}

static inline void told_finish(void *ctx, wend_str reason)
{
    static const char *const reasons[] = {"stop", "length", "tool_calls",
                                          "content_filter", "pause"};
    struct told *t = told_any(ctx);

    told_law(
        t, str_index(reason, reasons, 5) >= 0 || str_starts(reason, "unknown:"),
        "a reason that is known, or said not to be");
    told_law(t, !t->finished, "finishes once");
    t->finished = true;
    buf_cstr(&t->lines, "finish ");
    buf_str(&t->lines, reason);
    buf_char(&t->lines, '\n');
}

static inline void told_fail(void *ctx, wend_str code, wend_str message)
{
    struct told *t = told_any(ctx);

    told_law(t, str_index(code, code_names, CODES) >= 0,
             "a code that is known");
    told_law(t, message.len, "a failure says why");
    t->failed = true;
    buf_cstr(&t->lines, "fail ");
    buf_str(&t->lines, code);
    buf_char(&t->lines, ' ');
    buf_str(&t->lines, message);
    buf_char(&t->lines, '\n');
}

static inline void told_restart(void *ctx)
{
    struct told *t = told_any(ctx);

    t->calls = 0;
    t->finished = false;
    memset(t->sealed, 0, sizeof t->sealed);
    buf_cstr(&t->lines, "restart\n");
}

static inline struct wire_sink told_sink(struct told *t)
{
    return (struct wire_sink){
        .ctx = t,
        .text = told_text,
        .thinking = told_thinking,
        .call = told_call,
        .args = told_args,
        .seal = told_seal,
        .opaque = told_opaque,
        .usage = told_usage,
        .finish = told_finish,
        .fail = told_fail,
        .restart = told_restart,
    };
}

/* ---- Decoding ------------------------------------------------------------ */

/* Cuts after `first` bytes, then after every `step`; 0: no more cuts. */
struct cuts {
    size_t first, step;
};

/* Each piece lies in memory of its own, so that reading on is noticed. */
static inline void wire_feed(struct sse *s, struct decoder *d, const char *p,
                             size_t len)
{
    char *copy = malloc(len ? len : 1);

    memcpy(copy, p, len);
    sse_feed(s, copy, len, decoder_event, d);
    free(copy);
}

/* Decodes a stream; t is filled, the decoder is freed. False: no memory. */
static inline bool wire_stream(const struct codec *c, wend_str in,
                               struct cuts cuts, const struct mem *m,
                               struct told *t)
{
    struct wire_sink sink = told_sink(t);
    struct decoder d;
    struct sse s;
    size_t at = cuts.first < in.len ? cuts.first : in.len;
    bool nomem;

    sse_init(&s, m, c->framing, WIRE_BYTES_MAX);
    if (decoder_init(&d, c, m, &sink)) {
        wire_feed(&s, &d, in.ptr, at);
        for (; cuts.step && at + cuts.step < in.len; at += cuts.step)
            wire_feed(&s, &d, in.ptr + at, cuts.step);
        wire_feed(&s, &d, in.ptr + at, in.len - at);
        decoder_last(&d, &s);
        if (s.status == WEND_OK)
            decoder_end(&d);
    }
    nomem = d.nomem || s.status != WEND_OK;
    decoder_free(&d);
    sse_free(&s);
    return !nomem;
}

static inline bool wire_body(const struct codec *c, wend_str in,
                             const struct mem *m, struct told *t)
{
    struct wire_sink sink = told_sink(t);
    struct decoder d;
    bool nomem;

    if (decoder_init(&d, c, m, &sink)) {
        decoder_whole(&d, in);
        decoder_end(&d);
    }
    nomem = d.nomem;
    decoder_free(&d);
    return !nomem;
}

/* The lines of a stream that is fed at once; free them by told_free. */
static inline wend_str wire_lines(const struct codec *c, wend_str in,
                                  struct told *t)
{
    told_init(t);
    wire_stream(c, in, (struct cuts){0}, &wire_plain, t);
    return buf_view(&t->lines);
}

/* ---- Golden streams ------------------------------------------------------ */

static inline bool wire_read_file(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "rb");
    char part[4096];
    size_t n;

    buf_clear(out);
    if (!f)
        return false;
    while ((n = fread(part, 1, sizeof part, f)))
        buf_add(out, part, n);
    fclose(f);
    return true;
}

static inline void wire_line_ends(struct buf *out, wend_str in, const char *end)
{
    buf_clear(out);
    for (size_t i = 0; i < in.len; i++)
        if (in.ptr[i] == '\n')
            buf_cstr(out, end);
        else
            buf_char(out, in.ptr[i]);
}

static inline bool wire_same(const struct codec *c, wend_str in,
                             struct cuts cuts, wend_str wanted)
{
    struct told t;
    bool same;

    told_init(&t);
    wire_stream(c, in, cuts, &wire_plain, &t);
    same = str_eq(buf_view(&t.lines), wanted);
    told_free(&t);
    return same;
}

/* Ended anywhere, a stream finishes or fails, and keeps the contract. */
static inline bool wire_ends_well(const struct codec *c, wend_str in)
{
    struct told t;
    bool good;

    told_init(&t);
    wire_stream(c, in, (struct cuts){0}, &wire_plain, &t);
    good = t.finished != t.failed && !strstr(t.lines.ptr, "LAW");
    told_free(&t);
    return good;
}

/* Every way to cut it, and every allocation failing. */
static inline void wire_check_stream(const struct codec *c, const char *name,
                                     wend_str in, wend_str wanted)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    struct buf b = {.mem = &wire_plain};
    int cut = 0, bytes = 0, ended = 0;

    for (size_t e = 0; e < tap_count(ends); e++) {
        wend_str text;

        wire_line_ends(&b, in, ends[e]);
        text = buf_view(&b);
        for (size_t i = 0; i < text.len; i++)
            cut += !wire_same(c, text, (struct cuts){.first = i}, wanted);
        bytes += !wire_same(c, text, (struct cuts){.step = 1}, wanted);
    }
    for (size_t i = 0; i < in.len; i++)
        ended += !wire_ends_well(c, (wend_str){in.ptr, i});
    tap_is_i64(cut, 0, "%s: cut at every byte, all line ends", name);
    tap_is_i64(bytes, 0, "%s: byte by byte", name);
    tap_is_i64(ended, 0, "%s: ended at every byte", name);
    buf_free(&b);
}

/* A failed allocation is never an answer, nor lost memory. */
static inline void wire_check_faults(const struct codec *c, const char *name,
                                     wend_str in, bool whole)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct told t;
        bool had;

        told_init(&t);
        had = whole ? wire_body(c, in, &m, &t)
                    : wire_stream(c, in, (struct cuts){.step = 100}, &m, &t);
        bad += f.live != 0 || had == f.hit || (f.hit && t.finished);
        told_free(&t);
    }
    tap_is_i64(bad, 0, "%s: every allocation may fail", name);
}

static inline void wire_check_file(const struct codec *c, const char *dir,
                                   const char *file)
{
    const char *dot = strrchr(file, '.');
    bool whole = !strcmp(dot, ".json");
    struct buf in = {.mem = &wire_plain}, wanted = {.mem = &wire_plain};
    char path[512];
    struct told t;
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    wire_read_file(path, &in);
    snprintf(path, sizeof path, "%s/%.*s.txt", dir, (int)(dot - file), file);
    told_init(&t);
    if (whole)
        wire_body(c, buf_view(&in), &wire_plain, &t);
    else
        wire_stream(c, buf_view(&in), (struct cuts){0}, &wire_plain, &t);
    if (getenv("WIRE_GOLDEN_WRITE") && (out = fopen(path, "wb"))) {
        fwrite(t.lines.ptr, 1, t.lines.len, out);
        fclose(out);
    }
    wire_read_file(path, &wanted);
    tap_is_str(buf_view(&t.lines), buf_view(&wanted), "%s", file);
    tap_ok(t.lines.len && !strstr(t.lines.ptr, "LAW"), "%s: lawful", file);
    if (!whole)
        wire_check_stream(c, file, buf_view(&in), buf_view(&wanted));
    wire_check_faults(c, file, buf_view(&in), whole);
    told_free(&t);
    buf_free(&in);
    buf_free(&wanted);
}

static inline int wire_is_golden(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');

    return dot && (!strcmp(dot, ".sse") || !strcmp(dot, ".ndjson") ||
                   !strcmp(dot, ".json"));
}

/* All files of a folder, from the top of the tree. */
static inline void wire_check_golden(const struct codec *c, const char *dir)
{
    struct dirent **list = NULL;
    int n = scandir(dir, &list, wire_is_golden, alphasort);

    tap_ok(n > 0, "%s has streams", dir);
    for (int i = 0; i < n; i++) {
        wire_check_file(c, dir, list[i]->d_name);
        free(list[i]);
    }
    free(list);
}

/* ---- Conversations ------------------------------------------------------- */

/* A turn with a history, for requests. */
struct talk {
    struct arena arena;
    struct turn turn;
    struct msg *last;
};

static inline void talk_init(struct talk *k, const char *config_json)
{
    struct config *c = NULL;
    wend_error err = {0};

    memset(k, 0, sizeof *k);
    k->arena.mem = &wire_plain;
    turn_init(&k->turn);
    if (config_parse(str_of(config_json), &k->arena, &c, &err) != WEND_OK)
        printf("# config: %s\n", err.message);
    k->turn.config = c;
    k->turn.frame = &c->frame;
}

static inline void talk_free(struct talk *k)
{
    arena_free(&k->arena);
}

static inline struct msg *talk_add(struct talk *k, enum role role,
                                   const char *text)
{
    struct msg *m = arena_alloc(&k->arena, sizeof *m);

    m->prev = k->turn.history;
    m->index = m->prev ? m->prev->index + 1 : 0;
    m->role = role;
    m->text = str_of(text);
    if (role == ROLE_ASSISTANT)
        m->opaque = STR("[]");
    k->turn.history = k->last = m;
    return m;
}

/* A call of the newest message; `args` that begin with a quote are raw. */
static inline void talk_call(struct talk *k, const char *id, const char *name,
                             const char *args)
{
    struct call *c = arena_alloc(&k->arena, sizeof *c);

    c->prev = k->last->calls;
    c->index = c->prev ? c->prev->index + 1 : 0;
    c->id = str_of(id);
    c->name = str_of(name);
    c->args = str_of(args);
    c->invalid = args[0] == '"';
    k->last->calls = c;
}

static inline void talk_result(struct talk *k, const char *id, const char *name,
                               const char *text)
{
    struct msg *m = talk_add(k, ROLE_TOOL, text);

    m->call = str_of(id);
    m->name = str_of(name);
}

#endif
