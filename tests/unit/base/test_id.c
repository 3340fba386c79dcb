/*
 * test_id.c - run ids and turn ids.
 */
#include "base/id.h"

#include "tap.h"

static const unsigned char zeros[10];
static const unsigned char ones[10] = {0xff, 0xff, 0xff, 0xff, 0xff,
                                       0xff, 0xff, 0xff, 0xff, 0xff};
/* RFC 9562, appendix A.6 */
static const unsigned char rfc[10] = {0x0c, 0xc3, 0x18, 0xc4, 0xdc,
                                      0x0c, 0x0c, 0x07, 0x39, 0x8f};

static void test_make(void)
{
    static const struct {
        const char *why;
        int64_t time_us;
        const unsigned char *chance;
        const char *wanted;
    } rows[] = {
        {"the example of RFC 9562", 1645557742000000, rfc,
         "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"},
        {"version and variant are set", 0, zeros,
         "00000000-0000-7000-8000-000000000000"},
        {"version and variant leave no other bit", 0, ones,
         "00000000-0000-7fff-bfff-ffffffffffff"},
        {"microseconds are cut", 1999, zeros,
         "00000000-0001-7000-8000-000000000000"},
        {"a time before 1970 is none", -5000, zeros,
         "00000000-0000-7000-8000-000000000000"},
    };
    char id[RUN_ID_LEN + 1], later[RUN_ID_LEN + 1];

    for (size_t i = 0; i < tap_count(rows); i++) {
        run_id_make(id, rows[i].time_us, rows[i].chance);
        tap_is_str(id, rows[i].wanted, "make: %s", rows[i].why);
        tap_ok(run_id_valid(str_of(id)), "and valid: %s", rows[i].why);
    }
    run_id_make(id, 1700000000000000, ones);
    run_id_make(later, 1700000000001000, zeros);
    tap_ok(strcmp(id, later) < 0, "ids sort by time whatever the chance");
}

static void test_valid(void)
{
    static const struct {
        const char *why, *id;
    } rows[] = {
        {"empty", ""},
        {"too short", "017f22e2-79b0-7cc3-98c4-dc0c0c07398"},
        {"too long", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0"},
        {"upper case would be a second name",
         "017F22E2-79B0-7CC3-98C4-DC0C0C07398F"},
        {"another version", "017f22e2-79b0-4cc3-98c4-dc0c0c07398f"},
        {"another variant", "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f"},
        {"a digit for a dash", "017f22e2079b0-7cc3-98c4-dc0c0c07398f"},
        {"a dash for a digit", "017f22e--79b0-7cc3-98c4-dc0c0c07398f"},
        {"no hex digit", "017f22e2-79b0-7cc3-98c4-dc0c0c07398g"},
    };
    wend_str with_nul = {"017f22e2-79b0-7cc3-98c4-dc0c0c07398", 36};

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_ok(!run_id_valid(str_of(rows[i].id)), "refused: %s", rows[i].why);
    tap_ok(!run_id_valid(with_nul), "refused: a NUL for a digit");
    tap_ok(!run_id_valid(STR_NONE), "refused: absent");
}

static void test_turn(void)
{
    static const struct {
        const char *why, *run;
        int64_t counter;
        const char *wanted;
    } rows[] = {
        {"first", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 1, "dc0c0c07398f.1"},
        {"the longest", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", INT64_MIN,
         "dc0c0c07398f.-9223372036854775808"},
        {"a short run name is used whole", "abc", 7, "abc.7"},
    };
    char id[TURN_ID_MAX];

    for (size_t i = 0; i < tap_count(rows); i++) {
        size_t len = turn_id_make(id, str_of(rows[i].run), rows[i].counter);

        tap_is_str(((wend_str){id, len}), rows[i].wanted, "turn: %s",
                   rows[i].why);
        tap_ok(!id[len], "turn: %s, and a NUL", rows[i].why);
    }
}

int main(void)
{
    test_make();
    test_valid();
    test_turn();
    return tap_done();
}
