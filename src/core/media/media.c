/*
 * media.c - the names of parts, and the notes that stand in their place.
 */
#include "core/media/media.h"

const char *const media_type_names[MEDIA_TYPES] = {
    [MEDIA_TEXT] = "text",
    [MEDIA_IMAGE] = "image",
    [MEDIA_DOCUMENT] = "document",
    [MEDIA_AUDIO] = "audio",
};

enum media_type media_type_of(const wend_ev_part *p)
{
    int i =
        p->type.ptr ? str_index(p->type, media_type_names, MEDIA_TYPES) : -1;

    return i < 0 ? MEDIA_TYPES : (enum media_type)i;
}

/* What follows the slash: png of image/png. */
static wend_str subtype(wend_str media)
{
    const char *slash = media.len ? memchr(media.ptr, '/', media.len) : NULL;

    return slash ? str_skip(media, (size_t)(slash + 1 - media.ptr)) : media;
}

/* A log from elsewhere may have anything in it. */
static void put_word(struct buf *b, wend_str s)
{
    for (size_t i = 0; i < s.len && i < PART_NAME_MAX; i++)
        buf_char(b, (unsigned char)s.ptr[i] < 0x20 || s.ptr[i] == 0x7f ||
                            strchr("[]", s.ptr[i])
                        ? '_'
                        : s.ptr[i]);
}

void media_put_name(struct buf *b, const wend_ev_part *p)
{
    enum media_type type = media_type_of(p);

    put_word(b, p->type.len ? p->type : STR("part"));
    buf_char(b, ' ');
    put_word(b,
             type == MEDIA_TEXT && p->name.len ? p->name : subtype(p->media));
    if (type == MEDIA_IMAGE && p->width && p->height)
        buf_fmt(b, " %lldx%lld", (long long)p->width, (long long)p->height);
    if (type == MEDIA_DOCUMENT && p->pages)
        buf_fmt(b, " %lld page%s", (long long)p->pages,
                p->pages == 1 ? "" : "s");
    if (type == MEDIA_AUDIO && p->ms)
        buf_fmt(b, " %lld s", (long long)((p->ms + 999) / 1000));
}

void media_note(struct buf *b, const wend_ev_part *p, const char *word)
{
    buf_char(b, '[');
    media_put_name(b, p);
    buf_cstr(b, *word ? " " : "");
    buf_cstr(b, word);
    buf_char(b, ']');
}
