/*
 * 14_server.c - a server inside a program: it listens on any free port, serves
 * one agent, and is asked by the program itself over a plain socket. A host
 * with a loop of its own waits for the descriptor of the runtime, as main does
 * here.
 *
 *     cc 14_server.c $(pkg-config --cflags --libs wend) -o server && ./server
 */
#define _POSIX_C_SOURCE 200809L /* poll, sockets */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wend.h>
#include <wend_server.h>

#define TOKEN "a-secret-of-16-bytes-or-more"

/* Sends the request; the server reads it when the runtime is pumped. */
static int ask(const char *url)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    const char *port = strrchr(url, ':') + 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char text[400];
    int len = snprintf(text, sizeof text,
                       "POST /v1/chat/completions HTTP/1.1\r\n"
                       "Host: 127.0.0.1:%s\r\n"
                       "Authorization: Bearer " TOKEN "\r\n"
                       "Content-Type: application/json\r\n"
                       "Content-Length: 55\r\n"
                       "Connection: close\r\n\r\n"
                       "{\"messages\":[{\"role\":\"user\","
                       "\"content\":\"What is 6*7?\"}]}",
                       port);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((unsigned short)atoi(port));
    if (fd >= 0 && (connect(fd, (struct sockaddr *)&at, sizeof at) < 0 ||
                    write(fd, text, (size_t)len) != len)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Pumps the runtime until the server has closed the connection. */
static wend_status serve_until_answer(wend_runtime *rt, int fd, char *text,
                                      size_t size)
{
    struct pollfd fds[2] = {{.fd = wend_runtime_fd(rt), .events = POLLIN},
                            {.fd = fd, .events = POLLIN}};
    size_t len = 0;

    for (;;) {
        wend_status s;
        ssize_t n = 1;

        poll(fds, 2, wend_runtime_timeout_ms(rt));
        s = wend_runtime_pump(rt);
        if (s != WEND_OK)
            return s;
        if (fds[1].revents)
            n = read(fd, text + len, size - 1 - len);
        if (n <= 0)
            return n < 0 ? WEND_E_IO : WEND_OK;
        len += fds[1].revents ? (size_t)n : 0;
        text[len] = 0;
    }
}

int main(void)
{
    wend_agent_options agent_options = {
        .size = sizeof agent_options,
        .model = "script:{\"turns\":[{\"text\":\"It is 42.\"}]}",
    };
    wend_server_options options = {
        .size = sizeof options, .listen = "127.0.0.1:0", .token = TOKEN};
    wend_server_agent served = {.size = sizeof served, .name = "clerk"};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_server *server = NULL;
    static char text[1 << 14];
    const char *content;
    int fd = -1;
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &agent_options, &agent, &err);
    if (s == WEND_OK)
        s = wend_server_new(rt, &options, &server, &err);
    served.agent = agent;
    if (s == WEND_OK)
        s = wend_server_add_agent(server, &served, &err);
    if (s == WEND_OK)
        fd = ask(wend_server_url(server));
    if (fd >= 0)
        s = serve_until_answer(rt, fd, text, sizeof text);
    content = strstr(text, "\"content\":");
    if (s == WEND_OK && content)
        printf("%.15s\n%.21s\n", text, content);
    else
        fprintf(stderr, "%s\n%s\n", err.message, text);
    if (fd >= 0)
        close(fd);
    wend_server_free(server);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s != WEND_OK || !content;
}
