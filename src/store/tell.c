/*
 * tell.c - requests to a run that another process has under way.
 */
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "store/store.h"

static const char *const whats[] = {
    [WEND_REQUEST_CANCEL] = "cancel",   [WEND_REQUEST_SAY] = "say",
    [WEND_REQUEST_PAUSE] = "pause",     [WEND_REQUEST_CONTINUE] = "continue",
    [WEND_REQUEST_APPROVE] = "approve",
};
enum { WHATS = sizeof whats / sizeof *whats };

static wend_status check(const wend_request *r, wend_error *err)
{
    const char *const texts[] = {r->by, r->text, r->call};

    if ((unsigned)r->kind >= WHATS)
        return fail(err, WEND_E_INVAL, "tell: kind is no value");
    if (r->kind == WEND_REQUEST_SAY && !r->text)
        return fail(err, WEND_E_INVAL, "tell: text is NULL");
    if (r->kind == WEND_REQUEST_APPROVE && !r->call)
        return fail(err, WEND_E_INVAL, "tell: call is NULL");
    for (size_t i = 0; i < 3; i++) {
        wend_str s = str_of(texts[i]);

        if (s.len > STRING_INLINE_MAX)
            return fail(err, WEND_E_LIMIT, "tell: a text is over %d bytes",
                        STRING_INLINE_MAX);
        if (utf8_valid_len(s) != s.len)
            return fail(err, WEND_E_INVAL, "tell: a text is not UTF-8");
    }
    return WEND_OK;
}

static void put_body(struct buf *b, const wend_request *r)
{
    buf_cstr(b, "{\"by\":");
    json_put_str(b, str_of(r->by ? r->by : "inbox"));
    if (r->kind == WEND_REQUEST_SAY) {
        buf_cstr(b, ",\"text\":");
        json_put_str(b, str_of(r->text));
    } else if (r->kind == WEND_REQUEST_APPROVE) {
        buf_cstr(b, ",\"call\":");
        json_put_str(b, str_of(r->call));
        buf_fmt(b, ",\"yes\":%s,\"remember\":%s", r->yes ? "true" : "false",
                r->always ? "true" : "false");
    }
    buf_char(b, '}');
}

/* A request to nobody would wait until somebody resumes the run, and mean
 * something else by then. */
static wend_status find_owner(wend_store *store, const char *id,
                              wend_error *err)
{
    struct arena a = {.mem = &store->mem};
    wend_run_info *info;
    wend_status s = store_info(store, id, &a, &info, err);

    if (s == WEND_OK && str_is(info->status, "interrupted"))
        s = fail(err, WEND_E_STALE,
                 "nobody has run %s under way; 'wend resume %s' goes on with "
                 "it",
                 id, id);
    arena_free(&a);
    return s;
}

wend_status wend_store_tell(wend_store *store, const char *id,
                            const wend_request *request, wend_error *err)
{
    wend_request r = {.size = sizeof r};
    struct buf b = {0};
    wend_status s;

    if (!store || !request || !request->size || !id ||
        !run_id_valid(str_of(id)))
        return fail(err, WEND_E_INVAL,
                    "tell: store or request is NULL, its size is not set, or "
                    "id is no run id");
    memcpy(&r, request, request->size < sizeof r ? request->size : sizeof r);
    s = check(&r, err);
    if (s == WEND_OK)
        s = find_owner(store, id, err);
    if (s != WEND_OK)
        return s;
    b.mem = &store->mem;
    put_body(&b, &r);
    s = b.failed ? fail_nomem(err)
                 : store->ops->post(store, str_of(id), whats[r.kind],
                                    buf_view(&b), err);
    buf_free(&b);
    return s;
}
