/*
 * power.c - cuts the power at every write, and looks at what is left.
 *
 *     power-test [--images N] [--work NAME] [--seed S]
 *
 * Work is done once with the tape running (tape.h, book.h). Then the power is
 * cut at places of the tape, each in several ways (disk.h), and the real
 * store opens what is left: all that it had said was safe must be there. Some
 * runs are gone on with, and the power is cut once more meanwhile. Prints
 * TAP. Without arguments it takes POWER_SECONDS (default 18) for all.
 */
#include "ground.h"
#include "work.h"

enum {
    PLACES = 24,      /* of a pass over the tape */
    RESUME_EACH = 8,  /* one image of so many is gone on with */
    AGAIN_EACH = 24,  /* and of so many is cut once more ... */
    AGAIN_PLACES = 9, /* ... at so many places */
    CONTROL_IMAGES = 200,
    CONTROL_SECONDS = 5,
    IMAGES_MIN = 60,
    IMAGES_MAX = 1000000000, /* the time is over before */
};

static uint64_t seed = 1;

/* Places of one pass, in order. */
static size_t place_of(int i, uint64_t *chance)
{
    size_t width = tape.count / PLACES + 1;
    size_t at = (size_t)i * width + next_chance(chance) % width;

    return at < tape.count ? at : tape.count;
}

struct job {
    const struct work *work;
    bool control; /* nobody goes on with what is lost */
    bool lies;    /* a sync does nothing */
    long images_max;
    double end;
    struct finding f;
    long made;
};

/* What the disk holds now, cut at places of what was done since. */
static void cut_again(struct finding *f, struct disk *d, uint64_t chance)
{
    for (int i = 0; i < AGAIN_PLACES; i++) {
        struct cut c = cut_of(i % 3, next_chance(&chance));
        size_t at = d->at + next_chance(&chance) % (tape.count - d->at + 1);

        disk_play_to(d, at);
        clear(again_path);
        disk_cut(d, &c, again_path);
        f->twice++;
        check_store(again_path, at, f);
    }
}

/* Every run of the image is gone on with; the power may go meanwhile. */
static void go_on(struct job *j, const struct disk *before, struct cut c)
{
    struct tape tape_before = tape;
    struct book book_before = book;
    struct disk d = {.at = 0};
    bool again = j->made % AGAIN_EACH == 0;

    book_load(image_path); /* it has been opened: what is safe is known */
    clear(image_path);
    disk_cut(before, &c, image_path);
    memset(&tape, 0, sizeof tape); /* its notes are kept */
    disk_load(&d, image_path);
    tape_start(image_path, CONTROL_NONE);
    j->f.unfinished += !work_resume(j->work, image_path, &j->f.resumed);
    tape_stop();
    j->f.early += book.early;
    if (again)
        cut_again(&j->f, &d, c.chance);
    disk_free(&d);
    book_clear();
    tape_clear();
    tape = tape_before;
    book = book_before;
}

static void one_image(struct job *j, const struct disk *d, long way,
                      uint64_t chance)
{
    struct cut fresh = cut_of(way, chance), c = fresh;

    clear(image_path);
    disk_cut(d, &c, image_path);
    j->f.dropped += c.dropped;
    j->f.torn += c.torn;
    check_store(image_path, d->at, &j->f);
    if (!j->control && j->made % RESUME_EACH == 0)
        go_on(j, d, fresh);
    j->made++;
}

/* A slow machine makes some images nevertheless. */
static bool goes_further(const struct job *j)
{
    return j->f.images < j->images_max &&
           (j->f.images < IMAGES_MIN || now() < j->end);
}

/* One pass over the tape. */
static void pass(struct job *j, uint64_t chance)
{
    struct disk d = {.lies = j->lies};

    for (int i = 0; i < FILES; i++)
        d.now[i] = d.sure[i] = -1;
    for (int i = 0; i < PLACES; i++) {
        disk_play_to(&d, place_of(i, &chance));
        for (long way = 0; way < 4; way++)
            if (goes_further(j))
                one_image(j, &d, way, next_chance(&chance));
    }
    disk_free(&d);
}

static void report(const char *name, const struct finding *f)
{
    printf("# %s: %zu places, %ld images, %ld sectors dropped, %ld torn, %ld "
           "events, %ld facts, %ld newer, %ld resumed, %ld cut twice; unopened "
           "%ld "
           "damaged %ld lost %ld "
           "wrong %ld partial %ld unsound %ld undead %ld unfinished %ld early "
           "%ld\n",
           name, tape.count, f->images, f->dropped, f->torn, f->events,
           f->facts, f->newer, f->resumed, f->twice, f->unopened, f->damaged,
           f->lost, f->wrong, f->partial, f->unsound, f->undead, f->unfinished,
           f->early);
}

/* Does the work on a new store. */
static bool record(const struct work *w, enum control control, bool hasty)
{
    bool good;

    if (w->imports)
        work_export(w);
    book_clear();
    book.hasty = hasty;
    clear(work_path);
    tape_start(work_path, control);
    good = work_do(w, work_path);
    tape_stop();
    return good;
}

static void passes(struct job *j)
{
    uint64_t chance = seed;

    while (goes_further(j))
        pass(j, next_chance(&chance));
}

/* How often the write-ahead log was begun. */
static int restarts(void)
{
    int count = 0;

    for (size_t i = 0; i < tape.count; i++)
        count += tape.ops[i].kind == OP_WRITE && tape.ops[i].file == FILE_WAL &&
                 !tape.ops[i].at;
    return count;
}

static void cut_work(const struct work *w, long images_max, double seconds)
{
    struct job j = {.work = w, .images_max = images_max};

    if (!tap_ok(record(w, CONTROL_NONE, false), "%s: done", w->name))
        return;
    tap_ok(restarts() >= w->restarts, "%s: the log was begun %d times", w->name,
           restarts());
    tap_ok(!tape.strays, "%s: nothing is written elsewhere (%ld files)",
           w->name, tape.strays);
    tap_ok((w->imports || (book.shown && book.effects)) && !book.early,
           "%s: %ld events shown, %ld effects, none before it was safe",
           w->name, book.shown, book.effects);
    j.end = now() + seconds;
    passes(&j);
    report(w->name, &j.f);
    tap_ok(is_good(&j.f) && j.f.events && j.f.dropped && j.f.torn &&
               (w->imports || j.f.resumed) && j.f.twice,
           "%s: the power was cut %ld times, and nothing safe was lost",
           w->name, j.f.images);
}

/* Stores that do not keep their promise must be found out. */
static const struct false_store {
    const char *name;
    enum control control;
    bool lies, hasty;
} controls[] = {
    {"synchronous=NORMAL", CONTROL_NORMAL, false, false},
    {"synchronous=OFF", CONTROL_OFF, false, false},
    {"a sync that lies", CONTROL_NONE, true, false},
    {"safe, it says, before it is", CONTROL_NONE, false, true},
};

static void cut_control(const struct false_store *c)
{
    struct job j = {.work = &works[0],
                    .control = true,
                    .lies = c->lies,
                    .images_max = CONTROL_IMAGES,
                    .end = now() + CONTROL_SECONDS};

    if (!tap_ok(record(j.work, c->control, c->hasty), "control, %s: done",
                c->name))
        return;
    passes(&j);
    report(c->name, &j.f);
    tap_ok(j.f.lost > 0, "control, %s: %ld of %ld images have lost something",
           c->name, j.f.lost, j.f.images);
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    double seconds = 18;
    long images = 0, seed_given = 1;
    const struct campaign_option known[] = {{"--images", .number = &images},
                                            {"--work", .text = &only},
                                            {"--seed", .number = &seed_given}};

    campaign_seconds("POWER_SECONDS", &seconds);
    if (!campaign_options(known, tap_count(known), argc, argv)) {
        fprintf(stderr, "usage: power-test [--images N] [--work NAME] "
                        "[--seed S]\n");
        return 2;
    }
    seed = (uint64_t)seed_given;
    if (!enter() || !tape_register())
        return 2;
    for (size_t i = 0; i < WORKS; i++)
        if (!only || !strcmp(only, works[i].name))
            cut_work(&works[i], images ? images / WORKS : IMAGES_MAX,
                     images ? 1e6 : seconds / WORKS);
    for (size_t i = 0; i < tap_count(controls); i++)
        cut_control(&controls[i]);
    book_clear();
    buf_free(&exported);
    tape_clear();
    campaign_leave(root);
    return tap_done();
}
