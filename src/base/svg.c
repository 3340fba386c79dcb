/*
 * svg.c - writes pictures (SVG) and pages (HTML) that need no other file.
 */
#include "base/svg.h"

#include "base/utf8.h"

/* The text that replaces a character; absent: it stays. */
static wend_str escape(uint32_t c, bool hides)
{
    switch (c) {
    case '<': return STR("&lt;");
    case '>': return STR("&gt;");
    case '&': return STR("&amp;");
    case '"': return STR("&quot;");
    default:
        return hides || c == 0xFFFE || c == 0xFFFF ? STR("\ufffd") : STR_NONE;
    }
}

size_t xml_put(struct buf *b, wend_str s)
{
    struct utf8_before before = {0};
    size_t len, all = 0;

    for (size_t i = 0; i < s.len; i += len) {
        wend_str rest = {s.ptr + i, s.len - i};
        uint32_t c = utf8_first(rest, &len);
        wend_str other = escape(c, utf8_hides(&before, c));

        if (!other.ptr)
            other = (wend_str){rest.ptr, len};
        if (b)
            buf_str(b, other);
        all += other.len;
    }
    return all;
}

void xml_put_cut(struct buf *b, wend_str s, size_t chars)
{
    size_t len = utf8_take(s, chars);

    xml_put(b, (wend_str){s.ptr, len});
    if (len < s.len)
        buf_cstr(b, "\u2026");
}

/* ---- Elements ------------------------------------------------------------ */

static void put_attribute(struct buf *b, const char *name, double n)
{
    buf_fmt(b, " %s=\"%.1f", name, n);
    if (!b->failed && b->ptr[b->len - 1] == '0')
        b->len -= 2; /* 20, not 20.0 */
    buf_char(b, '"');
}

static void put_tag(struct buf *b, const char *name, const char *class)
{
    buf_fmt(b, "<%s", name);
    if (class)
        buf_fmt(b, " class=\"%s\"", class);
}

void svg_open(struct buf *b, long width, long height)
{
    buf_fmt(b,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %ld %ld\" "
            "width=\"%ld\" height=\"%ld\" role=\"img\">\n<title>",
            width, height, width, height);
}

void svg_style(struct buf *b, const char *style)
{
    buf_fmt(b, "</title>\n<style>%s</style>\n", style);
}

void svg_text(struct buf *b, const char *class, double x, double y)
{
    put_tag(b, "text", class);
    put_attribute(b, "x", x);
    put_attribute(b, "y", y);
    buf_char(b, '>');
}

void svg_rect(struct buf *b, const char *class, const char *fill,
              struct svg_box at)
{
    put_tag(b, "rect", class);
    put_attribute(b, "x", at.x);
    put_attribute(b, "y", at.y);
    put_attribute(b, "width", at.width);
    put_attribute(b, "height", at.height);
    put_attribute(b, "rx", at.radius);
    if (fill)
        buf_fmt(b, " fill=\"%s\"", fill);
    buf_char(b, '>');
}

void svg_upright(struct buf *b, const char *class, double x, double from,
                 double to)
{
    put_tag(b, "line", class);
    put_attribute(b, "x1", x);
    put_attribute(b, "x2", x);
    put_attribute(b, "y1", from);
    put_attribute(b, "y2", to);
    buf_char(b, '>');
}

/* ---- Pages --------------------------------------------------------------- */

void page_open(struct buf *b)
{
    buf_cstr(b, "<!doctype html>\n<html lang=\"en\"><head><meta "
                "charset=\"utf-8\"><meta name=\"viewport\" "
                "content=\"width=device-width\"><meta "
                "http-equiv=\"Content-Security-Policy\" content=\"default-src "
                "'none'; style-src 'unsafe-inline'\"><title>");
}

void page_style(struct buf *b, const char *style)
{
    buf_fmt(b, "</title><style>%s</style></head><body>", style);
}
