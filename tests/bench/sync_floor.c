/*
 * sync_floor.c - what the disk takes at least to make a commit safe.
 *
 *     sync-floor FILE N
 *
 * Appends a page to the file N times, each with an fdatasync; prints the
 * microseconds that one takes on average.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

int main(int argc, char **argv)
{
    static const char page[PAGE_BYTES];
    long n = argc == 3 ? atol(argv[2]) : 0;
    struct timespec from, to;
    int fd;

    if (n <= 0) {
        fputs("usage: sync-floor FILE N\n", stderr);
        return 2;
    }
    fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (long i = 0; i < n; i++)
        if (write(fd, page, sizeof page) != sizeof page || fdatasync(fd)) {
            perror(argv[1]);
            return 1;
        }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.1f\n", ((double)(to.tv_sec - from.tv_sec) * 1e6 +
                      (double)(to.tv_nsec - from.tv_nsec) / 1e3) /
                         (double)n);
    close(fd);
    unlink(argv[1]);
    return 0;
}
