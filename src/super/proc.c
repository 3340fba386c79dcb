/*
 * proc.c - reading /proc.
 */
#include "super/super.h"

size_t put_number(char *out, uint64_t n)
{
    char digits[24];
    size_t len = 0;

    do
        digits[len++] = (char)('0' + n % 10);
    while (n /= 10);
    for (size_t i = 0; i < len; i++)
        out[i] = digits[len - 1 - i];
    out[len] = 0;
    return len;
}

void put_random(char *out, size_t len)
{
    uint8_t byte;

    for (size_t i = 0; i < len; i++) {
        byte = 0;
        sys3(__NR_getrandom, &byte, 1, 0);
        out[i] = (char)('a' + byte % 26);
    }
    out[len] = 0;
}

uint64_t take_number(const char **p)
{
    uint64_t n = 0;

    while (**p >= '0' && **p <= '9' && n < UINT64_MAX / 20)
        n = n * 10 + (uint64_t)(*(*p)++ - '0');
    return n;
}

void proc_path(char out[PROC_PATH_MAX], uint32_t pid, const char *what,
               int64_t n)
{
    __builtin_memcpy(out, "/proc/", 6);
    out += 6;
    out += put_number(out, pid);
    *out++ = '/';
    while ((*out = *what++))
        out++;
    if (n >= 0)
        put_number(out, (uint64_t)n);
}

size_t proc_read_of(uint32_t pid, const char *what, char *out, size_t size)
{
    char path[PROC_PATH_MAX];

    proc_path(path, pid, what, -1);
    return sys_read_text(AT_FDCWD, path, out, size);
}

void proc_fd_path(char out[PROC_PATH_MAX], int fd)
{
    static const char folder[] = "/proc/self/fd/";

    __builtin_memcpy(out, folder, sizeof folder);
    put_number(out + sizeof folder - 1, (uint64_t)fd);
}

long open_folder(long at, const char *name)
{
    return sys_open(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

uint64_t proc_field(const char *text, const char *name)
{
    for (const char *p = text; *p; p++) {
        if ((p == text || p[-1] == '\n') && text_starts(p, name)) {
            p += text_len(name);
            while (*p == ' ' || *p == '\t')
                p++;
            return take_number(&p);
        }
    }
    return 0;
}

int64_t clock_ms(void)
{
    struct {
        int64_t s, ns;
    } t;

    sys2(__NR_clock_gettime, 1 /* CLOCK_MONOTONIC */, &t);
    return t.s * 1000 + t.ns / 1000000;
}
