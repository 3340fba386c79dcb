/*
 * page_index.c - an index over many runs as one page.
 *
 * Each run has the same share of the bytes. What does not fit is cut: first
 * texts, then rows.
 */
#include "base/svg.h"
#include "cli/page/page.h"

size_t page_index_share(size_t count)
{
    enum { FRAME_BYTES = 64 << 10 }; /* style, head and end of the page */

    return (PAGE_BYTES_MAX - FRAME_BYTES) / (count ? count : 1);
}

void page_index_open(struct page_index *x)
{
    struct buf *b = x->out;

    page_open(b, page_styles);
    buf_cstr(b, "runs \u00b7 wend");
    page_body(b);
    page_put_shapes(b);
    buf_cstr(b, "<main><nav>wend / runs</nav><h1>");
    buf_fmt(b, "%zu run%s</h1>\n", x->count, x->count == 1 ? "" : "s");
    if (x->runs_all > x->count)
        buf_fmt(b,
                "<p class=\"mute\">The newest of %zu; <code>wend runs</code> "
                "lists all.</p>\n",
                x->runs_all);
    if (!x->count)
        buf_cstr(b, "<p>There are no runs yet. Start one: <code>wend run "
                    "'Hello'</code></p>\n");
    buf_cstr(b, "<div class=\"list\">");
    if (x->count)
        buf_cstr(b, "<div class=\"head\"><span>state</span><span>prompt</span>"
                    "<span>model</span><span>started (UTC)</span>"
                    "<span class=\"t\">time</span><span class=\"t\">tokens"
                    "</span><span class=\"t\">cost</span></div>\n");
}

static void put_summary(struct page_index *x, const struct timeline *t,
                        const char *state)
{
    struct buf *b = x->out;

    buf_fmt(b, "<details><summary><span class=\"s %s\">", state);
    page_put_state(b, state, t->code);
    buf_cstr(b, "</span><bdi class=\"p\">");
    if (t->parent.ptr || t->forks)
        buf_cstr(b, t->parent.ptr ? "<span class=\"mute\">child </span>"
                                  : "<span class=\"mute\">fork </span>");
    page_put_line(b, t->prompt, 120);
    buf_cstr(b, "</bdi><bdi class=\"mute a\">");
    xml_put_cut(b, t->model, 40);
    buf_cstr(b, "</bdi><span class=\"mute\">");
    page_put_clock(b, t->started_us, false);
    buf_cstr(b, "</span><span class=\"t\">");
    page_put_time(b, t->scale.ended_us - t->scale.began_us);
    buf_cstr(b, "</span><span class=\"t\">");
    if (t->tokens_in + t->tokens_out)
        page_put_count(b, t->tokens_in + t->tokens_out);
    buf_cstr(b, "</span><span class=\"t mute\">");
    page_put_cost(b, t->cost_nano, "-");
    buf_cstr(b, "</span></summary>");
}

/* The story in at most `bytes`; what is tried grows smaller until it fits. */
static void put_story(struct page_index *x, const struct timeline *t,
                      size_t bytes)
{
    static const struct {
        int rows, notes;
        size_t text;
    } tries[] = {{200, 100, 64 << 10}, {100, 20, 8 << 10}, {40, 10, 2000},
                 {20, 5, 500},         {8, 3, 300},        {3, 1, 150},
                 {0, 0, 100}};
    size_t from = x->out->len;
    struct page p = {x->out, x->ids, x->count, 0, 0, 0};

    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        if (tries[i].text > bytes && i + 1 < sizeof tries / sizeof *tries)
            continue; /* one text alone may take all of it */
        p.rows_left = tries[i].rows;
        p.notes_max = tries[i].notes;
        p.text_max = tries[i].text;
        x->out->len = from;
        page_put_facts(&p, t);
        page_put_story(&p, t, 0);
        if (x->out->len - from <= bytes)
            return;
    }
    x->out->len = from;
    page_put_facts(&p, t);
}

void page_index_add(struct page_index *x, const struct timeline *t)
{
    struct buf *b = x->out;
    size_t from = b->len, used;

    put_summary(x, t, page_state(t));
    buf_cstr(b, "<div id=\"r-");
    xml_put(b, t->run);
    buf_cstr(b, "\"><p class=\"mute\">run <code>");
    xml_put_cut(b, t->run, 60);
    buf_cstr(b, "</code> \u00b7 <code>wend view ");
    xml_put_cut(b, t->run, 60);
    buf_cstr(b, "</code></p>\n");
    used = b->len - from;
    put_story(x, t, x->bytes > used ? x->bytes - used : 0);
    buf_cstr(b, "</div></details>\n");
}

void page_index_close(struct page_index *x)
{
    buf_cstr(x->out, "</div>\n");
    if (x->count)
        page_put_key(x->out);
    buf_cstr(x->out, "</main></body></html>\n");
}
