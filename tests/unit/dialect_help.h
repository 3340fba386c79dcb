/*
 * dialect_help.h - stories of native events, for the tests of dialects.
 *
 * Native events go in as their canonical lines, so that what is tested is
 * what a log or a stream gives. A line of `in` is "type data"; the time
 * counts up in quarters of a second, and the turn follows turn_start.
 */
#ifndef TESTS_DIALECT_HELP_H
#define TESTS_DIALECT_HELP_H

#include "base/json.h"
#include "core/event/event.h"
#include "tap.h"
#include "wire/dialect/record.h"

enum { LINES_MAX = 40 };

struct story {
    const char *why;
    const char *in[LINES_MAX];
    const char *out;
};

#define RUN_START                                                    \
    "run_start {\"prompt\":\"p\",\"correlation_id\":\"c-9\","        \
    "\"limits\":{\"turns\":2,\"time_ms\":0,\"tokens\":0,\"cost\":0," \
    "\"parallel\":3}}"
#define TURN_0                                                    \
    "turn_start {\"counter\":0,\"id\":\"t0\",\"parent_id\":null," \
    "\"compacted\":false}"
#define TURN_1                                                      \
    "turn_start {\"counter\":1,\"id\":\"t1\",\"parent_id\":\"t0\"," \
    "\"compacted\":false}"
#define MODEL_START "model_start {\"model\":\"m\",\"attempt\":1}"
#define METRICS "metrics {\"turns\":1,\"model_calls\":1}"
#define CALL_START \
    "call_start {\"call\":\"c1\",\"name\":\"add\",\"args\":{\"a\":1}}"
#define MODEL_END_CALL                                           \
    "model_end {\"outcome\":\"ok\",\"text\":\"hm\",\"calls\":[{" \
    "\"id\":\"c1\",\"name\":\"add\",\"args\":{\"a\":1}},{"       \
    "\"id\":\"c2\",\"name\":\"rm\",\"args\":{}}]}"

/* A call that an interruption cut off, and that ran again. */
#define CUT_CALL                                                             \
    "model_end {\"outcome\":\"ok\",\"text\":\"\",\"calls\":[{\"id\":\"c1\"," \
    "\"name\":\"add\",\"args\":{\"a\":1}}]}",                                \
        "call_start {\"call\":\"c1\",\"name\":\"add\",\"args\":{\"a\":1},"   \
        "\"attempt\":1}",                                                    \
        "run_resume {\"epoch\":2,\"from_seq\":4}",                           \
        "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":"            \
        "\"superseded\",\"output\":\"\",\"ms\":0}",                          \
        "call_start {\"call\":\"c1\",\"name\":\"add\",\"args\":{\"a\":1},"   \
        "\"attempt\":2}",                                                    \
        "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":\"ok\","     \
        "\"output\":\"7\",\"ms\":12}"

static inline void native_line(struct buf *b, const char *line, int i, int turn)
{
    const char *data = strchr(line, ' ');

    buf_clear(b);
    buf_fmt(b, "{\"run\":\"r\",\"seq\":%d,\"time\":%d.%02d0000,\"type\":\"", i,
            100 + i / 4, i % 4 * 25);
    buf_add(b, line, (size_t)(data - line));
    buf_char(b, '"');
    if (turn >= 0 && !str_starts(str_of(line), "run_"))
        buf_fmt(b, ",\"turn\":%d,\"turn_id\":\"t%d\"", turn, turn);
    buf_fmt(b, ",\"data\":%s}", data + 1);
}

/* False: a line cannot be read. Out of memory sticks in out. The reader does
 * not get the first `past` events. */
static inline bool story_feed_as(const struct story *s, const struct dialect *d,
                                 const struct mem *m,
                                 const wend_dialect_options *options, int past,
                                 struct buf *out)
{
    struct mem libc = {0};
    struct arena a = {.mem = &libc};
    struct buf line = {.mem = &libc};
    struct dialect_stream stream;
    wend_error err = {0};
    bool ok = true;
    int turn = -1;

    dialect_open(&stream, d, m, options);
    for (int i = 0; i < LINES_MAX && s->in[i]; i++) {
        wend_event ev;

        if (str_starts(str_of(s->in[i]), "turn_start"))
            turn = s->in[i][22] - '0'; /* turn_start {"counter":N */
        native_line(&line, s->in[i], i, turn);
        if (event_read(buf_view(&line), &a, NULL, NULL, &ev, &err) != WEND_OK) {
            printf("# %s: %s\n", s->in[i], err.message);
            ok = false;
        } else {
            dialect_event(&stream, &ev, out, i < past);
        }
    }
    dialect_close(&stream);
    buf_free(&line);
    arena_free(&a);
    return ok;
}

static inline bool story_feed(const struct story *s, const struct dialect *d,
                              const struct mem *m, bool verbose,
                              struct buf *out)
{
    wend_dialect_options o = {.size = sizeof o, .verbose = verbose};

    return story_feed_as(s, d, m, &o, 0, out);
}

static inline bool lines_are_json(wend_str text)
{
    struct mem libc = {0};
    struct arena a = {.mem = &libc};
    const char *end = text.ptr + text.len;
    bool ok = true;

    for (const char *p = text.ptr, *eol; p < end && ok; p = eol + 1) {
        const struct json *j;

        eol = memchr(p, '\n', (size_t)(end - p));
        if (!eol)
            return false;
        j = json_parse_own((wend_str){p, (size_t)(eol - p)}, &a, NULL);
        ok = j && j->kind == JSON_OBJECT;
        arena_reset(&a);
    }
    arena_free(&a);
    return ok;
}

/* From any event on, since a reader may come late: each record is a line of
 * JSON, and the same events give the same bytes. */
static inline void story_laws(const struct story *stories, size_t count,
                              const struct dialect *d)
{
    struct mem m = {0};
    int bad = 0;

    for (size_t i = 0; i < count; i++)
        for (int from = 0; from < LINES_MAX && stories[i].in[from]; from++) {
            struct buf once = {.mem = &m}, twice = {.mem = &m};
            struct story late = {0};

            memcpy(late.in, stories[i].in + from,
                   sizeof late.in - (size_t)from * sizeof *late.in);
            story_feed(&late, d, &m, true, &once);
            story_feed(&late, d, &m, true, &twice);
            bad += !lines_are_json(buf_view(&once)) ||
                   !str_eq(buf_view(&once), buf_view(&twice));
            buf_free(&once);
            buf_free(&twice);
        }
    tap_is_i64(bad, 0,
               "%s: lines of JSON, the same each time, also for a "
               "reader who comes late",
               d->name);
}

#endif
