/*
 * test_http_request.c - the tool as a model uses it: arguments, answers,
 * redirects, and the addresses that it must not reach.
 */
#include "base/limits.h"
#include "name_help.h"
#include "run_help.h"
#include "server_help.h"

/* ---- One call ------------------------------------------------------------ */

struct result {
    wend_outcome outcome;
    struct buf output;
    int64_t ms;
};

struct place {
    struct test_server *server;
    const char *network; /* one entry, or NULL; %d is the server's port */
    uint32_t timeout_ms;
};

/* `$` is http://127.0.0.1:PORT, `&` https://localhost:TLS; inside of a path `^`
 * is a slash, encoded, and
 * `~` one that is encoded twice. */
static void put_args(struct buf *b, const char *args,
                     const struct test_server *s)
{
    int port = s ? s->port : 0;

    for (; *args; args++) {
        if (*args == '$')
            buf_fmt(b, "http://127.0.0.1:%d", port);
        else if (*args == '&')
            buf_fmt(b, "https://localhost:%d", s->tls_port);
        else if (*args == '^')
            buf_cstr(b, "%2F");
        else if (*args == '~')
            buf_cstr(b, "%252F");
        else if (!strncmp(args, "PORT", 4))
            buf_i64(b, port), args += 3;
        else if (!strncmp(args, "TLSP", 4))
            buf_i64(b, s->tls_port), args += 3;
        else
            buf_char(b, *args);
    }
}

static void take_result(const wend_event *ev, struct result *out)
{
    const wend_ev_call_end *e = &ev->u.call_end;

    out->outcome = e->outcome;
    out->ms = e->ms;
    buf_str(&out->output, e->output);
}

static void call(const struct place *p, const char *args, struct result *out)
{
    struct rig r = {.err = {0}};
    struct buf script = {.mem = &rig_mem};
    char entry[64];
    const char *network[] = {entry};
    const wend_event *ev;
    wend_run *run;

    *out = (struct result){.output = {.mem = &rig_mem}};
    buf_cstr(&script, "script:{\"turns\":[{\"calls\":[{\"name\":"
                      "\"http_request\",\"args\":");
    put_args(&script, args, p->server);
    buf_cstr(&script, "}]},{\"text\":\"end\"}]}");
    if (p->network) {
        snprintf(entry, sizeof entry, "%s", p->network);
        if (strstr(p->network, ":PORT"))
            snprintf(strstr(entry, "PORT"), 8, "%d", p->server->port);
        r.agent_options.network = network;
        r.agent_options.network_count = 1;
    }
    r.agent_options.approve = WEND_APPROVE_ALL;
    rig_open(&r, NULL, script.ptr);
    if (wend_agent_add_builtin(r.agent, "http_request", &r.err) != WEND_OK)
        tap_ok(false, "%s", r.err.message);
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_CALL_END)
            take_result(ev, out);
    wend_run_free(run);
    buf_free(&script);
    rig_close(&r);
}

/* Each word of a list must be there; after a `!` none may. */
static bool has_words(wend_str text, const char *words)
{
    bool wanted = true;

    while (*words) {
        size_t len = strcspn(words, "|");
        bool there;

        if (*words == '!') {
            wanted = false;
            words++;
            continue;
        }
        there = memmem(text.ptr, text.len, words, len);
        if (there != wanted)
            return false;
        words += len + (words[len] == '|');
    }
    return true;
}

struct row {
    const char *why, *args;
    wend_outcome outcome;
    const char *words; /* of the output, `|` between; after a `!`: not */
};

static void check(const struct place *p, const struct row *row)
{
    struct result got;

    call(p, row->args, &got);
    tap_is_str(wend_outcome_name(got.outcome), wend_outcome_name(row->outcome),
               "%s: outcome", row->why);
    if (!tap_ok(has_words(buf_view(&got.output), row->words), "%s: words",
                row->why))
        printf("# %.300s\n", got.output.ptr ? got.output.ptr : "");
    buf_free(&got.output);
}

/* ---- Arguments ----------------------------------------------------------- */

#define OK WEND_OUTCOME_OK
#define FAILED WEND_OUTCOME_FAILED

static const struct row arguments[] = {
    {"no URL", "{}", FAILED, "url"},
    {"no whole URL", "{\"url\":\"/a\"}", FAILED, "begin with http"},
    {"a file", "{\"url\":\"file:///etc/passwd\"}", FAILED, "begin with http"},
    {"a user", "{\"url\":\"http://u:p@a.example/\"}", FAILED, "user or a pass"},
    {"a line break", "{\"url\":\"http://a.example/\\r\\nX: y\"}", FAILED,
     "control character"},
    {"a NUL", "{\"url\":\"http://a.example\\u0000.b/\"}", FAILED,
     "control character (0)"},
    {"another spelling", "{\"url\":\"HTTP://A.example:80/b/../c\"}", FAILED,
     "write the URL as http://a.example/c"},
    {"no slash, which a rule for http://a.example/* would miss",
     "{\"url\":\"http://a.example?b\"}", FAILED,
     "write the URL as http://a.example/?b"},
    {"a method", "{\"url\":\"$/\",\"method\":\"TRACE\"}", FAILED, "method"},
    {"a body of GET", "{\"url\":\"$/\",\"body\":\"x\"}", FAILED,
     "GET has no body"},
    {"headers that are none", "{\"url\":\"$/\",\"headers\":[]}", FAILED,
     "headers"},
    {"a header that is a number", "{\"url\":\"$/\",\"headers\":{\"A\":1}}",
     FAILED, "headers.A must be"},
    {"an empty name", "{\"url\":\"$/\",\"headers\":{\"\":\"b\"}}", FAILED,
     "no name of a header"},
    {"a name with a colon", "{\"url\":\"$/\",\"headers\":{\"A:b\":\"c\"}}",
     FAILED, "no name of a header"},
    {"a name with a line break",
     "{\"url\":\"$/\",\"headers\":{\"A\\r\\nHost\":\"c\"}}", FAILED,
     "no name of a header"},
    {"a value with a line break",
     "{\"url\":\"$/\",\"headers\":{\"A\":\"b\\r\\nHost: c\"}}", FAILED,
     "without line breaks"},
    {"a value with a NUL", "{\"url\":\"$/\",\"headers\":{\"A\":\"b\\u0000c\"}}",
     FAILED, "without line breaks"},
    {"no value", "{\"url\":\"$/\",\"headers\":{\"A\":\"\"}}", FAILED,
     "not empty"},
    {"Host", "{\"url\":\"$/\",\"headers\":{\"host\":\"b\"}}", FAILED,
     "'host' cannot be set"},
    {"Content-Length",
     "{\"url\":\"$/\",\"headers\":{\"Content-Length\":\"3\"}}", FAILED,
     "cannot be set"},
    {"Transfer-Encoding",
     "{\"url\":\"$/\",\"headers\":{\"Transfer-Encoding\":\"chunked\"}}", FAILED,
     "cannot be set"},
    {"Connection", "{\"url\":\"$/\",\"headers\":{\"Connection\":\"close\"}}",
     FAILED, "cannot be set"},
    {"Proxy-Authorization",
     "{\"url\":\"$/\",\"headers\":{\"PROXY-authorization\":\"x\"}}", FAILED,
     "cannot be set"},
    {"too few bytes", "{\"url\":\"$/\",\"max_bytes\":0}", FAILED, "max_bytes"},
};

/* ---- Requests and answers ------------------------------------------------ */

static const struct row requests[] = {
    {"GET", "{\"url\":\"$/=echo/p?q=1\"}", OK,
     "status: 200|GET /=echo/p?q=1 HTTP/1.1|User-Agent: wend/|"
     "Accept-Encoding: identity|!Idempotency|Cookie|Content-Length: 0"},
    {"POST", "{\"url\":\"$/=echo/\",\"method\":\"POST\",\"body\":\"a=b\"}", OK,
     "POST /=echo/ HTTP/1.1|Idempotency-Key: |/0/call_1\r|Content-Length: 3|"
     "\r\n\r\na=b|!Expect|Content-Type: application/x-www"},
    {"POST of nothing", "{\"url\":\"$/=echo/\",\"method\":\"POST\"}", OK,
     "POST /|Content-Length: 0"},
    {"PUT", "{\"url\":\"$/=echo/\",\"method\":\"PUT\",\"body\":\"x\"}", OK,
     "PUT /|/0/call_1\r"},
    {"DELETE", "{\"url\":\"$/=echo/\",\"method\":\"DELETE\"}", OK,
     "DELETE /|/0/call_1\r|!Content-Length: 0"},
    {"HEAD", "{\"url\":\"$/=text:3,length/\",\"method\":\"HEAD\"}", OK,
     "status: 200|Content-Length: 24|!0000001"},
    {"headers",
     "{\"url\":\"$/=echo/\",\"headers\":{\"X-A\":\"b\",\"user-agent\":\"me\"}}",
     OK, "X-A: b\r|user-agent: me\r|!wend/"},
    {"text", "{\"url\":\"$/=text:3/\"}", OK,
     "status: 200\n|Content-Type: |\n\n0000000 0000001 0000002 "},
    {"a failure of the server", "{\"url\":\"$/=status:404/\"}", OK,
     "status: 404\n|test error 404"},
    {"an answer with a length", "{\"url\":\"$/=text:3,length/\"}", OK,
     "Content-Length: 24\n|0000002"},
    {"no bytes", "{\"url\":\"$/=text:0/\"}", OK, "status: 200\n|!0000"},
    {"some bytes", "{\"url\":\"$/=text:3/\",\"max_bytes\":9}", OK,
     "\n\n0000000 0\n(cut here, after 9 bytes; there is more)\n|!0000001"},
    {"as many bytes as there are", "{\"url\":\"$/=text:3/\",\"max_bytes\":24}",
     OK, "0000002 |!cut here"},
    {"one byte less", "{\"url\":\"$/=text:3/\",\"max_bytes\":23}", OK,
     "0000002\n(cut here, after 23 bytes"},
    {"an endless answer", "{\"url\":\"$/=text:1000000:1000/\"}", OK,
     "(cut here, after 245760 bytes"},
    {"noise", "{\"url\":\"$/=garbage:5000,type=image^png/\"}", OK,
     "(5000 bytes that are no text; not shown)"},
    {"noise that is cut",
     "{\"url\":\"$/=garbage:5000,type=image^png/\",\"max_bytes\":100}", OK,
     "(more than 100 bytes that are no text; not shown)|!cut here"},
    {"something encoded", "{\"url\":\"$/=gzip:100/\"}", OK,
     "Content-Encoding: gzip|bytes that are no text"},
    {"UTF-8 cut in two",
     "{\"url\":\"$/=bytes:%E2%82%AC%E2%82%AC/\",\"max_bytes\":4}", OK,
     "\n\n\xE2\x82\xAC\n(cut here, after 3 bytes|!\xEF\xBF\xBD"},
    {"a cut connection", "{\"url\":\"$/=cut:50,length/\"}", FAILED,
     "127.0.0.1:|before the end"},
    {"a reset connection", "{\"url\":\"$/=reset:50/\"}", FAILED, "127.0.0.1:"},
};

/* ---- Redirects ----------------------------------------------------------- */

static const struct row redirects[] = {
    {"a path", "{\"url\":\"$/=redirect:302:^=echo^x/\"}", OK,
     "status: 200\nurl: http://127.0.0.1:|GET /=echo/x"},
    {"302 of POST is a GET",
     "{\"url\":\"$/=redirect:302:^=echo^x/\",\"method\":\"POST\",\"body\":"
     "\"secret\",\"headers\":{\"Content-Type\":\"a/b\",\"X-A\":\"b\"}}",
     OK, "GET /=echo/x|X-A: b|!secret|Content-Type: a/b|Idempotency"},
    {"301 of PUT is a GET",
     "{\"url\":\"$/=redirect:301:^=echo^x/\",\"method\":\"PUT\",\"body\":"
     "\"secret\"}",
     OK, "GET /=echo/x|!secret"},
    {"303 of HEAD is a HEAD",
     "{\"url\":\"$/=redirect:303:^=text:3,length^/\",\"method\":\"HEAD\"}", OK,
     "Content-Length: 24|!0000001"},
    {"307 of POST is a POST",
     "{\"url\":\"$/=redirect:307:^=echo^x/\",\"method\":\"POST\",\"body\":"
     "\"data\",\"headers\":{\"Content-Type\":\"a/b\"}}",
     OK, "POST /=echo/x|Content-Type: a/b|/0/call_1\r|\r\n\r\ndata"},
    {"308 of PUT is a PUT",
     "{\"url\":\"$/=redirect:308:^=echo^x/\",\"method\":\"PUT\",\"body\":"
     "\"data\"}",
     OK, "PUT /=echo/x|\r\n\r\ndata"},
    {"the same origin gets all headers",
     "{\"url\":\"$/=redirect:307:^=echo^/\",\"headers\":{\"Authorization\":"
     "\"secret\",\"Cookie\":\"secret2\",\"X-Api-Key\":\"secret3\"}}",
     OK, "Authorization: secret|Cookie: secret2|X-Api-Key: secret3"},
    {"another origin gets no secrets",
     "{\"url\":\"$/=redirect:307:http:^^localhost:PORT^=echo^/\",\"headers\""
     ":{\"Authorization\":\"secret\",\"Cookie\":\"secret\",\"X-Api-Key\":"
     "\"secret\",\"Accept\":\"a/b\"}}",
     OK, "Host: localhost|Accept: a/b|!secret"},
    {"no Location", "{\"url\":\"$/=status:302/\"}", OK, "status: 302"},
    {"304 is an answer", "{\"url\":\"$/=redirect:304:^x/\"}", OK,
     "status: 304|Location: /x"},
    {"a loop", "{\"url\":\"$/=redirect:302:%3Fagain/\"}", FAILED,
     "over 5 redirects"},
    {"a file", "{\"url\":\"$/=redirect:302:file:^^^etc^passwd/\"}", FAILED,
     "a redirect to 'file:///etc/passwd': |begin with http"},
    {"a user", "{\"url\":\"$/=redirect:302:http:^^u@127.0.0.1:PORT^/\"}",
     FAILED, "user or a pass"},
    {"a backslash", "{\"url\":\"$/=redirect:302:^%5Cx/\"}", FAILED,
     "backslash"},
    {"a refused address",
     "{\"url\":\"$/=redirect:302:http:^^127.0.0.3:PORT^=echo^/\"}", FAILED,
     ": its address 127.0.0.3 is loopback"},
    {"the address of metadata",
     "{\"url\":\"$/=redirect:302:http:^^169.254.169.254^latest^/\"}", FAILED,
     "its address 169.254.169.254 is link-local"},
    {"an address in disguise",
     "{\"url\":\"$/=redirect:302:http:^^[::ffff:127.0.0.1]:PORT^/\"}", FAILED,
     "is IPv4 in IPv6"},
    {"a number in disguise",
     "{\"url\":\"$/=redirect:302:http:^^2130706433:PORT^/\"}", FAILED,
     "unusual spelling"},
    {"two steps, then a refused one",
     "{\"url\":\"$/=redirect:302:^=redirect:302:http:~~127.0.0.3:PORT~^/"
     "\"}",
     FAILED, "its address 127.0.0.3 is loopback"},
};

static const struct row secure[] = {
    {"https", "{\"url\":\"&/=echo/\"}", OK, "status: 200|GET /=echo/"},
    {"https to https", "{\"url\":\"&/=redirect:302:^=echo^x/\"}", OK,
     "url: https://localhost:|GET /=echo/x"},
    {"https to http",
     "{\"url\":\"&/=redirect:302:http:^^127.0.0.1:PORT^=echo^/\"}", FAILED,
     "a redirect from https to http|is not followed"},
    {"another name than in the certificate",
     "{\"url\":\"https://127.0.0.1:TLSP/\"}", FAILED, "certificate"},
};

/* ---- Addresses ----------------------------------------------------------- */

/* With nothing added, all of these are refused before a packet leaves. */
static const struct row refused[] = {
    {"loopback", "{\"url\":\"$/\"}", FAILED,
     ": its address 127.0.0.1 is loopback"},
    {"its name", "{\"url\":\"http://localhost:PORT/\"}", FAILED, "is loopback"},
    {"a name below it", "{\"url\":\"http://a.localhost:PORT/\"}", FAILED,
     "is loopback"},
    {"loopback of IPv6", "{\"url\":\"http://[::1]:PORT/\"}", FAILED,
     "its address ::1 is loopback"},
    {"unspecified", "{\"url\":\"http://0.0.0.0:PORT/\"}", FAILED,
     "is unspecified"},
    {"unspecified of IPv6", "{\"url\":\"http://[::]:PORT/\"}", FAILED,
     "is unspecified"},
    {"mapped", "{\"url\":\"http://[::ffff:7f00:1]:PORT/\"}", FAILED,
     "is IPv4 in IPv6"},
    {"compatible", "{\"url\":\"http://[::7f00:1]:PORT/\"}", FAILED,
     "is IPv4 in IPv6"},
    {"NAT64", "{\"url\":\"http://[64:ff9b::7f00:1]:PORT/\"}", FAILED, "NAT64"},
    {"6to4", "{\"url\":\"http://[2002:7f00:1::]:PORT/\"}", FAILED, "6to4"},
    {"private", "{\"url\":\"http://10.0.0.1:PORT/\"}", FAILED, "is private"},
    {"of a carrier", "{\"url\":\"http://100.64.0.1/\"}", FAILED, "carrier"},
    {"metadata", "{\"url\":\"http://169.254.169.254/latest/meta-data/\"}",
     FAILED, "is link-local"},
    {"metadata of IPv6", "{\"url\":\"http://[fd00:ec2::254]/\"}", FAILED,
     "is private"},
    {"multicast", "{\"url\":\"http://224.0.0.1/\"}", FAILED, "is multicast"},
    {"broadcast", "{\"url\":\"http://255.255.255.255/\"}", FAILED,
     "is broadcast"},
    {"octal", "{\"url\":\"http://0177.0.0.1:PORT/\"}", FAILED, "unusual"},
    {"short", "{\"url\":\"http://127.1:PORT/\"}", FAILED, "unusual"},
    {"one number", "{\"url\":\"http://2130706433:PORT/\"}", FAILED, "unusual"},
    {"the number nought", "{\"url\":\"http://0:PORT/\"}", FAILED, "unusual"},
};

/* The control: with it allowed, the same addresses are reached. */
static const struct row allowed[] = {
    {"control: loopback", "{\"url\":\"$/=text:1/\"}", OK, "0000000"},
    {"control: its name", "{\"url\":\"http://localhost:PORT/=text:1/\"}", OK,
     "0000000"},
    {"control: unspecified", "{\"url\":\"http://0.0.0.0:PORT/=text:1/\"}", OK,
     "0000000"},
    {"control: mapped", "{\"url\":\"http://[::ffff:7f00:1]:PORT/=text:1/\"}",
     OK, "0000000"},
};

/* Names mean what the test says; see name_help.h. */
static void test_names(void)
{
    static const struct {
        const char *why, *first, *network;
        wend_outcome outcome;
        const char *words;
        int good, bad;
    } rows[] = {
        {"a name for loopback", BAD, NULL, FAILED,
         ": its address 127.0.0.1 is loopback", 0, 0},
        {"a name for metadata", "169.254.169.254", NULL, FAILED,
         "is link-local", 0, 0},
        {"a name for both", BAD " 10.0.0.1", NULL, FAILED, "is private", 0, 0},
        {"one of its addresses is allowed", BAD " " GOOD, GOOD, OK, "page", 1,
         0},
        {"the name itself is allowed", BAD, "name.test", OK, "page", 0, 1},
        {"another name is", BAD, "test", FAILED, "is loopback", 0, 0},
        {"a range is", BAD, "127.0.0.0/8", OK, "page", 0, 1},
        {"no such name", "", NULL, FAILED, "could not resolve", 0, 0},
    };
    struct two_servers two = {.port = 0};
    char args[128];

    if (!tap_ok(two_start(&two), "two servers"))
        return;
    snprintf(args, sizeof args, "{\"url\":\"http://name.test:%d/\"}", two.port);
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct place p = {.network = rows[i].network};
        struct row row = {rows[i].why, args, rows[i].outcome, rows[i].words};
        int good = atomic_load(&two.good), bad = atomic_load(&two.bad);

        name_means(rows[i].first, NULL);
        check(&p, &row);
        tap_ok(atomic_load(&two.good) - good == rows[i].good &&
                   atomic_load(&two.bad) - bad == rows[i].bad,
               "%s: connections", rows[i].why);
    }
    two_stop(&two);
}

/* ---- Stopping ------------------------------------------------------------ */

/* How a call that would never end does. */
static void test_stop(struct test_server *server, bool cancel)
{
    struct rig r = {.err = {0}};
    struct buf script = {.mem = &rig_mem};
    const char *network[] = {"127.0.0.1"};
    struct result got = {.output = {.mem = &rig_mem}};
    const wend_event *ev;
    wend_run *run;

    buf_fmt(&script,
            "script:{\"turns\":[{\"calls\":[{\"name\":\"http_request\","
            "\"args\":{\"url\":\"http://127.0.0.1:%d/=hang:10/\"}}]},"
            "{\"text\":\"end\"}]}",
            server->port);
    r.agent_options.approve = WEND_APPROVE_ALL;
    r.agent_options.network = network;
    r.agent_options.network_count = 1;
    r.agent_options.limits.time_ms = cancel ? 0 : 2000;
    rig_open(&r, NULL, script.ptr);
    wend_agent_add_builtin(r.agent, "http_request", &r.err);
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK) {
        if (ev->type == WEND_CALL_START && cancel)
            wend_run_cancel(run);
        if (ev->type == WEND_CALL_END)
            take_result(ev, &got);
    }
    tap_is_str(wend_outcome_name(got.outcome), "canceled", "%s: outcome",
               cancel ? "cancel" : "the run's time");
    tap_ok(got.ms < 20000, "%s: at once, %lld ms",
           cancel ? "cancel" : "the run's time", (long long)got.ms);
    tap_ok(has_words(buf_view(&got.output),
                     cancel ? "stopped after" : "stopped after 10 bytes"),
           "%s: words", cancel ? "cancel" : "the run's time");
    wend_run_free(run);
    buf_free(&script);
    buf_free(&got.output);
    rig_close(&r);
}

static void check_all(const struct place *p, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(p, &rows[i]);
}

int main(void)
{
    struct test_server server;
    struct place open = {.server = &server, .network = "127.0.0.1:PORT"};
    struct place closed = {.server = &server};
    struct place wide = {.server = &server};

    if (!server_start(&server, true))
        return 1;
    setenv("SSL_CERT_FILE", server.ca, 1);
    check_all(&open, arguments, tap_count(arguments));
    check_all(&open, requests, tap_count(requests));
    check_all(&open, redirects, tap_count(redirects));
    wide.network = "127.0.0.1";
    check_all(&wide, secure, tap_count(secure));
    check_all(&closed, refused, tap_count(refused));
    check_all(&open, allowed, 2);
    wide.network = "0.0.0.0";
    check(&wide, &allowed[2]);
    wide.network = "::ffff:0:0/96";
    check(&wide, &allowed[3]);
    test_names();
    test_stop(&server, true);
    test_stop(&server, false);
    server_stop(&server);
    return tap_done();
}
