/*
 * 03_foreign_loop.c - a run inside a loop of your own. epoll watches the
 * runtime's fd beside a timer of ours; nothing here ever blocks elsewhere.
 *
 *     cc 03_foreign_loop.c $(pkg-config --cflags --libs wend) -o loop && ./loop
 */
#define _POSIX_C_SOURCE 200809L /* for clocks, also with -std=c11 */
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <wend.h>

static const char model[] =
    "script:{\"turns\":[{\"text\":\"One loop for everything.\","
    "\"delay\":\"20ms\"}]}";

static int watch(int epoll, int fd)
{
    struct epoll_event ev = {.events = EPOLLIN, .data = {.fd = fd}};

    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev);
}

/* Pumps when the fd or the timeout says so, then takes what there is. */
static wend_status loop(wend_runtime *rt, wend_run *run, int epoll, int *ticks)
{
    struct itimerspec every = {{0, 10000000}, {0, 10000000}};
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    wend_status s = WEND_E_IO;
    const wend_event *ev;
    struct epoll_event ready;
    uint64_t times;

    if (timer >= 0 && timerfd_settime(timer, 0, &every, NULL) == 0 &&
        watch(epoll, timer) == 0 && watch(epoll, wend_runtime_fd(rt)) == 0)
        s = WEND_AGAIN;
    while (s == WEND_AGAIN) {
        int n = epoll_wait(epoll, &ready, 1, wend_runtime_timeout_ms(rt));

        if (n == 1 && ready.data.fd == timer)
            *ticks += read(timer, &times, sizeof times) > 0;
        s = wend_runtime_pump(rt);
        while (s == WEND_OK && (s = wend_run_poll(run, &ev)) == WEND_OK)
            if (ev->type == WEND_TEXT_DELTA)
                printf("%.*s", (int)ev->u.text_delta.text.len,
                       ev->u.text_delta.text.ptr);
    }
    close(timer);
    return s;
}

int main(void)
{
    wend_agent_options options = {.size = sizeof options, .model = model};
    wend_str prompt = {"Say something.", 14};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    int ticks = 0, epoll = epoll_create1(0);
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &options, &agent, &err);
    if (s == WEND_OK)
        s = wend_run_start(agent, prompt, NULL, &run, &err);
    if (s == WEND_OK)
        s = loop(rt, run, epoll, &ticks);
    printf("\nour own timer ticked meanwhile: %s\n", ticks ? "yes" : "no");
    if (s != WEND_END)
        fprintf(stderr, "%s: %s\n", wend_status_name(s), err.message);
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    close(epoll);
    return s != WEND_END;
}
