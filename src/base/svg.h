/*
 * svg.h - writes pictures (SVG) and pages (HTML) that need no other file.
 *
 * Text is escaped, so that no name is markup. An element is left open for its
 * content: the caller closes it.
 */
#ifndef BASE_SVG_H
#define BASE_SVG_H

#include "base/str.h"

/* Markup is escaped; controls, which XML cannot say, and what hides or
 * reorders text become U+FFFD. Returns the number of bytes; b may be NULL. */
size_t xml_put(struct buf *b, wend_str s);
/* At most `chars` of it, then an ellipsis. */
void xml_put_cut(struct buf *b, wend_str s, size_t chars);

/* <svg> up to its title, whose text follows; svg_style ends the title. */
void svg_open(struct buf *b, const char *class, long width, long height);
void svg_style(struct buf *b, const char *style);
/* Coordinates have one decimal; class may be NULL. */
void svg_text(struct buf *b, const char *class, double x, double y);
struct svg_box {
    double x, y, width, height, radius;
};
void svg_rect(struct buf *b, const char *class, const char *fill,
              struct svg_box at);
void svg_upright(struct buf *b, const char *class, double x, double from,
                 double to); /* a line */

/* A page without scripts, in the colours and sizes of all pages, up to its
 * title; page_body begins the body. The browser refuses any style and any
 * script but these (NULL is last): no attribute may say one. */
void page_open(struct buf *b, const char *const *styles);
void page_body(struct buf *b);

#endif
