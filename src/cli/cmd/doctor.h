/*
 * doctor.h - what the checks of `wend doctor` share.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cli/cli.h"

enum mark { MARK_OK, MARK_NOTE, MARK_FAIL };

/* What is asked only once: the settings of a run, and the provider's answer. */
struct doctor {
    struct cli *cli;
    wend_load_options load;
    wend_agent_options agent;
    wend_agent *probe; /* an agent that never runs; NULL: it cannot be made */
    wend_model_list *list; /* NULL: the provider was not asked, or failed */
};

struct finding {
    struct doctor *d;
    struct cli *cli;
    enum mark mark;
    struct buf what;
    const char *fix; /* NULL = nothing to do */
};

void found(struct finding *f, enum mark mark, const char *fix);

/* doctor_ask.c: what is not on this machine. */
void check_model(struct finding *f);
void check_provider(struct finding *f);
void check_servers(struct finding *f);

#endif
