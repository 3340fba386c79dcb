/*
 * raw_client.c - the least a client can do: what speed is compared with.
 *
 *     raw-client PORT SCENARIO [TURNS]
 *
 * Speaks Chat Completions to the test server on a kept-alive connection with
 * blocking sends and reads, looks for the text of deltas in the bytes as they
 * come, and understands nothing else. With TURNS it answers so many turns
 * with the results of their calls and sends the grown history each time, as
 * the protocol demands. Prints one JSON line, with the CPU of turns 100 to
 * 150 and 950 to 1,000 if it came so far.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_BYTES = 64 << 10,
    HISTORY_BYTES = 64 << 20, /* far above a thousand turns */
    TURNS_MAX = 10000,
    CALLS_MAX = 64, /* of one turn */
    WINDOW = 50,
};

static const char text_mark[] = "\"content\":\"";
static const char id_mark[] = "\"id\":\"call";
static const char body_tail[] =
    "],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"noop\","
    "\"description\":\"does nothing\",\"parameters\":{\"type\":\"object\","
    "\"properties\":{\"i\":{\"type\":\"integer\"},\"turn\":{\"type\":"
    "\"integer\"}}}}}],\"stream\":true,"
    "\"stream_options\":{\"include_usage\":true}}";

struct client {
    int fd;
    const char *scenario;
    char *history;
    size_t history_len;
    char in[READ_BYTES + 1];
    long deltas, chars;
    long calls; /* of this turn */
    char ids[CALLS_MAX][64];
};

static double clock_us(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void open_connection(struct client *c, int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;

    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof a))
        die("raw-client: connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void send_request(struct client *c)
{
    char head[512], begin[512];
    int begin_len = snprintf(begin, sizeof begin,
                             "{\"model\":\"%s\",\"messages\":[", c->scenario);
    size_t body_len = (size_t)begin_len + c->history_len + sizeof body_tail - 1;
    int head_len =
        snprintf(head, sizeof head,
                 "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                 "Content-Type: application/json\r\n"
                 "Content-Length: %zu\r\n\r\n",
                 body_len);
    struct iovec parts[] = {
        {head, (size_t)head_len},
        {begin, (size_t)begin_len},
        {c->history, c->history_len},
        {(char *)(uintptr_t)body_tail, sizeof body_tail - 1}};
    struct iovec *at = parts;
    int left = 4;

    while (left) {
        ssize_t n = writev(c->fd, at, left);

        if (n <= 0)
            die("raw-client: write");
        for (; left && (size_t)n >= at->iov_len; at++, left--)
            n -= (ssize_t)at->iov_len;
        if (left) {
            at->iov_base = (char *)at->iov_base + n;
            at->iov_len -= (size_t)n;
        }
    }
}

/* Takes what is whole of the bytes; returns where the rest begins. */
static char *find_pieces(struct client *c, char *p, char *end)
{
    char *lf;

    for (; (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1) {
        char *at = memmem(p, (size_t)(lf - p), text_mark, sizeof text_mark - 1);
        char *quote;

        if (at) {
            at += sizeof text_mark - 1;
            quote = memchr(at, '"', (size_t)(lf - at));
            c->deltas++;
            c->chars += quote ? quote - at : 0;
            continue;
        }
        at = memmem(p, (size_t)(lf - p), id_mark, sizeof id_mark - 1);
        if (at && c->calls < CALLS_MAX) {
            at += 6;
            quote = memchr(at, '"', (size_t)(lf - at));
            if (quote && quote - at < 64) {
                memcpy(c->ids[c->calls], at, (size_t)(quote - at));
                c->ids[c->calls++][quote - at] = 0;
            }
        }
    }
    return p;
}

/* Until the last chunk, which is empty. */
static void read_answer(struct client *c)
{
    static const char last[] = "\r\n0\r\n\r\n";
    size_t kept = 0;

    c->calls = 0;
    for (;;) {
        ssize_t n = read(c->fd, c->in + kept, READ_BYTES - kept);
        char *end = c->in + kept + n, *rest;
        bool over;

        if (n <= 0)
            die("raw-client: read");
        over = (size_t)(end - c->in) >= sizeof last - 1 &&
               !memcmp(end - (sizeof last - 1), last, sizeof last - 1);
        rest = find_pieces(c, c->in, end);
        if (over)
            return;
        kept = (size_t)(end - rest);
        memmove(c->in, rest, kept);
    }
}

static void add(struct client *c, const char *text)
{
    size_t len = strlen(text);

    if (len > HISTORY_BYTES - c->history_len) {
        fputs("raw-client: the history is too long\n", stderr);
        exit(1);
    }
    memcpy(c->history + c->history_len, text, len);
    c->history_len += len;
}

/* The calls of this turn and their results. */
static void add_turn(struct client *c, int turn)
{
    char args[96];

    add(c, ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[");
    for (int i = 0; i < c->calls; i++) {
        snprintf(args, sizeof args, "{\\\"i\\\":%d,\\\"turn\\\":%d}", i, turn);
        add(c, i ? ",{\"id\":\"" : "{\"id\":\"");
        add(c, c->ids[i]);
        add(c, "\",\"type\":\"function\",\"function\":{\"name\":\"noop\","
               "\"arguments\":\"");
        add(c, args);
        add(c, "\"}}");
    }
    add(c, "]}");
    for (int i = 0; i < c->calls; i++) {
        add(c, ",{\"role\":\"tool\",\"tool_call_id\":\"");
        add(c, c->ids[i]);
        add(c, "\",\"content\":\"ok\"}");
    }
}

static double window_us(const double *turn_cpu, int turns, int from)
{
    return turns >= from + WINDOW
               ? (turn_cpu[from + WINDOW] - turn_cpu[from]) / WINDOW
               : 0;
}

int main(int argc, char **argv)
{
    static struct client c;
    static double turn_cpu[TURNS_MAX + 1];
    int turns = argc > 3 ? atoi(argv[3]) : 0;

    if (argc < 3 || turns < 0 || turns > TURNS_MAX) {
        fputs("usage: raw-client PORT SCENARIO [TURNS]\n", stderr);
        return 2;
    }
    c.scenario = argv[2];
    c.history = malloc(HISTORY_BYTES);
    if (!c.history)
        die("raw-client");
    add(&c, "{\"role\":\"user\",\"content\":\"go\"}");
    open_connection(&c, atoi(argv[1]));
    for (int turn = 0; turn <= turns; turn++) {
        turn_cpu[turn] = clock_us(CLOCK_PROCESS_CPUTIME_ID);
        send_request(&c);
        read_answer(&c);
        if (turn < turns)
            add_turn(&c, turn);
    }
    printf("{\"deltas\":%ld,\"chars\":%ld,\"cpu_us\":%.0f,"
           "\"turn_125_us\":%.2f,\"turn_975_us\":%.2f}\n",
           c.deltas, c.chars, clock_us(CLOCK_PROCESS_CPUTIME_ID),
           window_us(turn_cpu, turns, 100), window_us(turn_cpu, turns, 950));
    return 0;
}
