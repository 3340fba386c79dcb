/*
 * test_style.c - the "yes" halves of STYLE.md, compiled and true.
 *
 * A kettle, as small as it can be while showing every rule. What STYLE.md
 * quotes as good must stand here; tests/cli/docs.sh compares.
 */
#include <assert.h>

#include "base/fail.h"
#include "base/str.h"
#include "fault.h"
#include "tap.h"

enum mode { MODE_BOIL, MODE_KEEP, MODES };

static const char *const mode_names[MODES] = {
    [MODE_BOIL] = "boil",
    [MODE_KEEP] = "keep",
};

enum { NAME_BYTES_MAX = 64 }; /* far above any real name, far below harm */

enum state { ST_OFF, ST_HEATING, ST_KEEPING };
enum input_kind { IN_PRESS, IN_HOT, IN_COLD };
enum effect_kind { FX_NONE, FX_HEATER_ON, FX_HEATER_OFF };

struct kettle {
    struct mem mem;
    wend_str name;
    enum mode mode;
    enum state state;
    int64_t heated_ms, heated_max_ms;
    uint32_t presses;
};

struct step {
    enum effect_kind effect;
};

typedef struct kettle_options {
    size_t size;
    const char *name;
    const char *mode;
    uint32_t timeout_ms; /* default 60 s */
} kettle_options;

/* The largest member first: `{0}` zeroes no more than the first one. */
union reading {
    struct {
        int64_t time_us, celsius;
    } temperature;
    bool is_hot;
};
_Static_assert(sizeof(union reading) ==
                   sizeof(((union reading *)0)->temperature),
               "largest first");

/* ---- The core: asks, does not do ----------------------------------------- */

static void want(struct step *s, enum effect_kind effect)
{
    s->effect = effect;
}

static void on_off(struct kettle *k, enum input_kind in, struct step *s)
{
    if (in != IN_PRESS)
        return;
    k->state = ST_HEATING;
    want(s, FX_HEATER_ON);
}

static void on_heating(struct kettle *k, enum input_kind in, struct step *s)
{
    if (in == IN_COLD)
        return;
    k->state = in == IN_HOT && k->mode == MODE_KEEP ? ST_KEEPING : ST_OFF;
    want(s, FX_HEATER_OFF);
}

static void on_keeping(struct kettle *k, enum input_kind in, struct step *s)
{
    if (in == IN_COLD)
        k->state = ST_HEATING;
    if (in == IN_PRESS)
        k->state = ST_OFF;
    want(s, in == IN_COLD ? FX_HEATER_ON : FX_NONE);
}

/*
 *     OFF --press--> HEATING --hot--> KEEPING (or OFF)
 *     KEEPING --cold--> HEATING          any --press--> OFF
 */
static void kettle_step(struct kettle *k, enum input_kind in, struct step *s)
{
    assert(s->effect == FX_NONE);
    k->presses += in == IN_PRESS;
    switch (k->state) {
    case ST_OFF: on_off(k, in, s); break;
    case ST_HEATING: on_heating(k, in, s); break;
    case ST_KEEPING: on_keeping(k, in, s); break;
    }
}

/* ---- The border: their mistakes are statuses ------------------------------
 */

static void kettle_free(struct kettle *k)
{
    struct mem m;

    if (!k)
        return;
    m = k->mem;
    mem_free(&m, (void *)(uintptr_t)k->name.ptr);
    mem_free(&m, k);
}

static wend_str kettle_name(const struct kettle *k) /* lent until k is freed */
{
    return k->name;
}

static wend_status kettle_new(const struct mem *m, const kettle_options *o,
                              struct kettle **out, wend_error *err)
{
    struct kettle *k = mem_zalloc(m, sizeof *k);
    size_t len = o->name ? strlen(o->name) : 0;
    wend_status s = WEND_OK;
    int mode = o->mode ? str_index(str_of(o->mode), mode_names, MODES) : 0;
    char *name = mem_alloc(m, len + 1);

    if (k)
        k->mem = *m; /* from here on it can be freed */
    if (!k || !name) {
        s = fail_nomem(err);
        goto done;
    }
    if (len > NAME_BYTES_MAX) {
        s = fail(err, WEND_E_LIMIT, "kettle: name over %d bytes",
                 NAME_BYTES_MAX);
        goto done;
    }
    if (mode < 0) {
        s = fail(err, WEND_E_INVAL, "kettle: no mode '%.40s'", o->mode);
        goto done;
    }
    memcpy(name, o->name ? o->name : "", len + 1);
    k->name = (wend_str){name, len};
    name = NULL; /* now the kettle's */
    k->mode = (enum mode)mode;
    k->heated_max_ms = o->timeout_ms ? o->timeout_ms : 60000;
    *out = k;
    k = NULL; /* now the caller's */
done:
    mem_free(m, name);
    kettle_free(k);
    return s;
}

/* ---- Tests: tables, each row says why it is there ---------------------------
 */

static const struct {
    const char *why, *name, *mode;
    wend_status want;
} borders[] = {
    {"no options at all", NULL, NULL, WEND_OK},
    {"a mode by name", "red", "keep", WEND_OK},
    {"a mode that is none", "red", "fry", WEND_E_INVAL},
    {"names end at their limit",
     "0123456789012345678901234567890123456789012345678901234567890123", NULL,
     WEND_OK},
    {"one byte more",
     "01234567890123456789012345678901234567890123456789012345678901234", NULL,
     WEND_E_LIMIT},
};

static const struct {
    const char *why;
    enum state state;
    enum input_kind in;
    enum state state_next;
    enum effect_kind effect;
} steps[] = {
    {"pressed", ST_OFF, IN_PRESS, ST_HEATING, FX_HEATER_ON},
    {"heat without a press means nothing", ST_OFF, IN_HOT, ST_OFF, FX_NONE},
    {"hot enough", ST_HEATING, IN_HOT, ST_KEEPING, FX_HEATER_OFF},
    {"pressed again while it heats", ST_HEATING, IN_PRESS, ST_OFF,
     FX_HEATER_OFF},
    {"still cold", ST_HEATING, IN_COLD, ST_HEATING, FX_NONE},
    {"cooled down", ST_KEEPING, IN_COLD, ST_HEATING, FX_HEATER_ON},
    {"pressed while it keeps", ST_KEEPING, IN_PRESS, ST_OFF, FX_NONE},
};

static void test_borders(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(borders); i++) {
        kettle_options o = {
            .size = sizeof o, .name = borders[i].name, .mode = borders[i].mode};
        struct kettle *k = NULL;
        wend_error err = {0};
        wend_status s = kettle_new(&m, &o, &k, &err);

        tap_is_i64(s, borders[i].want, "%s", borders[i].why);
        tap_ok((s == WEND_OK) == !err.message[0], "%s: said so",
               borders[i].why);
        if (k)
            tap_is_str(kettle_name(k), o.name ? o.name : "", "its name");
        kettle_free(k);
    }
}

static void test_steps(void)
{
    for (size_t i = 0; i < tap_count(steps); i++) {
        struct kettle k = {.mode = MODE_KEEP, .state = steps[i].state};
        struct step s = {FX_NONE};

        kettle_step(&k, steps[i].in, &s);
        tap_is_i64(k.state, steps[i].state_next, "%s: state", steps[i].why);
        tap_is_i64(s.effect, steps[i].effect, "%s: effect", steps[i].why);
    }
}

static void test_memory(void)
{
    struct fault f = {0};
    int64_t bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        kettle_options o = {.size = sizeof o, .timeout_ms = 30000};
        struct kettle *k = NULL;
        wend_status s = kettle_new(&m, &o, &k, NULL);

        kettle_free(k);
        bad += f.live != 0 || (s == WEND_OK) == f.hit;
    }
    tap_is_i64(bad, 0, "one exit label frees everything, whatever fails");
}

int main(void)
{
    test_borders();
    test_steps();
    test_memory();
    return tap_done();
}
