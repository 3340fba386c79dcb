/*
 * svg.c - writes pictures (SVG) and pages (HTML) that need no other file.
 */
#include "base/svg.h"

#include <string.h>

#include "base/hash.h"
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

void svg_open(struct buf *b, const char *class, long width, long height)
{
    put_tag(b, "svg", class);
    buf_fmt(b,
            " xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %ld %ld\" "
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

/* Colours of all pages: warm ones mean that something went wrong or waits for
 * a person. Text has a contrast of at least 4.5 on each of the grounds, bars
 * of at least 3. */
static const char look[] =
    ":root{color-scheme:light dark;--bg:#fbfaf8;--panel:#fff;--sunk:#f2f1ed;"
    "--line:#dcdad3;--edge:#85837c;--ink:#1d1f21;--mute:#4a4e55;--run:#1d54ad;"
    "--wait:#965a00;--fail:#8f1d08;--deny:#5f1263;--ok:#2e7768;--on:#fff;"
    "--model:#3b66b5;--tool:#3f9786;--action:#553a80}"
    "@media(prefers-color-scheme:dark){:root{--bg:#14161a;--panel:#1b1e23;"
    "--sunk:#101215;--line:#33383f;--edge:#757c87;--ink:#e7e6e2;"
    "--mute:#b2bac6;--run:#6ca1fd;--wait:#edc662;--fail:#f2705c;"
    "--deny:#c47fb2;--ok:#86e5d3;--on:#101215;--model:#74a3f0;--tool:#8fd9c8;"
    "--action:#8f74c6}}"
    "*{box-sizing:border-box}"
    "html{-webkit-text-size-adjust:100%;text-size-adjust:100%}"
    "body{margin:0;background:var(--bg);color:var(--ink);"
    "font:.8125rem/1.35 system-ui,sans-serif;overflow-wrap:anywhere;"
    "font-variant-numeric:tabular-nums}"
    "main{max-width:75rem;margin:0 auto;padding:16px 24px 48px}"
    "h1{font-size:1.375rem;line-height:1.3;margin:0 0 8px}"
    "h2{font-size:.9375rem;margin:24px 0 8px}"
    "h3{font-size:.75rem;margin:12px 0 4px;color:var(--mute)}"
    "p{margin:4px 0}a{color:var(--run)}"
    ":focus-visible{outline:2px solid var(--run);outline-offset:1px}"
    ".mute{color:var(--mute)}"
    "@media(max-width:700px){main{padding:12px 12px 32px}}";

/* As Content-Security-Policy wants it. */
static void put_hash(struct buf *b, const char *const *styles)
{
    unsigned char sum[SHA256_BYTES];
    struct sha256 hash;

    sha256_init(&hash);
    sha256_add(&hash, look, sizeof look - 1);
    for (; *styles; styles++)
        sha256_add(&hash, *styles, strlen(*styles));
    sha256_end(&hash, sum);
    base64_put(b, (wend_str){(const char *)sum, sizeof sum});
}

void page_open(struct buf *b, const char *const *styles)
{
    buf_cstr(b,
             "<!doctype html>\n<html lang=\"en\"><head><meta "
             "charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" "
             "content=\"default-src 'none'; img-src data:; style-src 'sha256-");
    put_hash(b, styles);
    buf_cstr(b,
             "'; base-uri 'none'; form-action 'none'\"><meta name=\"viewport\" "
             "content=\"width=device-width\"><meta name=\"referrer\" "
             "content=\"no-referrer\">\n<style>");
    buf_cstr(b, look);
    for (; *styles; styles++)
        buf_cstr(b, *styles);
    buf_cstr(b, "</style>\n<title>");
}

void page_body(struct buf *b)
{
    buf_cstr(b, "</title></head><body>\n");
}
