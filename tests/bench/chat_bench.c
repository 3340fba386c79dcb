/*
 * chat_bench.c - how long a piece of an answer takes to the terminal.
 *
 *     chat-bench WEND N     one JSON line
 *
 * It is the model's server and the terminal at once: it sends a word, waits
 * until `wend chat` has written it, and sends the next one.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 20000, SCREEN = 1 << 16 };

static int terminal = -1;
static char shown[SCREEN + 1]; /* the newest bytes */
static size_t shown_len;

static void die(const char *what)
{
    fprintf(stderr, "chat-bench: %s; the terminal shows: %s\n", what, shown);
    exit(1);
}

static double now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void wait_for(const char *text)
{
    struct pollfd p = {.fd = terminal, .events = POLLIN};

    while (!strstr(shown, text)) {
        ssize_t n;

        if (shown_len > SCREEN / 2) {
            shown_len = 100; /* a text may be in two pieces */
            memmove(shown, shown + SCREEN / 2 - 100, shown_len);
        }
        if (poll(&p, 1, WAIT_MS) != 1)
            die(text);
        n = read(terminal, shown + shown_len, SCREEN - shown_len);
        if (n <= 0)
            die(text);
        shown_len += (size_t)n;
        shown[shown_len] = 0;
    }
}

static void forget_shown(void)
{
    shown_len = 0;
    shown[0] = 0;
}

static void send_all(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        die("the command does not read");
}

/* A server's door; its address goes to url. */
static int open_door(char *url, size_t size)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(door, (struct sockaddr *)&a, sizeof a) || listen(door, 1) ||
        getsockname(door, (struct sockaddr *)&a, &len))
        die("no door");
    snprintf(url, size, "http://127.0.0.1:%d/v1", ntohs(a.sin_port));
    return door;
}

static pid_t start(const char *command, const char *url)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    pid_t pid = forkpty(&terminal, NULL, NULL, &size);

    if (!pid) {
        setenv("OPENAI_API_KEY", "sk-bench", 1);
        setenv("TERM", "xterm", 1);
        execl(command, command, "chat", "--store", "memory:", "-m", "openai:x",
              "--base-url", url, (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* The request is small: its end comes with the rest of it, or soon after. */
static int take_request(int door)
{
    struct pollfd p = {.fd = door, .events = POLLIN};
    char bytes[4096];
    int fd;

    if (poll(&p, 1, WAIT_MS) != 1)
        die("no request");
    fd = accept(door, NULL, NULL);
    if (fd < 0 || read(fd, bytes, sizeof bytes) <= 0)
        die("no request");
    send_all(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                 "Connection: close\r\n\r\n");
    return fd;
}

static double one_word(int fd, int number)
{
    char word[16], event[200];
    double began;

    /* As tokens of models are: nothing says that the word is whole. */
    snprintf(word, sizeof word, "w%05d", number);
    snprintf(event, sizeof event,
             "data: {\"choices\":[{\"index\":0,\"delta\":"
             "{\"content\":\" %s\"}}]}\n\n",
             word);
    forget_shown();
    began = now_us();
    send_all(fd, event);
    wait_for(word);
    return now_us() - began;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[2]) : 0, door, fd;
    double *each = calloc((size_t)count + 1, sizeof *each);
    char url[64];
    pid_t pid;

    if (!each || count < 1) {
        fprintf(stderr, "usage: chat-bench WEND N\n");
        return 2;
    }
    door = open_door(url, sizeof url);
    pid = start(argv[1], url);
    wait_for("> ");
    send_all(terminal, "go\r");
    fd = take_request(door);
    for (int i = 0; i < count; i++) {
        each[i] = one_word(fd, i);
        usleep(20000); /* as a model does: the next one comes later */
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    qsort(each, (size_t)count, sizeof *each, by_size);
    printf("{\"deltas\":%d,\"best_us\":%.0f,\"median_us\":%.0f,"
           "\"worst_us\":%.0f}\n",
           count, each[0], each[count / 2], each[count - 1]);
    free(each);
    return 0;
}
