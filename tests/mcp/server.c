/*
 * server.c - a server of tools (MCP) for tests, with bad manners on demand.
 *
 *   wend-test-mcp MODE          on standard input and output
 *   wend-test-mcp MODE --http   on 127.0.0.1; prints its port
 *
 * Requests are searched, not parsed: they are wend's own, whose form is
 * known. Its tools are `echo`, which gives its arguments back (in mode raw, as
 * the whole result), and `wait`, which never answers.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MAX = 1 << 20, HUGE_BYTES = 17 << 20, MANY = 3000 };

/* How an answer goes out. */
struct out {
    FILE *file;
    bool http, events; /* over HTTP; as a stream of events */
};

static const char *mode;
static int requests; /* of this process */

static bool is(const char *name)
{
    return !strcmp(mode, name);
}

/* ---- Messages ------------------------------------------------------------ */

static void put(struct out *o, const char *text)
{
    if (o->http && o->events)
        fprintf(o->file, "data: %s\n\n", text);
    else
        fprintf(o->file, "%s\n", text);
    fflush(o->file);
}

static void head(struct out *o, int status, const char *more)
{
    if (!o->http)
        return;
    fprintf(o->file,
            "HTTP/1.1 %d X\r\nConnection: close\r\nContent-Type: %s\r\n%s\r\n",
            status, o->events ? "text/event-stream" : "application/json", more);
}

static void result(struct out *o, const char *id, const char *value)
{
    static char text[REQUEST_MAX * 2];

    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}",
             id, value);
    put(o, text);
}

static void error(struct out *o, const char *id, int code)
{
    char text[200];

    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,"
             "\"message\":\"no\"}}",
             id, code);
    put(o, text);
}

/* The JSON value behind `"key":`, up to the brace or comma that ends it. */
static void value_of(const char *request, const char *key, char *out,
                     size_t size)
{
    const char *p = strstr(request, key), *from;
    int depth = 0;
    bool quoted = false;

    *out = 0;
    if (!p)
        return;
    p += strlen(key);
    for (from = p; *p; p++) {
        if (*p == '"' && p[-1] != '\\')
            quoted = !quoted;
        if (quoted)
            continue;
        if ((*p == ',' || *p == '}') && !depth)
            break;
        depth += (*p == '{') - (*p == '}');
    }
    snprintf(out, size, "%.*s", (int)(p - from), from);
}

/* `s` as what stands between the quotes of a JSON string. */
static void quote(const char *s, char *out, size_t size)
{
    size_t n = 0;

    for (; *s && n + 3 < size; s++) {
        if (*s == '"' || *s == '\\')
            out[n++] = '\\';
        out[n++] = (unsigned char)*s < 0x20 ? ' ' : *s;
    }
    out[n] = 0;
}

static void text_result(struct out *o, const char *id, const char *words)
{
    static char quoted[REQUEST_MAX], value[REQUEST_MAX + 200];

    quote(words, quoted, sizeof quoted);
    snprintf(value, sizeof value,
             "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\","
             "\"text\":\"%s\"}]}",
             quoted);
    result(o, id, value);
}

/* ---- Tools --------------------------------------------------------------- */

#define OBJECT "\"inputSchema\":{\"type\":\"object\"}"

static void list(struct out *o, const char *id)
{
    char words[200] = "gives back what it gets", value[1000];
    const char *secret = getenv("WEND_TEST_GRANTED");
    FILE *f = is("changed") ? fopen("words", "r") : NULL;

    if (is("environment") && secret)
        snprintf(words, sizeof words, "knows %s", secret);
    if (f && !fgets(words, sizeof words, f))
        words[0] = 0;
    if (f)
        fclose(f);
    snprintf(value, sizeof value,
             "{\"tools\":[{\"name\":\"echo\",\"description\":\"%s\",%s,"
             "\"annotations\":{\"readOnlyHint\":true}},"
             "{\"name\":\"wait\"," OBJECT "}%s],\"ttlMs\":0,"
             "\"cacheScope\":\"public\"}",
             words,
             is("param") ? "\"inputSchema\":{\"type\":\"object\","
                           "\"properties\":{\"r\":{\"type\":\"string\","
                           "\"x-mcp-header\":\"R\"}}}"
                         : OBJECT,
             is("odd") ? ",{\"name\":\"a b\xc3\xa4\"," OBJECT
                         "},{\"name\":\"far\",\"inputSchema\":{\"$ref\":"
                         "\"http://127.0.0.1:1/x\"}},{\"name\":7}"
                       : "");
    result(o, id, value);
}

static void flood(struct out *o)
{
    for (;;)
        put(o, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
               "\"params\":{\"level\":\"info\",\"data\":\"blah blah blah\"}}");
}

static void huge(struct out *o)
{
    fputs(o->http ? "data: \"" : "\"", o->file);
    for (int i = 0; i < HUGE_BYTES; i++)
        putc('x', o->file);
    put(o, "\"");
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

/* What the other side answers to requests of ours. */
static void ask_back(struct out *o, const char *id)
{
    char line[REQUEST_MAX / 16], said[REQUEST_MAX / 4] = "";
    size_t n = 0;

    put(o, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
    put(o, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":"
           "\"sampling/createMessage\",\"params\":{}}");
    for (int i = 0; i < 2 && fgets(line, sizeof line, stdin); i++)
        n += (size_t)snprintf(said + n, sizeof said - n, "%s", line);
    for (char *p = said; *p; p++)
        if (*p == '\n')
            *p = ' ';
    text_result(o, id, said);
}

static void environment(struct out *o, const char *id)
{
    extern char **environ;
    static char all[REQUEST_MAX / 2];
    size_t n = 0;

    for (char **e = environ; *e && n < sizeof all; e++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s ", *e);
    text_result(o, id, all);
}

static void progress(struct out *o, const char *id, int count)
{
    char text[200];

    for (int i = 1; i <= count; i++) {
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                 "\"params\":{\"progressToken\":%s,\"progress\":%d}}",
                 id, i);
        put(o, text);
    }
}

static void cut(struct out *o, const char *id)
{
    fprintf(o->file, "%s{\"jsonrpc\":\"2.0\",\"id\":%s,\"res",
            o->http ? "data: " : "", id);
    fflush(o->file);
    _exit(3);
}

static void call(struct out *o, const char *id, const char *request,
                 const char *headers)
{
    static char args[REQUEST_MAX];

    value_of(request, "\"arguments\":", args, sizeof args);
    o->events = o->http && !is("json");
    head(o, 200, "");
    if (strstr(request, "\"name\":\"wait\"") || is("silent"))
        wait_for_ever();
    if (is("flood"))
        flood(o);
    if (is("huge"))
        huge(o);
    if (is("cut"))
        cut(o, id);
    if (is("crash") || (is("crash-once") && access("crashed", F_OK))) {
        fclose(fopen("crashed", "w"));
        fprintf(stderr, "some words\nSegmentation what?%s\n",
                getenv("WEND_TEST_GRANTED") ? getenv("WEND_TEST_GRANTED") : "");
        _exit(3);
    }
    if (is("twice"))
        text_result(o, id, "first");
    if (is("other"))
        text_result(o, "99", "wrong");
    if (is("asks"))
        ask_back(o, id);
    else if (is("environment"))
        environment(o, id);
    else if (is("progress"))
        progress(o, id, MANY);
    if (is("noise"))
        put(o, o->http ? "noise" : "noise\n\n[]\n7");
    if (is("param"))
        text_result(o, id, headers);
    else if (is("raw"))
        result(o, id, args);
    else if (is("utf8"))
        text_result(o, id, "a\xff\xc0z");
    else
        text_result(o, id, args);
}

/* ---- Requests ------------------------------------------------------------ */

static bool is_modern(void)
{
    static const char *const legacy[] = {"legacy", "crash-probe", "mute",
                                         "asks",   "session",     "resume",
                                         "json",   "expired"};

    for (size_t i = 0; i < sizeof legacy / sizeof *legacy; i++)
        if (is(legacy[i]))
            return false;
    return true;
}

/* A server that has only heard of initialize. */
static void refuse_probe(struct out *o, const char *id)
{
    if (is("crash-probe"))
        _exit(1);
    if (is("mute"))
        wait_for_ever();
    head(o, 400, "");
    error(o, id, -32601);
}

static void answer(struct out *o, const char *request, const char *headers)
{
    char id[100];

    value_of(request, "\"id\":", id, sizeof id);
    requests++;
    if (is("dead"))
        wait_for_ever();
    if (is("closed")) {
        head(o, 401, "");
        return;
    }
    if (!id[0]) {
        head(o, 202, "");
    } else if (strstr(request, "\"server/discover\"")) {
        if (!is_modern()) {
            refuse_probe(o, id);
            return;
        }
        head(o, 200, "");
        result(o, id,
               "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{"
               "\"tools\":{}},\"ttlMs\":0,\"cacheScope\":\"public\"}");
    } else if (strstr(request, "\"initialize\"")) {
        head(o, 200,
             is("session") || is("expired") ? "Mcp-Session-Id: s-1\r\n" : "");
        result(o, id,
               "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{"
               "\"tools\":{}},\"serverInfo\":{\"name\":\"t\",\"version\":"
               "\"1\"}}");
    } else if (strstr(request, "\"tools/list\"")) {
        head(o, 200, "");
        list(o, id);
    } else {
        call(o, id, request, headers);
    }
}

/* ---- HTTP ---------------------------------------------------------------- */

/* Reads one request; its body begins behind the empty line. */
static char *read_request(int fd, char *room)
{
    size_t have = 0, want = 0;
    char *body = NULL, *length;
    ssize_t n;

    while (!body || (size_t)(room + have - body) < want) {
        n = read(fd, room + have, REQUEST_MAX - 1 - have);
        if (n <= 0)
            return NULL;
        have += (size_t)n;
        room[have] = 0;
        body = strstr(room, "\r\n\r\n");
        if (!body)
            continue;
        body += 4;
        length = strcasestr(room, "content-length:");
        want = length && length < body ? strtoul(length + 15, NULL, 10) : 0;
    }
    body[-2] = 0; /* the head ends here */
    return body;
}

/* A stream that ends early, and goes on where it is asked for again. */
static void resume(struct out *o, const char *headers, const char *request)
{
    o->events = true;
    head(o, 200, "");
    if (!strncmp(headers, "GET", 3)) {
        text_result(o, "4",
                    strcasestr(headers, "last-event-id: e1\r\n") ? "resumed"
                                                                 : "what?");
        return;
    }
    (void)request;
    fputs("id: e1\nretry: 30\ndata: \n\n", o->file);
    fflush(o->file);
}

static void serve(int fd)
{
    static char room[REQUEST_MAX];
    char *body = read_request(fd, room);
    struct out o = {.file = fdopen(fd, "w"), .http = true};

    if (!body || !o.file)
        _exit(1);
    if (!strncmp(room, "DELETE", 6)) {
        fclose(fopen("deleted", "w"));
        head(&o, 200, "");
    } else if (is("status")) {
        head(&o, 503, "");
        put(&o, "busy with other things");
    } else if (is("session") && !strstr(body, "\"initialize\"") &&
               !strstr(body, "server/discover") &&
               !strcasestr(room, "mcp-session-id: s-1\r\n")) {
        head(&o, 400, "");
    } else if (is("expired") && strstr(body, "tools/call") &&
               access("expired", F_OK)) {
        fclose(fopen("expired", "w"));
        head(&o, 404, "");
    } else if (is("revoked") && strstr(body, "tools/call")) {
        head(&o, 401, "");
    } else if (is("hangs-up") && strstr(body, "tools/call")) {
        ; /* without an answer */
    } else if (is("resume") && (strstr(body, "tools/call") || room[0] == 'G')) {
        resume(&o, room, body);
    } else {
        answer(&o, body, room);
    }
    fclose(o.file);
    _exit(0);
}

/* The end of standard input is the end of it all. */
static void watch_input(void)
{
    char byte;

    if (fork())
        return;
    while (read(0, &byte, 1) > 0)
        ;
    kill(getppid(), SIGTERM);
    _exit(0);
}

static int serve_http(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one;

    if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) || listen(fd, 64) ||
        getsockname(fd, (struct sockaddr *)&a, &len))
        return 1;
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    signal(SIGCHLD, SIG_IGN);
    watch_input();
    for (;;) {
        one = accept(fd, NULL, NULL);
        if (one >= 0 && !fork()) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(fd);
            serve(one);
        }
        if (one >= 0)
            close(one);
    }
}

int main(int argc, char **argv)
{
    static char line[REQUEST_MAX];
    struct out o = {.file = stdout};

    if (argc < 2)
        return 2;
    mode = argv[1];
    if (argc > 2 && !strcmp(argv[2], "--http"))
        return serve_http();
    if (is("late"))
        sleep(1);
    while (fgets(line, sizeof line, stdin))
        answer(&o, line, "");
    return 0;
}
