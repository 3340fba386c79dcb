/*
 * test_http_memory.c - every allocation of a run with a model over HTTP may
 * fail, also in the middle of an answer that is being read.
 */
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "fault.h"
#include "run_help.h"

static const char streamed[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    "Connection: close\r\n\r\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one \"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"two \"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"three\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},"
    "\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

static const char whole[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    "Connection: close\r\n\r\n"
    "{\"choices\":[{\"index\":0,\"finish_reason\":\"stop\","
    "\"message\":{\"content\":\"one two three\"}}]}";

static const char *_Atomic answer;
static atomic_int requests;

/* Says the same to everyone, until the socket is shut down. */
static void *serve(void *arg)
{
    int fd = *(int *)arg, peer;
    char request[8192];
    size_t len;
    ssize_t n;

    while ((peer = accept(fd, NULL, NULL)) >= 0) {
        for (len = 0; len < sizeof request - 1; len += (size_t)n) {
            n = read(peer, request + len, sizeof request - 1 - len);
            if (n <= 0)
                break;
            request[len + (size_t)n] = 0;
            if (strstr(request, "\r\n\r\n{") && strchr(request, '}'))
                break;
        }
        atomic_fetch_add(&requests, 1);
        n = send(peer, answer, strlen(answer), MSG_NOSIGNAL);
        shutdown(peer, SHUT_WR);
        while (read(peer, request, sizeof request) > 0)
            continue;
        close(peer);
    }
    return NULL;
}

static int listen_here(char url[64])
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 16) ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        return -1;
    snprintf(url, 64, "http://127.0.0.1:%d/v1", ntohs(at.sin_port));
    return fd;
}

static wend_status whole_run(struct fault *f, const char *url)
{
    wend_runtime_options ro = {
        .size = sizeof ro, .alloc = fault_alloc, .alloc_ctx = f};
    wend_agent_options ao = {
        .size = sizeof ao, .model = "openai:x", .base_url = url};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    wend_str text = STR_NONE;
    wend_status s = wend_runtime_new(&ro, &rt, NULL);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &ao, &agent, NULL);
    if (s == WEND_OK)
        s = wend_run_start(agent, STR("go"), NULL, &run, NULL);
    if (s == WEND_OK)
        s = wend_run_wait(run, &text);
    if (s == WEND_OK && !str_eq(text, STR("one two three")))
        s = WEND_E_CORRUPT;
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s;
}

/* Want of memory is never taken for a server's mistake, which would be
 * asked again. */
static void test_answer(const char *said, const char *url, const char *why)
{
    struct fault f = {0};
    int bad = 0, rounds = 0;

    answer = said;
    while (fault_next(&f)) {
        wend_status s;

        requests = 0;
        s = whole_run(&f, url);
        rounds++;
        if (f.live || requests > 1 || (s != WEND_OK && s != WEND_E_NOMEM)) {
            bad++;
            printf("# allocation %lld: %s, %d requests, %lld not freed\n",
                   (long long)f.fail_at, wend_status_name(s), requests,
                   (long long)f.live);
        }
    }
    tap_is_i64(bad, 0, "%s: each of %d allocations failed once", why, rounds);
}

int main(void)
{
    char url[64];
    int fd = listen_here(url);
    pthread_t thread;

    if (!tap_ok(fd >= 0 && !pthread_create(&thread, NULL, serve, &fd),
                "a server"))
        return tap_done();
    test_answer(streamed, url, "in pieces");
    test_answer(whole, url, "at once");
    shutdown(fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(fd);
    return tap_done();
}
