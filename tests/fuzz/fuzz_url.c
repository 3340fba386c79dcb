/*
 * fuzz_url.c - any bytes: a URL that is accepted means the same when it is
 * written and read again, and to libcurl, which is the one that connects.
 *
 * A newline separates a URL from a reference to be joined to it.
 */
#include "base/url.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct mem libc_mem;

static struct {
    CURLU *(*make)(void);
    void (*cleanup)(CURLU *u);
    CURLUcode (*get)(const CURLU *u, CURLUPart what, char **part,
                     unsigned flags);
    CURLUcode (*set)(CURLU *u, CURLUPart what, const char *part,
                     unsigned flags);
    void (*free)(void *p);
} curl;

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void load(void *lib, const char *name, void *to)
{
    void *f = lib ? dlsym(lib, name) : NULL;

    must(f);
    memcpy(to, &f, sizeof f);
}

static void load_all(void)
{
    void *lib = dlopen("libcurl.so.4", RTLD_LAZY);

    load(lib, "curl_url", &curl.make);
    load(lib, "curl_url_cleanup", &curl.cleanup);
    load(lib, "curl_url_get", &curl.get);
    load(lib, "curl_url_set", &curl.set);
    load(lib, "curl_free", &curl.free);
}

static void must_be(CURLU *h, CURLUPart what, const char *wanted)
{
    char *got = NULL;

    must(curl.get(h, what, &got, CURLU_DEFAULT_PORT) == CURLUE_OK);
    must(!strcmp(got, wanted));
    curl.free(got);
}

static void ask_curl(const char *text, const struct url *u)
{
    CURLU *h = curl.make();
    struct buf host = {.mem = &libc_mem};
    bool v6 = u->kind == URL_ADDRESS && u->address.v6;
    char port[8], *none = NULL;

    must(h && curl.set(h, CURLUPART_URL, text, 0) == CURLUE_OK);
    buf_cstr(&host, v6 ? "[" : "");
    buf_str(&host, u->host);
    buf_cstr(&host, v6 ? "]" : "");
    must_be(h, CURLUPART_HOST, host.ptr);
    buf_clear(&host);
    buf_i64(&host, u->port);
    memcpy(port, host.ptr, host.len + 1);
    must_be(h, CURLUPART_PORT, port);
    must_be(h, CURLUPART_SCHEME, u->https ? "https" : "http");
    must(curl.get(h, CURLUPART_USER, &none, 0) == CURLUE_NO_USER);
    must(curl.get(h, CURLUPART_FRAGMENT, &none, 0) == CURLUE_NO_FRAGMENT);
    buf_free(&host);
    curl.cleanup(h);
}

static void check(const struct url *u, struct arena *a)
{
    struct buf text = {.mem = &libc_mem}, again = {.mem = &libc_mem};
    struct url twice;

    must(u->host.len && u->port && u->target.len && u->target.ptr[0] == '/');
    for (size_t i = 0; i < u->target.len; i++)
        must(u->target.ptr[i] > ' ' && u->target.ptr[i] < 0x7f);
    url_put(&text, u);
    ask_curl(text.ptr, u);
    if (url_parse(buf_view(&text), a, &twice, NULL) == WEND_OK) {
        must(twice.plain && twice.kind == u->kind);
        url_put(&again, &twice);
        must(str_eq(buf_view(&text), buf_view(&again)));
    } else {
        must(text.len > 8 << 10); /* escaped it is too long */
    }
    buf_free(&text);
    buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {.mem = &libc_mem};
    wend_str text = {(const char *)data, size}, reference = STR_NONE;
    const char *line = size ? memchr(data, '\n', size) : NULL;
    struct url u, joined;

    if (!curl.make)
        load_all();
    if (line) {
        text.len = (size_t)(line - text.ptr);
        reference = (wend_str){line + 1, size - text.len - 1};
    }
    if (url_parse(text, &a, &u, NULL) == WEND_OK) {
        check(&u, &a);
        if (url_join(&u, reference, &a, &joined, NULL) == WEND_OK)
            check(&joined, &a);
    }
    arena_free(&a);
    return 0;
}
