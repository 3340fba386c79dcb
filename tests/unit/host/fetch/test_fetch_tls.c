/*
 * test_fetch_tls.c - certificates: who is trusted, who is not, and why.
 */
#include <signal.h>

#include "fetch_help.h"

static void test_trust(struct world *w)
{
    char local[64], number[64], other[128], none[128], empty[128];
    const struct {
        const char *why, *url, *ca_file;
        enum fetch_end how;
        const char *words;
    } rows[] = {
        {"its authority, its name", local, w->server.ca, FETCH_OK, ""},
        {"its authority, another name", number, w->server.ca, FETCH_CERTIFICATE,
         "127.0.0.1: the certificate does not match the host"},
        {"another authority", local, other, FETCH_CERTIFICATE,
         "localhost: the certificate is not trusted"},
        {"the system's authorities", local, NULL, FETCH_CERTIFICATE,
         "localhost: the certificate is not trusted"},
        {"the words say what to do", local, NULL, FETCH_CERTIFICATE,
         "--ca-file"},
        {"no such file", local, none, FETCH_CA_FILE,
         "localhost: the file of certificate authorities cannot be read"},
        {"a file without certificates", local, empty, FETCH_CA_FILE,
         "/empty.pem, named by --ca-file, must have certificates"},
        {"a file of something else", local, "/proc/self/exe", FETCH_CA_FILE,
         "/proc/self/exe, named by --ca-file"},
        {"its authority again", local, w->server.ca, FETCH_OK, ""},
    };

    snprintf(local, sizeof local, "https://localhost:%d/=text:3/",
             w->server.tls_port);
    snprintf(number, sizeof number, "https://127.0.0.1:%d/=text:3/",
             w->server.tls_port);
    snprintf(other, sizeof other, "%s/other.pem", w->server.dir);
    snprintf(none, sizeof none, "%s/none.pem", w->server.dir);
    snprintf(empty, sizeof empty, "%s/empty.pem", w->server.dir);
    fclose(fopen(empty, "we"));
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w};
        struct fetch_request q = {.url = rows[i].url,
                                  .ca_file = rows[i].ca_file};

        seen_ask(&s, &q, NULL);
        seen_wait(&s);
        if (!tap_ok(s.how == rows[i].how &&
                        s.bytes == (s.how == FETCH_OK ? 24 : 0) &&
                        strstr(s.message, rows[i].words),
                    "trust: %s", rows[i].why))
            printf("# %d %s\n", s.how, s.message);
    }
}

/* Each is looked at when a transfer begins. */
static void test_environment(struct world *w)
{
    char other[128], folder[128], hash[640], url[64];
    const struct {
        const char *why, *bundle, *file, *folder, *option;
        enum fetch_end how;
    } rows[] = {
        {"SSL_CERT_FILE", NULL, w->server.ca, NULL, NULL, FETCH_OK},
        {"CURL_CA_BUNDLE", w->server.ca, NULL, NULL, NULL, FETCH_OK},
        {"SSL_CERT_DIR", NULL, NULL, folder, NULL, FETCH_OK},
        {"CURL_CA_BUNDLE before SSL_CERT_DIR", other, NULL, folder, NULL,
         FETCH_CERTIFICATE},
        {"SSL_CERT_FILE before all others", other, w->server.ca, "/nonexistent",
         NULL, FETCH_OK},
        {"an empty folder", NULL, NULL, "/nonexistent", NULL,
         FETCH_CERTIFICATE},
        {"the option before all", w->server.ca, w->server.ca, folder, other,
         FETCH_CERTIFICATE},
        {"an empty one is none", "", "", "", NULL, FETCH_CERTIFICATE},
        {"a file that is not there", NULL, "/nonexistent/x.pem", NULL, NULL,
         FETCH_CA_FILE},
    };
    static const char *const names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE",
                                        "SSL_CERT_DIR"};

    snprintf(other, sizeof other, "%s/other.pem", w->server.dir);
    snprintf(folder, sizeof folder, "%s/folder", w->server.dir);
    snprintf(hash, sizeof hash,
             "mkdir '%s' && cp '%s' '%s' && openssl rehash '%s'", folder,
             w->server.ca, folder, folder);
    if (!tap_ok(!system(hash), "a folder of certificates"))
        return;
    snprintf(url, sizeof url, "https://localhost:%d/=text:3/",
             w->server.tls_port);
    for (size_t i = 0; i < tap_count(rows); i++) {
        const char *values[] = {rows[i].bundle, rows[i].file, rows[i].folder};
        struct seen s = {.w = w};
        struct fetch_request q = {.url = url, .ca_file = rows[i].option};

        for (size_t k = 0; k < 3; k++)
            if (values[k])
                setenv(names[k], values[k], 1);
        seen_ask(&s, &q, NULL);
        seen_wait(&s);
        if (!tap_ok(s.how == rows[i].how, "environment: %s", rows[i].why))
            printf("# %d %s\n", s.how, s.message);
        for (size_t k = 0; k < 3; k++)
            unsetenv(names[k]);
    }
}

static void test_streams(struct world *w)
{
    static const struct {
        const char *why, *scenario;
        bool http2;
        size_t pause_every;
        enum fetch_end how;
        int64_t bytes; /* -1: any */
    } rows[] = {
        {"many deltas", "text:20000:16", false, 0, FETCH_OK, 320000},
        {"HTTP/2, which the server lacks", "text:20000:16", true, 0, FETCH_OK,
         320000},
        {"one by one", "delay:2ms:50:16", false, 0, FETCH_OK, 800},
        {"with pauses", "text:20000:16", false, 3, FETCH_OK, 320000},
        {"reset", "reset:1000", false, 0, FETCH_NETWORK, -1},
        {"cut", "cut:1000", false, 0, FETCH_NETWORK, -1},
        {"a long header", "text:3,padding=40000", false, 0, FETCH_HEADERS, 0},
        {"one over libcurl's limit", "text:3,padding=150000", false, 0,
         FETCH_HEADERS, 0},
        {"one of a megabyte", "text:3,padding=1000000", false, 0, FETCH_HEADERS,
         0},
    };
    char url[128];

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w, .pause_every = rows[i].pause_every};
        struct fetch_request q = {
            .url = url, .ca_file = w->server.ca, .http2 = rows[i].http2};

        snprintf(url, sizeof url, "https://localhost:%d/=%s/",
                 w->server.tls_port, rows[i].scenario);
        seen_ask(&s, &q, NULL);
        while (!s.ends) {
            if (s.paused) {
                s.paused = false;
                fetch_resume(s.t);
            }
            loop_turn(w->loop, 1000);
        }
        if (!tap_ok(s.how == rows[i].how && (rows[i].bytes < 0 ||
                                             (int64_t)s.bytes == rows[i].bytes),
                    "TLS: %s", rows[i].why))
            printf("# %d %s, %zu bytes\n", s.how, s.message, s.bytes);
    }
}

/* A broken pipe is an error, not a signal. */
static void test_broken_pipe(struct world *w)
{
    static char big[8 << 20];
    struct seen s = {.w = w};
    char url[128];
    struct fetch_request q = {
        .url = url, .ca_file = w->server.ca, .body = {big, sizeof big}};
    int64_t began = clock_ms();

    memset(big, 'x', sizeof big);
    snprintf(url, sizeof url, "https://localhost:%d/=text:3/",
             w->server.tls_port);
    seen_ask(&s, &q, NULL);
    for (int i = 0; i < 3; i++)
        loop_turn(w->loop, 100);
    kill(w->server.pid, SIGKILL);
    seen_wait(&s);
    tap_ok(s.how == FETCH_NETWORK && clock_ms() - began < 30000,
           "the server dies while it is written to (%s)", s.message);
}

int main(void)
{
    struct world w;

    unsetenv("CURL_CA_BUNDLE");
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    if (!tap_ok(world_open(&w, true), "a server with a certificate"))
        return tap_done();
    test_trust(&w);
    test_environment(&w);
    test_streams(&w);
    test_broken_pipe(&w);
    world_close(&w);
    return tap_done();
}
