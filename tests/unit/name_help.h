/*
 * name_help.h - a resolver of the test's own, and two servers to tell apart.
 *
 * libcurl asks getaddrinfo of libc; a program that defines the function
 * itself is asked instead, also by libraries that it loads. So a name can
 * mean another address at every question, as with a hostile name server, and
 * nothing leaves this machine.
 *
 * Both servers listen on the same port, at GOOD and BAD; a test allows the
 * former only. Each answers every connection with one page.
 */
#ifndef TESTS_NAME_HELP_H
#define TESTS_NAME_HELP_H

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"

#define GOOD "127.0.0.2"
#define BAD "127.0.0.1"

enum { ANSWERS_MAX = 4 };

/* What the nth question is answered with: addresses with a space between.
 * NULL: as the one before. */
static const char *name_answers[ANSWERS_MAX];
static atomic_int name_questions;

static inline void name_means(const char *first, const char *second)
{
    name_answers[0] = first;
    name_answers[1] = second;
    atomic_store(&name_questions, 0);
}

static inline const char *name_answer(int question)
{
    if (question >= ANSWERS_MAX)
        question = ANSWERS_MAX - 1;
    while (question && !name_answers[question])
        question--;
    return name_answers[question];
}

struct name_node {
    struct addrinfo info;
    struct sockaddr_in addr;
};

__attribute__((visibility("default"))) int
getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
            struct addrinfo **out)
{
    const char *at = name_answer(atomic_fetch_add(&name_questions, 1));
    struct addrinfo **tail = out;

    (void)node, (void)hints;
    *out = NULL;
    while (at && *at) {
        struct name_node *n = calloc(1, sizeof *n);
        char text[INET_ADDRSTRLEN];
        size_t len = strcspn(at, " ");

        if (!n)
            abort();
        snprintf(text, sizeof text, "%.*s", (int)len, at);
        inet_pton(AF_INET, text, &n->addr.sin_addr);
        n->addr.sin_family = AF_INET;
        n->addr.sin_port = htons((uint16_t)(service ? atoi(service) : 0));
        n->info.ai_family = AF_INET;
        n->info.ai_socktype = SOCK_STREAM;
        n->info.ai_addrlen = sizeof n->addr;
        n->info.ai_addr = (struct sockaddr *)&n->addr;
        *tail = &n->info;
        tail = &n->info.ai_next;
        at += len + strspn(at + len, " ");
    }
    return *out ? 0 : EAI_NONAME;
}

__attribute__((visibility("default"))) void freeaddrinfo(struct addrinfo *list)
{
    for (struct addrinfo *next; list; list = next) {
        next = list->ai_next;
        free(list);
    }
}

struct two_servers {
    int port;
    int fds[2], stop[2];
    pthread_t thread;
    atomic_int good, bad; /* connections so far */
};

static inline int two_listen(const char *address, int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    inet_pton(AF_INET, address, &a.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 16)) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline void two_answer(int listener)
{
    static const char page[] = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
                               "page";
    int fd = accept(listener, NULL, NULL);
    char request[4096];

    if (fd < 0)
        return;
    while (read(fd, request, sizeof request) > 0)
        if (write(fd, page, sizeof page - 1) < 0)
            break;
    close(fd);
}

static inline void *two_serve(void *arg)
{
    struct two_servers *s = arg;
    struct pollfd p[3] = {{s->fds[0], POLLIN, 0},
                          {s->fds[1], POLLIN, 0},
                          {s->stop[0], POLLIN, 0}};

    while (poll(p, 3, -1) > 0 && !p[2].revents)
        for (int i = 0; i < 2; i++)
            if (p[i].revents) {
                atomic_fetch_add(i ? &s->bad : &s->good, 1);
                two_answer(s->fds[i]);
            }
    return NULL;
}

static inline bool two_start(struct two_servers *s)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;

    for (int i = 0; i < 20; i++) { /* the port may be taken at the other */
        s->fds[0] = two_listen(GOOD, 0);
        if (s->fds[0] < 0)
            return false;
        getsockname(s->fds[0], (struct sockaddr *)&a, &len);
        s->port = ntohs(a.sin_port);
        s->fds[1] = two_listen(BAD, s->port);
        if (s->fds[1] >= 0)
            return !pipe(s->stop) &&
                   !pthread_create(&s->thread, NULL, two_serve, s);
        close(s->fds[0]);
    }
    return false;
}

static inline void two_stop(struct two_servers *s)
{
    close(s->stop[1]);
    pthread_join(s->thread, NULL);
    close(s->stop[0]);
    close(s->fds[0]);
    close(s->fds[1]);
}

#endif
