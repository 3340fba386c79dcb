/*
 * label.c - the words for what a tool brings into a run or lets out of it.
 */
#include "base/label.h"

#include "base/json.h"

const char *const label_names[LABELS] = {"untrusted_source", "sensitive",
                                         "external_effect"};

_Static_assert(WEND_LABEL_UNTRUSTED_SOURCE == 1 && WEND_LABEL_SENSITIVE == 2 &&
                   WEND_LABEL_EXTERNAL_EFFECT == 1 << (LABELS - 1),
               "names stand by their bits");

uint32_t label_of(wend_str name)
{
    int i = str_index(name, label_names, LABELS);

    return i < 0 ? 0 : UINT32_C(1) << i;
}

void labels_add(struct buf *b, const char *key, uint32_t labels)
{
    json_open(b, key, '[');
    for (int i = 0; i < LABELS; i++)
        if (labels >> i & 1)
            json_add_str(b, NULL, str_of(label_names[i]));
    json_close(b, ']');
}

uint32_t labels_read(const struct json *list)
{
    uint32_t labels = 0;

    for (const struct json *j = list ? list->first : NULL; j; j = j->next)
        labels |= label_of(json_str(j));
    return labels;
}
