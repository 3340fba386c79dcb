/*
 * planned.h - the script of a model that writes two plans.
 */
#ifndef TESTS_CRASH_PLANNED_H
#define TESTS_CRASH_PLANNED_H

#define STEP(name, target, after)                                             \
    "{\"name\":\"" name "\",\"type\":\"tool\",\"mode\":\"async\",\"target\":" \
    "\"" target "\",\"depends_on\":[" after "]}"
#define SAY(name, after)                                                     \
    "{\"name\":\"" name "\",\"type\":\"llm\",\"mode\":\"async\",\"prompt\":" \
    "\"x\",\"depends_on\":[" after "]}"
#define WRITTEN(actions) \
    "{\"name\":\"plan\",\"args\":{\"actions\":[" actions "]}}"

#define A STEP("a", "read", "")
#define B STEP("b", "unsafe", "\"a\"")
#define C STEP("c", "idem", "")
#define D SAY("d", "\"c\"")
#define E STEP("e", "idem", "")
#define F SAY("f", "")
#define G STEP("g", "unsafe", "\"e\",\"f\"")

/* Each line is an answer; the last two, for actions and for the planner, are
 * never used up. */
static const char planned[] =
    "{\"purpose\":\"plan\",\"text\":\"ab\",\"chunk\":40,\"calls\":[" WRITTEN(
        A "," B "," C
          "," D) ",{\"name\":\"idem\",\"args\":{}}]},"
                 "{\"purpose\":\"plan\",\"calls\":[" WRITTEN(
                     E "," F
                       "," G) "]},"
                              "{\"text\":\"said\",\"repeat\":\"forever\"},"
                              "{\"purpose\":\"plan\",\"text\":\"done\","
                              "\"repeat\":\"forever\"}";

#endif
