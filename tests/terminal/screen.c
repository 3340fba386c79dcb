/*
 * screen.c - runs a command in a terminal and tells what is on its screen.
 *
 *     wend-test-screen WIDTHxHEIGHT COMMAND-LINE < STEPS
 *
 * A step is a line:
 *
 *     wait TEXT    until the screen shows TEXT
 *     gone TEXT    until it does not
 *     type KEYS    like a person, who reads first: when nothing changes any
 *                  more; \r, \n, \t, \e, \\ and \xNN are understood
 *     keys KEYS    the same, at once, in one write
 *     size WxH     changes the size of the terminal
 *     sleep MS     goes on reading what the command writes
 *     show FILE    writes the screen to FILE
 *     run COMMAND  runs another command; what it prints is dropped
 *
 * When the steps are done it waits for the command to end and prints all that
 * a user could scroll back to: what left the screen at its top, then the
 * screen. Exits as the command does; with 125 if a step fails.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vterm.h>

enum { STEP_MS = 60000, END_MS = 120000, FAILED = 125, LINE_MAX_BYTES = 4096 };
enum { QUIET_MS = 50, READ_MS = 300 }; /* before a person types */

struct text {
    char *ptr;
    size_t len;
};

static VTerm *terminal;
static VTermScreen *screen;
static int width, height, pty = -1;
static pid_t child;
static struct text above; /* what has left the screen at its top */

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "wend-test-screen: %s %s\n", what, which);
    exit(FAILED);
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- Text of cells ------------------------------------------------------- */

static void add_bytes(struct text *t, const char *p, size_t len)
{
    t->ptr = realloc(t->ptr, t->len + len + 1);
    if (!t->ptr)
        fail("out of", "memory");
    memcpy(t->ptr + t->len, p, len);
    t->len += len;
    t->ptr[t->len] = 0;
}

static void add_code_point(struct text *t, uint32_t c)
{
    char b[4];

    if (c < 0x80)
        add_bytes(t, (char[]){(char)c}, 1);
    else if (c < 0x800)
        add_bytes(t, (char[]){(char)(0xC0 | c >> 6), (char)(0x80 | (c & 0x3F))},
                  2);
    else if (c < 0x10000)
        add_bytes(t,
                  (char[]){(char)(0xE0 | c >> 12),
                           (char)(0x80 | (c >> 6 & 0x3F)),
                           (char)(0x80 | (c & 0x3F))},
                  3);
    else {
        b[0] = (char)(0xF0 | c >> 18);
        b[1] = (char)(0x80 | (c >> 12 & 0x3F));
        b[2] = (char)(0x80 | (c >> 6 & 0x3F));
        b[3] = (char)(0x80 | (c & 0x3F));
        add_bytes(t, b, 4);
    }
}

/* The second cell of a wide character holds -1. */
static void add_cell(struct text *t, const VTermScreenCell *cell)
{
    if (cell->chars[0] == (uint32_t)-1)
        return;
    if (!cell->chars[0])
        add_bytes(t, " ", 1);
    for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell->chars[i]; i++)
        add_code_point(t, cell->chars[i]);
}

static void end_line(struct text *t, size_t begin)
{
    while (t->len > begin && t->ptr[t->len - 1] == ' ')
        t->len--;
    add_bytes(t, "\n", 1);
}

static int line_left(int columns, const VTermScreenCell *cells, void *user)
{
    size_t begin = above.len;

    (void)user;
    for (int i = 0; i < columns; i++)
        add_cell(&above, &cells[i]);
    end_line(&above, begin);
    return 1;
}

/* The lines of the screen, without the empty ones at its end. */
static void add_screen(struct text *t)
{
    size_t begin = t->len, line;

    for (int row = 0; row < height; row++) {
        line = t->len;
        for (int column = 0; column < width; column++) {
            VTermScreenCell cell = {0};

            vterm_screen_get_cell(screen, (VTermPos){row, column}, &cell);
            add_cell(t, &cell);
        }
        end_line(t, line);
    }
    while (t->len > begin + 1 && t->ptr[t->len - 1] == '\n' &&
           t->ptr[t->len - 2] == '\n')
        t->len--;
    t->ptr[t->len] = 0;
}

/* ---- The command --------------------------------------------------------- */

/* Reads for at most `ms`. False: the command has closed its terminal. */
static bool pump(int ms)
{
    struct pollfd fd = {.fd = pty, .events = POLLIN};
    char bytes[4096];
    ssize_t n;

    if (poll(&fd, 1, ms) <= 0)
        return true;
    n = read(pty, bytes, sizeof bytes);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    vterm_input_write(terminal, bytes, (size_t)n);
    return true;
}

static void start(const char *command)
{
    struct winsize size = {.ws_row = (unsigned short)height,
                           .ws_col = (unsigned short)width};
    static const VTermScreenCallbacks callbacks = {.sb_pushline = line_left};

    terminal = vterm_new(height, width);
    vterm_set_utf8(terminal, 1);
    screen = vterm_obtain_screen(terminal);
    vterm_screen_set_callbacks(screen, &callbacks, NULL);
    vterm_screen_enable_altscreen(screen, 1);
    vterm_screen_reset(screen, 1);
    child = forkpty(&pty, NULL, NULL, &size);
    if (child < 0)
        fail("cannot open a", "terminal");
    if (child == 0) {
        execl("/bin/bash", "bash", "-c", command, (char *)NULL);
        _exit(127);
    }
}

static bool has(const char *text)
{
    struct text t = {0};
    bool found;

    add_screen(&t);
    found = strstr(t.ptr, text) != NULL;
    free(t.ptr);
    return found;
}

/* ---- Steps --------------------------------------------------------------- */

static void step_failed(const char *step, const char *text)
{
    struct text t = {0};

    add_screen(&t);
    fprintf(stderr, "the screen (%dx%d):\n%s", width, height, t.ptr);
    fprintf(stderr, "wend-test-screen: in vain: %s %s\n", step, text);
    kill(child, SIGKILL);
    exit(FAILED);
}

static void until(const char *step, const char *text, bool want)
{
    int64_t end = now_ms() + STEP_MS;

    while (has(text) != want)
        if (!pump(50) || now_ms() > end) {
            if (has(text) == want)
                return;
            step_failed(step, text);
        }
}

static void wait_for(const char *text)
{
    until("wait", text, true);
}

static void gone(const char *text)
{
    until("gone", text, false);
}

static void sleep_ms(const char *text)
{
    int64_t end = now_ms() + atoi(text), left;

    while ((left = end - now_ms()) > 0)
        if (!pump((int)left))
            return;
}

/* Until the command has written nothing for a moment. */
static void read_first(void)
{
    int64_t end = now_ms() + READ_MS;
    struct pollfd fd = {.fd = pty, .events = POLLIN};

    while (now_ms() < end && poll(&fd, 1, QUIET_MS) > 0 && pump(0))
        continue;
}

static void press(const char *keys)
{
    char typed[LINE_MAX_BYTES];
    size_t len = 0;

    for (const char *p = keys; *p; p++) {
        static const char names[] = "rnte\\", bytes[] = "\r\n\t\033\\";
        const char *at = *p == '\\' && p[1] ? strchr(names, p[1]) : NULL;
        char c = *p;

        if (at) {
            c = bytes[at - names];
            p++;
        } else if (*p == '\\' && p[1] == 'x' && isxdigit((unsigned char)p[2]) &&
                   isxdigit((unsigned char)p[3])) {
            c = (char)strtol((char[]){p[2], p[3], 0}, NULL, 16);
            p += 3;
        }
        typed[len++] = c;
    }
    if (write(pty, typed, len) != (ssize_t)len)
        fail("cannot type", keys);
}

static void type(const char *keys)
{
    if (has("allow?"))
        sleep_ms("750"); /* it takes no early answer */
    else
        read_first();
    press(keys);
}

static void parse_size(const char *text)
{
    if (sscanf(text, "%dx%d", &width, &height) != 2 || width < 1 || height < 1)
        fail("not a size:", text);
}

static void size(const char *text)
{
    struct winsize w;

    parse_size(text);
    w = (struct winsize){.ws_row = (unsigned short)height,
                         .ws_col = (unsigned short)width};
    vterm_set_size(terminal, height, width);
    ioctl(pty, TIOCSWINSZ, &w);
}

static void show(const char *path)
{
    struct text t = {0};
    FILE *f = fopen(path, "w");

    add_screen(&t);
    if (!f || fputs(t.ptr, f) < 0 || fclose(f))
        fail("cannot write", path);
    free(t.ptr);
}

static void run(const char *command)
{
    static char line[LINE_MAX_BYTES + 20];

    snprintf(line, sizeof line, "%s >/dev/null 2>&1", command);
    if (system(line))
        step_failed("run", command);
}

static const struct {
    const char *name;
    void (*run)(const char *text);
} steps[] = {
    {"wait", wait_for},  {"gone", gone}, {"type", type}, {"size", size},
    {"sleep", sleep_ms}, {"show", show}, {"run", run},   {"keys", press},
};

static void run_step(char *line)
{
    char *text = strchr(line, ' ');

    line[strcspn(line, "\n")] = 0;
    if (!*line || *line == '#')
        return;
    if (text)
        *text++ = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!strcmp(line, steps[i].name)) {
            steps[i].run(text ? text : "");
            return;
        }
    fail("unknown step:", line);
}

int main(int argc, char **argv)
{
    char line[LINE_MAX_BYTES];
    int64_t end;
    int status = 0;

    if (argc != 3)
        fail("usage:", "wend-test-screen WIDTHxHEIGHT COMMAND-LINE < STEPS");
    parse_size(argv[1]);
    start(argv[2]);
    while (fgets(line, sizeof line, stdin))
        run_step(line);
    end = now_ms() + END_MS;
    while (pump(1000))
        if (now_ms() > end)
            step_failed("wait", "for the end");
    add_screen(&above);
    fputs(above.ptr, stdout);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
