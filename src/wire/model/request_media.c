/*
 * request_media.c - parts of messages in a request, for any API.
 *
 * The bytes are the caller's (struct wire_media); what is not there, or has no
 * form in the API, has a note in its place.
 */
#include "base/hash.h"
#include "core/media/media.h"
#include "wire/model/request.h"

static wend_str bytes_of(const struct request_writer *w, const wend_ev_part *p)
{
    for (size_t i = 0; i < w->q->media_count; i++) {
        const struct wire_media *m = &w->q->media[i];

        if (m->part ? m->part == p : str_eq(m->hash, p->hash))
            return m->bytes;
    }
    return STR_NONE;
}

void request_base64(struct buf *b, const char *key, wend_str bytes)
{
    json_key(b, key);
    buf_char(b, '"');
    base64_put(b, bytes);
    buf_char(b, '"');
}

/* The type is from a log, which may come from elsewhere: it is escaped. */
void request_data_url(struct buf *b, const char *key, const wend_ev_part *p,
                      wend_str bytes)
{
    struct buf head = {.mem = b->mem};

    buf_cstr(&head, "data:");
    buf_str(&head, p->media);
    buf_cstr(&head, ";base64,");
    json_key(b, key);
    json_put_str(b, buf_view(&head));
    b->failed |= head.failed;
    buf_free(&head);
    if (b->failed)
        return;
    b->len--; /* the quote: its data follows */
    base64_put(b, bytes);
    buf_char(b, '"');
}

wend_str request_part_name(const wend_ev_part *p)
{
    return p->name.len ? p->name : STR("document.pdf");
}

/* A file of text, below its name. */
static void put_file(struct buf *b, const wend_ev_part *p, wend_str bytes)
{
    buf_cstr(b, "[file ");
    buf_str(b, p->name.len ? p->name : STR("without a name"));
    buf_cstr(b, "]\n");
    buf_str(b, bytes);
}

static void show(const struct request_writer *w, enum wire_shown what,
                 const struct msg *m, const wend_ev_part *p, wend_str text)
{
    if (w->q->shown && !w->again)
        w->q->shown(w->q->shown_ctx, what, m, p, text);
}

static void put_part(struct request_writer *w, const struct msg *m,
                     const wend_ev_part *p)
{
    struct buf text = {.mem = w->out->mem};
    enum media_type type = media_type_of(p);
    enum wire_shown what = WIRE_SENT;
    wend_str bytes = bytes_of(w, p);

    if (bytes.ptr && type == MEDIA_TEXT) {
        put_file(&text, p, bytes);
        what = WIRE_FILE;
    } else if (!bytes.ptr || type == MEDIA_TYPES ||
               !w->form->part(w, p, type, bytes)) {
        media_note(&text, p, "omitted");
        what = WIRE_NOTE;
    }
    if (text.len)
        w->form->part_text(w, buf_view(&text));
    show(w, what, m, p, buf_view(&text));
    w->out->failed |= text.failed;
    buf_free(&text);
}

void request_put_parts(struct request_writer *w, const struct msg *m)
{
    for (size_t i = 0; w->form->part && i < m->parts_count; i++)
        put_part(w, m, &m->parts[i]);
}

bool request_sends(const struct request_writer *w, const struct msg *m)
{
    bool any = false;

    for (size_t i = 0; w->form->part && i < m->parts_count; i++)
        any |= bytes_of(w, &m->parts[i]).ptr != NULL;
    return any;
}

void request_put_sent(struct request_writer *w, const struct msg *m)
{
    for (size_t i = 0; w->form->part && i < m->parts_count; i++)
        if (bytes_of(w, &m->parts[i]).ptr)
            put_part(w, m, &m->parts[i]);
}

/* ---- Where the result of a tool takes only text -------------------------- */

static bool is_result(const struct request_writer *w, size_t at)
{
    return at < w->count && w->list[at]->role == ROLE_TOOL;
}

void request_result_text(struct request_writer *w, const char *key,
                         const struct msg *m)
{
    struct buf text = {.mem = w->out->mem};

    if (!m->parts_count) {
        request_str(w->out, key, m->text);
        return;
    }
    buf_str(&text, m->text);
    for (size_t i = 0; i < m->parts_count; i++) {
        const wend_ev_part *p = &m->parts[i];

        buf_cstr(&text, text.len ? "\n" : "");
        if (w->form->part && bytes_of(w, p).ptr) {
            buf_cstr(&text, "[see attached ");
            media_put_name(&text, p);
            buf_char(&text, ']');
        } else {
            media_note(&text, p, "omitted");
        }
    }
    request_str(w->out, key, buf_view(&text));
    show(w, WIRE_TEXT, m, NULL, buf_view(&text));
    w->out->failed |= text.failed;
    buf_free(&text);
}

/* The message is the last result of its batch, and one of them has parts that
 * are sent: gives the first of the batch. */
bool request_batch(const struct request_writer *w, size_t *first)
{
    size_t at = w->at;
    bool any = false;

    if (!w->form->part || is_result(w, w->at + 1))
        return false;
    for (;; at--) {
        any |= request_sends(w, w->list[at]);
        if (!at || !is_result(w, at - 1))
            break;
    }
    *first = at;
    return any;
}

static void put_label(struct request_writer *w, const struct msg *m)
{
    struct buf text = {.mem = w->out->mem};
    char room[WIRE_ID + 1];
    wend_str id = wire_result_id(w->turn, m, room);

    buf_cstr(&text, "Attached to the result of ");
    buf_str(&text, m->name);
    buf_cstr(&text, " (call ");
    buf_str(&text, id);
    buf_cstr(&text, "):");
    w->form->part_text(w, buf_view(&text));
    show(w, WIRE_LABEL, m, NULL, buf_view(&text));
    w->out->failed |= text.failed;
    buf_free(&text);
}

void request_put_batch(struct request_writer *w, size_t first)
{
    for (size_t at = first; at <= w->at; at++) {
        const struct msg *m = w->list[at];
        bool labelled = false;

        for (size_t i = 0; i < m->parts_count; i++) {
            if (!bytes_of(w, &m->parts[i]).ptr)
                continue; /* its result says so */
            if (!labelled)
                put_label(w, m);
            labelled = true;
            put_part(w, m, &m->parts[i]);
        }
    }
}
