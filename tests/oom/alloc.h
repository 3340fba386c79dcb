/*
 * alloc.h - every allocation of the process, from whatever library, and
 * which of them fails.
 *
 * The program's own malloc and its kin stand before those of the sanitizer,
 * so libc, SQLite, libuv, libyaml, PCRE2 and libcurl come here as well.
 */
#ifndef OOM_ALLOC_H
#define OOM_ALLOC_H

#include <stdbool.h>

struct oom_plan {
    long fail_at; /* number of the allocation that fails; 0 = none */
    bool sticks;  /* and all after it */
    bool tells;   /* prints a stack where the first one fails */
};

void oom_arm(struct oom_plan plan); /* counts from here on */
void oom_disarm(void);
long oom_count(void);  /* allocations since oom_arm */
long oom_failed(void); /* of those */
long oom_live(void);   /* blocks that are not freed */

#endif
