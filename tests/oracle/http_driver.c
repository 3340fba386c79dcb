/*
 * http_driver.c - says what wire/http makes of each connection on its input.
 *
 * A connection is its length, a line end, and its bytes; it is cut by chance.
 * A line of JSON for each: the requests, up to the first that does not keep
 * the connection, bytes as hexadecimal digits; then why the next is refused,
 * or whether it is incomplete, and its method.
 */
#include <stdio.h>

#include "request_help.h"

enum { BODY_MAX = 1 << 20 };

static void put_hex(struct buf *b, wend_str s)
{
    buf_char(b, '"');
    for (size_t i = 0; i < s.len; i++)
        buf_fmt(b, "%02x", (unsigned)(unsigned char)s.ptr[i]);
    buf_char(b, '"');
}

static void put(struct buf *b, const struct http_req *r, wend_str body)
{
    buf_cstr(b, b->len ? ",{\"method\":" : "{\"method\":");
    put_hex(b, r->method);
    buf_cstr(b, ",\"url\":");
    put_hex(b, r->target);
    buf_fmt(b, ",\"version\":\"1.%d\",\"keep\":%s,\"headers\":[", !r->old,
            r->keep ? "true" : "false");
    for (size_t i = 0; i < r->fields_count; i++) {
        struct http_field f = http_req_field(r, i);

        buf_cstr(b, i ? ",[" : "[");
        put_hex(b, f.name);
        buf_char(b, ',');
        put_hex(b, f.value);
        buf_char(b, ']');
    }
    buf_cstr(b, "],\"body\":");
    put_hex(b, body);
    buf_char(b, '}');
}

static void judge(wend_str in, struct chance *c)
{
    struct request_reading g;
    struct buf pending = {.mem = &request_mem};
    wend_str requests, rest, method;
    bool more;

    request_reading_begin(&g, put, BODY_MAX);
    request_read(&g, in, chance_of(c, 500) ? in.len + 1 : 0, c);
    more = !g.bad && http_req_begun(&g.r);
    requests.len = g.out.len;
    rest = buf_view(&g.head);
    str_take(&rest, ' ', &method);
    put_hex(&pending, method);
    /* A line that has not ended may hold what another reader refuses at
     * once: what if it ended here? */
    if (more && g.r.state <= HTTP_REQ_AT_FIELDS)
        request_feed(&g, STR("\r\n\r\n"));
    requests.ptr = buf_view(&g.out).ptr;
    printf("{\"requests\":[%.*s],\"more\":%s,\"status\":%d,\"why\":\"%s\","
           "\"pending\":%s,\"broken\":%s}\n",
           STR_ARGS(requests), more ? "true" : "false", g.r.status,
           g.bad ? g.r.why : "", buf_view(&pending).ptr,
           g.wrong ? "true" : "false");
    request_reading_free(&g);
    buf_free(&pending);
}

int main(void)
{
    struct chance c = {1};
    size_t len;

    while (scanf("%zu", &len) == 1 && getchar() == '\n') {
        char *p = malloc(len + 1);

        if (!p || fread(p, 1, len, stdin) != len)
            return 1;
        judge((wend_str){p, len}, &c);
        free(p);
    }
    return 0;
}
