/*
 * tell.c - requests to a run that another process has under way.
 */
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/options.h"
#include "base/utf8.h"
#include "store/queue.h"
#include "store/store.h"

static const char *const whats[] = {
    [WEND_REQUEST_CANCEL] = "cancel",   [WEND_REQUEST_SAY] = "say",
    [WEND_REQUEST_PAUSE] = "pause",     [WEND_REQUEST_CONTINUE] = "continue",
    [WEND_REQUEST_APPROVE] = "approve", [WEND_REQUEST_COMPACT] = "compact",
};
enum {
    WHATS = sizeof whats / sizeof *whats,
    TOLD_MAX = 64, /* parts, as of any message */
    LOOK_MS = 10,  /* between two looks at what became of a request */
};

static wend_status check(const wend_request *r, wend_error *err)
{
    const char *const texts[] = {r->by, r->text, r->call, r->args};
    size_t bytes = 0;

    if ((unsigned)r->kind >= WHATS)
        return fail(err, WEND_E_INVAL, "tell: kind is no value");
    if (r->kind == WEND_REQUEST_SAY && !r->text)
        return fail(err, WEND_E_INVAL, "tell: text is NULL");
    if (r->kind == WEND_REQUEST_COMPACT &&
        str_of(r->text).len > FOCUS_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "tell: the focus is over %d bytes",
                    FOCUS_BYTES_MAX);
    if (r->kind == WEND_REQUEST_APPROVE && !r->call)
        return fail(err, WEND_E_INVAL, "tell: call is NULL");
    if (r->args && (r->kind != WEND_REQUEST_APPROVE || !r->yes || r->always))
        return fail(err, WEND_E_INVAL,
                    "tell: args are for APPROVE, with yes, without always");
    if (r->parts_count &&
        (r->kind != WEND_REQUEST_SAY || !r->parts || r->parts_count > TOLD_MAX))
        return fail(err, WEND_E_INVAL,
                    "tell: parts are for SAY, %d at most, and not NULL",
                    TOLD_MAX);
    for (size_t i = 0; i < r->parts_count; i++)
        bytes += r->parts[i].data.len;
    if (bytes > BLOB_BYTES_MAX / 4 * 3)
        return fail(err, WEND_E_LIMIT,
                    "tell: the parts have %zu bytes, at most %d", bytes,
                    BLOB_BYTES_MAX / 4 * 3);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        wend_str s = str_of(texts[i]);

        if (s.len > STRING_INLINE_MAX)
            return fail(err, WEND_E_LIMIT, "tell: a text is over %d bytes",
                        STRING_INLINE_MAX);
        if (utf8_valid_len(s) != s.len)
            return fail(err, WEND_E_INVAL, "tell: a text is not UTF-8");
    }
    return WEND_OK;
}

static void put_parts(struct buf *b, const wend_request *r)
{
    if (!r->parts_count)
        return;
    json_open(b, "parts", '[');
    for (size_t i = 0; i < r->parts_count; i++) {
        struct buf name = {.mem = b->mem};

        utf8_repair(&name, r->parts[i].name);
        json_open(b, NULL, '{');
        if (name.len)
            json_add_str(b, "name", buf_view(&name));
        json_key(b, "data");
        buf_char(b, '"');
        base64_put(b, r->parts[i].data);
        buf_char(b, '"');
        json_close(b, '}');
        b->failed |= name.failed;
        buf_free(&name);
    }
    json_close(b, ']');
}

/* args: in canonical form; absent: none. */
static void put_body(struct buf *b, const wend_request *r, wend_str args)
{
    json_open(b, NULL, '{');
    json_add_str(b, "by", str_of(r->by ? r->by : "inbox"));
    if (r->kind == WEND_REQUEST_SAY || r->kind == WEND_REQUEST_COMPACT)
        json_add_str(b, "text", str_of(r->text));
    if (r->kind == WEND_REQUEST_SAY && r->pin)
        json_add_bool(b, "pin", true);
    put_parts(b, r);
    if (r->kind == WEND_REQUEST_APPROVE) {
        json_add_str(b, "call", str_of(r->call));
        json_add_bool(b, "yes", r->yes);
        json_add_bool(b, "remember", r->always);
        if (args.ptr)
            json_add_raw(b, "args", args);
    }
    json_close(b, '}');
}

/* Checks what the host gave. */
static wend_status take(const wend_store *store, const char *id,
                        const wend_request *request, wend_request *out,
                        wend_error *err)
{
    wend_status s = store_enter_run(store, id, err);

    if (s == WEND_OK &&
        (!request || !OPTIONS_TAKE(out, wend_request, always, request)))
        return fail(err, WEND_E_INVAL,
                    "tell: request is NULL, or its size is wrong");
    return s == WEND_OK ? check(out, err) : s;
}

static wend_status read_args(const wend_request *r, struct arena *a,
                             wend_str *out, wend_error *err)
{
    wend_error why = {0};
    const struct json *j =
        r->args ? json_parse(str_of(r->args), a, &why) : NULL;

    if (j && j->kind == JSON_OBJECT)
        *out = json_text(j, a);
    if (a->failed)
        return fail_nomem(err);
    if (!r->args || out->ptr)
        return WEND_OK;
    return j ? fail(err, WEND_E_INVAL, "tell: args must be a JSON object")
             : fail(err, WEND_E_INVAL,
                    "tell: args are not valid JSON: line %u, column %u: %s",
                    why.line, why.column, why.message);
}

static wend_status post(wend_store *store, const char *id,
                        const wend_request *r, int64_t *posted, wend_error *err)
{
    struct arena a = {.mem = &store->mem};
    struct buf b = {.mem = &store->mem};
    wend_str args = STR_NONE;
    wend_status s = read_args(r, &a, &args, err);

    put_body(&b, r, args);
    if (s == WEND_OK)
        s = b.failed ? fail_nomem(err)
                     : store->ops->post(store, str_of(id), whats[r->kind],
                                        buf_view(&b), posted, err);
    buf_free(&b);
    arena_free(&a);
    return s;
}

wend_status wend_store_tell(wend_store *store, const char *id,
                            const wend_request *request, wend_error *err)
{
    wend_request r;
    wend_status s = take(store, id, request, &r, err);

    return s == WEND_OK ? post(store, id, &r, NULL, err) : s;
}

/* ---- What became of it --------------------------------------------------- */

static wend_status is_owned(wend_store *store, const char *id, bool *owned,
                            wend_error *err)
{
    struct arena a = {.mem = &store->mem};
    wend_run_info *info;
    wend_status s = store_info(store, id, &a, &info, err);

    *owned = s == WEND_OK && !str_is(info->status, "interrupted");
    arena_free(&a);
    return s;
}

static bool is_over(wend_store *store, const char *id)
{
    struct store_state st = {0};

    return store->ops->state(store, str_of(id), &st, NULL) == WEND_OK &&
           st.ended_us;
}

/* The owner may hear it and leave between two looks: the fate is looked at
 * last. */
static wend_status look(wend_store *store, const char *id, int64_t request,
                        bool *owned, enum store_fate *fate, wend_error *err)
{
    wend_status s = is_owned(store, id, owned, err);

    return s == WEND_OK ? store->ops->fate(store, request, fate, err) : s;
}

wend_status wend_store_tell_wait(wend_store *store, const char *id,
                                 const wend_request *request,
                                 uint32_t timeout_ms, wend_told *told,
                                 wend_error *err)
{
    static const wend_told fates[] = {
        [FATE_WAITS] = WEND_TOLD_QUEUED,
        [FATE_HEARD] = WEND_TOLD_APPLIED,
        [FATE_LATE] = WEND_TOLD_LATE,
    };
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
    int64_t until_us = queue_now_us() + timeout_ms * INT64_C(1000), posted = 0;
    enum store_fate fate = FATE_WAITS;
    wend_request r;
    bool owned;
    wend_status s;

    if (!told)
        return fail(err, WEND_E_INVAL, "tell: told is NULL");
    *told = WEND_TOLD_LATE;
    s = take(store, id, request, &r, err);
    if (s != WEND_OK)
        return s;
    s = post(store, id, &r, &posted, err);
    if (s == WEND_E_INVAL && is_over(store, id)) {
        fail_clear(err);
        return WEND_OK;
    }
    while (s == WEND_OK) {
        s = look(store, id, posted, &owned, &fate, err);
        if (s != WEND_OK || fate != FATE_WAITS || !owned ||
            queue_now_us() >= until_us)
            break;
        nanosleep(&pause, NULL);
    }
    *told = fates[fate];
    return s;
}
