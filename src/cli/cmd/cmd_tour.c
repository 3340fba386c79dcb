/*
 * cmd_tour.c - wend tour: the main commands, tried one after the other.
 *
 * Every step is a real command in a process of its own, with files and a store
 * in a folder that the user keeps. The model is a script: nothing needs a key
 * or the network.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/config.h"
#include "cli/file_out.h"
#include "cli/rows.h"
#include "cli/term.h"

extern char **environ;

static const struct opt opts[] = {ROWS_END};

/* ---- The folder ---------------------------------------------------------- */

static const char FOLDER[] = "wend-tour", STORE[] = "tour.db";

static const struct {
    const char *name, *text;
} files[] = {
    {"config.yaml", "# The tour uses these settings instead of yours.\n"},
    {"hello.yaml",
     "# A scripted model: it says the same each time, see wend-script(5).\n"
     "turns:\n"
     "  - text: |\n"
     "      I am a script that plays a model, so this tour needs no key and\n"
     "      no network. The rest is real: this answer streams, and each of\n"
     "      its events is in the store before you see it.\n"
     "    chunk: 6\n"
     "    delay: 30ms\n"
     "    usage: {input: 12, output: 44}\n"},
    {"bill.txt", "soup 7.50\nbread 2.20\ntea 3.30\n"},
    {"bill.yaml", "turns:\n"
                  "  - thinking: The bill is in a file. I read it first.\n"
                  "    delay: 40ms\n"
                  "    calls: [{name: read_file, args: {path: bill.txt}}]\n"
                  "  - calls:\n"
                  "      - name: calculator\n"
                  "        args: {expression: \"(7.50 + 2.20 + 3.30) / 2\"}\n"
                  "    first_delay: 600ms\n"
                  "  - text: Each of you pays 6.50.\n"
                  "    delay: 40ms\n"},
    {"three.yaml", "turns:\n"
                   "  - calls:\n"
                   "      - name: calculator\n"
                   "        args: {expression: \"(7.50 + 2.20 + 3.30) / 4\"}\n"
                   "    first_delay: 600ms\n"
                   "  - text: With four of you it is 3.25 each.\n"
                   "    delay: 40ms\n"},
    {"note.yaml",
     "turns:\n"
     "  - calls:\n"
     "      - name: write_file\n"
     "        args: {path: note.txt, content: \"Tuesday: pay the bill.\\n\"}\n"
     "    first_delay: 400ms\n"
     "  - text: That is what I did about the note.\n"
     "    delay: 40ms\n"},
    {"trip.yaml",
     "# Independent actions run side by side; see wend-plan(5).\n"
     "wend: plan/1\n"
     "name: trip\n"
     "inputs: {days: 3}\n"
     "actions:\n"
     "  - {name: cost, type: tool, target: calculator, mode: async,\n"
     "     params: {expression: \"$days * 120\"}, output_key: cost}\n"
     "  - {name: hotels, type: llm, mode: async, prompt: Name hotels.,\n"
     "     output_key: hotels}\n"
     "  - {name: trains, type: llm, mode: async, prompt: Name trains.,\n"
     "     output_key: trains}\n"
     "  - {name: sights, type: llm, mode: async, prompt: Name sights.,\n"
     "     output_key: sights}\n"
     "  - {name: letter, type: llm, depends_on: [hotels, trains, sights],\n"
     "     prompt: \"Write. $hotels $trains $sights\", output_key: letter}\n"
     "outputs: {letter: $letter, cost: $cost}\n"},
    {"guide.yaml",
     "turns:\n"
     "  - {when: Name hotels, text: the Old Mill, first_delay: 0.8s}\n"
     "  - {when: Name trains, text: the 8.14 from platform 2,\n"
     "     first_delay: 1.3s}\n"
     "  - {when: Name sights, text: \"the bridge, the market\",\n"
     "     first_delay: 1.8s}\n"
     "  - {when: Write,\n"
     "     text: \"Take the 8.14, stay at the Old Mill, see the bridge.\",\n"
     "     delay: 80ms}\n"},
};
enum { FILES = sizeof files / sizeof *files };

/* Also one that was left before its first command made the store. */
static bool is_tour(void)
{
    struct buf text = {.mem = &cli_mem};
    bool ours = !access(STORE, F_OK) ||
                (data_file_read(files[0].name, &text, NULL) == WEND_OK &&
                 str_is(buf_view(&text), files[0].text));

    buf_free(&text);
    return ours;
}

/* It is new, or that of an earlier tour. */
static int enter_folder(const char *folder)
{
    bool made = !mkdir(folder, 0700);

    if ((!made && errno != EEXIST) || chdir(folder))
        return complain(EXIT_USAGE, "cannot make the folder %s: %s", folder,
                        strerror(errno));
    if (!made && !is_tour())
        return complain(EXIT_USAGE,
                        "the folder %s exists, and is not that of a tour; "
                        "'wend tour FOLDER' makes another one",
                        folder);
    return EXIT_DONE;
}

static int write_files(void)
{
    int code = EXIT_DONE;

    for (int i = 0; i < FILES && !code; i++) {
        struct file_out f;

        code = file_out_open(&f, files[i].name, FILE_OUT_PRIVATE);
        if (!code)
            file_out_write(&f, str_of(files[i].text));
        if (!code)
            code = file_out_close(&f, EXIT_DONE);
    }
    return code;
}

/* ---- The steps ----------------------------------------------------------- */

enum { WORDS_MAX = 10 };

static const struct step {
    const char *text;
    const char *words[WORDS_MAX]; /* of the command */
    const char *unasked;          /* its --approve without a terminal */
    bool dies;                    /* it is killed while it runs */
} steps[] = {
    {"A run. -m names the model: PROVIDER:NAME, for example openai:gpt-4o, or\n"
     "a script.",
     {"run", "-m", "script:hello.yaml", "Who are you?"},
     NULL,
     false},
    {"Tools. The model gets those that you offer with -t. The line below the\n"
     "text shows what the run does.",
     {"run", "-m", "script:bill.yaml", "-t", "read_file", "-t", "calculator",
      "Split the bill."},
     NULL,
     false},
    {"Approvals. A tool with effects asks first: press y or n. 'a' allows it\n"
     "from now on in this folder.",
     {"run", "-m", "script:note.yaml", "-t", "write_file", "Leave me a note."},
     "write_file",
     false},
    {"A plan is a graph of actions; what does not wait for another runs at\n"
     "once. trip.yaml has five actions.",
     {"plan", "run", "trip.yaml", "-m", "script:guide.yaml"},
     NULL,
     false},
    {"The same plan again. This time the tour kills the process with SIGKILL\n"
     "when two actions have ended.",
     {"plan", "run", "trip.yaml", "-m", "script:guide.yaml"},
     NULL,
     true},
    {"The store knows what happened until then.", {"runs"}, NULL, false},
    {"A resume takes what has ended from the log, and runs the rest only.",
     {"resume", "last"},
     NULL,
     false},
    {"A fork shares the history of a run up to a point, and continues in\n"
     "another way. last~3 is the run with the bill.",
     {"fork", "last~3", "-m", "script:three.yaml", "And if four of us pay?"},
     NULL,
     false},
    {"A page for the browser, in one file: every event, with its times.",
     {"view", "last~1", "-o", "trip.html"},
     NULL,
     false},
};
enum { STEPS = sizeof steps / sizeof *steps };

static void put_word(struct buf *out, const char *word)
{
    buf_char(out, ' ');
    (strpbrk(word, " ?") ? buf_quoted : buf_str)(out, str_of(word));
}

static void step_words(const struct step *s, bool asks, const char **out)
{
    size_t n = 0;

    out[n++] = "wend";
    for (size_t i = 0; i < WORDS_MAX && s->words[i]; i++)
        out[n++] = s->words[i];
    if (s->unasked && !asks) {
        out[n++] = "--approve";
        out[n++] = s->unasked;
    }
    out[n] = NULL;
}

/* False: the user wants to leave. */
static bool introduce(int i, const char *const *words, bool asks)
{
    struct buf b = {.mem = &cli_mem}, text = {.mem = &cli_mem};
    char line[16];

    buf_fmt(&text, "\n(%d of %d) %s\n", i + 1, STEPS, steps[i].text);
    term_fit(&b, buf_view(&text), term_width(STDERR_FILENO));
    buf_cstr(&b, "\n  $");
    for (; *words; words++)
        put_word(&b, *words);
    buf_cstr(&b, "\n\n");
    if (asks)
        buf_cstr(&b, "Enter runs it, q leaves the tour: ");
    write_all(STDERR_FILENO, buf_view(&b));
    if (!asks)
        return true;
    if (!fgets(line, sizeof line, stdin) || line[0] == 'q' || line[0] == 'Q')
        return false;
    return true;
}

/* ---- Running one --------------------------------------------------------- */

static pid_t start(const char **words)
{
    posix_spawnattr_t how;
    sigset_t defaults;
    pid_t pid = -1;
    int error;

    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGTSTP);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigdefault(&how, &defaults);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    error = posix_spawn(&pid, "/proc/self/exe", NULL, &how,
                        (char *const *)(uintptr_t)words, environ);
    posix_spawnattr_destroy(&how);
    if (error)
        complain(0, "cannot start wend: %s", strerror(error));
    return error ? -1 : pid;
}

static void count_event(void *count, const wend_event *ev)
{
    (void)ev;
    (*(int *)count)++;
}

/* Whether two actions of the run that is under way have ended. */
static bool is_half(struct cli *cli)
{
    wend_replay_options o = {.size = sizeof o,
                             .filter = {.types = TYPE(ACTION_END)}};
    struct found found;
    int count = 0;

    return !find_run(cli, "last", &found) &&
           run_state(cli, found.id, NULL) == RUN_UNDER_WAY &&
           !each_event(cli, found.id, &o, count_event, &count) && count >= 2;
}

/* As waitpid; stops with the command, once that has tidied the terminal. */
static pid_t wait_for(pid_t pid, int *status, int flags)
{
    pid_t got = waitpid(pid, status, flags | WUNTRACED);

    if (got <= 0 || !WIFSTOPPED(*status))
        return got;
    signal(SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    signal(SIGTSTP, SIG_IGN);
    return 0;
}

/* Returns the status of waitpid. */
static int kill_half(struct cli *cli, pid_t pid)
{
    enum { LOOK_US = 100000 };
    struct termios modes;
    bool has_modes = !tcgetattr(STDIN_FILENO, &modes);
    int status = 0;

    if (open_runtime(cli))
        kill(pid, SIGTERM);
    while (!wait_for(pid, &status, WNOHANG)) {
        if (cli->rt && is_half(cli))
            kill(pid, SIGKILL);
        usleep(LOOK_US);
    }
    wend_runtime_free(cli->rt);
    wend_store_free(cli->store);
    cli->rt = NULL;
    cli->store = NULL;
    /* It could not clean up behind itself. */
    if (has_modes)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
    return status;
}

/* False: it went wrong, and the user has been told. */
static bool run_step(struct cli *cli, const struct step *s, const char **words)
{
    pid_t pid = start(words), got;
    int status = 0;

    if (pid < 0)
        return false;
    if (s->dies)
        status = kill_half(cli, pid);
    else
        do
            got = wait_for(pid, &status, 0);
        while (!got || (got < 0 && errno == EINTR));
    if (s->dies && WIFSIGNALED(status)) {
        fprintf(stderr, "\nKilled. It had no time to save anything.\n");
        return true;
    }
    if (WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_DONE ||
                              WEXITSTATUS(status) == EXIT_CANCELED))
        return true;
    complain(0, "the tour ends here, because that failed; 'wend doctor' looks "
                "for the reason");
    return false;
}

static void end_tour(const char *folder)
{
    fprintf(stderr,
            "\nThat was the tour. %s has its files, its store and the page "
            "trip.html:\n\n"
            "  $ cd %s\n"
            "  $ wend log last --store %s\n"
            "  $ wend replay last~1 --store %s\n\n"
            "With a model of your own:\n\n"
            "  $ wend models                      # providers and their keys\n"
            "  $ wend run -m PROVIDER:NAME \"Hello\"\n"
            "  $ wend doctor                      # if that fails\n",
            folder, folder, STORE, STORE);
}

static int run(struct cli *cli)
{
    const char *folder = cli->args_count ? cli->args[0] : FOLDER;
    const char *words[WORDS_MAX + 4];
    bool asks = term_asks();
    int code = enter_folder(folder);

    if (!code)
        code = write_files();
    if (code)
        return code;
    setenv("WEND_STORE", STORE, 1);
    setenv("WEND_CONFIG", files[0].name, 1);
    unsetenv("WEND_MODEL");
    cli->set.store = STORE;
    fprintf(stderr,
            "A tour of wend in %d steps. The folder %s has its files.\n", STEPS,
            folder);
    for (int i = 0; i < STEPS; i++) {
        step_words(&steps[i], asks, words);
        if (!introduce(i, words, asks))
            return EXIT_DONE;
        signal(SIGINT, SIG_IGN); /* for the command */
        signal(SIGTSTP, SIG_IGN);
        if (!run_step(cli, &steps[i], words))
            return EXIT_FAILED;
        signal(SIGINT, SIG_DFL);
        signal(SIGTSTP, SIG_DFL);
    }
    end_tour(folder);
    return EXIT_DONE;
}

const struct command command_tour = {
    .name = "tour",
    .args = "[FOLDER]",
    .args_max = 1,
    .summary = "try the main commands, in three minutes",
    .more = "Leads through a run, tools, an approval, a plan, a kill and a "
            "resume, a fork and\n"
            "a page, with a scripted model: no key and no network are needed. "
            "FOLDER gets\n"
            "its files and its store; wend-tour by default. Without a terminal "
            "nothing is\n"
            "asked.\n",
    .no_config = true,
    .opts = opts,
    .makes_store = true,
    .run = run,
};
