/*
 * web.c - the files of the page, which the library carries.
 *
 * The list is made by the Makefile from src/serve/web, with the beginning of
 * each file's SHA-256 as its entity tag, and each file also compressed. The
 * document of the API is carried, too.
 */
#include <stdio.h>
#include <string.h>

#include "serve/api/api.h"

#define CARRY(id, folder, name)                               \
    __asm__(".pushsection .rodata\n"                          \
            ".globl " #id ", " #id "_end\n"                   \
            ".hidden " #id ", " #id "_end\n" #id ":\n"        \
            ".incbin \"" folder "/" name "\"\n" #id "_end:\n" \
            ".popsection\n");                                 \
    extern const char id[], id##_end[];

#define WEB_FILE(id, name, tag)            \
    CARRY(web_##id, "src/serve/web", name) \
    CARRY(web_gz_##id, WEB_BUILT, name ".gz")
#include <web_list.h>
#undef WEB_FILE
CARRY(web_openapi, "src/serve", "openapi.json")

struct web_file {
    const char *name, *tag;
    const char *from, *to, *gz_from, *gz_to;
};

#define WEB_FILE(id, name, tag) \
    {name, tag, web_##id, web_##id##_end, web_gz_##id, web_gz_##id##_end},
static const struct web_file web_files[] = {
#include <web_list.h>
};
#undef WEB_FILE

static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

static const char *media_of(const char *name)
{
    static const char *const rows[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".json", "application/json"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_ends(str_of(name), rows[i][0]))
            return rows[i][1];
    return "application/octet-stream";
}

static void respond_file(struct serve_ask *q, const struct web_file *f)
{
    struct http_field fields[9] = {
        {STR("Cache-Control"), STR("no-cache")},
        {STR("ETag"), str_of(f->tag)},
        {STR("Vary"), STR("Accept-Encoding")},
        {STR("Content-Security-Policy"), str_of(policy)},
        {STR("Referrer-Policy"), STR("no-referrer")},
        {STR("Cross-Origin-Opener-Policy"), STR("same-origin")},
        {STR("Cross-Origin-Resource-Policy"), STR("same-origin")},
    };
    size_t count = 7;
    wend_str body = {f->from, (size_t)(f->to - f->from)};

    if (http_etag_among(http_req_value(q->req, "if-none-match"),
                        str_of(f->tag))) {
        const struct http_answer same = {.status = 304,
                                         .length = HTTP_NO_BODY,
                                         .fields = fields,
                                         .fields_count = 2};

        conn_answer(q->conn, &same, STR_NONE);
        return;
    }
    if (http_list_has(http_req_value(q->req, "accept-encoding"), "gzip")) {
        body = (wend_str){f->gz_from, (size_t)(f->gz_to - f->gz_from)};
        fields[count++] =
            (struct http_field){STR("Content-Encoding"), STR("gzip")};
    }
    respond_bytes(q, 200, media_of(f->name), body, fields, count);
}

static const struct web_file *find_file(wend_str name)
{
    for (size_t i = 0; i < sizeof web_files / sizeof *web_files; i++)
        if (str_is(name, web_files[i].name))
            return &web_files[i];
    return NULL;
}

void web_file(struct serve_ask *q)
{
    const struct web_file *f = find_file(q->params[0]);

    if (f)
        respond_file(q, f);
    else
        respond_problem(q, 404, "not_found", NULL, NULL,
                        "the page has no such file");
}

void web_api(struct serve_ask *q)
{
    const struct http_field field = {STR("Cache-Control"), STR("no-store")};
    wend_str body = {web_openapi, (size_t)(web_openapi_end - web_openapi)};

    respond_bytes(q, 200, "application/json", body, &field, 1);
}

/* The script of the page reads the path. */
void web_page(struct serve_ask *q)
{
    respond_file(q, find_file(STR("index.html")));
}
