/*
 * id.c - UUIDv7 from given time and randomness (RFC 9562), and ids of turns.
 *
 * The same arguments give the same id, so that a recorded run can be repeated.
 */
#include "base/id.h"

#include "base/hash.h"

enum { UUID_BYTES = 16, TURN_ID_TAIL = 12 };

static const char shape[] = "xxxxxxxx-xxxx-7xxx-vxxx-xxxxxxxxxxxx";

_Static_assert(sizeof shape == RUN_ID_LEN + 1, "one character a digit");
_Static_assert(TURN_ID_TAIL + 1 + 21 <= TURN_ID_MAX, "any counter and a NUL");

void run_id_make(char out[RUN_ID_LEN + 1], int64_t time_us,
                 const unsigned char chance[10])
{
    uint64_t ms = time_us > 0 ? (uint64_t)time_us / 1000 : 0;
    unsigned char uuid[UUID_BYTES];
    char digits[2 * UUID_BYTES + 1];
    const char *digit = digits;

    for (int i = 0; i < 6; i++)
        uuid[i] = (unsigned char)(ms >> (40 - 8 * i));
    memcpy(uuid + 6, chance, 10);
    uuid[6] = 0x70 | (uuid[6] & 0x0f); /* version */
    uuid[8] = 0x80 | (uuid[8] & 0x3f); /* variant */
    hex_text(digits, uuid, sizeof uuid);
    for (size_t i = 0; i < RUN_ID_LEN; i++)
        out[i] = shape[i] == '-' ? '-' : *digit++;
    out[RUN_ID_LEN] = 0;
}

bool run_id_valid(wend_str s)
{
    if (s.len != RUN_ID_LEN)
        return false;
    for (size_t i = 0; i < RUN_ID_LEN; i++) {
        const char *allowed = shape[i] == 'x'   ? "0123456789abcdef"
                              : shape[i] == 'v' ? "89ab"
                              : shape[i] == '7' ? "7"
                                                : "-";

        if (!s.ptr[i] || !strchr(allowed, s.ptr[i]))
            return false;
    }
    return true;
}

size_t turn_id_make(char out[TURN_ID_MAX], wend_str run, int64_t counter)
{
    size_t len = run.len < TURN_ID_TAIL ? run.len : TURN_ID_TAIL;

    if (len)
        memcpy(out, run.ptr + run.len - len, len);
    out[len++] = '.';
    len += i64_text(out + len, counter);
    out[len] = 0;
    return len;
}
