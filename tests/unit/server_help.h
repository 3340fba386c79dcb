/*
 * server_help.h - runs wend-test-server as a child, with certificates.
 *
 * The child lives until server_stop, or until this process is gone: its
 * standard input ends then.
 */
#ifndef TESTS_SERVER_HELP_H
#define TESTS_SERVER_HELP_H

#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

struct test_server {
    pid_t pid;
    int port, tls_port;
    int third_port; /* of tests/server/http2.js */
    FILE *in;       /* its standard input */
    char dir[64];   /* for the socket and the certificates */
    char unix_path[96], ca[96], log[96];
};

/* Where the programs of this variant are. */
static inline void server_program(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 32);
    char *slash;

    out[n > 0 ? n : 0] = 0;
    slash = strrchr(out, '/');
    snprintf(slash ? slash + 1 : out, 32, "wend-test-server");
}

/* ca.pem signs server.pem, which is for localhost, and not for 127.0.0.1;
 * other.pem signs nothing. */
static inline bool server_certificates(const char *dir)
{
    static const char script[] =
        "cd '%s' && exec 2>openssl.log && new='-newkey ec -pkeyopt "
        "ec_paramgen_curve:prime256v1 -nodes -days 2' &&\n"
        "for ca in ca other; do\n"
        "openssl req -x509 $new -keyout $ca.key -out $ca.pem "
        "-subj /CN=$ca || exit 1\n"
        "done\n"
        "echo subjectAltName=DNS:localhost >names &&\n"
        "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
        "-keyout server.key -out server.csr -subj /CN=localhost &&\n"
        "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key "
        "-CAcreateserial -days 2 -extfile names -out server.pem\n";
    char command[1024];

    snprintf(command, sizeof command, script, dir);
    return system(command) == 0;
}

static inline bool server_spawn(struct test_server *s, char **argv)
{
    extern char **environ;
    posix_spawn_file_actions_t a;
    int in[2], out[2];
    char line[32];
    FILE *ports;
    bool ok;

    if (pipe(in) || pipe(out))
        return false;
    posix_spawn_file_actions_init(&a);
    posix_spawn_file_actions_adddup2(&a, in[0], 0);
    posix_spawn_file_actions_adddup2(&a, out[1], 1);
    for (size_t i = 0; i < 2; i++) {
        posix_spawn_file_actions_addclose(&a, in[i]);
        posix_spawn_file_actions_addclose(&a, out[i]);
    }
    ok = posix_spawnp(&s->pid, argv[0], &a, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&a);
    close(in[0]);
    close(out[1]);
    s->in = fdopen(in[1], "w");
    ports = fdopen(out[0], "r");
    ok = ok && fgets(line, sizeof line, ports) &&
         sscanf(line, "%d %d %d", &s->port, &s->tls_port, &s->third_port) >= 1;
    fclose(ports);
    return ok;
}

static inline bool server_start(struct test_server *s, bool tls)
{
    char program[PATH_MAX], cert[96], key[96];
    const char *tmp = getenv("TMPDIR");
    char *argv[] = {program,
                    (char[]){"--until-eof"},
                    (char[]){"--unix"},
                    s->unix_path,
                    (char[]){"--log"},
                    s->log,
                    tls ? (char[]){"--tls"} : NULL,
                    cert,
                    key,
                    NULL};

    *s = (struct test_server){0};
    snprintf(s->dir, sizeof s->dir, "%s/wend-server-XXXXXX",
             tmp && strlen(tmp) < 32 ? tmp : "/tmp");
    if (!mkdtemp(s->dir))
        return false;
    server_program(program);
    snprintf(s->unix_path, sizeof s->unix_path, "%s/socket", s->dir);
    snprintf(s->log, sizeof s->log, "%s/log", s->dir);
    snprintf(s->ca, sizeof s->ca, "%s/ca.pem", s->dir);
    snprintf(cert, sizeof cert, "%s/server.pem", s->dir);
    snprintf(key, sizeof key, "%s/server.key", s->dir);
    return (!tls || server_certificates(s->dir)) && server_spawn(s, argv);
}

static inline void server_stop(struct test_server *s)
{
    char command[128];
    int status;

    if (s->in)
        fclose(s->in);
    if (s->pid > 0)
        waitpid(s->pid, &status, 0);
    snprintf(command, sizeof command, "rm -rf '%s'", s->dir);
    if (s->dir[0] && system(command))
        printf("# %s stays\n", s->dir);
}

#endif
