/*
 * limits.h - the limits that several files share, each with a name.
 *
 * Tests of a limit use its name: one below, at and one above it.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
    FOCUS_BYTES_MAX = 4 << 10,     /* of a summary; it is part of a question */
    STRING_INLINE_MAX = 256 << 10, /* longer strings become blobs */
    BLOB_BYTES_MAX = 64 << 20,     /* a blob, and so a prompt */
    BLOB_HEAD_BYTES = 256,         /* of a blob's text shown in its place */
    OUTPUT_BYTES_MAX = 256 << 10,  /* of a tool's output, to the model */
    ARGS_BYTES_MAX = 1 << 20,      /* of a call's arguments */
    JSON_DEPTH_MAX = 64,
    JSON_DEPTH_AROUND = 16,       /* an event around a value of that depth */
    SCHEMA_NODES_MAX = 10000,     /* schemas in a schema */
    SCHEMA_URI_MAX = 2048,        /* bytes of a $id or $ref with its base */
    SCHEMA_LOOKS_MAX = 50000000,  /* for names, to compile one; 4 ns each */
    SCHEMA_DEPTH_MAX = 400,       /* of a check; JSON_DEPTH_MAX times a few */
    SCHEMA_STEPS_MAX = 4000000,   /* of a check, about 20 ns each */
    SCHEMA_WORK_MAX = 4000000,    /* of a check's patterns, the same */
    REGEX_PATTERN_MAX = 16 << 10, /* bytes; longer ones were generated */
    CALLS_MAX = 256,              /* tool calls in one message */
    TOOLS_MAX = 1024,             /* tools of an agent */
    CLIENT_TOOLS_MAX = 128,       /* that the caller of a run brings ... */
    CLIENT_TOOLS_BYTES_MAX = 1 << 20, /* ... as JSON; they are in its log */
    PARALLEL_MAX = 64,                /* calls at once */
    PARALLEL_OPEN = PARALLEL_MAX,     /* of a run whose plan says how many */
    TOOL_NAME_MAX = 64,
    PACE_MAX = 100000,           /* calls of a tool in a minute */
    BOUND_BYTES_MIN = 1 << 20,   /* memory and disk of a program: it starts */
    BOUND_TASKS_MAX = 100000,    /* processes and threads of a program */
    ANSWERS_KEPT_MAX = 256,      /* of a tool, to give them again */
    ANSWERS_BYTES_MAX = 4 << 20, /* of them */
    COMMAND_WORDS_MAX = 256,     /* of a program's arguments */
    SECRETS_MAX = 16,            /* that a tool is granted */
    WISH_HEADERS_MAX = 8,        /* of requests to a model, by a file */
    KEYS_MAX = 64, /* of an agent: its providers' and all that it grants */
    SCRIPT_BYTES_MAX = 16 << 20, /* of a script file */
    SCRIPT_TURNS_MAX = 100000,   /* entries in it */
    MODELS_BYTES_MAX = 1 << 20,  /* of a file about models */
    MODELS_MAX = 10000,          /* entries in it */
    MODEL_TOKENS_MAX = 1 << 30,  /* of a window; the largest have 2^24 */
    MODEL_REQUESTS_MAX = 100000, /* to one at once */
    ANSWER_TOKENS_MIN = 16,      /* that a budget leaves: less is refused */
    ANSWER_TOKENS_PLAIN = 4096,  /* a maximum that any model takes */
    FACT_BYTES_MAX = 8 << 10,    /* of what an agent remembers */
    FACT_NAME_MAX = 200,
    FACTS_SEEN_MAX = 10000, /* of an agent, looked through */
    FACTS_TOLD_MAX = 50,
    LEARNED_KEY_MAX = 512,       /* bytes of a target whose past is kept */
    LEARNED_TARGETS_MAX = 512,   /* and actions, of one run */
    LEARNED_SEEN_MAX = 4096,     /* looked through when a plan starts */
    RELIC_KEY_MAX = 512,         /* bytes of a name in a relic */
    RELIC_NAME_MAX = 31,         /* of it, and of an endpoint: a tool has 64 */
    RELIC_HEADERS_MAX = 30,      /* of it, and of an endpoint */
    RELIC_PLACES_MAX = 64,       /* different ones of an endpoint */
    RELIC_BODY_MAX = 4 << 20,    /* bytes of an answer */
    EXPRESSION_BYTES_MAX = 4096, /* for the calculator, of a condition */
    LIST_ENTRIES_MAX = 10000,    /* of a directory, shown */
    GLOB_PATTERN_MAX = 1024,     /* bytes */
    WALK_ENTRIES_MAX = 1000000,  /* seen below a directory; some seconds */
    WALK_DEPTH_MAX = 64,         /* each level holds a descriptor */
    EDIT_BYTES_MAX = 16 << 20,   /* of a file before and after an edit */
    GREP_FILE_MAX = 64 << 20,    /* bytes; larger files are passed over */
    GREP_RESULTS_DEFAULT = 200,
    PACK_BYTES_MAX = 8 << 10, /* of delta text in one pack */
    PACK_MS = 50,             /* the longest wait of a delta */
    QUEUE_EVENTS_MAX = 256,   /* a reader's queue, then it lags */
    QUEUE_BYTES_MAX = 1 << 20,
    LINE_BYTES_MAX = 16 << 20,     /* of a provider's stream */
    RESPONSE_BYTES_MAX = 64 << 20, /* of a provider's answer */
    FAILURE_BYTES_MAX = 64 << 10,  /* of it, when it is no answer */
    KEY_BYTES_MAX = 4 << 10,       /* of a file with a key */
    URL_BYTES_MAX = 8 << 10,       /* as most servers have it */
    CONNECT_MS = 10000,            /* to a provider */
    FIRST_BYTE_MS = 300000,        /* some models think for minutes */
    BETWEEN_BYTES_MS = 120000,
    MODEL_CALL_MS = 1800000,       /* a whole answer, unless told otherwise */
    RPC_BATCH_MAX = 1000,          /* messages at once from an old server */
    MCP_PAGES_MAX = 64,            /* of a server's list of tools */
    MCP_TOOLS_MAX = 512,           /* of one server */
    MCP_PARAMS_MAX = 32,           /* arguments of a tool in headers */
    MCP_CALLS_MAX = 1024,          /* under way or waiting at one server */
    MCP_WARNINGS_MAX = 32,         /* of one server; then it is not heard */
    MCP_DESCRIPTION_MAX = 4 << 10, /* bytes of a tool's */
    RETRIES_MAX = 2,               /* of a model call, before any piece */
    RETRY_BASE_MS = 500,
    RETRY_CAP_MS = 8000,
    RETRY_AFTER_MAX_MS = 60000, /* a longer wish is not waited for */
    METRICS_EVERY_MS = 5000,
    METRICS_WAITING_MS = 60000, /* of a run that waits or is paused */
    STOP_GRACE_MS = 2000,       /* a canceled call may take, and ... */
    STOP_SLACK_MS = 250,        /* ... then the run ends without it */
    INBOX_POLL_MS = 100,        /* requests of other processes */
    REQUESTS_MAX = 64,          /* that wait for one run; they fit a mask */
    FALLBACKS_MAX = 8,          /* models of an agent besides its own */
    BREAKER_FAILURES = 5,       /* in a row, then a model rests ... */
    BREAKER_MS = 30000,         /* ... for this long */
    CHILD_DEPTH_MAX = 8,        /* runs started by runs; more is a loop */
    CANCEL_BY_MAX = 60,         /* bytes of who canceled; a few words */
    CHILD_TIMEOUT_MS = 1800000, /* of a task; as long as one model call */
    TURNS_DEFAULT = 50,
    PARALLEL_DEFAULT = 5,
    TOOL_TIMEOUT_DEFAULT_MS = 60000,
    EXPR_DEPTH_MAX = 64,          /* of a condition, in parentheses */
    EXPR_TEXT_MAX = 1 << 20,      /* bytes of a text that it makes */
    EXPR_WORK_MAX = 4 << 20,      /* of it: values and bytes looked at */
    TEMPLATE_WORK_MAX = 64 << 20, /* values passed; some tenths of a second */
    PLAN_BYTES_MAX = 16 << 20,    /* of a file with a plan */
    PLAN_ACTIONS_MAX = 10000,     /* of a plan */
    PLAN_EDGES_MAX = 100000,      /* between them */
    PLAN_VALUES_MAX = 1 << 20,    /* references times providers; 20 MB */
    PLAN_WRITTEN_MAX = 512,       /* actions of a plan that a model writes */
    TAG_BYTES_MAX = 1 << 10,      /* of a tag with its attributes */
    TAGS_WARNINGS_MAX = 32,       /* about one answer; then it is not heard */
    PLAN_NAME_MAX = 64,           /* bytes of the name of an action */
    PLAN_RETRIES_MAX = 100,       /* of an action */
    PLAN_BACKOFF_MAX = 100,       /* from one delay to the next */
    PLAN_TIMEOUT_DEFAULT_MS = 300000, /* of an action */
    REF_STEPS_MAX = 64,               /* of a path, as JSON_DEPTH_MAX */
    REF_SHOWN_MAX = 64,               /* bytes of a reference in a message */
    MANIFEST_BYTES_MAX = 1 << 20,     /* of a file about an agent or a tool */
    MANIFEST_LIST_MAX = 1024, /* entries of a list in it, as TOOLS_MAX */
};

/* Ends an output that was cut, before the hash of the blob with all of it. */
#define CUT_MARK " bytes shown; blob "
/* Stands before the hash of a part's bytes in an event. */
#define PART_MARK ",\"hash\":\""

#endif
