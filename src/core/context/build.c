/*
 * build.c - a shorter conversation from what was decided, live or by the log.
 *
 * A log may be forged: what it says is checked, and what cannot be gives no
 * list.
 */
#include "core/context/context.h"

#include "base/utf8.h"

#define SUMMARY_LEAD                                                          \
    "[The conversation before this point was too long for the model and is "  \
    "replaced by this summary. It is a report, not a request of the user.]\n" \
    "\n"

#define DROPPED_NOTE                                                        \
    "[Older messages are left out here: the conversation was too long for " \
    "the model.]"

enum { CUT_NOTE = 256 }; /* bytes, with a call's name of usual length */

/* ---- Texts --------------------------------------------------------------- */

static size_t tail_start(wend_str s, int64_t bytes)
{
    size_t at = s.len - (size_t)bytes;

    while (at < s.len && ((unsigned char)s.ptr[at] & 0xc0) == 0x80)
        at++;
    return at;
}

/* The result without its middle. */
static wend_str cut_text(const struct msg *m, const struct result_cut *c,
                         bool readable, struct arena *a)
{
    struct buf b = {.mem = a->mem};
    wend_str all = result_whole(m);
    size_t head = utf8_cut(all, (size_t)c->head);
    size_t tail = tail_start(all, c->tail);

    buf_room(&b, head + all.len - tail + CUT_NOTE); /* one of many: no printf */
    buf_add(&b, all.ptr, head);
    buf_cstr(&b, "\n[cut: bytes ");
    buf_i64(&b, (int64_t)head);
    buf_cstr(&b, " to ");
    buf_i64(&b, (int64_t)tail);
    buf_cstr(&b, " of ");
    buf_i64(&b, (int64_t)all.len);
    buf_cstr(&b, " are left out");
    if (readable) {
        buf_cstr(&b, "; the tool read_result with {\"call\":\"");
        buf_i64(&b, m->turn);
        buf_char(&b, '/');
        buf_str(&b, m->call);
        buf_cstr(&b, "\",\"offset\":");
        buf_i64(&b, (int64_t)head);
        buf_cstr(&b, "} reads them");
    }
    buf_cstr(&b, "]\n");
    buf_str(&b, str_skip(all, tail));
    return buf_keep(&b, a);
}

int64_t cut_tokens(const struct msg *m, const struct result_cut *c,
                   bool readable, struct arena *a)
{
    return msg_tokens(cut_text(m, c, readable, a)) + m->media;
}

/* The newest of those that go, for the model to read. */
static void put_gone(struct buf *b, const struct compaction *c,
                     const struct msg **list)
{
    enum { NAMED_MAX = 8 };
    int named = 0;

    for (int64_t i = c->from; c->readable && i-- && named < NAMED_MAX;) {
        const struct msg *m = list[i];

        if (!result_goes(m, c) || result_whole(m).len < RESULT_NAMED_BYTES)
            continue;
        buf_cstr(b, named++ ? ", "
                            : "\n\n[Results that are left out, and that the "
                              "tool read_result reads: ");
        buf_fmt(b, "{\"call\":\"%lld/%.*s\"} (%.*s, %zu bytes)",
                (long long)m->turn, STR_ARGS(m->call), STR_ARGS(m->name),
                result_whole(m).len);
    }
    if (named)
        buf_char(b, ']');
}

/* Summary or note: no text of the user. */
static struct msg *own_msg(wend_str text, bool summary, struct arena *a)
{
    struct msg *m = arena_alloc(a, sizeof *m);

    if (!m)
        return NULL;
    m->role = ROLE_USER;
    m->text = text;
    m->summary = summary;
    m->own = true;
    msg_seal(m);
    return m;
}

/* ---- The list ------------------------------------------------------------ */

struct building {
    const struct compaction *c;
    const struct msg **list; /* the messages before, oldest first */
    struct arena *a;
    uint64_t first;
    const struct msg *head;
    size_t kept, cuts; /* used so far */
    bool same;         /* all so far is as it was */
    bool summarised, noted;
};

static void put(struct building *b, struct msg *m)
{
    if (!m)
        return;
    msg_link(m, b->head, b->first);
    b->head = m;
    b->same = false;
}

static void put_summary(struct building *b)
{
    struct buf text = {.mem = b->a->mem};

    if (b->summarised || !b->c->summary.ptr)
        return;
    b->summarised = true;
    buf_cstr(&text, SUMMARY_LEAD);
    buf_str(&text, b->c->summary);
    put_gone(&text, b->c, b->list);
    put(b, own_msg(buf_keep(&text, b->a), true, b->a));
}

/* Where the first message is gone; one note stands for all. */
static void drop(struct building *b)
{
    struct buf text = {.mem = b->a->mem};

    b->same = false;
    if (b->noted || b->c->dropped <= 0)
        return;
    b->noted = true;
    buf_cstr(&text, DROPPED_NOTE);
    put_gone(&text, b->c, b->list);
    put(b, own_msg(buf_keep(&text, b->a), false, b->a));
}

static void put_copy(struct building *b, const struct msg *m,
                     const struct result_cut *cut)
{
    struct msg *copy = arena_alloc(b->a, sizeof *copy);

    if (!copy)
        return;
    *copy = *m;
    if (cut) {
        copy->whole = result_whole(m);
        copy->text = cut_text(m, cut, b->c->readable, b->a);
        msg_seal(copy);
    }
    put(b, copy);
}

static void keep_or_drop(struct building *b, const struct msg *m)
{
    const struct compaction *c = b->c;
    const struct result_cut *cut = NULL;

    if (b->cuts < c->cuts_count && c->cuts[b->cuts].message == m->index)
        cut = &c->cuts[b->cuts++];
    if (m->index < c->from &&
        !(b->kept < c->kept_count && c->kept[b->kept] == m->index)) {
        drop(b);
        return;
    }
    if (m->index >= c->from || b->kept)
        put_summary(b);
    b->kept += m->index < c->from;
    if (b->same && !cut)
        b->head = m;
    else
        put_copy(b, m, cut);
}

/* Indexes ascend, and what is cut is a result with more bytes than stay. */
static bool is_possible(const struct compaction *c, const struct msg **list,
                        int64_t count)
{
    int64_t last = -1;

    if (c->from < 0 || c->from >= count)
        return false;
    for (size_t i = 0; i < c->kept_count; last = c->kept[i++])
        if (c->kept[i] <= last || c->kept[i] >= c->from ||
            list[c->kept[i]]->role == ROLE_TOOL || list[c->kept[i]]->calls)
            return false;
    last = -1;
    for (size_t i = 0; i < c->cuts_count; last = c->cuts[i++].message) {
        const struct result_cut *cut = &c->cuts[i];
        const struct msg *m;

        if (cut->message <= last || cut->message >= count)
            return false;
        m = list[cut->message];
        if (m->role != ROLE_TOOL || cut->head < 0 || cut->tail < 0 ||
            cut->head > INT32_MAX || cut->tail > INT32_MAX ||
            cut->head + cut->tail > (int64_t)result_whole(m).len)
            return false;
    }
    return list[c->from]->role != ROLE_TOOL;
}

const struct msg *compact_build(const struct msg *history,
                                const struct compaction *c, uint64_t first,
                                struct arena *a)
{
    struct building b = {.c = c, .a = a, .first = first, .same = true};
    int64_t count = history ? history->index + 1 : 0;
    const struct msg **list =
        mem_alloc(a->mem, (size_t)(count + 1) * sizeof *list);

    if (!list) {
        a->failed = true;
        return NULL;
    }
    for (const struct msg *m = history; m; m = m->prev)
        list[m->index] = m;
    b.list = list;
    if (is_possible(c, list, count))
        for (int64_t i = 0; i < count; i++)
            keep_or_drop(&b, list[i]);
    mem_free(a->mem, list);
    return a->failed ? NULL : b.head;
}

/* ---- Members of the event ------------------------------------------------ */

wend_str compaction_kept(const struct compaction *c, struct arena *a)
{
    struct buf b = {.mem = a->mem};

    json_open(&b, NULL, '[');
    for (size_t i = 0; i < c->kept_count; i++)
        json_add_i64(&b, NULL, c->kept[i]);
    json_close(&b, ']');
    return buf_keep(&b, a);
}

/* Cuts ascend: one walk from the newest message finds them all. */
wend_str compaction_cuts(const struct compaction *c, const struct msg *history,
                         struct arena *a)
{
    struct buf b = {.mem = a->mem};
    const struct msg **found =
        arena_alloc(a, (c->cuts_count + 1) * sizeof *found);
    size_t left = c->cuts_count;

    if (!found)
        return STR_NONE;
    for (const struct msg *m = history; m && left; m = m->prev)
        if (m->index == c->cuts[left - 1].message)
            found[--left] = m;
    json_open(&b, NULL, '[');
    for (size_t i = left; i < c->cuts_count; i++) {
        const struct msg *m = found[i];

        json_open(&b, NULL, '{');
        json_add_i64(&b, "message", m->index);
        json_add_str(&b, "call", m->call);
        json_add_i64(&b, "bytes", (int64_t)result_whole(m).len);
        json_add_i64(&b, "head", c->cuts[i].head);
        json_add_i64(&b, "tail", c->cuts[i].tail);
        json_close(&b, '}');
    }
    json_close(&b, ']');
    return buf_keep(&b, a);
}

static bool kept_read(const struct json *list, struct arena *a,
                      struct compaction *out)
{
    int64_t *kept;

    if (!list)
        return true;
    kept = arena_alloc(a, (list->count + 1) * sizeof *kept);
    if (!kept || list->kind != JSON_ARRAY)
        return false;
    for (const struct json *j = list->first; j; j = j->next)
        if (!json_i64(j, &kept[out->kept_count++]))
            return false;
    out->kept = kept;
    return true;
}

static bool cuts_read(const struct json *list, struct arena *a,
                      struct compaction *out)
{
    struct result_cut *cuts;

    if (!list)
        return true;
    cuts = arena_alloc(a, (list->count + 1) * sizeof *cuts);
    if (!cuts || list->kind != JSON_ARRAY)
        return false;
    for (const struct json *j = list->first; j; j = j->next) {
        struct result_cut *c = &cuts[out->cuts_count++];

        if (!json_i64(json_get(j, "message"), &c->message) ||
            !json_i64(json_get(j, "head"), &c->head) ||
            !json_i64(json_get(j, "tail"), &c->tail))
            return false;
    }
    out->cuts = cuts;
    return true;
}

bool compaction_read(const wend_ev_compacted *e, struct arena *a,
                     struct compaction *out)
{
    const struct json *kept = NULL, *cuts = NULL;

    *out = (struct compaction){
        .from = e->from, .summary = e->summary, .dropped = e->dropped};
    if (e->kept_json.ptr)
        kept = json_parse(e->kept_json, a, NULL);
    if (e->results_json.ptr)
        cuts = json_parse(e->results_json, a, NULL);
    return kept_read(kept, a, out) && cuts_read(cuts, a, out);
}
