/*
 * inbox.c - requests of other processes, from the store to the core.
 *
 * A request leaves the store in the transaction that keeps its effect, so that
 * a crash neither loses nor doubles it. Requests that wait when a run is
 * resumed, or that were accepted before its end was kept, are part of that
 * input: nothing starts before them.
 */
#include "lib/otel/otel.h"
#include "lib/run/child.h"
#include "lib/run/shell.h"

#include <assert.h>

#include "base/fail.h"
#include "base/utf8.h"

static struct wend_run *find_run(wend_runtime *rt, wend_str id)
{
    for (struct wend_run *r = rt->runs; r; r = r->next)
        if (str_is(id, r->id) && r->agent)
            return r;
    return NULL;
}

/* An approval that came with another user's store does not count. */
static bool means_something(const struct wend_run *r, const struct input *in)
{
    return in->kind == IN_APPROVAL ? !r->rt->store->foreign
                                   : in->kind != IN_SAY || in->text.ptr;
}

/* False: it means nothing. Strings live in the arena. */
static bool read_request(struct wend_run *r, const struct store_request *q,
                         struct arena *a, struct input *in)
{
    static const struct {
        const char *what;
        enum input_kind kind;
    } kinds[] = {
        {"cancel", IN_CANCEL},    {"say", IN_SAY},
        {"pause", IN_PAUSE},      {"continue", IN_CONTINUE},
        {"approve", IN_APPROVAL}, {"compact", IN_COMPACT},
    };
    const struct json *body = json_parse(q->body, a, NULL);

    *in = (struct input){.by = json_str(json_get(body, "by")),
                         .text = json_str(json_get(body, "text"))};
    if (!in->by.ptr)
        in->by = STR("inbox");
    in->pin = json_is_true(json_get(body, "pin"));
    in->approval.call = json_str(json_get(body, "call"));
    in->approval.by = in->by;
    in->approval.remember = json_is_true(json_get(body, "remember"));
    in->approval.yes = json_is_true(json_get(body, "yes"));
    in->approval.args = json_text(json_get(body, "args"), a);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(q->what, kinds[i].what)) {
            in->kind = kinds[i].kind;
            if (in->kind == IN_SAY)
                parts_heard(r, body, a, in);
            return means_something(r, in);
        }
    return false;
}

/* ---- While the run is live ----------------------------------------------- */

static bool has_heard(const struct batch *b, int64_t request)
{
    for (size_t i = 0; b && i < b->sb.heard_count; i++)
        if (b->heard[i].id == request)
            return true;
    return false;
}

/* In a batch that the store has not kept yet. */
static bool is_on_its_way(const struct wend_run *r, int64_t request)
{
    bool found = has_heard(r->open, request);

    for (const struct batch *b = r->sent; b && !found; b = b->next)
        found = has_heard(b, request);
    return found;
}

/* Then nothing is approved, and the log tells why. */
static bool is_refused(struct wend_run *r, const struct input *in,
                       struct arena *a)
{
    wend_str why =
        in->kind == IN_APPROVAL && in->approval.args.ptr
            ? run_args_refused(r, in->approval.call, in->approval.args, a)
            : STR_NONE;

    if (why.ptr)
        run_warn(r, "arguments_refused", "call '%.*s': %.*s",
                 UTF8_ARGS(in->approval.call, 80), UTF8_ARGS(why, 280));
    return why.ptr != NULL;
}

/* False: out of memory; the request is given again. */
static bool serve(struct wend_run *r, const struct store_request *q)
{
    struct arena a = {.mem = &r->rt->mem};
    struct batch *b = shell_batch(r);
    struct input in;

    if (!b || !batch_heard_room(b, 1))
        return false;
    r->heard = 0;
    if (read_request(r, q, &a, &in) && !is_refused(r, &in, &a))
        shell_input(r, &in);
    /* Memory may fail when its events are in the batch: then it is heard. */
    if ((r->error.status == WEND_OK || r->heard) && !a.failed)
        batch_heard(b, q->id, !r->heard);
    arena_free(&a);
    return true;
}

static bool on_request(void *ctx, const struct store_request *q)
{
    struct wend_run *r = find_run(ctx, q->run);

    if (!r || r->over) /* whose end is on its way: see inbox_unend */
        return false;
    if (r->error.status != WEND_OK || is_on_its_way(r, q->id))
        return true;
    return serve(r, q);
}

/* Once, until it can be read again. */
static void tell_unread(wend_runtime *rt, const wend_error *err)
{
    for (struct wend_run *r = rt->runs, *next; r; r = next) {
        next = r->next;
        if (r->turn.phase != PH_NEW)
            run_error(r, "inbox",
                      "requests of other processes cannot be read: %s",
                      err->message);
    }
}

void inbox_serve(wend_runtime *rt)
{
    wend_error err = {0};
    bool failed =
        rt->store->ops->take(rt->store, on_request, rt, &err) != WEND_OK;

    if (failed && !rt->inbox_failed && err.status != WEND_E_STORE)
        tell_unread(rt, &err);
    rt->inbox_failed = failed;
}

/* ---- At a resume, and before an end -------------------------------------- */

/* What waits for a run, as the core takes it. */
struct inbox {
    struct arena arena;
    struct store_request *waiting;
    struct remote_request *requests;
    size_t count;
};

static wend_status look(struct wend_run *r, struct inbox *box, wend_error *err)
{
    wend_store *store = r->rt->store;
    struct input in;
    wend_status s = store->ops->waiting(store, str_of(r->id), &box->arena,
                                        &box->waiting, &box->count, err);

    if (s != WEND_OK)
        return s;
    if (box->count > REQUESTS_MAX)
        box->count = REQUESTS_MAX;
    box->requests =
        arena_alloc(&box->arena, (box->count + 1) * sizeof *box->requests);
    for (size_t i = 0; box->requests && i < box->count; i++) {
        bool known = read_request(r, &box->waiting[i], &box->arena, &in);

        box->requests[i] =
            (struct remote_request){.kind = known ? in.kind : IN_START,
                                    .by = in.by,
                                    .text = in.text,
                                    .pin = in.pin,
                                    .parts = in.parts};
    }
    return box->arena.failed ? fail_nomem(err) : WEND_OK;
}

/* An approval is asked for again with the resume: only now can it be given. */
static bool is_answer(const struct wend_run *r, const struct input *in,
                      const struct inbox *box, size_t i)
{
    return in->kind == IN_RESUME && !r->over &&
           box->requests[i].kind == IN_APPROVAL;
}

wend_status inbox_input(struct wend_run *r, struct input *in, wend_error *err)
{
    struct inbox box = {.arena = {.mem = &r->rt->mem}};
    wend_status s = look(r, &box, err);
    uint64_t heard;
    struct batch *b;

    if (s == WEND_OK) {
        b = shell_batch(r);
        if (!b || !batch_heard_room(b, box.count))
            s = fail_nomem(err);
    }
    if (s == WEND_OK) {
        in->requests = box.requests;
        in->requests_count = box.count;
        shell_input(r, in);
        heard = r->heard;
        for (size_t i = 0; i < box.count && r->error.status == WEND_OK; i++)
            if (is_answer(r, in, &box, i))
                serve(r, &box.waiting[i]);
            else
                batch_heard(b, box.waiting[i].id, !(heard >> i & 1));
        if (r->error.status != WEND_OK)
            s = fail(err, r->error.status, "%s", r->error.message);
    }
    arena_free(&box.arena);
    return s;
}

static void go_back(struct wend_run *r, struct batch *b)
{
    assert(r->over);
    assert(!r->open);
    batch_unend(b);
    show_unend(r);
    trace_unend(r);
    r->turn = r->unended->turn;
    r->over = false;
    r->outcome = WEND_OUTCOME_NONE;
    r->end = (struct child_done){0};
    r->open = b;
    shell_batch(r); /* which hands it over again */
    run_live(r);
}

/* What the parent or the host said while the end was on its way. */
static void pause_late(struct wend_run *r)
{
    struct input in = {.kind = IN_PAUSE, .by = STR("parent")};

    if (r->child && r->child->parent->turn.paused)
        shell_input(r, &in);
}

static void cancel_late(struct wend_run *r)
{
    struct input in = {.kind = IN_CANCEL, .by = r->late_cancel};

    if (in.by.ptr)
        shell_input(r, &in);
}

void inbox_unend(struct wend_run *r, struct batch *b)
{
    struct input in = {.kind = IN_UNENDED, .end = &r->unended->end};
    wend_error err = {0};
    wend_status s;

    go_back(r, b);
    pause_late(r);
    s = inbox_input(r, &in, &err);
    if (s == WEND_OK)
        cancel_late(r);
    else
        shell_fail(r, s, err.message);
}
