/*
 * page_part.c - what the pages of runs share: style, marks, words, numbers.
 */
#include "cli/page/page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/svg.h"
#include "base/utf8.h"

enum { ID_CHARS = 60 };

/* ---- Style --------------------------------------------------------------- */

static const char style_of_texts[] =
    ".defs{position:absolute;width:0;height:0}"
    "nav{color:var(--mute);margin-bottom:12px}"
    "code,.id{font-family:ui-monospace,monospace;font-size:.7813rem}"
    ".m{width:12px;height:12px;flex:none;vertical-align:-1px;fill:none;"
    "stroke:currentColor;stroke-width:1.6;stroke-linecap:round;"
    "stroke-linejoin:round}"
    ".ok{color:var(--ok)}.failed,.timeout,.limit,.error{color:var(--fail)}"
    ".denied{color:var(--deny)}.unknown,.waiting,.paused,.warning"
    "{color:var(--wait)}"
    ".running,.said{color:var(--run)}.canceled,.skipped,.superseded,"
    ".not-started,.no-end,.interrupted,.control,.compacted{color:var(--mute)}"
    ".state{font-size:1.125rem;font-weight:600;margin:0 0 4px}"
    ".state .m{width:16px;height:16px;vertical-align:-2px}"
    ".m+bdi{margin-left:6px}.w .m+bdi{margin-left:0}"
    ".facts{color:var(--mute)}.facts b{color:var(--ink);font-weight:600}"
    ".text{white-space:pre-wrap;font-size:.9375rem;line-height:1.6;"
    "max-width:70ch;unicode-bidi:plaintext}"
    ".long{max-height:40vh;overflow:auto}"
    "img{max-width:100%;max-height:40vh;margin:0 8px 0 0}"
    ".box{background:var(--panel);border:1px solid var(--line);"
    "border-radius:4px;padding:8px 16px 12px;margin:12px 0}"
    ".box h2{margin:4px 0}"
    ".box.failed{border-left:4px solid var(--fail);color:var(--ink)}"
    ".box.failed h2{color:var(--fail)}"
    "pre{white-space:pre-wrap;margin:0;background:var(--sunk);padding:8px;"
    "border-radius:4px;font:.7813rem/1.45 ui-monospace,monospace;"
    "unicode-bidi:plaintext}"
    "summary{cursor:pointer;list-style:none}"
    "summary::-webkit-details-marker{display:none}"
    ".think>summary:before,.row>summary .n:before,.list .s:before"
    "{content:\"\\25B8\";color:var(--mute);font-size:.75rem;flex:none;"
    "display:inline-block;width:12px}"
    ".think[open]>summary:before,.row[open]>summary>.n:before,"
    ".list>[open]>summary .s:before{content:\"\\25BE\"}"
    ".think>summary{display:flex;gap:8px;align-items:baseline;padding:0}"
    ".think>summary h2{margin:4px 0}.think>summary span{color:var(--mute);"
    "flex:1;min-width:0;white-space:nowrap;overflow:hidden;"
    "text-overflow:ellipsis}";

static const char style_of_chart[] =
    ".chart{background:var(--panel);border:1px solid var(--line);"
    "border-radius:4px;padding:0 12px 8px}"
    ".chart .chart{margin:8px 0}"
    ".turn,.row>summary,.top{display:grid;gap:0 12px;align-items:center;"
    "grid-template-columns:minmax(8rem,16rem) 1fr 4.5rem 14.5rem}"
    ".top{position:sticky;top:0;z-index:1;background:var(--panel);"
    "border-bottom:1px solid var(--line)}"
    ".chart .chart .top{position:static}"
    ".axis{width:100%;height:20px;overflow:visible;grid-column:2}"
    ".axis.two{height:38px}"
    ".axis text{fill:var(--mute);font-size:.75rem}"
    ".axis .e{text-anchor:end}.axis .c{text-anchor:middle}"
    ".axis .g{fill:var(--wait)}"
    ".turn{color:var(--mute);font-weight:600;padding:8px 0 2px}"
    ".turn span:last-child{grid-column:2/5;font-weight:400}"
    ".row>summary{min-height:24px;border-radius:4px}"
    ".row>summary:hover,.row[open]>summary{background:var(--sunk)}"
    ".n{display:flex;gap:6px;align-items:center;min-width:0;padding-left:4px}"
    ".n bdi,.w bdi{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    ".n bdi:first-of-type{flex:none;max-width:100%}"
    ".n bdi+bdi{color:var(--mute);min-width:0}"
    ".b{width:100%;height:20px;display:block;background:"
    "repeating-linear-gradient(90deg,var(--line) 0 1px,transparent 1px 25%)}"
    ".t{text-align:right;white-space:nowrap}"
    ".w{display:flex;gap:6px;align-items:center;min-width:0}"
    ".w bdi{color:inherit}"
    ".more{padding:4px 8px 12px 22px;border-left:2px solid var(--line);"
    "margin:0 0 4px 8px}"
    ".b rect{stroke-width:1.5}"
    ".b .km{fill:var(--model);stroke:var(--model)}"
    ".b .kc{fill:var(--tool);stroke:var(--tool)}"
    ".b .ka,.b .kr{fill:var(--action);stroke:var(--action)}"
    ".b .p{fill-opacity:.35}"
    ".b .failed,.b .timeout,.b .limit{fill:var(--fail);stroke:var(--fail)}"
    ".b .denied{fill:var(--panel);stroke:var(--deny)}"
    ".b .skipped,.b .not-started{fill:none;stroke:var(--edge);"
    "stroke-dasharray:3 2}"
    ".b .superseded{fill-opacity:.35;stroke-opacity:.5}"
    ".b .unknown{fill:url(#hatch);stroke:var(--wait)}"
    ".b .wait{fill:url(#hatch);stroke:var(--wait)}"
    ".b .crit{stroke:var(--ink);stroke-width:2;stroke-dasharray:none}"
    ".b line{stroke:var(--edge);stroke-width:2;stroke-dasharray:2 4}"
    ".b .mid{stroke:var(--deny);stroke-dasharray:none}"
    ".b .cut,.axis .cut{fill:url(#break);stroke:none}"
    ".b .notch{fill:var(--panel)}.b .open{fill:none;stroke:var(--run);"
    "stroke-width:2}"
    ".b text{fill:var(--on);font-size:.6875rem;font-weight:600}"
    ".key{display:flex;flex-wrap:wrap;gap:4px 16px;margin:8px 0 0;"
    "color:var(--mute)}"
    ".key .b{width:18px;height:12px;display:inline-block;background:none;"
    "vertical-align:-2px}"
    ".notes{list-style:none;margin:8px 0;padding:0}.notes li{padding:2px 0}";

static const char style_of_list[] =
    ".list{background:var(--panel);border:1px solid var(--line);"
    "border-radius:4px}"
    ".list>*{border-top:1px solid var(--line)}"
    ".list>:first-child{border-top:0}"
    ".list>details>summary,.head{display:grid;gap:0 12px;align-items:center;"
    "grid-template-columns:10rem 1fr 9rem 7.5rem 4.5rem 4rem 5rem;"
    "padding:6px 12px}.head{color:var(--mute);font-weight:600}"
    ".list>details>summary:hover{background:var(--sunk)}"
    ".list>details>summary>*{min-width:0;overflow:hidden;"
    "text-overflow:ellipsis;white-space:nowrap}"
    ".list>details>div{padding:4px 16px 16px;background:var(--bg)}"
    "@media(max-width:700px){"
    ".turn,.row>summary,.top{grid-template-columns:1fr auto auto}"
    ".row>summary{padding:4px 0}.axis{grid-column:1/4}"
    ".chart .chart .axis .c:not(.g){display:none}"
    ".turn span:last-child{grid-column:1/4}"
    ".row .n{grid-area:1/1}.row .t{grid-area:1/2}"
    ".row .w{grid-area:1/3;max-width:38vw}.row .b{grid-area:2/1/3/4}"
    ".more{padding-left:10px}.chart{padding:0 8px 8px}.box{padding:8px 12px}"
    ".head{display:none}"
    ".list>details>summary{display:flex;flex-wrap:wrap;gap:2px 12px}"
    ".list .p{flex:1 0 100%}.list>details>summary>*{flex:none;max-width:100%}"
    ".list>details>div{padding:4px 8px 12px}}"
    "@media(forced-colors:active){.b rect{stroke:CanvasText}}";

const char *const page_styles[] = {style_of_texts, style_of_chart,
                                   style_of_list, NULL};

/* ---- Marks --------------------------------------------------------------- */

static const struct {
    const char *state, *shape;
} marks[] = {
    {"ok", "<path d=\"M2 6.5 5 9.5 10 3\"/>"},
    {"failed", "<path d=\"M3 3 9 9M9 3 3 9\"/>"},
    {"error", "<path d=\"M3 3 9 9M9 3 3 9\"/>"},
    {"timeout", "<circle cx=\"6\" cy=\"6\" r=\"4.5\"/>"
                "<path d=\"M6 3.5V6L8 7.5\"/>"},
    {"denied", "<circle cx=\"6\" cy=\"6\" r=\"4.5\"/><path d=\"M3.5 6H8.5\"/>"},
    {"canceled", "<path d=\"M9.5 2.5 2.5 9.5\"/>"},
    {"skipped", "<path stroke-dasharray=\"2 1.6\" d=\"M6 1.5 10.5 6 6 10.5 "
                "1.5 6z\"/>"},
    {"unknown", "<path d=\"M6 1.5 11 10.5H1zM6 5V7.2M6 8.9V9\"/>"},
    {"superseded", "<path d=\"M2 6H10\"/>"},
    {"limit", "<path d=\"M2 9.5A4.8 4.8 0 1 1 10 9.5M6 8 8.2 4.8\"/>"},
    {"running", "<circle cx=\"6\" cy=\"6\" r=\"4\"/>"},
    {"waiting", "<path d=\"M4 3V9M8 3V9\"/>"},
    {"paused", "<path d=\"M4 3V9M8 3V9\"/>"},
    {"interrupted", "<path d=\"M2 6H4.5M7.5 6H10M5 9 7 3\"/>"},
    {"no-end", "<path d=\"M2 6H4.5M7.5 6H10M5 9 7 3\"/>"},
    {"not-started", "<circle stroke-dasharray=\"1 2\" cx=\"6\" cy=\"6\" "
                    "r=\"4\"/>"},
    {"warning", "<path d=\"M6 1.5 11 10.5H1zM6 5V7.2M6 8.9V9\"/>"},
    {"said", "<path d=\"M1.5 2.5H10.5V8H6L3.5 10.5V8H1.5z\"/>"},
    {"control", "<path d=\"M4 3V9M8 3V9\"/>"},
    {"compacted", "<path d=\"M2 3H10M3.5 6H8.5M5 9H7\"/>"},
};

void page_put_shapes(struct buf *b)
{
    buf_cstr(b, "<svg class=\"defs\" aria-hidden=\"true\"><defs>"
                "<pattern id=\"hatch\" width=\"6\" height=\"6\" "
                "patternUnits=\"userSpaceOnUse\" "
                "patternTransform=\"rotate(45)\"><path d=\"M1 0V6\" "
                "stroke=\"var(--wait)\" stroke-width=\"2\"/></pattern>"
                "<pattern id=\"break\" width=\"5\" height=\"5\" "
                "patternUnits=\"userSpaceOnUse\" "
                "patternTransform=\"rotate(-45)\"><path d=\"M1 0V5\" "
                "stroke=\"var(--edge)\" stroke-width=\"1\"/></pattern></defs>");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        buf_fmt(b, "<symbol id=\"m-%s\" viewBox=\"0 0 12 12\">%s</symbol>",
                marks[i].state, marks[i].shape);
    buf_cstr(b, "</svg>\n");
}

void page_put_key(struct buf *b)
{
    static const char *const kinds[][2] = {{"km", "model"},
                                           {"kc", "tool"},
                                           {"ka", "action, child"},
                                           {"wait", "waits for you"}};

    buf_cstr(b, "<p class=\"key\">");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        buf_fmt(b,
                "<span><svg class=\"b\" aria-hidden=\"true\"><rect "
                "class=\"%s\" x=\"1\" y=\"1\" width=\"16\" "
                "height=\"10\"/></svg> %s</span>",
                kinds[i][0], kinds[i][1]);
    buf_cstr(b, "<span>pale: before the first token</span><span>underlined: "
                "the critical path</span></p>\n");
}

static bool is_known(const char *state)
{
    size_t i = 0, count = sizeof marks / sizeof *marks;

    while (i < count && strcmp(marks[i].state, state) != 0)
        i++;
    return i < count;
}

/* The state comes from a store: only words of ours are markup. */
const char *page_state(const struct timeline *t)
{
    const char *state = timeline_state(t);

    return is_known(state) ? state : "no-end";
}

void page_put_state(struct buf *b, const char *state, wend_str why)
{
    buf_fmt(b,
            "<svg class=\"m\" aria-hidden=\"true\"><use href=\"#m-%s\"/>"
            "</svg><bdi>",
            state);
    if (!strcmp(state, "unknown"))
        buf_cstr(b, "outcome not known");
    else
        bar_put_state(b, str_of(state));
    if (why.len && !str_is(why, state)) {
        buf_cstr(b, ": ");
        xml_put_cut(b, why, ID_CHARS);
    }
    buf_cstr(b, "</bdi>");
}

/* ---- Numbers ------------------------------------------------------------- */

void page_put_time(struct buf *b, int64_t us)
{
    long long s = us / 1000000;

    if (us < 100)
        buf_cstr(b, "&lt;0.1 ms");
    else if (us < 10000)
        buf_fmt(b, "%lld.%lld ms", (long long)us / 1000,
                (long long)us / 100 % 10);
    else if (us < 1000000)
        buf_fmt(b, "%lld ms", (long long)us / 1000);
    else if (s < 60)
        buf_fmt(b, "%lld.%lld s", s, (long long)us / 100000 % 10);
    else if (s < 3600)
        buf_fmt(b, "%lld m %02lld s", s / 60, s % 60);
    else if (s < 48 * 3600)
        buf_fmt(b, "%lld h %02lld m", s / 3600, s / 60 % 60);
    else
        buf_fmt(b, "%lld d %lld h", s / 86400, s / 3600 % 24);
}

void page_put_count(struct buf *b, int64_t n)
{
    if (n < 1000)
        buf_fmt(b, "%lld", (long long)n);
    else if (n < 1000000)
        buf_fmt(b, "%lld.%lldk", (long long)n / 1000, (long long)n / 100 % 10);
    else
        buf_fmt(b, "%lld.%lldM", (long long)n / 1000000,
                (long long)n / 100000 % 10);
}

void page_put_cost(struct buf *b, int64_t nano, const char *unknown)
{
    if (nano <= 0) {
        buf_cstr(b, nano ? unknown : ""); /* nothing was asked, or it is free */
        return;
    }
    buf_char(b, '$');
    json_put_nano(b, nano);
}

void page_put_clock(struct buf *b, int64_t time_us, bool whole)
{
    time_t s = (time_t)(time_us / 1000000);
    char text[32];
    struct tm tm;

    if (gmtime_r(&s, &tm) && strftime(text, sizeof text, "%F %T", &tm))
        buf_fmt(b, "<time datetime=\"%.10sT%sZ\">%.*s%s</time>", text,
                text + 11, whole ? 19 : 16, text, whole ? " UTC" : "");
}

/* ---- Texts and links ----------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    return str_order(*(const wend_str *)a, *(const wend_str *)b);
}

void page_put_link(const struct page *p, wend_str run)
{
    bool here = bsearch(&run, p->ids, p->ids_count, sizeof run, by_id) != NULL;

    if (here) {
        buf_cstr(p->out, "<a class=\"id\" href=\"#r-");
        xml_put(p->out, run);
        buf_cstr(p->out, "\">");
    } else {
        buf_cstr(p->out, "<code>");
    }
    xml_put_cut(p->out, run, ID_CHARS);
    buf_cstr(p->out, here ? "</a>" : "</code>");
}

void page_put_line(struct buf *b, wend_str text, size_t chars)
{
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;

    if (end)
        text.len = (size_t)(end - text.ptr);
    xml_put_cut(b, text, chars);
}

void page_put_rest(const struct page *p, const struct timeline *t,
                   const struct detail *d)
{
    size_t shown = utf8_cut(d->text, p->text_max);
    struct buf *b = p->out;

    if (shown == d->bytes)
        return;
    buf_fmt(b, "<p class=\"mute\">%zu of %zu bytes are shown; all: <code>wend ",
            shown, d->bytes);
    buf_cstr(b, d->hash[0] ? "blob " : "log ");
    xml_put_cut(b, t->run, ID_CHARS);
    if (d->hash[0])
        buf_fmt(b, " %s</code></p>", d->hash);
    else
        buf_fmt(b, " --seq %lld --json</code></p>", (long long)d->seq);
}
