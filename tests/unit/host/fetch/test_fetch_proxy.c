/*
 * test_fetch_proxy.c - which proxy a request goes through, and what is said
 * when that fails. The server stands in for the proxy: it counts who asks it
 * to connect.
 */
#include "fetch_help.h"

static const char *const variables[] = {
    "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
    "all_proxy",  "ALL_PROXY",  "no_proxy",    "NO_PROXY",
};

static void forget_all(void)
{
    for (size_t i = 0; i < tap_count(variables); i++)
        unsetenv(variables[i]);
}

/* Asks with the environment's proxy. */
static void ask(struct seen *s, const char *url, int64_t connect_ms)
{
    struct fetch_request q = {.url = url,
                              .libcurl = s->w->libcurl,
                              .connect_ms = connect_ms,
                              .first_byte_ms = 20000};

    if (fetch_start(s->w->fetch, &q, &seen_events, s, &s->t, NULL) == WEND_OK)
        seen_wait(s);
}

/* ---- Which one ----------------------------------------------------------- */

/* Rows that must not reach the proxy ask [ff05::1]: the kernel refuses TCP to
 * a multicast address, so no packet leaves the machine. */

static const struct {
    const char *why, *variable, *scheme, *url, *no_proxy;
    bool asked; /* the proxy was */
} choices[] = {
    {"https_proxy", "https_proxy", "http://", "https://status403.test/", NULL,
     true},
    {"HTTPS_PROXY", "HTTPS_PROXY", "http://", "https://status403.test/", NULL,
     true},
    {"all_proxy", "all_proxy", "http://", "https://status403.test/", NULL,
     true},
    {"ALL_PROXY", "ALL_PROXY", "http://", "https://status403.test/", NULL,
     true},
    {"without a scheme", "HTTPS_PROXY", "", "https://status403.test/", NULL,
     true},
    {"http_proxy is not for https", "http_proxy", "http://",
     "https://[ff05::1]/", NULL, false},
    {"https_proxy is not for http", "https_proxy", "http://",
     "http://[ff05::1]/", NULL, false},
    {"HTTP_PROXY is never believed", "HTTP_PROXY", "http://",
     "http://[ff05::1]/", NULL, false},
    {"http_proxy", "http_proxy", "http://", "http://status403.test/", NULL,
     true},
    {"ALL_PROXY and plain http", "ALL_PROXY", "http://",
     "http://status403.test/", NULL, true},
    {"plain http to loopback", "http_proxy", "http://", "http://127.0.0.1:1/",
     NULL, false},
    {"plain http to localhost", "http_proxy", "http://", "http://localhost:1/",
     NULL, false},
    {"plain http to IPv6 loopback", "http_proxy", "http://", "http://[::1]:1/",
     NULL, false},
    {"plain http to loopback, all", "ALL_PROXY", "http://",
     "http://127.0.0.1:1/", NULL, false},
    {"plain http to localhost, all", "ALL_PROXY", "http://",
     "http://LOCALHOST:1/", NULL, false},
    {"plain http to IPv6 loopback, all", "ALL_PROXY", "http://",
     "http://[::1]:1/", NULL, false},
    {"not for the unspecified address", "ALL_PROXY", "http://",
     "https://0.0.0.0:1/", NULL, false},
    {"nor for that of IPv6", "ALL_PROXY", "http://", "https://[::]:1/", NULL,
     false},
    {"not for loopback", "ALL_PROXY", "http://", "https://127.0.0.1:1/", NULL,
     false},
    {"not for all of it", "ALL_PROXY", "http://", "https://127.8.9.1:1/", NULL,
     false},
    {"not for localhost with a dot", "ALL_PROXY", "http://",
     "https://localhost.:1/", NULL, false},
    {"not for a name below localhost", "ALL_PROXY", "http://",
     "https://a.localhost:1/", NULL, false},
    {"not for IPv6 loopback", "ALL_PROXY", "http://", "https://[::1]:1/", NULL,
     false},
    {"not for mapped loopback", "ALL_PROXY", "http://",
     "https://[::ffff:127.0.0.1]:1/", NULL, false},
    {"no_proxy names another host", "ALL_PROXY", "http://",
     "https://status403.test/", "a.test, xstatus403.test,tus403.test", true},
    {"no_proxy names the address", "ALL_PROXY", "http://", "https://[ff05::1]/",
     "a.test,[ff05::1]", false},
    {"no_proxy names a range", "ALL_PROXY", "http://", "https://[ff05::1]/",
     "ff05::/64", false},
    {"no_proxy names another range", "ALL_PROXY", "http://",
     "https://status403.test/", "10.0.0.0/8", true},
    {"no_proxy is a star", "ALL_PROXY", "http://", "https://[ff05::1]/", "*",
     false},
};

static void test_choice(struct world *w)
{
    char proxy[128];

    for (size_t i = 0; i < tap_count(choices); i++) {
        struct seen s = {.w = w};
        int64_t before = world_count(w, "requests"), more;
        /* Of plain http the proxy's answer is an answer. */
        bool named = choices[i].asked && !strncmp(choices[i].url, "https", 5);

        snprintf(proxy, sizeof proxy, "%s127.0.0.1:%d", choices[i].scheme,
                 w->server.port);
        setenv(choices[i].variable, proxy, 1);
        if (choices[i].no_proxy)
            setenv("NO_PROXY", choices[i].no_proxy, 1);
        ask(&s, choices[i].url, 300);
        forget_all();
        more = world_count(w, "requests") - before;
        if (!tap_ok((more == 1) == choices[i].asked && more <= 1 &&
                        !strstr(s.message, "through the proxy") != named,
                    "choice: %s", choices[i].why))
            printf("# %lld requests, %s\n", (long long)more, s.message);
    }
}

static void test_no_proxy_names(struct world *w)
{
    static const struct {
        const char *why, *list;
        bool spared;
    } rows[] = {
        {"the name", "status403.test", true},
        {"in another case", "Status403.TEST", true},
        {"its domain", "test", true},
        {"its domain with a dot", ".test", true},
        {"the second of a list", "a.b test", true},
        {"the end of a label", "403.test", false},
        {"a longer one", "a.status403.test", false},
        {"an empty list", ",, ,", false},
    };
    char proxy[64];

    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", w->server.port);
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w};

        setenv("HTTPS_PROXY", proxy, 1);
        setenv("no_proxy", rows[i].list, 1);
        /* A name that is looked up here is not found. */
        ask(&s, "https://status403.test/", 20000);
        forget_all();
        if (!tap_ok(s.how == (rows[i].spared ? FETCH_NETWORK : FETCH_PROXY),
                    "no_proxy: %s", rows[i].why))
            printf("# %d %s\n", s.how, s.message);
    }
}

/* The text with the server's port in place of PORT. */
static void put_port(char *out, size_t size, const char *text, int port)
{
    const char *at = strstr(text, "PORT");

    if (at)
        snprintf(out, size, "%.*s%d%s", (int)(at - text), text, port, at + 4);
    else
        snprintf(out, size, "%s", text);
}

/* ---- What it says -------------------------------------------------------- */

static void test_refusals(struct world *w)
{
    static const struct {
        const char *why, *value, *url;
        enum fetch_end how;
        const char *words;
    } rows[] = {
        {"403", "http://joe:hunter2secret@127.0.0.1:PORT",
         "https://status403.test/", FETCH_PROXY,
         "status403.test through the proxy 127.0.0.1:PORT: the proxy answered "
         "with HTTP 403; it does not allow this connection"},
        {"407", "joe:hunter2secret@127.0.0.1:PORT/", "https://status407.test/",
         FETCH_PROXY,
         "status407.test through the proxy 127.0.0.1:PORT: the proxy answered "
         "with HTTP 407; it wants a user and a password"},
        {"502 may pass", "http://joe:hunter2secret@127.0.0.1:PORT",
         "https://status502.test/", FETCH_NETWORK,
         "status502.test through the proxy 127.0.0.1:PORT: the proxy answered "
         "with HTTP 502"},
        {"429 may pass", "http://joe:hunter2secret@127.0.0.1:PORT",
         "https://status429.test/", FETCH_NETWORK, "with HTTP 429"},
        {"nobody is there", "http://joe:hunter2secret@127.0.0.1:1",
         "https://a.test/", FETCH_NETWORK,
         "a.test through the proxy 127.0.0.1:1: connection refused"},
        {"no such name", "http://joe:hunter2secret@none.invalid:8",
         "https://a.test/", FETCH_NETWORK,
         "a.test through the proxy none.invalid:8: could not resolve the name "
         "of the proxy"},
        {"no port", "http://joe:hunter2secret@", "https://a.test/", FETCH_PROXY,
         "a.test: ALL_PROXY is not the URL of a proxy; write "},
        {"another scheme", "ftp://joe:hunter2secret@127.0.0.1:PORT",
         "https://a.test/", FETCH_PROXY, "ALL_PROXY is not the URL of a proxy"},
        {"a space", "http://joe:hunter2secret@127.0.0.1 :PORT",
         "https://a.test/", FETCH_PROXY, "ALL_PROXY is not the URL of a proxy"},
        {"a port that is none", "http://joe:hunter2secret@127.0.0.1:70000",
         "http://a.test/", FETCH_PROXY, "ALL_PROXY is not the URL of a proxy"},
        {"SOCKS that is none", "socks5://joe:hunter2secret@127.0.0.1:PORT",
         "https://a.test/", FETCH_TIMEOUT,
         "a.test through the proxy 127.0.0.1:PORT: no connection within"},
    };
    char value[128], words[256];

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w};

        put_port(value, sizeof value, rows[i].value, w->server.port);
        put_port(words, sizeof words, rows[i].words, w->server.port);
        setenv("ALL_PROXY", value, 1);
        ask(&s, rows[i].url, rows[i].how == FETCH_TIMEOUT ? 300 : 20000);
        forget_all();
        if (!tap_ok(s.how == rows[i].how && strstr(s.message, words) &&
                        !strstr(s.message, "hunter2"),
                    "refused: %s", rows[i].why))
            printf("# %d %s\n", s.how, s.message);
    }
}

/* One that takes the connection and says nothing. */
static void test_silence(struct world *w)
{
    struct seen s = {.w = w};
    char proxy[64];

    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", w->server.tls_port);
    setenv("HTTPS_PROXY", proxy, 1);
    ask(&s, "https://a.test/", 300);
    forget_all();
    if (!tap_ok(s.how == FETCH_TIMEOUT || s.how == FETCH_NETWORK,
                "a proxy that speaks something else"))
        printf("# %d\n", s.how);
    tap_ok(strstr(s.message, "through the proxy 127.0.0.1:"),
           "it is named (%s)", s.message);
}

int main(void)
{
    struct world w;

    forget_all();
    if (!tap_ok(world_open(&w, true), "a server"))
        return tap_done();
    for (int i = 0; i < 2; i++) {
        w.libcurl = i;
        test_choice(&w);
    }
    test_no_proxy_names(&w);
    test_refusals(&w);
    test_silence(&w);
    world_close(&w);
    return tap_done();
}
