/*
 * test_fetch_secret.c - a secret goes over plain http to this machine only.
 * A row that can arrive has its control: without the secret it does. That it
 * arrives at another address, too, is shown in tests/cli/network.sh.
 *
 * The resolver and the servers are the test's own: nothing leaves this
 * machine.
 */
#include "fetch_help.h"
#include "name_help.h"

#define ELSEWHERE "198.51.100.1" /* RFC 5737: no machine has it */

static const struct row {
    const char *why, *url; /* PORT stands for the server's */
    const char *first;     /* answer of the resolver */
    const char *proxy;     /* the same; NULL: none */
    enum fetch_end how;    /* with a secret */
    int here;              /* connections to this machine then ... */
    int control;           /* ... and without a secret; 0: not tried */
} rows[] = {
    {"an address of loopback", "http://127.0.0.1:PORT/", "", NULL, FETCH_OK, 1,
     1},
    {"another one", "http://127.0.0.2:PORT/", "", NULL, FETCH_OK, 1, 1},
    {"in an unusual spelling", "http://127.1:PORT/", "127.0.0.1", NULL,
     FETCH_OK, 1, 1},
    {"in disguise", "http://0x7f000001:PORT/", "127.0.0.1", NULL, FETCH_OK, 1,
     1},
    {"carried by IPv6", "http://[::ffff:127.0.0.1]:PORT/", "", NULL, FETCH_OK,
     1, 1},
    {"the unspecified one", "http://0.0.0.0:PORT/", "", NULL, FETCH_OK, 1, 1},
    /* Here is no server of IPv6. */
    {"loopback of IPv6", "http://[::1]:PORT/", "", NULL, FETCH_NETWORK, 0, 0},
    {"the unspecified one of IPv6", "http://[::]:PORT/", "", NULL,
     FETCH_NETWORK, 0, 0},
    {"localhost", "http://localhost:PORT/", "", NULL, FETCH_OK, 1, 1},
    {"localhost with a dot", "http://localhost.:PORT/", "127.0.0.1", NULL,
     FETCH_OK, 1, 1},
    {"a name that means loopback", "http://name.test:PORT/", "127.0.0.1", NULL,
     FETCH_OK, 1, 1},
    {"a name that means both", "http://name.test:PORT/", ELSEWHERE " 127.0.0.1",
     NULL, FETCH_OK, 1, 1},
    {"a name that means another machine", "http://name.test:PORT/", ELSEWHERE,
     NULL, FETCH_INSECURE, 0, 0},
    {"another machine", "http://" ELSEWHERE ":PORT/", "", NULL, FETCH_INSECURE,
     0, 0},
    {"another machine by IPv6", "http://[ff05::1]:PORT/", "", NULL,
     FETCH_INSECURE, 0, 0},
    {"in capitals", "HTTP://" ELSEWHERE ":PORT/", "", NULL, FETCH_INSECURE, 0,
     0},
    {"behind a user", "http://localhost@" ELSEWHERE ":PORT/", "", NULL,
     FETCH_INSECURE, 0, 0},
    {"through a proxy on this machine", "http://name.test/", "127.0.0.1",
     "http://127.0.0.1:PORT", FETCH_INSECURE, 0, 1},
    {"an address through it", "http://" ELSEWHERE "/", "",
     "http://127.0.0.1:PORT", FETCH_INSECURE, 0, 1},
};

static void put_port(char *out, size_t size, const char *text, int port)
{
    const char *at = strstr(text, "PORT");

    snprintf(out, size, at ? "%.*s%d%s" : "%.*s%.0d%s",
             at ? (int)(at - text) : (int)strlen(text), text, port,
             at ? at + 4 : "");
}

static void ask(struct seen *s, const struct row *row, int port, bool secret)
{
    static const char *const headers[] = {"Authorization: Bearer key", NULL};
    char url[128], proxy[128] = "";
    struct fetch_request q = {.url = url,
                              .headers = headers,
                              .secret = secret,
                              .proxy = proxy,
                              .connect_ms = 20000,
                              .first_byte_ms = 20000};

    put_port(url, sizeof url, row->url, port);
    if (row->proxy)
        put_port(proxy, sizeof proxy, row->proxy, port);
    name_means(row->first, NULL);
    if (seen_ask(s, &q, NULL) == WEND_OK)
        seen_wait(s);
}

/* With a fetch of its own, which remembers no name. */
static int connections(struct two_servers *two, const struct row *row,
                       bool secret, bool libcurl, struct seen *s)
{
    struct world w = {.libcurl = libcurl};
    int before = atomic_load(&two->good) + atomic_load(&two->bad);

    loop_new(&fetch_mem_libc, &w.loop, NULL);
    fetch_new(&fetch_mem_libc, w.loop, &w.fetch, NULL);
    s->w = &w;
    ask(s, row, two->port, secret);
    fetch_free(w.fetch);
    loop_free(w.loop);
    return atomic_load(&two->good) + atomic_load(&two->bad) - before;
}

static void test_rows(struct two_servers *two, bool libcurl)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = NULL}, open = {.w = NULL};
        int64_t began = clock_ms();
        int here = connections(two, &rows[i], true, libcurl, &s);
        bool quick = clock_ms() - began < 10000;
        bool said = strstr(s.message, "--insecure-http") &&
                    strstr(s.message, "insecure_http in the settings file");

        if (!tap_ok(s.how == rows[i].how && here == rows[i].here && quick &&
                        said == (s.how == FETCH_INSECURE),
                    "%s", rows[i].why))
            printf("# %d, %d connections, %s\n", s.how, here, s.message);
        if (!rows[i].control)
            continue;
        here = connections(two, &rows[i], false, libcurl, &open);
        if (!tap_ok(here == rows[i].control && open.how != FETCH_INSECURE,
                    "%s: the control", rows[i].why))
            printf("# %d, %d connections, %s\n", open.how, here, open.message);
    }
}

/* Who knows what the name meant when a kept one was opened. */
static void test_kept(void)
{
    static const struct row here = {.url = "http://name.test:PORT/=text:3/",
                                    .first = "127.0.0.1",
                                    .control = 1};
    struct world w;
    int64_t made[3] = {0};

    if (!tap_ok(world_open(&w, false), "a server that keeps connections"))
        return;
    for (int i = 0; i < 3; i++) {
        struct seen s = {.w = &w};
        int64_t before = world_count(&w, "connections");

        ask(&s, &here, w.server.port, i == 2);
        made[i] = world_count(&w, "connections") - before;
        tap_ok(s.how == FETCH_OK, "request %d (%s)", i, s.message);
    }
    tap_is_i64(made[1], 0, "a connection to a name is kept");
    tap_is_i64(made[2], 1, "and not used for a secret");
    world_close(&w);
}

int main(void)
{
    struct two_servers two = {.port = 0};

    if (!tap_ok(two_start(&two), "servers"))
        return tap_done();
    test_rows(&two, false);
    test_rows(&two, true);
    two_stop(&two);
    test_kept();
    return tap_done();
}
