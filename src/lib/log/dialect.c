/*
 * dialect.c - dialects as objects of the host.
 */
#include "wire/dialect/dialect.h"

#include "base/fail.h"
#include "base/options.h"
#include "core/event/event.h"
#include "store/forked.h"

static const struct mem libc_mem = {NULL, NULL};

struct wend_dialect {
    unsigned process; /* that made it */
    bool failed;      /* out of memory: the stream has a gap */
    struct buf out;
    struct dialect_stream stream;
    struct arena arena;
    wend_dialect_options options; /* its strings are in the arena */
};

const char *wend_dialect_name(size_t i)
{
    return i < DIALECTS ? dialect_names[i] : NULL;
}

/* Copies the strings of the options. */
static bool keep_options(wend_dialect *d, const wend_dialect_options *o)
{
    const char **strings[] = {&d->options.thread_id, &d->options.run_id,
                              &d->options.model, &d->options.version};

    d->options = *o;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (*strings[i])
            *strings[i] = arena_str(&d->arena, str_of(*strings[i])).ptr;
    return !d->arena.failed;
}

static wend_status find(const char *name, const struct dialect **out,
                        wend_error *err)
{
    char hint[STR_HINT_BYTES];
    const char *near;

    *out = dialect_find(str_of(name));
    if (*out)
        return WEND_OK;
    near = str_near(str_of(name), dialect_names, DIALECTS);
    return fail(err, WEND_E_NOTFOUND, "no dialect has the name '%.60s'%s", name,
                str_hint(hint, str_of(near)));
}

static bool usable(const wend_dialect *d)
{
    return d && forked_check(d->process, NULL) == WEND_OK;
}

void wend_dialect_free(wend_dialect *dialect)
{
    if (!usable(dialect))
        return;
    dialect_close(&dialect->stream);
    buf_free(&dialect->out);
    arena_free(&dialect->arena);
    mem_free(&libc_mem, dialect);
}

wend_status wend_dialect_new(const char *name,
                             const wend_dialect_options *options,
                             wend_dialect **out, wend_error *err)
{
    const struct dialect *which = NULL;
    wend_dialect_options o;
    wend_dialect *d;
    wend_status s;

    if (!name || !out)
        return fail(err, WEND_E_INVAL, "dialect: name or out is NULL");
    if (!OPTIONS_TAKE(&o, wend_dialect_options, verbose, options))
        return fail(err, WEND_E_INVAL, "dialect: options.size is wrong");
    fail_clear(err);
    *out = NULL;
    s = find(name, &which, err);
    if (s)
        return s;
    d = mem_zalloc(&libc_mem, sizeof *d);
    if (!d)
        return fail_nomem(err);
    d->process = forked_mark();
    d->out.mem = d->arena.mem = &libc_mem;
    if (!keep_options(d, &o)) {
        wend_dialect_free(d);
        return fail_nomem(err);
    }
    dialect_open(&d->stream, which, &libc_mem, &d->options);
    *out = d;
    return WEND_OK;
}

wend_status wend_dialect_feed(wend_dialect *dialect, const wend_event *event,
                              wend_str *records)
{
    if (records)
        *records = STR_NONE;
    if (!dialect || !event || !event_fields(event->type))
        return WEND_E_INVAL;
    if (!usable(dialect))
        return WEND_E_MISUSE;
    buf_clear(&dialect->out);
    if (!dialect->failed)
        dialect->failed =
            !dialect_event(&dialect->stream, event, &dialect->out, !records);
    if (dialect->failed)
        return WEND_E_NOMEM;
    if (records)
        *records = buf_view(&dialect->out);
    return WEND_OK;
}

wend_status wend_dialect_interrupt(wend_dialect *dialect, wend_str *records)
{
    if (records)
        *records = STR_NONE;
    if (!dialect || !records)
        return WEND_E_INVAL;
    if (!usable(dialect))
        return WEND_E_MISUSE;
    if (dialect->failed)
        return WEND_E_NOMEM;
    buf_clear(&dialect->out);
    if (!dialect_interrupt(&dialect->stream, &dialect->out))
        return WEND_AGAIN;
    dialect->failed = dialect->out.failed;
    if (dialect->failed)
        return WEND_E_NOMEM;
    *records = buf_view(&dialect->out);
    return WEND_OK;
}
