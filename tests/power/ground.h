/*
 * ground.h - where stores are made and images of the disk are looked at.
 */
#ifndef POWER_GROUND_H
#define POWER_GROUND_H

#include "../unit/campaign.h"
#include "../unit/store_help.h"
#include "disk.h"

static char root[CAMPAIGN_DIR], work_path[96], image_path[96], again_path[96];

/* No disk could lose more than disk.h does. */
static bool enter(void)
{
    if (!campaign_enter("power", root))
        return false;
    snprintf(work_path, sizeof work_path, "%s/work.db", root);
    snprintf(image_path, sizeof image_path, "%s/image.db", root);
    snprintf(again_path, sizeof again_path, "%s/again.db", root);
    return true;
}

static void clear(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", "-lock"};
    char name[160];

    for (size_t i = 0; i < tap_count(ends); i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

/* The first two ways of each place are the extremes. */
static inline struct cut cut_of(long way, uint64_t chance)
{
    static const unsigned keeps[] = {50, 5, 90, 20};
    struct cut c = {.chance = chance};

    c.fate = way == 0 ? FATE_DROPPED : way == 1 ? FATE_KEPT : FATE_MIXED;
    c.sector = next_chance(&c.chance) & 1 ? 512 : 4096;
    c.keep = keeps[next_chance(&c.chance) % tap_count(keeps)];
    c.tear = next_chance(&c.chance) % 11;
    c.garbage = next_chance(&c.chance) & 1;
    return c;
}

#endif
