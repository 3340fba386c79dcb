/*
 * test_manifest_policy.c - what an agent's file says about labels and memory.
 */
#include "tap.h"
#include "wire/file/manifest.h"

#define TOP "wend: agent/1\n"

/* Rules and rows that label as lists with |. */
static const struct {
    const char *why, *text;
    const char *rules, *rows;
    bool user;
} read[] = {
    {"a row that decides", TOP "policy: [{tool: a, do: ask}]", "?a", "", false},
    {"a row that labels",
     TOP "policy: [{tool: read_file(.env*), labels: [sensitive]}]", "",
     "sensitive=read_file(.env*)", false},
    {"a row that does both",
     TOP "policy: [{tool: b, do: allow}, {tool: srv.*, do: deny, labels: "
         "[sensitive, untrusted_source]}]",
     "b|!srv.*", "sensitive,untrusted_source=srv.*", false},
    {"memory of the folder", TOP "memory: {scope: folder}", "", "", false},
    {"memory of the user", TOP "memory: {scope: user}", "", "", true},
};

static const struct {
    const char *why, *text, *wanted;
} refused[] = {
    {"a label that there is not", TOP "policy: [{tool: a, labels: [secret]}]",
     "policy[0]: 'secret=a' names a label that there is not; write labels and "
     "a tool, such as sensitive=read_file(.env*); labels are untrusted_source, "
     "sensitive and external_effect"},
    {"neither an answer nor labels", TOP "policy: [{tool: a, labels: []}]",
     "policy[0] needs 'do'"},
    {"a scope that there is not", TOP "memory: {scope: world}",
     "memory.scope must be one of folder, user, not 'world'"},
};

static void is_list(const struct manifest_words *w, const char *wanted,
                    const char *why)
{
    struct mem m = {0};
    struct buf b = {.mem = &m};

    for (size_t i = 0; i < w->count; i++) {
        buf_cstr(&b, i ? "|" : "");
        buf_str(&b, w->list[i].text);
    }
    tap_is_str(b.len ? buf_view(&b) : STR(""), wanted, "%s", why);
    buf_free(&b);
}

int main(void)
{
    struct mem mem = {0};

    for (size_t i = 0; i < tap_count(read); i++) {
        struct arena a = {.mem = &mem};
        struct agent_manifest *m = NULL;
        wend_error err = {0};

        agent_manifest_parse(str_of(read[i].text), &a, &m, &err);
        if (tap_ok(m, "%s: read (%s)", read[i].why, err.message)) {
            is_list(&m->rules, read[i].rules, "  rules");
            is_list(&m->label_rows, read[i].rows, "  rows that label");
            tap_ok(m->memory_user == read[i].user &&
                       !agent_manifest_unserved(m, 0),
                   "  whose memory");
        }
        arena_free(&a);
    }
    for (size_t i = 0; i < tap_count(refused); i++) {
        struct arena a = {.mem = &mem};
        struct agent_manifest *m = NULL;
        wend_error err = {0};

        tap_ok(agent_manifest_parse(str_of(refused[i].text), &a, &m, &err) !=
                   WEND_OK,
               "%s", refused[i].why);
        tap_is_str(str_of(err.message), refused[i].wanted, "  says what");
        arena_free(&a);
    }
    return tap_done();
}
